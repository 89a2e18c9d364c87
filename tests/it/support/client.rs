//! A client for both eras over HTTP that speaks JSON-RPC as text, so that what it sees is the wire.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::{client::legacy, rt::TokioExecutor};
use serde_json::{Value, json};
use tokio::sync::mpsc;

type Http = legacy::Client<legacy::connect::HttpConnector, Full<Bytes>>;

/// Which protocol a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// `initialize` and a session, at this version.
    Legacy(&'static str),
    /// Stateless, 2026-07-28.
    Modern,
}

impl Era {
    /// Every one the server offers.
    pub const ALL: [Self; 3] =
        [Self::Legacy("2025-06-18"), Self::Legacy("2025-11-25"), Self::Modern];
}

const MODERN: &str = "2026-07-28";

/// A connected client; clones share its session.
#[derive(Clone)]
pub struct Client {
    http: Http,
    url: String,
    era: Era,
    headers: Vec<(String, String)>,
    session: Option<String>,
    ids: Arc<AtomicU64>,
}

impl Client {
    /// Connects, in the legacy era by `initialize` and `notifications/initialized`.
    pub async fn connect(address: SocketAddr, era: Era) -> Self {
        Self::connect_with(address, era, &[]).await
    }

    /// The same with headers on every request.
    pub async fn connect_with(address: SocketAddr, era: Era, headers: &[(&str, &str)]) -> Self {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let http = legacy::Client::builder(TokioExecutor::new()).build_http();
        let url = format!("http://{address}/mcp");
        let mut client = Self { http, url, era, headers, session: None, ids: Arc::default() };
        if let Era::Legacy(version) = era {
            client.initialize(version).await;
        }
        client
    }

