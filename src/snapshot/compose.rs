//! Toolsets side by side: each built alone, then held against each other.
//!
//! A toolset that fails never touches another one. Two things look across: whether all toolsets share
//! one origin (the default of `forward`), and whether two claim one name.

mod clash;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{Abandoned, Draft, GoOn, Refusal, Served, Snapshot, target};
use crate::{
    allowlist::{self, Allowlist, Broken},
    diagnostic::Diagnostic,
    openapi::{self, Api, text::Text},
    registry::{self, Settings, Toolset},
    source::{Digest, Input, Sources, ToolsetSource},
};

pub(super) use clash::refuse_clashes;

/// A toolset on its way into the snapshot.
pub(super) struct Candidate {
    name: String,
    digest: Digest,
    state: State,
    /// Its document, as far as it is sound.
    api: Option<Arc<Api>>,
    previous: Option<Served>,
}

enum State {
    /// Its inputs did not change since the previous snapshot.
    Kept(Served),
    /// A new version.
    New(Served),
    /// Refused; the previous version, if any, goes on.
    Refused(Vec<Diagnostic>),
}

impl Candidate {
    /// What is served of it, if anything.
    pub(super) fn served(self) -> Option<Served> {
        match self.state {
            State::Kept(served) | State::New(served) => Some(served),
            State::Refused(refused) => self.previous.map(|previous| Served { refused, ..previous }),
        }
    }

    /// Why its new version is not served, if it is not.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let State::Refused(diagnostics) = &self.state else { return None };
        let diagnostics = diagnostics.clone();
        Some(Refusal { toolset: self.name.clone(), digest: self.digest, diagnostics })
    }

    /// Its document, when its new version is not served for another reason.
    pub(super) fn draft(&self) -> Option<Draft> {
        let State::Refused(_) = &self.state else { return None };
        Some(Draft { toolset: self.name.clone(), api: Arc::clone(self.api.as_ref()?) })
    }

    fn current(&self) -> Option<&Served> {
        match &self.state {
            State::Kept(served) | State::New(served) => Some(served),
            State::Refused(_) => self.previous.as_ref(),
        }
    }
}

/// Every toolset of the sources, built or taken over, in file-name order.
///
/// # Errors
/// When it was told not to go on.
pub(super) fn candidates(
    sources: &Sources,
    previous: Option<&Snapshot>,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Candidate>, Abandoned> {
    let inputs = &sources.inputs;
    let allowlists: Vec<_> =
        sources.toolsets.iter().map(|source| read_allowlist(source, sources)).collect();
    let ambiguous = target::ambiguous(allowlists.iter().flatten(), inputs);
    let draft = |(source, allowlist): (_, Result<Allowlist, Broken>)| {
        let origin = |allowlist: &Allowlist| {
            ambiguous.clone().map_or_else(|| target::origin(allowlist, source, inputs), Err)
        };
        let read = match allowlist {
            Ok(allowlist) => Ok((origin(&allowlist), allowlist)),
            Err(broken) => {
                let rest = broken.rest.as_ref();
                Err((rest.and_then(|rest| origin(&rest.allowlist).err()), broken))
            }
        };
        Sketch { source, read, previous: served(previous, &source.name).cloned() }
    };
    let sketches: Vec<_> = sources.toolsets.iter().zip(allowlists).map(draft).collect();
    let shared = share_one_origin(&sketches);
    let mut documents = Documents::of(previous);
    for source in &sources.toolsets {
        stage(go_on)?;
        documents.read(source);
    }
    let finish = |sketch: Sketch<'_>| {
        stage(go_on)?;
        Ok(sketch.finish(sources, shared, &mut documents))
    };
    sketches.into_iter().map(finish).collect()
}

fn stage(go_on: &mut GoOn<'_>) -> Result<(), Abandoned> {
    if go_on() { Ok(()) } else { Err(Abandoned) }
}

fn served<'a>(snapshot: Option<&'a Snapshot>, name: &str) -> Option<&'a Served> {
    snapshot?.toolsets().iter().find(|served| served.toolset.name == name)
}

/// Where calls go, or why nobody knows.
type Origin = Result<target::Origin, Diagnostic>;

