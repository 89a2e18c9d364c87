//! The live snapshot: the only `ArcSwap`, and the only thing a request ever waits for nothing on.
//!
//! `generation` only rises; a failed build never touches the value; listeners hear of a generation
//! only after it is readable.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use super::Snapshot;

/// The one mutable place of the whole server.
#[derive(Debug)]
pub struct Live {
    snapshot: ArcSwapOption<Snapshot>,
    changes: watch::Sender<u64>,
}

impl Live {
    /// Serving `snapshot` from the start, or nothing yet.
    pub fn new(snapshot: Option<Arc<Snapshot>>) -> Self {
        Self { snapshot: ArcSwapOption::new(snapshot), changes: watch::Sender::new(0) }
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
        let old = self.snapshot.swap(Some(snapshot));
        if old.as_ref().is_none_or(|old| *old.fingerprint() != fingerprint) {
            self.changes.send_replace(generation);
        }
        old
    }
}
