//! The text of a first allowlist.
//!
//! Every line that starts with `# - ` below `tools:` becomes an entry when its `# ` is taken out, and with all
//! of them taken out the file passes `check`: what cannot be called and headings start with `##`, so that
//! they stay comments, and an operation whose tool would have the name of another one's gets a name. Words
//! of the document stand in comments only, each on one line.

use std::{collections::HashMap, fmt::Write};

use super::at_allow;
use crate::{
    allowlist::{
        Allowlist, Selector,
        write::{comment, named_entry, plain_id, scalar},
    },
    diagnostic::Diagnostic,
    openapi::{Api, Operation},
    registry::{self, Survey},
};

/// Longest comment beside an entry, in characters.
const LONGEST: usize = 100;

/// Comments are aligned up to this width of entries, in characters.
const WIDEST: usize = 48;

/// What stands above the tools.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The document as the file names it.
    pub(super) document: String,
    /// Where calls go, when it is known.
    pub(super) upstream: Option<String>,
}

/// Everything the text is made from.
pub(super) struct Page<'a> {
    pub(super) api: &'a Api,
    pub(super) head: &'a Head,
    /// What is allowed from the start.
    pub(super) allowlist: &'a Allowlist,
    /// Which operations cannot be called, and which need a name of their own.
    pub(super) survey: &'a Survey,
}

/// How one operation is listed.
struct Line {
    mark: Mark,
    entry: Option<String>,
    comment: String,
}

/// Whether a line is an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// It is one.
    Allowed,
    /// It becomes one when its `# ` is taken out.
    Allowable,
    /// It never is.
    Barred,
}

impl Mark {
    fn text(self) -> &'static str {
        match self {
            Self::Allowed => "",
            Self::Allowable => "# ",
            Self::Barred => "## ",
        }
    }
}

