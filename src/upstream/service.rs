//! Calls to a service in this process.
//!
//! Any cloneable tower service over HTTP types fits; the program that embeds the gateway gives its own
//! router. A request looks like one from a client that connected to `localhost`: the caller's
//! forwarded headers, no peer address, nothing of the MCP request. The service's own layers decide
//! who may do what.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::HOST};
use http_body::Body;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use tower::ServiceExt;

type AnyError = Box<dyn Error + Send + Sync>;

/// A response of the service.
pub(super) type Reply = Response<UnsyncBoxBody<Bytes, AnyError>>;

type Responding = Pin<Box<dyn Future<Output = Result<Reply, AnyError>> + Send>>;

/// A service in this process; clones call the same one.
#[derive(Clone)]
pub struct Service(Arc<dyn Fn(Request<Full<Bytes>>) -> Responding + Send + Sync>);

impl Service {
    /// Wraps a service, for example an axum router. Each call uses a clone of its own.
    pub fn new<S, B>(service: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>,
        S: Clone + Send + Sync + 'static,
        S::Error: Into<AnyError>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<AnyError>,
    {
        Self(Arc::new(move |request| {
            let service = service.clone();
            Box::pin(async move {
                let response = service.oneshot(request).await.map_err(Into::into)?;
                Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
            })
        }))
    }

    /// Makes one request.
    pub(super) async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Reply, AnyError> {
        request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
        (self.0)(request).await
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Service(…)")
    }
}
