//! One pass: read everything, judge it, build what is new, then swap, wait or refuse.
//!
//! Every way through ends with the live snapshot untouched or replaced by a whole one, and with the
//! status saying which.

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use super::{
    Pipeline,
    attempt::{Attempt, attempt, caught},
    changes::Changes,
    gate::Verdict,
    hold::{Hold, Wait, suspects},
    quiet::BURST,
    report::{files, short},
    turn::{SCAN, Since, Timers, Turns},
};
use crate::{
    diagnostic::Diagnostic,
    snapshot::{
        Refusal, Snapshot,
        crowd::{crowd, level},
        live::{Failure, Stage},
    },
    source::{Digest, Sources, Unstable},
};

/// The pass under way.
#[derive(Clone, Copy, Debug)]
struct Pass {
    asked: bool,
    /// When the first of the events that led to it came.
    began: Instant,
    now: Instant,
}

impl Turns {
    /// Reads everything, and does about it what is to be done.
    pub(super) fn pass(&mut self, now: Instant) {
        let since = std::mem::take(&mut self.since);
        let began = self.quiet.take().unwrap_or(now);
        self.timers = Timers { confirm: None, again: None, ..self.timers };
        self.status.counts.passes += 1;
        self.heed(since);
        let previous = self.sources.take();
        previous.iter().for_each(|previous| _ = self.arm(previous));
        let Pipeline { inputs, remote, refer, .. } = &self.pipeline;
        let read = caught(|| Sources::read(inputs, *refer, remote, previous.as_ref()));
        let pass = Pass { asked: since.asked, began, now };
        match read {
            Ok(Ok(sources)) => self.took(sources, pass),
            Ok(Err(unstable)) => self.unstable(&unstable, previous, pass),
            Err(words) => {
                self.sources = previous;
                let diagnostics = vec![Diagnostic::error(words)];
                let digest = self.status.digest;
                let refusal = Refusal { toolset: String::new(), digest, diagnostics };
                self.refuse(vec![refusal], Stage::Panic, digest, now);
            }
        }
        let again = self.watch.as_ref().and_then(|_| self.gate.again());
        self.timers.again = again.map(|again| again.max(now + SCAN));
    }

    /// Whether the watcher told what it should have.
    fn heed(&mut self, since: Since) {
        let Some(watch) = &mut self.watch else { return };
        // A pass while a writer is open means that it was waited for long enough.
        watch.forget_writers();
        if since.lost {
            watch.renew();
        } else if since.scanned && !since.heard {
            self.status.counts.missed += 1;
            watch.missed();
        }
    }

    fn unstable(&mut self, unstable: &Unstable, previous: Option<Sources>, pass: Pass) {
        tracing::debug!("`{}` changed while it was read, reading again", unstable.name);
        self.status.counts.unstable += 1;
        self.sources = previous;
        self.since.asked |= pass.asked;
        if unstable.pending {
            // Its arrival wakes the loop; this is for an arrival just before.
            self.timers.confirm = Some(pass.now + SCAN);
        } else {
            self.quiet.event(pass.now, None);
        }
    }

    fn took(&mut self, sources: Sources, pass: Pass) {
        if self.arm(&sources) {
            self.quiet.event(pass.now, None);
        }
        self.pipeline.remote.retain(&sources);
        self.report.remarks(&sources.warnings);
        self.status.digest = sources.digest;
        match self.gate.judge(&sources, pass.asked, pass.now) {
            Verdict::Unchanged => self.unchanged(pass),
            Verdict::Refused => {
                self.forget_waiting();
                let stage = self.status.failure.as_ref().map_or(Stage::Build, |old| old.stage);
                self.gate.refuse(sources.digest, stage, pass.now);
            }
            Verdict::New => self.build(&sources, pass),
        }
        self.sources = Some(sources);
    }

    fn unchanged(&mut self, pass: Pass) {
        let healed = self.status.failure.is_some();
        self.accept();
        if healed {
            tracing::info!("the inputs are back at what is served");
        } else if pass.asked {
            tracing::info!("asked to reload: nothing changed");
        }
    }

