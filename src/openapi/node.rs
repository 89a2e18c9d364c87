//! A JSON value that knows where it stands, and accessors that fail with that place.
//!
//! `null` counts as absent everywhere: generators write it where they have nothing to say. Prose of a
//! wrong kind never fails, because nothing depends on it; whatever a call depends on does.

use serde_json::{Map, Value};

use super::{Fault, escape};

/// A value and its pointer.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: String,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, pointer: String::new() }
    }

    /// The node behind a pointer.
    pub(super) fn at(root: &'a Value, pointer: String) -> Option<Self> {
        root.pointer(&pointer).map(|value| Self { value, pointer })
    }

    pub(super) fn fault(&self, words: impl Into<String>) -> Fault {
        Fault { pointer: self.pointer.clone(), words: words.into() }
    }

    /// The entry of this key; `None` also for `null`.
    pub(super) fn child(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.below(key, value))
    }

    fn below(&self, token: &str, value: &'a Value) -> Self {
        Self { value, pointer: format!("{}/{}", self.pointer, escape(token)) }
    }

    fn wrong(&self, expected: &str) -> Fault {
        self.fault(format!("must be {expected}, not {}", kind(self.value)))
    }

    /// This node as a mapping.
    pub(super) fn mapping(&self) -> Result<&'a Map<String, Value>, Fault> {
        self.value.as_object().ok_or_else(|| self.wrong("a mapping"))
    }

    /// The entries of the mapping at `key`; none when it is absent. Some generators write an empty
    /// mapping as an empty list.
    pub(super) fn entries(&self, key: &str) -> Result<Vec<(&'a str, Self)>, Fault> {
        let Some(child) = self.child(key) else { return Ok(Vec::new()) };
        if child.value.as_array().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let entries = child.mapping()?.iter();
        Ok(entries.map(|(key, value)| (key.as_str(), child.below(key, value))).collect())
    }

    /// The elements of the list at `key`; none when it is absent.
    pub(super) fn elements(&self, key: &str) -> Result<Vec<Self>, Fault> {
        let Some(child) = self.child(key) else { return Ok(Vec::new()) };
        let items = child.value.as_array().ok_or_else(|| child.wrong("a list"))?;
        let item = |(index, value): (usize, &'a Value)| child.below(&index.to_string(), value);
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The text at `key`.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, Fault> {
        self.child(key)
            .map(|child| child.value.as_str().ok_or_else(|| child.wrong("text")))
            .transpose()
    }

    /// The text at `key`, which must be there.
    pub(super) fn needed(&self, key: &str) -> Result<&'a str, Fault> {
        self.mapping()?;
        self.text(key)?.ok_or_else(|| self.fault(format!("`{key}` is missing")))
    }

    /// The flag at `key`.
    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Fault> {
        self.child(key)
            .map(|child| child.value.as_bool().ok_or_else(|| child.wrong("true or false")))
            .transpose()
    }

    /// Text for people at `key`: a number counts (`title: 2024`), anything else is empty.
    pub(super) fn prose(&self, key: &str) -> String {
        match self.value.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }

    /// The texts of the list at `key`, whatever else stands there.
    pub(super) fn words(&self, key: &str) -> Vec<&'a str> {
        let items = self.value.get(key).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// What a value is called in a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
