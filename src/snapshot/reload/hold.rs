//! What is held back for a second although it would build: writers that may not have ended.
//!
//! A half-written YAML document can be sound: it only has fewer operations or fields, no newline at its
//! end, or a reference that leads nowhere. A folder that is being written anew lists fewer names. Such inputs must look the same
//! once more a second later; this delays them, and never refuses them. Pure: times come in.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::gate::Gate;
use crate::{
    openapi::text::is_json,
    registry::Tool,
    snapshot::{Draft, Snapshot},
    source::{Digest, Input, Sources, ToolsetSource},
};

/// How long what is held must stay the same.
const PAUSE: Duration = Duration::from_secs(1);

/// What suspicion asks about one toolset of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The toolset.
    pub toolset: String,
    /// Keys of the operations that are tools, in order; of a refused toolset, all that its document has.
    /// Whatever else is served of a document and must not vanish by half belongs here too.
    pub operations: Vec<String>,
    /// How many arguments and fields of answers each tool shows, by its operation's key; nothing of a
    /// refused toolset.
    pub fields: BTreeMap<String, usize>,
    /// Whether a local reference anywhere in its document leads nowhere.
    pub dangling: bool,
}

impl Facts {
    /// The facts of every toolset of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Vec<Self> {
        let facts = |served: &crate::snapshot::Served| Self {
            toolset: served.toolset.name.clone(),
            operations: served.toolset.tools.iter().map(|tool| tool.key.to_string()).collect(),
            fields: served
                .toolset
                .tools
                .iter()
                .map(|tool| (tool.key.to_string(), fields(tool)))
                .collect(),
            dangling: served.toolset.api.dangling().is_some(),
        };
        snapshot.toolsets().iter().map(facts).collect()
    }

    /// What a refused toolset's document would have to offer.
    pub(super) fn of_draft(draft: &Draft) -> Self {
        Self {
            toolset: draft.toolset.clone(),
            operations: draft.api.operations().iter().map(|one| one.key.to_string()).collect(),
            fields: BTreeMap::new(),
            dangling: draft.api.dangling().is_some(),
        }
    }
}

/// Arguments and fields that a tool's published schemas name, nested ones included.
fn fields(tool: &Tool) -> usize {
    let schemas = ["inputSchema", "outputSchema"].into_iter();
    schemas.filter_map(|which| tool.listed.get(which)).map(named).sum()
}

/// Published schemas are only so deep.
fn named(schema: &Value) -> usize {
    let properties = schema.get("properties").and_then(Value::as_object);
    let here = properties.map_or(0, |map| map.len() + map.values().map(named).sum::<usize>());
    here + schema.get("items").map_or(0, named)
}

/// A reason to wait, in words, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) words: String,
    pub(super) until: Instant,
}

/// An input that may not be whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    name: Arc<str>,
    digest: Digest,
    words: String,
}

/// What is held, since when.
#[derive(Debug, Default)]
pub(super) struct Hold {
    suspects: HashMap<Arc<str>, (Digest, Instant)>,
    listing: Option<(Vec<OsString>, Instant)>,
}

impl Hold {
    /// Whether to wait because allowlists left the folder: their names must be missing from the same
    /// listing once more.
    pub(super) fn gone(&mut self, sources: &Sources, gate: &Gate, now: Instant) -> Option<Wait> {
        let missing = |name: &&str| sources.toolsets.iter().all(|toolset| toolset.name != *name);
        let gone: Vec<_> = gate.names().filter(missing).collect();
        let (false, Some(names)) = (gone.is_empty(), sources.scan().names()) else {
            self.listing = None;
            return None;
        };
        let since = match &self.listing {
            Some((before, since)) if before == names => *since,
            _ => now,
        };
        self.listing = Some((names.to_vec(), since));
        let until = since + PAUSE;
        let words = format!("`{}` left the folder", gone.join("`, `"));
        (until > now).then_some(Wait { words, until })
    }

    /// Whether to wait for one of `suspects`: each must have had the same digest for long enough,
    /// whatever else changed meanwhile.
    pub(super) fn suspicious(&mut self, suspects: &[Suspect], now: Instant) -> Option<Wait> {
        let since = |suspect: &Suspect| match self.suspects.get(&suspect.name) {
            Some((digest, since)) if *digest == suspect.digest => *since,
            _ => now,
        };
        let next: HashMap<_, _> = suspects
            .iter()
            .map(|suspect| (Arc::clone(&suspect.name), (suspect.digest, since(suspect))))
            .collect();
        self.suspects = next;
        let until = |suspect: &Suspect| {
            let (_, since) = self.suspects.get(&suspect.name)?;
            Some(*since + PAUSE).filter(|until| *until > now)
        };
        let waits = suspects.iter().filter_map(|suspect| Some((suspect, until(suspect)?)));
        let (suspect, until) = waits.max_by_key(|(_, until)| *until)?;
        Some(Wait { words: suspect.words.clone(), until })
    }
}

