//! Which file, which lines, and whether the result would pass: decided before anything is written.
//!
//! Pure but for telling two names of one file from two files.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::at;
use crate::{
    allowlist::{Allowlist, Selector, edit::Editor},
    diagnostic::{Diagnostic, Severity, hides, quote},
    gateway::{self, Checked, Remark},
    openapi::{Api, Operation, text::Text},
    registry,
    source::{Input, Sources, ToolsetSource},
};

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a person wants.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) selectors: Vec<Selector>,
    /// Taken out instead of added.
    pub(super) remove: bool,
    /// The allowlist, when it was named.
    pub(super) file: Option<PathBuf>,
}

/// A file's text before and after; equal when there is nothing to do.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) file: PathBuf,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    /// What is done and what is not, in lines.
    pub(super) said: String,
}

/// Decides the change.
///
/// # Errors
/// Why there is none: no such file or operation, a denied one, or a result that would not pass.
pub(super) fn plan(sources: &Sources, wish: &Wish) -> Result<Change, Vec<Diagnostic>> {
    let (place, source, input) = chosen(sources, wish).map_err(|fault| vec![fault])?;
    let before = input.content.as_ref().map_err(|fault| vec![fault.clone()])?;
    let text = Text::new(Arc::clone(&input.name), before).map_err(|fault| vec![fault])?;
    let editor = Editor::new(&source.name, &text)?;
    let api = document(source);
    let api = if wish.remove { api.ok() } else { Some(api?) };
    let mut edit = Edit { editor, api, said: String::new() };
    for selector in &wish.selectors {
        let before = edit.editor.content().to_owned();
        let done = if wish.remove { edit.remove(selector) } else { edit.add(selector) };
        done.map_err(|fault| vec![fault])?;
        edit.show(&input.name, &before);
    }
    let mark = if before.starts_with(MARK) { MARK } else { &[] };
    let after = [mark, edit.editor.content().as_bytes()].concat();
    if after != **before {
        passes(sources, place, &after)?;
    }
    let file = PathBuf::from(&*input.name);
    Ok(Change { file, before: before.to_vec(), after, said: edit.said })
}

fn document(source: &ToolsetSource) -> Result<Arc<Api>, Vec<Diagnostic>> {
    let missing = || {
        let fault = Diagnostic::error(format!("the allowlist `{}` names no document", source.name));
        vec![fault.help("add `document: FILE` to it, or pass `--document FILE`")]
    };
    gateway::api(source.document.as_ref().ok_or_else(missing)?)
}

type Chosen<'a> = (usize, &'a ToolsetSource, &'a Input);

/// The named file, the only one, or the only one whose document has the operations.
fn chosen<'a>(sources: &'a Sources, wish: &Wish) -> Result<Chosen<'a>, Diagnostic> {
    let all = sources.toolsets.iter().enumerate();
    let all = all.filter_map(|(place, source)| Some((place, source, source.allowlist.as_ref()?)));
    let all: Vec<Chosen<'_>> = all.collect();
    if let Some(file) = &wish.file {
        let is_it = |(_, _, input): &&Chosen<'_>| is_same_file(Path::new(&*input.name), file);
        let missing = || {
            let name = quote(&file.display().to_string());
            Diagnostic::error(format!("{name} is none of the allowlists here"))
        };
        return all.iter().find(is_it).copied().ok_or_else(missing);
    }
    if let [only] = all.as_slice() {
        return Ok(*only);
    }
    let fits = |(_, source, _): &&Chosen<'_>| {
        document(source).is_ok_and(|api| wish.selectors.iter().all(|one| has(&api, one)))
    };
    let fitting: Vec<_> = all.iter().filter(fits).collect();
    if let [one] = fitting.as_slice() {
        return Ok(**one);
    }
    let shown: Vec<_> = if fitting.is_empty() { all.iter().collect() } else { fitting.clone() };
    let names: Vec<_> = shown.iter().map(|(_, _, input)| quote(&input.name)).collect();
    let words = match fitting.is_empty() {
        true => "no document of these allowlists has all of these operations",
        false => "the documents of several allowlists have all of these operations",
    };
    let fault = Diagnostic::error(format!("{words}: {}", names.join(", ")));
    Err(fault.help("say which allowlist: `--file FILE`"))
}

