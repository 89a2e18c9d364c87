//! What is wrong, where it stands and how to mend it, in one form for `check`, start-up and reload.
//!
//! A [`Diagnostic`] carries the user's own file name and text; printing happens only here, so that
//! every place in the program shows `file:line:column` alike. Nothing here reads a file: who finds
//! a fault also knows the text around it. [`quote`] and [`nearest`] are the two words every message
//! needs: the user's own text made safe to print, and what they may have meant.

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
    /// The one-line form, then the source line with a caret under the column, like a compiler. An
    /// excerpt that was left out (it held a secret) is not shown.
    pub fn snippet(&self) -> String {
        let place = self.position.as_ref().and_then(|position| position.place.as_ref());
        let Some(place) = place.filter(|place| !place.excerpt.is_empty()) else {
            return self.to_string();
        };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let caret = " ".repeat(place.column.saturating_sub(1) as usize);
        // One character for one, so that the caret stays below its column.
        let shown = |character: char| match character {
            '\t' => ' ',
            _ if paints(character) => char::REPLACEMENT_CHARACTER,
            _ => character,
        };
        let excerpt: String = place.excerpt.chars().map(shown).collect();
        format!("{self}\n{margin} |\n{number} | {excerpt}\n{margin} | {caret}^")
    }
}

/// Longest user text a message repeats, in characters; more hides the message itself.
const LONGEST_QUOTE: usize = 120;

/// The user's own text in backticks: cut when long, control and direction characters escaped, so
/// that no input can paint over a terminal.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("`");
    for character in text.chars().take(LONGEST_QUOTE) {
        if paints(character) {
            quoted.extend(character.escape_default());
        } else {
            quoted.push(character);
        }
    }
    if text.chars().nth(LONGEST_QUOTE).is_some() {
        quoted.push('…');
    }
    quoted.push('`');
    quoted
}

/// Whether a terminal does something else than to show it.
fn paints(character: char) -> bool {
    character.is_control() || DIRECTION.contains(&character)
}

/// Whether a character is no part of plain text: it paints, ends a line somewhere, or is not shown at all.
pub fn hides(character: char) -> bool {
    let unseen =
        matches!(character, '\u{61c}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}');
    unseen || paints(character) || u32::from(character) & 0xfffe == 0xfffe
}

/// Characters that reorder or hide the text around them.
const DIRECTION: [char; 13] = [
    '\u{200b}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}', '\u{feff}',
];

/// What `word` may have been meant to be: the candidate with the fewest slips (up to a third of the
/// letters, case aside), the first of equals; else the shortest that holds the word, or is held in it.
/// `None` when nothing comes near.
pub fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> Option<&'a str> {
    // No name is that long, and the work grows with the square.
    if word.len() > 256 {
        return None;
    }
    let candidates = candidates.into_iter();
    let word = word.to_lowercase();
    let slips = |candidate: &str| strsim::osa_distance(&word, &candidate.to_lowercase());
    let close = candidates
        .clone()
        .map(|candidate| (slips(candidate), candidate))
        .filter(|(slips, _)| *slips <= (word.chars().count() / 3).max(1))
        .min_by_key(|(slips, _)| *slips);
    // Shorter pieces are in everything.
    let held = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        let (short, long) = (word.len().min(candidate.len()), word.len().max(candidate.len()));
        short >= 4 && long > 0 && (candidate.contains(&word) || word.contains(&candidate))
    };
    close.map(|(_, candidate)| candidate).or_else(|| {
        candidates.filter(held).min_by_key(|candidate| candidate.len().abs_diff(word.len()))
    })
}

/// ``; did you mean `x`?`` as the end of a message, or nothing when nothing is near; see [`nearest`].
pub fn suggestion<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    nearest(word, candidates).map_or_else(String::new, |found| format!("; did you mean `{found}`?"))
}

/// A number and its noun: `1 tool`, `2 tools`.
pub fn counted(number: impl fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(excerpt: &str) -> Diagnostic {
        let place =
            Place { line: 12, column: 3, pointer: "/tools/0".into(), excerpt: excerpt.into() };
        Diagnostic::error("no such key")
            .help("did you mean `deny`?")
            .at(Position { file: "a.yaml".into(), place: Some(place) })
    }

    #[test]
    fn one_line_holds_place_message_and_help() {
        assert_eq!(at("").to_string(), "a.yaml:12:3: error: no such key; did you mean `deny`?");
        let whole = Diagnostic::warning("slow").at(Position::whole("--limit"));
        assert_eq!(whole.to_string(), "--limit: warning: slow");
    }

    #[test]
    fn a_caret_stands_under_the_column() {
        let expected =
            "a.yaml:12:3: error: no such key; did you mean `deny`?\n   |\n12 |   dny: []\n   |   ^";
        assert_eq!(at("  dny: []").snippet(), expected);
    }

    #[test]
    fn an_excerpt_cannot_paint_over_the_terminal() {
        let snippet = at("\t\u{1b}[2Jdny: \u{202e}").snippet();
        assert!(snippet.contains("12 |  \u{fffd}[2Jdny: \u{fffd}\n   |   ^"), "{snippet:?}");
    }

    #[test]
    fn an_excerpt_that_was_left_out_is_not_shown() {
        assert_eq!(at("").snippet(), at("").to_string());
    }

    #[test]
    fn quotes_are_cut_and_harmless() {
        assert_eq!(quote("GET /a"), "`GET /a`");
        assert_eq!(quote("a\u{1b}[2J\n\u{202e}b"), "`a\\u{1b}[2J\\n\\u{202e}b`");
        assert_eq!(quote(&"é".repeat(200)).chars().count(), LONGEST_QUOTE + 3);
    }

    #[test]
    fn the_nearest_word_is_found() {
        let check = |word: &str, candidates: &[&str], expected: Option<&str>| {
            assert_eq!(nearest(word, candidates.iter().copied()), expected, "{word}");
        };
        check("tool", &["deny", "tools", "title"], Some("tools"));
        check("resourceNames", &["response_headers", "resource_names"], Some("resource_names"));
        check("dney", &["docs", "deny"], Some("deny"));
        check("listmemos", &["MemoService_ListMemos", "GetMemo"], Some("MemoService_ListMemos"));
        check("MemoService_ListMemo", &["MemoService_ListMemos"], Some("MemoService_ListMemos"));
        check("aaa", &["aab", "aac"], Some("aab"));
        check("zzz", &["deny", "tools"], None);
        check("id", &["hide", "identity"], None);
        check("", &["deny"], None);
        check("x", &[], None);
    }
}
