//! What the front layer refuses, and how it lets through what clients really send.

use std::time::Duration;

use axum::{Router, body::Body, routing::get};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tower::ServiceExt;

use super::support::{Bench, Reply, initialize, modern_request, request, snapshot, soon};
use crate::{config::Limits, mcp::router};

const MODERN: [(&str, &str); 2] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];

/// Sends one body in a session, as a modern request's body, and as a line; expects one code from all.
async fn check(bench: &Bench, body: &str, status: u16, code: i64) {
    let session = bench.open("2025-11-25", &[]).await;
    let legacy = bench.post(&[("mcp-session-id", &session)], body).await;
    let modern = bench.post(&MODERN, body).await;
    for reply in [&legacy, &modern] {
        assert_eq!((reply.status.as_u16(), reply.code()), (status, code), "{body}: {reply:?}");
        assert_eq!(reply.header("content-type"), "application/json", "{body}");
    }
    let mut lines = bench.lines();
    lines.open().await;
    assert_eq!(lines.ask(body).await["error"]["code"], code, "{body}");
    let next = lines.ask(&request(3, "tools/list", json!({}))).await;
    assert_eq!(next["id"], 3, "a refused line must not end the connection");
}

#[tokio::test]
async fn unreadable_messages_are_refused_alike_everywhere() {
    let bench = Bench::new(&["a"]).await;
    let deep =
        format!(r#"{{"name":"a","arguments":{{"x":{}1{}}}}}"#, "[".repeat(64), "]".repeat(64));
    let very_deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, code) in [
        ("{", -32700),
        ("not json", -32700),
        ("{\"a\":1}{\"b\":2}", -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
            -32600,
        ),
        (&request(1, "tools/call", serde_json::from_str(&deep).unwrap()), -32600),
        (&very_deep, -32600),
    ] {
        check(&bench, body, 400, code).await;
    }
}

#[tokio::test]
async fn malformed_params_are_refused_alike_everywhere() {
    let bench = Bench::new(&["a"]).await;
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 7})),
        ("tools/call", json!({"name": "a", "arguments": "{}"})),
        ("tools/list", json!({"cursor": 7})),
        ("tools/list", json!([])),
        ("subscriptions/listen", json!({})),
    ] {
        check(&bench, &request(1, method, params), 200, -32602).await;
    }
}

#[tokio::test]
async fn modern_headers_must_say_what_the_body_says() {
    let bench = Bench::new(&["a", "headed"]).await;
    let list = modern_request(1, "tools/list", json!({}));
    let call = modern_request(1, "tools/call", json!({"name": "a"}));
    let version = ("mcp-protocol-version", "2026-07-28");
    let newer = list.replace("2026-07-28", "2099-01-01");
    let bare = request(1, "tools/list", json!({}));
    let half = list.replace("clientCapabilities", "nothing");
    for (headers, body, status, code) in [
        (vec![version, ("mcp-method", "tools/list")], &list, 200, 0),
        (vec![], &list, 400, -32020),
        (vec![("mcp-protocol-version", "2025-11-25")], &list, 400, -32020),
        (vec![version], &list, 400, -32020),
        (vec![version, ("mcp-method", "tools/call")], &list, 400, -32020),
        (vec![version, ("mcp-method", "tools/call")], &call, 400, -32020),
        (vec![version, ("mcp-method", "tools/call"), ("mcp-name", "b")], &call, 400, -32020),
        (vec![version, ("mcp-method", "tools/call"), ("mcp-name", "a")], &call, 200, 0),
        (
            vec![("mcp-protocol-version", "2099-01-01"), ("mcp-method", "tools/list")],
            &newer,
            400,
            -32022,
        ),
        (vec![version, ("mcp-method", "tools/list")], &bare, 400, -32602),
        (vec![version, ("mcp-method", "tools/list")], &half, 400, -32602),
        (
            vec![version, ("mcp-method", "no/such")],
            &modern_request(1, "no/such", json!({})),
            404,
            -32601,
        ),
        (vec![version, ("mcp-method", "ping")], &modern_request(1, "ping", json!({})), 404, -32601),
    ] {
        let reply = bench.post(&headers, body).await;
        assert_eq!(
            (reply.status.as_u16(), reply.code()),
            (status, code),
            "{headers:?} {body}: {reply:?}"
        );
    }
    let headed = modern_request(1, "tools/call", json!({"name": "headed", "arguments": {"id": 7}}));
    for (value, status) in [("7", 200), ("8", 400)] {
        let headers = [
            version,
            ("mcp-method", "tools/call"),
            ("mcp-name", "headed"),
            ("mcp-param-id", value),
        ];
        assert_eq!(bench.post(&headers, &headed).await.status, status);
    }
}

