//! Whether a schema accepts what another one accepted.
//!
//! A [`Judge`] walks two schemas side by side, references followed, and notes where the new one takes
//! more (widened) or may take less (narrowed). Every keyword that it has no rule for must be equal, so
//! that "nothing narrowed" is a proof: whatever the old schema accepted, the new one accepts.
//!
//! A property that only the new schema knows counts as an optional addition where the old one said
//! nothing of other names, although it let them pass: nobody sends a name that means nothing.

mod object;
mod union;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::bounds;
use crate::diagnostic::quote;
pub(super) use object::{properties, property};

/// Which way a schema went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Widened,
    Narrowed,
}

/// One difference: where, as a caller writes the place, which way, and in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) way: Way,
    pub(super) words: String,
}

/// What references of a side lead to, by their last part; a saved list has none.
pub(super) type Defs<'a> = Option<&'a Map<String, Value>>;

/// Pairs of schemas that are judged for one tool; more are not.
const PAIRS: usize = 20_000;

/// Pairs of values that are held against each other for one tool, which is quick.
const LOOKS: usize = 1_000_000;

/// Keywords that accept and refuse nothing.
const SILENT: [&str; 8] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Levels of one schema that are looked at.
const DEEPEST: usize = 100;

type Pair = (*const Value, *const Value);

