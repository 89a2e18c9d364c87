//! The front layer: what happens to a request at `/mcp` before rmcp sees it, in order.
//!
//! First `Host` and `Origin`; then the token, where one is asked for; then the method; for a POST its media types, then the body, bounded in
//! size and time; then the message, strictly; then the era, and the era's rules for versions; last the
//! session or the snapshot. rmcp gets a request that it can only serve, and its reply leaves through here: always
//! JSON when something is wrong, folded for a client that takes JSON only, with the headers a browser
//! needs where an `Origin` was allowed.

use std::sync::{Arc, atomic::Ordering};

use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rmcp::{
    model::ErrorCode,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};

use super::{
    Edge, Gauge,
    accept::{self, Accepts},
    era::{self, Era},
    handler::{Handler, PINNED},
    message::Message,
    notify::Arrival,
    refusal::{Refusal, SESSION_NOT_FOUND},
    session::{OPENING, SESSION_HEADER, Sessions},
};

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");
const HINT: &str =
    "This is an MCP endpoint: give its URL to an MCP client, such as an agent or an editor.\n";

/// The state behind `/mcp`.
pub(super) struct Front {
    edge: Arc<Edge>,
    rmcp: StreamableHttpService<Handler, Sessions>,
}

impl Front {
    /// A front for this edge.
    pub(super) fn new(edge: &Arc<Edge>) -> Self {
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_sse_retry(None)
            .with_json_response(true)
            .with_cancellation_token(edge.ended.clone());
        // Bodies are bounded here, before rmcp reads them.
        config.max_request_body_bytes = usize::MAX;
        let made_for = Arc::clone(edge);
        let factory = move || Ok(Handler::of_request(&made_for));
        let rmcp = StreamableHttpService::new(factory, Arc::clone(&edge.sessions), config);
        Self { edge: Arc::clone(edge), rmcp }
    }

    async fn route(&self, mut request: Request) -> Response {
        if let Err(refusal) = self.admit(&mut request) {
            return refusal.into_response();
        }
        let outcome = match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request).await,
            Method::DELETE => self.delete(request.headers()).await,
            Method::OPTIONS => Ok(StatusCode::NO_CONTENT.into_response()),
            _ => Ok(method_not_allowed("")),
        };
        outcome.unwrap_or_else(IntoResponse::into_response)
    }

    /// A browser asks for permission without credentials, so that question needs no token.
    fn admit(&self, request: &mut Request) -> Result<(), Refusal> {
        let is_options = request.method() == Method::OPTIONS;
        let Some(inbound) = self.edge.inbound.as_ref().filter(|_| !is_options) else {
            return Ok(());
        };
        inbound.take(request.headers_mut()).inspect_err(|_| {
            self.edge.counts.refused_tokens.fetch_add(1, Ordering::Relaxed);
        })
    }

    async fn post(&self, request: Request) -> Result<Response, Refusal> {
        let accepts = Accepts::of(request.headers()).something()?;
        check_content_type(request.headers())?;
        let (parts, body) = request.into_parts();
        let text = self.body(body).await?;
        let message = Message::read(&text, &self.edge.limits)?;
        let id = message.kind.id();
        let post = Post { parts, text, message, accepts };
        let outcome = match Era::of(&post.message, &post.parts.headers) {
            Era::Legacy if post.message.method == "initialize" => self.initialize(post).await,
            Era::Legacy => self.legacy(post).await,
            Era::Modern => self.modern(post).await,
        };
        outcome.map_err(|refusal| refusal.to(id))
    }

    async fn initialize(&self, mut post: Post) -> Result<Response, Refusal> {
        era::check_initialize(&post.message, &post.parts.headers)?;
        let opening = self.edge.sessions.opening(&post.parts.headers).await?;
        // The body alone decides: what it offers is negotiated, and it always opens a new session.
        post.parts.headers.remove(era::VERSION_HEADER);
        post.parts.headers.remove(SESSION_HEADER);
        OPENING.scope(opening, self.serve(post, ())).await
    }

    async fn legacy(&self, post: Post) -> Result<Response, Refusal> {
        era::check_legacy(&post.parts.headers)?;
        let (_, session) = self.edge.sessions.of(&post.parts.headers)?;
        self.serve(post, session.enter()).await
    }

    async fn modern(&self, post: Post) -> Result<Response, Refusal> {
        era::check_modern(&post.message, &post.parts.headers)?;
        match post.message.method.as_str() {
            "subscriptions/listen" if !post.accepts.events => {
                Err(accept::not_acceptable("text/event-stream"))
            }
            "subscriptions/listen" => {
                let place = self.stream()?;
                self.serve(post, place).await
            }
            "tools/list" | "tools/call" | "server/discover" => {
                let snapshot = self.edge.live.load();
                PINNED.scope(snapshot, self.serve(post, ())).await
            }
            _ => self.serve(post, ()).await,
        }
    }

    /// Hands a POST to rmcp; `held` lives as long as the reply's body.
    async fn serve(
        &self,
        post: Post,
        held: impl Send + Sync + 'static,
    ) -> Result<Response, Refusal> {
        let Post { mut parts, text, message, accepts } = post;
        parts.headers.insert(header::ACCEPT, accept::BOTH);
        let changes = self.edge.live.changes();
        parts.extensions.insert(Arrival { changes, faults: message.faults.into() });
        let reply = self.rmcp.handle(Request::from_parts(parts, Body::from(text))).await;
        let response = leave(reply.map(Body::new), held).await?;
        if accept::is_stream(&response) && !accepts.events {
            return accept::fold(response).await;
        }
        Ok(response)
    }

    async fn get(&self, mut request: Request) -> Result<Response, Refusal> {
        let headers = request.headers_mut();
        if !headers.contains_key(SESSION_HEADER) || Era::of_headers(headers) == Era::Modern {
            return Ok(method_not_allowed(HINT));
        }
        era::check_legacy(headers)?;
        let (_, session) = self.edge.sessions.of(headers)?;
        if !Accepts::of(headers).events {
            return Err(accept::not_acceptable("text/event-stream"));
        }
        headers.insert(header::ACCEPT, accept::BOTH);
        headers.remove("last-event-id");
        let place =
            session.stream().zip(self.stream().ok()).ok_or_else(|| self.too_many_streams())?;
        let reply = self.rmcp.handle(request).await;
        leave(reply.map(Body::new), (place, session.enter())).await
    }

    async fn delete(&self, headers: &HeaderMap) -> Result<Response, Refusal> {
        use rmcp::transport::streamable_http_server::session::SessionManager;

        if Era::of_headers(headers) == Era::Modern {
            return Ok(method_not_allowed(""));
        }
        let (id, _) = self.edge.sessions.of(headers)?;
        // It fails only when the session ended meanwhile, which is what was asked for.
        let _ = self.edge.sessions.close_session(&id).await;
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn body(&self, body: Body) -> Result<Bytes, Refusal> {
        let limit = self.edge.limits.request_body;
        let read = Limited::new(body, limit).collect();
        let refused = |status, words: String| {
            self.edge.counts.refused_bodies.fetch_add(1, Ordering::Relaxed);
            Refusal::new(status, ErrorCode::INVALID_REQUEST, words)
        };
        match tokio::time::timeout(self.edge.limits.body_time, read).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let words = format!("the request body is over {limit} bytes");
                Err(refused(StatusCode::PAYLOAD_TOO_LARGE, words))
            }
            Ok(Err(_)) => Err(Refusal::invalid("the request body ended early")),
            Err(_) => {
                let words = "the request body took too long".into();
                Err(refused(StatusCode::REQUEST_TIMEOUT, words))
            }
        }
    }

    fn stream(&self) -> Result<(tokio::sync::OwnedSemaphorePermit, Gauge), Refusal> {
        let place = Arc::clone(&self.edge.streams).try_acquire_owned();
        let place = place.map_err(|_| self.too_many_streams())?;
        Ok((place, Gauge::new(&self.edge.counts, |counts| &counts.streams)))
    }

    fn too_many_streams(&self) -> Refusal {
        self.edge.counts.refused_streams.fetch_add(1, Ordering::Relaxed);
        Refusal::busy("too many listen streams are open; close one or try again later")
    }
}

