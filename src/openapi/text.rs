//! YAML or JSON text to a strict value, and a pointer back to its line and column.

use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place};

/// A text with the name the user knows it by.
#[derive(Clone, Debug)]
pub struct Text {
    file: Arc<str>,
    content: Arc<str>,
}

impl Text {
    /// A text as read from `file`. A byte order mark is dropped.
    ///
    /// # Errors
    /// When the bytes are not UTF-8, with the line of the first bad byte.
    pub fn new(file: impl Into<Arc<str>>, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let file = file.into();
        let content = std::str::from_utf8(bytes).map_err(|_| Diagnostic::error("not UTF-8"))?;
        Ok(Self { file, content: content.into() })
    }

    /// The name the user knows it by.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The text itself.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The value the text stands for: JSON when its first byte that is not blank is `{`, else YAML.
    ///
    /// # Errors
    /// On anything but exactly one sound document within the budgets.
    pub fn value(&self) -> Result<Value, Diagnostic> {
        Err(Diagnostic::error("not built yet"))
    }

    /// Where the nodes behind `pointers` stand, in their order; `None` where nothing exists up to the root.
    /// A pointer to a mapping's entry is placed at its key.
    pub fn places(&self, pointers: &[&str]) -> Vec<Option<Place>> {
        pointers.iter().map(|_| None).collect()
    }
}
