//! What an allowlist's text refers to: its document, environment variables and secret files.
//!
//! Whoever reads the inputs asks this before the file is parsed for real, so it is tolerant: a broken
//! text refers to nothing, and a broken part of a sound text is passed over. The faults are for
//! [`super::parse`] to say.

use std::path::PathBuf;

use serde_json::Value;

use super::header::{self, HeaderPiece};
use crate::openapi::text::Text;

/// What a text refers to, each once, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// `document`, as written.
    pub document: Option<String>,
    /// Names of `${VAR}`.
    pub variables: Vec<String>,
    /// Paths of `${file:…}`.
    pub files: Vec<PathBuf>,
}

/// What `text` refers to; a text that is no allowlist refers to nothing.
pub fn references(text: &str) -> References {
    let value = Text::new("", text.as_bytes()).and_then(|text| text.value());
    value.map(|value| of(&value)).unwrap_or_default()
}

fn of(value: &Value) -> References {
    let mut references = References {
        document: value.get("document").and_then(Value::as_str).map(str::to_owned),
        ..References::default()
    };
    let headers = value.get("headers").and_then(Value::as_object).into_iter().flatten();
    let values = headers.filter_map(|(_, value)| value.as_str());
    for piece in values.filter_map(|value| header::pieces(value).ok()).flatten() {
        match piece {
            HeaderPiece::Text(_) => {}
            HeaderPiece::Variable(name) => push(&mut references.variables, name),
            HeaderPiece::File(path) => push(&mut references.files, path.into()),
        }
    }
    references
}

fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn document_variables_and_files_are_found_once() {
        let value = json!({
            "document": "../spec/openapi.yaml",
            "headers": { "a": "${B} ${A}", "b": "${A}${file:/run/key}", "c": "x${file:/run/key}" },
        });
        let references = of(&value);
        assert_eq!(references.document.as_deref(), Some("../spec/openapi.yaml"));
        assert_eq!(references.variables, ["B", "A"]);
        assert_eq!(references.files, [PathBuf::from("/run/key")]);
    }

    #[test]
    fn broken_parts_refer_to_nothing() {
        for value in [
            json!(null),
            json!([]),
            json!("document"),
            json!({ "document": 1, "headers": [] }),
            json!({ "headers": { "a": 1, "b": "${", "c": "${A-B}", "d": "$${A}" } }),
        ] {
            assert_eq!(of(&value), References::default(), "{value}");
        }
        assert_eq!(references("document: [\n"), References::default());
        assert_eq!(references(""), References::default());
    }
}
