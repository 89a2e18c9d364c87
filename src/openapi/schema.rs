//! Schemas of every dialect to JSON Schema 2020-12.
//!
//! The walk goes by the position of keywords, so that a property called `type` or `$ref` stays a property.
//! What 2020-12 does not know is translated (`nullable`, boolean bounds, `example`, `file`, tuples) or
//! left out (`x-…`, `xml`, identifiers that would start a resource of their own); `discriminator` stays for
//! whoever reads it. Keywords whose value could never compile are left out too: a schema that says
//! nothing about a value is better than an operation that cannot be used.
//!
//! References stay, as pointers into the document; whether they resolve is not decided here.

use serde_json::{Map, Value, json};

use super::{Version, reference};

/// What a keyword's value is, for the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Below {
    /// A schema.
    One,
    /// A list of schemas.
    List,
    /// A mapping of names to schemas.
    Names,
    /// A schema, or a list of schemas (tuples before 2020-12).
    OneOrList,
}

/// What stands below a keyword; `None` when no schema does.
pub(super) fn below(keyword: &str) -> Option<Below> {
    Some(match keyword {
        "items" => Below::OneOrList,
        "additionalProperties"
        | "additionalItems"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Below::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Below::List,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            Below::Names
        }
        _ => return None,
    })
}

/// The schema in 2020-12. Anything that is no schema says nothing: `{}`.
pub(super) fn normal(schema: &Value, version: Version) -> Value {
    match schema {
        Value::Bool(_) => schema.clone(),
        Value::Object(map) => object(map, version),
        _ => json!({}),
    }
}

fn object(map: &Map<String, Value>, version: Version) -> Value {
    if let Some(Value::String(reference)) = map.get("$ref")
        && !version.keeps_siblings()
    {
        return json!({"$ref": canonical(reference)});
    }
    let mut out = Map::new();
    for (key, value) in map {
        keyword(&mut out, map, key, value, version);
    }
    let nullable = ["nullable", "x-nullable"].iter().any(|key| map.get(*key) == Some(&json!(true)));
    if nullable { with_null(out) } else { Value::Object(out) }
}

/// Writes one keyword of `map` to `out`, in its new form or not at all.
fn keyword(
    out: &mut Map<String, Value>,
    map: &Map<String, Value>,
    key: &str,
    value: &Value,
    version: Version,
) {
    if let Some(below) = below(key) {
        return subschemas(out, map, key, value, below, version);
    }
    match key {
        "$ref" => keep(out, key, value.as_str().map(|reference| canonical(reference).into())),
        "type" => types(out, value, version),
        "minimum" | "maximum" => bound(out, map, key, value),
        "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            keep(out, key, Some(value.clone()).filter(|value| number(key, value)));
        }
        "required" => keep(out, key, names(value)),
        "example" => {
            out.entry("examples").or_insert_with(|| json!([value]));
        }
        "examples" => keep(out, key, Some(value.clone()).filter(Value::is_array)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => keep(out, key, count(value)),
        "title" | "description" => keep(out, key, prose(value)),
        "pattern" | "format" | "contentEncoding" | "contentMediaType" => {
            keep(out, key, Some(value.clone()).filter(Value::is_string));
        }
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => {
            keep(out, key, Some(value.clone()).filter(Value::is_boolean));
        }
        "enum" => keep(out, key, Some(value.clone()).filter(Value::is_array)),
        "dependentRequired" => keep(out, key, Some(value.clone()).filter(Value::is_object)),
        _ if dropped(key, value) => {}
        _ => keep(out, key, Some(value.clone())),
    }
}

fn keep(out: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        out.insert(key.into(), value);
    }
}

/// Keywords that mean nothing in 2020-12, or that would start a resource of their own and so break
/// every pointer below them.
fn dropped(key: &str, value: &Value) -> bool {
    match key {
        "$id" | "$schema" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary"
        | "$comment" | "$dynamicRef" | "$recursiveRef" | "nullable" | "xml" | "externalDocs" => {
            true
        }
        "id" => value.is_string(),
        _ => key.starts_with("x-"),
    }
}

