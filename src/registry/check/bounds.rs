//! Bounds of what a caller may send, and numbers as they were meant.

use serde_json::{Number, Value};

use super::{fault, words};
use crate::registry::plan::ArgumentFault;

/// What one call's arguments are held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Nesting.
    pub(super) depth: usize,
    /// Bytes of one string.
    pub(super) string: usize,
}

/// From here on a float no longer tells every integer apart.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// From here on JSON decoders turn integers into floats, and digits are lost.
const LOST: f64 = 9_223_372_036_854_775_808.0;

impl Bounds {
    /// Refuses what is over the bounds; `5.0` becomes `5`, which every API takes.
    ///
    /// # Errors
    /// The first of each kind.
    pub(super) fn hold(self, value: &mut Value) -> Result<(), Vec<ArgumentFault>> {
        let mut faults = Vec::new();
        self.walk(value, &mut String::new(), 0, &mut faults);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn walk(
        self,
        value: &mut Value,
        path: &mut String,
        depth: usize,
        faults: &mut Vec<ArgumentFault>,
    ) {
        if depth > self.depth {
            let words = format!("nested more than {} levels deep", self.depth);
            if !faults.iter().any(|known| known.words == words) {
                faults.push(fault(words::cut(path), words));
            }
            return;
        }
        match value {
            Value::String(text) if text.len() > self.string => {
                let words = format!("{} bytes long, at most {} are taken", text.len(), self.string);
                faults.push(fault(words::cut(path), words));
            }
            Value::Number(number) => {
                faults.extend(settle(number).map(|w| fault(words::cut(path), w)))
            }
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    self.below(item, &format!("[{i}]"), (path, depth), faults);
                }
            }
            Value::Object(map) => {
                for (name, item) in map {
                    let step = if depth == 0 { name.clone() } else { format!(".{name}") };
                    self.below(item, &step, (path, depth), faults);
                }
            }
            _ => {}
        }
    }

    fn below(
        self,
        value: &mut Value,
        step: &str,
        (path, depth): (&mut String, usize),
        faults: &mut Vec<ArgumentFault>,
    ) {
        let length = path.len();
        path.push_str(step);
        self.walk(value, path, depth + 1, faults);
        path.truncate(length);
    }
}

/// An integral float becomes an integer while it is exact; one too large for 64 bits is a fault.
fn settle(number: &mut Number) -> Option<String> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    if float.abs() >= LOST {
        return Some(format!("{number} has lost digits on its way; pass it as a string"));
    }
    if float.abs() <= EXACT {
        // Exact: integral and within 53 bits.
        #[expect(clippy::cast_possible_truncation, reason = "integral and within 53 bits")]
        let integer = float as i64;
        *number = integer.into();
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn held(mut value: Value) -> Result<Value, String> {
        let bounds = Bounds { depth: 3, string: 10 };
        bounds.hold(&mut value).map_err(|f| format!("{}: {}", f[0].path, f[0].words))?;
        Ok(value)
    }

    #[test]
    fn bounds_are_held() {
        assert_eq!(held(json!({"a": {"b": [1]}})), Ok(json!({"a": {"b": [1]}})));
        let check = |value, words: &str| assert_eq!(held(value).unwrap_err(), words);
        check(json!({"a": {"b": [[1]]}}), "a.b[0][0]: nested more than 3 levels deep");
        check(json!({"a": "12345678901"}), "a: 11 bytes long, at most 10 are taken");
    }

    #[test]
    fn integral_floats_are_integers_and_lost_digits_are_refused() {
        let text = |value: Value| held(value).map(|v| v.to_string());
        assert_eq!(text(json!({"a": 5.0})), Ok(r#"{"a":5}"#.into()));
        assert_eq!(text(json!({"a": 5.5})), Ok(r#"{"a":5.5}"#.into()));
        assert_eq!(text(json!({"a": u64::MAX})), Ok(format!(r#"{{"a":{}}}"#, u64::MAX)));
        let lost: Value = serde_json::from_str(r#"{"a": 92233720368547758089}"#).unwrap();
        assert!(text(lost).unwrap_err().contains("pass it as a string"));
    }
}
