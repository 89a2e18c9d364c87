//! Edits of an allowlist's text: a line in, a line out, nothing else touched.
//!
//! The text is never written anew from what it means, so comments, order, quotes and line ends stay. What
//! an edit came to is read back and held against what was meant: a layout that is not understood here
//! (a list in brackets, say) is refused, never damaged.

use serde_json::Value;

use super::{Allowlist, Selector, parse, write::scalar};
use crate::{
    diagnostic::{Diagnostic, quote},
    openapi::text::Text,
};

/// A text and what it reads as.
pub struct Editor {
    name: String,
    text: Text,
    allowlist: Allowlist,
}

/// Comment lines that would be one entry, without their marks.
struct Commented {
    lines: Vec<String>,
    selector: Selector,
}

impl Editor {
    /// Reads a text that is to be edited.
    ///
    /// # Errors
    /// Every fault of it.
    pub fn new(name: &str, text: &Text) -> Result<Self, Vec<Diagnostic>> {
        let allowlist = parse(name, text)?;
        Ok(Self { name: name.to_owned(), text: text.clone(), allowlist })
    }

    /// What the text reads as now.
    pub fn allowlist(&self) -> &Allowlist {
        &self.allowlist
    }

    /// The text now.
    pub fn content(&self) -> &str {
        self.text.content()
    }

    /// Adds an entry: the commented-out one that `is_same` knows loses its marks, else a line is inserted
    /// after the last entry.
    ///
    /// # Errors
    /// When the layout of the list is not understood.
    pub fn add(
        &mut self,
        selector: &Selector,
        is_same: impl Fn(&Selector) -> bool,
    ) -> Result<(), Diagnostic> {
        let lines = self.lines();
        let block = self.block(&lines).ok_or_else(|| self.not_understood(selector))?;
        for place in block.start + 1..block.end {
            let Some(commented) = commented(&lines, place, block.end) else { continue };
            if !is_same(&commented.selector) {
                continue;
            }
            let end = place + commented.lines.len();
            let edited = splice(&lines, place, end, &commented.lines);
            if self.accept(
                &edited,
                |selectors| selectors.contains(&commented.selector.to_string()),
                1,
            ) {
                return Ok(());
            }
        }
        let edited = self.inserted(&lines, &block, selector);
        let wanted = selector.to_string();
        match self.accept(&edited, |selectors| selectors.contains(&wanted), 1) {
            true => Ok(()),
            false => Err(self.not_understood(selector)),
        }
    }

    /// Takes an entry out: its lines become comments, or go where an inserted line would be the same.
    ///
    /// # Errors
    /// When the layout of the list is not understood.
    pub fn remove(&mut self, entry: usize) -> Result<(), Diagnostic> {
        let Some(entry) = self.allowlist.entries.get(entry) else { return Ok(()) };
        let selector = entry.selector.clone();
        let lines = self.lines();
        let line = entry.position.place.as_ref().map(|place| place.line as usize - 1);
        let edited = line.and_then(|line| self.without(&lines, line, &selector));
        let wanted = selector.to_string();
        match edited {
            Some(edited) if self.accept(&edited, |s| !s.contains(&wanted), -1) => Ok(()),
            _ => Err(self.not_understood(&selector)),
        }
    }

    fn lines(&self) -> Vec<String> {
        self.text.content().split_inclusive('\n').map(str::to_owned).collect()
    }