#[tokio::test]
async fn discover_without_meta_asks_for_meta_and_never_for_a_session() {
    let bench = Bench::new(&["a"]).await;
    let reply = bench.post(&[], &request(1, "server/discover", json!({}))).await;
    assert_eq!((reply.status.as_u16(), reply.code()), (400, -32602));
    assert!(!reply.body.contains("ession"), "{reply:?}");
}

#[tokio::test]
async fn sessions_are_asked_for_and_unknown_ones_are_not_found() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[("authorization", "Bearer a")]).await;
    let id = ("mcp-session-id", session.as_str());
    let list = request(1, "tools/list", json!({}));
    for (headers, status) in [
        (vec![], 400),
        (vec![("mcp-session-id", "gone")], 404),
        (vec![id], 404),
        (vec![id, ("authorization", "Bearer b")], 404),
        (vec![id, ("authorization", "Bearer a")], 200),
        (vec![id, ("authorization", "Bearer a"), ("mcp-protocol-version", "2025-03-26")], 400),
    ] {
        let reply = bench.post(&headers, &list).await;
        assert_eq!(reply.status, status, "{headers:?}");
        assert_eq!(reply.answer()["id"], 1, "{headers:?}");
        let mut get = headers.clone();
        get.push(("accept", "text/event-stream"));
        let expected = if headers.is_empty() { 405 } else { status };
        assert_eq!(
            bench.send(Method::GET, "/mcp", &get, "").await.status(),
            expected,
            "{headers:?}"
        );
    }
    assert_eq!(bench.send(Method::DELETE, "/mcp", &[], "").await.status(), 400);
    assert_eq!(
        bench.send(Method::DELETE, "/mcp", &[("mcp-session-id", "gone")], "").await.status(),
        404
    );
}

