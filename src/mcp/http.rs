//! HTTP: the route, and an accept loop for serving it alone.
//!
//! [`router`] adds `/mcp` and nothing else, so that it can be merged into another service's router.
//! [`serve`] is for toolgate's own listeners: TCP_NODELAY (without it every small event waits for the
//! peer's delayed acknowledgement), a bound on connections, on the time a request's headers take and on
//! how long a peer may leave unread what was sent to it, patience when descriptors run out, and a stop that lets running calls finish.

use std::{io, pin::pin, sync::Arc, time::Duration};

use axum::{Router, routing::any};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{Edge, front};
use crate::config::Limits;

/// How long a stop waits for calls in flight; below the 30 s after which orchestrators kill.
const DRAIN: Duration = Duration::from_secs(25);
/// Pause after a failed accept: long enough not to spin, short enough not to be noticed.
const BACK_OFF: Duration = Duration::from_millis(100);
/// A peer that has taken nothing of what was sent to it for this long is gone, or as good as gone: a
/// listener that never reads, a machine that left the network.
const STALLED: Duration = Duration::from_secs(5);
/// After this long without a byte either way a peer is asked whether it is still there.
const SILENT: Duration = Duration::from_secs(60);
/// Connections when neither a limit nor the system says.
const MOST_CONNECTIONS: usize = 4096;

/// A router with `/mcp` and nothing else.
pub fn router(edge: &Arc<Edge>) -> Router {
    let front = Arc::new(front::Front::new(edge));
    Router::new().route("/mcp", any(front::handle)).with_state(front)
}

/// Serves a router on a listener until `stopping` is cancelled and running requests are done, or 25 s
/// after that.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stopping: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections.unwrap_or_else(connections)));
    let mut running = JoinSet::new();
    loop {
        // Beyond the bound, connections wait in the listener's queue.
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = stopping.cancelled() => break,
            Some(_) = running.join_next() => continue,
            next = next => next,
        };
        match accepted {
            Ok((stream, _)) => {
                let work = connection(stream, router.clone(), limits.header_time, stopping.clone());
                running.spawn(async move {
                    work.await;
                    drop(place);
                });
            }
            Err(error) => pause(&error).await,
        }
    }
    drop(listener);
    let drained = async { while running.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!(open = running.len(), "connections were still open at the end of the stop");
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    header_time: Duration,
    stopping: CancellationToken,
) {
    prepare(&stream);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_time)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = pin!(served);
    let outcome = tokio::select! {
        outcome = served.as_mut() => outcome,
        () = stopping.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A socket that is gone already fails here and again at its first read.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENT));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(STALLED));
}

/// A client that left before it was accepted is nothing; anything else, such as no free descriptors,
/// may pass if waited for.
async fn pause(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};

    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
    {
        return;
    }
    tracing::warn!(%error, "cannot accept a connection; trying again");
    tokio::time::sleep(BACK_OFF).await;
}

/// Half the descriptors that are left, since each call needs one towards the upstream too.
fn connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    descriptors(&limits).map_or(MOST_CONNECTIONS, |descriptors| {
        (descriptors.saturating_sub(64) / 2).clamp(1, MOST_CONNECTIONS)
    })
}

fn descriptors(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_descriptor_limit_is_read() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n";
        assert_eq!(descriptors(limits), Some(1024));
        assert_eq!(descriptors("Max open files  unlimited unlimited files"), None);
        assert_eq!(descriptors(""), None);
    }
}
