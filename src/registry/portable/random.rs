//! Random schemas, sound and unsound: what comes out is always portable.

use proptest::prelude::*;
use serde_json::json;

use super::{tests::resolver, *};

const NAMES: [&str; 6] = ["a", "b", "$ref", "type", "kind", "a name\u{202e}"];
const TARGETS: [&str; 5] = ["A", "B", "C", "D", "none"];

fn word() -> impl Strategy<Value = Value> {
    let words =
        ["object", "array", "string", "integer", "number", "boolean", "null", "any", "file"];
    prop::sample::select(words.to_vec()).prop_map(Value::from)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "[a-z<!>\u{200b}\" -]{0,40}".prop_map(Value::from),
    ]
}

/// Keywords that hold no schema, with values that may be of the wrong type.
fn keyword() -> impl Strategy<Value = (String, Value)> {
    let texts = prop::sample::select(vec![
        "description",
        "title",
        "format",
        "pattern",
        "default",
        "const",
        "contentEncoding",
    ]);
    let bounds = prop::sample::select(vec![
        "minimum",
        "exclusiveMaximum",
        "maxLength",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "readOnly",
        "writeOnly",
        "deprecated",
        "nullable",
    ]);
    let formats = prop::sample::select(vec!["date-time", "uuid", "int64", "byte", "x"]);
    let number = prop_oneof![
        Just(json!(true)),
        Just(json!(5)),
        Just(json!(2.5)),
        Just(json!(1e300)),
        Just(json!(-1)),
        scalar()
    ];
    prop_oneof![
        word().prop_map(|word| ("type".to_owned(), word)),
        prop::collection::vec(word(), 0..4).prop_map(|words| ("type".to_owned(), words.into())),
        (texts, scalar()).prop_map(|(name, value)| (name.to_owned(), value)),
        formats.prop_map(|format| ("format".to_owned(), format.into())),
        (bounds, number).prop_map(|(name, value)| (name.to_owned(), value)),
        prop::collection::vec(scalar(), 0..5).prop_map(|values| ("enum".to_owned(), values.into())),
        prop::collection::vec(prop::sample::select(NAMES.to_vec()), 0..4)
            .prop_map(|names| ("required".to_owned(), names.into())),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let reference = prop::sample::select(TARGETS.to_vec())
        .prop_map(|name| json!({ "$ref": format!("#/components/schemas/{name}") }));
    let plain = prop::collection::vec(keyword(), 0..4)
        .prop_map(|words| Value::Object(words.into_iter().collect()));
    prop_oneof![3 => plain, 3 => reference, 1 => scalar()]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 60, 5, |inner| {
        let properties =
            prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..5)
                .prop_map(|all| {
                    (
                        "properties",
                        Value::Object(
                            all.into_iter()
                                .map(|(name, schema)| (name.to_owned(), schema))
                                .collect(),
                        ),
                    )
                });
        let lists = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
        let lists = (lists, prop::collection::vec(inner.clone(), 0..4))
            .prop_map(|(word, all)| (word, Value::from(all)));
        let single =
            prop::sample::select(vec!["items", "additionalProperties", "not", "patternProperties"]);
        let single = (single, inner);
        let parts =
            prop::collection::vec(prop_oneof![2 => properties, 2 => lists, 1 => single], 1..3);
        (parts, prop::collection::vec(keyword(), 0..3), leaf()).prop_map(
            |(parts, words, beside)| {
                let mut map: Map<String, Value> = words.into_iter().collect();
                map.extend(beside.as_object().cloned().unwrap_or_default());
                map.extend(parts.into_iter().map(|(word, value)| (word.to_owned(), value)));
                Value::Object(map)
            },
        )
    })
}

#[track_caller]
fn sound(schema: &Value, faults: &[String]) {
    assert_eq!(faults, Vec::<String>::new(), "{schema}");
    jsonschema::draft7::new(schema).unwrap();
    jsonschema::draft202012::new(schema).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_schema_becomes_portable(root in schema(), all in prop::collection::vec(schema(), 4)) {
        let all: Map<_, _> = TARGETS.iter().map(|name| (*name).to_owned()).zip(all).collect();
        let resolve = resolver(Value::Object(all));
        for root in [json!({ "type": "object", "properties": { "x": root } }), root] {
            let (one, two) = (input(&root, &resolve), output(&root, &resolve));
            prop_assert_eq!(&one, &input(&root, &resolve));
            prop_assert_eq!(&two, &output(&root, &resolve));
            let (one, two) = (Value::Object(one.schema), Value::Object(two.schema));
            sound(&one, &lint(&one));
            sound(&two, &lint_output(&two));
            let odd = json!({ "x": [{ "a": null }], "ok": true });
            prop_assert!(jsonschema::draft202012::is_valid(&two, &odd));
        }
    }

    #[test]
    fn only_what_is_shown_as_text_is_read_back(node in schema(), text in "[a-z0-9{}\\[\\]\":, ]{0,12}") {
        let resolve = resolver(json!({}));
        let root = json!({ "type": "object", "properties": { "x": { "allOf": [node] } } });
        let node = &root["properties"]["x"];
        let published = input(&root, &resolve).schema;
        let read = read_text(node, &resolve, &text);
        prop_assert!(read.is_none() || shown_as_text(node, &resolve));
        if let Some(shown) = published["properties"].get("x").filter(|_| shown_as_text(node, &resolve)) {
            prop_assert_eq!(&shown["type"], "string");
        }
    }
}
