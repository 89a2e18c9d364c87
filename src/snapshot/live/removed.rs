//! Names of tools that the last swaps removed, so that a caller of one learns why it is unknown.

use std::{collections::VecDeque, time::Instant};

use crate::{registry::ToolName, snapshot::Snapshot};

/// Bounded: the names of a fixed number of swaps.
#[derive(Debug)]
pub(super) struct Removed {
    swaps: VecDeque<Swap>,
    most: usize,
}

#[derive(Debug)]
struct Swap {
    at: Instant,
    names: Vec<Box<str>>,
}

impl Removed {
    pub(super) fn of_the_last(swaps: usize) -> Self {
        Self { swaps: VecDeque::new(), most: swaps }
    }

    /// Adds the names that a swap of this moment removes; a swap that removes none does not count.
    pub(super) fn push(&mut self, names: Vec<Box<str>>) {
        if names.is_empty() {
            return;
        }
        self.swaps.push_back(Swap { at: Instant::now(), names });
        let surplus = self.swaps.len().saturating_sub(self.most);
        self.swaps.drain(..surplus);
    }

    /// When `name` was removed last.
    pub(super) fn since(&self, name: &str) -> Option<Instant> {
        let holds = |swap: &&Swap| swap.names.iter().any(|gone| **gone == *name);
        self.swaps.iter().rev().find(holds).map(|swap| swap.at)
    }
}

/// Names and aliases that `old` answers to and `new` does not.
pub(super) fn names(old: Option<&Snapshot>, new: &Snapshot) -> Vec<Box<str>> {
    let old = old.into_iter().flat_map(Snapshot::tools).flat_map(|(_, tool)| tool.names());
    let gone = old.map(ToolName::as_str).filter(|name| new.tool(name).is_none());
    gone.map(Box::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_forgotten_after_a_number_of_swaps() {
        let mut removed = Removed::of_the_last(2);
        removed.push(vec!["a".into()]);
        removed.push(vec!["b".into()]);
        removed.push(Vec::new());
        assert!(removed.since("a").is_some());
        removed.push(vec!["c".into()]);
        assert!(removed.since("a").is_none() && removed.since("b").is_some());
    }
}