/// Compares schemas of one tool.
pub(super) struct Judge<'a> {
    old: Defs<'a>,
    new: Defs<'a>,
    /// Pairs that are being judged further up. Where a schema refers to itself, such a pair may be taken
    /// as proved: if it is not, that is found up there.
    above: HashSet<Pair>,
    /// Pairs whose differences are in `found` already.
    done: HashSet<Pair>,
    left: usize,
    looks: usize,
    /// Only whether something is narrowed is asked.
    trial: bool,
    found: Vec<Found>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(old: Defs<'a>, new: Defs<'a>) -> Self {
        let (above, done) = (HashSet::new(), HashSet::new());
        let (left, looks) = (PAIRS, LOOKS);
        Self { old, new, above, done, left, looks, trial: false, found: Vec::new() }
    }

    /// Everything that was found since the last call; what comes next is judged afresh.
    pub(super) fn take(&mut self) -> Vec<Found> {
        self.done.clear();
        std::mem::take(&mut self.found)
    }

    pub(super) fn widened(&mut self, place: &str, words: &str) {
        self.note(Way::Widened, place, words);
    }

    pub(super) fn narrowed(&mut self, place: &str, words: &str) {
        self.note(Way::Narrowed, place, words);
    }

    /// What has no rule.
    pub(super) fn unproved(&mut self, place: &str, what: &str) {
        self.narrowed(place, &format!("{what} changed in a way that cannot be proved safe"));
    }

    fn note(&mut self, way: Way, place: &str, words: &str) {
        let words = format!("{}: {words}", quote(place));
        self.found.push(Found { way, words });
    }

    /// Judges one schema that stands at `place`.
    pub(super) fn judge(&mut self, old: &'a Value, new: &'a Value, place: &str) {
        let (old, new) = (follow(old, self.old), follow(new, self.new));
        let pair = (std::ptr::from_ref(old), std::ptr::from_ref(new));
        if self.above.contains(&pair) || !self.done.insert(pair) {
            return;
        }
        if self.left == 0 || self.above.len() >= DEEPEST {
            return self.unproved(place, "something");
        }
        self.left -= 1;
        self.above.insert(pair);
        self.node(old, new, place);
        self.above.remove(&pair);
    }

    fn node(&mut self, old: &'a Value, new: &'a Value, place: &str) {
        if let (Value::Object(old), Value::Object(new)) = (old, new) {
            return self.map(old, new, place);
        }
        match (is_free(old), is_free(new)) {
            (Some(true), Some(true)) | (Some(false), Some(false)) => {}
            (_, Some(true)) | (Some(false), _) => self.widened(place, "takes more now"),
            (Some(true), _) | (_, Some(false)) => self.narrowed(place, "takes less now"),
            (None, None) => self.unproved(place, "the schema"),
        }
    }

    /// Whether `new` accepts whatever `old` does, as far as that can be proved.
    fn covers(&mut self, old: &'a Value, new: &'a Value) -> bool {
        let mut judge = Judge {
            above: self.above.clone(),
            left: self.left,
            looks: self.looks,
            trial: true,
            ..Self::new(self.old, self.new)
        };
        judge.judge(old, new, "");
        (self.left, self.looks) = (judge.left, judge.looks);
        judge.found.iter().all(|found| found.way == Way::Widened)
    }

    /// Whether one of `new` takes what none of `old` does, as far as that matters here.
    fn has_more(&mut self, old: &'a [Value], new: &'a [Value]) -> bool {
        if self.trial {
            return false;
        }
        let other = self.unlike(new, old, true);
        let mut back = Judge { left: self.left, trial: true, ..Self::new(self.new, self.old) };
        let more = other.into_iter().any(|new| !old.iter().any(|old| back.covers(new, old)));
        self.left = back.left;
        more
    }

    /// Those of `some` that equal none of `others`; `some` are the new side's when `backwards`.
    fn unlike(&mut self, some: &'a [Value], others: &[Value], backwards: bool) -> Vec<&'a Value> {
        let mut equals = |one: &Value, other: &Value| {
            if backwards { self.alike(other, one) } else { self.alike(one, other) }
        };
        some.iter().filter(|one| !others.iter().any(|other| equals(one, other))).collect()
    }

    fn map(&mut self, old: &'a Map<String, Value>, new: &'a Map<String, Value>, place: &str) {
        if !self.kinds(old, new, place) {
            return;
        }
        self.values(old, new, place);
        bounds::judge(self, old, new, place);
        self.object(old, new, place);
        self.unions(old, new, place);
        self.others(old, new, place);
    }

    /// Whether looking further makes sense.
    fn kinds(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: &str) -> bool {
        let (old, new) = (kinds(old), kinds(new));
        let covers = |all: &Option<Vec<&str>>, some: &Option<Vec<&str>>| match (all, some) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(all), Some(some)) => some
                .iter()
                .all(|kind| all.contains(kind) || (*kind == "integer" && all.contains(&"number"))),
        };
        let shown = |kinds: &Option<Vec<&str>>| {
            kinds.as_ref().map_or("anything".to_owned(), |kinds| kinds.join(" or "))
        };
        let words = || format!("takes {} instead of {}", shown(&new), shown(&old));
        match (covers(&new, &old), covers(&old, &new)) {
            (true, true) => true,
            (true, false) => {
                self.widened(place, &words());
                true
            }
            (false, _) => {
                self.narrowed(place, &words());
                false
            }
        }
    }

    /// `enum` and `const`.
    fn values(&mut self, old: &'a Map<String, Value>, new: &'a Map<String, Value>, place: &str) {
        match (values(old), values(new)) {
            (None, None) => {}
            (None, Some(_)) => self.narrowed(place, "takes only listed values now"),
            (Some(_), None) => self.widened(place, "takes values that are not listed too"),
            (Some(old), Some(new)) => {
                let gone = without(&old, &new);
                if !gone.is_empty() {
                    self.narrowed(place, &format!("does not take {} any more", listed(&gone)));
                }
                let more = without(&new, &old);
                if !more.is_empty() {
                    self.widened(place, &format!("takes {} too", listed(&more)));
                }
            }
        }
    }

    /// Keywords without a rule of their own.
    fn others(&mut self, old: &'a Map<String, Value>, new: &'a Map<String, Value>, place: &str) {
        let only_new = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(only_new) {
            if has_rule(key) {
                continue;
            }
            let same = match (old.get(key), new.get(key)) {
                // What is left to them depends on everything beside them.
                (Some(_), Some(_)) if key.starts_with("unevaluated") => old == new,
                (Some(old), Some(new)) => self.alike(old, new),
                _ => false,
            };
            if !same {
                self.unproved(place, &quote(key));
            }
        }
        match (old.get("items"), new.get("items")) {
            (Some(old), Some(new)) => self.judge(old, new, &format!("{place}[]")),
            (None, Some(_)) => self.narrowed(place, "says what its items are now"),
            (Some(_), None) => self.widened(place, "takes any items"),
            (None, None) => {}
        }
    }

    /// Whether two values are equal, references followed; what is too deep or too much is not.
    pub(super) fn alike(&mut self, old: &Value, new: &Value) -> bool {
        self.is_alike(old, new, &mut HashSet::new(), 0)
    }

    /// A pair that is under way is taken for equal: were it not, the whole would not be.
    fn is_alike(
        &mut self,
        old: &Value,
        new: &Value,
        known: &mut HashSet<Pair>,
        depth: usize,
    ) -> bool {
        let (old, new) = (follow(old, self.old), follow(new, self.new));
        if !known.insert((std::ptr::from_ref(old), std::ptr::from_ref(new))) {
            return true;
        }
        if depth > DEEPEST || self.looks == 0 {
            return false;
        }
        self.looks -= 1;
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                old.len() == new.len()
                    && old.iter().all(|(key, old)| {
                        new.get(key).is_some_and(|new| self.is_alike(old, new, known, depth + 1))
                    })
            }
            (Value::Array(old), Value::Array(new)) => {
                let mut pairs = old.iter().zip(new);
                old.len() == new.len()
                    && pairs.all(|(old, new)| self.is_alike(old, new, known, depth + 1))
            }
            (old, new) => old == new,
        }
    }
}

