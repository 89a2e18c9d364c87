//! Lists and calls, by every way in.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use http::Method;
use serde_json::{Value, json};

use super::support::{Bench, WAYS, Way, modern_request, request, snapshot};
use crate::{
    config::Limits,
    snapshot::live::{Live, Status},
};

#[tokio::test]
async fn a_list_shows_every_tool_in_order_as_it_was_made() {
    let bench = Bench::new(&["b", "a", "c"]).await;
    let tools: Value = serde_json::from_slice(bench.live.load().unwrap().list()).unwrap();
    bench.check("tools/list", json!({}), json!({ "tools": tools })).await;
    bench.check("tools/list", Value::Null, json!({ "tools": tools })).await;
}

#[tokio::test]
async fn both_eras_and_lines_list_the_same_bytes() {
    let bench = Bench::new(&["b", "a"]).await;
    let snapshot = bench.live.load().unwrap();
    let bytes = std::str::from_utf8(snapshot.list()).unwrap();
    for way in WAYS {
        let answer = bench.ask(way, "tools/list", json!({})).await.to_string();
        assert!(answer.contains(&format!(r#""tools":{bytes}"#)), "{way:?}: {answer}");
    }
}

#[tokio::test]
async fn an_empty_edge_lists_nothing_and_knows_no_tool() {
    let bench = Bench::with(None, Limits::default(), &[]).await;
    bench.check("tools/list", json!({}), json!({ "tools": [] })).await;
    let error = json!({"code": -32602, "message": "unknown tool `a`"});
    bench.check("tools/call", json!({"name": "a"}), error).await;
}

#[tokio::test]
async fn a_call_answers_with_text_and_structure() {
    let bench = Bench::new(&["a"]).await;
    let result = json!({"id": 9_007_199_254_740_993_i64});
    let expected = json!({
        "content": [{"type": "text", "text": result.to_string()}],
        "structuredContent": result,
        "isError": false,
    });
    let arguments = json!({"id": 9_007_199_254_740_993_i64});
    bench.check("tools/call", json!({"name": "a", "arguments": arguments}), expected.clone()).await;
    bench.check("tools/call", json!({"name": "old_a", "arguments": arguments}), expected).await;
}

#[tokio::test]
async fn replies_keep_their_digits() {
    let bench = Bench::new(&["a"]).await;
    let raw = r#"{"n":123456789012345678901234567890,"d":0.1}"#;
    let expected = json!({
        "content": [{"type": "text", "text": raw}],
        "structuredContent": {"n": "123456789012345678901234567890", "d": 0.1},
        "isError": false,
    });
    bench.check("tools/call", json!({"name": "a", "arguments": {"raw": raw}}), expected).await;
}

/// Expects the same tool error by every way, with these words in its one text.
async fn check_error(bench: &Bench, arguments: Value, parts: &[&str]) {
    for way in WAYS {
        let params = json!({"name": "a", "arguments": arguments});
        let answer = bench.ask(way, "tools/call", params).await;
        let result = &answer["result"];
        let text =
            result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{way:?}: {answer}"));
        assert!(parts.iter().all(|part| text.contains(part)), "{way:?}: {text}");
        assert_eq!(result["isError"], true, "{way:?}");
        assert!(result.get("structuredContent").is_none(), "{way:?}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{way:?}");
    }
}

#[tokio::test]
async fn an_upstream_error_is_a_tool_error_in_text() {
    let bench = Bench::new(&["a"]).await;
    check_error(&bench, json!({"error": "no such memo"}), &["404", "no such memo"]).await;
}

#[tokio::test]
async fn every_fault_of_the_arguments_is_listed() {
    let bench = Bench::new(&["a"]).await;
    let arguments = json!({"id": "x", "sleep": [], "nonsense": 1});
    check_error(&bench, arguments, &["`id`", "`sleep`", "`nonsense`"]).await;
}

/// One call in a session and one modern call, with this credential.
async fn answers(bench: &Bench, session: &str, token: &str) -> [Value; 2] {
    let credential = ("authorization", token);
    let params = json!({"name": "a", "arguments": {"id": 1, "sleep": 5}});
    let headers = [("mcp-session-id", session), credential];
    let legacy = bench.post(&headers, &request(1, "tools/call", params.clone())).await;
    let headers = [
        credential,
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "a"),
    ];
    let modern = bench.post(&headers, &modern_request(1, "tools/call", params)).await;
    [legacy.answer(), modern.answer()]
}

#[tokio::test]
async fn the_credential_of_each_caller_goes_upstream_and_no_other() {
    let bench = Arc::new(Bench::new(&["a"]).await);
    let caller = |token: &'static str| {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move {
            let backwards: String = token.chars().rev().collect();
            let session = bench.open("2025-11-25", &[("authorization", token)]).await;
            for _ in 0..20 {
                let answers = answers(&bench, &session, token).await;
                let told = answers
                    .map(|answer| answer["result"]["structuredContent"]["credential"].clone());
                assert_eq!(told, [backwards.as_str(); 2]);
            }
        })
    };
    for task in ["Bearer a", "Bearer b", "Bearer c"].map(caller) {
        task.await.unwrap();
    }
    let mut lines = bench.lines_as(Some("Bearer lines"));
    let call = modern_request(1, "tools/call", json!({"name": "a"}));
    assert_eq!(lines.ask(&call).await["result"]["structuredContent"]["credential"], "senil reraeB");
    let anonymous = bench.ask(Way::Lines, "tools/call", json!({"name": "a"})).await;
    assert_eq!(anonymous["result"]["structuredContent"], json!({"id": null}));
}

