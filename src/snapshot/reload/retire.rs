//! Old snapshots, dropped on the reload thread: a large one takes tens of milliseconds to drop, which
//! no request should pay for.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::snapshot::Snapshot;

/// How often it is looked whether the last request let go.
const EACH: Duration = Duration::from_secs(1);

/// Old snapshots that a request may still hold.
#[derive(Debug, Default)]
pub(super) struct Retired {
    snapshots: Vec<Arc<Snapshot>>,
    swept: Option<Instant>,
}

impl Retired {
    /// Keeps `snapshot` until nobody else holds it. Drops what is free already, so that many swaps within
    /// a second keep no more than one that nobody needs.
    pub(super) fn push(&mut self, snapshot: Arc<Snapshot>, now: Instant) {
        self.free();
        self.snapshots.push(snapshot);
        self.swept.get_or_insert(now);
    }

    /// When to look next; `None` when nothing is kept.
    pub(super) fn due(&self) -> Option<Instant> {
        self.swept.map(|swept| swept + EACH)
    }

    /// Drops what nobody else holds any more.
    pub(super) fn sweep(&mut self, now: Instant) {
        self.free();
        self.swept = (!self.snapshots.is_empty()).then_some(now);
    }

    fn free(&mut self) {
        self.snapshots.retain(|snapshot| Arc::strong_count(snapshot) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_dropped_here_once_nobody_else_holds_it() {
        let (mut retired, now) = (Retired::default(), Instant::now());
        assert_eq!(retired.due(), None);
        let held = Arc::new(Snapshot::new(1, Vec::new(), "".into()));
        let watched = Arc::downgrade(&held);
        retired.push(Arc::clone(&held), now);
        retired.sweep(now + EACH);
        assert_eq!((watched.strong_count(), retired.due()), (2, Some(now + 2 * EACH)));
        drop(held);
        retired.sweep(now + 2 * EACH);
        assert_eq!((watched.strong_count(), retired.due()), (0, None));
    }
}
