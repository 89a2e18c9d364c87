//! Whole calls against upstreams that behave and upstreams that do not.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::{Duration, Instant as Clock},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header::AUTHORIZATION};
use http_body_util::StreamBody;
use serde_json::json;

use super::{
    raw::{JSON, Raw, Step, respond, send},
    request::tests::{arguments, field, plan, target},
    *,
};
use crate::registry::plan::{BodyMedia, BodyPlan};

/// 256 KiB of zeros in 289 bytes.
const BOMB: &str = "H4sIAAAAAAACA+3BMQEAAADCoPVP7W0HoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA3gAi6g7iAAAEAA==";

fn caller() -> Caller {
    Caller::new(&Limits::default(), None)
}

fn patient(method: Method) -> Plan {
    let reads = method == Method::GET || method == Method::HEAD;
    Plan { method, reads, timeout: Duration::from_secs(20), ..plan() }
}

/// For calls that are meant to time out.
fn quick(method: Method) -> Plan {
    Plan { timeout: Duration::from_millis(300), ..patient(method) }
}

fn bearer(token: &str, target: &Target) -> CallerAuth {
    let value = authorization(token).unwrap();
    CallerAuth::of(&HeaderMap::from_iter([(AUTHORIZATION, value)]), target)
}

async fn call(caller: &Caller, plan: &Plan, origin: &str) -> Answer {
    let target = target(origin);
    let auth = bearer("t0ken-t0ken", &target);
    caller.call(&target, plan, &arguments(json!({"memo": "abc"})), &auth, |_| {}).await
}

