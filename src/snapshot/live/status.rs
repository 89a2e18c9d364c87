//! How reloading fares, as one plain value: what health, metrics and the status page show.

use std::{sync::Arc, time::SystemTime};

use super::History;
use crate::{
    snapshot::Refusal,
    source::{Digest, watch::Backend},
};

/// How reloading fares. Replaced as a whole after each pass, so that its parts always fit together.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Where news of changes comes from.
    pub backend: Backend,
    /// Digest of the inputs that were read last.
    pub digest: Digest,
    /// When the served snapshot was swapped in; `None` while it is the first.
    pub swapped: Option<SystemTime>,
    /// Why the newest inputs are not served; `None` when they are.
    pub failure: Option<Failure>,
    /// What a swap waits for, in words, for example a writer that may not have ended.
    pub waiting: Option<Arc<str>>,
    /// Since the start.
    pub counts: Counts,
    /// What the last swaps changed.
    pub history: History,
}

impl Status {
    /// Every toolset whose newest inputs are not served, with its diagnostics.
    pub fn refusals(&self) -> &[Refusal] {
        self.failure.as_ref().map_or(&[], |failure| &failure.refusals)
    }
}

/// Inputs that are not served.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Digest of those inputs.
    pub digest: Digest,
    /// When the first of an unbroken row of failures was seen.
    pub since: SystemTime,
    /// How far they came.
    pub stage: Stage,
    /// Every toolset that was refused, with its diagnostics. Never empty.
    pub refusals: Arc<[Refusal]>,
}

/// How far refused inputs came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Something could not be read.
    Read,
    /// The build refused them.
    Build,
    /// The build panicked: a fault of toolgate's own, tried again by itself.
    Panic,
}

/// Numbers that only rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times everything was read.
    pub passes: u64,
    /// Builds, whatever came of them.
    pub builds: u64,
    /// New snapshots served.
    pub swaps: u64,
    /// Attempts that refused at least one toolset.
    pub refused: u64,
    /// Builds that panicked.
    pub panics: u64,
    /// Builds thrown away because something newer came.
    pub abandoned: u64,
    /// Passes thrown away because something changed under them.
    pub unstable: u64,
    /// Changes that the scan found and no event told of.
    pub missed: u64,
}
