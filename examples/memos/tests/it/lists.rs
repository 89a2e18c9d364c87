use crate::support::{Api, column};

/// Asks for memos and compares the last parts of their names.
async fn check(api: &Api, query: &str, expected: &[&str]) {
    let list = api.ok(&format!("GET /api/v1/memos?{query}"), "").await;
    let names: Vec<_> =
        column(&list["memos"], "name").iter().map(|name| name.replace("memos/", "")).collect();
    assert_eq!(names, expected, "{query}");
}

async fn check_filter(api: &Api, filter: &str, expected: &[&str]) {
    let encoded: String = filter.bytes().map(|byte| format!("%{byte:02X}")).collect();
    check(api, &format!("filter={encoded}&orderBy=name"), expected).await;
}

#[tokio::test]
async fn a_new_database_has_three_memos_newest_first() {
    check(&Api::new(), "", &["welcome", "groceries", "ideas"]).await;
}

#[tokio::test]
async fn pages_follow_each_other() {
    let api = Api::new();
    let first = api.ok("GET /api/v1/memos?pageSize=2", "").await;
    assert_eq!(column(&first["memos"], "name"), ["memos/welcome", "memos/groceries"]);
    let token = first["nextPageToken"].as_str().unwrap();
    let second = api.ok(&format!("GET /api/v1/memos?pageSize=2&pageToken={token}"), "").await;
    assert_eq!(column(&second["memos"], "name"), ["memos/ideas"]);
    assert_eq!(second["nextPageToken"], "");
}

