//! One pass: read everything, judge it, build what is new, then swap, wait or refuse.
//!
//! Every way through ends with the live snapshot untouched or replaced by a whole one, and with the
//! status saying which.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use super::{
    Facts, Pipeline, Wake,
    attempt::{Attempt, attempt, caught},
    gate::Verdict,
    hold::{Hold, Wait, suspects},
    quiet::{BURST, WRITER},
    report::{files, short},
    turn::{SCAN, Since, Timers, Turns},
};
use crate::{
    diagnostic::Diagnostic,
    snapshot::{
        Abandoned, Refusal, Snapshot,
        crowd::{crowd, level},
        diff::Diff,
        live::{Failure, Stage, Swap},
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
    /// Read in the middle of a burst that lasts.
    restless: bool,
}

impl Pass {
    /// Whether its build ends early because of `wake`. A burst without end is served all the same, and
    /// what a person asked for is finished.
    fn gives_way_to(&self, wake: &Wake) -> bool {
        match wake {
            Wake::Stop => true,
            Wake::Tick(_) | Wake::Fetched => !self.asked && self.began.elapsed() < BURST,
            Wake::Reload => false,
        }
    }
}

impl Turns {
    /// Reads everything, and does about it what is to be done.
    pub(super) fn pass(&mut self, now: Instant) {
        let since = std::mem::take(&mut self.since);
        let restless = self.quiet.is_restless(now);
        let began = self.quiet.take().unwrap_or(now);
        self.timers = Timers { confirm: None, again: None, ..self.timers };
        self.status.counts.passes += 1;
        self.heed(since);
        let previous = self.sources.take();
        previous.iter().for_each(|previous| _ = self.arm(previous));
        let Pipeline { inputs, remote, refer, .. } = &self.pipeline;
        let read = caught(|| Sources::read(inputs, *refer, remote, previous.as_ref()));
        let pass = Pass { asked: since.asked, began, now, restless };
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
        let Ok(attempt) = self.attempt(sources, served.as_deref(), pass) else { return };
        if self.is_early(&attempt, pass) {
            return;
        }
        let suspicious =
            careful.then(|| self.suspicious(sources, served.as_deref(), &attempt, pass.now));
        match suspicious.flatten() {
            Some(wait) => self.wait(&wait),
            None => self.settle(sources, attempt, served.as_deref(), pass),
        }
    }

    /// Builds, unless something newer comes between two stages.
    fn attempt(
        &mut self,
        sources: &Sources,
        served: Option<&Snapshot>,
        pass: Pass,
    ) -> Result<Attempt, Abandoned> {
        let mut came = Vec::new();
        let mut go_on = || {
            came.extend(self.wakes.try_iter());
            !came.iter().any(|wake| pass.gives_way_to(wake))
        };
        let attempt = attempt(&self.pipeline, sources, served, &mut go_on);
        let attempt =
            attempt.and_then(|attempt| if go_on() { Ok(attempt) } else { Err(Abandoned) });
        came.iter().for_each(|wake| self.note(wake));
        self.status.counts.builds += 1;
        if attempt.is_err() {
            self.status.counts.abandoned += 1;
            self.quiet.began(pass.began);
        }
        attempt
    }

    /// Whether something would be refused that is being written at this moment: a file between its
    /// truncation and its new content is no failure. It is read again, up to ten seconds long.
    fn is_early(&mut self, attempt: &Attempt, pass: Pass) -> bool {
        let moving = (pass.restless || self.since.heard) && !pass.asked;
        if attempt.refusals.is_empty() || !moving {
            self.early = None;
            return false;
        }
        let since = *self.early.get_or_insert(pass.now);
        let early = pass.now < since + WRITER;
        if early {
            self.status.counts.abandoned += 1;
            self.quiet.event(pass.now, None);
        }
        early
    }

    fn suspicious(
        &mut self,
        sources: &Sources,
        served: Option<&Snapshot>,
        attempt: &Attempt,
        now: Instant,
    ) -> Option<Wait> {
        let facts = self.pipeline.facts;
        // A refused toolset keeps its version, so its document is asked: a writer that has not ended is no
        // failure yet.
        let mut next: Vec<_> = attempt.drafts.iter().map(Facts::of_draft).collect();
        // What is refused without a draft is not what the files say.
        let refused =
            |of: &Facts| attempt.refusals.iter().any(|refusal| refusal.toolset == of.toolset);
        next.extend(facts(attempt.snapshot.as_ref()?).into_iter().filter(|of| !refused(of)));
        let suspects = suspects(&self.gate, sources, &facts(served?), &next);
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
        let Attempt { snapshot, refusals, stage, .. } = attempt;
        self.status.waiting = None;
        let whole = refusals.iter().any(|refusal| refusal.toolset.is_empty());
        let next = self.gate.after(sources, &refusals);
        let moves = !whole && (self.gate.moves(&next) || served.is_none());
        let Some(snapshot) = snapshot.filter(|_| moves) else {
            return self.conclude(refusals, stage, sources.digest, pass.now);
        };
        let snapshot = Arc::new(snapshot);
        let files = files(&self.gate, sources);
        // Whoever hears of the swap finds its status too.
        Arc::clone(&self.live).publish(Arc::clone(&snapshot), |old| {
            old.into_iter().for_each(|old| self.retired.push(old, pass.now));
            self.status.counts.swaps += 1;
            self.status.swapped = Some(SystemTime::now());
            self.gate.serve(next);
            self.conclude(refusals, stage, sources.digest, pass.now);
            self.shown()
        });
        self.record(&snapshot, served, (sources.digest, pass.began.elapsed()), files);
    }

    fn conclude(&mut self, refusals: Vec<Refusal>, stage: Stage, digest: Digest, now: Instant) {
        if refusals.is_empty() {
            self.accept();
        } else {
            self.refuse(refusals, stage, digest, now);
        }
    }

    /// After the swap, which nothing may hold up; a fault in it must not look like a failed swap.
    fn record(
        &mut self,
        snapshot: &Snapshot,
        served: Option<&Snapshot>,
        (digest, took): (Digest, Duration),
        files: String,
    ) {
        let diff = caught(|| Diff::of(served, snapshot)).unwrap_or_else(|words| {
            tracing::error!("what the swap changes is not known: {words}");
            Diff::default()
        });
        let (generation, hash, milliseconds) =
            (snapshot.generation(), short(&digest), took.as_millis());
        tracing::info!("generation {generation} ({hash}): {diff}; {milliseconds} ms; {files}");
        let at = self.status.swapped.unwrap_or_else(SystemTime::now);
        let swap = Swap::new(generation, at, (digest, took), files, diff);
        self.status.history.push(swap, self.pipeline.inputs.limits.history);
        let n_served = served.map_or(0, |served| served.tools().count());
        if level(snapshot.tools().count()) > level(n_served) {
            crowd(snapshot).iter().for_each(|warning| tracing::warn!("{warning}"));
        }
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