    async fn initialize(&mut self, version: &str) {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "0"},
        });
        let (reply, message) = self.exchange("initialize", params).await;
        assert_eq!(message["result"]["protocolVersion"], version, "{message}");
        self.session = Some(reply.headers["mcp-session-id"].to_str().unwrap().to_owned());
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let reply = self.send("POST", Some(("notifications/initialized", &notice)), None).await;
        assert_eq!(reply.status(), 202);
    }

    /// The result of an `initialize` outside this client's session.
    pub async fn initialize_result(&self, params: Value) -> Value {
        let fresh = Self { session: None, ..self.clone() };
        fresh.request("initialize", params).await["result"].clone()
    }

    /// A plain GET as a browser sends it.
    pub async fn get(address: SocketAddr, path: &str) -> http::Response<Incoming> {
        let http: Http = legacy::Client::builder(TokioExecutor::new()).build_http();
        let request =
            http::Request::get(format!("http://{address}{path}")).body(Full::default()).unwrap();
        http.request(request).await.unwrap()
    }

    /// The status and body of a `server/discover` from a page of `origin`; empty means no such header.
    pub async fn discover(address: SocketAddr, origin: &str) -> (http::StatusCode, String) {
        let headers = [("origin", origin)];
        let headers = if origin.is_empty() { &[] } else { &headers[..] };
        let client = Self::connect_with(address, Era::Modern, headers).await;
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": modern_meta()},
        });
        let reply = client.send("POST", Some(("server/discover", &message)), None).await;
        let status = reply.status();
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Ends the session, when there is one.
    pub async fn end(self) {
        if self.session.is_some() {
            assert!(self.send("DELETE", None, None).await.status().is_success());
        }
    }

    /// The id of the newest request.
    pub fn last_id(&self) -> u64 {
        self.ids.load(Ordering::Relaxed) - 1
    }

    /// One notification.
    pub async fn notify(&self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let reply = self.send("POST", Some((method, &message)), None).await;
        assert_eq!(reply.status(), 202);
    }

    /// A modern `tools/list` under any verb, without a connection of its own.
    pub async fn bare(
        address: SocketAddr,
        verb: &str,
        headers: &[(&str, &str)],
    ) -> (http::StatusCode, http::HeaderMap, String) {
        let client = Self::connect_with(address, Era::Modern, headers).await;
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_meta()}});
        let (parts, body) =
            client.send(verb, Some(("tools/list", &message)), None).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    /// One request; the whole JSON-RPC message that answers it.
    pub async fn request(&self, method: &str, params: Value) -> Value {
        self.exchange(method, params).await.1
    }

    async fn exchange(&self, method: &str, mut params: Value) -> (http::response::Parts, Value) {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let name = params["name"].as_str().map(str::to_owned);
        if self.era == Era::Modern {
            let mut meta = modern_meta();
            let given = params["_meta"].as_object().cloned().unwrap_or_default();
            meta.as_object_mut().unwrap().extend(given);
            params["_meta"] = meta;
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let reply = self.send("POST", Some((method, &message)), name.as_deref()).await;
        let (parts, body) = reply.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        let messages = messages(&text);
        let answer = messages.into_iter().find(|message| message["id"] == id);
        (parts, answer.unwrap_or_else(|| panic!("no answer to {method} in {text}")))
    }

    async fn send(
        &self,
        verb: &str,
        message: Option<(&str, &Value)>,
        name: Option<&str>,
    ) -> http::Response<Incoming> {
        let mut request = http::Request::builder()
            .method(verb)
            .uri(&self.url)
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let version = match self.era {
            Era::Legacy(version) => version,
            Era::Modern => MODERN,
        };
        if self.era == Era::Modern || self.session.is_some() {
            request = request.header("mcp-protocol-version", version);
        }
        let mut body = Bytes::new();
        if let Some((method, message)) = message {
            request = request.header("content-type", "application/json");
            if self.era == Era::Modern {
                request = request.header("mcp-method", method);
                request = name
                    .into_iter()
                    .fold(request, |request, name| request.header("mcp-name", name));
            }
            body = message.to_string().into();
        }
        self.http.request(request.body(Full::new(body)).unwrap()).await.unwrap()
    }

    /// The tools of one `tools/list`.
    pub async fn list(&self) -> Vec<Value> {
        let message = self.request("tools/list", json!({})).await;
        message["result"]["tools"].as_array().unwrap_or_else(|| panic!("{message}")).clone()
    }

    /// Their names.
    pub async fn names(&self) -> Vec<String> {
        self.list().await.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The result of one call.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let message =
            self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(message["result"].is_object(), "{message}");
        message["result"].clone()
    }

    /// Listens for list_changed; each notice arrives as its whole message. Acknowledged before it returns.
    pub async fn listen(&self) -> mpsc::UnboundedReceiver<Value> {
        let reply = match self.era {
            Era::Legacy(_) => self.send("GET", None, None).await,
            Era::Modern => {
                let message = json!({
                    "jsonrpc": "2.0", "id": "listen", "method": "subscriptions/listen",
                    "params": {"notifications": {"toolsListChanged": true}, "_meta": modern_meta()},
                });
                self.send("POST", Some(("subscriptions/listen", &message)), None).await
            }
        };
        assert_eq!(reply.status(), 200);
        let (sender, mut receiver) = mpsc::unbounded_channel();
        tokio::spawn(forward(reply.into_body(), sender));
        if self.era == Era::Modern {
            let first = receiver.recv().await.unwrap();
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        }
        receiver
    }
}

async fn forward(mut body: Incoming, sender: mpsc::UnboundedSender<Value>) {
    let mut text = String::new();
    loop {
        // A client that no longer listens closes its connection.
        let frame = tokio::select! {
            () = sender.closed() => return,
            frame = body.frame() => frame,
        };
        let Some(Ok(frame)) = frame else { return };
        let Ok(data) = frame.into_data() else { continue };
        text.push_str(std::str::from_utf8(&data).unwrap());
        while let Some(end) = text.find("\n\n") {
            let event: String = text.drain(..end + 2).collect();
            messages(&event).into_iter().for_each(|message| drop(sender.send(message)));
        }
    }
}

pub fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The messages of a body: one JSON text, or the data of an event stream.
fn messages(text: &str) -> Vec<Value> {
    if text.trim_start().starts_with('{') {
        return vec![serde_json::from_str(text).unwrap()];
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.filter(|data| !data.is_empty()).map(|data| serde_json::from_str(data).unwrap()).collect()
}
