//! The whole pipeline as one pure function, and the one immutable value it makes.
//!
//! [`build`] turns [`Sources`] into a [`Snapshot`]: each toolset alone, taken over from the previous
//! snapshot when its inputs did not change, kept at its last good version when it was refused.
//! Everything derived from one document lives in one snapshot; nothing is ever changed in place.

pub mod diff;
pub mod live;
pub mod reload;

mod compose;
mod credential;
mod crowd;
mod instructions;
mod list;
mod target;

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use crate::{
    diagnostic::Diagnostic,
    openapi::Api,
    registry::{Tool, Toolset},
    source::{Digest, Sources},
};
use compose::Candidate;
pub use crowd::crowd;

/// One immutable value: all toolsets, the name index, the ready-made list bytes. Names are unique.
/// [`build`] is the only maker.
#[derive(Debug)]
pub struct Snapshot {
    generation: u64,
    fingerprint: Digest,
    toolsets: Vec<Served>,
    index: HashMap<Box<str>, (usize, usize)>,
    list: Bytes,
    instructions: Arc<str>,
}

/// A toolset as it is served.
#[derive(Clone, Debug)]
pub struct Served {
    /// The toolset's newest good version.
    pub toolset: Arc<Toolset>,
    /// Digest of the inputs it was built from.
    pub digest: Digest,
    /// Digest of the document it was compiled against.
    pub document: Digest,
    /// Why its newest inputs are not served; empty when they are.
    pub refused: Vec<Diagnostic>,
}

impl Snapshot {
    /// Indexes toolsets whose names do not clash; the earlier one wins where they do all the same.
    pub(crate) fn new(generation: u64, toolsets: Vec<Served>, instructions: Arc<str>) -> Self {
        let list = list::bytes(&toolsets);
        let fingerprint = list::fingerprint(&list, &instructions);
        let index = list::index(&toolsets);
        Self { generation, fingerprint, toolsets, index, list, instructions }
    }

    /// Rises by one with every swap.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// BLAKE3 over the era-free tools array and the instructions; unchanged means no list_changed.
    pub fn fingerprint(&self) -> &Digest {
        &self.fingerprint
    }

    /// Toolsets in file-name order.
    pub fn toolsets(&self) -> &[Served] {
        &self.toolsets
    }

    /// The tools array of `tools/list` as JSON bytes, made once.
    pub fn list(&self) -> &Bytes {
        &self.list
    }

    /// What `initialize` and `server/discover` tell a model about the server.
    pub fn instructions(&self) -> &Arc<str> {
        &self.instructions
    }

    /// All tools in list order, each with its toolset.
    pub fn tools(&self) -> impl Iterator<Item = (&Arc<Toolset>, &Arc<Tool>)> + Clone {
        self.toolsets
            .iter()
            .flat_map(|served| served.toolset.tools.iter().map(move |tool| (&served.toolset, tool)))
    }

    /// The tool of a name or an alias.
    pub fn tool(&self, name: &str) -> Option<(&Arc<Toolset>, &Arc<Tool>)> {
        let &(toolset, tool) = self.index.get(name)?;
        let toolset = &self.toolsets.get(toolset)?.toolset;
        Some((toolset, toolset.tools.get(tool)?))
    }
}

/// What a build came to.
#[derive(Debug)]
pub struct Built {
    /// The new value; `None` when nothing can be served at all (no previous one, nothing good).
    pub snapshot: Option<Snapshot>,
    /// Every toolset that was refused, with its diagnostics; and, under an empty name, the faults of the whole.
    pub refusals: Vec<Refusal>,
    /// The documents of refused toolsets, as far as they are sound: what speaks of a writer that has not ended.
    pub drafts: Vec<Draft>,
}

/// A sound document whose toolset was refused.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The toolset.
    pub toolset: String,
    /// The document.
    pub api: Arc<Api>,
}

/// A build that was told between two stages not to go on; what it had made is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned;

/// Asked between the stages of a build whether to go on.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// A toolset's new version that is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The toolset; empty for faults of no single one.
    pub toolset: String,
    /// Digest of the refused inputs.
    pub digest: Digest,
    /// Why; never empty.
    pub diagnostics: Vec<Diagnostic>,
}

/// Builds a snapshot from sources. Pure: reads nothing, and equal arguments give equal bytes.
///
/// A toolset whose inputs are those of `previous` is taken over; a refused one keeps its previous
/// version; one that is gone from the sources is gone. Faults of the whole refuse everything.
pub fn build(sources: &Sources, previous: Option<&Snapshot>) -> Built {
    build_while(sources, previous, &mut || true)
        .expect("a build that is to go on does not end early")
}

/// [`build`] that ends early when `go_on` says no. It is asked before each document is read and before
/// each toolset is compiled.
///
/// # Errors
/// When it was told not to go on.
pub fn build_while(
    sources: &Sources,
    previous: Option<&Snapshot>,
    go_on: &mut GoOn<'_>,
) -> Result<Built, Abandoned> {
    if !sources.faults.is_empty() {
        let refusal = Refusal {
            toolset: String::new(),
            digest: sources.digest,
            diagnostics: sources.faults.clone(),
        };
        return Ok(Built { snapshot: None, refusals: vec![refusal], drafts: Vec::new() });
    }
    let mut candidates = compose::candidates(sources, previous, go_on)?;
    compose::refuse_clashes(&mut candidates, previous.is_none());
    let refusals = candidates.iter().filter_map(Candidate::refusal).collect();
    let drafts = candidates.iter().filter_map(Candidate::draft).collect();
    let served: Vec<_> = candidates.into_iter().filter_map(Candidate::served).collect();
    if served.is_empty() && !sources.inputs.keep_going {
        return Ok(Built { snapshot: None, refusals, drafts });
    }
    let generation = previous.map_or(0, Snapshot::generation) + 1;
    let instructions = instructions::text(&served);
    let snapshot = Some(Snapshot::new(generation, served, instructions));
    Ok(Built { snapshot, refusals, drafts })
}
