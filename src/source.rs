//! Every input of one pass, with its digest.
//!
//! [`Sources::read`] reads all allowlists, the documents they refer to, and the environment and
//! secret files their headers name, in one pass: what changed while it was read is read again later,
//! never half. Which document an allowlist refers to is asked of the caller, so that nothing here
//! knows the allowlist's format.
//!
//! A file that is missing, unreadable, too large or no file at all is a fault of that input, not of
//! the pass. Nothing here waits for a pipe or a device, and nothing opens a connection: documents
//! given as URLs come out of the [`remote`] store, whose own thread fetches them.

pub mod remote;
pub mod watch;

mod claim;
mod digest;
mod file;
mod folder;
mod lone;
mod pass;
mod path;
mod scan;

use std::{fmt, path::PathBuf, sync::Arc};

use crate::{config::Inputs, diagnostic::Diagnostic};
pub use lone::Lone;
use remote::Remote;
pub use scan::Scan;

/// The name of the toolset that the selectors of `--allow` make.
pub const ALLOW_TOOLSET: &str = "api";

/// What an allowlist's text refers to; found by the allowlist module, read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// `document`, as written.
    pub document: Option<String>,
    /// Names of `${VAR}`.
    pub variables: Vec<String>,
    /// Paths of `${file:…}`.
    pub files: Vec<PathBuf>,
}

/// Finds what an allowlist's text refers to; a text that is no allowlist refers to nothing.
pub type Refer = fn(&str) -> References;

/// All inputs from one pass. Toolsets are ordered by file name; equal digest means nothing to do.
/// [`Sources::read`] is the only maker.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The flags they were read for.
    pub inputs: Arc<Inputs>,
    /// One per allowlist file, ordered by file name; then, with `--allow`, the one of the command
    /// line, called [`ALLOW_TOOLSET`]. Both together serve both.
    pub toolsets: Vec<ToolsetSource>,
    /// Faults of no single toolset: the folder is missing, too many files, no allowlist left. While
    /// there is one, the toolsets are not all there is.
    pub faults: Vec<Diagnostic>,
    /// Remarks about inputs that were read all the same.
    pub warnings: Vec<Diagnostic>,
    /// Over everything.
    pub digest: Digest,
    /// What the files looked like when they were read.
    scan: Scan,
}

/// BLAKE3 over paths and bytes.
pub type Digest = [u8; 32];

/// The inputs of one toolset.
#[derive(Clone)]
pub struct ToolsetSource {
    /// Its name: the file's without ending.
    pub name: String,
    /// The allowlist; `None` means the selectors of `--allow`.
    pub allowlist: Option<Input>,
    /// The document; `None` when neither flags nor file name one.
    pub document: Option<Input>,
    /// Values of `${VAR}` in the order of [`References::variables`]; `None` when unset.
    pub variables: Vec<(String, Option<String>)>,
    /// Contents of `${file:…}` by the path as it is written there, in the order of [`References::files`].
    pub files: Vec<(String, Input)>,
    /// Over all of the above.
    pub digest: Digest,
}

/// One file or URL as it was read.
#[derive(Clone)]
pub struct Input {
    /// As the user named it; relative names in an allowlist stand relative to the allowlist's folder,
    /// shown relative to the current one.
    pub name: Arc<str>,
    /// Its bytes, or why there are none. Equal digests share one allocation between passes.
    pub content: Result<Arc<[u8]>, Diagnostic>,
    /// Over name and bytes, or name and fault.
    pub digest: Digest,
    /// Its present content was written in place, as far as the file's identity tells: the file was
    /// there before with other content, or was missing. False after a rename or a link swap.
    pub in_place: bool,
}

/// Something changed while it was read; try again after quiet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unstable {
    /// What changed.
    pub name: String,
    /// A URL that was not fetched yet; its arrival wakes whoever asked [`Remote::on_change`].
    pub pending: bool,
}

impl Sources {
    /// Reads everything in one pass.
    ///
    /// # Errors
    /// When an input changed while it was read, or a URL was not fetched yet.
    pub fn read(
        inputs: &Arc<Inputs>,
        refer: Refer,
        remote: &Remote,
        previous: Option<&Self>,
    ) -> Result<Self, Unstable> {
        pass::read(inputs, refer, remote, previous)
    }

    /// What the files looked like when they were read; compare with [`Scan::again`].
    pub fn scan(&self) -> &Scan {
        &self.scan
    }

    /// Every input once: allowlists, documents and secret files, in toolset order.
    pub fn all(&self) -> impl Iterator<Item = &Input> {
        self.toolsets.iter().flat_map(ToolsetSource::all)
    }

    /// Whether anything could not be read, so that reading again may help though no file changed.
    pub fn unreadable(&self) -> bool {
        !self.faults.is_empty() || self.all().any(|input| input.content.is_err())
    }
}

impl ToolsetSource {
    /// Its allowlist, document and secret files.
    pub fn all(&self) -> impl Iterator<Item = &Input> {
        self.allowlist.iter().chain(&self.document).chain(self.files.iter().map(|(_, file)| file))
    }
}

/// Values of variables are secrets and are left out.
impl fmt::Debug for ToolsetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("ToolsetSource")
            .field("name", &self.name)
            .field("allowlist", &self.allowlist)
            .field("document", &self.document)
            .field("variables", &names)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

/// Shows the length of the content only: it may be a secret, and it may be large.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("content", &self.content.as_ref().map(|bytes| bytes.len()))
            .field("in_place", &self.in_place)
            .finish_non_exhaustive()
    }
}