impl Page<'_> {
    /// The text, and what a person should know of it.
    ///
    /// # Errors
    /// Selectors that match nothing.
    pub(super) fn write(&self) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
        let faults: Vec<_> = self.unmatched().collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut text = self.head();
        let groups = self.groups();
        let is_tagged = groups.iter().any(|(tag, _)| tag.is_some());
        for (place, (tag, operations)) in groups.iter().enumerate() {
            if is_tagged {
                let tag = tag.map_or("without a tag".to_owned(), |tag| comment(tag, LONGEST));
                let between = if place == 0 { "" } else { "\n" };
                let _ = writeln!(text, "{between}  ## {tag}");
            }
            write_lines(&mut text, &self.lines(operations));
        }
        Ok((text, self.warnings()))
    }

    fn unmatched(&self) -> impl Iterator<Item = Diagnostic> {
        let matches = |selector: &Selector| {
            self.api.operations().iter().any(|operation| registry::picks(selector, operation))
        };
        let entries = self.allowlist.entries.iter();
        let unmatched = entries.filter(move |entry| !matches(&entry.selector));
        unmatched.map(|entry| {
            at_allow(Diagnostic::error(registry::unmatched(self.api, &entry.selector)))
        })
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let barred = |operation: &Operation| {
            let barred = |words: &str| {
                let words = format!("`{}` stays commented out: {words}", operation.key);
                at_allow(Diagnostic::warning(words))
            };
            match self.survey.reasons.get(&operation.pointer) {
                Some(reason) => Some(barred(reason)),
                None if self.entry(operation).0.is_some() => None,
                None => Some(
                    barred("it has no name of its own")
                        .help("add the selector itself below `tools:`"),
                ),
            }
        };
        let chosen = self.api.operations().iter().filter(|operation| self.is_chosen(operation));
        let no_upstream = self.head.upstream.is_none().then(|| {
            Diagnostic::warning("the file does not say yet where calls go")
                .help("take the `# ` from its line `# upstream: …` and write where, or pass `--upstream URL`")
        });
        chosen.filter_map(barred).chain(no_upstream).collect()
    }

    fn head(&self) -> String {
        let Head { document, upstream } = self.head;
        let upstream = match upstream {
            Some(upstream) => format!("upstream: {}", scalar(upstream)),
            None => self.asked_upstream(),
        };
        format!(
            "# yaml-language-server: $schema=./schema.json\n\
             # What agents may call: take the `# ` from an operation to allow it. Saved changes are live at once.\n\
             document: {}\n{upstream}\n\ntools:\n",
            scalar(document)
        )
    }

    /// The line to complete. The document may name a server, but does not decide where calls go.
    fn asked_upstream(&self) -> String {
        let server = server(self.api).map(|server| comment(&server, LONGEST));
        let hint = server.filter(|server| !server.is_empty());
        let hint = hint.map_or(String::new(), |server| format!("; the document names {server}"));
        format!("# upstream: http://localhost:8080   # write where calls go{hint}")
    }

    /// Operations by their first tag: in the order that the document declares tags, then of appearance,
    /// those without a tag last.
    fn groups(&self) -> Vec<(Option<&str>, Vec<&Operation>)> {
        let declared = self.api.tags();
        let mut order: Vec<&str> = Vec::new();
        let mut groups: HashMap<Option<&str>, Vec<&Operation>> = HashMap::new();
        for operation in self.api.operations() {
            let tag = operation.tags.first().map(String::as_str);
            let group = groups.entry(tag).or_default();
            if let Some(tag) = tag.filter(|_| group.is_empty()) {
                order.push(tag);
            }
            group.push(operation);
        }
        let place = |tag: &&str| declared.iter().position(|one| one.name == **tag);
        order.sort_by_key(|tag| place(tag).unwrap_or(usize::MAX));
        let tags = order.into_iter().map(Some).chain([None]);
        tags.filter_map(|tag| Some((tag, groups.remove(&tag)?))).collect()
    }

    /// Reads first, else in document order.
    fn lines(&self, operations: &[&Operation]) -> Vec<Line> {
        let (reads, writes): (Vec<_>, Vec<_>) =
            operations.iter().partition(|operation| operation.key.method.is_safe());
        reads.into_iter().chain(writes).map(|operation| self.line(operation)).collect()
    }

    fn line(&self, operation: &Operation) -> Line {
        let (entry, is_key) = self.entry(operation);
        let reason = self.survey.reasons.get(&operation.pointer);
        let mut words = Vec::new();
        if !is_key {
            words.push(operation.key.to_string());
        }
        match (reason, &entry) {
            (Some(reason), _) => words.push(format!("cannot be called: {reason}")),
            (None, None) => words.push("has no name of its own; use a pattern or a tag".to_owned()),
            (None, Some(_)) if operation.summary.trim().is_empty() => {}
            (None, Some(_)) => words.push(operation.summary.clone()),
        }
        let words = words.join(": ");
        let words = if operation.deprecated { format!("{words} (deprecated)") } else { words };
        let mark = match (reason, &entry) {
            (Some(_), _) | (None, None) => Mark::Barred,
            (None, Some(_)) if self.is_chosen(operation) => Mark::Allowed,
            (None, Some(_)) => Mark::Allowable,
        };
        Line { mark, entry, comment: comment(&words, LONGEST) }
    }

    fn is_chosen(&self, operation: &Operation) -> bool {
        self.allowlist.entries.iter().any(|entry| registry::picks(&entry.selector, operation))
    }

    /// How an entry names the operation and no other one, and whether by its key: the operationId where
    /// it can stand there plainly. `None` when neither can.
    fn entry(&self, operation: &Operation) -> (Option<String>, bool) {
        let name = self.survey.names.get(&operation.pointer);
        let written =
            |selector: &str, plain: String| name.map_or(plain, |name| named_entry(selector, name));
        let id = operation.id.as_deref().filter(|_| !operation.shared_id).and_then(plain_id);
        if let Some(id) = id {
            return (Some(written(id, id.to_owned())), false);
        }
        let key = operation.key.to_string();
        let is_alone = |selector: &Selector| {
            let picked = |other: &&Operation| registry::picks(selector, other);
            let mut picked = self.api.operations().iter().filter(picked);
            picked.next().is_some_and(|first| first.pointer == operation.pointer)
                && picked.next().is_none()
        };
        match Selector::parse(&key) {
            Ok(selector) if is_alone(&selector) => (Some(written(&key, scalar(&key))), true),
            _ => (None, false),
        }
    }
}

fn write_lines(text: &mut String, lines: &[Line]) {
    let width = |line: &Line| line.entry.as_ref().map_or(0, |entry| entry.chars().count());
    let widest = lines.iter().map(width).filter(|width| *width <= WIDEST).max().unwrap_or(0);
    for line in lines {
        let _ = match &line.entry {
            None => writeln!(text, "  ## {}", line.comment),
            Some(entry) => {
                let mark = line.mark.text();
                let comment = &line.comment;
                match comment.is_empty() {
                    true => writeln!(text, "  {mark}- {entry}"),
                    false => writeln!(text, "  {mark}- {entry:widest$}   # {comment}"),
                }
            }
        };
    }
}

/// The first server that the document names, as it names it.
fn server(api: &Api) -> Option<String> {
    let text = |pointer: &str| api.raw().pointer(pointer)?.as_str().map(str::to_owned);
    text("/servers/0/url").or_else(|| {
        let scheme = text("/schemes/0").unwrap_or("http".to_owned());
        Some(format!("{scheme}://{}{}", text("/host")?, text("/basePath").unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests;
