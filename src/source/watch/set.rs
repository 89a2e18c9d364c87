//! What to watch so that every way of changing an input is heard.
//!
//! Each path is walked component by component, links by their text, as the kernel does it. Watched
//! are the folder that holds each link met, the final folder and its parent, the nearest folder there
//! is when the path ends early, and the file itself (a file mounted alone raises events on itself
//! only). Paths are canonical, and each file or folder is watched once: the watcher tells events by
//! descriptor, and two paths of one inode would break each other.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, VecDeque},
    ffi::OsString,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
    time::SystemTime,
};

use crate::source::Scan;

/// As many links as the kernel follows.
const LINKS: usize = 40;

/// Device, inode, and the time it was made where the file system knows: inodes are used again.
pub(super) type Identity = (u64, u64, Option<SystemTime>);

/// What to watch, and which paths matter in events.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    /// Canonical paths, each identity once.
    pub(super) watched: BTreeMap<PathBuf, Identity>,
    /// Every step of every path: its folder's canonical path and its own name.
    pub(super) components: BTreeSet<PathBuf>,
    /// The allowlist folder, canonical.
    pub(super) lists: Option<PathBuf>,
}

impl Set {
    /// The set for all paths of a scan, as the file system looks now.
    pub(super) fn of(scan: &Scan) -> Self {
        let mut set = Self::default();
        let mut known = HashSet::new();
        let mut watch = |set: &mut Self, path: &Path| {
            let Ok(metadata) = fs::symlink_metadata(path) else { return };
            if known.insert((metadata.dev(), metadata.ino())) {
                set.watched.insert(path.into(), identity(&metadata));
            }
        };
        for path in scan.paths().chain(scan.folder()) {
            let walk = Walk::along(path);
            walk.watched.iter().for_each(|path| watch(&mut set, path));
            set.components.extend(walk.components);
            if Some(path) == scan.folder() {
                set.lists = walk.end;
            }
        }
        set
    }
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino(), metadata.created().ok())
}

/// One path, walked.
#[derive(Default)]
struct Walk {
    watched: Vec<PathBuf>,
    components: Vec<PathBuf>,
    /// Where it leads; `None` when it leads nowhere.
    end: Option<PathBuf>,
}

impl Walk {
    fn along(path: &Path) -> Self {
        let mut walk = Self::default();
        let mut here = PathBuf::from("/");
        let mut rest = names(path);
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                here.pop();
                continue;
            }
            let next = here.join(&name);
            walk.components.push(next.clone());
            let kind = fs::symlink_metadata(&next).map(|metadata| metadata.file_type());
            let more = !rest.is_empty();
            match kind {
                Ok(kind) if kind.is_symlink() && links < LINKS => {
                    links += 1;
                    walk.watched.push(here.clone());
                    let target = fs::read_link(&next).unwrap_or_default();
                    if target.is_absolute() {
                        here = PathBuf::from("/");
                    }
                    names(&target).into_iter().rev().for_each(|name| rest.push_front(name));
                }
                Ok(kind) if kind.is_dir() || kind.is_file() && !more => here = next,
                // Nothing there, or nothing that leads on: whatever changes that happens in `here`.
                _ => {
                    walk.watched.push(here);
                    return walk;
                }
            }
        }
        walk.arrive(here);
        walk
    }

    fn arrive(&mut self, end: PathBuf) {
        let folder = if end.is_dir() { Some(end.as_path()) } else { end.parent() };
        let parent = folder.and_then(Path::parent);
        self.watched.extend(folder.into_iter().chain(parent).map(Path::to_path_buf));
        if end.is_file() {
            self.watched.push(end.clone());
        }
        self.end = Some(end);
    }
}

/// Names of a path in order; the root and `.` are none.
fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::source::{folder::Listing, scan::Stamp};

    /// A folder with `make` done in it; what is watched for `path` there, and the components below it.
    fn check(path: &str, watched: &[&str], components: &[&str], make: impl FnOnce(&Path)) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("root");
        fs::create_dir(&root).unwrap();
        make(&root);
        let mut scan = Scan::default();
        scan.insert(root.join(path), Stamp::at(&root.join(path)));
        let set = Set::of(&scan);
        let below = |paths: Vec<&PathBuf>| {
            let below = paths.into_iter().filter_map(|path| path.strip_prefix(&root).ok());
            below.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(below(set.watched.keys().collect()), watched);
        assert_eq!(below(set.components.iter().collect())[1..], *components);
    }

    fn write(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    #[test]
    fn a_plain_file_has_itself_its_folder_and_the_folder_above() {
        let components = ["a", "a/b", "a/b/c.yaml"];
        check("a/b/c.yaml", &["a", "a/b", "a/b/c.yaml"], &components, |root| {
            write(&root.join("a/b/c.yaml"));
        });
    }

    #[test]
    fn a_missing_part_has_the_nearest_folder() {
        check("a/b/c.yaml", &["a"], &["a", "a/b"], |root| write(&root.join("a/x")));
        check("a/b/c.yaml", &[""], &["a"], |_| {});
        check("a/b.yaml/c.yaml", &["a"], &["a", "a/b.yaml"], |root| write(&root.join("a/b.yaml")));
    }

    #[test]
    fn each_link_has_the_folder_that_holds_it() {
        let components = ["current", "link.yaml", "releases", "releases/1", "releases/1/spec.yaml"];
        let watched = ["", "releases", "releases/1", "releases/1/spec.yaml"];
        check("link.yaml", &watched, &components, |root| {
            write(&root.join("releases/1/spec.yaml"));
            symlink("releases/1", root.join("current")).unwrap();
            symlink("current/../1/spec.yaml", root.join("link.yaml")).unwrap();
        });
    }

    #[test]
    fn a_link_loop_ends() {
        check("a", &[""], &["a", "b"], |root| {
            symlink("b", root.join("a")).unwrap();
            symlink("a", root.join("b")).unwrap();
        });
    }

    #[test]
    fn mounted_configuration_is_watched_where_its_link_is_swapped() {
        let watched = ["", "..2024", "..2024/a.yaml"];
        let components = ["..2024", "..2024/a.yaml", "..data", "a.yaml"];
        check("a.yaml", &watched, &components, |root| {
            write(&root.join("..2024/a.yaml"));
            symlink("..2024", root.join("..data")).unwrap();
            symlink("..data/a.yaml", root.join("a.yaml")).unwrap();
        });
    }

    #[test]
    fn two_names_of_one_file_are_watched_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&root.join("a.yaml"));
        fs::hard_link(root.join("a.yaml"), root.join("b.yaml")).unwrap();
        let mut scan = Scan::default();
        for name in ["a.yaml", "b.yaml"] {
            scan.insert(root.join(name), None);
        }
        let watched = Set::of(&scan).watched;
        assert!(watched.contains_key(&root.join("a.yaml")));
        assert!(!watched.contains_key(&root.join("b.yaml")));
    }

    #[test]
    fn the_allowlist_folder_is_known_by_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("lists")).unwrap();
        let mut scan = Scan::default();
        scan.set_folder(root.join("lists"), Listing::of(&root.join("lists")));
        let set = Set::of(&scan);
        assert_eq!(set.lists, Some(root.join("real")));
        assert!(set.watched.contains_key(&root) && set.watched.contains_key(&root.join("real")));
    }
}
