//! What is wrong with a call's arguments before their schema is asked: what can only be seen in the
//! text (digits that 64 bits lose) and what is bounded for every tool (the size of a string).
//!
//! These are faults like the schema's own: a tool error that lists them all.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{digits, strict::Strict};
use crate::registry::plan::ArgumentFault;

/// The faults of the arguments in a `tools/call` message, read from `text`.
pub(super) fn faults(text: &[u8], message: &Strict, longest: usize) -> Vec<ArgumentFault> {
    let mut faults = Vec::new();
    if let Some(arguments) = message.value.pointer("/params/arguments") {
        long_strings(arguments, "", longest, &mut faults);
    }
    if message.floats {
        faults.extend(lost_digits(text));
    }
    faults
}

fn long_strings(value: &Value, path: &str, longest: usize, faults: &mut Vec<ArgumentFault>) {
    match value {
        Value::String(text) if text.len() > longest => {
            let words = format!("has {} bytes; at most {longest} are taken", text.len());
            faults.push(ArgumentFault { path: path.to_owned(), words });
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                long_strings(item, &format!("{path}[{place}]"), longest, faults);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                long_strings(field, &format!("{path}{dot}{name}"), longest, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn lost_digits(text: &[u8]) -> Vec<ArgumentFault> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let Ok(Message { params: Params { arguments: Some(arguments) } }) =
        serde_json::from_slice(text)
    else {
        return Vec::new();
    };
    let json = arguments.get();
    digits::inexact(json).into_iter().filter_map(|place| json.get(place)).map(fault).collect()
}

fn fault(number: &str) -> ArgumentFault {
    let shown: String = number.chars().take(60).collect();
    let words = format!(
        "the number `{shown}` has more digits than 64 bits hold; send it as a string if the tool takes one"
    );
    ArgumentFault { path: String::new(), words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::strict;

    fn check(arguments: &str, expected: &[(&str, &str)]) {
        let text = format!(r#"{{"id":123,"params":{{"name":"t","arguments":{arguments}}}}}"#);
        let message = strict::read(text.as_bytes(), 64).unwrap();
        let faults = faults(text.as_bytes(), &message, 5);
        let found: Vec<_> =
            faults.iter().map(|fault| (fault.path.as_str(), fault.words.as_str())).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((path, words), (expected_path, part)) in found.iter().zip(expected) {
            assert_eq!(path, expected_path);
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn ordinary_arguments_have_no_fault() {
        check(r#"{"a": "12345", "b": [1, 0.5, 9223372036854775807]}"#, &[]);
        check("null", &[]);
    }

    #[test]
    fn every_fault_is_listed_with_its_path() {
        check(
            r#"{"a": "123456", "b": [{"c": "é12345"}], "d": 18446744073709551616, "e": 0.12345678901234567890}"#,
            &[
                ("a", "has 6 bytes"),
                ("b[0].c", "at most 5"),
                ("", "`18446744073709551616`"),
                ("", "`0.12345678901234567890`"),
            ],
        );
    }
}