#[tokio::test]
async fn an_unknown_tool_is_invalid_params() {
    let bench = Bench::new(&["memo_list_memos"]).await;
    let error = json!({"code": -32602, "message": "unknown tool `x`"});
    bench.check("tools/call", json!({"name": "x"}), error).await;
    let error = json!({"code": -32602, "message": "unknown tool `memo_list_memo`; did you mean `memo_list_memos`?"});
    bench.check("tools/call", json!({"name": "memo_list_memo"}), error).await;
}

#[tokio::test]
async fn a_removed_tool_says_so() {
    let bench = Bench::new(&["a", "b"]).await;
    bench.publish(2, &["b"]);
    for way in WAYS {
        for name in ["a", "old_a"] {
            let answer = bench.ask(way, "tools/call", json!({ "name": name })).await;
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("no longer available since a change"), "{way:?}: {message}");
        }
    }
    bench.publish(3, &["a", "b"]);
    let answer = bench.ask(Way::Modern, "tools/call", json!({"name": "a"})).await;
    assert_eq!(answer["result"]["isError"], false);
}

#[test]
fn removed_names_are_forgotten_after_so_many_swaps() {
    let live = Live::new(Some(Arc::new(snapshot(1, &["a", "z"]))), 2);
    for (generation, name) in [(2, "b"), (3, "c"), (4, "d")] {
        live.publish(Arc::new(snapshot(generation, &[name, "z"])), |_| Status::default());
    }
    let known = |name| live.removed(name).is_some();
    assert_eq!(
        ["a", "b", "c", "old_c", "d", "z"].map(known),
        [false, true, true, true, false, false]
    );
}

