//! The one reader behind YAML and JSON: any serde parser in, a JSON value out, nothing lost on the way.
//!
//! It refuses equal keys, tags and numbers that are not finite, applies YAML merge keys, and spends a
//! [`Budget`] of nodes and bytes, so that aliases cannot make a small text large. Nesting is bounded by
//! the parsers themselves (both stop at 128). Keys are read as text, so that `200` and `on` keep theirs.
//!
//! A refusal is kept in the budget rather than in the parser's error: parsers wrap messages in their own
//! words, and only the way back up through the callers knows the pointer.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Language;
use crate::openapi::escape;

/// More nodes than any real document has, in memory still below half a gigabyte.
const MAX_NODES: usize = 2_000_000;

/// What one text may still grow to, and why it was refused.
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
    merges: bool,
    pub(super) refusal: Option<Refusal>,
}

impl Budget {
    /// For a text of so many bytes: eight times itself and a megabyte.
    pub(super) fn new(text_bytes: usize, language: Language) -> Self {
        let bytes = text_bytes * 8 + (1 << 20);
        Self { nodes: MAX_NODES, bytes, merges: language == Language::Yaml, refusal: None }
    }

    /// Takes one node with so many bytes of text.
    fn spend<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let left = (self.nodes.checked_sub(1), self.bytes.checked_sub(bytes + 2));
        match left {
            (Some(nodes), Some(bytes)) => {
                (self.nodes, self.bytes) = (nodes, bytes);
                Ok(())
            }
            (None, _) => Err(self.refuse(format!("more than {MAX_NODES} nodes"))),
            (_, None) => Err(self.refuse("aliases make this text more than eight times as large")),
        }
    }

    fn refuse<E: Error>(&mut self, words: impl Into<String>) -> E {
        let words = words.into();
        let error = E::custom(&words);
        self.refusal = Some(Refusal { words, duplicate: false, tokens: Vec::new() });
        error
    }

    /// On the way back up: the error came from below `token`.
    fn below(&mut self, token: impl fmt::Display) {
        if let Some(refusal) = &mut self.refusal {
            refusal.tokens.push(token.to_string());
        }
    }
}

/// Why the strict reader refused a text.
pub(super) struct Refusal {
    pub(super) words: String,
    /// Two equal keys; the pointer is theirs.
    pub(super) duplicate: bool,
    /// The way to the node, innermost first.
    tokens: Vec<String>,
}

impl Refusal {
    /// RFC 6901 pointer of the node.
    pub(super) fn pointer(&self) -> String {
        self.tokens.iter().rev().fold(String::new(), |mut pointer, token| {
            pointer.push('/');
            pointer.push_str(&escape(token));
            pointer
        })
    }
}

/// Reads one node.
pub(super) struct Node<'b>(pub(super) &'b mut Budget);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.0.spend(0).map(|()| Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        self.0.spend(1).map(|()| Value::Bool(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.0.spend(1).map(|()| number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.0.spend(1).map(|()| number.into())
    }

    // Real documents bound numbers by values outside 64 bits; they become floats, as in JSON.
    fn visit_u128<E: Error>(self, number: u128) -> Result<Value, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Value, E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.0.spend(1)?;
        match Number::from_f64(number) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(self.0.refuse("a number that is not finite; write it as a string")),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.spend(text.len()).map(|()| Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut items = Vec::new();
        loop {
            match access.next_element_seed(Node(self.0)) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => {
                    self.0.below(items.len());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut map = Map::new();
        let mut merged = None;
        loop {
            let seen = Key { map: &map, merged: merged.is_some(), budget: self.0 };
            let Some(key) = access.next_key_seed(seen)? else { break };
            let value = access.next_value_seed(Node(self.0)).inspect_err(|_| self.0.below(&key))?;
            if self.0.merges && key == "<<" {
                merged = Some(value);
            } else {
                map.insert(key, value);
            }
        }
        match merged.map_or(Ok(()), |value| merge(&mut map, value)) {
            Ok(()) => Ok(Value::Object(map)),
            Err(words) => Err(self.0.refuse(words)),
        }
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        let (tag, _) = access.variant::<String>()?;
        Err(self.0.refuse(format!("the tag `!{tag}` is not supported")))
    }
}

/// Applies `<<` at the end of its mapping: keys of its own win, then the earlier source.
fn merge(map: &mut Map<String, Value>, source: Value) -> Result<(), &'static str> {
    let sources = match source {
        Value::Array(sources) => sources,
        one => vec![one],
    };
    for source in sources {
        let Value::Object(source) = source else {
            return Err("`<<` takes a mapping or a list of mappings");
        };
        for (key, value) in source {
            map.entry(key).or_insert(value);
        }
    }
    Ok(())
}

/// Reads one key, and refuses the second of two equal ones while the parser still knows its place.
struct Key<'m, 'b> {
    map: &'m Map<String, Value>,
    merged: bool,
    budget: &'b mut Budget,
}

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_, '_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is plain text")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        self.budget.spend(key.len())?;
        let merge_again = self.budget.merges && self.merged && key == "<<";
        if merge_again || self.map.contains_key(key) {
            let words = format!("`{key}`");
            let error = E::custom(&words);
            let tokens = vec![key.to_owned()];
            self.budget.refusal = Some(Refusal { words, duplicate: true, tokens });
            return Err(error);
        }
        Ok(key.to_owned())
    }
}
