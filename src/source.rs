//! Every input of one pass, with its digest.
//!
//! [`Sources::read`] reads all allowlists, the documents they refer to, and the environment and
//! secret files their headers name, in one pass: what changed while it was read is read again later,
//! never half. Which document an allowlist refers to is asked of the caller, so that nothing here
//! knows the allowlist's format.

pub mod watch;

use std::{path::PathBuf, sync::Arc};

use crate::{config::Inputs, diagnostic::Diagnostic};

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
    /// One per allowlist file, ordered by file name; with `--allow`, the one of the command line.
    pub toolsets: Vec<ToolsetSource>,
    /// Faults of no single toolset: the folder is missing, too many files, no allowlist left.
    pub faults: Vec<Diagnostic>,
    /// Over everything.
    pub digest: Digest,
}

/// BLAKE3 over paths and bytes.
pub type Digest = [u8; 32];

/// The inputs of one toolset.
#[derive(Clone, Debug)]
pub struct ToolsetSource {
    /// Its name: the file's without ending.
    pub name: String,
    /// The allowlist; `None` means the selectors of `--allow`.
    pub allowlist: Option<Input>,
    /// The document; `None` when neither flags nor file name one.
    pub document: Option<Input>,
    /// Values of `${VAR}` in the order of [`References::variables`]; `None` when unset.
    pub variables: Vec<(String, Option<String>)>,
    /// Contents of `${file:…}`.
    pub files: Vec<Input>,
    /// Over all of the above.
    pub digest: Digest,
}

/// One file or URL as it was read.
#[derive(Clone, Debug)]
pub struct Input {
    /// As the user named it; relative names in an allowlist stand relative to the allowlist's folder,
    /// shown relative to the current one.
    pub name: Arc<str>,
    /// Its bytes, or why there are none. Equal digests share one allocation between passes.
    pub content: Result<Arc<[u8]>, Diagnostic>,
    /// Over name and bytes, or name and fault.
    pub digest: Digest,
    /// Written in place since the last pass, as far as the file's identity tells (same inode, new time);
    /// what suspicion asks.
    pub in_place: bool,
}

/// Something changed while it was read; try again after quiet.
#[derive(Clone, Debug)]
pub struct Unstable {
    /// What changed.
    pub name: String,
}

impl Sources {
    /// Reads everything in one pass.
    ///
    /// # Errors
    /// When an input changed while it was read.
    pub fn read(
        inputs: &Arc<Inputs>,
        refer: Refer,
        previous: Option<&Self>,
    ) -> Result<Self, Unstable> {
        let _ = (inputs, refer, previous);
        Err(Unstable { name: String::new() })
    }
}
