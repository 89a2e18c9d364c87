//! One call: plan and arguments to a request, the response to an answer.
//!
//! It knows the registry's plan and shape and nothing else of the registry: not the snapshot, not the
//! protocol. Requests go to the toolset's one [`Target`]; redirects are never followed; the caller's
//! credentials live as long as the call and stand in no answer and no log.
//!
//! Whatever goes wrong, a call comes to an [`Answer`]: faults of the arguments, a full house, an upstream
//! that is away, slow, broken or hostile, and a panic anywhere below.

mod auth;
mod client;
mod error;
mod flight;
mod panic;
#[cfg(test)]
#[path = "../tests/it/support/raw.rs"]
mod raw;
mod receive;
mod request;
mod response;
mod secret;
mod service;
#[cfg(test)]
mod tests;
mod trace;

use std::{
    any::Any,
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::FutureExt;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tokio::time::{Instant, timeout_at};

pub use self::{
    auth::{CallerAuth, authorization},
    panic::remember_places,
    service::Service,
    trace::Trace,
};
use self::{
    client::Http,
    error::{Failure, UNSURE, Unsent},
    flight::Flights,
    receive::{Bounds, receive},
    request::Outgoing,
    response::{Context, Received},
};
use crate::{
    config::Limits,
    registry::plan::{ArgumentFault, Arguments, PathPiece, Plan, Target, Upstream},
    tls::Roots,
};

/// What a call came to; always an answer, whatever went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the model reads; never empty. With `structured`, one block is the same JSON as text, but for
    /// replies that are text themselves and for notes, where the block is the text as it is.
    pub content: Vec<Content>,
    /// JSON text of an object, digits as the upstream sent them, nested at most 101 deep; `None` in
    /// errors. Numbers can be larger than any machine type: pass the text on unparsed.
    pub structured: Option<String>,
    /// Whether it is a tool error.
    pub is_error: bool,
}

impl Answer {
    /// A tool error of text only.
    fn error(text: String) -> Self {
        Self { content: vec![Content::Text(text)], structured: None, is_error: true }
    }

    /// The answer to arguments that cannot be used: every fault on a line of its own.
    pub fn refused(faults: &[ArgumentFault]) -> Self {
        /// More than these say nothing new.
        const MOST: usize = 20;
        let line = |fault: &ArgumentFault| match fault.path.as_str() {
            "" => format!("- {}", fault.words),
            path => format!("- `{path}`: {}", fault.words),
        };
        let mut lines = vec!["the arguments were refused:".to_owned()];
        lines.extend(faults.iter().take(MOST).map(line));
        if faults.len() > MOST {
            lines.push(format!("- and {} more", faults.len() - MOST));
        }
        Self::error(lines.join("\n"))
    }
}

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, base64.
    Image {
        /// Base64 of the bytes.
        data: String,
        /// Its media type.
        media_type: String,
    },
    /// Sound, base64.
    Audio {
        /// Base64 of the bytes.
        data: String,
        /// Its media type.
        media_type: String,
    },
    /// Any other media type, base64.
    Blob {
        /// Base64 of the bytes.
        data: String,
        /// Its media type.
        media_type: String,
    },
}

/// How far a call is, for callers that asked for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// The request is sent.
    Sent,
    /// The response's headers are here.
    Headers,
    /// The body is complete.
    Complete,
}

/// Makes calls; one for the whole process. Holds the connection pool and the calls in flight; clones
/// share both.
#[derive(Clone)]
pub struct Caller(Arc<Inner>);

struct Inner {
    http: Http,
    service: Option<Service>,
    flights: Flights,
    /// Bytes of a request's path and query.
    max_url: usize,
    panics: Arc<AtomicU64>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("service", &self.0.service).finish_non_exhaustive()
    }
}

/// Where a timeout is too long for the clock.
const LONGEST_CALL: Duration = Duration::from_secs(24 * 60 * 60);

impl Caller {
    /// A caller with an empty pool. `service` takes the calls of targets that are in this process.
    pub fn new(limits: &Limits, service: Option<Service>) -> Self {
        Self::trusting(limits, service, &Roots::default())
    }

    /// The same, trusting the certificates in `roots` too over HTTPS.
    pub fn trusting(limits: &Limits, service: Option<Service>, roots: &Roots) -> Self {
        Self(Arc::new(Inner {
            http: Http::new(limits, roots),
            service,
            flights: Flights::new(limits.calls),
            max_url: limits.url,
            panics: Arc::default(),
        }))
    }

    /// Makes one call. Dropping the future cancels the upstream request.
    pub async fn call(
        &self,
        target: &Target,
        plan: &Plan,
        arguments: &Arguments,
        auth: &CallerAuth,
        progress: impl Fn(Progress) + Send,
    ) -> Answer {
        let call = self.attempt(target, plan, arguments, auth, progress);
        self.guard(plan, call).await.unwrap_or_else(|answer| answer)
    }

