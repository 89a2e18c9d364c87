//! The version of a document: read before anything else, and what differs by it.

use serde_json::Value;

use super::{Fault, Version, node::Node};

const SUPPORTED: &str = "2.0, 3.0, 3.1 and 3.2 are";

impl Version {
    /// The version that a document says it speaks.
    ///
    /// # Errors
    /// When it says none, or one that is not known.
    pub(super) fn of(root: &Node<'_>) -> Result<Self, Fault> {
        let (key, word) = match (word(root, "openapi"), word(root, "swagger")) {
            (Some(word), _) => ("openapi", word),
            (None, Some(word)) => ("swagger", word),
            (None, None) => {
                let words = "not an OpenAPI document; it has no `openapi` or `swagger` entry";
                return Err(root.fault(words));
            }
        };
        let mut parts = word.split('.');
        match (key, parts.next(), parts.next()) {
            ("swagger", Some("2"), Some("0")) => Ok(Self::V20),
            ("openapi", Some("3"), Some("0")) => Ok(Self::V30),
            ("openapi", Some("3"), Some("1")) => Ok(Self::V31),
            ("openapi", Some("3"), Some("2")) => Ok(Self::V32),
            _ => {
                let words = format!("{key} `{word}` is not supported; {SUPPORTED}");
                Err(Fault { pointer: format!("/{key}"), words })
            }
        }
    }

    /// What stands beside a `$ref` in a schema counts.
    pub(super) fn keeps_siblings(self) -> bool {
        self >= Self::V31
    }
}

/// The version's text; YAML reads an unquoted `2.0` as a number.
fn word(root: &Node<'_>, key: &str) -> Option<String> {
    match root.value.get(key)? {
        Value::String(word) => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(root: &Value, expected: Result<Version, &str>) {
        let version = Version::of(&Node::root(root)).map_err(|fault| fault.words);
        match (version, expected) {
            (Ok(version), Ok(expected)) => assert_eq!(version, expected),
            (Err(words), Err(expected)) => assert!(words.starts_with(expected), "{words}"),
            (version, expected) => panic!("{version:?}, not {expected:?}"),
        }
    }

    #[test]
    fn each_version_is_known_by_its_first_two_numbers() {
        check(&json!({"swagger": "2.0"}), Ok(Version::V20));
        check(&json!({"swagger": 2.0}), Ok(Version::V20));
        check(&json!({"openapi": "3.0.3"}), Ok(Version::V30));
        check(&json!({"openapi": 3.0}), Ok(Version::V30));
        check(&json!({"openapi": "3.0.0-rc1"}), Ok(Version::V30));
        check(&json!({"openapi": "3.1.1"}), Ok(Version::V31));
        check(&json!({"openapi": "3.2.0"}), Ok(Version::V32));
    }

    #[test]
    fn anything_else_is_refused_by_its_word() {
        check(&json!({"openapi": "3.3.0"}), Err("openapi `3.3.0` is not supported"));
        check(&json!({"openapi": "2.0"}), Err("openapi `2.0` is not supported"));
        check(&json!({"swagger": "1.2"}), Err("swagger `1.2` is not supported"));
        check(&json!({"asyncapi": "3.0.0"}), Err("not an OpenAPI document"));
        check(&json!({"openapi": null}), Err("not an OpenAPI document"));
    }
}
