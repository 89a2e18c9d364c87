//! The bench: an edge over a small API in this process, and every way in.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    net::TcpListener,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    allowlist,
    config::{Limits, Policy},
    mcp::{Bind, Edge, Origins, Settings, http::serve, router, serve_lines},
    openapi::{self, text::Text},
    registry::{
        self, Tool, Toolset,
        plan::{Target, Upstream},
    },
    snapshot::{
        Served, Snapshot,
        live::{Live, Status},
    },
    upstream::{Caller, Service},
};

/// A tool of this name.
pub(in crate::mcp) fn tool(name: &str) -> Arc<Tool> {
    Arc::clone(&toolset(&[name]).tools[0])
}

/// A snapshot of one toolset with these tools; `old_NAME` is an alias of each.
pub(in crate::mcp) fn snapshot(generation: u64, names: &[&str]) -> Snapshot {
    let toolset = Arc::new(toolset(names));
    let served = Served { toolset, digest: [0; 32], document: [0; 32], refused: Vec::new() };
    Snapshot::new(generation, vec![served], "How to use it.".into())
}

fn toolset(names: &[&str]) -> Toolset {
    let text = |file: &str, json: Value| Text::new(file, json.to_string().as_bytes()).unwrap();
    let paths: Map<String, Value> =
        names.iter().map(|name| (format!("/{name}"), operation(name))).collect();
    let document =
        json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths});
    let tools: Vec<Value> = names
        .iter()
        .map(|name| json!({"operation": name, "name": name, "aliases": [format!("old_{name}")]}))
        .collect();
    let allowlist = text("t.yaml", json!({ "tools": tools }));
    let target = Target {
        upstream: Upstream::Service,
        base_path: None,
        from: "test".into(),
        headers: Vec::new(),
        forward: vec![header::AUTHORIZATION],
        max_in_flight: 256,
    };
    let settings = registry::Settings {
        policy: Policy::Strict,
        limits: Limits::default(),
        target: Arc::new(target),
    };
    let api = Arc::new(openapi::parse(&text("t.json", document)).unwrap());
    let allowlist = allowlist::parse("t", &allowlist).unwrap();
    let mut toolset = registry::compile(&api, &allowlist, &settings).unwrap();
    for tool in &mut toolset.tools {
        let tool = Arc::get_mut(tool).unwrap();
        if tool.name.as_str() == "headed" {
            tool.listed["inputSchema"]["properties"]["id"]["x-mcp-header"] = json!("Id");
        }
    }
    toolset
}

fn operation(name: &str) -> Value {
    let parameter =
        |name: &str, schema: Value| json!({"name": name, "in": "query", "schema": schema});
    json!({"get": {
        "operationId": name,
        "summary": "Does it.",
        "parameters": [
            parameter("id", json!({"type": "integer"})),
            parameter("number", json!({"type": "number"})),
            parameter("sleep", json!({"type": "integer"})),
            parameter("error", json!({"type": "string"})),
            parameter("raw", json!({"type": "string"})),
            parameter("panic", json!({"type": "boolean"})),
        ],
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}},
    }})
}

/// An API that does what its query says and echoes the rest, with the credential it got.
async fn echo(request: Request<Body>) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let query: HashMap<String, String> =
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    if let Some(millis) = query.get("sleep") {
        tokio::time::sleep(Duration::from_millis(millis.parse().unwrap())).await;
    }
    assert!(!query.contains_key("panic"), "told to panic");
    if let Some(words) = query.get("error") {
        return (StatusCode::NOT_FOUND, json!({ "message": words }).to_string()).into_response();
    }
    let credential = request.headers().get(header::AUTHORIZATION);
    let body = query.get("raw").cloned().unwrap_or_else(|| {
        let mut echo = json!({"id": query.get("id").map(|id| id.parse::<i64>().unwrap())});
        if let Some(credential) = credential {
            // Backwards, since what a caller sent as a credential is kept out of answers.
            let backwards = credential.to_str().unwrap().chars().rev().collect::<String>();
            echo["credential"] = backwards.into();
        }
        echo.to_string()
    });
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// How a request can come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Legacy,
    LegacyJson,
    LegacyOld,
    Modern,
    ModernJson,
    Lines,
    ModernLines,
}

pub(super) const WAYS: [Way; 7] = [
    Way::Legacy,
    Way::LegacyJson,
    Way::LegacyOld,
    Way::Modern,
    Way::ModernJson,
    Way::Lines,
    Way::ModernLines,
];

impl Way {
    pub(super) fn is_modern(self) -> bool {
        matches!(self, Self::Modern | Self::ModernJson | Self::ModernLines)
    }

    fn accept(self) -> &'static str {
        match self {
            Self::LegacyJson | Self::ModernJson => "application/json",
            Self::LegacyOld => "*/*",
            _ => "application/json, text/event-stream",
        }
    }
}