/// Inputs of `sources` that may not be whole, judged by what is served and what would be.
pub(super) fn suspects(
    gate: &Gate,
    sources: &Sources,
    served: &[Facts],
    next: &[Facts],
) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for toolset in &sources.toolsets {
        let Some(before) = gate.served(&toolset.name) else { continue };
        suspects.extend(cut_allowlist(before, toolset));
        let named = |facts: &&Facts| facts.toolset == toolset.name;
        if let (Some(served), Some(next)) = (served.iter().find(named), next.iter().find(named)) {
            suspects.extend(shrunk_document(before, toolset, served, next));
        }
    }
    suspects
}

/// An allowlist written in place whose new bytes are the beginning of the served ones.
fn cut_allowlist(before: &ToolsetSource, toolset: &ToolsetSource) -> Option<Suspect> {
    let (old, new) = (before.allowlist.as_ref()?, toolset.allowlist.as_ref()?);
    let (old_bytes, bytes) = (old.content.as_ref().ok()?, new.content.as_ref().ok()?);
    let cut = new.in_place && bytes.len() < old_bytes.len() && old_bytes.starts_with(bytes);
    cut.then(|| suspect(new, "only the beginning of what is served"))
}

/// A YAML document written in place after which an operation or a field would vanish, whose last line
/// has not ended, or in which a reference leads nowhere though none did. JSON cut short never parses.
fn shrunk_document(
    before: &ToolsetSource,
    toolset: &ToolsetSource,
    served: &Facts,
    next: &Facts,
) -> Option<Suspect> {
    let new = toolset.document.as_ref()?;
    let old = before.document.as_ref();
    let bytes = new.content.as_ref().ok()?;
    if old.is_some_and(|old| old.digest == new.digest) || !new.in_place || is_json(bytes) {
        return None;
    }
    let ended = |bytes: &[u8]| bytes.ends_with(b"\n");
    if !ended(bytes) && old.and_then(|old| old.content.as_ref().ok()).is_some_and(|old| ended(old))
    {
        return Some(suspect(new, "its last line has not ended"));
    }
    let old = served.operations.len();
    let left = served.operations.iter().filter(|key| next.operations.contains(key)).count();
    if left < old {
        return Some(suspect(new, &format!("{old} → {left} operations")));
    }
    let fewer = |(key, n): (&String, &usize)| next.fields.get(key).is_some_and(|left| left < n);
    if let Some((key, _)) = served.fields.iter().find(|of| fewer(*of)) {
        return Some(suspect(new, &format!("fewer fields of {key}")));
    }
    let torn = next.dangling && !served.dangling;
    torn.then(|| suspect(new, "a reference that leads nowhere"))
}

