//! One table a rule of the profile; the input is one property, the expectation what it became.

use serde_json::json;

use super::*;

/// Finds schemas in a document made of `components/schemas` only.
pub(super) fn resolver(schemas: Value) -> impl Fn(&str) -> Result<Arc<Value>, Fault> {
    let document = json!({ "components": { "schemas": schemas } });
    move |reference: &str| {
        let pointer = reference.strip_prefix('#').unwrap_or("none");
        let found = document.pointer(pointer).cloned().map(Arc::new);
        found.ok_or_else(|| Fault { pointer: pointer.into(), words: "does not exist".into() })
    }
}

fn schemas() -> Value {
    json!({
        "Memo": { "type": "object", "description": "A note.", "properties": {
            "name": { "type": "string", "readOnly": true },
            "content": { "type": "string" },
            "parent": { "$ref": "#/components/schemas/Memo" },
        }, "required": ["name", "content"] },
        "Cat": { "type": "object", "properties": { "kind": { "const": "cat" }, "lives": { "type": "integer" } }, "required": ["kind"] },
        "Dog": { "type": "object", "properties": { "kind": { "const": "dog" }, "name": { "type": "string" } }, "required": ["kind"] },
        "State": { "type": "string", "enum": ["OPEN", "CLOSED"], "description": "Open or closed." },
        "Id": { "type": "string", "readOnly": true },
        "Secret": { "type": "string", "writeOnly": true },
        "Loop": { "$ref": "#/components/schemas/Loop" },
        "Json": { "oneOf": [{ "type": "string" }, { "type": "number" }, { "type": "boolean" },
            { "type": "array", "items": { "$ref": "#/components/schemas/Json" } },
            { "type": "object", "additionalProperties": { "$ref": "#/components/schemas/Json" } }] },
    })
}

fn root(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "x": schema } })
}

fn published(schema: &Value) -> Value {
    let resolve = resolver(schemas());
    let schema = Value::Object(input(&root(schema), &resolve).schema);
    assert_eq!(lint(&schema), Vec::<String>::new(), "{schema}");
    schema["properties"]["x"].clone()
}

#[track_caller]
fn check(schema: Value, expected: Value) {
    assert_eq!(published(&schema), expected, "{schema}");
}