    /// Does a part of a call; the answer to one that panicked has a number, and the log the details
    /// under that number.
    ///
    /// # Errors
    /// When it panicked.
    pub async fn guard<T>(&self, plan: &Plan, work: impl Future<Output = T>) -> Result<T, Answer> {
        // Nothing of a call is used after it panicked but the count of calls, which is always whole.
        let outcome = AssertUnwindSafe(work).catch_unwind().await;
        outcome.map_err(|panic| self.caught(plan, panic.as_ref()))
    }

    /// Panics caught so far; their numbers stand in answers and in the log.
    pub fn panics(&self) -> &Arc<AtomicU64> {
        &self.0.panics
    }

    async fn attempt(
        &self,
        target: &Target,
        plan: &Plan,
        arguments: &Arguments,
        auth: &CallerAuth,
        progress: impl Fn(Progress) + Send,
    ) -> Answer {
        let outgoing = match request::build(plan, target, arguments, self.0.max_url) {
            Ok(outgoing) => outgoing,
            Err(faults) => return Answer::refused(&faults),
        };
        let failed = |failure: Failure| {
            Answer::error(failure.words(&place(target), plan.reads, plan.timeout))
        };
        let _flight = match self.0.flights.begin(target) {
            Ok(flight) => flight,
            Err(bound) => return failed(Failure::Busy(bound)),
        };
        let request = assemble(outgoing, target, auth);
        let uri = request.uri().clone();
        let secrets = auth::secrets(target, auth);
        let has_credential = auth::has_credential(target, auth);
        match self.exchange(request, target, plan, progress).await {
            Ok(received) => {
                let context =
                    Context { plan, target, path: uri.path(), secrets: &secrets, has_credential };
                response::answer(&received, &context)
            }
            Err(failure) => failed(failure),
        }
    }

    /// Sends a request and reads its response, within the time of one call.
    async fn exchange(
        &self,
        request: Request<Full<bytes::Bytes>>,
        target: &Target,
        plan: &Plan,
        progress: impl Fn(Progress) + Send,
    ) -> Result<Received, Failure> {
        let now = Instant::now();
        let deadline = now.checked_add(plan.timeout).unwrap_or(now + LONGEST_CALL);
        let bounds = Bounds { method: &plan.method, most: plan.max_response, deadline };
        progress(Progress::Sent);
        match (&target.upstream, &self.0.service) {
            (Upstream::Origin(_), _) => {
                let reply = self.0.http.send(request, deadline).await?;
                Ok(read(reply, bounds, progress).await)
            }
            (Upstream::Service, Some(service)) => {
                let reply = timeout_at(deadline, service.send(request)).await;
                let reply = reply.map_err(|_| Failure::TimedOut)?.map_err(|_| Failure::Service)?;
                Ok(read(reply, bounds, progress).await)
            }
            (Upstream::Service, None) => Err(Failure::Unsent(Unsent::NoService)),
        }
    }

    /// The answer to a call that panicked. The log gets a fixed message in full; one put together at run
    /// time may hold what the call was about, so only the panic's own output has it.
    fn caught(&self, plan: &Plan, panic: &(dyn Any + Send)) -> Answer {
        let number = self.0.panics.fetch_add(1, Relaxed) + 1;
        let message = panic.downcast_ref::<&'static str>().copied();
        let message = message.unwrap_or("a message made at run time");
        let at = panic::place();
        let path = template(plan);
        tracing::error!(number, method = %plan.method, %path, at, message, "a call panicked");
        let words = format!(
            "the call failed inside the gateway; its log has the details under error number {number}"
        );
        Answer::error(if plan.reads { words } else { format!("{words}; {UNSURE}") })
    }
}

async fn read<B: Body>(
    reply: Response<B>,
    bounds: Bounds<'_>,
    progress: impl Fn(Progress) + Send,
) -> Received {
    progress(Progress::Headers);
    let received = receive(reply, bounds).await;
    progress(Progress::Complete);
    received
}

fn assemble(outgoing: Outgoing, target: &Target, auth: &CallerAuth) -> Request<Full<bytes::Bytes>> {
    let mut request = Request::new(Full::new(outgoing.body));
    *request.method_mut() = outgoing.method;
    *request.uri_mut() = outgoing.uri;
    *request.headers_mut() = auth::headers(outgoing.headers, target, auth);
    request
}

/// Where calls go, as people know it; without credentials that an address may carry.
fn place(target: &Target) -> String {
    match &target.upstream {
        Upstream::Service => "the service in this process".to_owned(),
        Upstream::Origin(origin) => {
            let port = origin.port().map(|port| format!(":{port}")).unwrap_or_default();
            let scheme = origin.scheme_str().unwrap_or_default();
            format!("`{scheme}://{}{port}`", origin.host().unwrap_or_default())
        }
    }
}

/// The path without its values.
fn template(plan: &Plan) -> String {
    let piece = |piece: &PathPiece| match piece {
        PathPiece::Literal(literal) => literal.clone(),
        PathPiece::Value(value) => format!("{{{}}}", value.name),
    };
    plan.path
        .iter()
        .map(|segment| format!("/{}", segment.0.iter().map(piece).collect::<String>()))
        .collect()
}
