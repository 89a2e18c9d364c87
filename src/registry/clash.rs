//! Two tools of one name, and the lines that mend it.

use std::collections::{HashMap, HashSet};

use super::{
    draft::Draft,
    name::{self, DERIVED},
};
use crate::diagnostic::Diagnostic;

/// Every pair of tools that would answer to one name, with lines to paste after which none does.
pub(super) fn find<'a>(drafts: impl Iterator<Item = &'a Draft<'a>> + Clone) -> Vec<Diagnostic> {
    let mut names = Names::of(drafts.clone());
    let mut owners: HashMap<&str, &Draft<'_>> = HashMap::new();
    let mut faults = Vec::new();
    for draft in drafts {
        for name in draft.names() {
            match owners.get(name.as_str()) {
                Some(owner) if std::ptr::eq(*owner, draft) => {}
                Some(owner) => {
                    faults.push(fault(name.as_str(), &names.another(draft), owner, draft))
                }
                None => {
                    owners.insert(name.as_str(), draft);
                }
            }
        }
    }
    faults
}

/// Names, by the operation's pointer, for those drafts whose own name an earlier one has.
pub(super) fn names<'a>(
    drafts: impl Iterator<Item = &'a Draft<'a>> + Clone,
) -> HashMap<String, String> {
    let mut names = Names::of(drafts.clone());
    let mut owned = HashSet::new();
    let second = drafts.filter(|draft| !owned.insert(draft.name.as_str()));
    second.map(|draft| (draft.pick.operation.pointer.clone(), names.another(draft))).collect()
}

/// Names that are given away.
struct Names(HashSet<String>);

impl Names {
    fn of<'a>(drafts: impl Iterator<Item = &'a Draft<'a>>) -> Self {
        Self(drafts.flat_map(Draft::names).map(|name| name.as_str().to_owned()).collect())
    }

    /// A name that nobody has yet: the words of method and path, with a number where they are taken.
    fn another(&mut self, draft: &Draft<'_>) -> String {
        let words = name::from_key(&draft.pick.operation.key);
        let numbered = (2_usize..).map(|number| name::cut(&format!("{words}_{number}"), DERIVED));
        let mut names = std::iter::once(name::cut(&words, DERIVED)).chain(numbered);
        let free = names.find(|name| !self.0.contains(name)).unwrap_or(words);
        self.0.insert(free.clone());
        free
    }
}

fn fault(name: &str, other: &str, first: &Draft<'_>, second: &Draft<'_>) -> Diagnostic {
    let (a, b) = (&first.pick.operation.key, &second.pick.operation.key);
    let words = format!("`{a}` and `{b}` are both called `{name}`");
    // Its entry is there already when it names the operation; under a pattern one is added.
    let how = if second.pick.is_named() { "write this entry as" } else { "give one another name" };
    let help = format!("{how}:\n  - operation: {b}\n    name: {other}");
    Diagnostic::error(words).at(second.pick.position()).help(help)
}