fn suspect(input: &Input, words: &str) -> Suspect {
    let words = format!("{}: {words}", input.name);
    Suspect { name: Arc::clone(&input.name), digest: input.digest, words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::reload::fixture::{sources, sources_after};

    fn facts(operations: &[&str], dangling: bool) -> Vec<Facts> {
        let operations = operations.iter().map(|key| (*key).to_owned()).collect();
        let fields = BTreeMap::new();
        vec![Facts { toolset: "a".to_owned(), operations, fields, dangling }]
    }

    /// Suspects after the document or the allowlist of `a` went from `old` to `new` in place.
    fn check(expected: &[&str], file: &str, old: &str, new: &str, next: &[Facts]) {
        let other = if file == "a.yaml" { "spec.txt" } else { "a.yaml" };
        let before = sources(&[(file, old), (other, "document: spec.txt")]);
        let mut gate = Gate::default();
        gate.serve(gate.after(&before, &[]));
        let after = sources_after(&before, &[(file, new)]);
        let suspects = suspects(&gate, &after, &facts(&["GET /a", "GET /b"], false), next);
        let words: Vec<_> = suspects.iter().map(|suspect| suspect.words.as_str()).collect();
        let shown: Vec<_> = words.iter().map(|words| words.rsplit('/').next().unwrap()).collect();
        assert_eq!(shown, expected, "{old} → {new}");
    }

    #[test]
    fn a_document_with_fewer_operations_or_a_lost_reference_is_suspicious() {
        let whole = facts(&["GET /a", "GET /b"], false);
        check(&[], "spec.txt", "paths: 1", "paths: 2", &whole);
        let more = facts(&["GET /c", "GET /b", "GET /a"], false);
        check(&[], "spec.txt", "paths: 1", "paths: 2", &more);
        let fewer = &["spec.txt: 2 → 1 operations"];
        check(fewer, "spec.txt", "paths: 1", "paths: 2", &facts(&["GET /a"], false));
        let other = facts(&["GET /a", "GET /c"], false);
        check(&["spec.txt: 2 → 1 operations"], "spec.txt", "paths: 1", "paths: 2", &other);
        let lost = &["spec.txt: a reference that leads nowhere"];
        check(lost, "spec.txt", "paths: 1", "paths: 2", &facts(&["GET /a", "GET /b"], true));
    }

    #[test]
    fn a_document_with_fewer_fields_or_an_open_last_line_is_suspicious() {
        let check = |expected: &[&str], new: &str, n_fields| {
            let before = sources(&[("spec.txt", "paths: 1\n"), ("a.yaml", "document: spec.txt")]);
            let mut gate = Gate::default();
            gate.serve(gate.after(&before, &[]));
            let after = sources_after(&before, &[("spec.txt", new)]);
            let with = |n_fields| {
                let fields = BTreeMap::from([("GET /a".to_owned(), n_fields)]);
                vec![Facts { fields, ..facts(&["GET /a"], false).remove(0) }]
            };
            let suspects = suspects(&gate, &after, &with(5), &with(n_fields));
            let words = suspects.iter().map(|suspect| suspect.words.rsplit_once(": ").unwrap().1);
            assert_eq!(words.collect::<Vec<_>>(), expected, "{new:?} {n_fields}");
        };
        check(&[], "paths: 2\n", 5);
        check(&[], "paths: 2\n", 6);
        check(&["fewer fields of GET /a"], "paths: 2\n", 4);
        check(&["its last line has not ended"], "paths: 2", 5);
        check(&[], "{\"paths\": 2}", 4);
    }

    #[test]
    fn json_and_an_unchanged_document_are_not_suspicious() {
        let fewer = facts(&["GET /a"], false);
        check(&[], "spec.txt", "{\"a\": 1}", " {\"a\": 2}", &fewer);
        check(&[], "spec.txt", "paths: 1", "paths: 1", &fewer);
    }

    #[test]
    fn an_allowlist_that_is_a_beginning_of_the_served_one_is_suspicious() {
        let (old, whole) = ("document: spec.txt\ntools:\n", facts(&["GET /a", "GET /b"], false));
        let cut = &["a.yaml: only the beginning of what is served"];
        check(cut, "a.yaml", old, "document: spec.txt\n", &whole);
        check(&[], "a.yaml", old, old, &whole);
        check(&[], "a.yaml", old, "document: spec.txt\nother", &whole);
        check(&[], "a.yaml", old, "document: spec.txt\ntools:\n- a", &whole);
    }

    #[test]
    fn a_suspect_passes_once_it_stayed_the_same_for_a_second() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let suspect =
            |byte| Suspect { name: "spec.yaml".into(), digest: [byte; 32], words: String::new() };
        let other = Suspect { name: "b.yaml".into(), ..suspect(9) };
        let mut hold = Hold::default();
        let mut check = |suspects: &[Suspect], now: u64, until: Option<u64>| {
            let wait = hold.suspicious(suspects, at(now)).map(|wait| wait.until);
            assert_eq!(wait, until.map(at), "{now}");
        };
        check(&[suspect(1)], 0, Some(1_000));
        check(&[suspect(1)], 600, Some(1_000));
        check(&[suspect(2)], 900, Some(1_900));
        check(&[suspect(2), other.clone()], 1_000, Some(2_000));
        check(&[suspect(2)], 1_900, None);
        check(&[], 2_000, None);
        check(&[suspect(2)], 2_100, Some(3_100));
    }

    #[test]
    fn an_allowlist_is_gone_once_the_same_listing_was_seen_a_second_later() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let all = sources(&[("a.yaml", ""), ("b.yaml", ""), ("c.yaml", "")]);
        let mut gate = Gate::default();
        gate.serve(gate.after(&all, &[]));
        let without_c = sources(&[("a.yaml", ""), ("b.yaml", "")]);
        let only_a = sources(&[("a.yaml", "")]);
        let mut hold = Hold::default();
        let mut check = |sources: &Sources, now: u64, until: Option<u64>| {
            let wait = hold.gone(sources, &gate, at(now)).map(|wait| wait.until);
            assert_eq!(wait, until.map(at), "{now}");
        };
        check(&all, 0, None);
        check(&without_c, 100, Some(1_100));
        check(&only_a, 500, Some(1_500));
        check(&all, 900, None);
        check(&without_c, 1_000, Some(2_000));
        check(&without_c, 2_000, None);
    }
}
