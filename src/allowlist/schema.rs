//! The JSON Schema of the allowlist file, for editors: `toolgate schema`.
//!
//! Made from the table of keys that the parser uses. It is draft 7, which every editor's YAML support
//! reads. It is a help while typing, not the check: `toolgate check` says more.

use serde_json::{Map, Value, json};

use super::key::{ANNOTATIONS, ARGUMENT, CHANGES, FILE, Key, Kind, SELECTOR};
use crate::config::unit::{DURATION_PATTERN, SIZE_PATTERN};

/// The schema of an allowlist file; the same value in every process.
pub fn schema() -> Value {
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "toolgate allowlist",
        "description": "Which operations of one OpenAPI document become MCP tools, and how.",
        "type": "object",
        "additionalProperties": false,
        "required": ["tools"],
    });
    if let Some(map) = schema.as_object_mut() {
        map.insert("properties".into(), properties(&[FILE]));
    }
    schema
}

fn properties(tables: &[&[Key]]) -> Value {
    let mut properties = Map::new();
    for key in tables.iter().copied().flatten() {
        for name in [Some(key.name), key.also].into_iter().flatten() {
            let mut value = Map::from_iter([("description".to_owned(), Value::from(key.about))]);
            value.extend(of_kind(key.kind));
            properties.insert(name.to_owned(), value.into());
        }
    }
    properties.into()
}

/// What a value of this kind may be.
fn of_kind(kind: Kind) -> Map<String, Value> {
    let schema = match kind {
        Kind::Version => json!({ "const": 1 }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Size => {
            json!({ "type": ["integer", "string"], "minimum": 1, "pattern": SIZE_PATTERN })
        }
        Kind::Duration => json!({ "type": "string", "pattern": DURATION_PATTERN }),
        Kind::Count => json!({ "type": "integer", "minimum": 1 }),
        Kind::Docs => json!({ "enum": [true, false, "all"] }),
        Kind::Names => list(&json!({ "type": "string" })),
        Kind::Selectors => list(&selector(&[SELECTOR])),
        Kind::Tools => list(&selector(&[SELECTOR, CHANGES])),
        Kind::Headers => {
            json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } })
        }
        Kind::Annotations => mapping(&json!(["object", "null"]), &[ANNOTATIONS]),
        Kind::Arguments => json!({
            "type": ["object", "null"],
            "additionalProperties": mapping(&json!("object"), &[ARGUMENT]),
        }),
        Kind::Any => json!({}),
    };
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn list(items: &Value) -> Value {
    json!({ "type": ["array", "null"], "uniqueItems": true, "items": items })
}

fn mapping(types: &Value, tables: &[&[Key]]) -> Value {
    json!({ "type": types, "additionalProperties": false, "properties": properties(tables) })
}

fn selector(tables: &[&[Key]]) -> Value {
    let mut mapping = mapping(&json!("object"), tables);
    if let Some(map) = mapping.as_object_mut() {
        let one = json!([{ "required": ["operation"] }, { "required": ["tag"] }]);
        map.insert("oneOf".into(), one);
    }
    json!({ "anyOf": [
        {
            "type": "string",
            "minLength": 1,
            "description": "An operationId, `METHOD /path`, either with `*`, or `tag:NAME`.",
        },
        mapping,
    ] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_schema_is_the_one_printed() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/allowlists/schema.json");
        let file = std::fs::read_to_string(path).unwrap_or_default();
        let printed = format!("{:#}\n", schema());
        assert!(file == printed, "run `toolgate schema > allowlists/schema.json`");
    }

    /// Every property anywhere in a schema.
    fn each_property(schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            visit(name, property);
        }
        match schema {
            Value::Object(map) => map.values().for_each(|value| each_property(value, visit)),
            Value::Array(list) => list.iter().for_each(|value| each_property(value, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_key_of_every_table_is_explained_to_an_editor() {
        let mut names = Vec::new();
        each_property(&schema(), &mut |name, property| {
            assert!(property["description"].is_string(), "{name}");
            names.push(name.to_owned());
        });
        for table in [FILE, SELECTOR, CHANGES, ANNOTATIONS, ARGUMENT] {
            for key in table {
                assert!(names.iter().any(|name| name == key.name), "{}", key.name);
            }
        }
        assert!(names.iter().any(|name| name == "readOnlyHint"));
    }
}
