//! `toolgate tools`: what would be served.

use clap::{ArgMatches, Args};

use super::{
    Exit, Failure,
    args::{self, DocumentArgs, InputArgs},
};
use crate::{
    config::{Inputs, Policy},
    diagnostic::Diagnostic,
};

/// List what would be served: names, targets, bytes
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Tools {
    #[command(flatten)]
    document: DocumentArgs,
    #[command(flatten)]
    inputs: InputArgs,

    /// Print the tools as `tools/list` would
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate tools                                 what ./allowlists allows
  toolgate tools --json > before.json            to compare after a change";

impl Tools {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let inputs = args::inputs(&self.document, &self.inputs, matches, Policy::Strict)?;
        list(inputs, self.json)
    }
}

fn list(inputs: Inputs, json: bool) -> Result<Exit, Failure> {
    drop((inputs, json));
    Err(Failure::Running(Diagnostic::error("listing is not built yet")))
}