/// Whether a keyword is judged by a rule of its own, or decides nothing.
fn has_rule(keyword: &str) -> bool {
    SILENT.contains(&keyword)
        || ["type", "enum", "const", "$ref", "items"].contains(&keyword)
        || bounds::is_known(keyword)
        || object::is_known(keyword)
        || union::is_known(keyword)
}

/// The schema a plain reference leads to.
fn follow<'v>(schema: &'v Value, defs: Defs<'v>) -> &'v Value {
    let mut schema = schema;
    // A chain of nothing but references is short, and a cycle of them was refused before.
    for _ in 0..8 {
        let map = schema.as_object().filter(|map| map.len() == 1);
        let Some(Value::String(reference)) = map.and_then(|map| map.get("$ref")) else { break };
        let name = reference.rsplit('/').next().unwrap_or_default();
        let Some(target) = defs.and_then(|defs| defs.get(name)) else { break };
        schema = target;
    }
    schema
}

/// Whether a schema takes everything or nothing, where it is that simple.
fn is_free(schema: &Value) -> Option<bool> {
    match schema {
        Value::Bool(free) => Some(*free),
        Value::Object(map) => map.is_empty().then_some(true),
        _ => None,
    }
}

fn kinds(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect()),
        word => Some(word.as_str().into_iter().collect()),
    }
}

fn values(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    let listed = schema.get("enum").and_then(Value::as_array).map(|list| list.iter().collect());
    listed.or_else(|| schema.get("const").map(|value| vec![value]))
}

fn without<'a>(all: &[&'a Value], some: &[&Value]) -> Vec<&'a Value> {
    all.iter().copied().filter(|value| !some.contains(value)).collect()
}

/// Values that a message lists before it only counts them.
const VALUES_SHOWN: usize = 4;

fn listed(values: &[&Value]) -> String {
    let shown = values.iter().take(VALUES_SHOWN).map(|value| match value {
        Value::String(text) => quote(text),
        value => quote(&value.to_string()),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match values.len().saturating_sub(VALUES_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
