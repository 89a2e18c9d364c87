//! `toolgate tools`: what would be served.

use std::fmt::Write;

use clap::{ArgMatches, Args};
use serde_json::{Value, json};

use super::{
    Exit, Failure,
    args::{self, DocumentArgs, InputArgs},
    out,
};
use crate::{
    config::{Inputs, Policy},
    diagnostic::counted,
    gateway,
    snapshot::{Snapshot, crowd},
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
  toolgate tools --json > before.json            for `toolgate diff before.json` after a change";

impl Tools {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let inputs = args::inputs(&self.document, &self.inputs, matches, Policy::Strict)?;
        list(inputs, self.json)
    }
}

fn list(inputs: Inputs, json: bool) -> Result<Exit, Failure> {
    let snapshot = gateway::build(inputs)?;
    crowd(&snapshot).iter().for_each(|warning| eprintln!("{warning}"));
    if json {
        let tools: Vec<_> =
            snapshot.tools().map(|(_, tool)| Value::Object(tool.listed.clone())).collect();
        return out::print(&format!("{:#}\n", json!({ "tools": tools })));
    }
    out::print(&table(&snapshot))
}

/// A line a tool below a line a toolset, and what the whole list weighs.
fn table(snapshot: &Snapshot) -> String {
    let width = snapshot.tools().map(|(_, tool)| tool.name.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (served, line) in snapshot.toolsets().iter().zip(gateway::summary(snapshot)) {
        let _ = writeln!(text, "{line}");
        for tool in &served.toolset.tools {
            let bytes = Value::Object(tool.listed.clone()).to_string().len();
            let _ = writeln!(text, "  {:width$}  {bytes:>6} B  {}", tool.name.as_str(), tool.key);
        }
    }
    let _ = writeln!(
        text,
        "{}, {} bytes of tools/list",
        counted(snapshot.tools().count(), "tool"),
        snapshot.list().len()
    );
    text
}
