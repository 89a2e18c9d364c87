use axum::body::to_bytes;
use axum::http::header;
use serde_json::{Value, json};

use crate::support::{Api, column};

async fn set_attachments(api: &Api, memo: &str, list: Value) {
    let body = json!({ "name": "memos/ignored", "attachments": list }).to_string();
    assert_eq!(api.ok(&format!("PATCH /api/v1/memos/{memo}/attachments"), &body).await, json!({}));
}

async fn filenames(api: &Api, memo: &str) -> Vec<String> {
    column(
        &api.ok(&format!("GET /api/v1/memos/{memo}/attachments"), "").await["attachments"],
        "filename",
    )
}

#[tokio::test]
async fn a_list_that_was_read_can_be_sent_back_with_one_more() {
    let api = Api::new();
    let mut list = api.ok("GET /api/v1/memos/welcome/attachments", "").await["attachments"].clone();
    list.as_array_mut()
        .unwrap()
        .push(json!({"filename": "a.txt", "type": "text/plain", "content": "aGk="}));
    set_attachments(&api, "welcome", list).await;
    let list = api.ok("GET /api/v1/memos/welcome/attachments", "").await["attachments"].clone();
    assert_eq!(column(&list, "filename"), ["openapi.html", "a.txt"]);
    assert_eq!(list[1]["size"], "2");
    assert!(list[1].get("content").is_none());
    set_attachments(&api, "welcome", json!([list[1], list[0]])).await;
    assert_eq!(filenames(&api, "welcome").await, ["a.txt", "openapi.html"]);
}

#[tokio::test]
async fn an_attachment_belongs_to_one_memo() {
    let api = Api::new();
    set_attachments(&api, "ideas", json!([{"name": "attachments/openapi"}])).await;
    assert!(filenames(&api, "welcome").await.is_empty());
    assert_eq!(api.ok("GET /api/v1/attachments/openapi", "").await["memo"], "memos/ideas");
    set_attachments(&api, "ideas", json!([])).await;
    assert_eq!(api.ok("GET /api/v1/attachments/openapi", "").await["memo"], "");
}

#[tokio::test]
async fn a_faulty_list_of_attachments_changes_nothing() {
    let api = Api::new();
    let body = r#"{"attachments": [{"filename": "a", "type": "b"}, {"name": "attachments/none"}]}"#;
    let message = api.fails("PATCH /api/v1/memos/welcome/attachments", body, 400, 3).await;
    assert!(
        message.contains("`attachments[1].name` `attachments/none` does not exist"),
        "{message}"
    );
    assert_eq!(filenames(&api, "welcome").await, ["openapi.html"]);
    api.fails("PATCH /api/v1/memos/none/attachments", r#"{"attachments": []}"#, 404, 5).await;
}

#[tokio::test]
async fn a_deleted_attachment_is_off_its_memo() {
    let api = Api::new();
    assert_eq!(api.ok("DELETE /api/v1/attachments/openapi", "").await, json!({}));
    assert!(filenames(&api, "welcome").await.is_empty());
    api.fails("GET /api/v1/attachments/openapi", "", 404, 5).await;
    api.fails("DELETE /api/v1/attachments/openapi", "", 404, 5).await;
}

#[tokio::test]
async fn bytes_are_downloaded_and_never_shown_as_a_page() {
    let api = Api::new();
    let file = json!([{"filename": "a.html", "type": "text/html", "content": "PGI+aGk8L2I+"}]);
    set_attachments(&api, "welcome", file).await;
    let list = api.ok("GET /api/v1/memos/welcome/attachments", "").await;
    let name = list["attachments"][0]["name"].as_str().unwrap().to_owned();
    let response = api.raw(&format!("GET /file/{name}")).await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/octet-stream");
    assert_eq!(response.headers()[header::CONTENT_DISPOSITION], "attachment");
    assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), "<b>hi</b>");
}

#[tokio::test]
async fn the_same_reaction_twice_is_one() {
    let api = Api::new();
    let body = r#"{"name": "memos/ignored", "reaction": {"reactionType": "👍", "creator": "users/ignored"}}"#;
    let reaction = api.ok("POST /api/v1/memos/ideas/reactions", body).await;
    assert_eq!(
        (&reaction["reactionType"], &reaction["creator"]),
        (&json!("👍"), &json!("users/demo"))
    );
    assert_eq!(api.ok("POST /api/v1/memos/ideas/reactions", body).await, reaction);
    let list = api.ok("GET /api/v1/memos/ideas/reactions", "").await;
    assert_eq!(list["reactions"], json!([reaction]));
    let name = reaction["name"].as_str().unwrap();
    assert!(name.starts_with("memos/ideas/reactions/"), "{name}");
    assert_eq!(api.ok(&format!("DELETE /api/v1/{name}"), "").await, json!({}));
    assert_eq!(api.ok("GET /api/v1/memos/ideas", "").await["reactions"], json!([]));
}

