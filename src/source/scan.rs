//! What files look like from outside: the cheap question whether anything changed.
//!
//! A [`Scan`] holds no content. Two scans of the same paths are equal when no file was written,
//! replaced, removed or made since; a difference is a reason to read, never a result.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::folder::Listing;

/// A file's identity and times. Equal stamps of one path mean that nobody wrote in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Device and inode.
    pub(super) file: (u64, u64),
    size: u64,
    mode: u32,
    /// Seconds and nanoseconds; set back at will by whoever writes.
    modified: (i64, i64),
    /// Seconds and nanoseconds of the last change of content or inode; the kernel's own.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what a path or an open file is.
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            mode: metadata.mode(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The stamp of what a path leads to, links followed; `None` when it leads nowhere.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of)
    }
}

/// All inputs of a pass as they look from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Absolute paths; `None` where nothing is.
    files: BTreeMap<PathBuf, Option<Stamp>>,
    /// The allowlist folder, absolute, and the accepted names in it.
    folder: Option<(PathBuf, Listing)>,
}

impl Scan {
    pub(super) fn insert(&mut self, path: PathBuf, stamp: Option<Stamp>) {
        self.files.insert(path, stamp);
    }

    pub(super) fn set_folder(&mut self, folder: PathBuf, listing: Listing) {
        self.folder = Some((folder, listing));
    }

    /// The same paths as they look now.
    #[must_use]
    pub fn again(&self) -> Self {
        let files = self.files.keys().map(|path| (path.clone(), Stamp::at(path))).collect();
        let folder = self.folder.as_ref().map(|(path, _)| (path.clone(), Listing::of(path)));
        Self { files, folder }
    }

    /// A path that differs between the two, if any.
    pub fn difference(&self, other: &Self) -> Option<&Path> {
        let folder = self.folder.iter().zip(&other.folder).find(|(one, other)| one != other);
        let file = self.files.iter().find(|(path, stamp)| other.files.get(*path) != Some(stamp));
        let folder = folder.map(|(one, _)| one.0.as_path());
        file.map(|(path, _)| path.as_path()).or(folder)
    }

    /// Absolute paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// The allowlist folder, absolute.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(|(path, _)| path.as_path())
    }

    /// The accepted names in the allowlist folder; `None` when there is none or it cannot be read.
    pub fn names(&self) -> Option<&[std::ffi::OsString]> {
        self.folder.as_ref().and_then(|(_, listing)| listing.names())
    }

    pub(super) fn stamp(&self, path: &Path) -> Option<&Stamp> {
        self.files.get(path)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, time::SystemTime};

    use super::*;

    /// Whether `change` of `spec.yaml` is seen by a scan.
    fn check(seen: bool, change: impl FnOnce(&Path)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spec.yaml");
        fs::write(&path, "old").unwrap();
        let mut scan = Scan::default();
        scan.insert(path.clone(), Stamp::at(&path));
        scan.set_folder(folder.path().into(), Listing::of(folder.path()));
        assert_eq!(scan.difference(&scan.again()), None);
        // The kernel's clock for times of files ticks every 4 ms.
        std::thread::sleep(std::time::Duration::from_millis(20));
        change(&path);
        assert_eq!(scan.difference(&scan.again()).is_some(), seen);
    }

    #[test]
    fn every_kind_of_change_is_seen() {
        check(true, |path| fs::write(path, "longer").unwrap());
        check(true, |path| fs::remove_file(path).unwrap());
        check(true, |path| fs::write(path.with_file_name("b.yaml"), "new").unwrap());
        check(true, |path| {
            fs::write(path.with_extension("tmp"), "old").unwrap();
            fs::rename(path.with_extension("tmp"), path).unwrap();
        });
    }

    #[test]
    fn equal_size_with_the_time_set_back_is_seen() {
        check(true, |path| {
            let before = fs::metadata(path).unwrap().modified().unwrap();
            fs::write(path, "new").unwrap();
            File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
            assert!(before < SystemTime::now());
        });
    }

    #[test]
    fn reading_and_other_names_are_no_change() {
        check(false, |path| drop(fs::read(path).unwrap()));
        check(false, |path| fs::write(path.with_file_name("server.log"), "line").unwrap());
    }
}
