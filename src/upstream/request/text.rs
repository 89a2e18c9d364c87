//! A JSON value as the text that stands in a path, a query, a header or a form.
//!
//! Everything is percent-encoded but the unreserved characters, so no value can end its place and
//! begin another. Booleans are `true` and `false`, integral floats are integers, and a list or an
//! object where no style has a rule for one is its JSON text, without loss. Nothing here knows
//! plans or arguments.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Number, Value};

use crate::openapi::media_type;

/// What RFC 3986 calls unreserved stays; all else is encoded.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// `allowReserved`: reserved characters stay too, but for those that would end the query or split
/// the pair (`# [ ] & = +`).
const RESERVED: &AsciiSet = &STRICT
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

/// Floats below this are written as integers digit by digit, as JavaScript does.
const LARGEST_PLAIN: f64 = 1e21;

/// Text with only unreserved characters left as they are.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, STRICT).to_string()
}

/// Text with reserved characters left as they are, where they cannot break the query.
pub(super) fn encode_reserved(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A string, number or boolean as text; `None` for null, lists and objects.
pub(super) fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(digits(number))),
        Value::Bool(value) => Some(Cow::Borrowed(if *value { "true" } else { "false" })),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Any value as text: a scalar as it is, the rest as JSON.
pub(super) fn any(value: &Value) -> Cow<'_, str> {
    scalar(value).unwrap_or_else(|| Cow::Owned(value.to_string()))
}

/// A value under a media type: JSON where the type is JSON, else the plain text.
pub(super) fn content<'a>(media_type: &str, value: &'a Value) -> Cow<'a, str> {
    if is_json(media_type) { Cow::Owned(value.to_string()) } else { any(value) }
}

/// Whether a media type, with or without parameters, is JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    media_type::is_json(&media_type::essence(media_type))
}

fn digits(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < LARGEST_PLAIN => {
            format!("{:.0}", float + 0.0) // `+ 0.0` makes -0 a plain 0
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "cases read better as plain values")]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, expected: &str) {
        assert_eq!(any(&value), expected);
    }

    #[test]
    fn values_are_written_without_loss_and_without_host_language_words() {
        check(json!("a b"), "a b");
        check(json!(true), "true");
        check(json!(false), "false");
        check(json!(5), "5");
        check(json!(5.0), "5");
        check(json!(-0.0), "0");
        check(json!(-3.0), "-3");
        check(json!(1e20), "100000000000000000000");
        check(json!(1e300), "1e+300");
        check(json!(0.1), "0.1");
        check(json!(i64::MIN), "-9223372036854775808");
        check(json!(u64::MAX), "18446744073709551615");
        check(json!([1, "a"]), r#"[1,"a"]"#);
    }

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(encode("aZ09-._~"), "aZ09-._~");
        assert_eq!(encode("a&b=c d+é"), "a%26b%3Dc%20d%2B%C3%A9");
        assert_eq!(
            encode("/?#[]@!$'()*,;:%|"),
            "%2F%3F%23%5B%5D%40%21%24%27%28%29%2A%2C%3B%3A%25%7C"
        );
    }

    #[test]
    fn reserved_characters_that_end_or_split_a_query_never_stay() {
        assert_eq!(encode_reserved(":/?@!$'()*,;"), ":/?@!$'()*,;");
        assert_eq!(encode_reserved("#[]&=+% "), "%23%5B%5D%26%3D%2B%25%20");
    }

    #[test]
    fn json_media_types_are_told_by_their_essence() {
        for media in
            ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"]
        {
            assert!(is_json(media), "{media}");
        }
        for media in ["text/plain", "application/jsonl", "application/x-ndjson", ""] {
            assert!(!is_json(media), "{media}");
        }
    }
}
