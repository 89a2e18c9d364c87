//! Titles and descriptions as a model may read them.
//!
//! Texts of a document are written by strangers: what cannot be seen (control, direction and
//! zero-width characters, HTML comments) is removed, so that a person reviewing a tool reads what
//! the model reads, and each text is cut at a sentence within its bound.

use crate::{allowlist::Allowlist, diagnostic::counted};

/// Bytes of a tool's description.
const DESCRIPTION: usize = 1_000;
/// Bytes of an argument's description.
const ARGUMENT: usize = 300;
/// Bytes of a title.
const TITLE: usize = 120;

/// A tool's title: the summary's, else one made of the name.
pub(super) fn title(given: Option<&str>, summary: &str, name: &str) -> String {
    let text = one_line(&clean(given.unwrap_or(summary)));
    let text = if text.is_empty() { sentence_case(name) } else { text };
    cut(text.trim_end_matches('.'), TITLE)
}

/// What a model is told of an API: the allowlist's words, else the document's title and the number of
/// tools.
pub(super) fn instructions(allowlist: &Allowlist, title: &str, n_tools: usize) -> String {
    if let Some(words) = &allowlist.instructions {
        return cut(&clean(words), DESCRIPTION);
    }
    let title = cut(&one_line(&clean(title)), TITLE);
    let api = if title.is_empty() { &allowlist.name } else { &title };
    format!("{api}: {}, each one operation of the API.", counted(n_tools, "tool"))
}

/// A tool's description: summary and description, or `given` instead; never empty.
pub(super) fn description(given: Option<&str>, parts: Parts<'_>) -> String {
    let body = match given {
        Some(text) => clean(text),
        None => joined(&clean(parts.summary), &clean(parts.description)),
    };
    let body = if body.is_empty() { parts.fallback } else { body };
    cut(&with_deprecation(&body, parts.deprecated), DESCRIPTION)
}

/// What a document says of an operation.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a> {
    /// The summary.
    pub(super) summary: &'a str,
    /// The description.
    pub(super) description: &'a str,
    /// Said when there is neither.
    pub(super) fallback: String,
    /// Whether it is marked deprecated.
    pub(super) deprecated: bool,
}

/// An argument's description; may be empty.
pub(super) fn argument(text: &str, deprecated: bool) -> String {
    cut(&with_deprecation(&clean(text), deprecated), ARGUMENT)
}

fn with_deprecation(text: &str, deprecated: bool) -> String {
    if !deprecated || text.to_lowercase().starts_with("deprecated") {
        return text.to_owned();
    }
    format!("Deprecated. {text}").trim_end().to_owned()
}

/// Summary, then description, unless one begins with the other.
fn joined(summary: &str, description: &str) -> String {
    let bare = summary.trim_end_matches('.');
    if summary.is_empty() || description.starts_with(bare) {
        return description.to_owned();
    }
    if description.is_empty() || bare.starts_with(description.trim_end_matches('.')) {
        return summary.to_owned();
    }
    let stop = if summary.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{summary}{stop}\n\n{description}")
}