/// A POST whose message was read.
struct Post {
    parts: Parts,
    text: Bytes,
    message: Message,
    accepts: Accepts,
}

/// Serves one request at `/mcp`.
pub(super) async fn handle(State(front): State<Arc<Front>>, request: Request) -> Response {
    let (headers, uri) = (request.headers(), request.uri());
    if let Err(refusal) = front.edge.origins.judge(headers, uri) {
        front.edge.counts.refused_origins.fetch_add(1, Ordering::Relaxed);
        return refusal.into_response();
    }
    let origin = headers.get(header::ORIGIN).cloned();
    let asked = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let is_options = request.method() == Method::OPTIONS;
    let mut response = front.route(request).await;
    if is_options {
        response.headers_mut().insert(header::ALLOW, METHODS);
    }
    if let Some(origin) = origin {
        share(response.headers_mut(), origin, asked.filter(|_| is_options), is_options);
    }
    response
}

/// What a browser needs to hand the reply to a page whose origin was allowed.
fn share(
    headers: &mut HeaderMap,
    origin: HeaderValue,
    asked: Option<HeaderValue>,
    preflight: bool,
) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let expose = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, expose);
    if preflight {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        let usual = HeaderValue::from_static(
            "content-type, accept, authorization, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id",
        );
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.unwrap_or(usual));
    }
}

/// JSON with any parameters. Nothing else is read: a page of a foreign origin can send the rest unasked.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    match essence {
        Some(essence) if essence.eq_ignore_ascii_case("application/json") => Ok(()),
        _ => Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::INVALID_REQUEST,
            "`Content-Type` must be `application/json`",
        )),
    }
}

fn method_not_allowed(hint: &'static str) -> Response {
    let headers = [
        (header::ALLOW, METHODS),
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
    ];
    (StatusCode::METHOD_NOT_ALLOWED, headers, hint).into_response()
}

/// rmcp's reply on its way out: faults as JSON, events named, `held` until the body's end.
async fn leave(reply: Response, held: impl Send + Sync + 'static) -> Result<Response, Refusal> {
    if is_plain_fault(&reply) {
        let status = reply.status();
        let words =
            reply.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        return Err(as_refusal(status, &String::from_utf8_lossy(&words)));
    }
    let is_stream = accept::is_stream(&reply);
    Ok(reply.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &held;
            if is_stream { frame.map_data(accept::name_event) } else { frame }
        }))
    }))
}

fn is_plain_fault(reply: &Response) -> bool {
    let media_type = reply.headers().get(header::CONTENT_TYPE);
    let is_json = media_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    (reply.status().is_client_error() || reply.status().is_server_error()) && !is_json
}

/// What rmcp says in plain text; 415 is its word for JSON that is no message it knows.
fn as_refusal(status: StatusCode, words: &str) -> Refusal {
    match status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, words)
        }
        StatusCode::NOT_FOUND => Refusal::new(status, SESSION_NOT_FOUND, words),
        status if status.is_server_error() => {
            tracing::error!("rmcp: {words}");
            Refusal::new(status, ErrorCode::INTERNAL_ERROR, "internal error")
        }
        status => Refusal::new(status, ErrorCode::INVALID_REQUEST, words),
    }
}
