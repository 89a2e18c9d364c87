//! Tools of one name in several toolsets: which toolset is refused for it, and what it is told.

use std::collections::{BTreeMap, HashMap};

use super::{Candidate, State};
use crate::{
    diagnostic::Diagnostic,
    registry::{ToolName, Toolset},
};

/// Refuses toolsets until no two claim one name: those that changed, of several the later ones, and at
/// the start all of them. Ends because each round takes back at least one new version.
pub(in crate::snapshot) fn refuse_clashes(candidates: &mut [Candidate], start: bool) {
    loop {
        let refused = refusals(candidates, start);
        if refused.is_empty() {
            return;
        }
        for (place, diagnostics) in refused {
            if let Some(candidate) = candidates.get_mut(place) {
                candidate.state = State::Refused(diagnostics);
            }
        }
    }
}

fn refusals(candidates: &[Candidate], start: bool) -> BTreeMap<usize, Vec<Diagnostic>> {
    let is_new =
        |place: usize| candidates.get(place).is_some_and(|one| matches!(one.state, State::New(_)));
    let mut refused: BTreeMap<usize, Vec<Diagnostic>> = BTreeMap::new();
    for ([first, second], names) in clashes(candidates) {
        let victims = match (is_new(first), is_new(second)) {
            (true, true) if start => vec![first, second],
            (true, false) => vec![first],
            (_, true) => vec![second],
            (false, false) => Vec::new(),
        };
        for victim in victims {
            let other = if victim == first { second } else { first };
            refused.entry(victim).or_default().extend(clash(candidates, &names, victim, other));
        }
    }
    refused
}

/// Each pair of toolsets that claim the same names, with the names in list order.
fn clashes(candidates: &[Candidate]) -> BTreeMap<[usize; 2], Vec<String>> {
    let mut owners: HashMap<&str, usize> = HashMap::new();
    let mut clashes: BTreeMap<[usize; 2], Vec<String>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate() {
        for name in candidate.current().iter().flat_map(|served| names(&served.toolset)) {
            let owner = *owners.entry(name).or_insert(place);
            if owner != place {
                clashes.entry([owner, place]).or_default().push(name.to_owned());
            }
        }
    }
    clashes
}

fn names(toolset: &Toolset) -> impl Iterator<Item = &str> {
    toolset.tools.iter().flat_map(|tool| tool.names()).map(ToolName::as_str)
}

/// Clashing names that a message lists before it only counts them.
const NAMES_SHOWN: usize = 3;

fn clash(
    candidates: &[Candidate],
    names: &[String],
    victim: usize,
    other: usize,
) -> Option<Diagnostic> {
    let victim = &candidates.get(victim)?.current()?.toolset;
    let other = &candidates.get(other)?.current()?.toolset;
    let shown: Vec<_> = names.iter().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "`{}` and `{}` have the same tool names: {}{more}",
        victim.file,
        other.file,
        shown.join(", ")
    );
    let help = format!(
        "add `prefix: {}_` to `{}`{}",
        victim.name,
        victim.file,
        single(victim, names).unwrap_or_default()
    );
    Some(Diagnostic::error(message).help(help))
}

/// The lines to paste when one name clashes.
fn single(toolset: &Toolset, names: &[String]) -> Option<String> {
    let [name] = names else { return None };
    let tool = toolset.tools.iter().find(|tool| tool.name.as_str() == name)?;
    Some(format!(
        ", or give this one a name:\n  - operation: {}\n    name: {}_{name}",
        tool.key, toolset.name
    ))
}