#[tokio::test]
async fn a_reaction_is_deleted_only_from_its_own_memo() {
    let api = Api::new();
    api.fails("DELETE /api/v1/memos/ideas/reactions/wave", "", 404, 5).await;
    api.fails("DELETE /api/v1/memos/welcome/reactions/none", "", 404, 5).await;
    api.ok("DELETE /api/v1/memos/welcome/reactions/wave", "").await;
}

#[tokio::test]
async fn a_reaction_has_a_sign() {
    let api = Api::new();
    for kind in ["", " ", &"a".repeat(33)] {
        let body = json!({ "reaction": { "reactionType": kind } }).to_string();
        let message = api.fails("POST /api/v1/memos/ideas/reactions", &body, 400, 3).await;
        assert!(message.contains("`reaction.reactionType`"), "{message}");
    }
}

#[tokio::test]
async fn relations_are_replaced_as_a_whole() {
    let api = Api::new();
    let list = json!([
        {"relatedMemo": {"name": "memos/ideas"}, "type": "REFERENCE"},
        {"memo": {"name": "memos/welcome"}, "relatedMemo": {"name": "memos/groceries"}, "type": "REFERENCE"},
        {"relatedMemo": {"name": "memos/ideas"}, "type": "REFERENCE"},
    ]);
    let body = json!({ "name": "memos/ignored", "relations": list }).to_string();
    assert_eq!(api.ok("PATCH /api/v1/memos/welcome/relations", &body).await, json!({}));
    let seen = api.ok("GET /api/v1/memos/welcome/relations", "").await;
    let related: Vec<_> = seen["relations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["relatedMemo"]["name"])
        .collect();
    assert_eq!(related, ["memos/ideas", "memos/groceries"]);
    assert_eq!(
        seen["relations"][0]["memo"]["snippet"],
        api.ok("GET /api/v1/memos/welcome", "").await["snippet"]
    );
    api.ok("PATCH /api/v1/memos/welcome/relations", r#"{"relations": []}"#).await;
    assert_eq!(api.ok("GET /api/v1/memos/welcome", "").await["relations"], json!([]));
}

#[tokio::test]
async fn a_comment_shows_its_parent_and_its_list_can_be_sent_back() {
    let api = Api::new();
    api.ok("POST /api/v1/memos/welcome/comments?commentId=one", r#"{"content": "a"}"#).await;
    let list = api.ok("GET /api/v1/memos/one/relations", "").await;
    assert_eq!(list["relations"][0]["type"], "COMMENT");
    assert_eq!(list["relations"][0]["relatedMemo"]["name"], "memos/welcome");
    let body = json!({ "relations": list["relations"] }).to_string();
    api.ok("PATCH /api/v1/memos/one/relations", &body).await;
    api.ok("PATCH /api/v1/memos/one/relations", r#"{"relations": []}"#).await;
    assert_eq!(api.ok("GET /api/v1/memos/one/relations", "").await, list);
}

#[tokio::test]
async fn a_faulty_list_of_relations_changes_nothing() {
    let api = Api::new();
    let before = api.ok("GET /api/v1/memos/welcome/relations", "").await;
    for (entry, expected) in [
        (
            r#"{"relatedMemo": {"name": "memos/none"}, "type": "REFERENCE"}"#,
            "`relations[0].relatedMemo.name`",
        ),
        (
            r#"{"relatedMemo": {"name": "ideas"}, "type": "REFERENCE"}"#,
            "`relations[0].relatedMemo.name`",
        ),
        (
            r#"{"relatedMemo": {"name": "memos/welcome"}, "type": "REFERENCE"}"#,
            "must be another memo",
        ),
        (r#"{"relatedMemo": {"name": "memos/ideas"}, "type": "COMMENT"}"#, "CreateMemoComment"),
        (
            r#"{"relatedMemo": {"name": "memos/ideas"}, "type": "TYPE_UNSPECIFIED"}"#,
            "`relations[0].type`",
        ),
        (
            r#"{"memo": {"name": "memos/ideas"}, "relatedMemo": {"name": "memos/ideas"}, "type": "REFERENCE"}"#,
            "`relations[0].memo.name` must be `memos/welcome`",
        ),
    ] {
        let body = format!(r#"{{"relations": [{entry}]}}"#);
        let message = api.fails("PATCH /api/v1/memos/welcome/relations", &body, 400, 3).await;
        assert!(message.contains(expected), "{message}");
        assert_eq!(api.ok("GET /api/v1/memos/welcome/relations", "").await, before);
    }
}