#[tokio::test]
async fn too_many_sessions_are_refused_for_now() {
    let limits = Limits { sessions: 1, ..Limits::default() };
    let bench = Bench::with(Some(snapshot(1, &["a"])), limits, &[]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let reply = bench.post(&[], &initialize("2025-11-25")).await;
    assert_eq!((reply.status.as_u16(), reply.header("retry-after")), (503, "1"));
    bench.send(Method::DELETE, "/mcp", &[("mcp-session-id", &session)], "").await;
    bench.open("2025-11-25", &[]).await;
}

#[tokio::test]
async fn initialize_in_an_old_session_opens_a_new_one() {
    let bench = Bench::new(&["a"]).await;
    let reply = bench.post(&[("mcp-session-id", "gone")], &initialize("2025-11-25")).await;
    assert_eq!(reply.status, 200);
    assert_ne!(reply.header("mcp-session-id"), "");
}

#[tokio::test]
async fn people_get_a_hint_and_other_methods_and_paths_nothing() {
    let bench = Bench::new(&["a"]).await;
    let reply =
        Reply::of(bench.send(Method::GET, "/mcp", &[("accept", "text/html")], "").await).await;
    assert_eq!(reply.status, 405);
    assert!(reply.body.contains("MCP client") && reply.body.lines().count() == 1, "{reply:?}");
    for method in [Method::PUT, Method::PATCH, Method::HEAD, Method::TRACE] {
        let reply = Reply::of(bench.send(method.clone(), "/mcp", &[], "").await).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("allow")),
            (405, "GET, POST, DELETE, OPTIONS"),
            "{method}"
        );
    }
    for path in ["/", "/mcp/", "/mcp/x", "/MCP", "/health", "/.well-known/oauth-protected-resource"]
    {
        assert_eq!(bench.send(Method::GET, path, &[], "").await.status(), 404, "{path}");
        assert_eq!(bench.send(Method::POST, path, &[], "{}").await.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn every_accept_header_that_clients_send_works() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    for (accept, json_only) in [
        ("application/json, text/event-stream", false),
        ("text/event-stream, application/json", false),
        ("*/*", false),
        ("application/json", true),
        ("application/*", true),
        ("text/event-stream", false),
    ] {
        let legacy = [("accept", accept), ("mcp-session-id", session.as_str())];
        let legacy = bench.post(&legacy, &request(1, "tools/list", json!({}))).await;
        let modern = [("accept", accept), MODERN[0], MODERN[1]];
        let modern = bench.post(&modern, &modern_request(1, "tools/list", json!({}))).await;
        let opened = bench.post(&[("accept", accept)], &initialize("2025-11-25")).await;
        assert_ne!(opened.header("mcp-session-id"), "", "{accept}");
        for reply in [legacy, opened] {
            assert_eq!(reply.status, 200, "{accept}");
            assert!(reply.answer().get("result").is_some(), "{accept}: {reply:?}");
            assert_eq!(reply.header("content-type") == "application/json", json_only, "{accept}");
            assert_eq!(reply.body.contains("event: message\ndata: "), !json_only, "{reply:?}");
        }
        assert_eq!(modern.header("content-type"), "application/json", "{accept}");
        assert!(modern.answer().get("result").is_some(), "{accept}");
    }
    let refused = bench.post(&[("accept", "text/html")], &initialize("2025-11-25")).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (406, -32600));
    let listen = modern_request(1, "subscriptions/listen", json!({"notifications": {}}));
    let headers =
        [("accept", "application/json"), MODERN[0], ("mcp-method", "subscriptions/listen")];
    assert_eq!(bench.post(&headers, &listen).await.status, 406);
}

#[tokio::test]
async fn only_json_is_read() {
    let bench = Bench::new(&["a"]).await;
    for (value, status) in [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
    ] {
        let reply = bench
            .send(Method::POST, "/mcp", &[("content-type", value)], initialize("2025-11-25"))
            .await;
        assert_eq!(reply.status(), status, "{value}");
    }
    assert_eq!(bench.send(Method::POST, "/mcp", &[], initialize("2025-11-25")).await.status(), 415);
}

#[tokio::test]
async fn bodies_are_bounded_in_size_and_time() {
    let limits =
        Limits { request_body: 1000, body_time: Duration::from_millis(200), ..Limits::default() };
    let bench = Bench::with(Some(snapshot(1, &["a"])), limits, &[]).await;
    let long = initialize(&"x".repeat(2000));
    assert_eq!(bench.post(&[], &long).await.status, 413);
    let mut lines = bench.lines();
    assert_eq!(lines.ask(&long).await["error"]["code"], -32600);
    lines.open().await;
    let slow = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
    let json = [("content-type", "application/json")];
    let reply = soon(bench.send(Method::POST, "/mcp", &json, Body::from_stream(slow))).await;
    assert_eq!(reply.status(), 408);
}

