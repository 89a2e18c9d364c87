//! What a client takes: JSON, an event stream, or both.
//!
//! rmcp wants both named in every POST. Clients send `*/*`, only JSON, or nothing at all, so the front
//! layer always asks rmcp for both and, for a client that takes JSON only, folds the stream of one
//! answer into that answer ([`fold`]); notices before it are left out.

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt;
use rmcp::model::ErrorCode;

use super::refusal::Refusal;

/// What rmcp is told every client accepts.
pub(super) const BOTH: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");

/// The part of `Accept` that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    /// JSON bodies.
    pub(super) json: bool,
    /// Event streams.
    pub(super) events: bool,
}

impl Accepts {
    /// What these headers accept; no header accepts everything.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut ranges = headers
            .get_all(header::ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(range)
            .peekable();
        if ranges.peek().is_none() && !headers.contains_key(header::ACCEPT) {
            return Self { json: true, events: true };
        }
        ranges.fold(Self { json: false, events: false }, |accepts, range| Self {
            json: accepts.json
                || matches!(range.as_str(), "*/*" | "application/*" | "application/json"),
            events: accepts.events
                || matches!(range.as_str(), "*/*" | "text/*" | "text/event-stream"),
        })
    }

    /// Whether any of the two is accepted.
    pub(super) fn something(self) -> Result<Self, Refusal> {
        if self.json || self.events { Ok(self) } else { Err(not_acceptable("application/json")) }
    }
}

/// 406, naming what would do.
pub(super) fn not_acceptable(media_type: &str) -> Refusal {
    let words = format!("`Accept` must allow `{media_type}`");
    Refusal::new(StatusCode::NOT_ACCEPTABLE, ErrorCode::INVALID_REQUEST, words)
}

/// A media range in lower case without its parameters; `None` when its weight is zero.
fn range(entry: &str) -> Option<String> {
    let mut parts = entry.split(';').map(str::trim);
    let range = parts.next()?.to_ascii_lowercase();
    let refused = parts.filter_map(|parameter| parameter.split_once('=')).any(|(name, weight)| {
        name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0_f64)
    });
    (!refused).then_some(range)
}

/// Whether a response is an event stream.
pub(super) fn is_stream(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// Reads a stream to its end and answers with the last message in it, which is the answer.
pub(super) async fn fold(response: Response) -> Result<Response, Refusal> {
    let (mut parts, body) = response.into_parts();
    let stream = body.collect().await.map_err(|_| no_answer())?.to_bytes();
    let answer = last_message(&stream).ok_or_else(no_answer)?;
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(header::CACHE_CONTROL);
    Ok(Response::from_parts(parts, Body::from(answer)))
}

fn no_answer() -> Refusal {
    Refusal::new(StatusCode::OK, ErrorCode::INTERNAL_ERROR, "the request was cancelled")
}

/// Each message is one `data` line, since rmcp writes JSON without line breaks.
fn last_message(stream: &Bytes) -> Option<Bytes> {
    let lines = stream.split(|&byte| byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii);
    let last = data.rfind(|data| is_answer(data))?;
    Some(stream.slice_ref(last))
}

fn is_answer(data: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Outcome {
        result: Option<serde::de::IgnoredAny>,
        error: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Outcome>(data)
        .is_ok_and(|outcome| outcome.result.is_some() || outcome.error.is_some())
}

/// Names the kind of every event, which some clients insist on. Each frame is one event or comment.
pub(super) fn name_event(frame: Bytes) -> Bytes {
    if !frame.starts_with(b"data:") {
        return frame;
    }
    [b"event: message\n".as_slice(), &frame].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: Option<&str>, json: bool, events: bool) {
        let headers = accept.map(|value| (header::ACCEPT, value.parse().unwrap()));
        assert_eq!(
            Accepts::of(&headers.into_iter().collect()),
            Accepts { json, events },
            "{accept:?}"
        );
    }

    #[test]
    fn accept_is_read_as_clients_write_it() {
        check(None, true, true);
        check(Some("*/*"), true, true);
        check(Some("application/json, text/event-stream"), true, true);
        check(Some("TEXT/Event-Stream , Application/JSON"), true, true);
        check(Some("application/json"), true, false);
        check(Some("application/json; charset=utf-8"), true, false);
        check(Some("application/*;q=0.5"), true, false);
        check(Some("text/event-stream"), false, true);
        check(Some("application/json, text/event-stream;q=0"), true, false);
        check(Some("text/html"), false, false);
        check(Some(""), false, false);
    }

    #[test]
    fn the_last_answer_of_a_stream_is_found() {
        let stream = b":\n\ndata: {\"method\":\"n\"}\n\ndata: {\"id\":1,\"result\":{}}\n\n:\n\n";
        assert_eq!(last_message(&Bytes::from_static(stream)).unwrap(), "{\"id\":1,\"result\":{}}");
        assert_eq!(last_message(&Bytes::from_static(b"data: {\"method\":\"n\"}\n\n")), None);
    }

    #[test]
    fn events_are_named_and_comments_are_not() {
        assert_eq!(name_event(Bytes::from_static(b"data: 1\n\n")), "event: message\ndata: 1\n\n");
        assert_eq!(name_event(Bytes::from_static(b":\n\n")), ":\n\n");
    }
}
