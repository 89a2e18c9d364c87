//! `toolgate check`: what is wrong, through the same code that starts and reloads.
//!
//! `--json` prints one object whose keys stay:
//!
//! - `ok`: whether a start with these inputs would serve
//! - `toolsets`: those that would be served: `name`, `file`, `tools` (a count), `target`
//! - `diagnostics`: `severity` (`error`, `warning`), `message`, `help`, `file`, `line`, `column`,
//!   `pointer`, `toolset`; each of them there, `null` where it does not apply. Lines and columns count
//!   from 1, the pointer is of RFC 6901.

use clap::{ArgMatches, Args};
use serde_json::{Value, json};

use super::{
    Exit, Failure,
    args::{self, DocumentArgs, InputArgs},
    out,
};
use crate::{
    config::Policy,
    diagnostic::{Diagnostic, Severity},
    gateway::{self, Checked, Remark},
    snapshot::{Served, Snapshot},
};

/// Say what is wrong; exit code 0 or 2
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    #[command(flatten)]
    document: DocumentArgs,
    #[command(flatten)]
    inputs: InputArgs,

    /// Print one JSON object: ok, toolsets, diagnostics
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate check                                 everything below ./allowlists
  toolgate check new/openapi.yaml                the same against another document
  toolgate check --json | jq -r '.diagnostics[] | \"\\(.file):\\(.line) \\(.message)\"'

JSON:  ok           true or false
       toolsets     name, file, tools (how many), target
       diagnostics  severity (error or warning), message, help, file, line, column, pointer, toolset
                    (null where one does not apply)";

impl Check {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let inputs = args::inputs(&self.document, &self.inputs, matches, Policy::Strict);
        match (inputs, self.json) {
            (Ok(inputs), json) => answer(&gateway::check(inputs), json),
            (Err(fault), true) => answer(&Checked::fault(fault), true),
            (Err(fault), false) => Err(fault.into()),
        }
    }
}

fn answer(checked: &Checked, json: bool) -> Result<Exit, Failure> {
    let served = checked.snapshot.as_ref();
    let text = if json {
        format!("{:#}\n", object(checked))
    } else {
        checked.remarks.iter().for_each(|remark| eprintln!("{}", remark.diagnostic.snippet()));
        let lines = served.filter(|_| checked.is_good()).map(gateway::summary).unwrap_or_default();
        lines.into_iter().map(|line| line + "\n").collect()
    };
    out::print(&text)?;
    Ok(if checked.is_good() { Exit::Good } else { Exit::Wrong })
}

fn object(checked: &Checked) -> Value {
    let served = checked.snapshot.as_ref().map(Snapshot::toolsets).unwrap_or_default();
    json!({
        "ok": checked.is_good(),
        "toolsets": served.iter().map(toolset).collect::<Vec<_>>(),
        "diagnostics": checked.remarks.iter().map(remark).collect::<Vec<_>>(),
    })
}

fn toolset(served: &Served) -> Value {
    let toolset = &served.toolset;
    json!({
        "name": toolset.name,
        "file": &*toolset.file,
        "tools": toolset.tools.len(),
        "target": gateway::target(toolset),
    })
}

fn remark(remark: &Remark) -> Value {
    let Diagnostic { severity, message, help, position } = &remark.diagnostic;
    let place = position.as_ref().and_then(|position| position.place.as_ref());
    json!({
        "severity": match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": message,
        "help": help,
        "file": position.as_ref().map(|position| &*position.file),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "pointer": place.map(|place| &*place.pointer),
        "toolset": remark.toolset,
    })
}
