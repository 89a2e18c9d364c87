//! The live snapshot: the only `ArcSwap`, and the only thing a request ever waits for nothing on.
//!
//! `generation` only rises; a failed build never touches the value; listeners hear of a generation
//! only after it is readable. How reloading fares stands beside it as a [`Status`], read as freely.

mod history;
mod removed;
mod status;

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Instant,
};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::watch;

use super::Snapshot;
use crate::registry::Tool;
pub use history::{History, Swap};
use removed::{Gone, Removed};
pub use status::{Counts, Failure, Stage, Status};

/// The one mutable place of the whole server.
#[derive(Debug)]
pub struct Live {
    snapshot: ArcSwapOption<Snapshot>,
    status: ArcSwap<Status>,
    changes: watch::Sender<u64>,
    /// Every snapshot that was ever served and may still be held; only `publish` and `alive` lock it.
    published: Mutex<Vec<Weak<Snapshot>>>,
    removed: Mutex<Removed>,
}

impl Live {
    /// Serving `snapshot` from the start, or nothing yet; `remembered` is for how many swaps the names
    /// of removed tools and renamed arguments are known.
    pub fn new(snapshot: Option<Arc<Snapshot>>, remembered: usize) -> Self {
        let published = Mutex::new(snapshot.iter().map(Arc::downgrade).collect());
        Self {
            snapshot: ArcSwapOption::new(snapshot),
            status: ArcSwap::default(),
            changes: watch::Sender::new(0),
            published,
            removed: Mutex::new(Removed::of_the_last(remembered)),
        }
    }

    /// The snapshot of this moment; take it once per request and pass it down.
    pub fn load(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.load_full()
    }

    /// How reloading fares.
    pub fn status(&self) -> Arc<Status> {
        self.status.load_full()
    }

    /// A receiver of the generation of each swap that changed the fingerprint. Marked unchanged at first.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// How many snapshots are in memory, the served one included.
    pub fn alive(&self) -> usize {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        published.retain(|snapshot| snapshot.strong_count() > 0);
        published.len()
    }

    /// Serves `snapshot` from now on. `settle` gets the old one, to be dropped off the request path, and
    /// says how reloading fares now; only then are the listeners bumped, if the fingerprint differs.
    pub(crate) fn publish(
        &self,
        snapshot: Arc<Snapshot>,
        settle: impl FnOnce(Option<Arc<Snapshot>>) -> Status,
    ) {
        let generation = snapshot.generation();
        let fingerprint = *snapshot.fingerprint();
        {
            let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
            published.retain(|snapshot| snapshot.strong_count() > 0);
            published.push(Arc::downgrade(&snapshot));
        }
        // Before the swap, so that whoever meets an unknown name can also learn why.
        self.removed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Gone::between(self.load().as_deref(), &snapshot));
        let old = self.snapshot.swap(Some(snapshot));
        let differs = old.as_ref().is_none_or(|old| *old.fingerprint() != fingerprint);
        self.set_status(settle(old));
        if differs {
            self.changes.send_replace(generation);
        }
    }

    /// When one of the last swaps removed a tool of this name; asked about names that are unknown now.
    pub fn removed(&self, name: &str) -> Option<Instant> {
        self.removed.lock().unwrap_or_else(PoisonError::into_inner).since(name)
    }

    /// What an argument of `tool` is called now, and when one of the last swaps renamed it; asked about
    /// names that the tool does not take.
    pub fn renamed(&self, tool: &Tool, argument: &str) -> Option<(Instant, String)> {
        let removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, now) = removed.renamed(tool.name.as_str(), argument)?;
        tool.checker.takes(now).then(|| (at, now.to_owned()))
    }

    /// Shows `status` from now on.
    pub(crate) fn set_status(&self, status: Status) {
        self.status.store(Arc::new(status));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(generation: u64, instructions: &str) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(generation, Vec::new(), instructions.into()))
    }

    #[test]
    fn listeners_hear_of_a_new_fingerprint_only_and_after_it_is_readable() {
        let live = Live::new(Some(snapshot(1, "a")), 10);
        let mut changes = live.changes();
        live.publish(snapshot(2, "a"), |_| Status::default());
        assert!(!changes.has_changed().unwrap());
        live.publish(snapshot(3, "b"), |old| {
            assert_eq!((old.unwrap().generation(), live.load().unwrap().generation()), (2, 3));
            assert!(!changes.has_changed().unwrap());
            Status { waiting: Some("settled".into()), ..Status::default() }
        });
        assert!(changes.has_changed().unwrap());
        assert_eq!(live.status().waiting.as_deref(), Some("settled"));
        assert_eq!(*changes.borrow_and_update(), live.load().unwrap().generation());
    }

    #[test]
    fn snapshots_are_counted_until_the_last_holder_lets_go() {
        let live = Live::new(None, 10);
        assert_eq!((live.alive(), live.load().is_none()), (0, true));
        let held = snapshot(1, "a");
        live.publish(Arc::clone(&held), |_| Status::default());
        live.publish(snapshot(2, "b"), |_| Status::default());
        assert_eq!(live.alive(), 2);
        drop(held);
        assert_eq!(live.alive(), 1);
    }

    #[test]
    fn whoever_loads_during_many_swaps_has_a_whole_snapshot_and_never_an_older_one() {
        let live = Live::new(Some(snapshot(0, "0")), 10);
        let load = || {
            let mut newest = 0;
            while newest < 10_000 {
                let snapshot = live.load().unwrap();
                let generation = snapshot.generation();
                assert_eq!(snapshot.instructions().parse(), Ok(generation));
                assert!(generation >= newest);
                newest = generation;
            }
        };
        std::thread::scope(|scope| {
            (0..8).for_each(|_| drop(scope.spawn(load)));
            for generation in 1..=10_000 {
                live.publish(snapshot(generation, &generation.to_string()), |_| Status::default());
            }
        });
        assert_eq!(live.alive(), 1);
    }
}
