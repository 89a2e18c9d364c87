//! When to read: not in the middle of a burst, and not never.
//!
//! Pure: times come in, one time comes out. Events only ever move it; what they were does not matter.

use std::time::{Duration, Instant};

/// A burst that does not end is read all the same, this long after it began.
pub(super) const BURST: Duration = Duration::from_secs(2);

/// A writer that does not close its file is waited for this long.
pub(super) const WRITER: Duration = Duration::from_secs(10);

/// The wait for quiet.
#[derive(Debug)]
pub(super) struct Quiet {
    period: Duration,
    pending: Option<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    first: Instant,
    last: Instant,
    writer_open: bool,
    at_once: bool,
}

impl Quiet {
    /// Nothing pending; `period` without an event is quiet.
    pub(super) fn new(period: Duration) -> Self {
        Self { period, pending: None }
    }

    /// Something happened; `writer_open` when a file is still being written, `None` when unknown.
    pub(super) fn event(&mut self, at: Instant, writer_open: Option<bool>) {
        let pending = self.pending.get_or_insert(Pending {
            first: at,
            last: at,
            writer_open: false,
            at_once: false,
        });
        pending.last = pending.last.max(at);
        pending.writer_open = writer_open.unwrap_or(pending.writer_open);
    }

    /// Someone asked for a read now.
    pub(super) fn at_once(&mut self, at: Instant) {
        self.event(at, Some(false));
        self.pending.iter_mut().for_each(|pending| pending.at_once = true);
    }

    /// When to read; `None` when nothing happened.
    pub(super) fn due(&self) -> Option<Instant> {
        let Pending { first, last, writer_open, at_once } = self.pending?;
        Some(if at_once {
            first
        } else if writer_open {
            first + WRITER
        } else {
            (last + self.period).min(first + BURST)
        })
    }

    /// Whether events still come, so that reading now is reading in the middle of a burst.
    pub(super) fn is_restless(&self, now: Instant) -> bool {
        self.pending.is_some_and(|pending| !pending.at_once && now < pending.last + self.period)
    }

    /// Nothing is pending any more; gives back when the first event was.
    pub(super) fn take(&mut self) -> Option<Instant> {
        self.pending.take().map(|pending| pending.first)
    }

    /// What came since belongs to a burst that began at `first`.
    pub(super) fn began(&mut self, first: Instant) {
        self.pending.iter_mut().for_each(|pending| pending.first = pending.first.min(first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events at these milliseconds, each with whether a writer is open; when reading is due.
    fn check(events: &[(u64, bool)], expected: u64) {
        let start = Instant::now();
        let mut quiet = Quiet::new(Duration::from_millis(100));
        for (at, writer_open) in events {
            quiet.event(start + Duration::from_millis(*at), Some(*writer_open));
        }
        assert_eq!(quiet.due(), Some(start + Duration::from_millis(expected)), "{events:?}");
    }

    #[test]
    fn reading_is_due_after_quiet_but_within_two_seconds_of_the_first_event() {
        check(&[(0, false)], 100);
        check(&[(0, false), (90, false), (180, false)], 280);
        check(&[(0, false), (1_950, false)], 2_000);
        check(&[(0, false), (90, false), (60, false)], 190);
    }

    #[test]
    fn an_open_writer_is_waited_for_up_to_ten_seconds() {
        check(&[(0, true)], 10_000);
        check(&[(0, true), (9_000, true)], 10_000);
        check(&[(0, true), (500, false)], 600);
        check(&[(0, true), (5_000, false)], 2_000);
    }

    #[test]
    fn it_is_restless_until_the_period_is_over() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Duration::from_millis(100));
        assert!(!quiet.is_restless(now));
        quiet.event(now, None);
        let at = |milliseconds| now + Duration::from_millis(milliseconds);
        assert_eq!([0, 99, 100].map(|then| quiet.is_restless(at(then))), [true, true, false]);
        quiet.at_once(at(50));
        assert!(!quiet.is_restless(at(60)));
    }

    #[test]
    fn a_request_is_due_at_once() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Duration::from_secs(1));
        assert_eq!(quiet.due(), None);
        quiet.event(now, Some(true));
        quiet.at_once(now);
        assert_eq!(quiet.due(), Some(now));
        assert_eq!((quiet.take(), quiet.due()), (Some(now), None));
    }

    #[test]
    fn an_abandoned_attempt_does_not_restart_the_two_seconds() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Duration::from_millis(100));
        quiet.event(now + Duration::from_millis(1_990), None);
        quiet.began(now);
        assert_eq!(quiet.due(), Some(now + BURST));
    }
}
