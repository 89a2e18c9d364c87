//! A file that decides no tool and is read on its own: a token, certificates.
//!
//! It is read like every other file, whole or not at all and never waiting for another process, but
//! outside of the passes: whoever asks, reads. A look at a file that did not change costs one call
//! to the system.

use std::path::PathBuf;

use super::{
    file::{self, Cap, Changed},
    scan::Stamp,
};
use crate::diagnostic::{Diagnostic, Position};

/// Far more than a token or the certificates of an organization have.
const CAP: Cap = Cap { bytes: 1_000_000, limit: None };

/// A file of that kind.
#[derive(Debug)]
pub struct Lone {
    path: PathBuf,
    /// As it was when last read; `None` before that, and where nothing was.
    read: Option<Stamp>,
}

impl Lone {
    /// Reads nothing yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), read: None }
    }

    /// The content, or the fault with the file's name.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    pub fn content(&mut self) -> Result<Vec<u8>, Diagnostic> {
        let fault = |words: String| Diagnostic::error(words).at(self.position());
        match file::read(&self.path, CAP) {
            Ok(reading) => {
                let content = reading.content.map_err(fault);
                self.read = reading.stamp;
                content
            }
            Err(Changed) => Err(fault("changed while it was read".to_owned())),
        }
    }

    /// The content, when the file is another than at the last look.
    pub fn news(&mut self) -> Option<Result<Vec<u8>, Diagnostic>> {
        (Stamp::at(&self.path) != self.read).then(|| self.content())
    }

    /// The file as the user named it.
    pub fn position(&self) -> Position {
        Position::whole(self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_file_that_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let mut lone = Lone::new(&path);
        assert!(lone.content().unwrap_err().to_string().contains("token: error: does not exist"));
        assert!(lone.news().is_none(), "it is still missing");
        fs::write(&path, "one").unwrap();
        assert_eq!(lone.news(), Some(Ok(b"one".to_vec())));
        assert!(lone.news().is_none());
        fs::write(folder.path().join("new"), "two").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(lone.news(), Some(Ok(b"two".to_vec())));
        fs::remove_file(&path).unwrap();
        assert!(lone.news().unwrap().is_err() && lone.news().is_none());
    }
}