/// The first text of an answer.
fn said(answer: &Answer) -> &str {
    match answer.content.first() {
        Some(Content::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// One call against an upstream with that script.
async fn check_call(plan: Plan, script: Vec<Step>, is_error: bool, expected: &str) {
    let raw = Raw::serve(vec![script]).await;
    let answer = call(&caller(), &plan, &raw.origin).await;
    assert_eq!(said(&answer), expected);
    assert_eq!(answer.is_error, is_error);
    assert_eq!(answer.structured.is_none(), is_error);
}

async fn check_script(method: Method, script: Vec<Step>, is_error: bool, expected: &str) {
    check_call(patient(method), script, is_error, expected).await;
}

async fn check_slow(method: Method, script: Vec<Step>, is_error: bool, expected: &str) {
    check_call(quick(method), script, is_error, expected).await;
}

#[tokio::test]
async fn the_wire_shows_exactly_one_plain_request() {
    let raw = Raw::answering(respond("200 OK", JSON, "{}")).await;
    let media = BodyMedia::Json(HeaderValue::from_static("application/json"));
    let body =
        BodyPlan::Fields { fields: vec![field("content")], media, required: true, extra: false };
    let plan = Plan { method: Method::POST, body, reads: false, ..plan() };
    let mut target = target(&raw.origin);
    target.headers = vec![("x-key".parse().unwrap(), HeaderValue::from_static("k"))];
    let auth = bearer("abc", &target);
    let given = arguments(json!({"memo": "a b", "page": 2, "content": "ü"}));
    let answer = caller().call(&target, &plan, &given, &auth, |_| {}).await;
    assert_eq!(answer.structured.as_deref(), Some("{}"));
    let host = raw.origin.strip_prefix("http://").unwrap();
    let expected = format!(
        "POST /memos/a%20b?page=2 HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, */*;q=0.5\r\nuser-agent: toolgate/{}\r\nauthorization: Bearer abc\r\nx-key: k\r\naccept-encoding: gzip,deflate,br\r\nhost: {host}\r\ncontent-length: 16\r\n\r\n{{\"content\":\"ü\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(raw.requests(), [expected]);
}

#[tokio::test]
async fn arguments_that_cannot_be_sent_make_no_request() {
    let raw = Raw::answering(respond("200 OK", JSON, "{}")).await;
    let target = target(&raw.origin);
    let given = arguments(json!({"memo": ".."}));
    let answer = caller().call(&target, &plan(), &given, &CallerAuth::default(), |_| {}).await;
    assert_eq!(said(&answer), "the arguments were refused:\n- `memo`: `..` is no part of a path");
    assert!(answer.is_error && raw.n_connections() == 0);
}

#[tokio::test]
async fn a_silent_upstream_times_out_and_a_write_is_left_open() {
    let silent = || vec![Step::Read, Step::Wait(5_000)];
    let text = "the upstream did not answer within 0.3 s, the time limit of this tool";
    check_slow(Method::GET, silent(), true, text).await;
    let text = format!("{text}; it may have been carried out, so check before you repeat it");
    check_slow(Method::POST, silent(), true, &text).await;
    check_slow(Method::PUT, silent(), true, &text).await;
}

#[tokio::test]
async fn a_dripping_head_times_out() {
    let mut drip = vec![Step::Read];
    for letter in "HTTP/1.1 200 OK\r\n".chars() {
        drip.extend([send(&letter.to_string()), Step::Wait(50)]);
    }
    let text = "the upstream did not answer within 0.3 s, the time limit of this tool";
    check_slow(Method::GET, drip, true, text).await;
}

#[tokio::test]
async fn a_dripping_body_times_out() {
    let drip = || {
        let mut drip = vec![Step::Read, send("HTTP/1.1 201 Created\r\ncontent-length: 90\r\n\r\n")];
        drip.extend((0..90).flat_map(|_| [send("x"), Step::Wait(50)]));
        drip
    };
    let text = "the reply was not complete within 0.3 s; narrow it with `page`";
    check_slow(Method::GET, drip(), true, text).await;
    let text = "201 Created, carried out; the reply was not complete within 0.3 s and is left out. Do not repeat.";
    check_slow(Method::POST, drip(), false, text).await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_reply() {
    let short = || vec![Step::Read, send("HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"a\":1}")];
    let reset = || {
        vec![
            Step::Read,
            send("HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"a\":1}"),
            Step::Wait(30),
            Step::Reset,
        ]
    };
    let chunk =
        || vec![Step::Read, send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab")];
    for script in [short(), reset(), chunk()] {
        check_script(Method::GET, script, true, "the reply broke off").await;
    }
    let text = "200 OK, carried out; the reply broke off and is left out. Do not repeat.";
    for script in [short(), reset(), chunk()] {
        check_script(Method::POST, script, false, text).await;
    }
}

#[tokio::test]
async fn endless_replies_end_at_the_limit() {
    let endless = |content_type: &str| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n");
        vec![Step::Read, send(&head), Step::Flood("data: 12345\n\n")]
    };
    let text = "the reply was over 128 KiB; narrow it with `page`";
    check_script(Method::GET, endless("application/json"), true, text).await;
    let text = "200 OK, carried out; the reply was over 128 KiB and is left out. Do not repeat.";
    check_script(Method::PATCH, endless("application/json"), false, text).await;
    let raw = Raw::serve(vec![endless("text/event-stream")]).await;
    let answer = call(&caller(), &plan(), &raw.origin).await;
    assert!(!answer.is_error && said(&answer).starts_with("data: 12345\n"));
    assert_eq!(
        answer.content.last(),
        Some(&Content::Text("(note: the stream was ended after 128 KiB)".into()))
    );
}

#[tokio::test]
async fn packed_replies_are_unpacked_up_to_the_limit() {
    for (encoding, packed) in [
        ("gzip", "H4sIAAAAAAACA6tWSlSyMqwFAK+sG1YHAAAA"),
        ("deflate", "eNqrVkpUsjKsBQAIKgIJ"),
        ("br", "CwOAeyJhIjoxfQM="),
    ] {
        let headers = format!("{JSON}content-encoding: {encoding}\r\n");
        let step = respond("200 OK", &headers, STANDARD.decode(packed).unwrap());
        check_script(Method::GET, vec![Step::Read, step], false, r#"{"a":1}"#).await;
    }
    let headers = format!("{JSON}content-encoding: gzip\r\n");
    let bomb = respond("200 OK", &headers, STANDARD.decode(BOMB).unwrap());
    let text = "the reply was over 128 KiB; narrow it with `page`";
    check_script(Method::GET, vec![Step::Read, bomb], true, text).await;
    let torn = respond("200 OK", &headers, "\u{1f}nonsense");
    check_script(Method::GET, vec![Step::Read, torn], true, "the reply broke off").await;
    let empty = respond("200 OK", &headers, "");
    check_script(Method::GET, vec![Step::Read, empty], false, r#"{"ok":true}"#).await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Raw::answering(respond("200 OK", JSON, "{}")).await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let location = format!("location: {}/memos?token=1\r\n", other.origin);
        let text = format!("{status}: it points to `{}`; redirects are not followed", other.origin);
        let script = vec![Step::Read, respond(status, &location, "")];
        check_script(Method::GET, script, true, &text).await;
    }
    assert_eq!(other.n_connections(), 0);
}

#[tokio::test]
async fn interim_responses_are_passed_over() {
    let interim = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    let script = vec![Step::Read, send(interim), respond("200 OK", JSON, "{}")];
    check_script(Method::GET, script, false, "{}").await;
}

/// Sends interim responses until nobody takes them any more.
fn endless_interim_responses() -> (String, std::thread::JoinHandle<()>) {
    use std::io::{Read, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let sending = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let some = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(1000);
        while stream.write_all(some.as_bytes()).is_ok() {}
    });
    (origin, sending)
}

/// On one thread, which the connection must not keep.
#[tokio::test]
async fn endless_interim_responses_time_out_and_end() {
    let (origin, sending) = endless_interim_responses();
    let answer = call(&caller(), &quick(Method::POST), &origin).await;
    let text = "the upstream did not answer within 0.3 s, the time limit of this tool; it may have been carried out, so check before you repeat it";
    assert_eq!(said(&answer), text);
    tokio::task::spawn_blocking(|| sending.join()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_head_has_no_body() {
    let script = || {
        vec![
            Step::Read,
            send("HTTP/1.1 200 OK\r\ncontent-length: 90\r\ncontent-encoding: gzip\r\n\r\n"),
            Step::Wait(5_000),
        ]
    };
    check_script(Method::HEAD, script(), false, r#"{"ok":true}"#).await;
}

#[tokio::test]
async fn connections_are_kept_and_used_again() {
    let one = [Step::Read, respond("200 OK", JSON, "{}")];
    let raw = Raw::serve(vec![vec![one; 3].concat()]).await;
    let caller = caller();
    for _ in 0..3 {
        assert_eq!(said(&call(&caller, &patient(Method::GET), &raw.origin).await), "{}");
    }
    assert_eq!((raw.n_connections(), raw.requests().len()), (1, 3));
}

/// The second request on a connection meets a close without an answer; then all is well.
async fn second_call_on_a_closed_connection(method: Method, cut: Vec<Step>) -> (Answer, Raw) {
    let body = if method == Method::HEAD { "" } else { "{}" };
    let good = vec![Step::Read, respond("200 OK", JSON, body)];
    let first = [good.clone(), vec![Step::Read], cut].concat();
    let raw = Raw::serve(vec![first, good]).await;
    let caller = caller();
    assert!(!call(&caller, &patient(method.clone()), &raw.origin).await.is_error);
    (call(&caller, &patient(method), &raw.origin).await, raw)
}

#[tokio::test]
async fn a_request_without_any_answer_is_sent_once_more_where_that_is_safe() {
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE] {
        for cut in [vec![], vec![Step::Reset]] {
            let (answer, raw) = second_call_on_a_closed_connection(method.clone(), cut).await;
            assert!(!answer.is_error, "{method} {answer:?}");
            assert_eq!((raw.n_connections(), raw.requests().len()), (2, 3), "{method}");
        }
    }
}

#[tokio::test]
async fn other_methods_are_never_repeated() {
    for method in [Method::POST, Method::PATCH] {
        let (answer, raw) = second_call_on_a_closed_connection(method.clone(), vec![]).await;
        let text = "the connection to the upstream broke before its reply; it may have been carried out, so check before you repeat it";
        assert_eq!(said(&answer), text, "{method}");
        assert_eq!((raw.n_connections(), raw.requests().len()), (1, 2), "{method}");
    }
}

#[tokio::test]
async fn nothing_is_repeated_once_a_byte_was_heard() {
    for heard in ["H", "HTTP/1.1 200 OK\r\ncontent-le", "HTTP/1.1 100 Continue\r\n\r\n"] {
        let (answer, raw) =
            second_call_on_a_closed_connection(Method::GET, vec![send(heard)]).await;
        assert_eq!(said(&answer), "the connection to the upstream broke before its reply");
        assert_eq!((raw.n_connections(), raw.requests().len()), (1, 2), "{heard}");
    }
}

#[tokio::test]
async fn a_request_is_repeated_once_only() {
    let raw = Raw::serve(vec![vec![Step::Read]]).await;
    let answer = call(&caller(), &patient(Method::GET), &raw.origin).await;
    assert_eq!(said(&answer), "the connection to the upstream broke before its reply");
    assert_eq!(raw.requests().len(), 2);
}

#[tokio::test]
async fn connections_closed_while_idle_cost_nothing() {
    let raw = Raw::answering(respond("200 OK", JSON, "{}")).await;
    let caller = caller();
    for _ in 0..3 {
        let answer = call(&caller, &patient(Method::POST), &raw.origin).await;
        assert!(!answer.is_error, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((raw.n_connections(), raw.requests().len()), (3, 3));
}

#[tokio::test]
async fn an_upstream_that_is_away_says_that_nothing_was_done() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let answer = call(&caller(), &patient(Method::POST), &origin).await;
    let text = format!("cannot connect to `{origin}`: connection refused; the call was not made");
    assert_eq!(answer, Answer::error(text));
}

#[tokio::test]
async fn a_name_that_cannot_be_resolved_says_so() {
    // Too long for a label, so that no resolver is asked.
    let origin = format!("http://{}.test", "a".repeat(70));
    let answer = call(&caller(), &patient(Method::POST), &origin).await;
    let text = "the host name cannot be resolved; the call was not made";
    assert_eq!(said(&answer), format!("cannot connect to `{origin}`: {text}"));
}

#[tokio::test]
async fn an_upstream_without_tls_says_so() {
    let raw = Raw::serve(vec![vec![send("220 mail ready\r\n"), Step::Wait(500)]]).await;
    let origin = raw.origin.replace("http:", "https:");
    let answer = call(&caller(), &patient(Method::GET), &origin).await;
    assert!(
        said(&answer).starts_with(&format!("cannot connect to `{origin}`: TLS failed (")),
        "{answer:?}"
    );
    assert!(said(&answer).ends_with("; the call was not made"));
}

#[tokio::test]
async fn a_reply_that_is_not_http_says_so() {
    let script = vec![Step::Read, send("220 mail ready\r\n\r\n"), Step::Wait(500)];
    check_script(Method::GET, script, true, "the upstream's reply is not valid HTTP").await;
}

#[tokio::test]
async fn calls_over_the_bound_are_refused_at_once() {
    let raw = Raw::serve(vec![vec![Step::Read, Step::Wait(5_000)]]).await;
    let (caller, plan) = (caller(), quick(Method::GET));
    let target = Target { max_in_flight: 1, ..target(&raw.origin) };
    let (given, auth) = (arguments(json!({"memo": "a"})), CallerAuth::default());
    let first = caller.call(&target, &plan, &given, &auth, |_| {});
    let second = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let begun = Clock::now();
        let answer = caller.call(&target, &plan, &given, &auth, |_| {}).await;
        (answer, begun.elapsed())
    };
    let (_, (answer, waited)) = tokio::join!(first, second);
    assert_eq!(
        said(&answer),
        "busy: the limit of 1 calls at once to this upstream is reached; try again in a moment"
    );
    assert!(waited < Duration::from_millis(100));
    let third = caller.call(&target, &plan, &given, &auth, |_| {}).await;
    assert!(said(&third).starts_with("the upstream did not answer"), "the place is free again");
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection() {
    let raw = Raw::serve(vec![vec![Step::Read, Step::Closed]]).await;
    let caller = caller();
    let plan = Plan { timeout: Duration::from_secs(30), ..plan() };
    let call = call(&caller, &plan, &raw.origin);
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    raw.until_closed().await;
    assert_eq!(raw.requests().len(), 1);
}

#[tokio::test]
async fn tokens_of_interleaved_callers_never_mix() {
    let one = [Step::Read, Step::Wait(1), respond("200 OK", JSON, "{}")];
    let (first, second) = (
        Raw::serve(vec![vec![one.clone(); 20].concat()]).await,
        Raw::serve(vec![vec![one.clone(); 20].concat()]).await,
    );
    let (caller, plan) = (caller(), plan());
    let calls = (0..60).map(|n| {
        let (caller, plan) = (&caller, &plan);
        let origin = if n % 3 == 0 { &second.origin } else { &first.origin };
        async move {
            let target = target(origin);
            let auth = bearer(&format!("token-of-{n}"), &target);
            let given = arguments(json!({ "memo": format!("memo-of-{n}") }));
            caller.call(&target, plan, &given, &auth, |_| {}).await
        }
    });
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| !answer.is_error));
    let of = |request: &str, before: &str| {
        let rest = request.split(before).nth(1).unwrap();
        rest.chars().take_while(char::is_ascii_digit).collect::<String>()
    };
    let mut n_seen = 0;
    for (raw, is_second) in [(&first, false), (&second, true)] {
        for request in raw.requests() {
            let n = of(&request, "memo-of-");
            assert_eq!(n, of(&request, "Bearer token-of-"));
            assert_eq!(n.parse::<usize>().unwrap() % 3 == 0, is_second);
            n_seen += 1;
        }
    }
    assert_eq!(n_seen, 60);
}

#[tokio::test]
async fn planted_credentials_stand_in_no_answer() {
    const TOKEN: &str = "s3cr3t-t0ken+/=";
    for status in ["200 OK", "400 Bad Request", "401 Unauthorized", "500 Oops"] {
        for content_type in ["application/json", "text/plain", "text/html", "application/xml", ""] {
            let raw = Raw::answering(Step::Echo(status, content_type)).await;
            let mut target = target(&raw.origin);
            target.headers =
                vec![("x-key".parse().unwrap(), HeaderValue::from_static("0perat0r-key"))];
            let auth = bearer(TOKEN, &target);
            let answer = caller()
                .call(&target, &plan(), &arguments(json!({"memo": "a"})), &auth, |_| {})
                .await;
            let shown = format!("{answer:?} {target:?} {auth:?}");
            assert!(raw.requests().iter().all(|request| request.contains(TOKEN)));
            assert!(shown.contains("[redacted]"), "{shown}");
            assert!(!shown.contains("s3cr3t") && !shown.contains("0perat0r"), "{shown}");
        }
    }
}

#[tokio::test]
async fn progress_is_told_in_order() {
    let raw = Raw::answering(respond("200 OK", JSON, "{}")).await;
    let seen = Mutex::new(Vec::new());
    let target = target(&raw.origin);
    let (given, auth) = (arguments(json!({"memo": "a"})), CallerAuth::default());
    let tell = |progress| seen.lock().unwrap().push(progress);
    caller().call(&target, &plan(), &given, &auth, tell).await;
    assert_eq!(*seen.lock().unwrap(), [Progress::Sent, Progress::Headers, Progress::Complete]);
}

type Seen = Arc<Mutex<Vec<(http::request::Parts, Bytes)>>>;

/// A service that records what it gets and answers through `answer`.
fn recording<B>(
    seen: &Seen,
    answer: impl Fn() -> Response<B> + Clone + Send + Sync + 'static,
) -> Service
where
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let seen = Arc::clone(seen);
    Service::new(tower::service_fn(move |request: Request<Full<Bytes>>| {
        let (seen, answer) = (Arc::clone(&seen), answer.clone());
        async move {
            use http_body_util::BodyExt;
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap_or_else(|never| match never {}).to_bytes();
            seen.lock().unwrap().push((parts, body));
            Ok::<_, Infallible>(answer())
        }
    }))
}

async fn call_service(service: Service, plan: &Plan) -> Answer {
    let caller = Caller::new(&Limits::default(), Some(service));
    let target = Target { upstream: Upstream::Service, ..target("http://unused") };
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
    headers.insert("mcp-session-id", HeaderValue::from_static("s"));
    let auth = CallerAuth::of(&headers, &target);
    caller.call(&target, plan, &arguments(json!({"memo": "a/b", "page": 1})), &auth, |_| {}).await
}

#[tokio::test]
async fn a_service_sees_a_plain_local_request() {
    let seen = Seen::default();
    let service = recording(&seen, || Response::new(Full::from(r#"{"id": 9007199254740993}"#)));
    let answer = call_service(service, &plan()).await;
    assert_eq!(answer.structured.as_deref(), Some(r#"{"id":9007199254740993}"#));
    let seen = seen.lock().unwrap();
    let (parts, _) = seen.first().unwrap();
    assert_eq!(parts.uri, "/memos/a%2Fb?page=1");
    let names: Vec<_> = parts.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["accept", "user-agent", "authorization", "host"]);
    assert_eq!(parts.headers["host"], "localhost");
    assert!(parts.extensions.is_empty());
}

#[tokio::test]
async fn a_service_is_held_to_the_same_limits() {
    let large = recording(&Seen::default(), || Response::new(Full::from(vec![b' '; 200_000])));
    let answer = call_service(large, &plan()).await;
    assert_eq!(said(&answer), "the reply was over 128 KiB; narrow it with `page`");
    let endless = recording(&Seen::default(), || {
        let never = futures_util::stream::pending::<Result<http_body::Frame<Bytes>, Infallible>>();
        Response::builder().status(StatusCode::CREATED).body(StreamBody::new(never)).unwrap()
    });
    let answer = call_service(endless, &quick(Method::POST)).await;
    assert!(said(&answer).starts_with("201 Created, carried out; "), "{answer:?}");
    let silent = Service::new(tower::service_fn(|_: Request<Full<Bytes>>| {
        std::future::pending::<Result<Response<Full<Bytes>>, Infallible>>()
    }));
    let answer = call_service(silent, &quick(Method::GET)).await;
    assert!(said(&answer).starts_with("the upstream did not answer within 0.3 s"), "{answer:?}");
}

#[tokio::test]
async fn a_panic_in_a_service_is_an_error_with_a_number() {
    let panicking = recording::<Full<Bytes>>(&Seen::default(), || panic!("secret argument"));
    let caller = Caller::new(&Limits::default(), Some(panicking));
    let target = Target { upstream: Upstream::Service, ..target("http://unused") };
    let (given, auth) = (arguments(json!({"memo": "a"})), CallerAuth::default());
    for (number, method) in [(1, Method::GET), (2, Method::POST)] {
        let answer = caller.call(&target, &quick(method.clone()), &given, &auth, |_| {}).await;
        let text = format!(
            "the call failed inside the gateway; its log has the details under error number {number}"
        );
        let text = if method == Method::GET { text } else { format!("{text}; {UNSURE}") };
        assert_eq!(answer, Answer::error(text));
    }
}

#[tokio::test]
async fn a_panic_beside_a_call_has_a_number_of_the_same_row() {
    let (caller, plan) = (caller(), plan());
    for number in 1..3 {
        let panicking = caller.guard(&plan, async { panic!("told to panic") });
        let Err(answer): Result<(), _> = panicking.await else { panic!("no panic") };
        assert!(said(&answer).ends_with(&format!("error number {number}")), "{answer:?}");
        assert!(answer.is_error);
    }
    assert_eq!(caller.panics().load(Relaxed), 2);
    assert_eq!(caller.guard(&plan, async { 5 }).await, Ok(5));
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_log_tells_a_panic_by_its_number_without_what_the_call_was_about() {
    remember_places();
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let about = "memo-of-alice".to_owned();
    let formatted = recording::<Full<Bytes>>(&Seen::default(), move || panic!("no {about}"));
    call_service(formatted, &plan()).await;
    let fixed = recording::<Full<Bytes>>(&Seen::default(), || panic!("a fixed message"));
    call_service(fixed, &plan()).await;
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("number=1") && log.contains("/memos/{memo}"), "{log}");
    assert!(log.contains("a fixed message"), "{log}");
    assert_eq!(log.matches("src/upstream/tests.rs:").count(), 2, "{log}");
    assert!(!log.contains("alice") && !log.contains("abc"), "{log}");
}

#[tokio::test]
async fn a_service_that_fails_or_is_missing_is_an_error() {
    let failing = Service::new(tower::service_fn(|_: Request<Full<Bytes>>| async {
        Err::<Response<Full<Bytes>>, _>(std::io::Error::other("secret detail"))
    }));
    assert_eq!(said(&call_service(failing, &plan()).await), "the service failed without a reply");
    let target = Target { upstream: Upstream::Service, ..target("http://unused") };
    let (given, auth) = (arguments(json!({"memo": "a"})), CallerAuth::default());
    let answer = caller().call(&target, &plan(), &given, &auth, |_| {}).await;
    assert_eq!(
        said(&answer),
        "cannot connect to the service in this process: there is no service in this process; the call was not made"
    );
}

#[test]
fn a_call_can_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let (caller, plan, target) = (caller(), plan(), target("http://unused"));
    let (given, auth) = (arguments(json!({"memo": "a"})), CallerAuth::default());
    is_send(&caller.call(&target, &plan, &given, &auth, |_| {}));
}

#[test]
fn an_address_with_a_password_is_shown_without() {
    assert_eq!(place(&target("http://user:pass@api.test:81")), "`http://api.test:81`");
}

#[test]
fn many_faults_are_cut() {
    let fault = |n: usize| ArgumentFault { path: format!("a{n}"), words: "is wrong".into() };
    let answer = Answer::refused(&(0..25).map(fault).collect::<Vec<_>>());
    assert!(said(&answer).ends_with("- `a19`: is wrong\n- and 5 more"));
}
