//! list_changed by every way in, and what lives and ends with a listener.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
};

use super::support::{Bench, Events, Way, modern_request, request, snapshot, soon};
use crate::config::Limits;

const NOTICE: &str = "notifications/tools/list_changed";

async fn stream(bench: &Bench, session: &str) -> Events {
    let headers = [("accept", "text/event-stream"), ("mcp-session-id", session)];
    bench.listen(Method::GET, &headers, String::new()).await
}

async fn listen(bench: &Bench, id: i64, notifications: Value) -> Events {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let message =
        modern_request(id, "subscriptions/listen", json!({ "notifications": notifications }));
    bench.listen(Method::POST, &headers, message).await
}

/// Waits until the server has noticed which streams are gone.
async fn open_streams(bench: &Bench, expected: u64) {
    let streams = || bench.edge.counts().streams.load(std::sync::atomic::Ordering::Relaxed);
    soon(async {
        while streams() != expected {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

fn is_notice(message: &Value) -> bool {
    message["method"] == NOTICE && message.get("id").is_none()
}

fn subscription(message: &Value) -> &Value {
    &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

#[tokio::test]
async fn a_legacy_stream_hears_of_each_change_once_after_the_swap() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut events = stream(&bench, &session).await;
    assert!(events.is_quiet().await);
    for (generation, names) in [(2, ["b"]), (3, ["c"])] {
        bench.publish(generation, &names);
        let message = events.next().await.unwrap();
        assert_eq!(message, json!({"jsonrpc": "2.0", "method": NOTICE}));
        let list = bench.ask(Way::Legacy, "tools/list", json!({})).await;
        assert_eq!(list["result"]["tools"][0]["name"], names[0]);
        assert!(events.is_quiet().await);
    }
    bench.publish(4, &["c"]);
    assert!(events.is_quiet().await, "an equal list is no change");
}

#[tokio::test]
async fn of_two_streams_of_a_session_one_hears_and_the_other_takes_over() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut first = stream(&bench, &session).await;
    // Which of the two is first is decided when it is first polled.
    assert!(first.is_quiet().await);
    let mut second = stream(&bench, &session).await;
    bench.publish(2, &["b"]);
    assert!(is_notice(&first.next().await.unwrap()));
    assert!(second.is_quiet().await);
    drop(first);
    open_streams(&bench, 1).await;
    bench.publish(3, &["c"]);
    assert!(is_notice(&second.next().await.unwrap()));
    assert!(second.is_quiet().await);
}

#[tokio::test]
async fn a_change_between_two_streams_is_told_on_the_next() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    drop(stream(&bench, &session).await);
    open_streams(&bench, 0).await;
    bench.publish(2, &["b"]);
    bench.publish(3, &["c"]);
    let mut events = stream(&bench, &session).await;
    assert!(is_notice(&events.next().await.unwrap()));
    assert!(events.is_quiet().await);
}

#[tokio::test]
async fn a_modern_listen_is_acknowledged_first_and_tagged() {
    let bench = Bench::new(&["a"]).await;
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["x"]});
    let mut events = listen(&bench, 5, wanted).await;
    let message = events.next().await.unwrap();
    assert_eq!(message["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(message["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(subscription(&message), 5);
    bench.publish(2, &["b"]);
    let message = events.next().await.unwrap();
    assert!(is_notice(&message), "{message}");
    assert_eq!(subscription(&message), 5);
    bench.publish(3, &["b"]);
    assert!(events.is_quiet().await, "an equal list is no change");
}

#[tokio::test]
async fn a_listen_that_asks_for_no_tools_hears_nothing() {
    let bench = Bench::new(&["a"]).await;
    let mut events = listen(&bench, 5, json!({"promptsListChanged": true})).await;
    assert_eq!(events.next().await.unwrap()["params"]["notifications"], json!({}));
    bench.publish(2, &["b"]);
    assert!(events.is_quiet().await);
}

#[tokio::test]
async fn lines_hear_of_changes_in_both_eras() {
    let bench = Bench::new(&["a"]).await;
    let mut legacy = bench.lines();
    legacy.open().await;
    legacy.ask(&request(1, "ping", json!({}))).await;
    let mut modern = bench.lines();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let message = modern.ask(&modern_request(9, "subscriptions/listen", wanted)).await;
    assert_eq!(message["method"], "notifications/subscriptions/acknowledged");
    for (generation, names) in [(2, ["b"]), (3, ["c"])] {
        bench.publish(generation, &names);
        assert_eq!(legacy.hear().await, json!({"jsonrpc": "2.0", "method": NOTICE}));
        let message = modern.hear().await;
        assert!(is_notice(&message) && subscription(&message) == 9, "{message}");
    }
    let list = modern.ask(&modern_request(10, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["tools"][0]["name"], "c");
    assert_eq!(legacy.close().await, "");
}

#[tokio::test]
async fn lines_that_never_asked_hear_nothing() {
    let bench = Bench::new(&["a"]).await;
    let mut modern = bench.lines();
    modern.ask(&modern_request(1, "tools/list", json!({}))).await;
    let mut uninitialized = bench.lines();
    uninitialized.ask(&super::support::initialize("2025-11-25")).await;
    bench.publish(2, &["b"]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(modern.close().await, "");
    assert_eq!(uninitialized.close().await, "");
}

#[tokio::test]
async fn the_end_of_the_input_ends_an_open_listen_at_once() {
    let bench = Bench::new(&["a"]).await;
    let mut lines = bench.lines();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    lines.ask(&modern_request(9, "subscriptions/listen", wanted)).await;
    let rest = tokio::time::timeout(Duration::from_secs(2), lines.close()).await.unwrap();
    let last: Value = serde_json::from_str(rest.trim()).unwrap();
    assert_eq!(last["id"], 9);
    assert_eq!(last["result"]["resultType"], "complete");
}

#[tokio::test]
async fn calls_in_flight_are_answered_after_the_input_ended() {
    let bench = Bench::new(&["a"]).await;
    let mut lines = bench.lines();
    let params = json!({"name": "a", "arguments": {"sleep": 300}});
    lines.say(&modern_request(1, "tools/call", params)).await;
    let rest = lines.close().await;
    assert!(rest.contains(r#""isError":false"#), "{rest}");
}

#[tokio::test]
async fn a_listener_that_does_not_read_delays_nobody() {
    let bench = Bench::new(&["a"]).await;
    let deaf = bench.open("2025-11-25", &[]).await;
    let _deaf =
        (stream(&bench, &deaf).await, listen(&bench, 1, json!({"toolsListChanged": true})).await);
    let session = bench.open("2025-11-25", &[]).await;
    let mut legacy = stream(&bench, &session).await;
    let mut modern = listen(&bench, 2, json!({"toolsListChanged": true})).await;
    modern.next().await.unwrap();
    for generation in 2..200 {
        bench.publish(generation, &[&format!("t{generation}")]);
        assert!(is_notice(&legacy.next().await.unwrap()));
        assert!(is_notice(&modern.next().await.unwrap()));
    }
    let reply =
        bench.post(&[("mcp-session-id", &deaf)], &request(1, "tools/list", json!({}))).await;
    assert_eq!(reply.answer()["result"]["tools"][0]["name"], "t199");
}

#[tokio::test]
async fn no_session_stream_or_listener_keeps_a_snapshot() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut legacy = stream(&bench, &session).await;
    let mut modern = listen(&bench, 2, json!({"toolsListChanged": true})).await;
    modern.next().await.unwrap();
    let mut lines = bench.lines();
    lines.open().await;
    lines.ask(&request(1, "tools/list", json!({}))).await;
    bench.post(&[("mcp-session-id", &session)], &request(1, "tools/list", json!({}))).await;
    bench.ask(Way::Modern, "tools/call", json!({"name": "a"})).await;
    let old = Arc::downgrade(&bench.live.load().unwrap());
    bench.publish(2, &["b"]);
    legacy.next().await.unwrap();
    modern.next().await.unwrap();
    lines.hear().await;
    assert_eq!(old.strong_count(), 0);
}

#[tokio::test]
async fn a_stop_ends_listens_with_their_result_and_lets_calls_finish() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut legacy = stream(&bench, &session).await;
    let mut modern = listen(&bench, 2, json!({"toolsListChanged": true})).await;
    modern.next().await.unwrap();
    let call =
        bench.ask(Way::Modern, "tools/call", json!({"name": "a", "arguments": {"sleep": 500}}));
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        bench.stopping.cancel();
    };
    let (answer, ()) = tokio::join!(call, stop);
    assert_eq!(answer["result"]["isError"], false);
    assert_eq!(legacy.next().await, None);
    let last = modern.next().await.unwrap();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(2), &json!("complete")));
    assert_eq!(modern.next().await, None);
    let server = bench.server.lock().unwrap().take().unwrap();
    soon(server).await.unwrap();
}

#[tokio::test]
async fn streams_are_capped_per_session_and_in_all() {
    let limits = Limits { streams: 3, session_streams: 2, ..Limits::default() };
    let bench = Bench::with(Some(snapshot(1, &["a"])), limits, &[]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let headers = [("accept", "text/event-stream"), ("mcp-session-id", session.as_str())];
    let held = (stream(&bench, &session).await, stream(&bench, &session).await);
    assert_eq!(bench.send(Method::GET, "/mcp", &headers, "").await.status(), 503);
    let other = bench.open("2025-11-25", &[]).await;
    let mut third = stream(&bench, &other).await;
    assert_eq!(
        bench.ask(Way::Modern, "subscriptions/listen", json!({"notifications": {}})).await["error"]
            ["code"],
        -32603
    );
    drop(held);
    open_streams(&bench, 1).await;
    assert!(third.is_quiet().await);
    let mut again = stream(&bench, &session).await;
    assert!(again.is_quiet().await);
    let counts = bench.edge.counts();
    assert_eq!(counts.refused_streams.load(std::sync::atomic::Ordering::Relaxed), 2);
    assert_eq!(counts.streams.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_deleted_session_ends_its_streams() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut events = stream(&bench, &session).await;
    assert!(events.is_quiet().await);
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(bench.send(Method::DELETE, "/mcp", &headers, "").await.status(), 204);
    assert_eq!(events.next().await, None);
    assert_eq!(bench.send(Method::DELETE, "/mcp", &headers, "").await.status(), 404);
    assert_eq!(bench.edge.counts().sessions.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_burst_is_one_notice_by_every_way() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut legacy = stream(&bench, &session).await;
    assert!(legacy.is_quiet().await);
    let mut modern = listen(&bench, 2, json!({"toolsListChanged": true})).await;
    modern.next().await.unwrap();
    let mut lines = bench.lines();
    lines.open().await;
    lines.ask(&request(1, "ping", json!({}))).await;
    for generation in 2..100 {
        bench.publish(generation, &[&format!("t{generation}")]);
    }
    assert!(is_notice(&legacy.next().await.unwrap()));
    assert!(is_notice(&modern.next().await.unwrap()));
    assert!(is_notice(&lines.hear().await));
    assert!(legacy.is_quiet().await && modern.is_quiet().await);
    let list = lines.ask(&request(2, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["tools"][0]["name"], "t99");
    assert_eq!(lines.close().await, "");
}

/// A listener whose machine takes in little and who reads nothing of it.
async fn never_reading(bench: &Bench, session: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut peer = socket.connect(bench.address).await.unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: {}\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n",
        bench.address
    );
    peer.write_all(head.as_bytes()).await.unwrap();
    peer
}

#[tokio::test]
async fn a_listener_that_never_reads_is_dropped_and_the_others_hear_everything() {
    let bench = Bench::new(&["a"]).await;
    let deaf = bench.open("2025-11-25", &[]).await;
    let _deaf = never_reading(&bench, &deaf).await;
    let session = bench.open("2025-11-25", &[]).await;
    let mut events = stream(&bench, &session).await;
    open_streams(&bench, 2).await;
    let versions = [["x"], ["y"]].map(|names| Arc::new(snapshot(2, &names)));
    let start = Instant::now();
    let streams = || bench.edge.counts().streams.load(std::sync::atomic::Ordering::Relaxed);
    for version in versions.iter().cycle() {
        if streams() == 1 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "it is still there");
        bench.publish_whole(Arc::clone(version));
        assert!(is_notice(&events.next().await.unwrap()));
    }
    assert!(events.is_quiet().await);
    bench.publish(3, &["z"]);
    assert!(is_notice(&events.next().await.unwrap()));
}
