//! JSON text to a value, once and strictly: no key twice, no deeper than agreed.
//!
//! Two keys of one name would let the front layer and rmcp see different messages; depth is bounded
//! before anything walks the value. Numbers are kept as 64 bits hold them, and the value says whether
//! one was read as a float, since only those can have lost digits.

use std::{cell::RefCell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value that was read strictly.
#[derive(Debug, PartialEq)]
pub(super) struct Strict {
    /// The value.
    pub(super) value: Value,
    /// Some number in it is a float.
    pub(super) floats: bool,
}

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not JSON; the reader's words.
    Syntax(String),
    /// An object has this key twice.
    Duplicate(String),
    /// It nests deeper than this.
    Deep(usize),
}

/// Reads a whole text; containers may nest `depth` deep.
pub(super) fn read(text: &[u8], depth: usize) -> Result<Strict, Fault> {
    let seen = Seen::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let node = Node { left: depth, limit: depth, seen: &seen };
    let value = node
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| seen.fault.take().unwrap_or_else(|| Fault::Syntax(error.to_string())))?;
    Ok(Strict { value, floats: *seen.floats.borrow() })
}

#[derive(Default)]
struct Seen {
    fault: RefCell<Option<Fault>>,
    floats: RefCell<bool>,
}

#[derive(Clone, Copy)]
struct Node<'a> {
    left: usize,
    limit: usize,
    seen: &'a Seen,
}

impl Node<'_> {
    fn below<E: Error>(self) -> Result<Self, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Self { left, ..self }),
            None => Err(self.fail(Fault::Deep(self.limit))),
        }
    }

    fn fail<E: Error>(self, fault: Fault) -> E {
        self.seen.fault.replace(Some(fault));
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.seen.floats.replace(true);
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(self.fail(Fault::Duplicate(key)));
            }
            let value = entries.next_value_seed(below)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "expectations read best as values")]
    fn check(text: &str, expected: Result<bool, Fault>) {
        let read = read(text.as_bytes(), 3);
        if let Ok(strict) = &read {
            assert_eq!(strict.value, serde_json::from_str::<Value>(text).unwrap());
        }
        assert_eq!(read.map(|strict| strict.floats), expected, "{text}");
    }

    #[test]
    fn values_are_read_as_they_are() {
        check(r#"{"a": [1, -2, "x", null, true], "b": {}}"#, Ok(false));
        check("18446744073709551615", Ok(false));
        check("[0.5]", Ok(true));
        check("18446744073709551616", Ok(true));
    }

    #[test]
    fn a_key_twice_is_refused_at_any_depth() {
        check(r#"{"a": 1, "a": 1}"#, Err(Fault::Duplicate("a".into())));
        check(r#"{"x": [{"b": 1, "\u0062": 2}]}"#, Err(Fault::Duplicate("b".into())));
    }

    #[test]
    fn depth_is_bounded() {
        check("[[[1]]]", Ok(false));
        check("[[[[1]]]]", Err(Fault::Deep(3)));
        check(r#"{"a":{"b":{"c":{}}}}"#, Err(Fault::Deep(3)));
    }

    #[test]
    fn what_is_no_json_says_so() {
        for text in ["", "{", "[1,]", "{} x", "\u{feff}{}", "'a'", "NaN"] {
            assert!(matches!(read(text.as_bytes(), 3), Err(Fault::Syntax(_))), "{text}");
        }
        assert!(matches!(read(b"\"\xff\"", 3), Err(Fault::Syntax(_))));
    }
}
