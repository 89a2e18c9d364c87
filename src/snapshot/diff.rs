//! What one set of tools changes for callers of another: the diff of two snapshots, as plain values.
//!
//! [`between`] is pure. Each change is [`Effect::Safe`] or [`Effect::Breaking`] for a caller that was
//! written against the old set. Safe means proved: every call that was right stays right and does the
//! same, every field that could be read can be read. What cannot be judged is breaking, and says so.
//!
//! Arguments are judged by what the check of a call accepts where both sides were built, and by the
//! published schemas where one side is a saved list; replies always by the published schemas, since
//! that is all a caller knew. Nothing here looks at what an API really does.

mod binding;
mod bounds;
mod input;
mod kind;
mod output;
mod pair;
mod report;
mod schema;
mod seen;
#[cfg(test)]
mod tests;
mod tool;

use std::collections::HashSet;

pub(super) use binding::renamed_arguments;
pub(super) use pair::pairs;
pub use report::Totals;
pub use seen::Seen;

use super::Snapshot;

/// What changed from one set of tools to another. Names are in list order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// New tools: safe.
    pub added: Vec<String>,
    /// Tools whose name does not answer any more and whose operation is no tool any more: breaking.
    pub removed: Vec<String>,
    /// Tools of the same operation under another name.
    pub renamed: Vec<Renamed>,
    /// Tools that differ in more than the name; renamed ones are here under their new name.
    pub changed: Vec<Changed>,
}

/// A tool under another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The old name.
    pub from: String,
    /// The new one.
    pub to: String,
    /// Safe when the old name still answers, as an alias.
    pub effect: Effect,
}

/// A tool that is another than it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its name now.
    pub tool: String,
    /// Never empty.
    pub changes: Vec<Change>,
}

/// One change of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Of what.
    pub aspect: Aspect,
    /// For a caller.
    pub effect: Effect,
    /// In words, one bounded line.
    pub words: String,
}

/// What of a tool a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Title, descriptions, or how arguments are shown.
    Texts,
    /// More calls are accepted than before.
    InputWidened,
    /// A call that was accepted may be refused, or mean something else.
    InputNarrowed,
    /// The published output schema.
    Output,
    /// The behaviour hints.
    Annotations,
    /// Where a call goes and where its arguments stand in the request.
    Binding,
    /// Other names that it answers to.
    Aliases,
}

/// What a change means for a caller that was written before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Proved to do no harm.
    Safe,
    /// It breaks the caller, or that it does not cannot be proved.
    Breaking,
}

impl Change {
    fn safe(aspect: Aspect, words: impl Into<String>) -> Self {
        Self { aspect, effect: Effect::Safe, words: words.into() }
    }

    fn breaking(aspect: Aspect, words: impl Into<String>) -> Self {
        Self { aspect, effect: Effect::Breaking, words: words.into() }
    }
}

impl Changed {
    /// The worst of its changes.
    pub fn effect(&self) -> Effect {
        self.changes.iter().map(|change| change.effect).max().unwrap_or(Effect::Safe)
    }
}

impl Diff {
    /// Between two snapshots; from nothing, everything is added.
    pub fn of(old: Option<&Snapshot>, new: &Snapshot) -> Self {
        between(&old.map(Seen::all).unwrap_or_default(), &Seen::all(new))
    }

    /// Whether nothing changed for anybody.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a caller of the old tools may fail.
    pub fn breaks(&self) -> bool {
        self.totals().breaking > 0
    }
}

/// What `new` changes for callers of `old`. Pure; equal arguments give equal values.
pub fn between(old: &[Seen], new: &[Seen]) -> Diff {
    let pairs = pairs(old, new);
    let paired: HashSet<usize> = pairs.iter().flatten().copied().collect();
    let is_new = |(at, _): &(usize, &Seen)| !paired.contains(at);
    let added = new.iter().enumerate().filter(is_new).map(|(_, seen)| seen.name().to_owned());
    let mut diff = Diff { added: added.collect(), ..Diff::default() };
    for (old, pair) in old.iter().zip(pairs) {
        match pair.and_then(|at| new.get(at)) {
            None => diff.removed.push(old.name().to_owned()),
            Some(new) => diff.pair(old, new),
        }
    }
    diff
}

impl Diff {
    fn pair(&mut self, old: &Seen, new: &Seen) {
        if old.is(new) {
            return;
        }
        if old.name() != new.name() {
            let answers = new.names().any(|name| name == old.name());
            let effect = if answers { Effect::Safe } else { Effect::Breaking };
            let (from, to) = (old.name().to_owned(), new.name().to_owned());
            self.renamed.push(Renamed { from, to, effect });
        }
        let changes = tool::changes(old, new);
        if !changes.is_empty() {
            self.changed.push(Changed { tool: new.name().to_owned(), changes });
        }
    }
}

/// Places that a line lists before it only counts them.
const PLACES_SHOWN: usize = 6;

/// One line for all places that only have other words.
fn other_words(places: &[String]) -> Option<Change> {
    let shown = places.iter().take(PLACES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = match places.len().saturating_sub(PLACES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let words = format!("other words for {shown}{more}");
    (!places.is_empty()).then(|| Change::safe(Aspect::Texts, words))
}