/// One edge, served.
pub(super) struct Bench {
    pub(super) edge: Arc<Edge>,
    pub(super) live: Arc<Live>,
    pub(super) stopping: CancellationToken,
    pub(super) address: std::net::SocketAddr,
    pub(super) server: Mutex<Option<JoinHandle<()>>>,
    client: Client<HttpConnector, Body>,
}

impl Bench {
    pub(super) async fn new(names: &[&str]) -> Self {
        Self::with(Some(snapshot(1, names)), Limits::default(), &[]).await
    }

    pub(super) async fn with(snapshot: Option<Snapshot>, limits: Limits, public: &[&str]) -> Self {
        let live = Arc::new(Live::new(snapshot.map(Arc::new), limits.removed_names));
        let stopping = CancellationToken::new();
        let origins = Origins::new(Bind::Loopback, public.iter().copied()).unwrap();
        let settings =
            Settings { limits: limits.clone(), origins, inbound: None, stopping: stopping.clone() };
        let service = Service::new(Router::new().fallback(echo));
        let caller = Caller::new(&limits, Some(service));
        let edge = Edge::new(Arc::clone(&live), caller, settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (app, stop) = (router(&edge), stopping.clone());
        let server = tokio::spawn(async move { serve(listener, app, &limits, stop).await });
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { edge, live, stopping, address, server: Mutex::new(Some(server)), client }
    }

    pub(super) fn publish(&self, generation: u64, names: &[&str]) {
        self.publish_whole(snapshot(generation, names));
    }

    pub(super) fn publish_whole(&self, snapshot: impl Into<Arc<Snapshot>>) {
        self.live.publish(snapshot.into(), |_| Status::default());
    }

    /// Sends a request as it is.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> http::Response<Incoming> {
        let mut request =
            Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.client.request(request.body(body.into()).unwrap()).await.unwrap()
    }

    /// Posts a message with the usual headers and these.
    pub(super) async fn post(&self, headers: &[(&str, &str)], message: &str) -> Reply {
        let mut all = vec![("content-type", "application/json")];
        if !headers.iter().any(|(name, _)| *name == "accept") {
            all.push(("accept", "application/json, text/event-stream"));
        }
        all.extend(headers);
        Reply::of(self.send(Method::POST, "/mcp", &all, message.to_owned()).await).await
    }

    /// Opens a legacy session and gives its id.
    pub(super) async fn open(&self, version: &str, headers: &[(&str, &str)]) -> String {
        let reply = self.post(headers, &initialize(version)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let session = reply.header("mcp-session-id").to_owned();
        let mut all = vec![("mcp-session-id", session.as_str())];
        all.extend(headers);
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let reply = self.post(&all, initialized).await;
        assert_eq!((reply.status.as_u16(), reply.body.as_str()), (202, ""));
        session
    }

    /// Asks one request by one way, and gives the JSON-RPC answer.
    pub(super) async fn ask(&self, way: Way, method: &str, params: Value) -> Value {
        match way {
            Way::Legacy | Way::LegacyJson => {
                self.ask_session(way, "2025-11-25", method, params).await
            }
            Way::LegacyOld => self.ask_session(way, "2025-06-18", method, params).await,
            Way::Modern | Way::ModernJson => self.ask_modern(way, method, params).await,
            Way::Lines => {
                let mut lines = self.lines();
                lines.open().await;
                lines.answer(&request(7, method, params)).await
            }
            Way::ModernLines => self.lines().answer(&modern_request(7, method, params)).await,
        }
    }

    async fn ask_session(&self, way: Way, version: &str, method: &str, params: Value) -> Value {
        let session = self.open(version, &[]).await;
        let headers = [
            ("accept", way.accept()),
            ("mcp-session-id", session.as_str()),
            ("mcp-protocol-version", version),
        ];
        let reply = self.post(&headers, &request(7, method, params)).await;
        let is_json = reply.header("content-type").starts_with("application/json");
        assert!(is_json || way != Way::LegacyJson, "{reply:?}");
        reply.answer()
    }

    async fn ask_modern(&self, way: Way, method: &str, params: Value) -> Value {
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params.get(key)?.as_str());
        let name = name.unwrap_or_default().to_owned();
        let headers = [
            ("accept", way.accept()),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", &name),
        ];
        let reply = self.post(&headers, &modern_request(7, method, params)).await;
        assert_eq!(reply.header("mcp-session-id"), "");
        reply.answer()
    }

    /// Expects the same answer by every way, modern fields aside.
    pub(super) async fn check(&self, method: &str, params: Value, expected: Value) {
        for way in WAYS {
            let answer = self.ask(way, method, params.clone()).await;
            assert_eq!(answer["id"], 7, "{way:?}: {answer}");
            assert_eq!(without_era(way, answer), expected, "{way:?}");
        }
    }

    /// A client on lines.
    pub(super) fn lines(&self) -> LinesClient {
        self.lines_as(None)
    }

