//! What a node of a published output schema says it holds: `string or null`, `string: A, B`.
//!
//! Published schemas say it in the first sentence of a description. A sentence that is not of this
//! form is compared as a whole.

use serde_json::{Map, Value};

/// The kind of a node, as its text and taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind<'a> {
    /// The sentence.
    pub(super) text: &'a str,
}

/// Kinds as the first sentence spells them.
const WORDS: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];

impl<'a> Kind<'a> {
    /// The kind that a node says.
    pub(super) fn of(node: &'a Map<String, Value>) -> Self {
        Self { text: split(node).0 }
    }

    /// What the description says besides.
    pub(super) fn rest(node: &'a Map<String, Value>) -> &'a str {
        split(node).1
    }

    /// Whether everything that is of this kind is of the other one too: fewer kinds, fewer values, never
    /// `null` where it was not. A list of values that is cut is not known, so that it must be equal.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let (Some(new), Some(old)) = (self.parts(), other.parts()) else { return false };
        let kinds = new.kinds.iter().all(|kind| {
            old.kinds.contains(kind) || (*kind == "integer" && old.kinds.contains(&"number"))
        });
        let values = match (new.values, old.values) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(new), Some(old)) => new.iter().all(|value| old.contains(value)),
        };
        kinds && values && (old.format.is_empty() || new.format == old.format)
    }

    fn parts(&self) -> Option<Parts<'a>> {
        let (head, values) = match self.text.split_once(": ") {
            Some((head, values)) => (head, Some(values)),
            None => (self.text, None),
        };
        let (kinds, format) = head.split_once(" (").unwrap_or((head, ""));
        let kinds: Vec<_> = kinds.split(" or ").collect();
        let values = values.map(|values| values.split(", ").collect::<Vec<_>>());
        let is_cut =
            values.iter().flatten().any(|value| value.ends_with(" more") || value.contains('…'));
        let is_plain = kinds.iter().all(|kind| WORDS.contains(kind));
        (is_plain && !is_cut).then_some(Parts { kinds, format, values })
    }
}

struct Parts<'a> {
    kinds: Vec<&'a str>,
    /// `date-time)`; empty when there is none.
    format: &'a str,
    values: Option<Vec<&'a str>>,
}

/// The sentence of the kind, and what follows it.
fn split(node: &Map<String, Value>) -> (&str, &str) {
    let text = node.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_once(". ").unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_fits_where_nothing_new_can_come() {
        let check = |old: &str, new: &str, expected: bool| {
            assert_eq!(Kind { text: new }.fits(&Kind { text: old }), expected, "{old} → {new}");
        };
        check("string or null", "string", true);
        check("string", "string or null", false);
        check("number", "integer", true);
        check("integer", "number", false);
        check("string", "string: A, B", true);
        check("string: A, B", "string: B", true);
        check("string: A", "string: A, B", false);
        check("string: A", "string", false);
        check("string: A, B and 3 more", "string: A", false);
        check("string", "string (date)", true);
        check("string (date)", "string", false);
        check("string (date)", "string (date-time)", false);
        check("array", "object", false);
        check("`Memo` object; `get_schema` has the rest", "object", false);
        check("object with string by name", "object", false);
        check("any value", "string", false);
    }
}