fn subschemas(
    out: &mut Map<String, Value>,
    map: &Map<String, Value>,
    key: &str,
    value: &Value,
    below: Below,
    version: Version,
) {
    let each = |items: &[Value]| items.iter().map(|item| normal(item, version)).collect();
    let new = match (below, value) {
        (_, Value::Null) => return,
        (Below::List, Value::Array(items)) if !items.is_empty() => Value::Array(each(items)),
        (Below::Names, Value::Object(names)) => {
            let entry = |(name, value): (&String, &Value)| (name.clone(), normal(value, version));
            Value::Object(names.iter().map(entry).collect())
        }
        (Below::OneOrList, Value::Array(items)) => return tuple(out, map, each(items), version),
        (Below::One, _) if key == "additionalItems" => return,
        (Below::One | Below::OneOrList, Value::Object(_) | Value::Bool(_)) => {
            normal(value, version)
        }
        _ => return,
    };
    let key = if key == "definitions" { "$defs" } else { key };
    out.insert(key.into(), new);
}

/// `items` as a list is `prefixItems` now, and `additionalItems` is `items`.
fn tuple(
    out: &mut Map<String, Value>,
    map: &Map<String, Value>,
    items: Vec<Value>,
    version: Version,
) {
    if !items.is_empty() {
        out.insert("prefixItems".into(), Value::Array(items));
    }
    if let Some(rest) =
        map.get("additionalItems").filter(|rest| rest.is_boolean() || rest.is_object())
    {
        out.insert("items".into(), normal(rest, version));
    }
}

/// A reference in one spelling, so that one target has one name.
fn canonical(reference: &str) -> String {
    reference::pointer(reference).map_or_else(|_| reference.into(), |at| reference::written(&at))
}

fn types(out: &mut Map<String, Value>, value: &Value, version: Version) {
    let word = |value: &Value| match value {
        // An unquoted `null` in YAML.
        Value::Null if version.keeps_siblings() => Some("null"),
        Value::String(word) => known_type(word),
        _ => None,
    };
    if value == "file" {
        out.insert("type".into(), "string".into());
        out.entry("format").or_insert_with(|| "binary".into());
        return;
    }
    let Value::Array(items) = value else {
        return keep(out, "type", word(value).map(Value::from));
    };
    let mut words: Vec<&str> = Vec::new();
    for word in
        items.iter().filter_map(|item| if item.is_null() { Some("null") } else { word(item) })
    {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let unknown =
        items.iter().any(|item| item.as_str().is_some_and(|word| known_type(word).is_none()));
    match words.as_slice() {
        // A word that nobody knows may stand for anything.
        _ if unknown => {}
        [] => {}
        [word] => keep(out, "type", Some((*word).into())),
        _ => keep(out, "type", Some(words.into())),
    }
}

fn known_type(word: &str) -> Option<&'static str> {
    ["string", "number", "integer", "boolean", "array", "object", "null"]
        .into_iter()
        .find(|known| *known == word)
}

/// `minimum` or `maximum`; a flag beside it moves it to the exclusive form.
fn bound(out: &mut Map<String, Value>, map: &Map<String, Value>, key: &str, value: &Value) {
    let exclusive = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
    let key = if map.get(exclusive) == Some(&Value::Bool(true)) { exclusive } else { key };
    keep(out, key, Some(value.clone()).filter(Value::is_number));
}

/// Whether the keyword can have this number.
fn number(key: &str, value: &Value) -> bool {
    value.as_f64().is_some_and(|number| key != "multipleOf" || number > 0.0)
}

fn count(value: &Value) -> Option<Value> {
    let whole = value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0);
    Some(value.clone()).filter(|_| whole)
}