#[tokio::test]
async fn every_list_has_pages() {
    let api = Api::new();
    for n in 0..3 {
        api.ok("POST /api/v1/memos/welcome/comments", r#"{"content": "a"}"#).await;
        let reaction = format!(r#"{{"reaction": {{"reactionType": "{n}"}}}}"#);
        api.ok("POST /api/v1/memos/welcome/reactions", &reaction).await;
    }
    let file = r#"{"filename": "a", "type": "b"}"#;
    let files = format!(r#"{{"attachments": [{file}, {file}, {file}]}}"#);
    api.ok("PATCH /api/v1/memos/welcome/attachments", &files).await;
    let to = |id| format!(r#"{{"relatedMemo": {{"name": "memos/{id}"}}, "type": "REFERENCE"}}"#);
    let relations = format!(r#"{{"relations": [{}, {}]}}"#, to("ideas"), to("groceries"));
    api.ok("PATCH /api/v1/memos/welcome/relations", &relations).await;
    for (path, field, n_entries) in [
        ("/api/v1/attachments", "attachments", 4),
        ("/api/v1/memos/welcome/attachments", "attachments", 3),
        ("/api/v1/memos/welcome/comments", "memos", 3),
        ("/api/v1/memos/welcome/reactions", "reactions", 4),
        ("/api/v1/memos/welcome/relations", "relations", 2),
    ] {
        let whole = api.ok(&format!("GET {path}"), "").await;
        assert_eq!(whole[field].as_array().unwrap().len(), n_entries, "{path}");
        assert_eq!(
            walk(&api, path, field).await,
            whole[field].as_array().unwrap().clone(),
            "{path}"
        );
    }
}

/// Reads a list one entry at a time.
async fn walk(api: &Api, path: &str, field: &str) -> Vec<serde_json::Value> {
    let (mut entries, mut token) = (Vec::new(), String::new());
    loop {
        let page = api.ok(&format!("GET {path}?pageSize=1&pageToken={token}"), "").await;
        assert_eq!(page[field].as_array().unwrap().len(), 1, "{path}");
        entries.push(page[field][0].clone());
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            return entries;
        }
    }
}

#[tokio::test]
async fn a_token_fits_only_its_own_list() {
    let api = Api::new();
    let token = api.ok("GET /api/v1/memos?pageSize=1", "").await["nextPageToken"]
        .as_str()
        .unwrap()
        .to_owned();
    for path in
        ["memos?orderBy=name&", "memos?state=NORMAL&", "attachments?", "memos/welcome/comments?"]
    {
        let message = api.fails(&format!("GET /api/v1/{path}pageToken={token}"), "", 400, 3).await;
        assert!(message.contains("`pageToken`"), "{message}");
    }
}

#[tokio::test]
async fn memos_come_in_the_order_asked_for() {
    let api = Api::new();
    check(&api, "orderBy=name", &["groceries", "ideas", "welcome"]).await;
    check(&api, "orderBy=name%20desc", &["welcome", "ideas", "groceries"]).await;
    check(&api, "orderBy=create_time", &["ideas", "groceries", "welcome"]).await;
    check(&api, "orderBy=pinned,name", &["groceries", "ideas", "welcome"]).await;
    std::thread::sleep(std::time::Duration::from_millis(5));
    api.ok("PATCH /api/v1/memos/ideas", r#"{"pinned": true}"#).await;
    check(&api, "orderBy=update_time%20desc", &["ideas", "welcome", "groceries"]).await;
    check(&api, "orderBy=pinned%20desc,%20name", &["ideas", "welcome", "groceries"]).await;
}

#[tokio::test]
async fn a_filter_finds_what_it_says() {
    let api = Api::new();
    check_filter(&api, r#"visibility == "PUBLIC""#, &["groceries", "welcome"]).await;
    check_filter(&api, r#"visibility != "PUBLIC""#, &["ideas"]).await;
    check_filter(&api, r#"content.contains("GREEN tea")"#, &["groceries"]).await;
    check_filter(&api, r#"content.contains("100%")"#, &[]).await;
    check_filter(&api, r#"tag in ["home", "work"]"#, &["groceries", "ideas"]).await;
    check_filter(&api, r#""shopping" in tags"#, &["groceries"]).await;
    check_filter(&api, r#"tag in ["hom"]"#, &[]).await;
    check_filter(&api, "pinned == true", &["welcome"]).await;
    check_filter(&api, "pinned != true", &["groceries", "ideas"]).await;
    check_filter(&api, r#"visibility == "PUBLIC" && pinned == false"#, &["groceries"]).await;
    check_filter(&api, r#"content.contains("'; DROP TABLE memos; --")"#, &[]).await;
    check_filter(&api, "", &["groceries", "ideas", "welcome"]).await;
}

#[tokio::test]
async fn a_filter_that_is_not_understood_says_what_is() {
    let api = Api::new();
    for filter in
        ["visibility=='PUBLIC'||pinned==true", "creator=='users/demo'", "visibility=='public'", "x"]
    {
        let encoded = filter.replace('|', "%7C");
        let message = api.fails(&format!("GET /api/v1/memos?filter={encoded}"), "", 400, 3).await;
        assert!(message.contains("understood are only `content.contains(\"x\")`"), "{message}");
        assert!(message.contains(filter), "{message}");
    }
    let message = api.fails("GET /api/v1/attachments?filter=size=='1'", "", 400, 3).await;
    assert!(message.contains("`filename.contains(\"x\")`"), "{message}");
}

#[tokio::test]
async fn archived_memos_are_listed_only_when_asked_for() {
    let api = Api::new();
    api.ok("PATCH /api/v1/memos/groceries", r#"{"state": "ARCHIVED"}"#).await;
    check(&api, "", &["welcome", "ideas"]).await;
    check(&api, "state=STATE_UNSPECIFIED", &["welcome", "ideas"]).await;
    check(&api, "state=ARCHIVED", &["groceries"]).await;
    let message = api.fails("GET /api/v1/memos?state=GONE", "", 400, 3).await;
    assert!(
        message.contains("`state` is `GONE`, but must be one of `NORMAL`, `ARCHIVED`"),
        "{message}"
    );
}

#[tokio::test]
async fn attachments_are_filtered_and_ordered() {
    let api = Api::new();
    let files = r#"{"attachments": [
        {"filename": "b.png", "type": "image/png"}, {"filename": "a.txt", "type": "text/plain"}]}"#;
    api.ok("PATCH /api/v1/memos/ideas/attachments", files).await;
    for (query, expected) in [
        ("orderBy=filename", vec!["a.txt", "b.png", "openapi.html"]),
        ("orderBy=create_time%20desc", vec!["a.txt", "b.png", "openapi.html"]),
        ("filter=mime_type=='image/png'", vec!["b.png"]),
        ("filter=memo=='memos/ideas'%26%26filename.contains('TXT')", vec!["a.txt"]),
        ("filter=memo!='memos/ideas'", vec!["openapi.html"]),
        ("filter=filename=='a.txt'", vec!["a.txt"]),
    ] {
        let list = api.ok(&format!("GET /api/v1/attachments?{query}"), "").await;
        assert_eq!(column(&list["attachments"], "filename"), expected, "{query}");
    }
}
