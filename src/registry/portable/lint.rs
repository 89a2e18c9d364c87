//! The profile as rules over a finished schema, written without looking at how one is made.

use serde_json::{Map, Value};

use super::{INPUT_BYTES, INPUT_DEPTH, OUTPUT_BYTES, OUTPUT_DEPTH, kind::is_portable_format};

/// Every keyword an input schema may hold.
const KEYWORDS: [&str; 18] = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "description",
    "title",
    "default",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
];

/// Every way a published input schema breaks the profile; empty when it is portable.
pub fn lint(schema: &Value) -> Vec<String> {
    let mut faults = root_faults(schema, INPUT_BYTES, INPUT_DEPTH);
    input_node(schema, "", &mut faults);
    faults
}

/// Every way a published output schema breaks the profile; empty when it is portable.
pub fn lint_output(schema: &Value) -> Vec<String> {
    let mut faults = root_faults(schema, OUTPUT_BYTES, OUTPUT_DEPTH);
    output_node(schema, "", &mut faults);
    faults
}

fn root_faults(schema: &Value, most: usize, deepest: usize) -> Vec<String> {
    let mut faults = Vec::new();
    if schema.get("type").is_none_or(|kind| kind != "object") {
        faults.push("the root is no object".to_owned());
    }
    if !schema.get("properties").is_some_and(Value::is_object) {
        faults.push("the root has no `properties`".to_owned());
    }
    let bytes = super::keywords::size(schema);
    if bytes > most {
        faults.push(format!("{bytes} bytes are more than {most}"));
    }
    let levels = levels(schema);
    // The items of an array are not counted where they have no parts.
    if levels > deepest + 1 {
        faults.push(format!("{levels} levels are more than {deepest}"));
    }
    faults
}

/// Levels below a schema.
fn levels(schema: &Value) -> usize {
    let properties = schema.get("properties").and_then(Value::as_object);
    let one = ["items", "additionalProperties"].into_iter().filter_map(|word| schema.get(word));
    let below =
        properties.into_iter().flat_map(Map::values).chain(one.filter(|part| part.is_object()));
    below.map(|part| 1 + levels(part)).max().unwrap_or_default()
}

fn input_node(schema: &Value, at: &str, faults: &mut Vec<String>) {
    let Value::Object(map) = schema else {
        return faults.push(format!("`{at}` is no object"));
    };
    let mut fault = |words: &str| faults.push(format!("`{at}` {words}"));
    for word in
        map.keys().filter(|word| !KEYWORDS.contains(&&***word) && *word != "additionalProperties")
    {
        fault(&format!("holds `{word}`"));
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    if !["object", "array", "string", "integer", "number", "boolean"].contains(&kind) {
        fault("has no type of one word");
    }
    if kind == "object" && !map.contains_key("properties") {
        fault("is an object without `properties`");
    }
    if kind == "array" && !map.contains_key("items") {
        fault("is an array without `items`");
    }
    value_faults(map, kind, &mut fault);
    required_faults(map, &mut fault);
    match map.get("additionalProperties") {
        None | Some(Value::Bool(_)) => {}
        Some(values) => input_node(values, &format!("{at}/additionalProperties"), faults),
    }
    each_part(map, at, faults, input_node);
}

fn value_faults(map: &Map<String, Value>, kind: &str, fault: &mut dyn FnMut(&str)) {
    if let Some(values) = map.get("enum") {
        let values = values.as_array().map_or(&[][..], Vec::as_slice);
        if values.is_empty() || !values.iter().all(|value| is_of(kind, value)) {
            fault("has an `enum` that is empty or not of its type");
        }
    }
    if map.get("format").is_some_and(|format| !format.as_str().is_some_and(is_portable_format)) {
        fault("has a format that not every client knows");
    }
    for word in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
        if map.get(word).is_some_and(|bound| !bound.is_number()) {
            fault(&format!("has a `{word}` that is no number"));
        }
    }
    for word in ["minLength", "maxLength", "minItems", "maxItems"] {
        if map.get(word).is_some_and(|bound| !bound.is_u64()) {
            fault(&format!("has a `{word}` that is no length"));
        }
    }
    if map.get("uniqueItems").is_some_and(|unique| !unique.is_boolean()) {
        fault("has a `uniqueItems` that is no boolean");
    }
    text_faults(map, fault);
}