#[tokio::test]
async fn digits_that_64_bits_lose_are_refused_in_arguments() {
    let bench = Bench::new(&["a"]).await;
    let arguments = r#"{"id":18446744073709551616,"number":0.12345678901234567890}"#;
    for way in WAYS {
        let sent =
            bench.ask_text(way, "tools/call", r#"{"name":"a","arguments":ARGS}"#, arguments).await;
        let text = sent["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(sent["result"]["isError"], true, "{way:?}");
        assert!(text.contains("`0.12345678901234567890`") && text.contains("`id`"), "{text}");
    }
}

#[tokio::test]
async fn a_panic_in_a_call_is_a_numbered_error_and_nothing_else_breaks() {
    let bench = Bench::new(&["a"]).await;
    check_error(&bench, json!({"panic": true}), &["error number"]).await;
    let answer = bench.ask(Way::Modern, "tools/call", json!({"name": "a"})).await;
    assert_eq!(answer["result"]["isError"], false);
    assert_eq!(bench.edge.counts().calls_running.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn methods_that_are_not_served_are_not_found() {
    let bench = Bench::new(&["a"]).await;
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "a"})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "a"})),
        ("resources/templates/list", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "a", "value": ""}}),
        ),
        ("tasks/get", json!({"taskId": "a"})),
        ("no/such", json!({})),
    ] {
        for way in WAYS {
            let answer = bench.ask(way, method, params.clone()).await;
            assert_eq!(answer["error"]["code"], -32601, "{way:?} {method}: {answer}");
        }
    }
}

#[tokio::test]
async fn ping_is_legacy_only() {
    let bench = Bench::new(&["a"]).await;
    for way in WAYS {
        let answer = bench.ask(way, "ping", json!({})).await;
        assert_eq!(answer["error"]["code"] == -32601, way.is_modern(), "{way:?}: {answer}");
    }
}

#[tokio::test]
async fn tools_are_the_only_capability() {
    let bench = Bench::new(&["a"]).await;
    let expected = json!({"tools": {"listChanged": true}});
    for version in
        ["2025-06-18", "2025-11-25", "2026-07-28", "2024-11-05", "2025-03-26", "2099-01-01"]
    {
        let answer = bench.post(&[], &super::support::initialize(version)).await.answer();
        let negotiated = if version == "2025-06-18" { version } else { "2025-11-25" };
        assert_eq!(
            answer["result"],
            json!({
                "protocolVersion": negotiated,
                "capabilities": expected,
                "serverInfo": {"name": "toolgate", "version": env!("CARGO_PKG_VERSION")},
                "instructions": "How to use it.",
            })
        );
    }
    for way in [Way::Modern, Way::ModernJson, Way::ModernLines] {
        let answer = bench.ask(way, "server/discover", json!({})).await;
        let result = &answer["result"];
        assert_eq!(result["capabilities"], expected);
        assert_eq!(result["supportedVersions"], json!(["2025-06-18", "2025-11-25", "2026-07-28"]));
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("public")));
        assert_eq!(result["instructions"], "How to use it.");
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate");
    }
}