    /// Takes an edited text over when it reads as meant: the other entries stay as they were.
    fn accept(&mut self, edited: &str, is_meant: impl Fn(&[String]) -> bool, more: isize) -> bool {
        let Ok(text) = Text::new(self.text.file().clone(), edited.as_bytes()) else { return false };
        let Ok(allowlist) = parse(&self.name, &text) else { return false };
        let (Some((before, old)), Some((after, new))) = (parts(&self.text), parts(&text)) else {
            return false;
        };
        let (few, many) = if more > 0 { (&before, &after) } else { (&after, &before) };
        let mut rest = many.iter();
        let is_kept = few.iter().all(|one| rest.any(|other| other == one));
        let selectors = allowlist.entries.iter().map(|entry| entry.selector.to_string());
        let selectors: Vec<_> = selectors.collect();
        if !is_kept || few.len() + 1 != many.len() || old != new || !is_meant(&selectors) {
            return false;
        }
        (self.text, self.allowlist) = (text, allowlist);
        true
    }

    /// The lines of `tools:` and what is below it, comments at the end included that are indented.
    fn block(&self, lines: &[String]) -> Option<std::ops::Range<usize>> {
        let place = self.text.places(&["/tools"]).into_iter().next().flatten()?;
        let start = place.line as usize - 1;
        let key = lines.get(start)?;
        let indent = indent(key);
        let is_key = ["tools:", "\"tools\":", "'tools':"].iter().any(|k| key.trim().starts_with(k));
        if !is_key || indent != place.column as usize - 1 {
            return None;
        }
        let ends = |line: &String| {
            let text = line.trim();
            let is_item = text == "-" || text.starts_with("- ");
            let is_deeper = self::indent(line) > indent;
            !text.is_empty() && !is_deeper && !text.starts_with('#') && !is_item
        };
        let below = lines.get(start + 1..)?;
        let mut end = below.iter().position(ends).map_or(lines.len(), |n| start + 1 + n);
        // Comments in front of the next key, and blank lines, are not of this list.
        let is_outside = |line: &String| {
            let text = line.trim();
            let is_comment =
                text.starts_with('#') && !text.starts_with("# - ") && !text.starts_with("#- ");
            text.is_empty() || (self::indent(line) <= indent && is_comment)
        };
        while end > start + 1 && lines.get(end - 1).is_some_and(is_outside) {
            end -= 1;
        }
        Some(start..end)
    }

    fn inserted(
        &self,
        lines: &[String],
        block: &std::ops::Range<usize>,
        selector: &Selector,
    ) -> String {
        let entry = self.allowlist.entries.last().and_then(|entry| entry.position.place.as_ref());
        let entry = entry.and_then(|place| lines.get(place.line as usize - 1));
        let listed = lines.get(block.start + 1..block.end).unwrap_or_default();
        let is_commented = |line: &&String| line.trim_start().starts_with("# - ");
        let like = entry.or_else(|| listed.iter().find(is_commented));
        let key = lines.get(block.start).map_or(0, |line| indent(line));
        let indent = like.map_or(key + 2, |line| indent(line));
        let end = self.line_end();
        let line = format!("{}- {}{end}", " ".repeat(indent), scalar(&selector.to_string()));
        let mut lines = lines.to_vec();
        if let Some(key) = lines.get_mut(block.start) {
            *key = without_brackets(key);
        }
        if let Some(last) = lines.get_mut(block.end - 1).filter(|last| !last.ends_with('\n')) {
            last.push_str(end);
        }
        lines.insert(block.end, line);
        lines.concat()
    }

    fn line_end(&self) -> &'static str {
        let first = self.text.content().split_inclusive('\n').next().unwrap_or_default();
        if first.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    /// The text without the entry that starts on a line.
    fn without(&self, lines: &[String], line: usize, selector: &Selector) -> Option<String> {
        let first = lines.get(line)?;
        let dash = indent(first);
        if !first.trim_start().starts_with("- ") {
            return None;
        }
        let block = self.block(lines)?;
        let is_of_entry = |line: &String| line.trim().is_empty() || indent(line) > dash;
        let is_comment = |line: &String| line.trim().is_empty() || line.trim().starts_with('#');
        let rest = lines.get(line + 1..block.end)?;
        let mut end = line + 1 + rest.iter().take_while(|line| is_of_entry(line)).count();
        while end > line + 1 && lines.get(end - 1).is_some_and(is_comment) {
            end -= 1;
        }
        let bare = format!("- {}", scalar(&selector.to_string()));
        if end == line + 1 && first.trim() == bare {
            return Some(splice(lines, line, end, &[]));
        }
        let marked: Vec<_> = lines.get(line..end)?.iter().map(|line| marked(line, dash)).collect();
        Some(splice(lines, line, end, &marked))
    }

