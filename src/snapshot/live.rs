//! The live snapshot: the only `ArcSwap`, and the only thing a request ever waits for nothing on.
//!
//! `generation` only rises; a failed build never touches the value; listeners hear of a generation
//! only after it is readable.

mod removed;

use std::{sync::Arc, time::Instant};

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use super::Snapshot;

/// The one mutable place of the whole server.
#[derive(Debug)]
pub struct Live {
    snapshot: ArcSwapOption<Snapshot>,
    changes: watch::Sender<u64>,
    removed: removed::Removed,
}

impl Live {
    /// Serving `snapshot` from the start, or nothing yet.
    pub fn new(snapshot: Option<Arc<Snapshot>>) -> Self {
        Self {
            snapshot: ArcSwapOption::new(snapshot),
            changes: watch::Sender::new(0),
            removed: removed::Removed::default(),
        }
    }

    /// The same, remembering the removed names of this many swaps; 10 unless told.
    #[must_use]
    pub fn remembering(mut self, swaps: usize) -> Self {
        self.removed.kept = swaps;
        self
    }

    /// When one of the last swaps removed a tool of this name; asked about names that are unknown now.
    pub fn removed(&self, name: &str) -> Option<Instant> {
        self.removed.since(name)
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
        if let Some(old) = self.load() {
            self.removed.note(&old, &snapshot);
        }
        let old = self.snapshot.swap(Some(snapshot));
        if old.as_ref().is_none_or(|old| *old.fingerprint() != fingerprint) {
            self.changes.send_replace(generation);
        }
        old
    }
}
