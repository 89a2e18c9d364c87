//! The pieces put together: for the command line and for a service that embeds toolgate.
//!
//! A [`Builder`] collects what to read and where calls go; [`Builder::start`] reads everything once,
//! builds the first snapshot and starts the reload thread. From then on [`Gateway::router`] is all a
//! service needs. The command line does the same, so that nothing behaves differently when embedded.

mod builder;
mod check;
mod inspect;
mod summary;

use std::{fmt, io, sync::Arc};

use http::HeaderValue;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Inputs, Limits},
    diagnostic::Diagnostic,
    mcp::{self, Edge},
    snapshot::{
        Snapshot,
        live::{Live, Status},
        reload::{self, Reloader},
    },
    tls::Roots,
};

pub use builder::Builder;
pub use check::{Checked, Remark, check};
pub use inspect::{api, inspect};
pub use summary::{summary, target};

/// A running gateway. Dropping it ends its reload thread, its sessions and its listeners.
#[derive(Debug)]
pub struct Gateway {
    live: Arc<Live>,
    edge: Arc<Edge>,
    limits: Limits,
    stopping: CancellationToken,
    reloader: Reloader,
}

/// Why a gateway did not start: every fault at once, one a line.
#[derive(Clone, Debug)]
pub struct StartError {
    /// What is wrong; never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.diagnostics.iter().map(Diagnostic::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for StartError {}

impl From<Diagnostic> for StartError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic] }
    }
}

/// Reads and builds once, as a start does, and serves nothing: what `check`, `tools` and `call` stand on.
///
/// # Errors
/// Everything that is refused, [`Inputs::keep_going`] or not.
pub fn build(inputs: Inputs) -> Result<Snapshot, StartError> {
    let roots = Roots::read(inputs.ca_file.as_deref())?;
    let mut first = reload::first(&builder::pipeline(inputs, roots, false));
    match first.snapshot.take() {
        Some(snapshot) if first.refusals.is_empty() => Ok(snapshot),
        _ => Err(builder::refused(&first)),
    }
}

impl Gateway {
    /// A gateway over nothing yet: strict, with default limits.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A router with `/mcp` and nothing else, to be merged into a service's own.
    pub fn router(&self) -> mcp::Router {
        mcp::router(&self.edge)
    }

    /// Serves `/mcp` alone on a listener until `stop` is done and calls in flight are, or 25 s after that.
    pub fn serve(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (router, limits, stopping) =
            (self.router(), self.limits.clone(), self.stopping.clone());
        let edge = Arc::clone(&self.edge);
        async move {
            let serving = mcp::serve(listener, router, &limits, stopping.clone());
            let stopped = async {
                stop.await;
                stopping.cancel();
                std::future::pending().await
            };
            tokio::select! {
                () = serving => edge.end(),
                () = stopped => {}
            }
        }
    }

    /// Serves one client over lines of JSON until `input` ends. `authorization` is its credential.
    ///
    /// # Errors
    /// When the input or the output fails.
    pub async fn serve_lines<R, W>(
        &self,
        input: R,
        output: W,
        authorization: Option<HeaderValue>,
    ) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        mcp::serve_lines(&self.edge, input, output, authorization).await
    }

    /// The snapshot of this moment; `None` while nothing good was read yet.
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.live.load()
    }

    /// How many snapshots are in memory, the served one included.
    pub fn snapshots_alive(&self) -> usize {
        self.live.alive()
    }

    /// How reloading fares.
    pub fn status(&self) -> Arc<Status> {
        self.live.status()
    }

    /// Reads everything now, as on SIGHUP; returns at once.
    pub fn reload_now(&self) {
        self.reloader.reload_now();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.edge.end();
    }
}