    fn not_understood(&self, selector: &Selector) -> Diagnostic {
        let words = format!(
            "the layout of `tools` in {} is not one that lines can be added to or taken from",
            quote(self.text.file())
        );
        let line = format!("- {}", scalar(&selector.to_string()));
        Diagnostic::error(words).help(format!(
            "write one operation a line below `tools:`, or edit {} by hand",
            quote(&line)
        ))
    }
}

/// The entries of `tools`, and everything else in the file.
fn parts(text: &Text) -> Option<(Vec<Value>, Value)> {
    let mut rest = text.value().ok()?;
    let entries = match rest.get_mut("tools").map(Value::take)? {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    Some((entries, rest))
}

/// The comment lines from `place` on that make one entry: a first one like `# - operation`, and those
/// after it that are indented below it.
fn commented(lines: &[String], place: usize, end: usize) -> Option<Commented> {
    let first = unmarked(lines.get(place)?)?;
    let dash = indent(&first);
    if !first.trim_start().starts_with("- ") {
        return None;
    }
    let rest = lines.get(place + 1..end)?.iter().map_while(|line| unmarked(line));
    let rest = rest.take_while(|line| line.trim().is_empty() || indent(line) > dash);
    let mut lines: Vec<_> = std::iter::once(first).chain(rest).collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let selector = selector(&lines)?;
    Some(Commented { lines, selector })
}

/// The selector of lines that are one entry.
fn selector(lines: &[String]) -> Option<Selector> {
    let content = format!("tools:\n{}", lines.concat());
    let text = Text::new("", content.as_bytes()).ok()?;
    match parse("", &text).ok()?.entries.as_slice() {
        [entry] => Some(entry.selector.clone()),
        _ => None,
    }
}

/// A comment line without its first mark.
fn unmarked(line: &str) -> Option<String> {
    let (before, after) = line.split_once('#').filter(|(before, _)| before.trim().is_empty())?;
    let after = after.strip_prefix(' ').unwrap_or(after);
    let is_blank = after.trim().is_empty();
    Some(if is_blank { after.to_owned() } else { format!("{before}{after}") })
}

/// A line made a comment, its mark at a column.
fn marked(line: &str, column: usize) -> String {
    let (before, after) = line.split_at(column.min(indent(line)));
    let blank = " ".repeat(column.saturating_sub(before.len()));
    match after.trim().is_empty() {
        true => format!("{before}{blank}#{}", after.trim_matches(' ')),
        false => format!("{before}# {after}"),
    }
}

/// `tools: []` and its like with nothing after the colon; comments stay.
fn without_brackets(line: &str) -> String {
    let Some((key, rest)) = line.split_once(':') else { return line.to_owned() };
    let rest = rest.trim_start();
    let empty = ["[]", "[ ]", "~", "null"].iter().find_map(|empty| rest.strip_prefix(empty));
    match empty {
        Some(rest) => format!("{key}:{rest}"),
        None => line.to_owned(),
    }
}

fn splice(lines: &[String], start: usize, end: usize, new: &[String]) -> String {
    let (before, after) = (lines.iter().take(start), lines.iter().skip(end));
    before.chain(new).chain(after).map(String::as_str).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(content: &str) -> Editor {
        Editor::new("a", &Text::new("a.yaml", content.as_bytes()).unwrap()).unwrap()
    }

    fn add(content: &str, selector: &str) -> String {
        let mut editor = editor(content);
        let selector = Selector::parse(selector).unwrap();
        let same = selector.to_string();
        editor.add(&selector, |other| other.to_string() == same).unwrap();
        editor.content().to_owned()
    }

    fn remove(content: &str, entry: usize) -> String {
        let mut editor = editor(content);
        editor.remove(entry).unwrap();
        editor.content().to_owned()
    }

    /// Adding and removing again gives the same bytes.
    fn both(before: &str, selector: &str, after: &str) {
        assert_eq!(add(before, selector), after);
        let selector = Selector::parse(selector).unwrap().to_string();
        let entries = editor(after).allowlist.entries;
        let entry = entries.iter().position(|one| one.selector.to_string() == selector).unwrap();
        assert_eq!(remove(after, entry), before);
    }

    #[test]
    fn a_commented_line_loses_its_mark_and_gets_it_again() {
        both(
            "tools:\n  ## M\n  # - a   # GET /a\n  # - b   # GET /b\n",
            "b",
            "tools:\n  ## M\n  # - a   # GET /a\n  - b   # GET /b\n",
        );
        both("tools:\r\n  # - a # x\r\n", "a", "tools:\r\n  - a # x\r\n");
    }

    #[test]
    fn an_entry_with_changes_goes_and_comes_as_a_block() {
        both(
            "tools:\n  # - operation: a   # why\n  #   # odd\n  #   description: |\n  #     one\n  #\n  #     two\n  - b\n",
            "a",
            "tools:\n  - operation: a   # why\n    # odd\n    description: |\n      one\n\n      two\n  - b\n",
        );
    }

    #[test]
    fn a_line_is_inserted_after_the_last_of_the_list_and_removed_again() {
        both("tools:\n  - a\n", "GET /b", "tools:\n  - a\n  - GET /b\n");
        both("tools:\n", "b", "tools:\n  - b\n");
        both(
            "tools:\n- a\n\n# of docs\ndocs: true\n",
            "b",
            "tools:\n- a\n- b\n\n# of docs\ndocs: true\n",
        );
        both(
            "tools:\n    - operation: a\n      hide: [x]\n    # end\n\ndocs: true\n",
            "* /x",
            "tools:\n    - operation: a\n      hide: [x]\n    # end\n    - \"* /x\"\n\ndocs: true\n",
        );
        both(
            "tools:\r\n  - a\r\ndocs: true\r\n",
            "b",
            "tools:\r\n  - a\r\n  - b\r\ndocs: true\r\n",
        );
        both("tools:\n    # - a\n", "b", "tools:\n    # - a\n    - b\n");
        both("tools:\n  - a   # last\n", "tag:B", "tools:\n  - a   # last\n  - tag:B\n");
        assert_eq!(add("tools: []   # none\n", "b"), "tools:   # none\n  - b\n");
        assert_eq!(add("tools: [ ]\n", "b"), "tools:\n  - b\n");
        assert_eq!(add("tools:\n  - a", "b"), "tools:\n  - a\n  - b\n");
        assert_eq!(add("tools: null\n", "b"), "tools:\n  - b\n");
    }

    #[test]
    fn a_layout_that_is_not_understood_is_refused_and_left_alone() {
        for content in
            ["tools: [a, c]\n", "{\"tools\": [\"a\", \"c\"]}\n", "tools:\n  [a,\n   c]\n"]
        {
            let mut editor = editor(content);
            let fault = editor.add(&Selector::parse("b").unwrap(), |_| false).unwrap_err();
            assert!(fault.to_string().contains("by hand"), "{fault}");
            assert!(editor.remove(0).is_err(), "{content}");
            assert_eq!(editor.content(), content);
        }
    }

    #[test]
    fn comments_that_only_look_like_entries_are_left() {
        let content = "tools:\n  # - b: [\n  # - a or b, see below\n  - a\n";
        assert_eq!(add(content, "b"), format!("{content}  - b\n"));
    }
}
