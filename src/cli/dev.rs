//! `toolgate dev`: beside an API under development, forgiving, following every change.

use clap::{ArgMatches, Args};

use super::{Exit, Failure, serve};
use crate::config::Policy;

/// Run beside an API under development: forgiving, follows every change
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Dev {
    #[command(flatten)]
    flags: serve::Flags,
}

const EXAMPLES: &str = "\
Examples:
  toolgate dev http://localhost:8000 --allow 'GET *'
  toolgate dev gen/openapi.yaml --upstream http://localhost:8080 --allow tag:MemoService
  toolgate dev                                   what ./allowlists allows

Unlike `serve`, an allowed operation that leaves the document only drops out, with a warning.";

impl Dev {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        self.flags.serve(matches, Policy::Forgiving)
    }
}
