//! What the last swaps changed, for whoever asks later why a tool is another one.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    snapshot::diff::{Diff, Totals},
    source::Digest,
};

/// The last swaps; cheap to clone, and bounded in number and size.
#[derive(Clone, Debug, Default)]
pub struct History {
    swaps: Arc<VecDeque<Arc<Swap>>>,
}

/// One swap, as plain values.
#[derive(Clone, Debug)]
pub struct Swap {
    /// The generation that it made.
    pub generation: u64,
    /// When.
    pub at: SystemTime,
    /// Digest of the inputs that it is made of.
    pub digest: Digest,
    /// From the beginning of the read to the store.
    pub took: Duration,
    /// The inputs that differ, by name, separated by commas.
    pub files: String,
    /// How much changed, all of it.
    pub totals: Totals,
    /// What changed: the first 200 of each kind.
    pub diff: Diff,
}

impl Swap {
    pub(in crate::snapshot) fn new(
        generation: u64,
        at: SystemTime,
        (digest, took): (Digest, Duration),
        files: String,
        diff: Diff,
    ) -> Self {
        let (totals, diff) = (diff.totals(), diff.beginning());
        Self { generation, at, digest, took, files, totals, diff }
    }
}

impl History {
    /// The swaps, newest first.
    pub fn swaps(&self) -> impl Iterator<Item = &Swap> {
        self.swaps.iter().rev().map(|swap| &**swap)
    }

    /// Adds a swap and forgets all but the last `most`.
    pub(in crate::snapshot) fn push(&mut self, swap: Swap, most: usize) {
        let swaps = Arc::make_mut(&mut self.swaps);
        swaps.push_back(Arc::new(swap));
        let surplus = swaps.len().saturating_sub(most);
        swaps.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_swaps_are_kept_newest_first() {
        let mut history = History::default();
        let push = |history: &mut History, generation, most| {
            let took = Duration::ZERO;
            let diff = Diff { added: vec!["a".into(); 300], ..Diff::default() };
            let now = SystemTime::now();
            history.push(Swap::new(generation, now, ([0; 32], took), String::new(), diff), most);
        };
        (1..=5).for_each(|generation| push(&mut history, generation, 3));
        let kept: Vec<_> = history.swaps().map(|swap| swap.generation).collect();
        assert_eq!(kept, [5, 4, 3]);
        let newest = history.swaps().next().unwrap();
        assert_eq!((newest.totals.added, newest.diff.added.len()), (300, 200));
        push(&mut history, 6, 0);
        assert_eq!(history.swaps().count(), 0);
    }
}
