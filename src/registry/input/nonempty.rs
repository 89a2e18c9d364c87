//! Parameters that must be given hold something.
//!
//! A style writes an empty list or object as nothing at all, so a call that gives one would leave out
//! what the document requires. Bodies and parameters written as a media type keep what is empty.

use serde_json::{Value, json};

use super::Slot;
use crate::{openapi::Encoding, registry::view::View};

impl Slot {
    /// Nothing is sent of an empty list or object that a style writes, so where a parameter must be
    /// given there must be something in it.
    pub(super) fn hold_something(&mut self, view: &View<'_>) {
        let is_styled = matches!(self.encoding, Encoding::Style { .. });
        if !self.required || self.place.in_body() || !is_styled {
            return;
        }
        let core = view.core(&self.schema);
        let can_be = |kind: &str| match core.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
            one => one.is_some_and(|one| one == kind),
        };
        let least = [("array", "minItems"), ("object", "minProperties")];
        for (_, word) in least.into_iter().filter(|(kind, _)| can_be(kind)) {
            if core.get(word).and_then(Value::as_f64).is_some_and(|least| least >= 1.0) {
                continue;
            }
            match &mut self.schema {
                Value::Object(map) if map.contains_key("type") => {
                    drop(map.insert(word.into(), json!(1)))
                }
                schema => *schema = json!({ "allOf": [schema.take(), { word: 1 }] }),
            }
        }
    }
}
