//! The HTTP client: one connection pool for the whole process.
//!
//! HTTP/1.1 over TCP or TLS, no proxy, no redirects, no cookies of its own. Connecting, the first byte
//! and the whole call have a time each. A request that got no byte of an answer is sent once more
//! where the method allows it; nothing else is ever repeated. Dropping a call closes its connection,
//! which tells the upstream.

mod line;

use std::{error::Error, future::pending, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, uri::Scheme};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        Client, Error as ClientError,
        connect::{CaptureConnection, HttpConnector, capture_connection},
    },
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tower::{ServiceExt, util::MapResponse};
use tower_http::decompression::{Decompression, DecompressionBody};

use self::line::Line;
use super::error::{Failure, Unsent};
use crate::{config::Limits, tls::Roots};

/// How long an unused connection is kept: below the keep-alive of common servers behind a balancer.
const IDLE: Duration = Duration::from_secs(30);

/// Unused connections kept to one upstream; calls come in bursts, and each may need one.
const MOST_IDLE: usize = 64;

/// Bytes of a response's head; also of one read, so that a connection's turn is short.
const HEAD: usize = 64 << 10;

type Stream = <HttpsConnector<HttpConnector> as tower::Service<http::Uri>>::Response;
type Connector = MapResponse<HttpsConnector<HttpConnector>, fn(Stream) -> Line<Stream>>;

/// A response whose body is decoded while it is read.
pub(super) type Reply = Response<DecompressionBody<hyper::body::Incoming>>;

/// Sends requests; clones share the pool.
#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Decompression<Client<Connector, Full<Bytes>>>,
    /// Why the system's root certificates cannot be used; plain HTTP works all the same.
    no_roots: Option<String>,
    connect_time: Duration,
    first_byte_time: Option<Duration>,
}

impl Http {
    pub(super) fn new(limits: &Limits, roots: &Roots) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limits.connect_time));
        tcp.enforce_http(false);
        let (tls, no_roots) = match roots.client() {
            Ok(tls) => (tls, None),
            Err(words) => (Roots::nobody(), Some(words)),
        };
        let connector: Connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp)
            .map_response(Line::new as fn(Stream) -> Line<Stream>);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MOST_IDLE)
            .http1_max_buf_size(HEAD)
            .build(connector);
        Self {
            client: Decompression::new(client),
            no_roots,
            connect_time: limits.connect_time,
            first_byte_time: limits.first_byte_time,
        }
    }

    /// Sends a request and waits for the head of its response.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> Result<Reply, Failure> {
        if let Some(why) = &self.no_roots
            && request.uri().scheme() == Some(&Scheme::HTTPS)
        {
            return Err(Failure::Unsent(Unsent::Tls(why.clone())));
        }
        let again = may_repeat(request.method()).then(|| request.clone());
        match (self.send_once(request, deadline).await, again) {
            (Err(Lost { heard: false, failure: Failure::Broke }), Some(again)) => {
                self.send_once(again, deadline).await
            }
            (result, _) => result,
        }
        .map_err(|lost| lost.failure)
    }

    async fn send_once(
        &self,
        mut request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> Result<Reply, Lost> {
        let tls = request.uri().scheme() == Some(&Scheme::HTTPS);
        let mut connection = capture_connection(&mut request);
        let seen = connection.clone();
        let reply = timeout_at(deadline, self.client.clone().oneshot(request));
        let reply = tokio::select! {
            reply = reply => reply,
            failure = self.late(&mut connection) => return Err(Lost { failure, heard: false }),
        };
        match reply {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(Lost::of(&error, tls)),
            Err(_) if seen.connection_metadata().is_none() => {
                Err(Lost { failure: Failure::Unsent(Unsent::TimedOut), heard: false })
            }
            Err(_) => Err(Lost { failure: Failure::TimedOut, heard: false }),
        }
    }

    /// Resolves when connecting, looking up the name and agreeing on keys included, or the wait for the
    /// first byte takes too long.
    async fn late(&self, connection: &mut CaptureConnection) -> Failure {
        let connected = async { drop(connection.wait_for_connection_metadata().await) };
        if timeout(self.connect_time, connected).await.is_err() {
            return Failure::Unsent(Unsent::TimedOut);
        }
        let Some(time) = self.first_byte_time else { return pending().await };
        sleep(time).await;
        Failure::Silent(time)
    }
}

/// Methods that mean the same when they arrive twice and that toolgate repeats.
fn may_repeat(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::PUT, Method::DELETE].contains(method)
}

/// A request without a response.
#[derive(Debug)]
struct Lost {
    failure: Failure,
    /// Whether any byte of an answer arrived.
    heard: bool,
}

impl Lost {
    fn of(error: &ClientError, tls: bool) -> Self {
        if error.is_connect() {
            return Self { failure: Failure::Unsent(Unsent::of(error, tls)), heard: false };
        }
        let heard = error.connect_info().is_some_and(line::heard);
        let not_http = error
            .source()
            .and_then(|cause| cause.downcast_ref::<hyper::Error>())
            .is_some_and(|cause| cause.is_parse() || cause.is_parse_status());
        Self { failure: if not_http { Failure::NotHttp } else { Failure::Broke }, heard }
    }
}
