//! Names of tools that recent swaps removed, so that a caller of one learns why it is unknown.
//!
//! Only names are kept, never a snapshot; swaps that removed nothing take no place.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::snapshot::Snapshot;

/// The names removed by the last swaps that removed any.
#[derive(Debug)]
pub(super) struct Removed {
    swaps: Mutex<VecDeque<Swap>>,
    pub(super) kept: usize,
}

#[derive(Debug)]
struct Swap {
    at: Instant,
    names: Vec<Box<str>>,
}

/// The default of the limit `removed_names`.
impl Default for Removed {
    fn default() -> Self {
        Self { swaps: Mutex::default(), kept: 10 }
    }
}

impl Removed {
    /// Notes what `new` no longer has. Called before the swap, so that whoever meets an unknown name
    /// can also learn why.
    pub(super) fn note(&self, old: &Snapshot, new: &Snapshot) {
        let names: Vec<Box<str>> = old
            .tools()
            .flat_map(|(_, tool)| std::iter::once(&tool.name).chain(&tool.aliases))
            .map(|name| name.as_str())
            .filter(|name| new.tool(name).is_none())
            .map(Into::into)
            .collect();
        if names.is_empty() {
            return;
        }
        let mut swaps = self.swaps();
        swaps.push_back(Swap { at: Instant::now(), names });
        let surplus = swaps.len().saturating_sub(self.kept);
        swaps.drain(..surplus);
    }

    /// When a tool of this name was last removed.
    pub(super) fn since(&self, name: &str) -> Option<Instant> {
        let swaps = self.swaps();
        let has = |swap: &&Swap| swap.names.iter().any(|gone| &**gone == name);
        swaps.iter().rev().find(has).map(|swap| swap.at)
    }

    fn swaps(&self) -> MutexGuard<'_, VecDeque<Swap>> {
        self.swaps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