/// A toolset whose allowlist is read: sound with its origin, or broken with what its rest has against one.
struct Sketch<'a> {
    source: &'a ToolsetSource,
    read: Result<(Origin, Allowlist), (Option<Diagnostic>, Broken)>,
    previous: Option<Served>,
}

fn read_allowlist(source: &ToolsetSource, sources: &Sources) -> Result<Allowlist, Broken> {
    let Some(input) = &source.allowlist else {
        return Allowlist::from_selectors(&source.name, &sources.inputs.allow);
    };
    let text = text(input).map_err(|faults| Broken { faults, rest: None })?;
    allowlist::read(&source.name, &text)
}

fn text(input: &Input) -> Result<Text, Vec<Diagnostic>> {
    let bytes = input.content.as_ref().map_err(|fault| vec![fault.clone()])?;
    Text::new(Arc::clone(&input.name), bytes).map_err(|fault| vec![fault])
}

/// Whether every toolset, the last good versions of broken ones included, calls the same origin.
fn share_one_origin(sketches: &[Sketch<'_>]) -> bool {
    let origins = sketches.iter().filter_map(|sketch| match (&sketch.read, &sketch.previous) {
        (Ok((Ok(origin), _)), _) => Some(origin.upstream.clone()),
        (_, Some(previous)) => Some(previous.toolset.target.upstream.clone()),
        (_, None) => None,
    });
    let mut origins = origins.collect::<Vec<_>>();
    origins.dedup();
    origins.len() <= 1
}

impl Sketch<'_> {
    fn finish(self, sources: &Sources, shared: bool, documents: &mut Documents) -> Candidate {
        let Sketch { source, read, previous } = self;
        let around = Around { source, sources, shared };
        let built = match read {
            Ok((origin, allowlist)) => {
                around.build(&allowlist, origin, previous.as_ref(), documents)
            }
            Err((nowhere, broken)) => Err(around.faults(broken, nowhere, documents)),
        };
        let file = source.allowlist.as_ref().map(|input| &*input.name);
        let refused = |faults| State::Refused(in_order(file, faults));
        let state = built.unwrap_or_else(refused);
        let api = documents.sound(source);
        Candidate { name: source.name.clone(), digest: source.digest, state, api, previous }
    }
}

/// A toolset's inputs and what all toolsets share.
struct Around<'a> {
    source: &'a ToolsetSource,
    sources: &'a Sources,
    shared: bool,
}

impl Around<'_> {
    /// The new version of a toolset whose allowlist is sound, or all its faults.
    fn build(
        &self,
        allowlist: &Allowlist,
        origin: Origin,
        previous: Option<&Served>,
        documents: &mut Documents,
    ) -> Result<State, Vec<Diagnostic>> {
        let inputs = &self.sources.inputs;
        let target = target::complete(origin, allowlist, self.source, self.shared, inputs);
        let (target, mut faults) = match target {
            Ok(target) => (Arc::new(target), Vec::new()),
            Err(faults) => (Arc::new(registry::nowhere()), faults),
        };
        let unchanged = previous.filter(|served| served.digest == self.source.digest);
        if let Some(served) = unchanged.filter(|_| faults.is_empty()) {
            return Ok(State::Kept(retarget(served, target)));
        }
        // Without a target too, so that everything wrong is said at once.
        let settings = self.settings(target);
        let compiled = documents.api(self.source, &allowlist.file).and_then(|(api, document)| {
            Ok((registry::compile(&api, allowlist, &settings)?, document))
        });
        let (toolset, document) = match compiled {
            Ok((toolset, document)) if faults.is_empty() => (Arc::new(toolset), document),
            Ok(_) => return Err(faults),
            Err(more) => {
                faults.extend(more);
                return Err(faults);
            }
        };
        let digest = self.source.digest;
        Ok(State::New(Served { toolset, digest, document, refused: Vec::new() }))
    }

    /// The faults of a broken allowlist, those that its rest has against everything else included.
    fn faults(
        &self,
        broken: Broken,
        nowhere: Option<Diagnostic>,
        documents: &mut Documents,
    ) -> Vec<Diagnostic> {
        let Broken { mut faults, rest } = broken;
        let Some(rest) = rest else {
            faults.extend(documents.faults(self.source));
            return faults;
        };
        if !rest.doubt.of_key("upstream") {
            faults.extend(nowhere);
        }
        faults.extend(
            target::headers(&rest.allowlist, self.source, self.sources.inputs.audience)
                .err()
                .unwrap_or_default(),
        );
        match documents.api(self.source, &rest.allowlist.file) {
            Ok((api, _)) => {
                let settings = self.settings(Arc::new(registry::nowhere()));
                faults.extend(registry::further(&api, &rest, &settings));
            }
            Err(_) if self.source.document.is_none() && rest.doubt.of_key("document") => {}
            Err(more) => faults.extend(more),
        }
        faults
    }

    fn settings(&self, target: Arc<registry::plan::Target>) -> Settings {
        let inputs = &self.sources.inputs;
        Settings { policy: inputs.policy, limits: inputs.limits.clone(), target }
    }
}

