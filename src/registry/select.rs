//! Which operations of a document an allowlist picks, and with which changes.
//!
//! Entries keep their order; a tag or pattern gives its operations in document order. The first
//! mention of an operation decides its place, an entry that names it decides its changes. `deny`
//! wins over all of them.

use std::collections::HashMap;

use crate::{
    allowlist::{Allowlist, Changes, Entry, Selector},
    config::Policy,
    diagnostic::{Diagnostic, Position, quote, suggestion},
    openapi::{Api, Operation},
};

/// An operation that becomes a tool.
#[derive(Clone, Debug)]
pub(super) struct Pick<'a> {
    /// The operation.
    pub(super) operation: &'a Operation,
    /// The entry that names it, else the tag or pattern that picked it.
    pub(super) entry: &'a Entry,
}

impl<'a> Pick<'a> {
    /// Whether an entry names the operation itself.
    pub(super) fn is_named(&self) -> bool {
        self.entry.selector.names_one()
    }

    /// What the entry changes.
    pub(super) fn changes(&self) -> &'a Changes {
        &self.entry.changes
    }

    /// Where the entry stands.
    pub(super) fn position(&self) -> Position {
        self.entry.position.clone()
    }
}

/// What an allowlist picks.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    /// Each operation once, in list order.
    pub(super) picks: Vec<Pick<'a>>,
    /// What refuses the toolset.
    pub(super) errors: Vec<Diagnostic>,
    /// What is worth knowing.
    pub(super) warnings: Vec<Diagnostic>,
    /// Operation to its place in `picks`; looked up only.
    places: HashMap<&'a str, usize>,
}

/// Picks the operations of an allowlist.
pub(super) fn select<'a>(api: &'a Api, allowlist: &'a Allowlist, policy: Policy) -> Selection<'a> {
    let mut selection = Selection::default();
    for denied in &allowlist.deny {
        if !api.operations().iter().any(|operation| picks(&denied.value, operation)) {
            let words =
                format!("{} in `deny` matches no operation", quote(&denied.value.to_string()));
            selection.warnings.push(Diagnostic::warning(words).at(denied.position.clone()));
        }
    }
    let is_denied = |operation: &Operation| {
        allowlist.deny.iter().find(|denied| picks(&denied.value, operation)).map(|d| &d.value)
    };
    for entry in &allowlist.entries {
        let found: Vec<&Operation> =
            api.operations().iter().filter(|operation| picks(&entry.selector, operation)).collect();
        if found.is_empty() {
            selection.none(api, entry, policy);
        } else if entry.selector.names_one() {
            selection.named(entry, &found, &is_denied);
        } else {
            let allowed = found.into_iter().filter(|operation| is_denied(operation).is_none());
            allowed.for_each(|operation| selection.add(operation, entry));
        }
    }
    selection
}

/// Whether a selector picks an operation.
pub fn picks(selector: &Selector, operation: &Operation) -> bool {
    let key = &operation.key;
    selector.matches(key.method.as_str(), &key.path, operation.id.as_deref(), &operation.tags)
}

/// That a selector matches nothing, with the nearest name that would.
pub fn unmatched(api: &Api, selector: &Selector) -> String {
    let text = selector.to_string();
    let near = match selector {
        Selector::Id(id) => suggestion(id, ids(api)),
        Selector::Key { .. } => {
            let keys: Vec<String> = api.operations().iter().map(|o| o.key.to_string()).collect();
            suggestion(&text, keys.iter().map(String::as_str))
        }
        Selector::Tag(tag) => suggestion(tag, tags(api)),
        Selector::Pattern(_) => String::new(),
    };
    format!("{} matches no operation of `{}`{near}", quote(&text), api.file())
}

impl<'a> Selection<'a> {
    /// A selector that matches nothing; in `dev`, a named operation may have left the document.
    fn none(&mut self, api: &Api, entry: &Entry, policy: Policy) {
        let words = unmatched(api, &entry.selector);
        // With nothing near, a look at all of them helps.
        let is_lost = !words.contains("did you mean");
        let at = |fault: Diagnostic| {
            let fault = fault.at(entry.position.clone());
            if is_lost { fault.help("`toolgate init DOCUMENT` lists all there are") } else { fault }
        };
        if entry.selector.names_one() && policy == Policy::Forgiving {
            self.warnings.push(at(Diagnostic::warning(words)));
        } else {
            self.errors.push(at(Diagnostic::error(words)));
        }
    }

    fn named(
        &mut self,
        entry: &'a Entry,
        found: &[&'a Operation],
        is_denied: &dyn Fn(&Operation) -> Option<&'a Selector>,
    ) {
        let text = quote(&entry.selector.to_string());
        let [operation] = found else {
            let keys: Vec<String> = found.iter().map(|o| format!("`{}`", o.key)).collect();
            let words = format!("{text} is the operationId of several operations");
            let help = format!("name one by its key: {}", keys.join(", "));
            self.errors.push(Diagnostic::error(words).at(entry.position.clone()).help(help));
            return;
        };
        match is_denied(operation) {
            Some(denied) => {
                let words = format!("{text} is denied by {}", quote(&denied.to_string()));
                let fault = Diagnostic::error(words).at(entry.position.clone());
                self.errors.push(fault.help("remove one of the two"));
            }
            None => self.add(operation, entry),
        }
    }

    fn add(&mut self, operation: &'a Operation, entry: &'a Entry) {
        let place = self.places.get(operation.pointer.as_str()).copied();
        let Some(known) = place.and_then(|place| self.picks.get_mut(place)) else {
            self.places.insert(&operation.pointer, self.picks.len());
            self.picks.push(Pick { operation, entry });
            return;
        };
        if !entry.selector.names_one() {
            return;
        }
        if known.is_named() {
            let words = format!("`{}` is named twice", operation.key);
            let first = quote(&known.entry.selector.to_string());
            let line =
                known.entry.position.place.as_ref().map(|place| format!(" on line {}", place.line));
            let help = format!("keep this or {first}{}", line.unwrap_or_default());
            self.errors.push(Diagnostic::error(words).at(entry.position.clone()).help(help));
        } else {
            known.entry = entry;
        }
    }
}

fn ids(api: &Api) -> impl Iterator<Item = &str> + Clone {
    api.operations().iter().filter_map(|operation| operation.id.as_deref())
}

fn tags(api: &Api) -> impl Iterator<Item = &str> + Clone {
    api.operations().iter().flat_map(|operation| operation.tags.iter().map(String::as_str))
}
