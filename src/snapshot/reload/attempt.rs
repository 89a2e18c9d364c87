//! One attempt: read, then build, with panics caught. Start-up, `check` and reload all go through here.

use std::{
    any::Any,
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread::{self, Builder},
    time::{Duration, Instant},
};

use super::{STACK, hold::Facts};
use crate::{
    config::Inputs,
    diagnostic::Diagnostic,
    snapshot::{Abandoned, Built, Draft, GoOn, Refusal, Snapshot, live::Stage},
    source::{Refer, Sources, Unstable, remote::Remote},
};

/// Files that change while they are read at start are read again for this long.
const UNSTABLE: Duration = Duration::from_secs(2);

/// A fetch ends by itself, with a document or a fault; whatever takes longer will not end.
const PENDING: Duration = Duration::from_secs(15);

/// Pause between such reads.
const RETRY: Duration = Duration::from_millis(50);

/// Makes a snapshot from inputs and the one before, asking between its stages whether to go on;
/// `snapshot::build_while` outside tests. Pure.
pub type Build = Box<
    dyn Fn(&Sources, Option<&Snapshot>, &mut GoOn<'_>) -> Result<Built, Abandoned> + Send + Sync,
>;

/// Everything between the flags and a snapshot.
pub struct Pipeline {
    /// What to read.
    pub inputs: Arc<Inputs>,
    /// Documents that are URLs.
    pub remote: Remote,
    /// Finds what an allowlist refers to.
    pub refer: Refer,
    /// Builds.
    pub build: Build,
    /// What suspicion asks about a snapshot; [`Facts::of`] outside tests.
    pub facts: fn(&Snapshot) -> Vec<Facts>,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("inputs", &self.inputs).finish_non_exhaustive()
    }
}

/// What the first attempt came to.
#[derive(Debug)]
pub struct First {
    /// What was read; `None` when it never held still.
    pub sources: Option<Sources>,
    /// The first snapshot; `None` when nothing can be served.
    pub snapshot: Option<Snapshot>,
    /// Everything that was refused; empty when all is well.
    pub refusals: Vec<Refusal>,
    /// How far what was refused came.
    pub(super) stage: Stage,
}

/// Reads and builds once, waiting for documents that are fetched and for files that still change.
/// Runs on a thread with the stack that the loop has, so that both build alike.
pub fn first(pipeline: &Pipeline) -> First {
    let first = thread::scope(|scope| {
        let builder = Builder::new().name("toolgate-first".into()).stack_size(STACK);
        Ok::<_, io::Error>(builder.spawn_scoped(scope, || begin(pipeline))?.join())
    });
    match first {
        Ok(Ok(first)) => first,
        Ok(Err(panic)) => failed(own_fault(&*panic), Stage::Panic),
        Err(error) => failed(format!("no thread to build on: {error}"), Stage::Panic),
    }
}

fn begin(pipeline: &Pipeline) -> First {
    match settled(pipeline) {
        Ok(sources) => {
            let attempt = attempt(pipeline, &sources, None, &mut || true);
            let Attempt { snapshot, refusals, stage, .. } =
                attempt.expect("a build that is to go on does not end early");
            First { sources: Some(sources), snapshot, refusals, stage }
        }
        Err(Unstable { name, .. }) => {
            failed(format!("`{name}` keeps changing while it is read"), Stage::Read)
        }
    }
}

fn failed(words: String, stage: Stage) -> First {
    let refusals = vec![whole(vec![Diagnostic::error(words)], [0; 32])];
    First { sources: None, snapshot: None, refusals, stage }
}

fn settled(pipeline: &Pipeline) -> Result<Sources, Unstable> {
    let Pipeline { inputs, remote, refer, .. } = pipeline;
    let start = Instant::now();
    loop {
        match Sources::read(inputs, *refer, remote, None) {
            Err(unstable) if unstable.pending && start.elapsed() < PENDING => remote.wait(),
            Err(unstable) if !unstable.pending && start.elapsed() < UNSTABLE => {
                thread::sleep(RETRY);
            }
            read => return read,
        }
    }
}

/// What an attempt came to.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) snapshot: Option<Snapshot>,
    pub(super) refusals: Vec<Refusal>,
    /// How far what was refused came.
    pub(super) stage: Stage,
    /// Sound documents of what was refused.
    pub(super) drafts: Vec<Draft>,
}

/// Builds what was read. With faults of the whole nothing is built: the toolsets are not all there is.
///
/// # Errors
/// When it was told not to go on.
pub(super) fn attempt(
    pipeline: &Pipeline,
    sources: &Sources,
    previous: Option<&Snapshot>,
    go_on: &mut GoOn<'_>,
) -> Result<Attempt, Abandoned> {
    let refused = |diagnostics, stage| Attempt {
        snapshot: None,
        refusals: vec![whole(diagnostics, sources.digest)],
        stage,
        drafts: Vec::new(),
    };
    if !sources.faults.is_empty() {
        return Ok(refused(sources.faults.clone(), Stage::Read));
    }
    match caught(|| (pipeline.build)(sources, previous, go_on)) {
        Ok(built) => {
            let Built { snapshot, refusals, drafts } = built?;
            let stage = if sources.unreadable() { Stage::Read } else { Stage::Build };
            Ok(Attempt { snapshot, refusals, stage, drafts })
        }
        Err(words) => Ok(refused(vec![Diagnostic::error(words)], Stage::Panic)),
    }
}

fn whole(diagnostics: Vec<Diagnostic>, digest: [u8; 32]) -> Refusal {
    Refusal { toolset: String::new(), digest, diagnostics }
}

/// Runs `work`; a panic in it becomes words. What it worked on is thrown away with it.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| own_fault(&*panic))
}

fn own_fault(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("a panic");
    format!("this is a fault of toolgate's own, please report it: {text}")
}
