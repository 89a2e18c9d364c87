//! The document is what agents get to see, so it is held against the API: each operation is there, or is said not to
//! be, and answers have the fields that the document gives them.

use serde_json::Value;

use crate::support::Api;

const ABSENT: &str = "Not part of the example";

fn document() -> Value {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/openapi.yaml"))
            .unwrap();
    serde_yaml::from_str(&text).unwrap()
}

/// Method, path and description of every operation.
fn operations(document: &Value) -> Vec<(String, String, String)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| {
            (
                method.to_uppercase(),
                path.clone(),
                operation["description"].as_str().unwrap().to_owned(),
            )
        })
    });
    operations.collect()
}

#[tokio::test]
async fn each_operation_is_there_or_is_said_not_to_be() {
    let api = Api::new();
    let (mut n_there, mut n_absent) = (0, 0);
    for (method, path, description) in operations(&document()) {
        let path = path.replace(['{', '}'], "").replace('*', "x");
        let answer = api.call(&format!("{method} {path}"), "{}").await;
        if description.contains(ABSENT) {
            assert_eq!(
                (answer.status.as_u16(), &answer.body["code"]),
                (501, &Value::from(12)),
                "{method} {path}"
            );
            n_absent += 1;
        } else {
            // The ids are made up, and so is the body, but the operation must be the one that says so.
            assert!(
                [200, 400, 404].contains(&answer.status.as_u16()),
                "{method} {path}: {}",
                answer.body
            );
            let message = answer.body["message"].as_str().unwrap_or_default();
            assert!(!message.starts_with("no operation"), "{method} {path}: {message}");
            n_there += 1;
        }
    }
    assert_eq!(n_there, 17);
    assert!(n_absent >= 10);
}

#[tokio::test]
async fn answers_have_the_fields_of_the_document() {
    let api = Api::new();
    let document = document();
    api.ok("PATCH /api/v1/memos/welcome", r#"{"location": {"placeholder": "here"}}"#).await;
    api.ok("POST /api/v1/memos/welcome/comments", r#"{"content": "a"}"#).await;
    for (path, schema) in [
        ("/api/v1/memos/welcome", "Memo"),
        ("/api/v1/attachments/openapi", "Attachment"),
        ("/api/v1/attachments", "ListAttachmentsResponse"),
        ("/api/v1/memos/welcome/attachments", "ListMemoAttachmentsResponse"),
        ("/api/v1/memos/welcome/comments", "ListMemoCommentsResponse"),
        ("/api/v1/memos/welcome/reactions", "ListMemoReactionsResponse"),
        ("/api/v1/memos/welcome/relations", "ListMemoRelationsResponse"),
    ] {
        let schema = &document["components"]["schemas"][schema];
        compare(&document, schema, &api.ok(&format!("GET {path}"), "").await, path);
    }
    let error = api.call("GET /api/v1/memos?pageSize=x", "").await.body;
    compare(&document, &document["components"]["schemas"]["Status"], &error, "an error");
    let reaction = api
        .ok("POST /api/v1/memos/ideas/reactions", r#"{"reaction": {"reactionType": "a"}}"#)
        .await;
    compare(&document, &document["components"]["schemas"]["Reaction"], &reaction, "a reaction");
}

/// Both must have the same fields, of the same types, all the way down.
fn compare(document: &Value, schema: &Value, value: &Value, at: &str) {
    let schema = resolve(document, schema);
    let kind = schema["type"].as_str().unwrap();
    match value {
        Value::Object(fields) => {
            assert_eq!(kind, "object", "{at}");
            compare_fields(document, schema, fields, at);
        }
        Value::Array(entries) => {
            assert_eq!(kind, "array", "{at}");
            entries
                .iter()
                .for_each(|entry| compare(document, &schema["items"], entry, &format!("{at}[]")));
        }
        Value::String(text) => {
            assert_eq!(kind, "string", "{at}");
            let words = schema["enum"].as_array();
            assert!(
                words.is_none_or(|words| words.iter().any(|word| word == text)),
                "{at}: {text}"
            );
        }
        Value::Number(_) => assert!(["number", "integer"].contains(&kind), "{at}"),
        Value::Bool(_) => assert_eq!(kind, "boolean", "{at}"),
        Value::Null => panic!("{at} is null"),
    }
}

fn compare_fields(
    document: &Value,
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    at: &str,
) {
    let properties = schema["properties"].as_object().unwrap();
    for (key, value) in fields {
        match properties.get(key) {
            Some(property) => compare(document, property, value, &format!("{at}.{key}")),
            None => assert_eq!(
                schema["additionalProperties"], true,
                "{at}.{key} is not in the document"
            ),
        }
    }
    let expected =
        properties.iter().filter(|(_, property)| property["writeOnly"] != true).map(|(key, _)| key);
    // A comment has no location, so a field may be missing there, but not in the memo that has one.
    for key in expected.filter(|key| *key != "location" || !at.contains("comments")) {
        assert!(fields.contains_key(key), "{at}.{key} is not in the answer");
    }
}

/// What a reference stands for, also inside an `allOf` of one.
fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = schema.get("allOf").map_or(schema, |all| &all[0]);
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}