fn prose(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// The names of a `required` list, each once; older dialects have a flag here that means nothing.
fn names(value: &Value) -> Option<Value> {
    let mut names: Vec<&Value> = Vec::new();
    for name in value.as_array()?.iter().filter(|name| name.is_string()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| json!(names))
}

/// `nullable: true`: null joins the types and the enum; where other keywords could still refuse it, the
/// whole becomes one of two choices and the annotations stay outside.
fn with_null(mut schema: Map<String, Value>) -> Value {
    const BLOCKERS: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "not", "const"];
    if BLOCKERS.iter().any(|key| schema.contains_key(*key)) {
        return choice(schema);
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push("null".into()),
        Some(one @ Value::String(_)) if *one != "null" => *one = json!([one.clone(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(schema)
}

fn choice(schema: Map<String, Value>) -> Value {
    const ANNOTATIONS: [&str; 7] =
        ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"];
    let (outside, inside): (Map<_, _>, Map<_, _>) =
        schema.into_iter().partition(|(key, _)| ANNOTATIONS.contains(&key.as_str()));
    let mut out = outside;
    out.insert("anyOf".into(), json!([inside, {"type": "null"}]));
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: Version, schema: &Value, expected: &Value) {
        assert_eq!(&normal(schema, version), expected, "{schema}");
    }

    #[track_caller]
    fn check30(schema: &Value, expected: &Value) {
        check(Version::V30, schema, expected);
    }

    #[track_caller]
    fn check31(schema: &Value, expected: &Value) {
        check(Version::V31, schema, expected);
    }

    #[test]
    fn nullable_becomes_a_type_or_a_choice() {
        check30(&json!({"type": "string", "nullable": true}), &json!({"type": ["string", "null"]}));
        check30(&json!({"type": "string", "nullable": false}), &json!({"type": "string"}));
        check30(
            &json!({"type": "string", "enum": ["a"], "nullable": true}),
            &json!({"type": ["string", "null"], "enum": ["a", null]}),
        );
        check30(&json!({"nullable": true, "description": "d"}), &json!({"description": "d"}));
        check30(
            &json!({"nullable": true, "description": "d", "allOf": [{"$ref": "#/a"}]}),
            &json!({"description": "d", "anyOf": [{"allOf": [{"$ref": "#/a"}]}, {"type": "null"}]}),
        );
        check31(
            &json!({"$ref": "#/a", "nullable": true}),
            &json!({"anyOf": [{"$ref": "#/a"}, {"type": "null"}]}),
        );
        check31(
            &json!({"type": ["string"], "nullable": true}),
            &json!({"type": ["string", "null"]}),
        );
        check(
            Version::V20,
            &json!({"type": "string", "x-nullable": true}),
            &json!({"type": ["string", "null"]}),
        );
    }

    #[test]
    fn bounds_take_one_form() {
        check30(&json!({"minimum": 1, "exclusiveMinimum": true}), &json!({"exclusiveMinimum": 1}));
        check30(&json!({"maximum": 1, "exclusiveMaximum": false}), &json!({"maximum": 1}));
        check31(&json!({"maximum": 1, "exclusiveMaximum": true}), &json!({"exclusiveMaximum": 1}));
        check31(&json!({"exclusiveMinimum": 0.5}), &json!({"exclusiveMinimum": 0.5}));
        check30(&json!({"exclusiveMinimum": true}), &json!({}));
        check30(&json!({"multipleOf": 0}), &json!({}));
        check30(
            &json!({"maxLength": -1, "minLength": "2", "maxItems": 3.0}),
            &json!({"maxItems": 3.0}),
        );
    }

    #[test]
    fn siblings_of_a_reference_count_from_3_1_on() {
        let schema = json!({"$ref": "#/a", "description": "d", "nullable": true});
        check30(&schema, &json!({"$ref": "#/a"}));
        check(Version::V20, &schema, &json!({"$ref": "#/a"}));
        check31(
            &json!({"$ref": "#/a", "description": "d"}),
            &json!({"$ref": "#/a", "description": "d"}),
        );
        check30(&json!({"$ref": "#/a%7Bb%7D/c%25~1"}), &json!({"$ref": "#/a{b}/c%25~1"}));
        check30(&json!({"$ref": "other.yaml#/a"}), &json!({"$ref": "other.yaml#/a"}));
    }

    #[test]
    fn properties_are_not_keywords() {
        let names = json!({"properties": {
            "$ref": {"type": "string"}, "type": {"nullable": true, "type": "string"},
            "nullable": {"type": "boolean"}, "properties": {"type": "object"}, "$schema": {},
            "x-a": {"example": 1}, "id": true, "required": null,
        }});
        check30(
            &names,
            &json!({"properties": {
                "$ref": {"type": "string"}, "type": {"type": ["string", "null"]},
                "nullable": {"type": "boolean"}, "properties": {"type": "object"}, "$schema": {},
                "x-a": {"examples": [1]}, "id": true, "required": {},
            }}),
        );
        check30(
            &json!({"default": {"nullable": true, "$ref": "#/a"}, "enum": [{"type": "file"}]}),
            &json!({"default": {"nullable": true, "$ref": "#/a"}, "enum": [{"type": "file"}]}),
        );
    }

    #[test]
    fn identifiers_and_extensions_are_left_out() {
        check31(
            &json!({"$id": "https://a.test", "$schema": "x", "$anchor": "a", "x-b": 1, "xml": {},
                "properties": {"a": {"$id": "b", "type": "string"}}, "discriminator": {"propertyName": "a"}}),
            &json!({"properties": {"a": {"type": "string"}}, "discriminator": {"propertyName": "a"}}),
        );
        check30(&json!({"id": "x"}), &json!({}));
    }

    #[test]
    fn types_are_words_of_json_schema() {
        check(
            Version::V20,
            &json!({"type": "file"}),
            &json!({"type": "string", "format": "binary"}),
        );
        check30(&json!({"type": ["string", "null"]}), &json!({"type": ["string", "null"]}));
        check30(&json!({"type": ["string", "string"]}), &json!({"type": "string"}));
        check31(&json!({"type": ["string", null]}), &json!({"type": ["string", "null"]}));
        check31(&json!({"type": null}), &json!({"type": "null"}));
        check30(&json!({"type": null}), &json!({}));
        check30(&json!({"type": "any"}), &json!({}));
        check30(&json!({"type": ["string", "uuid"]}), &json!({}));
    }

    #[test]
    fn required_lists_hold_each_name_once() {
        check30(&json!({"required": ["a", "b", "a", 1]}), &json!({"required": ["a", "b"]}));
        check30(&json!({"required": true}), &json!({}));
        check30(&json!({"required": []}), &json!({}));
    }

    #[test]
    fn examples_and_tuples_move() {
        check30(&json!({"example": {"a": 1}}), &json!({"examples": [{"a": 1}]}));
        check31(&json!({"example": 1, "examples": [2]}), &json!({"examples": [2]}));
        check31(&json!({"examples": {"a": 1}}), &json!({}));
        check30(
            &json!({"items": [{"type": "file"}], "additionalItems": false}),
            &json!({"prefixItems": [{"type": "string", "format": "binary"}], "items": false}),
        );
        check30(&json!({"items": {"example": 1}}), &json!({"items": {"examples": [1]}}));
    }

    #[test]
    fn schemas_may_be_true_false_or_missing() {
        check31(&json!(true), &json!(true));
        check31(&json!({"items": false, "not": true}), &json!({"items": false, "not": true}));
        check30(&Value::Null, &json!({}));
        check30(
            &json!({"additionalProperties": false, "allOf": [], "properties": null}),
            &json!({"additionalProperties": false}),
        );
        check30(&json!({"additionalProperties": {"x-a": 1}}), &json!({"additionalProperties": {}}));
    }

    #[test]
    fn normal_schemas_stay_as_they_are() {
        let schema = json!({"description": 5, "type": "string", "nullable": true, "example": 1});
        for version in [Version::V20, Version::V30, Version::V31, Version::V32] {
            let once = normal(&schema, version);
            assert_eq!(normal(&once, version), once);
        }
    }
}
