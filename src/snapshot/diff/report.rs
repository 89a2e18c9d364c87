//! A diff as numbers and as one line, for logs and for what is kept of it.

use std::fmt;

use super::{Diff, Effect};

/// How much changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// New tools.
    pub added: usize,
    /// Tools that are gone.
    pub removed: usize,
    /// Tools under another name.
    pub renamed: usize,
    /// Tools that differ in more than the name.
    pub changed: usize,
    /// Tools, of all of these, whose callers may fail.
    pub breaking: usize,
}

/// Names in one line; a whole document coming or going would fill a terminal.
const SHOWN: usize = 8;

/// Names and changes of one diff that are kept.
const KEPT: usize = 200;

impl Diff {
    /// How much changed.
    pub fn totals(&self) -> Totals {
        let breaks = |effect: Effect| effect == Effect::Breaking;
        let changed = self.changed.iter().filter(|changed| breaks(changed.effect()));
        let renamed = self.renamed.iter().filter(|renamed| breaks(renamed.effect));
        // A renamed tool that changed counts once.
        let only = changed.filter(|changed| {
            !self.renamed.iter().any(|renamed| renamed.to == changed.tool && breaks(renamed.effect))
        });
        Totals {
            added: self.added.len(),
            removed: self.removed.len(),
            renamed: self.renamed.len(),
            changed: self.changed.len(),
            breaking: self.removed.len() + renamed.count() + only.count(),
        }
    }

    /// The beginning of each list, so that a history of diffs is bounded.
    pub(in crate::snapshot) fn beginning(mut self) -> Self {
        self.added.truncate(KEPT);
        self.removed.truncate(KEPT);
        self.renamed.truncate(KEPT);
        let mut left = KEPT;
        self.changed.retain_mut(|changed| {
            changed.changes.truncate(left);
            left -= changed.changes.len();
            !changed.changes.is_empty()
        });
        self
    }

    /// Sign and name of everything, breaking ones with `!`.
    fn names(&self) -> impl Iterator<Item = String> {
        let mark = |effect: Effect| if effect == Effect::Breaking { "!" } else { "" };
        let added = self.added.iter().map(|name| format!("+{name}"));
        let removed = self.removed.iter().map(|name| format!("-{name}!"));
        let renamed = self.renamed.iter();
        let renamed =
            renamed.map(move |one| format!("{}→{}{}", one.from, one.to, mark(one.effect)));
        let changed = self.changed.iter();
        let changed = changed.map(move |one| format!("~{}{}", one.tool, mark(one.effect())));
        added.chain(removed).chain(renamed).chain(changed)
    }
}

/// `1 added, 0 removed, 1 changed, 1 breaking: +memo_pin ~memo_get!`, at most eight names; numbers come
/// first. Renamed and breaking ones are only counted where there are any.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no tool is different");
        }
        let Totals { added, removed, renamed, changed, breaking } = self.totals();
        write!(f, "{added} added, {removed} removed, ")?;
        if renamed > 0 {
            write!(f, "{renamed} renamed, ")?;
        }
        write!(f, "{changed} changed")?;
        if breaking > 0 {
            write!(f, ", {breaking} breaking")?;
        }
        f.write_str(":")?;
        let mut names = self.names();
        names.by_ref().take(SHOWN).try_for_each(|name| write!(f, " {name}"))?;
        if names.next().is_some() { f.write_str(" …") } else { Ok(()) }
    }
}