    /// A client on lines with a credential.
    pub(super) fn lines_as(&self, credential: Option<&'static str>) -> LinesClient {
        let credential = credential.map(HeaderValue::from_static);
        let (near, far) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(far);
        let edge = Arc::clone(&self.edge);
        let served =
            tokio::spawn(async move { serve_lines(&edge, input, output, credential).await });
        let (reader, writer) = tokio::io::split(near);
        LinesClient { reader: BufReader::new(reader), writer: Some(writer), served }
    }

    /// Opens an event stream.
    pub(super) async fn listen(
        &self,
        method: Method,
        headers: &[(&str, &str)],
        body: String,
    ) -> Events {
        let response = self.send(method, "/mcp", headers, body).await;
        assert_eq!(response.status(), 200);
        Events { body: response.into_body(), text: String::new() }
    }
}

/// The result or error without what only modern results have, which is checked here.
fn without_era(way: Way, mut answer: Value) -> Value {
    if let Some(error) = answer.get_mut("error") {
        return error.take();
    }
    let mut result = answer["result"].take();
    let object = result.as_object_mut().unwrap();
    let mut modern = |key: &str| object.shift_remove(key);
    let info = modern("_meta").unwrap_or_default();
    let is_complete = modern("resultType") == Some(json!("complete"));
    let (ttl, scope) = (modern("ttlMs"), modern("cacheScope"));
    assert_eq!(is_complete, way.is_modern(), "{way:?}");
    assert_eq!(
        info["io.modelcontextprotocol/serverInfo"]["name"] == "toolgate",
        way.is_modern(),
        "{way:?}"
    );
    assert_eq!(ttl.is_some(), scope.is_some(), "{way:?}");
    if let Some(ttl) = ttl {
        assert_eq!((ttl, scope), (json!(0), Some(json!("public"))), "{way:?}");
        assert!(way.is_modern());
    }
    result
}

pub(super) fn initialize(version: &str) -> String {
    request(
        0,
        "initialize",
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "expectations read best as values")]
pub(super) fn request(id: i64, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(super) fn modern_request(id: i64, method: &str, mut params: Value) -> String {
    if params.is_null() {
        params = json!({});
    }
    let meta = &mut params["_meta"];
    if meta.is_null() {
        *meta = json!({});
    }
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request(id, method, params)
}

/// A whole HTTP reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Reply {
    pub(super) async fn of(response: http::Response<Incoming>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.into()).unwrap();
        Self { status: parts.status, headers: parts.headers, body }
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Every JSON message in it.
    pub(super) fn messages(&self) -> Vec<Value> {
        if self.header("content-type").starts_with("text/event-stream") {
            let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
            return data.map(|data| serde_json::from_str(data).unwrap()).collect();
        }
        vec![serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))]
    }

    /// The last message, which is the answer.
    pub(super) fn answer(&self) -> Value {
        self.messages().pop().unwrap()
    }

    /// The code of a JSON-RPC error.
    pub(super) fn code(&self) -> i64 {
        self.answer()["error"]["code"].as_i64().unwrap_or_default()
    }
}

/// A client on lines.
pub(super) struct LinesClient {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: Option<WriteHalf<DuplexStream>>,
    served: JoinHandle<std::io::Result<()>>,
}

impl LinesClient {
    pub(super) async fn say(&mut self, line: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line, which must be JSON.
    pub(super) async fn hear(&mut self) -> Value {
        let mut line = String::new();
        soon(self.reader.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(super) async fn ask(&mut self, line: &str) -> Value {
        self.say(line).await;
        self.hear().await
    }

    /// Asks, and passes over notices until the answer comes.
    pub(super) async fn answer(&mut self, line: &str) -> Value {
        let mut heard = self.ask(line).await;
        while heard.get("method").is_some() {
            heard = self.hear().await;
        }
        heard
    }

    pub(super) async fn open(&mut self) {
        let answer = self.ask(&initialize("2025-11-25")).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }

    /// Ends the input and gives what else was written.
    pub(super) async fn close(mut self) -> String {
        let mut writer = self.writer.take().unwrap();
        writer.shutdown().await.unwrap();
        drop(writer);
        soon(self.served).await.unwrap().unwrap();
        let mut rest = String::new();
        soon(tokio::io::AsyncReadExt::read_to_string(&mut self.reader, &mut rest)).await.unwrap();
        rest
    }
}

/// An open event stream.
pub(super) struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    /// The next message; `None` when the stream ended.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let message = data.map(|data| serde_json::from_str(data).unwrap());
                self.text = rest.to_owned();
                if message.is_some() {
                    return message;
                }
            }
            let frame = soon(self.body.frame()).await?.unwrap();
            let data: Bytes = frame.into_data().unwrap();
            self.text += std::str::from_utf8(&data).unwrap();
        }
    }

    /// Whether nothing comes for a while.
    pub(super) async fn is_quiet(&mut self) -> bool {
        self.text.trim().is_empty()
            && tokio::time::timeout(Duration::from_millis(150), self.body.frame()).await.is_err()
    }
}

/// A future that must end within a few seconds.
pub(super) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(10), future).await.expect("it took too long")
}
