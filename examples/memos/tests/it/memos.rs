use serde_json::json;

use crate::support::{Api, column};

#[tokio::test]
async fn a_new_memo_has_what_can_be_told_from_its_content() {
    let api = Api::new();
    let memo =
        api.ok("POST /api/v1/memos?memoId=tea", r##"{"content": "# Tea\n- [ ] buy #home"}"##).await;
    assert_eq!(memo["name"], "memos/tea");
    assert_eq!(memo["content"], "# Tea\n- [ ] buy #home");
    assert_eq!(memo["state"], "NORMAL");
    assert_eq!(memo["visibility"], "PRIVATE");
    assert_eq!(memo["creator"], "users/demo");
    assert_eq!(memo["tags"], json!(["home"]));
    assert_eq!(memo["pinned"], false);
    assert_eq!(memo["snippet"], "Tea buy #home");
    assert_eq!(memo["property"]["title"], "Tea");
    assert_eq!(memo["property"]["hasIncompleteTasks"], true);
    assert_eq!(memo["parent"], "");
    assert_eq!(memo["createTime"], memo["updateTime"]);
    assert_eq!(memo["createTime"].as_str().unwrap().len(), "2026-01-01T00:00:00.000Z".len());
    assert!(memo.get("location").is_none());
    assert_eq!(api.ok("GET /api/v1/memos/tea", "").await, memo);
}

#[tokio::test]
async fn every_field_of_a_new_memo_is_kept() {
    let api = Api::new();
    let body = json!({
        "name": "memos/ignored", "creator": "users/ignored", "content": "a", "visibility": "PUBLIC",
        "state": "ARCHIVED", "pinned": true,
        "location": {"placeholder": "home", "latitude": 52.5, "longitude": -13.25},
        "attachments": [{"filename": "a.txt", "type": "text/plain", "content": "aGk="}],
        "relations": [{"relatedMemo": {"name": "memos/ideas"}, "type": "REFERENCE"}],
    });
    let memo = api.ok("POST /api/v1/memos", &body.to_string()).await;
    assert_ne!(memo["name"], "memos/ignored");
    assert_eq!(memo["creator"], "users/demo");
    for field in ["content", "visibility", "state", "pinned", "location"] {
        assert_eq!(memo[field], body[field], "{field}");
    }
    assert_eq!(memo["attachments"][0]["size"], "2");
    assert_eq!(memo["attachments"][0]["memo"], memo["name"]);
    assert_eq!(memo["relations"][0]["relatedMemo"]["name"], "memos/ideas");
    assert_eq!(memo["relations"][0]["memo"]["name"], memo["name"]);
}

#[tokio::test]
async fn unspecified_words_count_as_left_out() {
    let api = Api::new();
    let body =
        r#"{"content": "a", "state": "STATE_UNSPECIFIED", "visibility": "VISIBILITY_UNSPECIFIED"}"#;
    let memo = api.ok("POST /api/v1/memos", body).await;
    assert_eq!((&memo["state"], &memo["visibility"]), (&json!("NORMAL"), &json!("PRIVATE")));
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused_and_changes_nothing() {
    let api = Api::new();
    let before = api.ok("GET /api/v1/memos/welcome", "").await;
    let message =
        api.fails("POST /api/v1/memos?memoId=welcome", r#"{"content": "a"}"#, 409, 6).await;
    assert!(message.contains("`memos/welcome` is taken"), "{message}");
    assert_eq!(api.ok("GET /api/v1/memos/welcome", "").await, before);
}

#[tokio::test]
async fn an_update_changes_what_the_body_gives() {
    let api = Api::new();
    let before = api.ok("GET /api/v1/memos/ideas", "").await;
    let after =
        api.ok("PATCH /api/v1/memos/ideas", r##"{"content": "new #tag", "pinned": true}"##).await;
    assert_eq!((&after["content"], &after["pinned"]), (&json!("new #tag"), &json!(true)));
    assert_eq!(after["tags"], json!(["tag"]));
    for field in
        ["name", "visibility", "state", "createTime", "attachments", "relations", "reactions"]
    {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(api.ok("GET /api/v1/memos/ideas", "").await, after);
}

#[tokio::test]
async fn an_update_mask_decides_over_the_body() {
    let api = Api::new();
    let body = r#"{"content": "not this", "pinned": true, "location": {"placeholder": "here"}}"#;
    let memo = api.ok("PATCH /api/v1/memos/groceries?updateMask=pinned,location", body).await;
    assert_eq!((&memo["pinned"], &memo["location"]["placeholder"]), (&json!(true), &json!("here")));
    assert_ne!(memo["content"], "not this");
    let memo = api.ok("PATCH /api/v1/memos/groceries?updateMask=pinned%2Clocation", "{}").await;
    assert_eq!((&memo["pinned"], memo.get("location")), (&json!(false), None));
}

#[tokio::test]
async fn an_update_moves_the_update_time() {
    let api = Api::new();
    let before = api.ok("GET /api/v1/memos/ideas", "").await;
    std::thread::sleep(std::time::Duration::from_millis(5));
    let after = api.ok("PATCH /api/v1/memos/ideas", r#"{"pinned": true}"#).await;
    assert!(after["updateTime"].as_str() > before["updateTime"].as_str());
    assert_eq!(after["createTime"], before["createTime"]);
}

#[tokio::test]
async fn a_null_location_takes_the_location_off() {
    let api = Api::new();
    api.ok("PATCH /api/v1/memos/ideas", r#"{"location": {"latitude": 1}}"#).await;
    let memo = api.ok("PATCH /api/v1/memos/ideas", r#"{"location": null}"#).await;
    assert!(memo.get("location").is_none(), "{memo}");
}

#[tokio::test]
async fn a_deleted_memo_is_gone() {
    let api = Api::new();
    assert_eq!(api.ok("DELETE /api/v1/memos/welcome", "").await, json!({}));
    api.fails("GET /api/v1/memos/welcome", "", 404, 5).await;
    api.fails("DELETE /api/v1/memos/welcome", "", 404, 5).await;
    let attachment = api.ok("GET /api/v1/attachments/openapi", "").await;
    assert_eq!(attachment["memo"], "");
}

#[tokio::test]
async fn a_memo_with_comments_is_deleted_only_by_force() {
    let api = Api::new();
    api.ok("POST /api/v1/memos/welcome/comments?commentId=one", r#"{"content": "a"}"#).await;
    api.ok("POST /api/v1/memos/one/comments?commentId=two", r#"{"content": "b"}"#).await;
    let message = api.fails("DELETE /api/v1/memos/welcome", "", 400, 9).await;
    assert!(message.contains("`force=true`"), "{message}");
    api.ok("DELETE /api/v1/memos/welcome?force=true", "").await;
    for memo in ["welcome", "one", "two"] {
        api.fails(&format!("GET /api/v1/memos/{memo}"), "", 404, 5).await;
    }
}

#[tokio::test]
async fn a_comment_is_a_memo_with_a_parent() {
    let api = Api::new();
    let comment =
        api.ok("POST /api/v1/memos/welcome/comments?commentId=one", r#"{"content": "a"}"#).await;
    assert_eq!(
        (&comment["name"], &comment["parent"]),
        (&json!("memos/one"), &json!("memos/welcome"))
    );
    assert_eq!(comment["visibility"], "PUBLIC");
    assert_eq!(api.ok("GET /api/v1/memos/one", "").await, comment);
    let private = api.ok("POST /api/v1/memos/ideas/comments", r#"{"content": "b"}"#).await;
    assert_eq!(private["visibility"], "PRIVATE");
    let comments = api.ok("GET /api/v1/memos/welcome/comments", "").await;
    assert_eq!(comments["memos"], json!([comment]));
    let memos = api.ok("GET /api/v1/memos", "").await;
    assert!(!column(&memos["memos"], "name").contains(&"memos/one".to_owned()));
    api.fails("POST /api/v1/memos/nothing/comments", r#"{"content": "a"}"#, 404, 5).await;
}
