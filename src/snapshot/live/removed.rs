//! What the last swaps took away from callers: names of tools, and names of arguments that their tool
//! now calls otherwise. A caller of one learns why it is unknown.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use crate::{
    registry::ToolName,
    snapshot::{
        Snapshot,
        diff::{Seen, pairs, renamed_arguments},
    },
};

/// Bounded: the names of a fixed number of swaps.
#[derive(Debug)]
pub(super) struct Removed {
    swaps: VecDeque<(Instant, Gone)>,
    most: usize,
}

/// The names that one swap took away.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// Names and aliases of tools.
    names: Vec<Box<str>>,
    arguments: Vec<Argument>,
}

/// An argument that is called otherwise.
#[derive(Debug)]
struct Argument {
    /// What its tool is called after the swap.
    tool: Box<str>,
    from: Box<str>,
    to: Box<str>,
}

impl Removed {
    pub(super) fn of_the_last(swaps: usize) -> Self {
        Self { swaps: VecDeque::new(), most: swaps }
    }

    /// Adds what a swap of this moment takes away; one that takes nothing does not count.
    pub(super) fn push(&mut self, gone: Gone) {
        if gone.names.is_empty() && gone.arguments.is_empty() {
            return;
        }
        self.swaps.push_back((Instant::now(), gone));
        let surplus = self.swaps.len().saturating_sub(self.most);
        self.swaps.drain(..surplus);
    }

    /// When `name` was removed last.
    pub(super) fn since(&self, name: &str) -> Option<Instant> {
        let holds = |(_, gone): &&(Instant, Gone)| gone.names.iter().any(|gone| **gone == *name);
        self.swaps.iter().rev().find(holds).map(|(at, _)| *at)
    }

    /// What an argument of a tool is called after all swaps that renamed it, and when the last one was.
    pub(super) fn renamed(&self, tool: &str, argument: &str) -> Option<(Instant, &str)> {
        let mut found = None;
        for (at, gone) in &self.swaps {
            let name = found.map_or(argument, |(_, name)| name);
            let is_it = |one: &&Argument| *one.tool == *tool && *one.from == *name;
            found = gone.arguments.iter().find(is_it).map(|one| (*at, &*one.to)).or(found);
        }
        found
    }
}

impl Gone {
    /// What callers of `old` knew and `new` does not.
    pub(super) fn between(old: Option<&Snapshot>, new: &Snapshot) -> Self {
        let Some(old) = old else { return Self::default() };
        let names = old.tools().flat_map(|(_, tool)| tool.names()).map(ToolName::as_str);
        let names = names.filter(|name| new.tool(name).is_none()).map(Box::from).collect();
        Self { names, arguments: arguments(&Seen::all(old), &Seen::all(new)) }
    }
}

fn arguments(old: &[Seen], new: &[Seen]) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for (old, pair) in old.iter().zip(pairs(old, new)) {
        let now = pair.and_then(|at| new.get(at)).and_then(Seen::built);
        let (Some(old), Some(new)) = (old.built(), now) else { continue };
        if !Arc::ptr_eq(old, new) {
            let tool = || Box::from(new.name.as_str());
            let argument = |(from, to): (String, String)| Argument {
                tool: tool(),
                from: from.into(),
                to: to.into(),
            };
            arguments.extend(renamed_arguments(old, new).into_iter().map(argument));
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Gone {
        let names = names.iter().map(|name| Box::from(*name)).collect();
        Gone { names, arguments: Vec::new() }
    }

    fn argument(from: &str, to: &str) -> Gone {
        let argument = Argument { tool: "t".into(), from: from.into(), to: to.into() };
        Gone { names: Vec::new(), arguments: vec![argument] }
    }

    #[test]
    fn names_are_forgotten_after_a_number_of_swaps() {
        let mut removed = Removed::of_the_last(2);
        removed.push(names(&["a"]));
        removed.push(names(&["b"]));
        removed.push(Gone::default());
        assert!(removed.since("a").is_some());
        removed.push(names(&["c"]));
        assert!(removed.since("a").is_none() && removed.since("b").is_some());
    }

    #[test]
    fn an_argument_that_was_renamed_twice_is_called_by_its_last_name() {
        let mut removed = Removed::of_the_last(3);
        removed.push(argument("a", "b"));
        removed.push(argument("x", "y"));
        removed.push(argument("b", "c"));
        let now = |name: &str| removed.renamed("t", name).map(|(_, name)| name.to_owned());
        assert_eq!(now("a").as_deref(), Some("c"));
        assert_eq!(now("b").as_deref(), Some("c"));
        assert_eq!(now("c"), None);
        assert!(removed.renamed("other", "a").is_none());
        removed.push(names(&["z"]));
        assert!(removed.renamed("t", "a").is_none());
    }
}
