//! An upstream that records every request and answers as it was told.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, Response, StatusCode, Uri},
};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Seen {
    /// `METHOD path?query`.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.uri)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

type Answer = Arc<dyn Fn(&Seen) -> Response<Body> + Send + Sync>;

/// Records requests; clones share the record.
#[derive(Clone)]
pub struct Recorder {
    seen: Arc<Mutex<Vec<Seen>>>,
    answer: Answer,
}

impl Recorder {
    pub fn new(answer: impl Fn(&Seen) -> Response<Body> + Send + Sync + 'static) -> Self {
        Self { seen: Arc::default(), answer: Arc::new(answer) }
    }

    /// Answers every request with this JSON.
    pub fn json(text: &'static str) -> Self {
        Self::new(move |_| json(text))
    }

    /// Answers every request with this status, media type and body.
    pub fn status(status: u16, media_type: &'static str, body: &'static str) -> Self {
        Self::new(move |_| reply(status, media_type, body))
    }

    /// As a service for a gateway in this process.
    pub fn router(&self) -> Router {
        Router::new().fallback(record).with_state(self.clone())
    }

    /// On a port of its own.
    pub async fn listen(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = self.router();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }

    /// Everything so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The only request since the last time, which is forgotten.
    pub fn take(&self) -> Seen {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }
}

async fn record(
    State(recorder): State<Recorder>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let seen = Seen { method, uri, headers, body };
    let answer = (recorder.answer)(&seen);
    recorder.seen.lock().unwrap().push(seen);
    answer
}

/// 200 with JSON.
pub fn json(text: impl Into<String>) -> Response<Body> {
    reply(200, "application/json", text)
}

/// Any reply; an empty media type sets none.
pub fn reply(status: u16, media_type: &str, body: impl Into<String>) -> Response<Body> {
    let builder = Response::builder().status(StatusCode::from_u16(status).unwrap());
    let builder =
        if media_type.is_empty() { builder } else { builder.header("content-type", media_type) };
    builder.body(Body::from(body.into())).unwrap()
}