/// Faults as a person goes through them, none twice: what stands nowhere, the allowlist by its lines, then
/// the document.
fn in_order(file: Option<&str>, mut faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut said = HashSet::new();
    faults.retain(|fault| said.insert(fault.clone()));
    faults.sort_by_key(|fault| {
        let Some(position) = &fault.position else { return (0, 0, 0) };
        let rank = if file == Some(&*position.file) { 1 } else { 2 };
        let place = position.place.as_ref();
        place.map_or((rank, u32::MAX, 0), |place| (rank, place.line, place.column))
    });
    faults
}

/// The same tools with the target of this build: another toolset may have changed the default of `forward`.
fn retarget(served: &Served, target: Arc<registry::plan::Target>) -> Served {
    let mut served = Served { refused: Vec::new(), ..served.clone() };
    if served.toolset.target != target {
        served.toolset = Arc::new(Toolset { target, ..Toolset::clone(&served.toolset) });
    }
    served
}

fn no_document(file: &str) -> Diagnostic {
    let fault = Diagnostic::error(format!("`{file}` names no document"));
    fault.help("add `document: FILE` to it, or pass `--document FILE`")
}

/// A document that cannot be read, with the way out where the fault names none.
fn unread(fault: Diagnostic) -> Diagnostic {
    if fault.help.is_some() {
        return fault;
    }
    fault.help("correct `document:` in the allowlist, or `--document`, or put the document there")
}

/// Documents by digest: one that several toolsets or the previous snapshot use is parsed once.
struct Documents {
    parsed: HashMap<Digest, Result<Arc<Api>, Vec<Diagnostic>>>,
}

impl Documents {
    fn of(previous: Option<&Snapshot>) -> Self {
        let served = previous.map(Snapshot::toolsets).unwrap_or_default();
        let parsed =
            served.iter().map(|served| (served.document, Ok(Arc::clone(&served.toolset.api))));
        Self { parsed: parsed.collect() }
    }

    fn api(
        &mut self,
        source: &ToolsetSource,
        file: &str,
    ) -> Result<(Arc<Api>, Digest), Vec<Diagnostic>> {
        let Some(input) = &source.document else {
            return Err(vec![no_document(file)]);
        };
        Ok((self.parse(input)?, input.digest))
    }

    /// Reads the document of a toolset, if it names one, so that the next to ask need not wait.
    fn read(&mut self, source: &ToolsetSource) {
        source.document.iter().for_each(|input| drop(self.parse(input)));
    }

    /// The document of a toolset, if there is nothing wrong with it.
    fn sound(&mut self, source: &ToolsetSource) -> Option<Arc<Api>> {
        source.document.as_ref().and_then(|input| self.parse(input).ok())
    }

    /// What is wrong with the document of a toolset, if it names one.
    fn faults(&mut self, source: &ToolsetSource) -> Vec<Diagnostic> {
        source.document.as_ref().and_then(|input| self.parse(input).err()).unwrap_or_default()
    }

    fn parse(&mut self, input: &Input) -> Result<Arc<Api>, Vec<Diagnostic>> {
        let parse = || {
            let content = input.content.as_ref().err().cloned();
            content.map_or(Ok(()), |fault| Err(vec![unread(fault)]))?;
            openapi::parse(&text(input)?).map(Arc::new)
        };
        self.parsed.entry(input.digest).or_insert_with(parse).clone()
    }
}
