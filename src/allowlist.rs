//! The allowlist file: which operations of one document become tools, and how.
//!
//! [`parse`] turns a text into an [`Allowlist`] whose every entry knows its place, or into all the
//! faults of the file at once. Nothing here knows a document: whether a selector matches anything is
//! for the registry to say.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    diagnostic::{Diagnostic, Position},
    openapi::text::Text,
};

/// One allowlist. Its version is known, every entry has a [`Position`]; [`parse`] and
/// [`Allowlist::from_selectors`] are the only makers.
#[derive(Clone, Debug)]
pub struct Allowlist {
    /// The toolset's name: the file name without its ending.
    pub name: String,
    /// The file as the user named it.
    pub file: Arc<str>,
    /// `document`: a path relative to the allowlist's folder, or a URL.
    pub document: Option<Located<String>>,
    /// `upstream`: an origin, optionally with a path.
    pub upstream: Option<Located<String>>,
    /// `base_path`: replaces the document's.
    pub base_path: Option<Located<String>>,
    /// `deny`: never, whatever `tools` says.
    pub deny: Vec<Located<Selector>>,
    /// `tools`, in file order.
    pub entries: Vec<Entry>,
    /// `headers`: on every call, in file order.
    pub headers: Vec<Header>,
    /// `forward`: the caller's headers that go upstream; `None` means the default rule.
    pub forward: Option<Vec<Located<String>>>,
    /// `resource_names`.
    pub resource_names: bool,
    /// `prefix`, before derived names only.
    pub prefix: String,
    /// `docs`.
    pub docs: Docs,
    /// `docs_prefix`.
    pub docs_prefix: String,
    /// `output`: whether output schemas are published.
    pub output: bool,
    /// `timeout`.
    pub timeout: Option<Duration>,
    /// `max_response`, in bytes.
    pub max_response: Option<usize>,
    /// `max_in_flight`.
    pub max_in_flight: Option<usize>,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub position: Position,
}

/// The documentation tools of a toolset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Docs {
    /// None.
    #[default]
    Off,
    /// Over the listed operations and the schemas they reach.
    Listed,
    /// Over the whole document.
    All,
}

/// One entry of `headers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// A valid header name, lower case, never a protected one.
    pub name: Located<String>,
    /// Its value in pieces.
    pub value: Vec<HeaderPiece>,
}

/// A piece of a header's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderPiece {
    /// Literal text.
    Text(String),
    /// `${VAR}`: from the environment.
    Variable(String),
    /// `${file:/run/secrets/key}`: the file's content without its trailing line end, re-read on change.
    File(String),
}

/// One entry of `tools`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which operations.
    pub selector: Selector,
    /// What differs from what the document says; only on an entry that names one operation.
    pub changes: Changes,
    /// Where the entry stands.
    pub position: Position,
}

/// One grammar for `tools`, `deny`, `--allow`, `toolgate allow` and `diff`.
#[derive(Clone, Debug)]
pub enum Selector {
    /// An operationId.
    Id(String),
    /// `METHOD /path`, the method in upper case.
    Key {
        /// The method.
        method: String,
        /// The path as in the document.
        path: String,
    },
    /// Anything with a `*`: over operationIds or over keys.
    Pattern(Pattern),
    /// Every operation of a tag.
    Tag(String),
}

/// A compiled pattern; `*` crosses `/`, `{ } [ ] ?` are literal.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
}

/// Overrides of one entry; everything absent by default.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// `name`: final, no prefix.
    pub name: Option<Located<String>>,
    /// `aliases`: old names that still answer.
    pub aliases: Vec<Located<String>>,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `annotations`.
    pub annotations: Annotations,
    /// `hide`: arguments that are not offered, by wire name or argument name.
    pub hide: Vec<Located<String>>,
    /// `required`: exactly these, besides path parameters.
    pub required: Option<Vec<Located<String>>>,
    /// `path`: replaces the document's.
    pub path: Option<Located<String>>,
    /// `arguments`, in file order.
    pub arguments: Vec<ArgumentChange>,
    /// `response_headers`: lifted into the answer.
    pub response_headers: Vec<Located<String>>,
    /// `output`: whether the output schema is published.
    pub output: Option<bool>,
    /// `timeout`.
    pub timeout: Option<Duration>,
    /// `max_response`, in bytes.
    pub max_response: Option<usize>,
}

/// Overrides of the four hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// One entry of `arguments`.
#[derive(Clone, Debug)]
pub struct ArgumentChange {
    /// The argument it is about, by wire name or argument name.
    pub argument: Located<String>,
    /// `name`: what the argument is called.
    pub name: Option<Located<String>>,
    /// `description`.
    pub description: Option<String>,
    /// `default`: sent when the caller gives none.
    pub default: Option<Value>,
    /// `fixed`: always sent, not an argument.
    pub fixed: Option<Value>,
    /// `slashes`: a path value that keeps its slashes.
    pub slashes: bool,
}

/// Reads an allowlist file; `name` is the toolset's.
///
/// # Errors
/// Every fault of the file, each with its place.
pub fn parse(name: &str, text: &Text) -> Result<Allowlist, Vec<Diagnostic>> {
    let _ = (name, text);
    Err(vec![Diagnostic::error("not built yet")])
}
