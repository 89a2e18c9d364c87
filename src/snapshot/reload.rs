//! The loop that keeps the live snapshot at what the files say.
//!
//! One thread owns the watcher, the timers, the build and the retire list, and ends only when its
//! [`Reloader`] is dropped. Events are hints; the truth is a read: whatever happened, everything is
//! read in one pass after a moment of quiet, and only content that differs is built. A swap is one
//! store; a refusal touches nothing but the [status](super::live::Status).
//!
//! [`first`] is the same attempt without the loop, for start-up and `check`. Nothing here knows what
//! an allowlist or a document looks like, and nothing here is asynchronous.

mod attempt;
mod gate;
mod hold;
mod pass;
mod quiet;
mod report;
mod retire;
mod turn;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

use std::{
    io,
    sync::{Arc, mpsc},
    thread::{Builder, JoinHandle},
    time::Duration,
};

use super::live::Live;
use crate::source::watch::{Kind, Tick};
pub use attempt::{Build, First, Pipeline, first};
pub use hold::Facts;
use turn::Turns;

/// Deep documents are parsed by recursion, whose depth is capped to what fits in here.
const STACK: usize = 16 * 1024 * 1024;

/// How the loop learns of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A moment without events before reading.
    pub quiet: Duration,
    /// Whether to watch and scan at all; without, only [`Reloader::reload_now`] and fetched documents read.
    pub watch: bool,
    /// Which watcher; anything but the default is for tests.
    pub watcher: Kind,
}

impl Default for Options {
    fn default() -> Self {
        // Long enough for an editor's save in several steps, short enough not to be noticed.
        Self { quiet: Duration::from_millis(100), watch: true, watcher: Kind::Native }
    }
}

/// What wakes the loop.
#[derive(Debug)]
enum Wake {
    Tick(Tick),
    Fetched,
    Reload,
    Stop,
}

/// The running loop. Dropping it ends the thread, after the build that is under way.
#[derive(Debug)]
pub struct Reloader {
    wake: mpsc::Sender<Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Reloader {
    /// Starts the loop where `first` left off; `live` serves the snapshot of `first` already, or nothing
    /// yet. Refusals of `first` are logged and shown in the status from here on.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(
        pipeline: Pipeline,
        first: First,
        live: Arc<Live>,
        options: Options,
    ) -> io::Result<Self> {
        let (wake, wakes) = mpsc::channel();
        let fetched = wake.clone();
        pipeline.remote.on_change(move || {
            let _ = fetched.send(Wake::Fetched);
        });
        let ticks = wake.clone();
        let run = move || Turns::new(pipeline, live, options, wakes, ticks).run(first);
        let thread = Builder::new().name("toolgate-reload".into()).stack_size(STACK).spawn(run)?;
        Ok(Self { wake, thread: Some(thread) })
    }

    /// Reads everything now, as on SIGHUP: what was refused before is tried again, and nothing is
    /// suspicious. Returns at once; several requests before the read are one.
    pub fn reload_now(&self) {
        // The loop is there as long as this value is.
        let _ = self.wake.send(Wake::Reload);
    }
}

impl Drop for Reloader {
    fn drop(&mut self) {
        let _ = self.wake.send(Wake::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
