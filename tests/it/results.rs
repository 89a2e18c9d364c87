use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Era, Recorder, Workspace};

/// One GET and one POST whose 200 is described by `schema` (none when empty).
fn document(schema: &str) -> String {
    let content = if schema.is_empty() {
        String::new()
    } else {
        format!(r#","content":{{"application/json":{{"schema":{schema}}}}}"#)
    };
    let operation = |id: &str| {
        format!(r#"{{"operationId":"{id}","responses":{{"200":{{"description":"ok"{content}}}}}}}"#)
    };
    format!(
        r#"{{"openapi":"3.0.3","info":{{"title":"t","version":"1"}},"paths":{{"/x":{{"get":{},"post":{}}}}}}}"#,
        operation("read"),
        operation("write")
    )
}

const TOOLS: &str = "tools: [read, write]\n";

/// The reply `body` under `schema` becomes `expected`, and the published output schema accepts it.
async fn check(schema: &str, status: u16, body: &'static str, expected: Value) {
    let media_type = if body.is_empty() { "" } else { "application/json" };
    let workspace = Workspace::new(&document(schema), TOOLS);
    let server = workspace.serve(&Recorder::status(status, media_type, body)).await;
    for era in Era::ALL {
        let client = Client::connect(server.address, era).await;
        let result = client.call("read", json!({})).await;
        assert_eq!(result["structuredContent"], expected, "{era:?} {result}");
        assert_ne!(result["isError"], true);
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, expected);
        let output = client.list().await[0]["outputSchema"].clone();
        assert!(jsonschema::is_valid(&output, &expected), "{output} refuses {expected}");
    }
}

const OBJECT: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
const ARRAY: &str = r#"{"type":"array","items":{"type":"integer"}}"#;

#[tokio::test]
async fn an_object_is_unchanged() {
    check(OBJECT, 200, r#"{"a": "x", "b": [1, 2.50]}"#, json!({"a": "x", "b": [1, 2.5]})).await;
}

#[tokio::test]
async fn an_array_is_wrapped() {
    check(ARRAY, 200, "[1, 2]", json!({"result": [1, 2]})).await;
}

#[tokio::test]
async fn a_scalar_is_wrapped() {
    check(r#"{"type":"string"}"#, 200, r#""x""#, json!({"result": "x"})).await;
    check(
        r#"{"type":"integer"}"#,
        200,
        "9223372036854775807",
        json!({"result": 9_223_372_036_854_775_807_i64}),
    )
    .await;
}

#[tokio::test]
async fn nothing_is_ok() {
    check("", 204, "", json!({"ok": true})).await;
    check("", 200, "", json!({"ok": true})).await;
}

#[tokio::test]
async fn a_reply_of_another_kind_than_documented_is_passed_on() {
    check(OBJECT, 200, "[1]", json!({"result": [1]})).await;
    check(OBJECT, 200, "", json!({"ok": true})).await;
    check(OBJECT, 200, r#"{"a": null}"#, json!({"a": null})).await;
    check(ARRAY, 200, r#"{"a": 1}"#, json!({"result": {"a": 1}})).await;
}

#[tokio::test]
async fn replies_that_break_their_document_fit_what_is_published_all_the_same() {
    const CLOSED: &str = r#"{"type":"object","additionalProperties":false,"required":["name","price"],
        "properties":{"name":{"type":"string","maxLength":3},"price":{"type":"number","nullable":true},
        "state":{"type":"string","enum":["A"]},"tags":{"type":"object","additionalProperties":{"type":"string"}}}}"#;
    for body in [
        r#"{"name":null,"price":null}"#,
        r#"{"name":"too long","price":"1","state":"B","tags":[]}"#,
        r#"{"undeclared":{"deep":[null]}}"#,
        "{}",
    ] {
        check(CLOSED, 200, body, serde_json::from_str(body).unwrap()).await;
    }
}

#[tokio::test]
async fn images_sound_and_files_are_content_of_their_own_kind() {
    for (media_type, kind) in [
        ("image/png", "image"),
        ("audio/ogg", "audio"),
        ("application/pdf", "resource"),
        ("video/mp4", "resource"),
    ] {
        let server = Workspace::new(&document(OBJECT), TOOLS)
            .serve(&Recorder::status(200, media_type, "\u{0}\u{1}"))
            .await;
        for era in Era::ALL {
            let result = Client::connect(server.address, era).await.call("read", json!({})).await;
            let described = json!({"media_type": media_type, "bytes": 2});
            assert_eq!(result["structuredContent"], described, "{result}");
            assert_eq!(result["content"][0]["type"], kind, "{result}");
            let block = if kind == "resource" {
                &result["content"][0]["resource"]
            } else {
                &result["content"][0]
            };
            assert_eq!(block["mimeType"], media_type);
            assert!(block["data"] == "AAE=" || block["blob"] == "AAE=", "{block}");
            let text: Value =
                serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, described);
        }
    }
}

#[tokio::test]
async fn texts_are_shown_as_they_are() {
    for (media_type, body) in
        [("text/html", "<p>hi</p>"), ("text/csv", "a,b\n1,2\n"), ("application/json", "OK then")]
    {
        let server = Workspace::new(&document(OBJECT), TOOLS)
            .serve(&Recorder::status(200, media_type, body))
            .await;
        let result =
            Client::connect(server.address, Era::Modern).await.call("read", json!({})).await;
        assert_eq!(result["content"][0], json!({"type": "text", "text": body}), "{result}");
        assert_eq!(result["structuredContent"]["result"], body);
    }
}

#[tokio::test]
async fn digits_stay_as_the_upstream_sent_them() {
    let body =
        r#"{"id": 18446744073709551615, "huge": 123456789012345678901234567890, "price": 1.10}"#;
    let server = Workspace::new(&document(OBJECT), TOOLS)
        .serve(&Recorder::status(200, "application/json", body))
        .await;
    let result = Client::connect(server.address, Era::Modern).await.call("read", json!({})).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    for digits in ["18446744073709551615", "123456789012345678901234567890", "1.10"] {
        assert!(text.contains(digits), "{text}");
    }
    assert_eq!(result["structuredContent"]["id"], 18_446_744_073_709_551_615_u64);
}

/// The error text for a failed `tool`; checks that every era gives an error without structured content.
async fn error(upstream: Recorder, tool: &str) -> String {
    let server = Workspace::new(&document(OBJECT), TOOLS).serve(&upstream).await;
    let mut texts = Vec::new();
    for era in Era::ALL {
        let result = Client::connect(server.address, era).await.call(tool, json!({})).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        texts.push(result["content"][0]["text"].as_str().unwrap().to_owned());
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    texts.remove(0)
}

#[tokio::test]
async fn an_error_says_the_status_and_the_upstreams_words() {
    let grpc = r#"{"code": 16, "message": "sign in first", "details": []}"#;
    let fastapi = r#"{"detail": [{"loc": ["query", "limit"], "msg": "must be positive", "type": "value_error"}]}"#;
    let html = "<html><head><title>Bad Gateway</title></head><body><p>nginx</p></body></html>";
    for (status, media_type, body, words) in [
        (401, "application/json", grpc, &["401", "sign in first"][..]),
        (403, "application/json", r#"{"error": {"message": "not yours"}}"#, &["403", "not yours"]),
        (404, "application/problem+json", r#"{"title": "no such memo"}"#, &["404", "no such memo"]),
        (422, "application/json", fastapi, &["422", "limit", "must be positive"]),
        (500, "text/plain", "disk full", &["500", "disk full"]),
        (502, "text/html", html, &["502", "Bad Gateway"]),
        (503, "", "", &["503", "no body"]),
    ] {
        let text = error(Recorder::status(status, media_type, body), "read").await;
        assert!(words.iter().all(|word| text.contains(word)), "{status}: {text}");
        assert!(!text.contains('<'), "{text}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_names_the_origin_it_leads_to() {
    let upstream = Recorder::new(|_| {
        let mut reply = crate::support::upstream::reply(307, "", "");
        let location = "https://elsewhere.test/x?token=planted".parse().unwrap();
        reply.headers_mut().insert("location", location);
        reply
    });
    let text = error(upstream.clone(), "read").await;
    assert!(text.contains("307") && text.contains("https://elsewhere.test"), "{text}");
    assert!(!text.contains("planted"), "{text}");
    assert_eq!(upstream.seen().len(), Era::ALL.len());
}

#[tokio::test]
async fn a_refused_connection_says_so() {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let workspace = Workspace::new(&document(OBJECT), TOOLS);
    let gateway = workspace.builder().upstream(format!("http://{port}")).start().unwrap();
    let server = crate::support::Server::start(gateway).await;
    let result = Client::connect(server.address, Era::Modern).await.call("read", json!({})).await;
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("refused") && text.contains(&port.to_string()), "{text}");
}

#[tokio::test]
async fn a_timeout_of_a_write_says_that_it_may_have_been_carried_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let workspace = Workspace::new(&document(OBJECT), &format!("timeout: 200ms\n{TOOLS}"));
    let server =
        crate::support::Server::start(workspace.builder().upstream(origin).start().unwrap()).await;
    let client = Client::connect(server.address, Era::Modern).await;
    for (tool, words) in [("read", "did not answer"), ("write", "may have been carried out")] {
        let call = tokio::time::timeout(Duration::from_secs(20), client.call(tool, json!({})));
        let result = call.await.unwrap();
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
    }
}

#[tokio::test]
async fn an_oversized_reply_is_an_error_for_a_read_and_none_for_a_write() {
    let body: &'static str =
        Box::leak(format!(r#"{{"a": "{}"}}"#, "x".repeat(5_000)).into_boxed_str());
    let workspace = Workspace::new(&document(OBJECT), &format!("max_response: 4KiB\n{TOOLS}"));
    let server = workspace.serve(&Recorder::status(201, "application/json", body)).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let read = client.call("read", json!({})).await;
    assert_eq!(read["isError"], true, "{read}");
    let write = client.call("write", json!({})).await;
    assert_ne!(write["isError"], true, "{write}");
    let text = write["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("201") && text.contains("carried out") && text.contains("Do not repeat"),
        "{text}"
    );
}

#[tokio::test]
async fn a_panic_inside_a_call_is_a_tool_error() {
    let recorder = Recorder::new(|_| panic!("the service broke"));
    let server = Workspace::new(&document(OBJECT), TOOLS).serve_in_process(&recorder).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let result = client.call("read", json!({})).await;
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains("the service broke"), "{text}");
    assert!(text.chars().any(|c| c.is_ascii_digit()), "a number to look up in the log: {text}");
    assert_eq!(client.list().await.len(), 2);
}