#[tokio::test]
async fn progress_is_told_when_asked_for() {
    let bench = Bench::new(&["a"]).await;
    let params = json!({"name": "a", "_meta": {"progressToken": "p"}});
    let session = bench.open("2025-11-25", &[]).await;
    let legacy = bench
        .post(&[("mcp-session-id", &session)], &request(1, "tools/call", params.clone()))
        .await;
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "a")];
    let modern = bench.post(&headers, &modern_request(1, "tools/call", params.clone())).await;
    for messages in [legacy.messages(), modern.messages()] {
        let steps: Vec<_> =
            messages.iter().map(|message| message["params"]["progress"].clone()).collect();
        assert_eq!(steps, [json!(1.0), json!(2.0), json!(3.0), Value::Null], "{messages:?}");
        assert_eq!(messages[0]["params"]["progressToken"], "p");
        assert_eq!(messages[3]["result"]["isError"], false);
    }
    for way in [Way::LegacyJson, Way::ModernJson] {
        let answer = bench.ask(way, "tools/call", params.clone()).await;
        assert_eq!(answer["result"]["isError"], false, "{way:?}");
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let bench = Bench::new(&["a"]).await;
    let session = bench.open("2025-11-25", &[]).await;
    for id in [json!(7), json!("7"), json!(-1), json!(0), json!(""), json!(i64::MAX)] {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string();
        let answer = bench.post(&[("mcp-session-id", &session)], &message).await.answer();
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages_by_every_way() {
    let limits = Limits { list_page: 1, ..Limits::default() };
    let bench = Bench::with(Some(snapshot(1, &["a", "b", "c"])), limits, &[]).await;
    for way in WAYS {
        let (mut names, mut cursor) = (String::new(), json!(null));
        loop {
            let answer = bench.ask(way, "tools/list", json!({ "cursor": cursor })).await;
            let result = &answer["result"];
            names += result["tools"][0]["name"].as_str().unwrap();
            assert_eq!(result["tools"].as_array().unwrap().len(), 1);
            match result.get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        assert_eq!(names, "abc", "{way:?}");
    }
    let error = json!({"code": -32602, "message": "unknown cursor: the list changed, start over"});
    bench.check("tools/list", json!({"cursor": "0-1"}), error).await;
}

#[tokio::test]
async fn a_modern_caller_that_leaves_cancels_the_call() {
    let bench = Bench::new(&["a"]).await;
    let params = json!({"name": "a", "arguments": {"sleep": 60_000}});
    let headers = [
        ("content-type", "application/json"),
        ("accept", "*/*"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "a"),
    ];
    let message = modern_request(1, "tools/call", params);
    let call = bench.send(Method::POST, "/mcp", &headers, message);
    assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
    for _ in 0..100 {
        if bench.edge.counts().calls_running.load(Ordering::Relaxed) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the call still runs");
}

impl Bench {
    /// Like [`Bench::ask`], with arguments whose text matters.
    async fn ask_text(&self, way: Way, method: &str, params: &str, arguments: &str) -> Value {
        let params: Value = serde_json::from_str(&params.replace("ARGS", "\"ARGS\"")).unwrap();
        let message = match way.is_modern() {
            true => modern_request(7, method, params),
            false => request(7, method, params),
        };
        let message = message.replace("\"ARGS\"", arguments);
        match way {
            Way::Lines => {
                let mut lines = self.lines();
                lines.open().await;
                lines.ask(&message).await
            }
            Way::ModernLines => self.lines().ask(&message).await,
            Way::Modern | Way::ModernJson => {
                let headers = [
                    ("mcp-protocol-version", "2026-07-28"),
                    ("mcp-method", method),
                    ("mcp-name", "a"),
                ];
                self.post(&headers, &message).await.answer()
            }
            _ => {
                let session = self.open("2025-11-25", &[]).await;
                self.post(&[("mcp-session-id", &session)], &message).await.answer()
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_mixes_two_snapshots_and_no_call_fails_while_tools_are_swapped() {
    let bench = Arc::new(Bench::new(&["keep", "x0", "y0"]).await);
    let snapshots: Vec<_> = (2..40)
        .map(|n| Arc::new(snapshot(n, &["keep", &format!("x{n}"), &format!("y{n}")])))
        .collect();
    let client = |way: Way| {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move {
            for _ in 0..20 {
                let list = bench.ask(way, "tools/list", json!({})).await;
                let name = |place: usize| list["result"]["tools"][place]["name"].as_str().unwrap();
                assert_eq!(name(1).strip_prefix('x'), name(2).strip_prefix('y'), "{way:?}");
                let kept = bench.ask(way, "tools/call", json!({"name": "keep"})).await;
                assert_eq!(kept["result"]["isError"], false, "{way:?}: {kept}");
                let gone = bench.ask(way, "tools/call", json!({ "name": name(1) })).await;
                let answered = gone["result"]["isError"] == false;
                let told = gone["error"]["message"]
                    .as_str()
                    .is_some_and(|words| words.contains("unknown tool"));
                assert!(answered || told, "{way:?}: {gone}");
            }
        })
    };
    let clients: Vec<_> = WAYS.into_iter().map(client).collect();
    let mut swaps = 0;
    for snapshot in snapshots.iter().cycle() {
        bench.publish_whole(Arc::clone(snapshot));
        swaps += 1;
        tokio::time::sleep(Duration::from_millis(2)).await;
        if clients.iter().all(tokio::task::JoinHandle::is_finished) {
            break;
        }
    }
    for client in clients {
        client.await.unwrap();
    }
    assert!(swaps > 50, "{swaps} swaps prove little");
}
