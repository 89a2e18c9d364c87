//! What a gateway is made of, and its start.

use std::{
    collections::HashSet,
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use http_body_util::Full;
use tokio_util::sync::CancellationToken;

use super::{Gateway, StartError, summary};
use crate::{
    allowlist,
    config::{Audience, Config, Inputs, Limits, Override, Policy, Serving},
    diagnostic::Diagnostic,
    mcp::{Bind, Edge, Inbound, Origins, Settings},
    registry::plan::Upstream,
    snapshot::{
        self, Snapshot,
        live::Live,
        reload::{self, Facts, First, Options, Pipeline, Reloader},
    },
    source::{References, remote::Remote},
    tls::Roots,
    upstream::{Caller, Service},
};

/// What to read and where calls go. Setters may be called in any order.
#[derive(Debug)]
pub struct Builder {
    inputs: Inputs,
    bind: Bind,
    public_urls: Vec<String>,
    token_file: Option<PathBuf>,
    service: Option<Service>,
    options: Options,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            inputs: Inputs::new(Policy::Strict),
            bind: Bind::Embedded,
            public_urls: Vec::new(),
            token_file: None,
            service: None,
            options: Options::default(),
        }
    }
}

impl From<Config> for Builder {
    fn from(config: Config) -> Self {
        let inputs = Inputs { audience: config.serving.audience(), ..config.inputs };
        let options = Options { watch: config.watch, quiet: config.quiet, ..Options::default() };
        let builder = Self { inputs, options, ..Self::default() };
        let Serving::Http(http) = config.serving else { return builder };
        Self {
            bind: Bind::from(http.listen.ip()),
            public_urls: http.public_urls.iter().map(ToString::to_string).collect(),
            token_file: http.token_file,
            ..builder
        }
    }
}

impl Builder {
    /// The document of every toolset: a file or an `http` or `https` URL.
    #[must_use]
    pub fn document(mut self, document: impl AsRef<Path>) -> Self {
        let value = document.as_ref().to_string_lossy().into_owned();
        self.inputs.documents.push(Override { toolset: None, value });
        self
    }

    /// The allowlist folder or file.
    #[must_use]
    pub fn allowlists(mut self, allowlists: impl AsRef<Path>) -> Self {
        self.inputs.allowlists = Some(allowlists.as_ref().to_owned());
        self
    }

    /// Allows what a selector picks, without a file: `GET *`, `tag:MemoService`, an operationId.
    #[must_use]
    pub fn allow(mut self, selector: impl Into<String>) -> Self {
        self.inputs.allow.push(selector.into());
        self
    }

    /// Where the calls of every toolset go, over HTTP: an origin, optionally with a path.
    #[must_use]
    pub fn upstream(mut self, upstream: impl Into<String>) -> Self {
        self.inputs.upstreams.push(Override { toolset: None, value: upstream.into() });
        self
    }

    /// Where the calls of one toolset go; beats [`Builder::upstream`] and its file.
    #[must_use]
    pub fn upstream_of(mut self, toolset: impl Into<String>, upstream: impl Into<String>) -> Self {
        let toolset = Some(toolset.into());
        self.inputs.upstreams.push(Override { toolset, value: upstream.into() });
        self
    }

    /// Calls go to a service in this process, for example the axum router that the gateway's is merged
    /// into. It gets the forwarded headers only and no peer address, and carries its own authentication.
    #[must_use]
    pub fn service<S, B>(mut self, service: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>,
        S: Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.service = Some(Service::new(service));
        self.inputs.in_process = true;
        self
    }

