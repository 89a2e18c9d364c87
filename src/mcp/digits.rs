//! Numbers keep their digits.
//!
//! JSON numbers travel through 64-bit values here. A number that neither a 64-bit integer nor a
//! double holds digit for digit is found in the text: in arguments it is a fault, in a reply's
//! `structuredContent` it becomes a string with the digits as they came. The reply's text block is
//! never touched.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

/// The places of numbers in a JSON text that a 64-bit value cannot hold digit for digit.
pub(super) fn inexact(json: &str) -> Vec<Range<usize>> {
    let bytes = json.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at),
            b'-' | b'0'..=b'9' => number_end(bytes, at),
            _ => at + 1,
        };
        if byte != b'"' && json.get(at..end).is_some_and(|text| end > at + 1 && !is_exact(text)) {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// A reply's JSON as a value, each [`inexact`] number as a string of its digits.
pub(super) fn value(json: &str) -> serde_json::Result<Value> {
    let mut text = Cow::Borrowed(json);
    for place in inexact(json).into_iter().rev() {
        let text = text.to_mut();
        text.insert(place.end, '"');
        text.insert(place.start, '"');
    }
    serde_json::from_str(&text)
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    start + bytes.iter().skip(start).take_while(|byte| part(byte)).count()
}

fn is_exact(number: &str) -> bool {
    if number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return true;
    }
    let Ok(double) = number.parse::<f64>() else { return true };
    // What counts is how the double will be written again, which is serde_json's choice.
    double.is_finite() && decimal(number) == decimal(&Value::from(double).to_string())
}

/// Sign, digits without outer zeros, and the exponent of the last digit.
fn decimal(number: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return (false, String::new(), 0);
    }
    let dropped = digits.len() - digits.trim_end_matches('0').len();
    let exponent = exponent.parse::<i64>().unwrap_or(i64::MAX / 2);
    let last = exponent - fraction.len() as i64 + dropped as i64;
    (whole.starts_with('-'), significant.to_owned(), last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "expectations read best as values")]
    fn check(json: &str, expected: Value) {
        assert_eq!(value(json).unwrap(), expected, "{json}");
    }

    #[test]
    fn what_64_bits_hold_stays_a_number() {
        check("9223372036854775807", json!(9_223_372_036_854_775_807_i64));
        check("18446744073709551615", json!(18_446_744_073_709_551_615_u64));
        check("-9223372036854775808", json!(i64::MIN));
        check(
            "[0.1, 12.50, 1e3, -2.5E-3, 0, -0, 0.0, 1E+2]",
            json!([0.1, 12.5, 1e3, -2.5e-3, 0, -0.0, 0.0, 100.0]),
        );
        check("[1246148132184341.2]", json!([1_246_148_132_184_341.2]));
        check("[1e22,5e-324,1.7976931348623157e308]", json!([1e22, 5e-324, f64::MAX]));
    }

    #[test]
    fn what_they_do_not_hold_becomes_its_digits() {
        check("18446744073709551616", json!("18446744073709551616"));
        check(
            r#"{"n": 123456789012345678901234567890}"#,
            json!({"n": "123456789012345678901234567890"}),
        );
        check("[0.12345678901234567890,1]", json!(["0.12345678901234567890", 1]));
        check("[-9223372036854775809,1e400]", json!(["-9223372036854775809", "1e400"]));
    }

    #[test]
    fn numbers_inside_strings_and_keys_are_text() {
        check(
            r#"{"123456789012345678901": "a\"123456789012345678901\\", "b": []}"#,
            json!({"123456789012345678901": "a\"123456789012345678901\\", "b": []}),
        );
    }

    proptest! {
        #[test]
        fn a_number_printed_from_a_double_is_exact(double: f64) {
            prop_assume!(double.is_finite());
            prop_assert!(inexact(&json!([double]).to_string()).is_empty());
        }

        #[test]
        fn any_json_survives(text in r#"[ -~]{0,40}"#, number: i64) {
            let before = json!({ text.clone(): [text, number] });
            prop_assert_eq!(value(&before.to_string()).unwrap(), before);
        }
    }
}