fn text_faults(map: &Map<String, Value>, fault: &mut dyn FnMut(&str)) {
    for word in ["description", "title"] {
        if map.get(word).is_some_and(|text| !text.is_string()) {
            fault(&format!("has a `{word}` that is no text"));
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

fn required_faults(map: &Map<String, Value>, fault: &mut dyn FnMut(&str)) {
    let Some(required) = map.get("required") else { return };
    let Some(names) = required.as_array() else {
        return fault("has a `required` that is no list");
    };
    let mut seen = std::collections::HashSet::new();
    for name in names {
        let exists = name
            .as_str()
            .is_some_and(|name| map.get("properties").is_some_and(|all| all.get(name).is_some()));
        if !exists || !seen.insert(name.as_str()) {
            fault(&format!("requires {name}, which is no property or stands there twice"));
        }
    }
}

fn output_node(schema: &Value, at: &str, faults: &mut Vec<String>) {
    let Value::Object(map) = schema else {
        return faults.push(format!("`{at}` is no object"));
    };
    let mut fault = |words: &str| faults.push(format!("`{at}` {words}"));
    let known = ["properties", "items", "description", "title"];
    for word in map.keys().filter(|word| !known.contains(&word.as_str())) {
        if !(at.is_empty() && word == "type") {
            fault(&format!("holds `{word}`"));
        }
    }
    text_faults(map, &mut fault);
    each_part(map, at, faults, output_node);
}

/// Goes on with the schemas below, by place.
fn each_part(
    map: &Map<String, Value>,
    at: &str,
    faults: &mut Vec<String>,
    lint: fn(&Value, &str, &mut Vec<String>),
) {
    match map.get("properties") {
        None => {}
        Some(Value::Object(properties)) => {
            for (name, schema) in properties {
                lint(schema, &format!("{at}/properties/{name}"), faults);
            }
        }
        Some(_) => faults.push(format!("`{at}` has `properties` that are no object")),
    }
    if let Some(items) = map.get("items") {
        lint(items, &format!("{at}/items"), faults);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(lint: fn(&Value) -> Vec<String>, property: &Value, expected: &[&str]) {
        let schema = json!({ "type": "object", "properties": { "x": property } });
        assert_eq!(lint(&schema), expected, "{property}");
    }

    #[test]
    fn input_rules() {
        let check = |property: Value, expected: &[&str]| check(lint, &property, expected);
        check(json!({ "type": "string" }), &[]);
        check(json!({}), &["`/properties/x` has no type of one word"]);
        check(json!({ "type": ["string", "null"] }), &["`/properties/x` has no type of one word"]);
        check(json!({ "type": "null" }), &["`/properties/x` has no type of one word"]);
        check(json!(true), &["`/properties/x` is no object"]);
        check(json!({ "type": "string", "nullable": true }), &["`/properties/x` holds `nullable`"]);
        for word in [
            "$ref", "$schema", "$defs", "oneOf", "anyOf", "allOf", "not", "if", "const", "pattern",
            "x-a",
        ] {
            check(
                json!({ "type": "string", word: {} }),
                &[&format!("`/properties/x` holds `{word}`")],
            );
            check(json!({ "type": "object", "properties": { word: { "type": "string" } } }), &[]);
        }
        check(json!({ "type": "object" }), &["`/properties/x` is an object without `properties`"]);
        check(json!({ "type": "array" }), &["`/properties/x` is an array without `items`"]);
        check(
            json!({ "type": "array", "items": {} }),
            &["`/properties/x/items` has no type of one word"],
        );
        check(
            json!({ "type": "object", "properties": [] }),
            &["`/properties/x` has `properties` that are no object"],
        );
        check(json!({ "type": "object", "properties": {}, "additionalProperties": true }), &[]);
        check(
            json!({ "type": "object", "properties": {}, "additionalProperties": {} }),
            &["`/properties/x/additionalProperties` has no type of one word"],
        );
    }

    #[test]
    fn input_value_rules() {
        let check = |property: Value, expected: &[&str]| check(lint, &property, expected);
        let of_its_type = "`/properties/x` has an `enum` that is empty or not of its type";
        check(json!({ "type": "string", "enum": ["a"] }), &[]);
        check(json!({ "type": "string", "enum": [] }), &[of_its_type]);
        check(json!({ "type": "string", "enum": ["a", 1] }), &[of_its_type]);
        check(json!({ "type": "integer", "enum": [1.5] }), &[of_its_type]);
        check(
            json!({ "type": "string", "format": "int64" }),
            &["`/properties/x` has a format that not every client knows"],
        );
        check(
            json!({ "type": "integer", "minimum": "1" }),
            &["`/properties/x` has a `minimum` that is no number"],
        );
        check(
            json!({ "type": "integer", "exclusiveMaximum": true }),
            &["`/properties/x` has a `exclusiveMaximum` that is no number"],
        );
        check(
            json!({ "type": "string", "maxLength": -1 }),
            &["`/properties/x` has a `maxLength` that is no length"],
        );
        check(
            json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": 1 }),
            &["`/properties/x` has a `uniqueItems` that is no boolean"],
        );
        check(
            json!({ "type": "string", "description": 1 }),
            &["`/properties/x` has a `description` that is no text"],
        );
        let names = |required: Value| json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": required });
        check(names(json!(["a"])), &[]);
        check(names(json!(true)), &["`/properties/x` has a `required` that is no list"]);
        check(
            names(json!(["a", "a"])),
            &["`/properties/x` requires \"a\", which is no property or stands there twice"],
        );
        check(
            names(json!(["b"])),
            &["`/properties/x` requires \"b\", which is no property or stands there twice"],
        );
    }

    #[test]
    fn root_rules() {
        assert_eq!(
            lint(&json!({})),
            ["the root is no object", "the root has no `properties`", "`` has no type of one word"]
        );
        assert_eq!(
            lint_output(&json!({ "type": "array", "properties": {} })),
            ["the root is no object"]
        );
        let long = json!({ "type": "object", "description": "d".repeat(16_000), "properties": {} });
        assert_eq!(lint(&long), ["16050 bytes are more than 16000"]);
        let mut deep = json!({ "type": "string" });
        for _ in 0..8 {
            deep = json!({ "type": "object", "properties": { "a": deep } });
        }
        assert_eq!(lint(&deep), ["8 levels are more than 6"]);
    }

    #[test]
    fn output_rules() {
        let check = |property: Value, expected: &[&str]| check(lint_output, &property, expected);
        check(json!({ "description": "string" }), &[]);
        check(json!({ "properties": { "type": {} }, "items": { "title": "x" } }), &[]);
        for word in [
            "type",
            "required",
            "enum",
            "format",
            "minimum",
            "additionalProperties",
            "$ref",
            "anyOf",
        ] {
            check(json!({ word: [] }), &[&format!("`/properties/x` holds `{word}`")]);
        }
        check(json!({ "items": { "type": "string" } }), &["`/properties/x/items` holds `type`"]);
        check(json!(true), &["`/properties/x` is no object"]);
    }
}