    fn build(&mut self, sources: &Sources, pass: Pass) {
        let careful = !pass.asked && sources.faults.is_empty();
        if !careful {
            self.forget_waiting();
        }
        let gone = careful.then(|| self.hold.gone(sources, &self.gate, pass.now)).flatten();
        if let Some(wait) = gone {
            return self.wait(&wait);
        }
        let served = self.live.load();
        let attempt = attempt(&self.pipeline, sources, served.as_deref());
        self.status.counts.builds += 1;
        self.drain();
        let newer = self.since.heard || self.since.fetched;
        if newer && !pass.asked && pass.began.elapsed() < BURST {
            self.status.counts.abandoned += 1;
            self.quiet.began(pass.began);
            return;
        }
        let next = attempt.snapshot.as_ref();
        let suspicious =
            careful.then(|| self.suspicious(sources, served.as_deref(), next, pass.now));
        match suspicious.flatten() {
            Some(wait) => self.wait(&wait),
            None => self.settle(sources, attempt, served.as_deref(), pass),
        }
    }

    fn suspicious(
        &mut self,
        sources: &Sources,
        served: Option<&Snapshot>,
        next: Option<&Snapshot>,
        now: Instant,
    ) -> Option<Wait> {
        let facts = self.pipeline.facts;
        let suspects = suspects(&self.gate, sources, &facts(served?), &facts(next?));
        self.hold.suspicious(&suspects, now)
    }

    fn wait(&mut self, wait: &Wait) {
        let words = format!("{}, waiting 1 s for the writer", wait.words);
        if self.status.waiting.as_deref() != Some(&words) {
            tracing::info!("{words}");
        }
        self.status.waiting = Some(words.into());
        self.timers.confirm = Some(wait.until);
    }

    fn settle(
        &mut self,
        sources: &Sources,
        attempt: Attempt,
        served: Option<&Snapshot>,
        pass: Pass,
    ) {
        let Attempt { snapshot, refusals, stage } = attempt;
        self.status.waiting = None;
        let whole = refusals.iter().any(|refusal| refusal.toolset.is_empty());
        let next = self.gate.after(sources, &refusals);
        let moves = !whole && (self.gate.moves(&next) || served.is_none());
        if let (true, Some(snapshot)) = (moves, snapshot) {
            self.swap(snapshot, served, sources, pass);
            self.gate.serve(next);
        }
        if refusals.is_empty() {
            self.accept();
        } else {
            self.refuse(refusals, stage, sources.digest, pass.now);
        }
    }

    fn swap(
        &mut self,
        snapshot: Snapshot,
        served: Option<&Snapshot>,
        sources: &Sources,
        pass: Pass,
    ) {
        let changes = Changes::between(served, &snapshot);
        let generation = snapshot.generation();
        let n_served = served.map_or(0, |served| served.tools().count());
        let risen = level(snapshot.tools().count()) > level(n_served);
        let crowd = crowd(&snapshot).filter(|_| risen);
        let old = self.live.publish(Arc::new(snapshot));
        old.into_iter().for_each(|old| self.retired.push(old, pass.now));
        self.status.counts.swaps += 1;
        self.status.swapped = Some(SystemTime::now());
        let (hash, files) = (short(&sources.digest), files(&self.gate, sources));
        let milliseconds = pass.began.elapsed().as_millis();
        tracing::info!("generation {generation} ({hash}): {changes}; {milliseconds} ms; {files}");
        crowd.iter().for_each(|warning| tracing::warn!("{warning}"));
    }

    fn accept(&mut self) {
        self.gate.accept();
        self.report.healed();
        self.status.failure = None;
        self.forget_waiting();
    }

    /// What was held back is no longer what the files say; held again, it waits anew.
    fn forget_waiting(&mut self) {
        self.hold = Hold::default();
        self.status.waiting = None;
    }

    pub(super) fn refuse(
        &mut self,
        refusals: Vec<Refusal>,
        stage: Stage,
        digest: Digest,
        now: Instant,
    ) {
        self.report.refused(&refusals, &self.gate, now);
        self.gate.refuse(digest, stage, now);
        let since = self.status.failure.as_ref().map_or_else(SystemTime::now, |old| old.since);
        self.status.counts.refused += 1;
        self.status.counts.panics += u64::from(stage == Stage::Panic);
        self.status.failure = Some(Failure { digest, since, stage, refusals: refusals.into() });
    }
}
