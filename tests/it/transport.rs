use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use toolgate::{
    config::{Audience, Config, Http, Inputs, Limits, Policy, Serving},
    gateway::Builder,
};

use crate::support::{
    Client, Era, Recorder, Server, Workspace, eventually,
    raw::{JSON, Raw, Step, respond, send},
    tls::{Authority, self_signed},
};

/// A read and a write of `/x`.
const DOCUMENT: &str = r#"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/x":{
    "get":{"operationId":"read","parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],
        "responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object"}}}}}},
    "post":{"operationId":"write","responses":{"200":{"description":"ok"}}}}}}"#;

const TOOLS: &str = "tools:\n  - operation: read\n    response_headers: [X-Echo]\n  - write\n";

fn workspace(top: &str) -> Workspace {
    Workspace::new(DOCUMENT, &format!("{top}\n{TOOLS}"))
}

async fn serve(
    workspace: &Workspace,
    raw: &Raw,
    change: impl FnOnce(Builder) -> Builder,
) -> Server {
    Server::start(change(workspace.builder().upstream(&raw.origin)).start().unwrap()).await
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

/// What becomes of a call in both eras when the upstream keeps to this script on every connection.
async fn check(tool: &str, script: Vec<Step>, is_error: bool, words: &str) {
    let raw = Raw::serve(vec![script]).await;
    let server = serve(&workspace("timeout: 700ms"), &raw, |builder| builder).await;
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let result = Client::connect(server.address, era).await.call(tool, json!({})).await;
        assert!(text(&result).contains(words), "{tool}, {words}: {result}");
        assert_eq!(result["isError"] == true, is_error, "{tool}: {result}");
        assert_eq!(result["structuredContent"].is_object(), !is_error, "{result}");
    }
}

fn after_a_request(bytes: &str) -> Vec<Step> {
    vec![Step::Read, send(bytes)]
}

