//! Faults of a call's arguments that only their text shows: digits that are lost once a number is a
//! 64-bit value.
//!
//! They are listed beside the faults the check of the arguments finds, as one tool error. An integer
//! beyond 64 bits is left to that check, which sees it and knows its path.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{digits, strict::Strict};
use crate::registry::plan::ArgumentFault;

/// The faults of the arguments in a `tools/call` message, read from `text`.
pub(super) fn faults(text: &[u8], message: &Strict) -> Vec<ArgumentFault> {
    // Only a float can have lost digits, and few calls have one.
    if message.floats { lost_digits(text) } else { Vec::new() }
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
    let numbers = digits::inexact(json).into_iter().filter_map(|place| json.get(place));
    numbers.filter(|number| !is_huge(number)).map(fault).collect()
}

/// Integral and beyond 64 bits, which the value shows too.
fn is_huge(number: &str) -> bool {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    number.parse::<f64>().is_ok_and(|double| double.fract() == 0.0 && double.abs() >= BEYOND)
}

fn fault(number: &str) -> ArgumentFault {
    let shown: String = number.chars().take(60).collect();
    let words = format!(
        "the number `{shown}` has more digits than 64 bits hold; shorten it, or send it as a string"
    );
    ArgumentFault { path: String::new(), words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::strict;

    fn check(arguments: &str, expected: &[&str]) {
        let text = format!(r#"{{"id":123,"params":{{"name":"t","arguments":{arguments}}}}}"#);
        let message = strict::read(text.as_bytes(), 64).unwrap();
        let faults = faults(text.as_bytes(), &message);
        assert_eq!(faults.len(), expected.len(), "{faults:?}");
        for (fault, number) in faults.iter().zip(expected) {
            assert!(fault.words.contains(&format!("`{number}`")), "{fault:?}");
        }
    }

    #[test]
    fn numbers_that_64_bits_hold_have_no_fault() {
        check(r#"{"b": [1, 0.5, 9223372036854775807, 5.0, 1e3]}"#, &[]);
        check("null", &[]);
    }

    #[test]
    fn numbers_that_lose_digits_unseen_are_listed() {
        check(
            r#"{"d": {"e": 0.12345678901234567890}, "f": [9007199254740993.0], "g": "0.12345678901234567890"}"#,
            &["0.12345678901234567890", "9007199254740993.0"],
        );
    }

    #[test]
    fn integers_beyond_64_bits_are_left_to_the_check() {
        check("[18446744073709551616, -9223372036854775809, 1e30]", &[]);
    }
}
