//! The protocol edge: MCP over Streamable HTTP and stdio, both eras on one path.
//!
//! Legacy means 2025-06-18 and 2025-11-25 (`initialize`, sessions); modern means 2026-07-28 (no session,
//! every request says its version in `_meta`). [`rmcp`] speaks the protocol; the front layer before it
//! reads each message once and strictly, decides the era once, and answers what rmcp would answer
//! otherwise than promised.
//!
//! Every answer comes from one snapshot: a modern request takes it before rmcp sees the request, a
//! legacy or stdio request takes it once per list or call. No session, stream or listener holds one.
//! Tools are the only capability: there are no prompts, resources, logging or completions.

mod accept;
mod arguments;
mod digits;
mod era;
mod front;
mod handler;
mod http;
mod inbound;
mod list;
mod message;
mod notify;
mod origin;
mod refusal;
mod session;
mod stdio;
mod strict;
mod tools;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{config::Limits, snapshot::live::Live, upstream::Caller};

/// The kind of router that [`router`] makes.
pub use axum::Router;
pub use http::{router, serve};
pub use inbound::Inbound;
pub use origin::{Bind, Origins};
pub use stdio::serve as serve_lines;

/// What an [`Edge`] is made of besides the live snapshot and the caller.
#[derive(Debug)]
pub struct Settings {
    /// What to stop at.
    pub limits: Limits,
    /// Who may call, judged by `Origin` and `Host`.
    pub origins: Origins,
    /// What every caller over HTTP must show, if anything.
    pub inbound: Option<Inbound>,
    /// Once cancelled, listens end with their result and stdio stops reading; calls go on.
    pub stopping: CancellationToken,
}

/// The edge of one process: what every way in shares. One is enough for HTTP and stdio together.
pub struct Edge {
    live: Arc<Live>,
    caller: Caller,
    limits: Limits,
    origins: Origins,
    inbound: Option<Inbound>,
    listings: list::Listings,
    sessions: Arc<session::Sessions>,
    streams: Arc<Semaphore>,
    counts: Arc<Counts>,
    stopping: CancellationToken,
    ended: CancellationToken,
}

impl Edge {
    /// Serves what is live and calls with `caller`.
    pub fn new(live: Arc<Live>, caller: Caller, settings: Settings) -> Arc<Self> {
        let Settings { limits, origins, inbound, stopping } = settings;
        let panics = Arc::clone(caller.panics());
        let counts = Arc::new(Counts { panics, ..Counts::default() });
        let sessions = session::Sessions::new(
            session::Rules::of(&limits),
            Arc::clone(&live),
            Arc::clone(&counts),
            stopping.clone(),
        );
        Arc::new(Self {
            listings: list::Listings::new(limits.list_page),
            streams: Arc::new(Semaphore::new(limits.streams)),
            ended: CancellationToken::new(),
            live,
            caller,
            limits,
            origins,
            inbound,
            sessions,
            counts,
            stopping,
        })
    }

    /// Plain numbers of what happens at the edge, for metrics.
    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// Ends every session and cancels every call still running; to be called when draining is over.
    pub fn end(&self) {
        self.stopping.cancel();
        self.ended.cancel();
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge").field("origins", &self.origins).finish_non_exhaustive()
    }
}

/// Numbers that only rise, and gauges of what is open now.
#[derive(Debug, Default)]
pub struct Counts {
    /// Legacy sessions open now.
    pub sessions: AtomicU64,
    /// Listen streams open now, of both eras.
    pub streams: AtomicU64,
    /// Calls running now.
    pub calls_running: AtomicU64,
    /// Calls since the start, whatever came of them.
    pub calls: AtomicU64,
    /// Panics caught in calls; each has the number its caller was told.
    pub panics: Arc<AtomicU64>,
    /// Requests refused for their `Origin` or `Host`.
    pub refused_origins: AtomicU64,
    /// Requests refused because they did not show the token.
    pub refused_tokens: AtomicU64,
    /// Requests refused for the size or the slowness of their body.
    pub refused_bodies: AtomicU64,
    /// Sessions refused because too many are open.
    pub refused_sessions: AtomicU64,
    /// Streams refused because too many are open.
    pub refused_streams: AtomicU64,
}

/// Counts one open thing for as long as it lives.
struct Gauge {
    counts: Arc<Counts>,
    of: fn(&Counts) -> &AtomicU64,
}

impl Gauge {
    fn new(counts: &Arc<Counts>, of: fn(&Counts) -> &AtomicU64) -> Self {
        of(counts).fetch_add(1, Ordering::Relaxed);
        Self { counts: Arc::clone(counts), of }
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        (self.of)(&self.counts).fetch_sub(1, Ordering::Relaxed);
    }
}
