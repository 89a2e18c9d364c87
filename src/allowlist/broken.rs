//! A file with faults, and what can be told of the rest of it.
//!
//! Whoever mends a file wants to hear everything at once: a misspelt key must not hide that three lines
//! below an operation is named which the document does not have. So reading goes on, and what was sound
//! is held against the document too. Only faults come of it: a [`Rest`] is never served.
//!
//! A fault makes more than its own line unsure. Under a misspelt `prefix` the names are not what they
//! will be, so nothing may be said of clashes; [`Doubt`] keeps what a fault casts doubt on, so that one
//! mistake stays one diagnostic.

use super::{Allowlist, Entry};
use crate::diagnostic::Diagnostic;

/// A file that was not read whole.
#[derive(Debug)]
pub struct Broken {
    /// Every fault of the file itself, in the order of the text; never empty.
    pub faults: Vec<Diagnostic>,
    /// What the rest says; `None` when the text is no mapping.
    pub rest: Option<Box<Rest>>,
}

impl From<Broken> for Vec<Diagnostic> {
    fn from(broken: Broken) -> Self {
        broken.faults
    }
}

/// What of a broken file is sound; for finding more faults, never for serving.
#[derive(Debug)]
pub struct Rest {
    /// The sound keys and entries.
    pub allowlist: Allowlist,
    /// What the faults make unsure.
    pub doubt: Doubt,
}

/// What faults make unsure; nothing by default.
#[derive(Debug, Default)]
pub struct Doubt {
    /// Keys of the file that a fault stands in, or that a misspelt key was meant to be.
    pub(super) keys: Vec<String>,
    /// Entries of `tools`, by their place in [`Allowlist::entries`], that a fault stands in.
    pub(super) entries: Vec<usize>,
    /// An entry with changes is missing, since its selector cannot be read.
    pub(super) lost: bool,
}

impl Doubt {
    /// Whether what this key of the file says is unsure.
    pub fn of_key(&self, key: &str) -> bool {
        self.keys.iter().any(|doubtful| doubtful == key)
    }

    /// Whether what this entry of `allowlist` changes is unsure.
    pub fn of_entry(&self, allowlist: &Allowlist, entry: &Entry) -> bool {
        let mut doubtful = self.entries.iter().filter_map(|place| allowlist.entries.get(*place));
        doubtful.any(|other| std::ptr::eq(other, entry))
    }

    /// Whether it is unsure which operations become tools, and so whose names meet.
    pub fn of_tools(&self) -> bool {
        self.lost || self.of_key("deny")
    }

    /// Whether the name of the tool of an entry is unsure.
    pub fn of_name(&self, allowlist: &Allowlist, entry: &Entry) -> bool {
        let is_derived = entry.changes.name.is_none();
        self.of_entry(allowlist, entry) || is_derived && self.of_key("prefix")
    }
}
