//! A response body, read under the limits of the call.
//!
//! Whatever the body does (drips, never ends, breaks off, unpacks to far more than it was), reading
//! stops at the plan's bytes or at the deadline, and what came so far is kept.

use std::pin::pin;

use bytes::{Buf, Bytes};
use http::{Method, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use super::response::{End, Received};

/// What bounds the reading of one response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// The request's method: a HEAD has no body to read.
    pub(super) method: &'a Method,
    /// Bytes kept.
    pub(super) most: usize,
    /// When the call is over.
    pub(super) deadline: Instant,
}

/// Reads a response to its end or to a bound.
pub(super) async fn receive<B: Body>(response: Response<B>, bounds: Bounds<'_>) -> Received {
    let (parts, body) = response.into_parts();
    let (body, end) = if has_body(bounds.method, parts.status) {
        read(body, bounds).await
    } else {
        (Vec::new(), End::Complete)
    };
    Received { status: parts.status, headers: parts.headers, body: Bytes::from(body), end }
}

fn has_body(method: &Method, status: StatusCode) -> bool {
    let bodiless = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT, StatusCode::NOT_MODIFIED];
    *method != Method::HEAD && !bodiless.contains(&status)
}

async fn read<B: Body>(body: B, bounds: Bounds<'_>) -> (Vec<u8>, End) {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    loop {
        let frame = match timeout_at(bounds.deadline, body.as_mut().frame()).await {
            Err(_) => return (bytes, End::TimedOut),
            Ok(None) => return (bytes, End::Complete),
            Ok(Some(Err(_))) => return (bytes, End::Broken),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(mut data) = frame.into_data() else { continue }; // trailers
        let room = bounds.most - bytes.len();
        let over = data.remaining() > room;
        let taken = data.remaining().min(room);
        bytes.extend_from_slice(&data.copy_to_bytes(taken));
        if over {
            return (bytes, End::OverLimit);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, time::Duration};

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    async fn check(
        method: &Method,
        status: u16,
        chunks: &[&'static str],
        most: usize,
    ) -> (String, End) {
        let frames = chunks
            .iter()
            .map(|chunk| Ok::<_, Infallible>(Frame::data(Bytes::from_static(chunk.as_bytes()))));
        let body = StreamBody::new(stream::iter(frames));
        let response = Response::builder().status(status).body(body).unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        let received = receive(response, Bounds { method, most, deadline }).await;
        (String::from_utf8(received.body.to_vec()).unwrap(), received.end)
    }

    #[tokio::test]
    async fn reading_stops_at_the_limit_and_keeps_what_fits() {
        let get = Method::GET;
        assert_eq!(check(&get, 200, &["ab", "cd"], 4).await, ("abcd".into(), End::Complete));
        assert_eq!(check(&get, 200, &["ab", "cd"], 3).await, ("abc".into(), End::OverLimit));
        assert_eq!(check(&get, 200, &["ab"], 0).await, (String::new(), End::OverLimit));
        assert_eq!(check(&get, 200, &[], 0).await, (String::new(), End::Complete));
    }

    #[tokio::test]
    async fn replies_without_a_body_are_not_read() {
        for (method, status) in
            [(Method::HEAD, 200), (Method::GET, 204), (Method::GET, 205), (Method::GET, 304)]
        {
            let received = check(&method, status, &["junk"], 9).await;
            assert_eq!(received, (String::new(), End::Complete), "{method} {status}");
        }
    }

    #[tokio::test]
    async fn a_body_that_never_ends_stops_at_the_deadline() {
        let body = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
        let deadline = Instant::now() + Duration::from_millis(20);
        let bounds = Bounds { method: &Method::GET, most: 9, deadline };
        assert_eq!(receive(Response::new(body), bounds).await.end, End::TimedOut);
    }
}
