//! Two tools of one name, and the lines that mend it.

use std::collections::HashMap;

use super::{
    draft::Draft,
    name::{self, DERIVED},
};
use crate::diagnostic::Diagnostic;

/// Every pair of tools that would answer to one name.
pub(super) fn find(drafts: &[Draft<'_>]) -> Vec<Diagnostic> {
    let mut owners: HashMap<&str, &Draft<'_>> = HashMap::new();
    let mut faults = Vec::new();
    for draft in drafts {
        for name in draft.names() {
            match owners.get(name.as_str()) {
                Some(owner) if std::ptr::eq(*owner, draft) => {}
                Some(owner) => faults.push(fault(name.as_str(), owner, draft)),
                None => {
                    owners.insert(name.as_str(), draft);
                }
            }
        }
    }
    faults
}

fn fault(name: &str, first: &Draft<'_>, second: &Draft<'_>) -> Diagnostic {
    let (a, b) = (&first.pick.operation.key, &second.pick.operation.key);
    let words = format!("`{a}` and `{b}` are both called `{name}`");
    let other = name::cut(&name::from_key(b), DERIVED);
    // The words of the path may be the very name that clashed.
    let other = if other == name { name::cut(&format!("{other}_2"), DERIVED) } else { other };
    let help = format!("give one another name:\n  - operation: {b}\n    name: {other}",);
    Diagnostic::error(words).at(second.pick.position()).help(help)
}
