//! Whether inputs need a build: equal to what is served, known to be refused, or new.
//!
//! Pure. Served are toolsets, not passes: when one toolset is refused and another moves on, each is
//! compared with the inputs its own served version was built from.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use crate::{
    snapshot::{Refusal, live::Stage},
    source::{Digest, Sources, ToolsetSource},
};

/// First pause before a failure that may pass by itself is tried again, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// What inputs need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing: they are what is served.
    Unchanged,
    /// Nothing: they are what was refused last, for what stands in them.
    Refused,
    /// A build.
    New,
}

/// What is served, and what was refused last.
#[derive(Debug, Default)]
pub(super) struct Gate {
    served: Vec<ToolsetSource>,
    refused: Option<Refused>,
}

#[derive(Debug)]
struct Refused {
    digest: Digest,
    stage: Stage,
    again: Instant,
    pause: Duration,
}

impl Gate {
    /// The inputs a served toolset was built from.
    pub(super) fn served(&self, toolset: &str) -> Option<&ToolsetSource> {
        self.served.iter().find(|served| served.name == toolset)
    }

    /// Names of the toolsets that are served.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.served.iter().map(|served| served.name.as_str())
    }

    /// Judges inputs; `asked` when a person asked, who does not want to hear of the past.
    pub(super) fn judge(&self, sources: &Sources, asked: bool, now: Instant) -> Verdict {
        if sources.faults.is_empty() && same(&self.served, &sources.toolsets) {
            return Verdict::Unchanged;
        }
        match &self.refused {
            Some(refused) if refused.digest == sources.digest && !asked => {
                // Bytes that were refused stay refused; a panic may have had another cause.
                let again = refused.stage == Stage::Panic && refused.again <= now;
                if again { Verdict::New } else { Verdict::Refused }
            }
            _ => Verdict::New,
        }
    }

    /// The toolsets that would be served once all but the refused ones moved on, in order.
    pub(super) fn after(&self, sources: &Sources, refusals: &[Refusal]) -> Vec<ToolsetSource> {
        let refused: HashSet<_> = refusals.iter().map(|refusal| refusal.toolset.as_str()).collect();
        let newest = |toolset: &ToolsetSource| {
            let stays = refused.contains(toolset.name.as_str());
            if stays { self.served(&toolset.name).cloned() } else { Some(toolset.clone()) }
        };
        sources.toolsets.iter().filter_map(newest).collect()
    }

    /// Whether serving `next` would change anything.
    pub(super) fn moves(&self, next: &[ToolsetSource]) -> bool {
        !same(&self.served, next)
    }

    /// These are served now.
    pub(super) fn serve(&mut self, next: Vec<ToolsetSource>) {
        self.served = next;
    }

    /// Everything read is served.
    pub(super) fn accept(&mut self) {
        self.refused = None;
    }

    /// These inputs were refused; what may pass by itself is tried again after a growing pause.
    pub(super) fn refuse(&mut self, digest: Digest, stage: Stage, now: Instant) {
        let before = self.refused.as_ref().filter(|refused| refused.digest == digest);
        let pause = match before {
            Some(before) if before.again > now => return,
            Some(before) => (before.pause * 2).min(PAUSES.1),
            None => PAUSES.0,
        };
        self.refused = Some(Refused { digest, stage, again: now + pause, pause });
    }

    /// When to try again what may pass by itself.
    pub(super) fn again(&self) -> Option<Instant> {
        let refused = self.refused.as_ref()?;
        matches!(refused.stage, Stage::Read | Stage::Panic).then_some(refused.again)
    }
}

fn same(one: &[ToolsetSource], other: &[ToolsetSource]) -> bool {
    let key = |toolset: &ToolsetSource| (toolset.name.clone(), toolset.digest);
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| key(one) == key(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::reload::fixture::{refusal, sources};

    const BAD: &[(&str, &str)] = &[("a.yaml", "bad"), ("b.yaml", "1")];
    const GOOD: &[(&str, &str)] = &[("a.yaml", "1"), ("b.yaml", "1")];

    fn gate(files: &[(&str, &str)]) -> Gate {
        let mut gate = Gate::default();
        gate.serve(gate.after(&sources(files), &[]));
        gate
    }

    #[test]
    fn what_is_served_or_was_refused_is_not_built_again() {
        let now = Instant::now();
        let mut gate = gate(GOOD);
        assert_eq!(gate.judge(&sources(GOOD), false, now), Verdict::Unchanged);
        assert_eq!(gate.judge(&sources(GOOD), true, now), Verdict::Unchanged);
        assert_eq!(gate.judge(&sources(BAD), false, now), Verdict::New);
        gate.refuse(sources(BAD).digest, Stage::Build, now);
        assert_eq!(gate.judge(&sources(BAD), false, now), Verdict::Refused);
        assert_eq!(gate.judge(&sources(BAD), false, now + PAUSES.1), Verdict::Refused);
        assert_eq!(gate.judge(&sources(BAD), true, now), Verdict::New);
        assert_eq!(gate.again(), None);
    }

    #[test]
    fn a_panic_is_tried_again_after_growing_pauses() {
        let (mut gate, mut now) = (gate(GOOD), Instant::now());
        let bad = sources(BAD);
        for seconds in [2, 4, 8, 16, 32, 60, 60] {
            gate.refuse(bad.digest, Stage::Panic, now);
            let pause = Duration::from_secs(seconds);
            assert_eq!(gate.again(), Some(now + pause));
            let early = now + pause - Duration::from_millis(1);
            assert_eq!(gate.judge(&bad, false, early), Verdict::Refused);
            gate.refuse(bad.digest, Stage::Panic, early);
            now += pause;
            assert_eq!(gate.judge(&bad, false, now), Verdict::New);
        }
    }

    #[test]
    fn a_refused_toolset_stays_while_another_moves_on() {
        let mut gate = gate(GOOD);
        let next = sources(&[("a.yaml", "bad"), ("b.yaml", "2")]);
        let after = gate.after(&next, &[refusal("a", "bad")]);
        assert!(gate.moves(&after));
        gate.serve(after);
        assert_eq!(gate.served("a").unwrap().digest, sources(GOOD).toolsets[0].digest);
        assert_eq!(gate.served("b").unwrap().digest, next.toolsets[1].digest);
        let healed = sources(&[("a.yaml", "1"), ("b.yaml", "2")]);
        assert_eq!(gate.judge(&healed, false, Instant::now()), Verdict::Unchanged);
    }

    #[test]
    fn a_refused_change_alone_moves_nothing() {
        let gate = gate(GOOD);
        assert!(!gate.moves(&gate.after(&sources(BAD), &[refusal("a", "bad")])));
        let unknown = sources(&[("a.yaml", "1"), ("b.yaml", "1"), ("c.yaml", "bad")]);
        assert!(!gate.moves(&gate.after(&unknown, &[refusal("c", "bad")])));
    }

    #[test]
    fn faults_of_the_whole_are_never_unchanged() {
        let mut missing = sources(GOOD);
        missing.faults.push(crate::diagnostic::Diagnostic::error("too many"));
        assert_eq!(gate(GOOD).judge(&missing, false, Instant::now()), Verdict::New);
    }
}
