//! What is wrong, where it stands and how to mend it, in one form for `check`, start-up and reload.
//!
//! A [`Diagnostic`] carries the user's own file name and text; printing happens only here, so that
//! every place in the program shows `file:line:column` alike. Nothing here reads a file: who finds
//! a fault also knows the text around it.

use std::{fmt, sync::Arc};

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// What it speaks of is refused.
    Error,
    /// It is served all the same.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A place in an input, as the user named the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file or URL as the user wrote it, or a flag's name.
    pub file: Arc<str>,
    /// Where in it; `None` when the fault is the whole input (missing, too large).
    pub place: Option<Place>,
}

impl Position {
    /// The whole of an input.
    pub fn whole(file: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), place: None }
    }
}

/// A line and column inside a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// RFC 6901 JSON pointer of the node; empty for the root or when no node is known.
    pub pointer: Box<str>,
    /// The text of that line without its end, for the caret line; empty for a line too long to show.
    pub excerpt: Box<str>,
}

/// One fault or remark.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Lower case, no full stop, the user's own text in backticks.
    pub message: String,
    /// The way out, when there is one that the message does not hold.
    pub help: Option<String>,
    /// Where; `None` when it belongs to no input.
    pub position: Option<Position>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), help: None, position: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// The same at a place.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// The same with a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// One line: `file:line:column: message; help`. [`Diagnostic::snippet`] adds the source line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{}:", position.file)?;
            if let Some(place) = &position.place {
                write!(f, "{}:{}:", place.line, place.column)?;
            }
            f.write_str(" ")?;
        }
        write!(f, "{}: {}", self.severity, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl Diagnostic {
    /// The one-line form, then the source line with a caret under the column, like a compiler.
    pub fn snippet(&self) -> String {
        let place = self.position.as_ref().and_then(|position| position.place.as_ref());
        let Some(place) = place.filter(|place| !place.excerpt.is_empty()) else {
            return self.to_string();
        };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let caret = " ".repeat(place.column.saturating_sub(1) as usize);
        format!("{self}\n{margin} |\n{number} | {}\n{margin} | {caret}^", place.excerpt)
    }
}
