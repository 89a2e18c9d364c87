//! What a swap changes for callers, in names of tools.

use std::{collections::HashMap, fmt, sync::Arc};

use crate::{registry::Tool, snapshot::Snapshot};

/// Names of tools, in list order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) changed: Vec<String>,
}

impl Changes {
    /// From what was served, if anything was, to what is.
    pub(super) fn between(old: Option<&Snapshot>, new: &Snapshot) -> Self {
        let (old, new) = (old.map(tools).unwrap_or_default(), tools(new));
        Self::of(&old, &new, |one: &Arc<Tool>, other: &Arc<Tool>| {
            Arc::ptr_eq(one, other) || one.listed == other.listed
        })
    }

    fn of<T>(old: &[(String, T)], new: &[(String, T)], same: impl Fn(&T, &T) -> bool) -> Self {
        let before: HashMap<_, _> = old.iter().map(|(name, tool)| (name, tool)).collect();
        let after: HashMap<_, _> = new.iter().map(|(name, tool)| (name, tool)).collect();
        let names = |tools: &[(String, T)], wanted: &dyn Fn(&String, &T) -> bool| {
            let wanted = tools.iter().filter(|(name, tool)| wanted(name, tool));
            wanted.map(|(name, _)| name.clone()).collect()
        };
        Self {
            added: names(new, &|name, _| !before.contains_key(name)),
            removed: names(old, &|name, _| !after.contains_key(name)),
            changed: names(new, &|name, tool| {
                before.get(name).is_some_and(|before| !same(before, tool))
            }),
        }
    }
}

fn tools(snapshot: &Snapshot) -> Vec<(String, Arc<Tool>)> {
    let tools = snapshot.tools();
    tools.map(|(_, tool)| (tool.name.as_str().to_owned(), Arc::clone(tool))).collect()
}

/// `+memo_pin -memo_list ~memo_get`, at most eight names; how many there are comes first.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("+", &self.added), ("-", &self.removed), ("~", &self.changed)];
        let total: usize = parts.iter().map(|(_, names)| names.len()).sum();
        if total == 0 {
            return f.write_str("no tool looks different");
        }
        let [added, removed, changed] = parts.map(|(_, names)| names.len());
        write!(f, "{added} added, {removed} removed, {changed} changed:")?;
        let names =
            parts.iter().flat_map(|(sign, names)| names.iter().map(move |name| (sign, name)));
        names.take(SHOWN).try_for_each(|(sign, name)| write!(f, " {sign}{name}"))?;
        if total > SHOWN { f.write_str(" …") } else { Ok(()) }
    }
}

/// Names in one log line; a whole document coming or going would fill the terminal.
const SHOWN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &[(&str, u8)], new: &[(&str, u8)], expected: &str) {
        let owned = |tools: &[(&str, u8)]| {
            tools.iter().map(|(name, tool)| ((*name).to_owned(), *tool)).collect::<Vec<_>>()
        };
        let changes = Changes::of(&owned(old), &owned(new), |one, other| one == other);
        assert_eq!(changes.to_string(), expected);
    }

    #[test]
    fn tools_are_compared_by_name_and_by_what_is_shown_of_them() {
        check(&[("a", 1)], &[("a", 1)], "no tool looks different");
        check(&[("a", 1), ("b", 1)], &[("b", 1), ("a", 1)], "no tool looks different");
        check(&[], &[("a", 1)], "1 added, 0 removed, 0 changed: +a");
        check(
            &[("a", 1), ("b", 1), ("c", 1)],
            &[("c", 2), ("d", 1), ("a", 1)],
            "1 added, 1 removed, 1 changed: +d -b ~c",
        );
    }

    #[test]
    fn a_long_list_is_cut() {
        let many: Vec<_> =
            ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| (name, 1)).into();
        check(&many, &[], "0 added, 9 removed, 0 changed: -a -b -c -d -e -f -g -h …");
    }
}
