//! Pieces of an allowlist as text: values that read back as they are, and comments that stay comments.
//!
//! Whether a value needs quotes is asked of the reader itself, so that the two can never differ.

use serde_json::json;

use super::Selector;
use crate::{diagnostic::hides, openapi::text::Text};

/// A string as a YAML value: plain where it reads back the same, else in quotes.
pub fn scalar(text: &str) -> String {
    if !text.contains(hides) && reads_back(text, text) {
        return text.to_owned();
    }
    quoted(text)
}

/// An entry of `tools` that gives its operation a name, on one line; wants a name of letters, digits and `_`.
pub fn named_entry(operation: &str, name: &str) -> String {
    let is_word = operation.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let operation = if is_word { scalar(operation) } else { quoted(operation) };
    format!("{{ operation: {operation}, name: {} }}", scalar(name))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if hides(character) => quoted.push_str(&format!("\\U{:08X}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// A text of any origin as the words of a comment: one line, nothing hidden, at most `longest` characters.
pub fn comment(text: &str, longest: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut words: String = words.join(" ").chars().filter(|c| !hides(*c)).collect();
    if let Some((end, _)) = words.char_indices().nth(longest) {
        words.truncate(end);
        words.truncate(words.trim_end().len());
        words.push('…');
    }
    words
}

/// An operationId as an entry of `tools`, when it can stand there plainly and mean itself.
pub fn plain_id(id: &str) -> Option<&str> {
    let is_itself = matches!(Selector::parse(id), Ok(Selector::Id(read)) if read == id);
    (is_itself && scalar(id) == id).then_some(id)
}

fn reads_back(written: &str, text: &str) -> bool {
    let line = format!("- {written} # c\n");
    Text::new("", line.as_bytes()).and_then(|line| line.value()) == Ok(json!([text]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_yaml_would_read_otherwise_is_quoted() {
        let check = |text: &str, expected: &str| assert_eq!(scalar(text), expected);
        check("MemoService_ListMemos", "MemoService_ListMemos");
        check("GET /api/v1/memos/{memo}", "GET /api/v1/memos/{memo}");
        check("../spec/openapi.yaml", "../spec/openapi.yaml");
        check("http://localhost:8000/a?b=c#d", "http://localhost:8000/a?b=c#d");
        check("* /a", "\"* /a\"");
        check("true", "\"true\"");
        check("12", "\"12\"");
        check("1e3", "\"1e3\"");
        check("", "\"\"");
        check("GET /a: b", "\"GET /a: b\"");
        check("GET /a #b", "\"GET /a #b\"");
        check("a\nb", "\"a\\U0000000Ab\"");
        check("{a}", "\"{a}\"");
        check("a\u{202e}b", "\"a\\U0000202Eb\"");
    }

    #[test]
    fn comments_are_one_line_that_hides_nothing() {
        let check = |text: &str, expected: &str| assert_eq!(comment(text, 12), expected);
        check(" List\r\n  memos\u{2028}now ", "List memos n…");
        check("a\u{85}- b\u{feff}\u{202e}\u{1b}[2J", "a - b[2J");
        check("", "");
        check("0123456789 12", "0123456789 1…");
        check("01234567890 2", "01234567890…");
    }

    #[test]
    fn an_id_that_is_something_else_is_not_plain() {
        let check = |id: &str, expected: bool| assert_eq!(plain_id(id).is_some(), expected, "{id}");
        check("MemoService_ListMemos", true);
        check("Get users", true);
        check("repos/get", true);
        check("a*", false);
        check("tag:a", false);
        check("GET /a", false);
        check("null", false);
        check("a: b", false);
        check(" a", false);
        check("", false);
    }

    proptest::proptest! {
        #[test]
        fn every_named_entry_reads_back(operation in "\\PC{0,12}|[ -~\\n\u{85}é]{0,8}", name in "[A-Za-z0-9_]{1,6}") {
            let line = format!("- {} # c\n", named_entry(&operation, &name));
            let value = Text::new("", line.as_bytes()).and_then(|line| line.value());
            proptest::prop_assert_eq!(value, Ok(json!([{ "operation": operation, "name": name }])));
        }

        #[test]
        fn every_value_reads_back(text in "\\PC{0,12}|[ -~\\n\\r\\t\u{85}\u{2028}\u{feff}\u{fffe}é]{0,8}") {
            proptest::prop_assert!(reads_back(&scalar(&text), &text), "{:?}", scalar(&text));
        }

        #[test]
        fn every_comment_stays_one(text in "\\PC{0,12}|[ -~\\n\\r\\t\u{85}\u{2028}\u{feff}\u{fffe}é]{0,8}") {
            let line = format!("- a # {}\n- b\n", comment(&text, 8));
            let value = Text::new("", line.as_bytes()).and_then(|line| line.value());
            proptest::prop_assert_eq!(value, Ok(json!(["a", "b"])));
        }
    }
}