#[track_caller]
fn check_output(schema: Value, expected: Value) {
    let resolve = resolver(schemas());
    let published = Value::Object(output(&root(&schema), &resolve).schema);
    assert_eq!(lint_output(&published), Vec::<String>::new(), "{published}");
    assert_eq!(published["properties"]["x"], expected, "{schema}");
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[test]
fn a_type_is_one_word() {
    check(json!({ "type": "integer" }), json!({ "type": "integer" }));
    check(json!({ "type": ["string", "null"] }), json!({ "type": "string" }));
    check(
        json!({ "type": ["null", "integer"], "minimum": 1 }),
        json!({ "type": "integer", "minimum": 1 }),
    );
    check(json!({ "type": ["integer", "number"] }), json!({ "type": "number" }));
    check(
        json!({ "type": ["integer", "string"] }),
        json!({ "type": "string", "description": "Integer or string" }),
    );
    check(
        json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        json!({ "type": "array", "description": "String or array", "items": { "type": "string" } }),
    );
}

#[test]
fn a_type_that_is_not_written_is_implied() {
    check(
        json!({ "properties": { "a": { "type": "string" } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
    );
    check(
        json!({ "items": { "type": "string" } }),
        json!({ "type": "array", "items": { "type": "string" } }),
    );
    check(json!({ "enum": ["a", "b"] }), json!({ "type": "string", "enum": ["a", "b"] }));
    check(json!({ "enum": [1, 2] }), json!({ "type": "integer", "enum": [1, 2] }));
    check(json!({ "format": "date" }), json!({ "type": "string", "format": "date" }));
    check(json!({ "maximum": 3 }), json!({ "type": "number", "maximum": 3 }));
}

#[test]
fn what_may_be_anything_is_text() {
    let any = json!({ "type": "string", "description": "Any JSON value, as text" });
    for schema in [
        json!({}),
        json!(true),
        json!(null),
        json!(7),
        json!({ "type": "any" }),
        json!({ "type": "null" }),
        json!({ "$ref": "#/none" }),
        reference("Loop"),
        json!({ "nullable": true }),
    ] {
        check(schema, any.clone());
    }
    check(
        json!({ "description": "What it holds." }),
        json!({ "type": "string", "description": "What it holds. Any JSON value, as text" }),
    );
}

#[test]
fn arrays_have_typed_items() {
    let any = json!({ "type": "string", "description": "Any JSON value, as text" });
    check(json!({ "type": "array" }), json!({ "type": "array", "items": any }));
    check(json!({ "type": "array", "items": {} }), json!({ "type": "array", "items": any }));
    check(json!({ "type": "array", "items": true }), json!({ "type": "array", "items": any }));
    check(
        json!({ "type": "array", "items": [{ "type": "string" }] }),
        json!({ "type": "array", "items": { "type": "string" } }),
    );
    check(
        json!({ "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "number" }] }),
        json!({ "type": "array", "items": { "type": "number" } }),
    );
    check(
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 5000, "uniqueItems": true }),
        json!({ "type": "array", "description": "At most 5000 items", "minItems": 1, "uniqueItems": true, "items": { "type": "string" } }),
    );
}

#[test]
fn objects_have_properties() {
    check(
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {}, "additionalProperties": true }),
    );
    check(
        json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
        json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "integer" } }),
    );
    check(
        json!({ "type": "object", "additionalProperties": {} }),
        json!({ "type": "object", "properties": {}, "additionalProperties": true }),
    );
    check(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": false }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
    );
    check(
        json!({ "type": "object", "patternProperties": { "^x-": { "type": "string" } } }),
        json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "string" } }),
    );
}

#[test]
fn required_names_exist_once() {
    check(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["b", "a", "a", 3] }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }),
    );
    check(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": true }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
    );
}

#[test]
fn a_property_named_like_a_keyword_is_a_property() {
    let names = json!({ "$ref": { "type": "string" }, "oneOf": { "type": "integer" }, "properties": { "type": "boolean" }, "type": { "type": "string" } });
    check(
        json!({ "type": "object", "properties": names }),
        json!({ "type": "object", "properties": names }),
    );
}

#[test]
fn constants_and_enums() {
    check(json!({ "const": "a" }), json!({ "type": "string", "enum": ["a"] }));
    check(
        json!({ "type": "string", "enum": ["a", null, "a"] }),
        json!({ "type": "string", "enum": ["a"] }),
    );
    check(
        json!({ "enum": ["a", 1] }),
        json!({ "type": "string", "description": "One of a, 1, as JSON text" }),
    );
    check(
        json!({ "type": "string", "enum": [1, 2] }),
        json!({ "type": "string", "description": "One of 1, 2" }),
    );
    check(json!({ "type": "string", "enum": [] }), json!({ "type": "string" }));
    check(
        json!({ "type": "object", "enum": [{ "a": 1 }] }),
        json!({ "type": "object", "description": "One of {\"a\":1}", "properties": {}, "additionalProperties": true }),
    );
    let many: Vec<_> = (0..400).map(|n| format!("value-{n}")).collect();
    let text = published(&json!({ "type": "string", "enum": many }));
    assert!(
        text.get("enum").is_none()
            && text["description"].as_str().unwrap().starts_with("One of value-0, value-1"),
        "{text}"
    );
    assert!(text["description"].as_str().unwrap().contains(" more"), "{text}");
}

