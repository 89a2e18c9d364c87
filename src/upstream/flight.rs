//! Calls in flight, counted per upstream and in all.
//!
//! A call over a bound is refused at once rather than queued: a model is told to try again, and no slow
//! upstream takes the room of the others. The counts outlive a swap of toolsets, so a reload does
//! not double what an upstream is asked to bear.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::Uri;

use super::error::Bound;
use crate::registry::plan::{Target, Upstream};

/// The calls of one process.
#[derive(Debug)]
pub(super) struct Flights {
    most: usize,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    /// `None` is the service in this process.
    by_upstream: HashMap<Option<Uri>, usize>,
}

/// One call in flight; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Flight {
    counts: Arc<Mutex<Counts>>,
    upstream: Option<Uri>,
}

impl Flights {
    /// At most `most` at once.
    pub(super) fn new(most: usize) -> Self {
        Self { most, counts: Arc::default() }
    }

    /// Begins a call.
    ///
    /// # Errors
    /// The bound that is reached.
    pub(super) fn begin(&self, target: &Target) -> Result<Flight, Bound> {
        let upstream = match &target.upstream {
            Upstream::Origin(origin) => Some(origin.clone()),
            Upstream::Service => None,
        };
        let mut counts = lock(&self.counts);
        if counts.all >= self.most {
            return Err(Bound::All(self.most));
        }
        let here = counts.by_upstream.entry(upstream.clone()).or_default();
        if *here >= target.max_in_flight {
            return Err(Bound::Upstream(target.max_in_flight));
        }
        *here += 1;
        counts.all += 1;
        Ok(Flight { counts: Arc::clone(&self.counts), upstream })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        counts.all = counts.all.saturating_sub(1);
        if let Some(here) = counts.by_upstream.get_mut(&self.upstream) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                counts.by_upstream.remove(&self.upstream);
            }
        }
    }
}

/// The counts are whole after every statement, so a panic elsewhere does not spoil them.
fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::request::tests::target;

    fn bounded(origin: &str, max_in_flight: usize) -> Target {
        Target { max_in_flight, ..target(origin) }
    }

    #[test]
    fn each_upstream_has_its_own_bound_and_all_share_one() {
        let flights = Flights::new(3);
        let (slow, other) = (bounded("http://slow", 2), bounded("http://other", 2));
        let first = flights.begin(&slow).unwrap();
        let _second = flights.begin(&slow).unwrap();
        assert_eq!(flights.begin(&slow).unwrap_err(), Bound::Upstream(2));
        let _third = flights.begin(&other).unwrap();
        assert_eq!(flights.begin(&other).unwrap_err(), Bound::All(3));
        drop(first);
        let _fourth = flights.begin(&other).unwrap();
    }

    #[test]
    fn ended_calls_leave_nothing_behind() {
        let flights = Flights::new(3);
        drop(flights.begin(&bounded("http://a", 1)).unwrap());
        drop(
            flights
                .begin(&Target { upstream: Upstream::Service, ..bounded("http://a", 1) })
                .unwrap(),
        );
        let counts = lock(&flights.counts);
        assert!(counts.all == 0 && counts.by_upstream.is_empty());
    }
}