/// `memo_list_memos` → `Memo list memos`.
fn sentence_case(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut characters = words.trim().chars();
    let first = characters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What can be seen of a text: no control, direction, zero-width or tag characters, no HTML comments;
/// line ends as `\n`, at most one empty line in a row.
pub(super) fn clean(text: &str) -> String {
    let visible: String =
        without_comments(text).replace("\r\n", "\n").chars().filter(|&c| is_visible(c)).collect();
    let mut lines: Vec<&str> = Vec::new();
    for line in visible.lines().map(str::trim_end) {
        let repeats = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !repeats {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Direction marks, joiners, fillers and the tag block can hide or reorder what a person sees.
fn is_visible(c: char) -> bool {
    let hidden = matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !hidden && (!c.is_control() || c == '\n' || c == '\t')
}

/// A comment that is never closed hides all that follows, so that goes too. Removing one may put
/// another together, hence the loop.
fn without_comments(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some((before, after)) = text.split_once("<!--") {
        let rest = after.split_once("-->").map_or("", |(_, rest)| rest);
        text = format!("{before}{rest}");
    }
    text
}

/// At most `longest` bytes: whole sentences if they fill a third of it, else whole words.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let head = floor(text, longest);
    let sentence = head
        .char_indices()
        .filter(|&(at, c)| ends_sentence(text, at, c))
        .map(|(at, c)| at + c.len_utf8())
        .next_back();
    if let Some(end) = sentence.filter(|&end| end >= longest / 3) {
        return floor(head, end).trim_end().to_owned();
    }
    let head = floor(text, longest.saturating_sub('…'.len_utf8()));
    let words = head.rsplit_once(char::is_whitespace).map_or(head, |(words, _)| words);
    format!("{}…", words.trim_end())
}

fn ends_sentence(text: &str, at: usize, c: char) -> bool {
    let next = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
    match c {
        '.' if is_abbreviation(text, at) => false,
        '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
        '。' | '！' | '？' => true,
        _ => c == '\n' && next == Some('\n'),
    }
}

/// The stop of `e.g.`, `i.e.` and the like ends no sentence.
fn is_abbreviation(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '[', '"']);
    word.chars().count() == 1 || word.chars().nth(1) == Some('.') || word == "etc" || word == "vs"
}

/// The longest beginning of at most `longest` bytes that ends between characters.
pub(super) fn floor(text: &str, longest: usize) -> &str {
    let fits = |end: &usize| text.is_char_boundary(*end);
    let end = (0..=longest.min(text.len())).rev().find(fits).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(summary: &'a str, description: &'a str) -> Parts<'a> {
        Parts { summary, description, fallback: "GET /x".into(), deprecated: false }
    }

    #[test]
    fn instructions_are_the_allowlists_or_name_the_api_in_one_clean_line() {
        let check = |yaml: &str, title: &str, expected: &str| {
            let text = crate::openapi::text::Text::new("a.yaml", yaml.as_bytes()).unwrap();
            let allowlist = crate::allowlist::parse("memos", &text).unwrap();
            assert_eq!(instructions(&allowlist, title, 2), expected);
        };
        check(
            "tools: []",
            "Memo\n\u{202e}API",
            "Memo API: 2 tools, each one operation of the API.",
        );
        check("tools: []", " ", "memos: 2 tools, each one operation of the API.");
        check("tools: []\ninstructions: Ask first.", "Memo API", "Ask first.");
    }

    #[test]
    fn summary_and_description_are_joined() {
        let check = |summary, text, expected: &str| {
            assert_eq!(description(None, parts(summary, text)), expected);
        };
        check("List memos", "Newest first.", "List memos.\n\nNewest first.");
        check("List memos.", "", "List memos.");
        check("List memos", "List memos of a user.", "List memos of a user.");
        check("", "Newest first.", "Newest first.");
        check("", "", "GET /x");
    }

    #[test]
    fn the_allowlist_and_deprecation_are_heard() {
        let deprecated = Parts { deprecated: true, ..parts("Old", "") };
        assert_eq!(description(None, deprecated.clone()), "Deprecated. Old");
        assert_eq!(description(Some("Mine."), deprecated), "Deprecated. Mine.");
        assert_eq!(argument("DEPRECATED: use x", true), "DEPRECATED: use x");
        assert_eq!(argument("", true), "Deprecated.");
    }

    #[test]
    fn titles_come_from_the_summary_or_the_name() {
        assert_eq!(title(None, "List memos.", "x"), "List memos");
        assert_eq!(title(None, " ", "memo_list_memos"), "Memo list memos");
        assert_eq!(title(Some("Mine"), "List", "x"), "Mine");
        assert_eq!(title(None, "two\nlines", "x"), "two lines");
    }

    #[test]
    fn what_cannot_be_seen_is_removed() {
        let check = |text, expected: &str| assert_eq!(clean(text), expected);
        check("a\u{202e}b\u{200b}c\u{feff}", "abc");
        check("a\u{0}\u{1b}[31mb", "a[31mb");
        check("a<!-- do evil -->b", "ab");
        check("a<!-- never closed", "a");
        check("a<!<!-- -->-- hidden -->b", "ab");
        check("a\r\nb\n\n\n\nc  \n", "a\nb\n\nc");
        check("tag\u{e0041}\u{e0042}", "tag");
        check("tab\tstays", "tab\tstays");
    }

    #[test]
    fn cuts_fall_at_a_sentence_then_at_a_word() {
        assert_eq!(cut("One two. Three four five.", 20), "One two.");
        assert_eq!(cut("One two three four five six", 20), "One two three…");
        assert_eq!(cut("One two. Three (e.g. four) five", 22), "One two.");
        assert_eq!(cut("v1.2 is out now and about", 16), "v1.2 is out…");
        assert_eq!(cut("é".repeat(20).as_str(), 13), format!("{}…", "é".repeat(5)));
        assert!(description(None, parts("", &"word ".repeat(900))).len() <= DESCRIPTION);
        assert!(argument(&"日本語。".repeat(200), false).len() <= ARGUMENT);
    }
}