#[tokio::test]
async fn slow_headers_end_the_connection() {
    let limits = Limits { header_time: Duration::from_millis(200), ..Limits::default() };
    let bench = Bench::with(Some(snapshot(1, &["a"])), limits, &[]).await;
    let mut stream = TcpStream::connect(bench.address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: local").await.unwrap();
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.unwrap();
    assert!(!rest.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_their_turn() {
    let limits = Limits { connections: Some(1), ..Limits::default() };
    let bench = Bench::with(Some(snapshot(1, &["a"])), limits, &[]).await;
    let first = TcpStream::connect(bench.address).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let message = initialize("2025-11-25");
    let second = bench.post(&[], &message);
    let mut second = std::pin::pin!(second);
    assert!(tokio::time::timeout(Duration::from_millis(200), second.as_mut()).await.is_err());
    drop(first);
    assert_eq!(soon(second).await.status, 200);
}

#[tokio::test]
async fn a_foreign_origin_or_host_is_refused_on_every_method_before_any_work() {
    let bench = Bench::new(&["a"]).await;
    for header in [("origin", "https://evil.test"), ("origin", "null"), ("host", "evil.test")] {
        for method in [Method::POST, Method::GET, Method::DELETE, Method::OPTIONS, Method::PUT] {
            let reply = Reply::of(bench.send(method.clone(), "/mcp", &[header], "").await).await;
            assert_eq!(reply.status, 403, "{method} {header:?}");
            assert_eq!(reply.header("access-control-allow-origin"), "");
            assert!(method == Method::HEAD || reply.body.contains("--public-url"), "{reply:?}");
        }
    }
    let json = [("origin", "https://evil.test"), ("content-type", "application/json")];
    let body = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
    let reply = soon(bench.send(Method::POST, "/mcp", &json, Body::from_stream(body))).await;
    assert_eq!(reply.status(), 403, "the body is not waited for");
    assert_eq!(bench.edge.counts().sessions.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_allowed_origin_gets_the_same_verdict_in_preflight_and_request() {
    let bench =
        Bench::with(Some(snapshot(1, &["a"])), Limits::default(), &["http://localhost:6274"]).await;
    let own = format!("http://{}", bench.address);
    for origin in ["http://localhost:6274", own.as_str()] {
        let asked = "authorization,mcp-method,mcp-name,mcp-param-id,mcp-protocol-version";
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", asked),
        ];
        let preflight = Reply::of(bench.send(Method::OPTIONS, "/mcp", &headers, "").await).await;
        let request = bench.post(&[("origin", origin)], &initialize("2025-11-25")).await;
        assert_eq!((preflight.status.as_u16(), request.status.as_u16()), (204, 200));
        assert_eq!(preflight.header("access-control-allow-headers"), asked);
        assert!(preflight.header("access-control-allow-methods").contains("POST"));
        for reply in [preflight, request] {
            assert_eq!(reply.header("access-control-allow-origin"), origin);
            assert_eq!(reply.header("vary"), "Origin");
            assert!(reply.header("access-control-expose-headers").contains("Mcp-Session-Id"));
        }
    }
    let plain = Reply::of(bench.send(Method::OPTIONS, "/mcp", &[], "").await).await;
    assert_eq!((plain.status.as_u16(), plain.header("access-control-allow-origin")), (204, ""));
}

#[tokio::test]
async fn notifications_and_responses_get_202_without_a_body() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let reply = bench.post(&[("mcp-session-id", &session)], body).await;
        assert_eq!((reply.status.as_u16(), reply.body.as_str()), (202, ""), "{body}");
    }
}

#[tokio::test]
async fn merging_adds_mcp_and_nothing_else() {
    let bench = Bench::new(&["a"]).await;
    let app = Router::new().route("/memos", get(|| async { "memos" })).merge(router(&bench.edge));
    for (path, status) in [("/memos", 200), ("/mcp", 405), ("/other", 404)] {
        let request =
            http::Request::get(path).header("host", "localhost").body(Body::empty()).unwrap();
        let response = app.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body == "memos", path == "/memos");
    }
}

#[tokio::test]
async fn lines_take_blank_lines_and_end_without_a_session() {
    let bench = Bench::new(&["a"]).await;
    assert_eq!(bench.lines().close().await, "");
    let mut lines = bench.lines();
    lines.say("").await;
    lines.say("  \r").await;
    lines
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#)
        .await;
    let answer: Value = lines.ask(&modern_request(1, "tools/list", json!({}))).await;
    assert_eq!(answer["result"]["tools"][0]["name"], "a");
}