fn has(api: &Api, selector: &Selector) -> bool {
    api.operations().iter().any(|operation| registry::picks(selector, operation))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// A text on its way, and what there is to say of it.
struct Edit {
    editor: Editor,
    /// `None` only where an entry is taken out.
    api: Option<Arc<Api>>,
    said: String,
}

impl Edit {
    fn add(&mut self, selector: &Selector) -> Result<(), Diagnostic> {
        let Some(api) = self.api.clone() else { return Ok(()) };
        let matched = matched(&api, selector);
        if matched.is_empty() {
            return Err(Diagnostic::error(registry::unmatched(&api, selector)));
        }
        let allowlist = self.editor.allowlist();
        let open: Vec<_> =
            matched.iter().copied().filter(|one| denial(allowlist, one).is_none()).collect();
        if let (true, Some(denied)) = (open.is_empty(), matched.first()) {
            let denied = denial(allowlist, denied).unwrap_or_default();
            let words = format!("{} is denied by {denied}", quote(&selector.to_string()));
            return Err(Diagnostic::error(words).help("`deny` wins; take it out there first"));
        }
        let by: Vec<_> = open.iter().map(|operation| permission(allowlist, operation)).collect();
        if let Some(by) = by.iter().cloned().collect::<Option<Vec<_>>>() {
            let by = by.first().cloned().unwrap_or_default();
            let text = quote(&selector.to_string());
            let _ = writeln!(self.said, "{text} is allowed already, by {by}");
            return Ok(());
        }
        let is_same = |other: &Selector| match selector.names_one() {
            true => other.names_one() && matched.iter().any(|one| registry::picks(other, one)),
            false => other.to_string() == selector.to_string(),
        };
        self.editor.add(selector, is_same)
    }

    fn remove(&mut self, selector: &Selector) -> Result<(), Diagnostic> {
        let api = self.api.clone();
        let matched = api.as_deref().map(|api| matched(api, selector)).unwrap_or_default();
        let text = selector.to_string();
        let is_meant = |other: &Selector| {
            let is_named = || matched.iter().any(|one| registry::picks(other, one));
            other.to_string() == text || (other.names_one() && is_named())
        };
        let entries = &self.editor.allowlist().entries;
        let places: Vec<_> =
            (0..entries.len()).rev().filter(|at| is_meant_at(entries, *at, is_meant)).collect();
        for place in &places {
            self.editor.remove(*place)?;
        }
        let allowlist = self.editor.allowlist();
        let rest = matched.iter().filter(|one| denial(allowlist, one).is_none());
        let still = rest.filter_map(|operation| permission(allowlist, operation)).next();
        match (still, places.is_empty()) {
            (Some(by), true) => {
                Err(Diagnostic::error(format!("{} is allowed by {by}", quote(&text)))
                    .help("remove that, or name the operation in `deny`"))
            }
            (Some(by), false) => {
                let _ = writeln!(self.said, "{} is still allowed, by {by}", quote(&text));
                Ok(())
            }
            (None, true) if matched.is_empty() => Err(nothing(api.as_deref(), selector)),
            (None, true) => {
                let _ = writeln!(self.said, "{} is not allowed", quote(&text));
                Ok(())
            }
            (None, false) => Ok(()),
        }
    }

    /// The lines that differ, with their file and first line.
    fn show(&mut self, file: &str, before: &str) {
        let after = self.editor.content();
        if before == after {
            return;
        }
        let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let shorter = old.len().min(new.len()) - same;
        let ends = old.iter().rev().zip(new.iter().rev()).take(shorter);
        let end = ends.take_while(|(old, new)| old == new).count();
        let plain = |line: &str| -> String { line.chars().filter(|c| !hides(*c)).collect() };
        let _ = writeln!(self.said, "{file}:{}", same + 1);
        for (mark, lines) in [('-', &old), ('+', &new)] {
            for line in lines.iter().take(lines.len() - end).skip(same) {
                let _ = writeln!(self.said, "{mark} {}", plain(line));
            }
        }
    }
}

fn is_meant_at(
    entries: &[crate::allowlist::Entry],
    at: usize,
    is_meant: impl Fn(&Selector) -> bool,
) -> bool {
    entries.get(at).is_some_and(|entry| is_meant(&entry.selector))
}

fn nothing(api: Option<&Api>, selector: &Selector) -> Diagnostic {
    let text = quote(&selector.to_string());
    Diagnostic::error(match api {
        Some(api) => registry::unmatched(api, selector),
        None => format!("no entry is {text}, and the document cannot be read"),
    })
}

fn matched<'a>(api: &'a Api, selector: &Selector) -> Vec<&'a Operation> {
    api.operations().iter().filter(|operation| registry::picks(selector, operation)).collect()
}

/// What denies an operation, and where it stands.
fn denial(allowlist: &Allowlist, operation: &Operation) -> Option<String> {
    let denied = allowlist.deny.iter().find(|one| registry::picks(&one.value, operation))?;
    Some(format!("{} in {}", quote(&denied.value.to_string()), at(&denied.position)))
}

/// What allows an operation, and where it stands.
fn permission(allowlist: &Allowlist, operation: &Operation) -> Option<String> {
    let entry = allowlist.entries.iter().find(|one| registry::picks(&one.selector, operation))?;
    Some(format!("{} in {}", quote(&entry.selector.to_string()), at(&entry.position)))
}

/// Whether the changed text brings no fault that is not there without it.
fn passes(sources: &Sources, place: usize, after: &[u8]) -> Result<(), Vec<Diagnostic>> {
    let errors = |sources: &Sources| -> Vec<Remark> {
        let remarks = Checked::of(sources).remarks;
        remarks.into_iter().filter(|one| one.diagnostic.severity == Severity::Error).collect()
    };
    let mut changed = sources.clone();
    let input = changed.toolsets.get_mut(place).and_then(|source| source.allowlist.as_mut());
    if let Some(input) = input {
        input.content = Ok(after.into());
    }
    let known = errors(sources);
    // Not by their places: lines move.
    let is_known = |new: &Remark| {
        known.iter().any(|old| {
            old.toolset == new.toolset && old.diagnostic.message == new.diagnostic.message
        })
    };
    let new = errors(&changed).into_iter().filter(|remark| !is_known(remark));
    let mut faults: Vec<_> = new.map(|remark| remark.diagnostic).collect();
    if faults.is_empty() {
        return Ok(());
    }
    faults.push(Diagnostic::error("nothing is changed: with this the allowlist would not pass"));
    Err(faults)
}
