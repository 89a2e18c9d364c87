//! The JSON text of a reply, checked and compacted without being rebuilt.
//!
//! Digits, member order and string contents stay byte for byte as the upstream sent them: blanks
//! between tokens go, nothing else. A half of a surrogate pair, which no later reader accepts,
//! becomes U+FFFD. No number is ever parsed here.

use serde_json::value::RawValue;

/// Deepest nesting that is passed on as JSON: readers with the usual bound of 128 must not fail on it.
const MAX_DEPTH: usize = 100;

/// Why a text is not passed on as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotJson {
    /// It is something else.
    Syntax,
    /// It is nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

/// The text without blanks between its tokens.
pub(super) fn compact(text: &str) -> Result<String, NotJson> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str::<&RawValue>(text).map_err(|_| NotJson::Syntax)?;
    let mut out = String::with_capacity(text.len());
    let mut depth = Depth::default();
    let mut rest = text;
    while let Some(at) = rest.find(['"', ' ', '\n', '\r', '\t']) {
        let (tokens, tail) = rest.split_at(at);
        depth.count(tokens);
        out.push_str(tokens);
        if tail.starts_with('"') {
            let (string, after) = split_string(tail);
            push_string(&mut out, string);
            rest = after;
        } else {
            rest = tail.trim_start_matches([' ', '\n', '\r', '\t']);
        }
    }
    depth.count(rest);
    out.push_str(rest);
    if depth.deepest > MAX_DEPTH { Err(NotJson::TooDeep) } else { Ok(out) }
}

/// Rewrites the strings of a JSON text, keys too. `rewrite` gets the contents unescaped and returns
/// `None` to leave the string as it is.
pub(in crate::upstream) fn rewrite_strings(
    text: &str,
    rewrite: impl Fn(&str) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        let (tokens, tail) = rest.split_at(at);
        out.push_str(tokens);
        let (string, after) = split_string(tail);
        let rewritten =
            serde_json::from_str::<String>(string).ok().and_then(|contents| rewrite(&contents));
        match rewritten {
            Some(contents) => out.push_str(&quoted(&contents)),
            None => out.push_str(string),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[derive(Default)]
struct Depth {
    now: usize,
    deepest: usize,
}

impl Depth {
    fn count(&mut self, tokens: &str) {
        for byte in tokens.bytes() {
            match byte {
                b'{' | b'[' => {
                    self.now += 1;
                    self.deepest = self.deepest.max(self.now);
                }
                b'}' | b']' => self.now = self.now.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// Splits after the string that the text starts with.
fn split_string(text: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    match end {
        Some(end) => text.split_at(end + 2), // the opening quote and the closing one
        None => (text, ""),
    }
}

fn push_string(out: &mut String, string: &str) {
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let (length, kept) = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (None, _) => (2, true), // `\n` or the start of `\u0041`, whose digits follow as plain text
            (Some(Surrogate::High), Some(Surrogate::Low)) => (12, true),
            (Some(_), _) => (6, false),
        };
        let (escape, after) = escape.split_at(length.min(escape.len()));
        out.push_str(if kept { escape } else { "\\ufffd" });
        rest = after;
    }
    out.push_str(rest);
}

#[derive(PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}

/// The surrogate that the text starts with, as an escape.
fn surrogate(escape: &str) -> Option<Surrogate> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Surrogate::High),
        0xdc00..=0xdfff => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(compact(text).as_deref(), Ok(expected));
    }

    #[test]
    fn blanks_between_tokens_go_and_nothing_else() {
        check(" { \"a b\" :\t[ 1 , 2 ]\r\n} ", r#"{"a b":[1,2]}"#);
        check("\u{feff}{}", "{}");
        check(r#""a \" b \\""#, r#""a \" b \\""#);
        check(r#"{"a":" x \\\" y "}"#, r#"{"a":" x \\\" y "}"#);
    }

    #[test]
    fn digits_stay_as_they_came() {
        for number in [
            "9007199254740993",
            "1915883588174806058",
            "123456789012345678901234567890",
            "1.10",
            "-0",
            "1E400",
            "0.1e-7",
        ] {
            check(number, number);
        }
    }

    #[test]
    fn other_texts_are_no_json() {
        for text in ["", "{", "{} {}", "nope", "{'a': 1}", "[1,]", "01", "NaN"] {
            assert_eq!(compact(text), Err(NotJson::Syntax), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_not_passed_on() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(compact(&nested(100)).is_ok());
        assert_eq!(compact(&nested(101)), Err(NotJson::TooDeep));
        assert_eq!(compact(&nested(100_000)), Err(NotJson::TooDeep));
        let brackets_in_strings = format!("\"{}\"", "[".repeat(500));
        assert!(compact(&brackets_in_strings).is_ok());
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\ud83d""#, r#""\ufffd""#);
        check(r#""\ude00x""#, r#""\ufffdx""#);
        check(r#""\ud83d\n""#, r#""\ufffd\n""#);
        check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#);
        check(r#""\\ud83d""#, r#""\\ud83d""#);
        check(r#""\u0041""#, r#""\u0041""#);
    }

    #[test]
    fn strings_are_rewritten_in_place() {
        let text = r#"{"k\u0065y":["se\u0063ret",12,"other"]}"#;
        let rewritten =
            rewrite_strings(text, |contents| (contents == "secret").then(|| "\"".into()));
        assert_eq!(rewritten, r#"{"k\u0065y":["\"",12,"other"]}"#);
    }

    proptest! {
        #[test]
        fn compacting_keeps_the_value(numbers in prop::collection::vec(any::<u64>(), 0..5), text in ".*") {
            let value = serde_json::json!({"n": numbers, "t": text, "o": {"x": [null, true, {}]}});
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(compact(&pretty).unwrap(), value.to_string());
        }

        #[test]
        fn any_text_is_answered(text in ".*") {
            let _ = compact(&text);
            let _ = rewrite_strings(&text, |_| None);
        }
    }
}
