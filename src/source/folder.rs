//! The allowlist folder: which of its names are allowlists.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::Path,
};

/// Accepted names in order, or why the folder cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listing(Result<Vec<OsString>, io::ErrorKind>);

impl Listing {
    /// Reads a folder's names. Files behind them are not looked at.
    pub(super) fn of(folder: &Path) -> Self {
        Self(names(folder).map_err(|error| error.kind()))
    }

    /// The names; `None` when the folder cannot be read.
    pub(super) fn names(&self) -> Option<&[OsString]> {
        self.0.as_deref().ok()
    }

    /// Why the folder cannot be read.
    pub(super) fn fault(&self) -> Option<io::ErrorKind> {
        self.0.as_ref().err().copied()
    }
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if is_allowlist(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// `*.yaml` and `*.yml`, not starting with `.` or `#`, not ending in `~`: what editors leave beside
/// a file they save is no allowlist.
pub(super) fn is_allowlist(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let ending = name.ends_with(b".yaml") || name.ends_with(b".yml");
    ending && !name.starts_with(b".") && !name.starts_with(b"#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_editors_leave_behind_are_no_allowlists() {
        let check =
            |name: &str, expected| assert_eq!(is_allowlist(OsStr::new(name)), expected, "{name}");
        check("memos.yaml", true);
        check("memos.yml", true);
        check("memos.v1.yaml", true);
        check(".memos.yaml", false);
        check(".yaml", false);
        check("#memos.yaml#", false);
        check("#memos.yaml", false);
        check("memos.yaml~", false);
        check(".memos.yaml.swp", false);
        check("memos.yaml.tmp", false);
        check("4913", false);
        check("schema.json", false);
        check("..data", false);
        check("yaml", false);
    }

    #[test]
    fn a_listing_is_ordered_and_tells_missing_from_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Listing::of(folder.path()).names(), Some(&[][..]));
        for name in ["b.yaml", "a.yml", "c.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(Listing::of(folder.path()).names().unwrap(), ["a.yml", "b.yaml"]);
        let missing = Listing::of(&folder.path().join("no"));
        assert_eq!((missing.names(), missing.fault()), (None, Some(io::ErrorKind::NotFound)));
    }
}
