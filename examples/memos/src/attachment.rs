//! Attachments: files that belong to a memo, or to none.
//!
//! They come in through the list of a memo, which keeps some that exist and adds new ones. The bytes are kept in the
//! database and can be downloaded, but stand in no JSON answer.

pub(crate) mod handler;
pub(crate) mod table;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::Faults;
use crate::id;

/// What is known about an attachment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attachment {
    name: String,
    create_time: String,
    filename: String,
    external_link: String,
    #[serde(rename = "type")]
    kind: String,
    /// A decimal string, as protocol buffers' JSON writes 64-bit integers.
    size: String,
    memo: String,
}

/// One entry of a list to set, as a caller sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(crate) struct Entry {
    name: String,
    filename: String,
    #[serde(rename = "type")]
    kind: String,
    content: String,
    external_link: String,
}

/// One entry, checked.
pub(crate) enum Placed {
    /// One that is said to exist, by its id.
    Kept(String),
    New(File),
}

/// A new file.
pub(crate) struct File {
    filename: String,
    kind: String,
    content: Vec<u8>,
    external_link: String,
}

impl Entry {
    /// Checks a whole list. What is wrong is left out of the result, and in `faults`.
    pub(crate) fn checked(entries: Vec<Self>, faults: &mut Faults) -> Vec<Placed> {
        let numbered = entries.into_iter().enumerate();
        numbered.filter_map(|(at, entry)| entry.placed(&field(at), faults)).collect()
    }

    fn placed(self, field: &str, faults: &mut Faults) -> Option<Placed> {
        if !self.name.is_empty() {
            let kept = id::of_name(&self.name, "attachments", &format!("{field}.name"), faults);
            return kept.map(Placed::Kept);
        }
        for (key, value) in [("filename", &self.filename), ("type", &self.kind)] {
            if value.trim().is_empty() {
                faults.add(format!("{field}.{key}"), "is needed for a new attachment");
            }
        }
        let link = &self.external_link;
        if !link.is_empty() && !link.starts_with("https://") && !link.starts_with("http://") {
            faults.add(format!("{field}.externalLink"), "must be a URL with http or https");
        }
        let Ok(content) = STANDARD.decode(&self.content) else {
            faults.add(format!("{field}.content"), "is not base64");
            return None;
        };
        let Self { filename, kind, external_link, .. } = self;
        Some(Placed::New(File { filename, kind, content, external_link }))
    }
}

/// How the entry at a place of the list is called.
fn field(at: usize) -> String {
    format!("attachments[{at}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entry: &str, expected: &str) {
        let mut faults = Faults::default();
        let placed = Entry::checked(vec![serde_json::from_str(entry).unwrap()], &mut faults);
        let found = match (faults.check(), placed.as_slice()) {
            (Err(error), _) => error.to_string(),
            (Ok(()), [Placed::Kept(id)]) => format!("kept {id}"),
            (Ok(()), [Placed::New(file)]) => {
                format!("new {} {}", file.filename, file.content.len())
            }
            _ => String::from("nothing"),
        };
        assert_eq!(found, expected, "{entry}");
    }

    #[test]
    fn an_entry_keeps_or_adds() {
        check(r#"{"name": "attachments/a", "filename": "ignored"}"#, "kept a");
        check(r#"{"filename": "a.txt", "type": "text/plain", "content": "aGk="}"#, "new a.txt 2");
        check(
            r#"{"filename": "a.txt", "type": "text/plain", "externalLink": "https://a.example"}"#,
            "new a.txt 0",
        );
    }

    #[test]
    fn a_faulty_entry_is_named_by_its_place() {
        check(
            "{}",
            "invalid argument: `attachments[0].filename` is needed for a new attachment; \
             `attachments[0].type` is needed for a new attachment",
        );
        check(
            r#"{"name": "memos/a"}"#,
            "invalid argument: `attachments[0].name` is `memos/a`, but must be a name like `attachments/…`",
        );
        check(
            r#"{"filename": "a", "type": "b", "content": "?"}"#,
            "invalid argument: `attachments[0].content` is not base64",
        );
        check(
            r#"{"filename": "a", "type": "b", "externalLink": "file:///etc/passwd"}"#,
            "invalid argument: `attachments[0].externalLink` must be a URL with http or https",
        );
    }
}
