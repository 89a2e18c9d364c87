use serde_json::json;

use crate::support::Api;

#[tokio::test]
async fn a_bad_field_is_named_in_the_details() {
    let api = Api::new();
    let body = r#"{"content": "", "location": {"latitude": 100}}"#;
    let answer = api.call("POST /api/v1/memos", body).await;
    assert_eq!(answer.status, 400);
    assert_eq!(
        answer.body,
        json!({
            "code": 3,
            "message": "invalid argument: `content` must not be empty; `location.latitude` must be between -90 and 90",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [
                    { "field": "content", "description": "must not be empty" },
                    { "field": "location.latitude", "description": "must be between -90 and 90" },
                ],
            }],
        })
    );
}

#[tokio::test]
async fn all_faults_of_a_query_are_told_at_once() {
    let message = Api::new()
        .fails("GET /api/v1/memos?pageSize=x&orderBy=y&filter=z&state=w", "", 400, 3)
        .await;
    for parameter in ["pageSize", "orderBy", "filter", "state"] {
        assert!(message.contains(&format!("`{parameter}`")), "{message}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_an_argument_error() {
    let api = Api::new();
    for (operation, body, expected) in [
        ("POST /api/v1/memos", "{", "EOF"),
        ("POST /api/v1/memos", "", "must be a JSON object"),
        ("POST /api/v1/memos", r#"["a"]"#, "must be a JSON object"),
        ("POST /api/v1/memos", "{}", "`content` is needed"),
        ("POST /api/v1/memos", r#"{"content": 5}"#, "content: invalid type"),
        ("POST /api/v1/memos", r#"{"content": "a", "state": "GONE"}"#, "`NORMAL`, `ARCHIVED`"),
        ("POST /api/v1/memos?memoId=a/b", r#"{"content": "a"}"#, "`memoId`"),
        ("POST /api/v1/memos/welcome/comments?commentId=-", r#"{"content": "a"}"#, "`commentId`"),
        ("PATCH /api/v1/memos/welcome", "{}", "nothing to change"),
        ("PATCH /api/v1/memos/welcome?updateMask=tags", "{}", "`updateMask` names `tags`"),
        ("PATCH /api/v1/memos/welcome?updateMask=content", "{}", "`content` must not be empty"),
        ("DELETE /api/v1/memos/welcome?force=yes", "", "`force` is `yes`"),
        ("PATCH /api/v1/memos/welcome/attachments", "{}", "missing field `attachments`"),
        ("PATCH /api/v1/memos/welcome/relations", "{}", "missing field `relations`"),
        ("POST /api/v1/memos/welcome/reactions", "{}", "missing field `reaction`"),
        ("GET /api/v1/memos/%FF", "", "UTF-8"),
    ] {
        let message = api.fails(operation, body, 400, 3).await;
        assert!(message.contains(expected), "{operation} {body}: {message}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_an_argument_error() {
    let body = format!(r#"{{"content": "{}"}}"#, "a".repeat(3_000_000));
    Api::new().fails("POST /api/v1/memos", &body, 400, 3).await;
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let api = Api::new();
    for operation in [
        "GET /api/v1/memos/none",
        "GET /api/v1/memos/none/attachments",
        "GET /api/v1/memos/none/comments",
        "GET /api/v1/memos/none/reactions",
        "GET /api/v1/memos/none/relations",
        "DELETE /api/v1/memos/none",
        "DELETE /api/v1/memos/none/reactions/wave",
    ] {
        let message = api.fails(operation, "", 404, 5).await;
        assert_eq!(message, "`memos/none` does not exist", "{operation}");
    }
    api.fails("PATCH /api/v1/memos/none", r#"{"pinned": true}"#, 404, 5).await;
    let reaction = r#"{"reaction": {"reactionType": "a"}}"#;
    api.fails("POST /api/v1/memos/none/reactions", reaction, 404, 5).await;
    api.fails("PATCH /api/v1/memos/none/relations", r#"{"relations": []}"#, 404, 5).await;
}

#[tokio::test]
async fn other_paths_and_methods_answer_with_a_status_too() {
    let api = Api::new();
    api.fails("GET /api/v1/nothing", "", 404, 5).await;
    api.fails("GET /", "", 404, 5).await;
    api.fails("PUT /api/v1/memos", "", 405, 12).await;
    api.fails("POST /api/v1/attachments", "{}", 405, 12).await;
}