#[test]
fn only_known_formats_are_written() {
    check(
        json!({ "type": "string", "format": "uuid" }),
        json!({ "type": "string", "format": "uuid" }),
    );
    check(
        json!({ "type": "string", "format": "field-mask" }),
        json!({ "type": "string", "description": "Format field-mask" }),
    );
    check(json!({ "type": "string", "format": "enum" }), json!({ "type": "string" }));
    check(
        json!({ "type": "integer", "format": "uint32", "minimum": 0 }),
        json!({ "type": "integer", "minimum": 0 }),
    );
    check(json!({ "type": "integer", "format": "date-time" }), json!({ "type": "integer" }));
    check(
        json!({ "type": "string", "format": "byte" }),
        json!({ "type": "string", "description": "Base64" }),
    );
    check(
        json!({ "type": "string", "contentEncoding": "base64url" }),
        json!({ "type": "string", "description": "Base64" }),
    );
    check(json!({ "type": "file" }), json!({ "type": "string", "description": "Base64" }));
    check(json!({ "type": "string", "format": 3 }), json!({ "type": "string" }));
}

#[test]
fn bounds_are_numbers_of_the_kind() {
    check(
        json!({ "type": "integer", "exclusiveMinimum": true, "minimum": 1, "maximum": "9" }),
        json!({ "type": "integer", "minimum": 1 }),
    );
    check(
        json!({ "type": "integer", "minimum": 60.0, "maximum": 90.5 }),
        json!({ "type": "integer", "minimum": 60, "maximum": 90.5 }),
    );
    check(
        json!({ "type": "integer", "maximum": 9_223_372_036_854_775_807_i64 }),
        json!({ "type": "integer" }),
    );
    check(
        json!({ "type": "number", "multipleOf": 0.5 }),
        json!({ "type": "number", "description": "A multiple of 0.5" }),
    );
    check(
        json!({ "type": "string", "minLength": 1, "maxLength": 64, "maxItems": 3 }),
        json!({ "type": "string", "minLength": 1, "maxLength": 64 }),
    );
    check(
        json!({ "type": "string", "maxLength": 10000 }),
        json!({ "type": "string", "description": "At most 10000 characters" }),
    );
    check(json!({ "type": "string", "minLength": -1 }), json!({ "type": "string" }));
}

#[test]
fn patterns_and_vendor_words_stay_out() {
    check(
        json!({ "type": "string", "pattern": "^(?!\\.)x", "x-y": 1, "example": "x", "$id": "q", "$schema": "s", "if": {}, "not": {} }),
        json!({ "type": "string", "description": "Matches `^(?!\\.)x`" }),
    );
}

#[test]
fn defaults_fit_the_kind() {
    check(json!({ "type": "integer", "default": 5 }), json!({ "type": "integer", "default": 5 }));
    check(json!({ "type": "integer", "default": "5" }), json!({ "type": "integer" }));
    check(json!({ "type": ["integer", "null"], "default": null }), json!({ "type": "integer" }));
    check(
        json!({ "type": "array", "items": { "type": "string" }, "default": ["a"] }),
        json!({ "type": "array", "default": ["a"], "items": { "type": "string" } }),
    );
    check(
        json!({ "type": "string", "enum": ["a"], "default": "b" }),
        json!({ "type": "string", "enum": ["a"] }),
    );
    check(
        json!({ "default": 5 }),
        json!({ "type": "string", "description": "Any JSON value, as text" }),
    );
}

#[test]
fn references_are_written_out() {
    check(
        reference("State"),
        json!({ "type": "string", "description": "Open or closed.", "enum": ["OPEN", "CLOSED"] }),
    );
    check(
        json!({ "$ref": "#/components/schemas/State", "description": "Mine." }),
        json!({ "type": "string", "description": "Mine.", "enum": ["OPEN", "CLOSED"] }),
    );
}

