//! One side of a diff: what a person named, and the tools it comes to.
//!
//! A text that is no URL is looked into, not judged by its name: a document says `openapi` or
//! `swagger`, a saved list is JSON that holds tools with their schemas, the rest is an allowlist.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::ArgMatches;
use serde_json::Value;

use crate::{
    cli::{
        Failure,
        args::{self, DocumentArgs, InputArgs},
    },
    config::{Policy, url},
    diagnostic::{Diagnostic, Position},
    gateway,
    openapi::text::{Text, is_json},
    snapshot::diff::Seen,
};

/// The flags that decide what a side is built from.
#[derive(Clone, Copy)]
pub(super) struct Flags<'a> {
    pub(super) args: &'a InputArgs,
    pub(super) matches: &'a ArgMatches,
}

/// What one side is.
#[derive(Debug)]
pub(super) enum Operand {
    /// A tools array that was saved.
    Saved(Vec<Seen>),
    /// A document, by path or URL, in place of the flags'.
    Document(String),
    /// An allowlist file or folder, in place of the flags'.
    Allowlists(PathBuf),
    /// What the flags come to.
    Flags,
}

/// Bytes of a file that is looked into; a document may be as large.
const MOST: u64 = 32_000_000;

impl Operand {
    /// What a text on the command line names.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let path = Path::new(text);
        if url::is_url(text) {
            return Ok(Self::Document(text.to_owned()));
        }
        let fault = |words: String| Diagnostic::error(words).at(Position::whole(text));
        let metadata = fs::metadata(path).map_err(|error| fault(error.to_string()))?;
        if metadata.is_dir() {
            return Ok(Self::Allowlists(path.to_owned()));
        }
        if !metadata.is_file() || metadata.len() > MOST {
            return Err(fault("is no file, or one of over 32 MB".to_owned()).into());
        }
        let bytes = fs::read(path).map_err(|error| fault(error.to_string()))?;
        let value = Text::new(text, &bytes).and_then(|text| text.value())?;
        Ok(match saved(text, &value, &bytes) {
            Some(tools) => Self::Saved(tools?),
            None if is_document(&value) => Self::Document(text.to_owned()),
            None if value.is_object() => Self::Allowlists(path.to_owned()),
            None => {
                let words =
                    "is no document, no allowlist, and not what `toolgate tools --json` prints";
                return Err(fault(words.to_owned()).into());
            }
        })
    }

    pub(super) fn is_document(&self) -> bool {
        matches!(self, Self::Document(_))
    }

    /// Its tools.
    pub(super) fn seen(self, flags: Flags<'_>, any_upstream: bool) -> Result<Vec<Seen>, Failure> {
        let Flags { args, matches } = flags;
        let inputs = match self {
            Self::Saved(tools) => return Ok(tools),
            Self::Document(document) => {
                let document = DocumentArgs { document: Some(document) };
                args::inputs(&document, args, matches, Policy::Strict)?
            }
            Self::Allowlists(path) => {
                args::inputs_of_allowlists(&path, args, matches, Policy::Strict)?
            }
            Self::Flags => args::inputs(&DocumentArgs::default(), args, matches, Policy::Strict)?,
        };
        let seen = Seen::all(&gateway::build(inputs)?).into_iter();
        Ok(seen.map(|seen| if any_upstream { seen.of_any_upstream() } else { seen }).collect())
    }
}

/// Flags that nothing is built from are a mistake.
pub(super) fn without_effect(
    old: &Operand,
    new: Option<&Operand>,
    flags: Flags<'_>,
) -> Result<(), Diagnostic> {
    let flag = match (old, new) {
        (Operand::Saved(_), Some(Operand::Saved(_))) => args::typed_input(flags.matches, false),
        (
            Operand::Saved(_) | Operand::Allowlists(_),
            Some(Operand::Saved(_) | Operand::Allowlists(_)),
        ) => args::typed_input(flags.matches, true),
        _ => None,
    };
    let Some(flag) = flag else { return Ok(()) };
    Err(Diagnostic::error(format!("`{flag}` has no effect beside OLD and NEW"))
        .help("leave it out"))
}

fn is_document(value: &Value) -> bool {
    ["openapi", "swagger"].iter().any(|key| value.get(key).is_some())
}

/// The tools of a saved list: `{"tools": […]}`, the same as an answer of `tools/list`, or the array
/// alone. `None` when it is something else.
fn saved(name: &str, value: &Value, bytes: &[u8]) -> Option<Result<Vec<Seen>, Diagnostic>> {
    let inner = value.get("result").unwrap_or(value);
    let entries = inner.get("tools").unwrap_or(inner).as_array().filter(|_| is_json(bytes))?;
    let tool = |(at, entry): (usize, &Value)| {
        Seen::saved(entry).ok_or_else(|| {
            let words = format!(
                "entry {} of `tools` is no tool: it has no `name` or `inputSchema`",
                at + 1
            );
            Diagnostic::error(words)
                .help("save the list with `toolgate tools --json`")
                .at(Position::whole(name))
        })
    };
    Some(entries.iter().enumerate().map(tool).collect())
}
