//! Names of files: as the user means them, and as the user is shown them.
//!
//! Pure but for the current folder, which is asked for once a pass. Paths are joined by their text:
//! `..` leaves the folder as it was named, never the target of a link.

use std::path::{Component, Path, PathBuf};

/// `name` as written in a file of `folder`, with `.` and `..` taken by the text.
pub(super) fn beside(folder: &Path, name: &Path) -> PathBuf {
    let mut joined = PathBuf::new();
    for component in folder.join(name).components() {
        match (component, joined.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                joined.pop();
            }
            _ => joined.push(component),
        }
    }
    joined
}

/// A path as people are shown it: relative to the current folder where it lies below.
pub(super) fn shown(path: &Path, current: &Path) -> String {
    let path = path.strip_prefix(current).unwrap_or(path);
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_taken_by_the_text() {
        let check = |folder: &str, name: &str, expected: &str| {
            assert_eq!(beside(Path::new(folder), Path::new(name)), Path::new(expected), "{name}");
        };
        check("allowlists", "../spec/openapi.yaml", "spec/openapi.yaml");
        check("a/current/allowlists", "../spec.yaml", "a/current/spec.yaml");
        check("allowlists", "./spec.yaml", "allowlists/spec.yaml");
        check("", "spec.yaml", "spec.yaml");
        check(".", "../spec.yaml", "../spec.yaml");
        check("../up", "../../spec.yaml", "../../spec.yaml");
        check("/etc/toolgate", "../../../../spec.yaml", "/spec.yaml");
        check("allowlists", "/spec.yaml", "/spec.yaml");
    }

    #[test]
    fn names_are_shown_relative_to_the_current_folder() {
        let check = |path: &str, expected: &str| {
            assert_eq!(shown(Path::new(path), Path::new("/home/me/api")), expected);
        };
        check("/home/me/api/spec/openapi.yaml", "spec/openapi.yaml");
        check("/home/me/other.yaml", "/home/me/other.yaml");
        check("./spec.yaml", "spec.yaml");
        check("../spec.yaml", "../spec.yaml");
    }
}