#[test]
fn all_of_is_merged() {
    check(json!({ "allOf": [reference("State")] }), published(&reference("State")));
    check(
        json!({ "allOf": [reference("State"), { "description": "Nearer." }] }),
        json!({ "type": "string", "description": "Nearer.", "enum": ["OPEN", "CLOSED"] }),
    );
    check(
        json!({ "allOf": [reference("Cat"), { "properties": { "age": { "type": "integer" } }, "required": ["age"] }] }),
        json!({ "type": "object", "properties": { "kind": { "type": "string", "enum": ["cat"] }, "lives": { "type": "integer" }, "age": { "type": "integer" } }, "required": ["kind", "age"] }),
    );
    check(
        json!({ "allOf": [{ "properties": { "a": { "type": "string" } } }, { "properties": { "a": { "maxLength": 3 } } }] }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "maxLength": 3 } } }),
    );
    check(
        json!({ "allOf": [{ "enum": ["a", "b"] }, { "enum": ["b", "c"] }] }),
        json!({ "type": "string", "enum": ["b"] }),
    );
    check(
        json!({ "allOf": [{ "type": "number" }, { "type": "integer" }] }),
        json!({ "type": "integer" }),
    );
    check(
        json!({ "allOf": [] }),
        json!({ "type": "string", "description": "Any JSON value, as text" }),
    );
}

#[test]
fn null_is_taken_out_of_unions() {
    for word in ["anyOf", "oneOf"] {
        check(
            json!({ word: [{ "type": "string", "maxLength": 5 }, { "type": "null" }] }),
            json!({ "type": "string", "maxLength": 5 }),
        );
        check(
            json!({ word: [reference("State"), { "enum": [null] }] }),
            published(&reference("State")),
        );
    }
    check(
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "title": "X", "description": "Y." }),
        json!({ "type": "string", "description": "Y." }),
    );
}

#[test]
fn one_or_many_is_an_array() {
    check(
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] }),
        json!({ "type": "array", "description": "String or array of string", "items": { "type": "string" } }),
    );
    check(
        json!({ "oneOf": [reference("State"), { "type": "array", "items": reference("State") }] }),
        json!({ "type": "array", "description": "OPEN, CLOSED or array of State", "items": published(&reference("State")) }),
    );
    let cats = published(
        &json!({ "oneOf": [{ "type": "array", "items": reference("Cat") }, reference("Cat")] }),
    );
    assert_eq!(cats["items"], published(&reference("Cat")));
    assert_eq!(
        published(
            &json!({ "oneOf": [reference("Dog"), { "type": "array", "items": reference("Cat") }] })
        )["type"],
        "object"
    );
}

#[test]
fn unions_of_scalars() {
    check(
        json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }),
        json!({ "type": "number" }),
    );
    check(
        json!({ "oneOf": [{ "type": "integer" }, { "type": "string", "format": "date" }] }),
        json!({ "type": "string", "description": "Integer or string" }),
    );
    check(
        json!({ "oneOf": [{ "type": "integer" }, { "type": "boolean" }] }),
        json!({ "type": "string", "description": "Integer or boolean, as JSON text" }),
    );
    check(
        json!({ "oneOf": [{ "const": "a" }, { "const": "b" }] }),
        json!({ "type": "string", "enum": ["a", "b"] }),
    );
    check(
        json!({ "oneOf": [{ "enum": ["a"] }, { "type": "string" }] }),
        json!({ "type": "string" }),
    );
    check(
        json!({ "type": "string", "anyOf": [{ "format": "ipv4" }, { "format": "ipv6" }] }),
        json!({ "type": "string" }),
    );
    check(
        json!({ "anyOf": [{ "anyOf": [{ "const": 1 }, { "const": 2 }] }, { "const": 3 }] }),
        json!({ "type": "integer", "enum": [1, 2, 3] }),
    );
}

#[test]
fn unions_of_objects_require_nothing() {
    check(
        json!({ "oneOf": [reference("Cat"), reference("Dog")], "discriminator": { "propertyName": "kind" } }),
        json!({ "type": "object", "description": "One of Cat, Dog", "properties": {
            "kind": { "type": "string", "enum": ["cat", "dog"] }, "lives": { "type": "integer" }, "name": { "type": "string" } } }),
    );
    check(
        json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"], "oneOf": [
            { "properties": { "a": { "const": "x" } } }, { "title": "B", "properties": { "b": { "type": "string" } } }] }),
        json!({ "type": "object", "description": "One of a = x, B", "properties": {
            "id": { "type": "string" }, "a": { "type": "string", "enum": ["x"] }, "b": { "type": "string" } }, "required": ["id"] }),
    );
}

