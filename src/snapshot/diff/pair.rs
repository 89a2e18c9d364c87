//! Which new tool an old one became: by name, by an alias that keeps its name, by its operation.

use std::collections::{HashMap, HashSet};

use super::Seen;

/// For each of `old`, the place of what it became in `new`; `None` when it is gone.
///
/// By name first, since that is how callers call. An alias may point to a tool that was there before;
/// an operation is only taken for a new name when nothing else is.
pub(in crate::snapshot) fn pairs(old: &[Seen], new: &[Seen]) -> Vec<Option<usize>> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (at, seen) in new.iter().enumerate() {
        names.entry(seen.name()).or_insert(at);
    }
    let by_name = old.iter().map(|seen| names.get(seen.name()).copied());
    let mut pairs: Vec<Option<usize>> = by_name.collect();
    for (at, seen) in new.iter().enumerate() {
        for name in seen.names() {
            names.entry(name).or_insert(at);
        }
    }
    let mut taken: HashSet<usize> = pairs.iter().flatten().copied().collect();
    let mut free: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, seen) in new.iter().enumerate().rev().filter(|(at, _)| !taken.contains(at)) {
        free.entry(operation(seen)).or_default().push(at);
    }
    for (seen, pair) in old.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
        *pair = names.get(seen.name()).copied().or_else(|| {
            let places = free.get_mut(&operation(seen))?;
            std::iter::from_fn(|| places.pop()).find(|at| !taken.contains(at))
        });
        taken.extend(*pair);
    }
    pairs
}

/// Toolset, method and path; what placeholders are called makes no other operation.
fn operation(seen: &Seen) -> (&str, &str, String) {
    (seen.meta("toolset"), seen.meta("method"), shape(seen.meta("path")))
}

/// A path template with its placeholders emptied: `/memos/{memo}` → `/memos/{}`.
pub(super) fn shape(path: &str) -> String {
    let mut shape = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, after)) = after.split_once('}') else { break };
        shape.extend([before, "{}"]);
        rest = after;
    }
    shape + rest
}
