use axum::http::header;

use crate::support::{Api, column};

const READS: [&str; 7] = [
    "GET /api/v1/memos/{}",
    "GET /api/v1/memos/{}/attachments",
    "GET /api/v1/memos/{}/comments",
    "GET /api/v1/memos/{}/reactions",
    "GET /api/v1/memos/{}/relations",
    "GET /api/v1/memos",
    "GET /api/v1/attachments",
];

const WRITES: [(&str, &str); 9] = [
    ("POST /api/v1/memos", r#"{"content": "a"}"#),
    ("PATCH /api/v1/memos/welcome", r#"{"content": "a"}"#),
    ("POST /api/v1/memos/welcome/comments", r#"{"content": "a"}"#),
    ("PATCH /api/v1/memos/welcome/attachments", r#"{"attachments": []}"#),
    ("PATCH /api/v1/memos/welcome/relations", r#"{"relations": []}"#),
    ("POST /api/v1/memos/welcome/reactions", r#"{"reaction": {"reactionType": "a"}}"#),
    ("DELETE /api/v1/memos/welcome/reactions/wave", ""),
    ("DELETE /api/v1/attachments/openapi", ""),
    ("DELETE /api/v1/memos/welcome?force=true", ""),
];

async fn check(api: &Api, authorization: Option<&str>, operation: &str, body: &str, status: u16) {
    let answer = api.call_as(authorization, operation, body).await;
    assert_eq!(answer.status, status, "{operation}: {}", answer.body);
    if status == 401 {
        assert_eq!(answer.body["code"], 16);
        assert_eq!(answer.body["details"], serde_json::json!([]));
        assert!(
            answer.body["message"].as_str().unwrap().contains("`Authorization"),
            "{}",
            answer.body
        );
    }
}

#[tokio::test]
async fn public_memos_are_read_without_a_token() {
    let api = Api::new();
    for operation in READS {
        check(&api, None, &operation.replace("{}", "welcome"), "", 200).await;
    }
    check(&api, None, "GET /api/v1/attachments/openapi", "", 200).await;
}

#[tokio::test]
async fn private_and_protected_memos_need_the_token() {
    let api = Api::new();
    api.ok("POST /api/v1/memos?memoId=half", r#"{"content": "a", "visibility": "PROTECTED"}"#)
        .await;
    for memo in ["ideas", "half"] {
        for operation in READS.iter().filter(|operation| operation.contains("{}")) {
            check(&api, None, &operation.replace("{}", memo), "", 401).await;
            api.ok(&operation.replace("{}", memo), "").await;
        }
    }
}

#[tokio::test]
async fn every_write_needs_the_token_and_does_nothing_without() {
    let api = Api::new();
    let before = api.ok("GET /api/v1/memos", "").await;
    for (operation, body) in WRITES {
        check(&api, None, operation, body, 401).await;
        check(
            &api,
            Some("Bearer memos-dev-00000000000000000000000000000000"),
            operation,
            body,
            401,
        )
        .await;
    }
    assert_eq!(api.ok("GET /api/v1/memos", "").await, before);
    for (operation, body) in WRITES {
        api.ok(operation, body).await;
    }
}

#[tokio::test]
async fn a_wrong_token_is_refused_for_reads_too() {
    let api = Api::new();
    for wrong in ["Bearer memos-dev-0", "Bearer", "Basic bWVtb3M6", ""] {
        check(&api, Some(wrong), "GET /api/v1/memos/welcome", "", 401).await;
        check(&api, Some(wrong), "GET /api/v1/memos", "", 401).await;
    }
}

#[tokio::test]
async fn a_write_without_token_is_told_so_before_its_body_is_judged() {
    check(&Api::new(), None, "POST /api/v1/memos", "{", 401).await;
}

#[tokio::test]
async fn lists_hold_only_what_the_caller_may_read() {
    let api = Api::new();
    api.ok(
        "PATCH /api/v1/memos/ideas/attachments",
        r#"{"attachments": [{"filename": "a", "type": "b"}]}"#,
    )
    .await;
    api.ok("POST /api/v1/memos/welcome/comments?commentId=open", r#"{"content": "a"}"#).await;
    let hidden = r#"{"content": "b", "visibility": "PRIVATE"}"#;
    api.ok("POST /api/v1/memos/welcome/comments?commentId=hidden", hidden).await;
    let public = api.call_as(None, "GET /api/v1/memos", "").await.body;
    assert_eq!(column(&public["memos"], "name"), ["memos/welcome", "memos/groceries"]);
    let comments = api.call_as(None, "GET /api/v1/memos/welcome/comments", "").await.body;
    assert_eq!(column(&comments["memos"], "name"), ["memos/open"]);
    let attachments = api.call_as(None, "GET /api/v1/attachments", "").await.body;
    assert_eq!(column(&attachments["attachments"], "name"), ["attachments/openapi"]);
    assert_eq!(api.ok("GET /api/v1/memos", "").await["memos"].as_array().unwrap().len(), 3);
    assert_eq!(
        api.ok("GET /api/v1/attachments", "").await["attachments"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn a_public_memo_does_not_tell_of_the_private_one_it_refers_to() {
    let api = Api::new();
    let body = r#"{"relations": [{"relatedMemo": {"name": "memos/ideas"}, "type": "REFERENCE"}]}"#;
    api.ok("PATCH /api/v1/memos/welcome/relations", body).await;
    for operation in
        ["GET /api/v1/memos/welcome", "GET /api/v1/memos/welcome/relations", "GET /api/v1/memos"]
    {
        let seen = api.call_as(None, operation, "").await.body.to_string();
        assert!(!seen.contains("ideas"), "{operation}: {seen}");
        assert!(api.ok(operation, "").await.to_string().contains("ideas"), "{operation}");
    }
}

#[tokio::test]
async fn an_attachment_without_memo_needs_the_token() {
    let api = Api::new();
    api.ok("PATCH /api/v1/memos/welcome/attachments", r#"{"attachments": []}"#).await;
    check(&api, None, "GET /api/v1/attachments/openapi", "", 401).await;
    check(&api, None, "GET /file/attachments/openapi", "", 401).await;
    api.ok("GET /api/v1/attachments/openapi", "").await;
}

#[tokio::test]
async fn a_refusal_names_the_scheme() {
    let api = Api::new();
    for operation in ["POST /api/v1/memos", "GET /api/v1/memos/welcome"] {
        let response = api.raw_as("Bearer wrong", operation).await;
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer", "{operation}");
    }
}