#[test]
fn members_that_only_require_are_words() {
    check(
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "anyOf": [{ "required": ["a"] }, { "required": ["b", "a"] }] }),
        json!({ "type": "object", "description": "Needs `a`, or `b` and `a`", "properties": { "a": { "type": "string" }, "b": { "type": "string" } } }),
    );
}

#[test]
fn other_unions_are_their_first_member() {
    check(
        json!({ "anyOf": [reference("Dog"), { "type": "string" }] }),
        json!({ "type": "object", "description": "Dog or string", "properties": {
            "kind": { "type": "string", "enum": ["dog"] }, "name": { "type": "string" } }, "required": ["kind"] }),
    );
    check(
        json!({ "anyOf": [{ "type": "string", "format": "uri" }, reference("Dog")] }),
        json!({ "type": "string", "description": "String or Dog; objects and arrays as JSON text" }),
    );
    check(
        reference("Json"),
        json!({ "type": "string", "description": "String or number or boolean or array of Json or object; objects and arrays as JSON text" }),
    );
    check(
        json!({ "anyOf": [{ "type": "string" }, {}] }),
        json!({ "type": "string", "description": "Any JSON value, as text (string, any)" }),
    );
}

#[test]
fn read_only_leaves_requests() {
    let resolve = resolver(schemas());
    let nested = published(
        &json!({ "type": "object", "properties": { "memo": reference("Memo"), "id": reference("Id") }, "required": ["id", "memo"] }),
    );
    assert_eq!(nested["required"], json!(["memo"]));
    assert_eq!(nested["properties"]["memo"]["required"], json!(["content"]));
    assert!(nested["properties"]["memo"]["properties"].get("name").is_none());
    let root = json!({ "type": "object", "properties": { "id": reference("Id"), "own": { "type": "string", "readOnly": true }, "all": { "allOf": [{ "readOnly": true }] } }, "required": ["id", "own"] });
    let root = Value::Object(input(&root, &resolve).schema);
    assert_eq!(
        root,
        json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] })
    );
}

#[test]
fn recursion_ends_in_an_open_object_that_says_what_it_is() {
    check(
        reference("Memo"),
        json!({ "type": "object", "description": "A note.", "properties": {
        "content": { "type": "string" },
        "parent": { "type": "object", "description": "`Memo` object; `get_schema` has the rest", "properties": {}, "additionalProperties": true },
    }, "required": ["content"] }),
    );
}

#[test]
fn depth_ends_in_an_open_object() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..9 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    let mut published = published(&schema);
    for _ in 0..5 {
        published = published["properties"]["a"].clone();
    }
    assert_eq!(
        published,
        json!({ "type": "object", "description": "object; `get_schema` has the rest", "properties": {}, "additionalProperties": true })
    );
}

#[test]
fn texts_are_clean_and_short() {
    check(
        json!({ "type": "string", "description": "a\u{202e}b\u{200b}c\n\n d<!-- evil -->" }),
        json!({ "type": "string", "description": "abc d" }),
    );
    let text = published(
        &json!({ "type": "string", "description": "One sentence here. ".repeat(40), "format": "duration" }),
    );
    let text = text["description"].as_str().unwrap();
    assert!(text.len() <= 300 && text.ends_with("here. Format duration"), "{text}");
    check(json!({ "type": "string", "title": "X" }), json!({ "type": "string" }));
    check(
        json!({ "type": "string", "title": "The unknown" }),
        json!({ "type": "string", "description": "The unknown" }),
    );
    check(
        json!({ "type": "string", "deprecated": true, "description": "Old." }),
        json!({ "type": "string", "description": "Old. Deprecated" }),
    );
}