    /// A URL that clients reach `/mcp` by; its origin and host are trusted beside this machine's own.
    #[must_use]
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_urls.push(url.into());
        self
    }

    /// Every caller over HTTP must show the token in this file (`Authorization: Bearer …`), which is read
    /// again when it changes. The token goes to no upstream, and so does nothing else of `Authorization`.
    #[must_use]
    pub fn inbound_token_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.token_file = Some(file.into());
        self.inputs.audience = Audience::TokenHolders;
        self
    }

    /// Certificates that are trusted beside the system's, over HTTPS to upstreams and documents: a PEM file.
    #[must_use]
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.inputs.ca_file = Some(file.into());
        self
    }

    /// What happens to a listed operation that left the document; strict unless told.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.inputs.policy = policy;
        self
    }

    /// Start with, and stay with, whatever is good, even nothing yet.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.inputs.keep_going = keep_going;
        self
    }

    /// What to stop at.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.inputs.limits = limits;
        self
    }

    /// The moment without events before changed files are read; 100 ms unless told.
    #[must_use]
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.options.quiet = quiet;
        self
    }

    /// Reads everything, builds the first snapshot and starts the reload thread.
    ///
    /// # Errors
    /// Every fault at once; with [`Builder::keep_going`] only those of the builder itself.
    pub fn start(self) -> Result<Gateway, StartError> {
        let public_urls = self.public_urls.iter().map(String::as_str);
        let origins = Origins::new(self.bind, public_urls).map_err(Diagnostic::error)?;
        let inbound = self.token_file.as_ref().map(Inbound::open).transpose()?;
        let roots = Roots::read(self.inputs.ca_file.as_deref())?;
        let pipeline = pipeline(self.inputs, roots.clone(), self.options.watch);
        let inputs = Arc::clone(&pipeline.inputs);
        let mut first = reload::first(&pipeline);
        if !first.refusals.is_empty() && !inputs.keep_going {
            return Err(refused(&first));
        }
        let snapshot = first.snapshot.take().map(Arc::new);
        snapshot.iter().for_each(|snapshot| tell(snapshot));
        if let Some(file) = &self.token_file {
            tracing::info!("callers must show the token in `{}`", file.display());
        }
        let limits = inputs.limits.clone();
        let live = Arc::new(Live::new(snapshot, limits.removed_names));
        let stopping = CancellationToken::new();
        let caller = Caller::trusting(&limits, self.service, &roots);
        let settings =
            Settings { limits: limits.clone(), origins, inbound, stopping: stopping.clone() };
        let edge = Edge::new(Arc::clone(&live), caller, settings);
        let reloader =
            Reloader::start(pipeline, first, Arc::clone(&live), self.options).map_err(|error| {
                Diagnostic::error(format!("cannot start the reload thread: {error}"))
            })?;
        Ok(Gateway { live, edge, limits, stopping, reloader })
    }
}

/// Everything between the flags and a snapshot, as production runs it. `poll` keeps asking for documents
/// that are URLs.
pub(super) fn pipeline(inputs: Inputs, roots: Roots, poll: bool) -> Pipeline {
    Pipeline {
        inputs: Arc::new(inputs),
        remote: Remote::new(poll, roots),
        refer,
        build: Box::new(snapshot::build_while),
        facts: Facts::of,
    }
}

fn refer(text: &str) -> References {
    let allowlist::References { document, variables, files } = allowlist::references(text);
    References { document, variables, files }
}

pub(super) fn refused(first: &First) -> StartError {
    let diagnostics = first.refusals.iter().flat_map(|refusal| refusal.diagnostics.clone());
    StartError { diagnostics: once(diagnostics.collect()) }
}

/// Each diagnostic once: toolsets that share a document share its faults.
pub(super) fn once(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut said = HashSet::new();
    diagnostics.retain(|diagnostic| said.insert(diagnostic.clone()));
    diagnostics
}

/// The start lines: what is served and where calls go, what was forgiven, what is unsafe.
fn tell(snapshot: &Snapshot) {
    summary(snapshot).iter().for_each(|line| tracing::info!("{line}"));
    snapshot::crowd(snapshot).iter().for_each(|warning| tracing::warn!("{warning}"));
    for served in snapshot.toolsets() {
        served.toolset.warnings.iter().for_each(|warning| tracing::warn!("{}", warning.snippet()));
        if let Upstream::Origin(origin) = &served.toolset.target.upstream
            && is_cleartext(origin)
        {
            let name = &served.toolset.name;
            tracing::warn!("{name}: calls and credentials go to {origin} unencrypted; use https");
        }
    }
}

/// Whether what is sent there can be read on the way: no TLS, and not on this machine.
fn is_cleartext(origin: &Uri) -> bool {
    let host = origin.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let address: Option<std::net::IpAddr> = host.parse().ok();
    let local = address.map_or(host == "localhost", |address| address.is_loopback());
    origin.scheme_str() == Some("http") && !local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cleartext_that_leaves_the_machine_is_warned_of() {
        let check = |origin: &str, expected: bool| {
            assert_eq!(is_cleartext(&origin.parse().unwrap()), expected, "{origin}");
        };
        check("http://127.0.0.1:8000", false);
        check("http://[::1]:8000", false);
        check("http://localhost:8000", false);
        check("https://api.example.com", false);
        check("http://api.example.com", true);
        check("http://10.0.0.1", true);
    }
}
