//! The allowlist file: which operations of one document become tools, and how.
//!
//! [`parse`] turns a text into an [`Allowlist`] whose every entry knows its place, or into all the
//! faults of the file at once, none twice. Nothing here knows a document or reads a file: whether a
//! selector matches anything is for the registry to say, and [`references`] tells whoever reads the
//! inputs what else to read.
//!
//! The keys stand in one table, from which unknown ones are told and the [`schema`] for editors is
//! made. An empty list or mapping may be written as nothing (all its lines commented out); `tools`
//! must be there, so that a file cut short is not taken for one that allows nothing.

mod entry;
mod file;
pub mod header;
mod key;
mod read;
mod reference;
mod schema;
pub mod selector;

use std::{sync::Arc, time::Duration};

use serde_json::Value;

pub use header::HeaderPiece;
pub use reference::{References, references};
pub use schema::schema;
pub use selector::{Pattern, Selector};

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
    /// `instructions`: what a model is told about the server, instead of the text made from the document.
    pub instructions: Option<String>,
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

impl Allowlist {
    /// The allowlist of `--allow`, whose entries stand at the flag; `name` is the toolset's.
    ///
    /// # Errors
    /// Every selector that is not one.
    pub fn from_selectors(name: &str, selectors: &[String]) -> Result<Self, Vec<Diagnostic>> {
        file::from_selectors(name, selectors)
    }
}

/// Reads an allowlist file; `name` is the toolset's.
///
/// # Errors
/// Every fault of the file, each with its place, in the order of the text.
pub fn parse(name: &str, text: &Text) -> Result<Allowlist, Vec<Diagnostic>> {
    let value = text.value().map_err(|fault| vec![fault])?;
    file::read(name, text.file(), &value, |pointers| text.places(pointers))
}