#[test]
fn optional_arguments_are_cut_from_the_last_on() {
    let property = |n: usize| {
        (
            format!("{n:03}{}", "p".repeat(57)),
            json!({ "type": "string", "description": "d".repeat(100) }),
        )
    };
    let schema = json!({ "type": "object", "properties": (0..300).map(property).collect::<Map<_, _>>(), "required": [property(299).0, property(298).0] });
    let resolve = resolver(json!({}));
    let published = input(&schema, &resolve);
    let schema = Value::Object(published.schema);
    assert_eq!(lint(&schema), Vec::<String>::new());
    let properties = schema["properties"].as_object().unwrap();
    let names: Vec<_> = properties.keys().map(|name| &name[..3]).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("000", "299"));
    assert!(names.len() > 150 && names[names.len() - 3] < "200", "{names:?}");
    let missing = 300 - names.len();
    assert_eq!(
        schema["description"],
        format!("{missing} more arguments are left out here for size; `get_endpoint` lists all.")
    );
    assert_eq!(schema["required"].as_array().unwrap().len(), 2);
}

#[test]
fn deep_parts_are_cut_before_arguments() {
    let leaf: Map<_, _> = (0..40)
        .map(|n| (format!("p{n}"), json!({ "type": "string", "description": "d".repeat(90) })))
        .collect();
    let wide: Map<_, _> = (0..8)
        .map(|n| (format!("w{n}"), json!({ "type": "object", "properties": leaf })))
        .collect();
    let schema = json!({ "type": "object", "properties": wide });
    let published = input(&schema, &resolver(json!({})));
    let schema = Value::Object(published.schema);
    assert_eq!(lint(&schema), Vec::<String>::new());
    assert!(published.cut > 0);
    assert_eq!(schema["properties"].as_object().unwrap().len(), 8);
    assert_eq!(schema["properties"]["w0"]["properties"].as_object().unwrap().len(), 40);
}

#[test]
fn texts_are_read_back() {
    let resolve = resolver(schemas());
    let check = |schema: Value, text: &str, expected: Option<Value>| {
        assert_eq!(read_text(&schema, &resolve, text), expected, "{schema} {text}");
        let shown = root(&schema);
        let shown = &input(&shown, &resolve).schema["properties"]["x"]["type"];
        assert!(expected.is_none() || shown == "string" && shown_as_text(&schema, &resolve));
    };
    check(json!({}), "5", Some(json!(5)));
    check(json!({}), "\"5\"", Some(json!("5")));
    check(json!({}), "plain words", None);
    check(json!({ "type": "string" }), "5", None);
    check(json!({ "type": ["string", "integer"] }), "5", None);
    check(json!({ "type": ["integer", "boolean"] }), "true", Some(json!(true)));
    check(json!({ "enum": ["1", 1, 2] }), "1", None);
    check(json!({ "enum": ["1", 1, 2] }), "2", Some(json!(2)));
    check(reference("Json"), "5", None);
    check(reference("Json"), "{\"a\":[1]}", Some(json!({ "a": [1] })));
    check(json!({ "type": ["object", "string"] }), "{}", None);
    check(reference("Cat"), "{}", None);
    assert!(!shown_as_text(&reference("State"), &resolve));
}

#[test]
fn outputs_say_kinds_in_words() {
    check_output(json!({ "type": "string" }), json!({ "description": "string" }));
    check_output(
        json!({ "type": ["string", "null"], "description": "Who." }),
        json!({ "description": "string or null. Who." }),
    );
    check_output(
        json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
        json!({ "description": "integer or null" }),
    );
    check_output(
        json!({ "type": "string", "format": "date-time" }),
        json!({ "description": "string (date-time)" }),
    );
    check_output(
        json!({ "enum": ["a", "b"], "default": "a" }),
        json!({ "description": "string: a, b" }),
    );
    check_output(json!({}), json!({ "description": "any value" }));
    check_output(
        json!({ "type": "array", "items": { "type": "integer", "minimum": 1 } }),
        json!({ "description": "array", "items": { "description": "integer" } }),
    );
    check_output(
        json!({ "type": "object", "additionalProperties": reference("Cat") }),
        json!({ "description": "object with Cat by name" }),
    );
    check_output(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false }),
        json!({ "description": "object", "properties": { "a": { "description": "string" } } }),
    );
    check_output(
        json!({ "oneOf": [reference("Cat"), reference("Dog")] }),
        json!({ "description": "object: one of Cat, Dog", "properties": {
        "kind": { "description": "string: cat, dog" }, "lives": { "description": "integer" }, "name": { "description": "string" } } }),
    );
}

