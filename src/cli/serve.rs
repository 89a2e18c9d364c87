//! `toolgate serve`: in production, strict. `dev` shares everything but the policy.

use std::{
    io,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use clap::{ArgMatches, Args};
use http::HeaderValue;
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use super::{
    Exit, Failure,
    args::{self, BehaviourArgs, DocumentArgs, InputArgs, ServingArgs},
};
use crate::{
    config::{Config, Http, Policy, Serving},
    diagnostic::{Diagnostic, Position},
    gateway::{Builder, Gateway},
    upstream,
};

/// The variable that holds the caller's credential where there are no headers.
const CREDENTIAL: &str = "TOOLGATE_AUTHORIZATION";

/// Run in production: strict
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Serve {
    #[command(flatten)]
    flags: Flags,
}

const EXAMPLES: &str = "\
Examples:
  toolgate check && toolgate serve --listen 0.0.0.0:7676 --public-url https://mcp.example.com
  toolgate serve --allowlists /etc/toolgate --upstream memos=http://memos:5230
  toolgate serve --listen 0.0.0.0:7676 --inbound-token-file /run/secrets/token --ca-file ca.pem

Any fault at start ends it with exit code 2; a bad edit while it runs changes nothing.";

impl Serve {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        self.flags.serve(matches, Policy::Strict)
    }
}

/// The flags that `serve` and `dev` share.
#[derive(Args, Debug)]
pub(super) struct Flags {
    #[command(flatten)]
    document: DocumentArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    serving: ServingArgs,
    #[command(flatten)]
    behaviour: BehaviourArgs,
}

impl Flags {
    /// Serves what the flags come to until it is told to stop.
    ///
    /// # Errors
    /// The first flag that is wrong or has no effect; what is wrong at start, or fails while it runs.
    pub(super) fn serve(&self, matches: &ArgMatches, policy: Policy) -> Result<Exit, Failure> {
        let mut inputs = args::inputs(&self.document, &self.inputs, matches, policy)?;
        inputs.keep_going |= self.behaviour.keep_going;
        let serving = args::serving(&self.serving, matches)?;
        let quiet = Duration::from_millis(self.behaviour.quiet);
        start(Config { inputs, serving, watch: !self.behaviour.no_watch, quiet })
    }
}

fn start(config: Config) -> Result<Exit, Failure> {
    let serving = config.serving.clone();
    let gateway = Arc::new(Builder::from(config).start()?);
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let reload = tokio::spawn(reload_on_hangup(Arc::downgrade(&gateway)));
        let outcome = match serving {
            Serving::Stdio => stdio(&gateway).await,
            Serving::Http(http) => listen(&gateway, &http).await,
        };
        reload.abort();
        outcome
    });
    // A read of standard input that is under way cannot be cancelled, and nothing else is left.
    runtime.shutdown_background();
    outcome
}

/// The runtime of every subcommand that calls an upstream.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(|error| failed(format!("cannot start: {error}")))
}

fn failed(words: String) -> Failure {
    Failure::Running(Diagnostic::error(words))
}

async fn listen(gateway: &Gateway, http: &Http) -> Result<Exit, Failure> {
    let listener = TcpListener::bind(http.listen).await.map_err(|error| {
        let fault = Diagnostic::error(format!("cannot listen on `{}`: {error}", http.listen));
        Failure::Running(fault.help("choose another address with `--listen ADDR`"))
    })?;
    let address = listener.local_addr().map_err(|error| failed(error.to_string()))?;
    tracing::info!("listening on http://{address}/mcp");
    let stop = CancellationToken::new();
    let serving = gateway.serve(listener, stop.clone().cancelled_owned());
    let mut serving = pin!(serving);
    tokio::select! {
        () = &mut serving => return Ok(Exit::Good),
        () = told_to_stop() => tracing::info!("stopping: calls in flight have 25 s"),
    }
    stop.cancel();
    tokio::select! {
        () = serving => {}
        () = told_to_stop() => tracing::warn!("stopped at once"),
    }
    Ok(Exit::Good)
}

async fn stdio(gateway: &Gateway) -> Result<Exit, Failure> {
    let authorization = credential()?;
    let serving = gateway.serve_lines(tokio::io::stdin(), tokio::io::stdout(), authorization);
    tokio::select! {
        served = serving => match served {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(format!("stdio failed: {error}"))),
            _ => Ok(Exit::Good),
        },
        () = told_to_stop() => Ok(Exit::Good),
    }
}

/// The caller's credential where there are no headers: a token, or a whole `Authorization` value.
pub(super) fn credential() -> Result<Option<HeaderValue>, Diagnostic> {
    let text = std::env::var(CREDENTIAL).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let wrong = |words| Diagnostic::error(words).at(Position::whole(CREDENTIAL));
    upstream::authorization(&text).map(Some).map_err(wrong)
}

/// Resolves when the process is told to end.
async fn told_to_stop() {
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

/// SIGHUP reads everything now, for as long as the gateway is there.
async fn reload_on_hangup(gateway: Weak<Gateway>) {
    let Ok(mut signals) = signal(SignalKind::hangup()) else { return };
    while signals.recv().await.is_some() {
        let Some(gateway) = gateway.upgrade() else { return };
        gateway.reload_now();
    }
}
