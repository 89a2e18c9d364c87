//! Inputs for tests of the loop's pure parts: a folder a test, read for real.

use std::{fs, path::Path, sync::Arc};

use crate::{
    config::{Inputs, Policy},
    diagnostic::Diagnostic,
    snapshot::Refusal,
    source::{References, Sources, remote::Remote},
};

thread_local! {
    /// One a test: each runs on a thread of its own.
    static FOLDER: tempfile::TempDir = tempfile::tempdir().unwrap();
}

/// Flags that read the allowlists of a folder.
pub(super) fn inputs(folder: &Path) -> Inputs {
    Inputs { allowlists: Some(folder.into()), ..Inputs::new(Policy::Strict) }
}

/// `document: NAME` on the first line.
pub(super) fn refer(text: &str) -> References {
    let document = text.lines().next().and_then(|line| line.strip_prefix("document: "));
    References { document: document.map(ToOwned::to_owned), ..References::default() }
}

/// A folder with these files and no others, read.
pub(super) fn sources(files: &[(&str, &str)]) -> Sources {
    FOLDER.with(|folder| {
        for entry in fs::read_dir(folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        read(folder.path(), files, None)
    })
}

/// The same folder with these files written in place.
pub(super) fn sources_after(before: &Sources, files: &[(&str, &str)]) -> Sources {
    FOLDER.with(|folder| read(folder.path(), files, Some(before)))
}

fn read(folder: &Path, files: &[(&str, &str)], previous: Option<&Sources>) -> Sources {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let inputs = Arc::new(Inputs { keep_going: true, ..inputs(folder) });
    Sources::read(&inputs, refer, &Remote::default(), previous).unwrap()
}

/// A refusal for one reason.
pub(super) fn refusal(toolset: &str, words: &str) -> Refusal {
    let diagnostics = vec![Diagnostic::error(words)];
    Refusal { toolset: toolset.to_owned(), digest: [0; 32], diagnostics }
}
