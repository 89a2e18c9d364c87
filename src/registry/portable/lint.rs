//! The profile as rules over a finished schema, written without looking at how one is made.

use serde_json::{Map, Value};

use super::{INPUT_BYTES, OUTPUT_BYTES, flat::is_portable_format};

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
    let mut faults = root_faults(schema, INPUT_BYTES);
    input_node(schema, "", &mut faults);
    faults
}

/// Every way a published output schema breaks the profile; empty when it is portable.
pub fn lint_output(schema: &Value) -> Vec<String> {
    let mut faults = root_faults(schema, OUTPUT_BYTES);
    output_node(schema, "", &mut faults);
    faults
}

fn root_faults(schema: &Value, most: usize) -> Vec<String> {
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
    faults
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
