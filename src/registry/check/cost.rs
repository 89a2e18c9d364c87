//! What it would cost to check a value, and to say where it fails.
//!
//! Every member of a union is tried on a node, and of every union within it again, so that the work
//! can grow by its members with each level. The number of these trials is known beforehand from a
//! walk that looks at each pair of schema and node once: a failing value that would keep the server
//! busy is refused without its details, and one that not even a verdict can be had of, at once.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value};

/// Trials that may be spent on saying what is wrong, beside a few for each pair; a real call needs
/// a few hundred.
const DETAILS: u64 = 20_000;
/// Trials that may be spent on finding out whether anything is; each takes some 20 ns.
const VERDICT: u64 = 5_000_000;
/// Pairs of schema and node that are looked at.
const PAIRS: usize = 100_000;

/// What can be found out of a value within the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Whether it fits, and where not.
    Details,
    /// Whether it fits.
    Verdict,
    /// Nothing.
    Nothing,
}

/// The checking schema of one tool, to walk beside a value.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    /// The object schema of the arguments.
    pub(super) root: Value,
    /// What references lead to.
    pub(super) defs: Arc<Map<String, Value>>,
}

impl Schema {
    /// What can be found out of the arguments.
    pub(super) fn means(&self, arguments: &Value) -> Means {
        let mut walk = Walk { defs: &self.defs, seen: HashMap::new() };
        let trials = walk.trials(&self.root, arguments);
        let pairs = walk.seen.len();
        if trials > VERDICT {
            Means::Nothing
        } else if pairs >= PAIRS || trials > DETAILS + 4 * pairs as u64 {
            Means::Verdict
        } else {
            Means::Details
        }
    }
}

struct Walk<'a> {
    defs: &'a Map<String, Value>,
    /// Trials of a pair, by the places of both; nothing moves while the walk lasts.
    seen: HashMap<(*const Value, *const Value), u64>,
}

impl<'a> Walk<'a> {
    /// Trials of one schema on one node and all below it.
    fn trials(&mut self, schema: &'a Value, value: &'a Value) -> u64 {
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(known) = self.seen.get(&pair) {
            return *known;
        }
        let Some(map) = schema.as_object().filter(|_| self.seen.len() < PAIRS) else {
            return 1;
        };
        // A schema that refers to itself on the same node adds nothing.
        self.seen.insert(pair, 1);
        let here = map.iter().map(|(word, below)| self.in_place(word, below, value));
        let trials = here.fold(1, u64::saturating_add).saturating_add(self.below(map, value));
        self.seen.insert(pair, trials);
        trials
    }

    /// Trials on the same node.
    fn in_place(&mut self, word: &str, below: &'a Value, value: &'a Value) -> u64 {
        match (word, below) {
            ("$ref", Value::String(reference)) => {
                let name = reference.rsplit('/').next().unwrap_or_default();
                self.defs.get(name).map_or(1, |target| self.trials(target, value))
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(members)) => {
                members.iter().map(|m| self.trials(m, value)).fold(0, u64::saturating_add)
            }
            ("dependentSchemas", Value::Object(schemas)) => {
                schemas.values().map(|s| self.trials(s, value)).fold(0, u64::saturating_add)
            }
            ("not" | "if" | "then" | "else", _) => self.trials(below, value),
            _ => 0,
        }
    }

    /// Trials on the nodes below.
    fn below(&mut self, schema: &'a Map<String, Value>, value: &'a Value) -> u64 {
        match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, field)| self.field(schema, name, field))
                .fold(0, u64::saturating_add),
            Value::Array(items) => {
                items.iter().map(|item| self.item(schema, item)).fold(0, u64::saturating_add)
            }
            _ => 0,
        }
    }

    fn field(&mut self, schema: &'a Map<String, Value>, name: &str, field: &'a Value) -> u64 {
        let known = schema.get("properties").and_then(|properties| properties.get(name));
        let others = ["additionalProperties", "unevaluatedProperties"];
        let other = || others.into_iter().find_map(|word| schema.get(word));
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.into_iter().flat_map(Map::values);
        let schemas = known.or_else(other).into_iter().chain(patterns);
        schemas.map(|schema| self.trials(schema, field)).fold(0, u64::saturating_add)
    }

    fn item(&mut self, schema: &'a Map<String, Value>, item: &'a Value) -> u64 {
        let listed = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        let others = ["items", "contains", "unevaluatedItems"];
        let schemas = listed.chain(others.into_iter().filter_map(|word| schema.get(word)));
        schemas.map(|schema| self.trials(schema, item)).fold(0, u64::saturating_add)
    }
}