#[tokio::test]
async fn odd_but_sound_replies_are_understood() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n";
    for (reply, words) in [
        (
            format!("{chunked}trailer: x-sum\r\n\r\n7;a=b\r\n{{\"a\":1}}\r\n0\r\nx-sum: 5\r\n\r\n"),
            r#"{"a":1}"#,
        ),
        (format!("{chunked}\r\n3\r\n{{\"a\r\n4\r\n\":1}}\r\n0\r\n\r\n"), r#"{"a":1}"#),
        ("HTTP/1.0 200 OK\r\n\r\n{\"a\":1}".into(), r#"{"a":1}"#),
        ("HTTP/1.1 200\r\ncontent-length: 7\r\n\r\n{\"a\":1}".into(), r#"{"a":1}"#),
        ("HTTP/1.1 200 OK\ncontent-length: 7\n\n{\"a\":1}".into(), r#"{"a":1}"#),
        (
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}"
                .into(),
            r#"{"a":1}"#,
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n".into(), r#"{"ok":true}"#),
        ("HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\n{\"a\":1}".into(), r#"{"ok":true}"#),
        ("HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n".into(), r#"{"ok":true}"#),
        ("HTTP/1.1 299 Odd\r\ncontent-length: 7\r\n\r\n{\"a\":1}".into(), r#"{"a":1}"#),
        ("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}and more".into(), r#"{"a":1}"#),
    ] {
        check("read", after_a_request(&reply), false, words).await;
    }
}

#[tokio::test]
async fn unsound_replies_are_errors_with_a_reason() {
    let huge = format!("HTTP/1.1 200 OK\r\nx-huge: {}\r\n\r\n", "a".repeat(200_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x-many: 1\r\n".repeat(2_000));
    for (reply, words) in [
        ("220 mail ready\r\n\r\n", "is not valid HTTP"),
        ("\x16\x03\x01\x02\x00", "is not valid HTTP"),
        ("HTTP/1.1 20 OK\r\n\r\n", "is not valid HTTP"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}",
            "is not valid HTTP",
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}", "is not valid HTTP"),
        ("HTTP/1.1 200 OK\r\nbad header\r\n\r\n{}", "is not valid HTTP"),
        ("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", "101"),
        (
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip, br\r\ncontent-length: 2\r\n\r\n{}",
            "encoded as `gzip, br`",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 2\r\n\r\n{}",
            "encoded as `compress`",
        ),
        (huge.as_str(), "is not valid HTTP"),
        (many.as_str(), "is not valid HTTP"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"a\":1}", "broke off"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "broke off"),
        ("HTTP/1.1 200 OK\r\n", "broke before its reply"),
        ("", "broke before its reply"),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", "304 Not Modified"),
        (
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: /x/\r\ncontent-length: 0\r\n\r\n",
            "with a `/` at its end",
        ),
    ] {
        check("read", after_a_request(reply), true, words).await;
    }
}

#[tokio::test]
async fn a_write_says_what_became_of_it() {
    let slow = |head: &str| {
        let mut script = after_a_request(head);
        script.extend((0..50).flat_map(|_| [send("x"), Step::Wait(100)]));
        script
    };
    let unsure = "may have been carried out";
    check("write", vec![Step::Read, Step::Wait(5_000)], true, unsure).await;
    check("write", after_a_request(""), true, unsure).await;
    check("write", after_a_request("nonsense\r\n\r\n"), true, unsure).await;
    check("write", slow("HTTP/1.1 201 Created\r\n"), true, unsure).await;
    let carried_out = "201 Created, carried out; ";
    check("write", slow("HTTP/1.1 201 Created\r\ncontent-length: 90\r\n\r\n"), false, carried_out)
        .await;
    let endless =
        vec![Step::Read, send("HTTP/1.1 201 Created\r\n\r\n"), Step::Flood("xxxxxxxxxxxxxxxx")];
    check("write", endless, false, carried_out).await;
    let torn = vec![
        Step::Read,
        send("HTTP/1.1 201 Created\r\ncontent-length: 90\r\n\r\n{"),
        Step::Wait(30),
        Step::Reset,
    ];
    check("write", torn, false, carried_out).await;
}

/// The bytes after a reply are nobody's: the next call must not take them for its own.
#[tokio::test]
async fn what_follows_a_reply_is_never_taken_for_the_next_one() {
    let planted = "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"planted\":1}";
    for head in
        ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"]
    {
        let first = vec![Step::Read, send(&format!("{head}{planted}")), Step::Wait(200)];
        let good = vec![Step::Read, respond("200 OK", JSON, r#"{"own":1}"#)];
        let raw = Raw::serve(vec![first, good]).await;
        let server = serve(&workspace(""), &raw, |builder| builder).await;
        let client = Client::connect(server.address, Era::Modern).await;
        client.call("read", json!({})).await;
        let second = client.call("read", json!({})).await;
        assert_eq!(second["structuredContent"], json!({"own": 1}), "{second}");
    }
}

#[tokio::test]
async fn a_hanging_upstream_does_not_touch_another() {
    let hanging = Raw::serve(vec![vec![Step::Read, Step::Wait(20_000)]]).await;
    let workspace = workspace(&format!("upstream: {}\nmax_in_flight: 2", hanging.origin));
    let quick = Recorder::json("{}").listen().await;
    workspace.write("two.yaml", &DOCUMENT.replace("read", "other").replace("write", "more"));
    let two = format!("document: ../two.yaml\nupstream: http://{quick}\ntools: [other]\n");
    workspace.write("allowlists/two.yaml", &two);
    workspace.write(
        "allowlists/api.yaml",
        &format!("document: ../openapi.yaml\n{}", workspace.read("allowlists/api.yaml")),
    );
    let gateway = toolgate::Gateway::builder().allowlists(workspace.path("allowlists"));
    let server = Server::start(gateway.start().unwrap()).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let hangs: Vec<_> = (0..2)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call("read", json!({})).await })
        })
        .collect();
    eventually("both calls", || async { (hanging.requests().len() == 2).then_some(()) }).await;
    let over = client.call("read", json!({})).await;
    assert!(text(&over).contains("the limit of 2 calls at once to this upstream"), "{over}");
    assert_eq!(client.call("other", json!({})).await["structuredContent"], json!({}));
    hangs.iter().for_each(tokio::task::JoinHandle::abort);
    // Both callers left, so their places are free again.
    eventually("a free place", || async {
        let call = tokio::time::timeout(Duration::from_millis(300), client.call("read", json!({})));
        call.await.is_err().then_some(())
    })
    .await;
}

#[tokio::test]
async fn connecting_and_the_first_byte_have_times_of_their_own() {
    let limits = |text: &str| {
        let mut limits = Limits::default();
        limits.set(text).unwrap();
        limits
    };
    let silent = Raw::serve(vec![vec![Step::Read, Step::Wait(20_000)]]).await;
    let workspace = workspace("");
    let server =
        serve(&workspace, &silent, |builder| builder.limits(limits("first-byte-time=300ms"))).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let read = client.call("read", json!({})).await;
    assert_eq!(
        text(&read),
        "the upstream did not begin to answer within 0.3 s, the `first-byte-time` limit"
    );
    assert!(text(&client.call("write", json!({})).await).contains("may have been carried out"));
    // A body may take longer than the first byte.
    let slow = vec![
        Step::Read,
        send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"),
        Step::Wait(600),
        send("{}"),
    ];
    let slow = Raw::serve(vec![slow]).await;
    let server =
        serve(&workspace, &slow, |builder| builder.limits(limits("first-byte-time=300ms"))).await;
    let client = Client::connect(server.address, Era::Modern).await;
    assert_eq!(client.call("read", json!({})).await["structuredContent"], json!({}));
    // A connection that is used again was made long ago, and its reply may take its time.
    let reply = || respond("200 OK", JSON, "{}");
    let kept = vec![Step::Read, reply(), Step::Read, Step::Wait(800), reply()];
    let kept = Raw::serve(vec![kept]).await;
    let quick = |builder: Builder| builder.limits(limits("connect-time=300ms"));
    let server = serve(&workspace, &kept, quick).await;
    let client = Client::connect(server.address, Era::Modern).await;
    for _ in 0..2 {
        assert_eq!(client.call("read", json!({})).await["structuredContent"], json!({}));
    }
    assert_eq!(kept.n_connections(), 1);
    // It takes the connection and never says a word of TLS.
    let mute = Raw::serve(vec![vec![Step::Wait(20_000)]]).await;
    let https = mute.origin.replace("http:", "https:");
    let gateway = workspace.builder().upstream(https).limits(limits("connect-time=300ms"));
    let server = Server::start(gateway.start().unwrap()).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let write = client.call("write", json!({})).await;
    assert!(text(&write).ends_with("no connection in time; the call was not made"), "{write}");
}

#[tokio::test]
async fn a_private_authority_is_trusted_when_its_file_is_named() {
    let authority = Authority::new();
    let script = vec![Step::Read, respond("200 OK", JSON, r#"{"a":1}"#)];
    let good = Raw::serve_tls(vec![script.clone()], authority.server("localhost")).await;
    let other_name = Raw::serve_tls(vec![script.clone()], authority.server("other.test")).await;
    let workspace = workspace("");
    workspace.write("ca.pem", &format!("# ours\n{}", authority.pem()));
    workspace.write("stranger.pem", &Authority::new().pem());
    let (own, pem) = self_signed("localhost");
    workspace.write("own.pem", &pem);
    let call = async |raw: &Raw, ca: Option<&str>| {
        let trusting = |builder: Builder| match ca {
            Some(ca) => builder.ca_file(workspace.path(ca)),
            None => builder,
        };
        let server = serve(&workspace, raw, trusting).await;
        Client::connect(server.address, Era::Modern).await.call("read", json!({})).await
    };
    assert_eq!(call(&good, Some("ca.pem")).await["structuredContent"], json!({"a": 1}));
    let own = Raw::serve_tls(vec![script], own).await;
    assert_eq!(call(&own, Some("own.pem")).await["structuredContent"], json!({"a": 1}));
    assert!(text(&call(&own, None).await).contains("`--ca-file FILE` makes toolgate trust"));
    for (raw, ca) in [(&good, None), (&good, Some("stranger.pem")), (&other_name, Some("ca.pem"))] {
        let refused = call(raw, ca).await;
        assert!(text(&refused).contains("TLS failed ("), "{ca:?}: {refused}");
        assert!(text(&refused).ends_with("the call was not made"), "{refused}");
    }
    assert_eq!((good.requests().len(), other_name.requests().len()), (1, 0));
    let fault = workspace.builder().ca_file(workspace.path("openapi.yaml")).start().unwrap_err();
    assert!(fault.to_string().contains("openapi.yaml: error: holds no certificate"), "{fault}");
}

#[tokio::test]
async fn a_document_behind_a_private_authority_is_fetched() {
    let authority = Authority::new();
    let script = [Step::Read, respond("200 OK", JSON, DOCUMENT)];
    let raw = Raw::serve_tls(vec![script.to_vec()], authority.server("localhost")).await;
    let workspace = workspace("");
    workspace.write("ca.pem", &authority.pem());
    let url = format!("{}/openapi.json", raw.origin);
    let builder = || toolgate::Gateway::builder().document(&url).allow("read");
    let start = |builder: Builder| tokio::task::spawn_blocking(move || builder.start());
    let gateway = start(builder().ca_file(workspace.path("ca.pem"))).await.unwrap().unwrap();
    assert_eq!(gateway.snapshot().unwrap().tools().count(), 1);
    let fault = start(builder()).await.unwrap().unwrap_err();
    assert!(fault.to_string().contains("cannot be fetched"), "{fault}");
}

#[tokio::test]
async fn the_callers_trace_reaches_the_upstream() {
    const IN_META: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const IN_HEADER: &str = "00-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-00";
    let recorder = Recorder::json("{}");
    let server = workspace("forward: []").serve(&recorder).await;
    let headers = [("traceparent", IN_HEADER), ("tracestate", "h=1"), ("baggage", "b=1")];
    for era in Era::ALL {
        let client = Client::connect_with(server.address, era, &headers).await;
        client.call("read", json!({})).await;
        let seen = recorder.take();
        assert_eq!(
            (seen.header("traceparent"), seen.header("tracestate")),
            (Some(IN_HEADER), Some("h=1"))
        );
        assert_eq!(seen.header("baggage"), None);
        let meta = json!({"traceparent": IN_META, "tracestate": "m=1"});
        client.request("tools/call", json!({"name": "read", "arguments": {}, "_meta": meta})).await;
        let seen = recorder.take();
        assert_eq!(
            (seen.header("traceparent"), seen.header("tracestate")),
            (Some(IN_META), Some("m=1"))
        );
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_at_the_upstream() {
    for era in Era::ALL {
        let raw = Raw::serve(vec![vec![Step::Read, Step::Closed]]).await;
        let server = serve(&workspace(""), &raw, |builder| builder).await;
        let client = Client::connect(server.address, era).await;
        let caller = client.clone();
        let call =
            tokio::spawn(
                async move { caller.request("tools/call", json!({"name": "read"})).await },
            );
        eventually("the call", || async { (!raw.requests().is_empty()).then_some(()) }).await;
        match era {
            Era::Modern => call.abort(),
            Era::Legacy(_) => {
                let params = json!({"requestId": client.last_id(), "reason": "enough"});
                client.notify("notifications/cancelled", params).await;
            }
        }
        raw.until_closed().await;
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_over_lines_ends_at_the_upstream() {
    let raw = Raw::serve(vec![vec![Step::Read, Step::Closed]]).await;
    let gateway = Arc::new(workspace("").builder().upstream(&raw.origin).start().unwrap());
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    let serving = Arc::clone(&gateway);
    tokio::spawn(async move { serving.serve_lines(input, output, None).await });
    let (reader, mut writer) = tokio::io::split(ours);
    let mut lines = BufReader::new(reader).lines();
    let mut say = async |message: Value| {
        writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "0"}});
    say(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await;
    lines.next_line().await.unwrap();
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read"}}))
        .await;
    eventually("the call", || async { (!raw.requests().is_empty()).then_some(()) }).await;
    say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
        .await;
    raw.until_closed().await;
}

/// Served to the network, as flags would have it, without really listening there.
fn open_to_all(workspace: &Workspace, token_file: Option<&str>) -> Builder {
    let http = Http {
        listen: "0.0.0.0:0".parse().unwrap(),
        token_file: token_file.map(|name| workspace.path(name)),
        ..Http::default()
    };
    let inputs = Inputs::new(Policy::Strict);
    Builder::from(Config {
        inputs,
        serving: Serving::Http(http),
        watch: true,
        quiet: Duration::from_millis(100),
    })
    .quiet(Duration::from_millis(20))
    .document(workspace.path("openapi.yaml"))
    .allowlists(workspace.path("allowlists"))
    .upstream("http://127.0.0.1:1")
}

#[tokio::test]
async fn an_operators_credential_is_not_lent_to_whoever_reaches_the_address() {
    let secret = "headers: { X-Key: 'k ${file:key}' }";
    let workspace = workspace(secret);
    workspace.write("allowlists/key", "s3cret-key");
    workspace.write("token", "for-callers");
    let fault = open_to_all(&workspace, None).start().unwrap_err().to_string();
    for words in ["allowlists/api.yaml:1:", "`x-key`", "--inbound-token-file", "--listen 127.0.0.1"]
    {
        assert!(fault.contains(words), "{words}: {fault}");
    }
    assert!(!fault.contains("s3cret"), "{fault}");
    assert!(open_to_all(&workspace, Some("token")).start().is_ok());
    assert_eq!(Serving::Http(Http::default()).audience(), Audience::Known);

    // The same by an edit while it runs.
    workspace.write("allowlists/api.yaml", TOOLS);
    let gateway = open_to_all(&workspace, None).start().unwrap();
    workspace
        .replace("allowlists/api.yaml", &format!("{secret}\n{}", TOOLS.replace("  - write\n", "")));
    let refused = eventually("the refusal", || async {
        let served = gateway.snapshot()?.toolsets()[0].clone();
        let status = format!("{:?}", gateway.status().failure);
        assert_eq!(served.toolset.tools.len(), 2);
        assert!(served.toolset.target.headers.is_empty());
        status.contains("--inbound-token-file").then_some(status)
    })
    .await;
    assert!(!refused.contains("s3cret"), "{refused}");
}

#[tokio::test]
async fn callers_show_the_token_and_no_upstream_sees_it() {
    let recorder = Recorder::json("{}");
    let workspace = workspace("headers: { X-Key: '${file:key}' }");
    workspace.write("allowlists/key", "s3cret-key");
    workspace.write("token", "for-callers\n");
    let origin = format!("http://{}", recorder.listen().await);
    let builder = workspace.builder().upstream(origin).inbound_token_file(workspace.path("token"));
    let server = Server::start(builder.start().unwrap()).await;
    for era in Era::ALL {
        let right = [("authorization", "Bearer for-callers")];
        let client = Client::connect_with(server.address, era, &right).await;
        assert_eq!(client.list().await.len(), 2);
        client.call("read", json!({})).await;
        let seen = recorder.take();
        assert_eq!(
            (seen.header("authorization"), seen.header("x-key")),
            (None, Some("s3cret-key"))
        );
    }
    for token in
        ["", "Bearer for-caller", "Bearer for-callers2", "Basic for-callers", "Bearer s3cret-key"]
    {
        for verb in ["GET", "POST", "DELETE", "PUT"] {
            let (status, headers, body) =
                Client::bare(server.address, verb, &[("authorization", token)]).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{verb} {token}: {body}");
            assert_eq!(headers["www-authenticate"], "Bearer");
            assert!(body.contains("Bearer TOKEN") && !body.contains("for-callers"), "{body}");
        }
    }
    assert_eq!(Client::bare(server.address, "OPTIONS", &[]).await.0, StatusCode::NO_CONTENT);
    workspace.replace("token", "another-one");
    let old = [("authorization", "Bearer for-callers")];
    assert_eq!(Client::bare(server.address, "POST", &old).await.0, StatusCode::UNAUTHORIZED);
    let new = [("authorization", "Bearer another-one")];
    let client = Client::connect_with(server.address, Era::Modern, &new).await;
    assert_eq!(client.names().await, ["read", "write"]);
    workspace.write("allowlists/api.yaml", &format!("forward: [authorization]\n{TOOLS}"));
    let builder =
        workspace.builder().upstream("http://a").inbound_token_file(workspace.path("token"));
    let fault = builder.start().unwrap_err().to_string();
    assert!(fault.contains("`authorization` cannot be forwarded"), "{fault}");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Everything this thread logs, down to the finest.
fn log_everything() -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}

const CALLER: &str = "alice:0pen/ses+ame";
const OPERATOR: &str = "0perat0r&key";

/// Every form in which a server may repeat a credential.
fn forms() -> Vec<String> {
    let basic = STANDARD.encode(CALLER);
    let forms = [
        basic.clone(),
        format!("Basic {basic}"),
        CALLER.into(),
        "0pen/ses+ame".into(),
        "0pen%2Fses%2Bame".into(),
        r"0pen\/ses+ame".into(),
        OPERATOR.into(),
        "0perat0r&amp;key".into(),
        "0perat0r%26key".into(),
        STANDARD.encode(OPERATOR),
        STANDARD.encode(format!("key={OPERATOR}")),
    ];
    forms.into()
}

/// A reply that repeats `form` wherever it has a place for words.
fn planted(status: &str, media_type: &str, form: &str) -> Step {
    let body = match media_type {
        "application/json" => {
            json!({"message": form, form: [{"deep": format!("a {form} b")}]}).to_string()
        }
        "text/html" => format!("<html><title>{form}</title>{form}</html>"),
        "image/png" => format!("\u{0}{form}"),
        _ => format!("you sent {form}!"),
    };
    let host: String = form.chars().filter(char::is_ascii_alphanumeric).collect();
    let headers = format!(
        "content-type: {media_type}; charset={form}\r\nx-echo: {form}\r\nlocation: http://{host}.test/{form}\r\nretry-after: {form}\r\nwww-authenticate: {form}\r\n"
    );
    respond(&format!("{status} {form}"), &headers, body)
}

/// None of these is in any form.
fn holds_a_secret(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    forms().into_iter().find(|form| lower.contains(&form.to_lowercase()))
}

#[tokio::test]
async fn planted_credentials_come_back_in_no_form_and_nowhere() {
    let (log, _guard) = log_everything();
    let basic = format!("Basic {}", STANDARD.encode(CALLER));
    let workspace = workspace("headers: { X-Key: '${file:key}' }\nforward: [authorization]");
    workspace.write("allowlists/key", OPERATOR);
    for status in ["200", "302", "401", "422", "429", "503"] {
        for media_type in ["application/json", "text/plain", "text/html", "image/png", "x/y"] {
            let script = |form: &String| vec![Step::Read, planted(status, media_type, form)];
            let raw = Raw::serve(forms().iter().map(script).collect()).await;
            let server = serve(&workspace, &raw, |builder| builder).await;
            let headers = [("authorization", basic.as_str())];
            let client = Client::connect_with(server.address, Era::Modern, &headers).await;
            for form in forms() {
                let result = client.call("read", json!({})).await.to_string();
                assert_eq!(holds_a_secret(&result), None, "{status} {media_type} {form}: {result}");
            }
            assert!(raw.requests().iter().all(|request| request.contains(OPERATOR)));
        }
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.len() > 1_000, "the log was kept");
    for line in log.lines() {
        assert_eq!(holds_a_secret(line), None, "{line}");
    }
}

/// An upstream that refuses a long body by its head alone closes while the rest is still being sent.
#[tokio::test]
async fn a_refusal_that_comes_before_the_whole_body_was_sent_is_heard() {
    let document = DOCUMENT.replace(
        r#""operationId":"write","#,
        r#""operationId":"write","requestBody":{"content":{"text/plain":{"schema":{"type":"string"}}}},"#,
    );
    let early = vec![
        Step::Wait(50),
        send(
            "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 8\r\nconnection: close\r\n\r\ntoo long",
        ),
        Step::Wait(200),
    ];
    let raw = Raw::serve(vec![early]).await;
    let workspace = Workspace::new(&document, "tools: [write]\n");
    let mut limits = Limits::default();
    limits.set("argument-string=16MiB").unwrap();
    limits.set("request-body=16MiB").unwrap();
    let server = serve(&workspace, &raw, |builder| builder.limits(limits)).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let result = client.call("write", json!({"body": "x".repeat(8 << 20)})).await;
    assert_eq!(text(&result), "413 Payload Too Large: too long");
}
