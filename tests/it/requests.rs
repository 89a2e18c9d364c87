use serde_json::{Value, json};

use crate::support::{Client, Era, Recorder, Server, Workspace};

/// The request that `tool` with `arguments` makes, over HTTP and in-process alike: its line and its body.
async fn check(tool: &str, arguments: Value, line: &str, body: Value) {
    let workspace = Workspace::memos();
    let recorder = Recorder::json("{}");
    let servers: [Server; 2] =
        [workspace.serve(&recorder).await, workspace.serve_in_process(&recorder).await];
    for server in &servers {
        let client = Client::connect(server.address, Era::Modern).await;
        let result = client.call(tool, arguments.clone()).await;
        assert_ne!(result["isError"], true, "{result}");
        let seen = recorder.take();
        assert_eq!(seen.line(), line);
        if body.is_null() {
            assert!(seen.body.is_empty() && seen.header("content-type").is_none(), "{seen:?}");
        } else {
            assert_eq!(seen.json(), body);
            assert_eq!(seen.header("content-type"), Some("application/json"));
        }
    }
}

#[tokio::test]
async fn list_memos() {
    check("memo_list_memos", json!({"pageSize": 10}), "GET /api/v1/memos?pageSize=10", Value::Null)
        .await;
    check(
        "memo_list_memos",
        json!({"pageSize": "10", "pageToken": null}),
        "GET /api/v1/memos?pageSize=10",
        Value::Null,
    )
    .await;
    check(
        "memo_list_memos",
        json!({"filter": "content.contains(\"a&b\")"}),
        "GET /api/v1/memos?filter=content.contains%28%22a%26b%22%29",
        Value::Null,
    )
    .await;
}

#[tokio::test]
async fn create_memo() {
    let arguments = json!({"content": "Tea", "visibility": "PRIVATE"});
    check("memo_create_memo", arguments.clone(), "POST /api/v1/memos", arguments).await;
}

#[tokio::test]
async fn get_memo() {
    check("memo_get_memo", json!({"memo": "abc"}), "GET /api/v1/memos/abc", Value::Null).await;
    check("memo_get_memo", json!({"memo": "memos/abc"}), "GET /api/v1/memos/abc", Value::Null)
        .await;
    check(
        "memo_get_memo",
        json!({"memo": "a b/ü"}),
        "GET /api/v1/memos/a%20b%2F%C3%BC",
        Value::Null,
    )
    .await;
}

#[tokio::test]
async fn update_memo() {
    check(
        "memo_update_memo",
        json!({"memo": "abc", "updateMask": "content", "content": "Coffee"}),
        "PATCH /api/v1/memos/abc?updateMask=content",
        json!({"content": "Coffee"}),
    )
    .await;
}

#[tokio::test]
async fn delete_memo() {
    check("memo_delete_memo", json!({"memo": "abc"}), "DELETE /api/v1/memos/abc", Value::Null)
        .await;
}

#[tokio::test]
async fn list_memo_comments() {
    check(
        "memo_list_memo_comments",
        json!({"memo": "abc"}),
        "GET /api/v1/memos/abc/comments",
        Value::Null,
    )
    .await;
}

#[tokio::test]
async fn upsert_memo_reaction() {
    let reaction = json!({"contentId": "memos/abc", "reactionType": "👍"});
    check(
        "memo_upsert_memo_reaction",
        json!({"memo": "abc", "reaction": reaction}),
        "POST /api/v1/memos/abc/reactions",
        json!({"reaction": reaction}),
    )
    .await;
}

#[tokio::test]
async fn nested_resource_names_lose_what_the_path_says_already() {
    check(
        "memo_delete_memo_reaction",
        json!({"memo": "memos/abc", "reaction": "memos/abc/reactions/r1"}),
        "DELETE /api/v1/memos/abc/reactions/r1",
        Value::Null,
    )
    .await;
}

#[tokio::test]
async fn path_values_that_would_leave_the_path_are_refused() {
    let recorder = Recorder::json("{}");
    let server = Workspace::memos().serve(&recorder).await;
    let client = Client::connect(server.address, Era::Modern).await;
    for memo in ["", ".", "..", "memos/..", "a\u{0}b", "a\nb"] {
        let result = client.call("memo_get_memo", json!({"memo": memo})).await;
        assert_eq!(result["isError"], true, "{memo:?}: {result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("memo"), "{result}");
    }
    assert!(recorder.seen().is_empty());
}

#[tokio::test]
async fn the_documents_path_stands_before_every_operation_and_an_override_replaces_it() {
    let document = r#"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"servers":[{"url":"https://elsewhere.test/v1"}],
        "paths":{"/items":{"get":{"operationId":"items","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}"#;
    for (extra, line) in [
        ("", "GET /v1/items"),
        ("base_path: /v2\n", "GET /v2/items"),
        ("base_path: /\n", "GET /items"),
    ] {
        let workspace = Workspace::new(document, &format!("{extra}tools: [items]\n"));
        let recorder = Recorder::json("{}");
        let server = workspace.serve(&recorder).await;
        Client::connect(server.address, Era::Modern).await.call("items", json!({})).await;
        assert_eq!(recorder.take().line(), line);
    }
}
