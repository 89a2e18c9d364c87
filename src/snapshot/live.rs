//! The live snapshot: the only `ArcSwap`, and the only thing a request ever waits for nothing on.
//!
//! `generation` only rises; a failed build never touches the value; listeners hear of a generation
//! only after it is readable.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use super::Snapshot;

/// The one mutable place of the whole server.
#[derive(Debug)]
pub struct Live {
    snapshot: ArcSwapOption<Snapshot>,
    changes: watch::Sender<u64>,
    /// Names of tools that the last swaps removed, so that a caller of one learns why it is unknown.
    removed: Mutex<VecDeque<Removed>>,
    remembered: usize,
}

#[derive(Debug)]
struct Removed {
    since: Instant,
    names: Vec<Box<str>>,
}

impl Live {
    /// Serving `snapshot` from the start, or nothing yet.
    pub fn new(snapshot: Option<Arc<Snapshot>>) -> Self {
        Self {
            snapshot: ArcSwapOption::new(snapshot),
            changes: watch::Sender::new(0),
            removed: Mutex::default(),
            remembered: 10,
        }
    }

    /// The same, with the removed names of this many swaps remembered; 10 unless told.
    #[must_use]
    pub fn remembering(self, swaps: usize) -> Self {
        Self { remembered: swaps, ..self }
    }

    /// The snapshot of this moment; take it once per request and pass it down.
    pub fn load(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.load_full()
    }

    /// A receiver of the generation of each swap that changed the fingerprint. Marked unchanged at first.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Serves `snapshot` from now on and gives back the old one, to be dropped off the request path.
    /// Bumps the listeners when the fingerprint differs, after the store.
    pub(crate) fn publish(&self, snapshot: Arc<Snapshot>) -> Option<Arc<Snapshot>> {
        let generation = snapshot.generation();
        let fingerprint = *snapshot.fingerprint();
        // Before the swap, so that whoever meets an unknown name can also learn why.
        self.remember(&snapshot);
        let old = self.snapshot.swap(Some(snapshot));
        if old.as_ref().is_none_or(|old| *old.fingerprint() != fingerprint) {
            self.changes.send_replace(generation);
        }
        old
    }

    /// When one of the last swaps removed a tool of this name; asked about names that are unknown now.
    pub fn removed(&self, name: &str) -> Option<Instant> {
        let removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
        removed
            .iter()
            .rev()
            .find(|swap| swap.names.iter().any(|gone| &**gone == name))
            .map(|swap| swap.since)
    }

    fn remember(&self, new: &Snapshot) {
        let Some(old) = self.load() else { return };
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
        let mut removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
        removed.push_back(Removed { since: Instant::now(), names });
        let surplus = removed.len().saturating_sub(self.remembered);
        removed.drain(..surplus);
    }
}
