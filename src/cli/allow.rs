//! `toolgate allow`: a person adds an operation to an allowlist file, or takes it out again.
//!
//! The change is planned on what was read, shown, agreed to, and only then written: beside the file and
//! renamed over it, so that whoever watches the file sees one of two whole texts. Tools cannot do this.

mod plan;

use std::{
    fs,
    io::{self, BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Args};

use super::{
    Exit, Failure,
    args::{DocumentArgs, FileArgs},
    out,
};
use crate::{
    allowlist::Selector,
    config::Inputs,
    diagnostic::{Diagnostic, Position, quote},
    gateway,
};
use plan::{Change, Wish, plan};

/// Add operations to an allowlist file, or take them out
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Allow {
    /// operationId, 'METHOD /path', tag:NAME, with *
    #[arg(value_name = "SELECTOR", required = true)]
    selectors: Vec<String>,

    /// Take them out instead
    #[arg(long)]
    remove: bool,

    /// Which allowlist, where there are several
    #[arg(long, env = "TOOLGATE_FILE", hide_env = true, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    files: FileArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate allow 'POST /items' 'GET /items/{item_id}'
  toolgate allow MemoService_DeleteMemo --remove
  toolgate allow tag:MemoService --file allowlists/memos.yaml --yes

A line that `toolgate init` commented out loses its `# `; else one line is added. The rest of the
file stays as it is, and nothing is written that makes `toolgate check` refuse a sound file.
Exit code: 0 done, or nothing to do; 1 not agreed to; 2 refused.";

impl Allow {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let mut inputs = self.files.inputs(&DocumentArgs::default(), matches)?;
        let selectors = self.selectors.iter().map(|text| Selector::parse(text));
        let selectors = selectors.collect::<Result<Vec<_>, _>>()?;
        read_alone(&mut inputs, self.file.as_deref());
        exists(&inputs)?;
        let wish = Wish { selectors, remove: self.remove, file: self.file };
        let change = gateway::inspect(inputs, move |sources| plan(sources, &wish))?;
        apply(&change.map_err(Failure::Inputs)?, self.yes, self.remove)
    }
}

/// A file that does not stand among the other allowlists is read without them.
fn read_alone(inputs: &mut Inputs, file: Option<&Path>) {
    let (Some(file), Some(folder)) = (file, &inputs.allowlists) else { return };
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).ok();
    if parent.is_none() || parent != fs::canonicalize(folder).ok() {
        inputs.allowlists = Some(file.to_owned());
    }
}

fn exists(inputs: &Inputs) -> Result<(), Diagnostic> {
    let path = inputs.allowlists.as_deref().filter(|path| !path.exists());
    path.map_or(Ok(()), |path| {
        let fault = Diagnostic::error("there is no allowlist yet");
        let help =
            "make one: `mkdir -p allowlists && toolgate init DOCUMENT > allowlists/api.yaml`";
        Err(fault.help(help).at(Position::whole(path.display().to_string())))
    })
}

fn apply(change: &Change, yes: bool, remove: bool) -> Result<Exit, Failure> {
    out::print(&change.said)?;
    if change.before == change.after {
        return Ok(Exit::Good);
    }
    if !yes {
        let question = if remove { "remove?" } else { "allow?" };
        match ask(question)? {
            true => {}
            false => return Ok(Exit::No),
        }
    }
    write(change).map_err(|error| {
        let fault = Diagnostic::error(format!("cannot be written: {error}"));
        Failure::Running(fault.at(Position::whole(change.file.display().to_string())))
    })?;
    Ok(Exit::Good)
}

/// Whether a person at the terminal agrees.
fn ask(question: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let fault = Diagnostic::error("nothing is changed: there is no terminal to ask at");
        return Err(fault.help("pass `--yes` to agree beforehand").into());
    }
    let failed = |error| Failure::Running(Diagnostic::error(format!("cannot ask: {error}")));
    let mut asked = io::stderr().lock();
    write!(asked, "{question} [y/N] ").and_then(|()| asked.flush()).map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Replaces the file that a link stands for, keeping its mode.
fn write(change: &Change) -> io::Result<()> {
    let target = fs::canonicalize(&change.file)?;
    if fs::read(&target)? != change.before {
        return Err(io::Error::other("it was changed meanwhile; run this again"));
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // With a dot in front it is no allowlist for anyone who reads the folder now.
    let beside = target.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = fill(&beside, &change.after, &target).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        // What went wrong before is what matters.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn fill(beside: &Path, content: &[u8], target: &Path) -> io::Result<()> {
    let mut file = fs::File::create_new(beside)?;
    file.set_permissions(fs::metadata(target)?.permissions())?;
    file.write_all(content)?;
    file.sync_all()
}

/// Where an entry stands, for people: `allowlists/api.yaml:7`.
fn at(position: &Position) -> String {
    let line = position.place.as_ref().map_or(String::new(), |place| format!(":{}", place.line));
    quote(&format!("{}{line}", position.file))
}
