//! `toolgate diff`: what changed for callers, as a reload would log it.
//!
//! `--json` prints one object whose keys stay:
//!
//! - `breaking`: whether a caller of the old tools may fail
//! - `added`, `removed`: names of tools
//! - `renamed`: `from`, `to`, `breaking`
//! - `changed`: `tool`, `breaking`, `changes`, each with `aspect` (`texts`, `input`, `output`,
//!   `annotations`, `binding`, `aliases`), `breaking`, `words`

mod side;

use std::fmt::Write;

use clap::{ArgMatches, Args};
use serde_json::{Value, json};

use super::{Exit, Failure, args::InputArgs, out};
use crate::snapshot::diff::{Aspect, Change, Changed, Diff, Effect, Renamed, Totals, between};
use side::{Flags, Operand};

/// Say what changed for callers; exit code 1 on a break
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct DiffArgs {
    /// A saved list, a document, or allowlists
    #[arg(id = "positional", value_name = "OLD")]
    old: String,

    /// The same [default: what the flags below come to]
    #[arg(value_name = "NEW")]
    new: Option<String>,

    #[command(flatten)]
    inputs: InputArgs,

    /// Print JSON: breaking, added, removed, renamed, changed
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate tools --json > tools.json             commit this file: it pins what agents rely on
  toolgate diff tools.json                       in CI: fails when a change would break them
  toolgate diff old/openapi.yaml                 another document under the same allowlists
  toolgate diff main/allowlists allowlists       other allowlists, each with its own document
  toolgate diff v1.yaml v2.yaml --allow 'GET *' --upstream http://localhost

Breaking is what may fail a caller of the old tools: a tool, an argument or a field of a reply
that is gone or renamed, an argument that takes less, and what it cannot judge.
Exit code 0: nothing breaks, 1: something does, 2: an input is wrong.
A saved list holds what clients see; rules that they do not see, and where calls go, need inputs on
both sides.";

impl DiffArgs {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let flags = Flags { args: &self.inputs, matches };
        let old = Operand::read(&self.old)?;
        let new = self.new.as_deref().map(Operand::read).transpose()?;
        side::without_effect(&old, new.as_ref(), flags)?;
        // A document alone does not say where calls go.
        let any_upstream = old.is_document() || new.as_ref().is_some_and(Operand::is_document);
        let seen = |operand: Operand| operand.seen(flags, any_upstream);
        let (old, new) = (seen(old)?, seen(new.unwrap_or(Operand::Flags))?);
        let diff = between(&old, &new);
        let text = if self.json { format!("{:#}\n", object(&diff)) } else { table(&diff) };
        out::print(&text)?;
        Ok(if diff.breaks() { Exit::No } else { Exit::Good })
    }
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Breaking => "breaking",
        Effect::Safe => "safe    ",
    }
}

fn aspect(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Texts => "texts",
        Aspect::InputWidened | Aspect::InputNarrowed => "input",
        Aspect::Output => "output",
        Aspect::Annotations => "annotations",
        Aspect::Binding => "binding",
        Aspect::Aliases => "aliases",
    }
}

/// A line a tool, the changes of one below it, and the numbers last.
fn table(diff: &Diff) -> String {
    let mut text = String::new();
    let mut line = |effect: Effect, words: String| {
        let _ = writeln!(text, "{}  {words}", word(effect));
    };
    diff.removed.iter().for_each(|name| line(Effect::Breaking, format!("- {name}: removed")));
    for Renamed { from, to, effect } in &diff.renamed {
        let still = match effect {
            Effect::Safe => "the old name still answers",
            Effect::Breaking => "add the old name to its `aliases` to keep callers working",
        };
        line(*effect, format!("> {from}: is called `{to}` now; {still}"));
    }
    for Changed { tool, changes } in &diff.changed {
        for change in changes {
            let what = aspect(change.aspect);
            line(change.effect, format!("~ {tool}: {what}: {}", change.words));
        }
    }
    diff.added.iter().for_each(|name| line(Effect::Safe, format!("+ {name}: added")));
    text + &total(diff.totals())
}

fn total(totals: Totals) -> String {
    let Totals { added, removed, renamed, changed, breaking } = totals;
    if totals == Totals::default() {
        return "nothing changed for callers\n".to_owned();
    }
    let counts = format!("{added} added, {removed} removed, {renamed} renamed, {changed} changed");
    match breaking {
        0 => format!("{counts}; nothing breaks\n"),
        1 => format!("{counts}; 1 tool breaks\n"),
        _ => format!("{counts}; {breaking} tools break\n"),
    }
}

fn object(diff: &Diff) -> Value {
    let breaks = |effect: Effect| effect == Effect::Breaking;
    let change = |change: &Change| {
        json!({
            "aspect": aspect(change.aspect),
            "breaking": breaks(change.effect),
            "words": change.words,
        })
    };
    let changed = |changed: &Changed| {
        json!({
            "tool": changed.tool,
            "breaking": breaks(changed.effect()),
            "changes": changed.changes.iter().map(change).collect::<Vec<_>>(),
        })
    };
    let renamed =
        |one: &Renamed| json!({ "from": one.from, "to": one.to, "breaking": breaks(one.effect) });
    json!({
        "breaking": diff.breaks(),
        "added": diff.added,
        "removed": diff.removed,
        "renamed": diff.renamed.iter().map(renamed).collect::<Vec<_>>(),
        "changed": diff.changed.iter().map(changed).collect::<Vec<_>>(),
    })
}
