//! `toolgate serve`: in production, strict. `dev` shares everything but the policy.

use clap::{ArgMatches, Args};

use super::{
    Exit, Failure,
    args::{self, BehaviourArgs, DocumentArgs, InputArgs, ServingArgs},
};
use crate::{
    config::{Config, Policy},
    diagnostic::Diagnostic,
};

/// Run in production: strict
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Serve {
    #[command(flatten)]
    document: DocumentArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    serving: ServingArgs,
    #[command(flatten)]
    behaviour: BehaviourArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate check && toolgate serve --listen 0.0.0.0:7676 --public-url https://mcp.example.com
  toolgate serve --allowlists /etc/toolgate --upstream memos=http://memos:5230

Any fault at start ends it with exit code 2; a bad edit while it runs changes nothing.";

impl Serve {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let parts = (&self.document, &self.inputs, &self.serving, &self.behaviour);
        start(config(parts, matches, Policy::Strict)?)
    }
}

/// The groups of flags that `serve` and `dev` share.
pub(super) type Parts<'a> = (&'a DocumentArgs, &'a InputArgs, &'a ServingArgs, &'a BehaviourArgs);

/// What the flags come to.
///
/// # Errors
/// The first flag that is wrong or has no effect.
pub(super) fn config(
    (document, inputs, serving, behaviour): Parts<'_>,
    matches: &ArgMatches,
    policy: Policy,
) -> Result<Config, Diagnostic> {
    let mut inputs = args::inputs(document, inputs, matches, policy)?;
    inputs.keep_going |= behaviour.keep_going;
    let serving = args::serving(serving, matches, policy)?;
    Ok(Config { inputs, serving, watch: !behaviour.no_watch })
}

/// Serves until it is told to stop.
pub(super) fn start(config: Config) -> Result<Exit, Failure> {
    drop(config);
    Err(Failure::Running(Diagnostic::error("serving is not built yet")))
}
