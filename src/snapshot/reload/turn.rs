//! The thread's turns: wait for whatever is due first, note what came, then scan, read or sweep.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use super::{
    First, Options, Pipeline, Wake, attempt::caught, gate::Gate, hold::Hold, quiet::Quiet,
    report::Report, retire::Retired,
};
use crate::{
    snapshot::live::{Live, Status},
    source::{
        Sources,
        watch::{Backend, Watch},
    },
};

/// How often files are looked at from outside, for changes that raised no event.
pub(super) const SCAN: Duration = Duration::from_secs(2);

/// Everything the thread owns.
pub(super) struct Turns {
    pub(super) pipeline: Pipeline,
    pub(super) live: Arc<Live>,
    pub(super) wakes: Receiver<Wake>,
    /// `None` when neither watching nor scanning.
    pub(super) watch: Option<Watch>,
    pub(super) quiet: Quiet,
    pub(super) gate: Gate,
    pub(super) hold: Hold,
    pub(super) report: Report,
    pub(super) retired: Retired,
    pub(super) status: Status,
    /// As read last; what a scan compares with.
    pub(super) sources: Option<Sources>,
    pub(super) since: Since,
    pub(super) timers: Timers,
    /// Since when refusals are put off because what they are about is being written.
    pub(super) early: Option<Instant>,
    stopping: bool,
}

/// What came since the last pass began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Since {
    /// A person asked.
    pub(super) asked: bool,
    /// The watcher spoke.
    pub(super) heard: bool,
    /// A document was fetched.
    pub(super) fetched: bool,
    /// The scan found a difference.
    pub(super) scanned: bool,
    /// Events were lost.
    pub(super) lost: bool,
}

/// When to act though nothing comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    pub(super) scan: Option<Instant>,
    /// What is held back must be looked at once more.
    pub(super) confirm: Option<Instant>,
    /// What failed may have healed by itself.
    pub(super) again: Option<Instant>,
}

impl Turns {
    pub(super) fn new(
        pipeline: Pipeline,
        live: Arc<Live>,
        options: Options,
        wakes: Receiver<Wake>,
        ticks: Sender<Wake>,
    ) -> Self {
        let watch = options.watch.then(|| {
            Watch::new(options.watcher, move |tick| {
                let _ = ticks.send(Wake::Tick(tick));
            })
        });
        Self {
            pipeline,
            live,
            wakes,
            timers: Timers {
                scan: watch.is_some().then(|| Instant::now() + SCAN),
                ..Timers::default()
            },
            watch,
            quiet: Quiet::new(options.quiet),
            gate: Gate::default(),
            hold: Hold::default(),
            report: Report::default(),
            retired: Retired::default(),
            status: Status::default(),
            sources: None,
            since: Since::default(),
            early: None,
            stopping: false,
        }
    }

    /// Until told to stop. A panic in a turn is a fault of that turn.
    pub(super) fn run(mut self, first: First) {
        let begun = caught(|| self.begin(first));
        self.survive(begun);
        while !self.stopping {
            self.listen();
            let turn = caught(|| self.turn(Instant::now()));
            self.survive(turn);
        }
    }

    fn begin(&mut self, first: First) {
        let now = Instant::now();
        let First { sources, refusals, stage, .. } = first;
        if let Some(sources) = sources {
            self.arm(&sources);
            self.status.digest = sources.digest;
            if self.live.load().is_some() {
                self.gate.serve(self.gate.after(&sources, &refusals));
            }
            self.sources = Some(sources);
        }
        if !refusals.is_empty() {
            self.refuse(refusals, stage, self.status.digest, now);
        }
        // What changed between the first read and the watch was heard by nobody.
        self.quiet.event(now, None);
        self.show();
    }

    fn survive(&mut self, turn: Result<(), String>) {
        let Err(words) = turn else { return };
        tracing::error!("reloading failed and is tried again: {words}");
        self.quiet.take();
        self.since.lost = true;
        self.timers.again = Some(Instant::now() + SCAN);
    }

    /// Waits for something to come or to be due, and notes everything that came.
    fn listen(&mut self) {
        let wake = match self.due() {
            Some(due) => self.wakes.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => self.wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match wake {
            Ok(wake) => self.note(&wake),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.stopping = true,
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Ok(wake) = self.wakes.try_recv() {
            self.note(&wake);
        }
    }

    pub(super) fn note(&mut self, wake: &Wake) {
        match wake {
            Wake::Tick(tick) => {
                self.since.heard = true;
                self.since.lost |= tick.rescan;
                self.quiet.event(tick.at, Some(tick.writer_open));
            }
            Wake::Fetched => {
                self.since.fetched = true;
                self.quiet.event(Instant::now(), None);
            }
            Wake::Reload => {
                self.since.asked = true;
                self.pipeline.remote.refresh();
                self.quiet.at_once(Instant::now());
            }
            Wake::Stop => self.stopping = true,
        }
    }

    fn due(&self) -> Option<Instant> {
        let sweep = self.retired.due();
        let all = [self.reading_due(), self.timers.scan, sweep, self.report.due()];
        all.into_iter().flatten().min()
    }

    fn reading_due(&self) -> Option<Instant> {
        let all = [self.quiet.due(), self.timers.confirm, self.timers.again];
        all.into_iter().flatten().min()
    }

    fn turn(&mut self, now: Instant) {
        let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        if self.stopping {
            return;
        }
        if is_due(self.retired.due()) {
            self.retired.sweep(now);
        }
        if is_due(self.report.due()) {
            self.report.remind(&self.gate, now);
        }
        if is_due(self.timers.scan) {
            self.scan(now);
        }
        if is_due(self.reading_due()) {
            self.pass(now);
            self.show();
        }
    }

    fn show(&mut self) {
        let status = self.shown();
        self.live.set_status(status);
    }

    /// The status as it is by now.
    pub(super) fn shown(&mut self) -> Status {
        if let Some(watch) = &self.watch {
            self.status.backend = watch.backend();
        }
        self.status.clone()
    }

    /// Looks at the files from outside.
    fn scan(&mut self, now: Instant) {
        self.timers.scan = Some(now + SCAN);
        let sources = self.sources.take();
        let same = sources
            .as_ref()
            .is_some_and(|sources| sources.scan().difference(&sources.scan().again()).is_none());
        if !same && self.quiet.due().is_none() {
            self.since.scanned = true;
            self.quiet.event(now, None);
        }
        let polling = self.watch.as_ref().is_some_and(|watch| watch.backend() != Backend::Events);
        if let (true, Some(sources)) = (polling, &sources) {
            // A watcher may be had again by now.
            self.arm(sources);
            self.show();
        }
        self.sources = sources;
    }

    pub(super) fn arm(&mut self, sources: &Sources) -> bool {
        self.watch.as_mut().is_some_and(|watch| watch.arm(sources.scan()))
    }
}