#[test]
fn write_only_leaves_replies() {
    check_output(
        json!({ "type": "object", "properties": { "s": reference("Secret"), "id": reference("Id") } }),
        json!({ "description": "object", "properties": { "id": { "description": "string" } } }),
    );
}

#[test]
fn output_recursion_names_the_schema() {
    check_output(
        reference("Memo"),
        json!({ "description": "object. A note.", "properties": {
        "name": { "description": "string" }, "content": { "description": "string" },
        "parent": { "description": "`Memo` object; `get_schema` has the rest" } } }),
    );
}

#[test]
fn hostile_schemas_end_soon() {
    let expression = |n: usize| {
        json!({ "oneOf": (0..30).map(|m| json!({ "type": "object", "properties": {
        format!("p{n}_{m}"): reference(&format!("E{m}")), "args": { "type": "array", "items": reference(&format!("E{}", (n + m) % 30)) } } })).collect::<Vec<_>>() })
    };
    let mut all: Map<_, _> = (0..30).map(|n| (format!("E{n}"), expression(n))).collect();
    for n in 0..3_000 {
        let next = reference(&format!("C{}", n + 1));
        all.insert(
            format!("C{n}"),
            json!({ "allOf": [next, next, { "properties": { format!("c{n}"): next } }] }),
        );
        all.insert(format!("U{n}"), json!({ "anyOf": [reference(&format!("U{}", n + 1)), reference(&format!("U{}", n + 2)), { "type": "string" }] }));
    }
    let wide: Map<_, _> = (0..100_000).map(|n| (format!("w{n}"), reference("E1"))).collect();
    all.insert("Wide".into(), json!({ "type": "object", "properties": wide }));
    let document = json!({ "components": { "schemas": all } });
    let resolve = move |reference: &str| {
        Ok(Arc::new(document.pointer(&reference[1..]).cloned().unwrap_or_default()))
    };
    for name in ["E0", "C0", "U0", "Wide"] {
        for schema in [root(&reference(name)), reference(name)] {
            let (input, output) = (input(&schema, &resolve), output(&schema, &resolve));
            assert_eq!(lint(&input.schema.clone().into()), Vec::<String>::new());
            assert_eq!(lint_output(&output.schema.clone().into()), Vec::<String>::new());
        }
    }
}

/// `TOOLGATE_BLESS=1` writes what came out, for a person to read.
#[track_caller]
fn golden(file: &std::path::Path, published: Map<String, Value>) {
    let published = format!("{}\n", serde_json::to_string_pretty(&published).unwrap());
    if std::env::var_os("TOOLGATE_BLESS").is_some() {
        std::fs::write(file, &published).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap();
    assert_eq!(published, expected, "{}", file.display());
}

#[test]
fn larger_schemas_keep_their_form() {
    for case in ["order", "filter"] {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/portable").join(case);
        let schemas = std::fs::read_to_string(folder.join("schemas.json")).unwrap();
        let resolve = resolver(serde_json::from_str(&schemas).unwrap());
        let (input, output) =
            (input(&reference("Root"), &resolve), output(&reference("Root"), &resolve));
        assert_eq!(lint(&input.schema.clone().into()), Vec::<String>::new());
        assert_eq!(lint_output(&output.schema.clone().into()), Vec::<String>::new());
        golden(&folder.join("input.json"), input.schema);
        golden(&folder.join("output.json"), output.schema);
    }
}
