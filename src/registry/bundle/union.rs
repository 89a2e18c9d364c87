//! Whether a `oneOf` can be taken at its word.
//!
//! Generators write `oneOf` for any union. Where a member is open to what another one describes (it
//! is of that kind, demands no name that the other does not, and no required name holds other
//! constants in both), no value that the API wants would ever fit exactly one; such a `oneOf` is
//! checked as `anyOf`. Everything else is checked as the document says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::registry::view::View;

/// `allOf` within `allOf` that is looked into.
const DEPTH: usize = 8;
/// Parts of one member that are looked into: within each other they multiply. Real ones have a few.
const PARTS: usize = 64;
/// Pairs of members that are held against each other; the members of a real union are a few dozen.
const PAIRS: usize = 10_000;

/// What demands no more than a kind of value.
const OPEN: [&str; 15] = [
    "type",
    "title",
    "description",
    "format",
    "nullable",
    "default",
    "example",
    "examples",
    "deprecated",
    "externalDocs",
    "xml",
    "readOnly",
    "writeOnly",
    "$comment",
    "discriminator",
];

/// Makes a `oneOf` whose members no value tells apart an `anyOf`; `raw` is the schema as it stands
/// in the document, `sound` what is enforced of it.
pub(super) fn settle(view: &View<'_>, raw: &Map<String, Value>, sound: &mut Map<String, Value>) {
    let members = raw.get("oneOf").and_then(Value::as_array);
    if members.is_none_or(|members| tells_apart(view, members)) {
        return;
    }
    let Some(members) = sound.shift_remove("oneOf") else { return };
    if !sound.contains_key("anyOf") {
        sound.insert("anyOf".into(), members);
        return;
    }
    let all = sound.entry("allOf").or_insert_with(|| json!([]));
    if let Some(all) = all.as_array_mut() {
        all.push(json!({ "anyOf": members }));
    }
}

/// Whether no member is open to what another one describes, as far as a bounded look tells.
fn tells_apart(view: &View<'_>, members: &[Value]) -> bool {
    let members: Vec<_> = members.iter().map(|member| Member::read(view, member)).collect();
    let open = members.iter().enumerate().filter(|(_, member)| member.open);
    let mut pairs = open.flat_map(|(at, member)| {
        let others = members.iter().enumerate().filter(move |(other, _)| *other != at);
        others.map(move |(_, other)| (member, other))
    });
    !pairs.by_ref().take(PAIRS).any(|(member, other)| member.is_open_to(other))
}

/// What a member demands, through its references and `allOf`.
struct Member {
    /// It demands nothing but what stands in the other fields.
    open: bool,
    /// How many more parts are looked into; one that has more is not open.
    left: usize,
    /// The kinds that each part names; a value must be of all of them.
    kinds: Vec<BTreeSet<&'static str>>,
    required: BTreeSet<String>,
    /// The values that a property may have, where they are listed, as JSON.
    constants: BTreeMap<String, BTreeSet<String>>,
}

impl Member {
    fn read(view: &View<'_>, schema: &Value) -> Self {
        let (kinds, required, constants) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        let mut member = Self { open: true, left: PARTS, kinds, required, constants };
        member.absorb(view, schema, DEPTH);
        member
    }

    fn absorb(&mut self, view: &View<'_>, schema: &Value, depth: usize) {
        let Some(left) = self.left.checked_sub(1) else {
            self.open = false;
            return;
        };
        self.left = left;
        let schema = view.core(schema);
        let Value::Object(map) = &schema else {
            self.open &= schema == true;
            return;
        };
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("allOf", Value::Array(parts)) if depth > 0 => {
                    parts.iter().for_each(|part| self.absorb(view, part, depth - 1));
                }
                ("required", Value::Array(names)) => {
                    self.required.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                ("properties", Value::Object(properties)) => {
                    let listed = |(name, schema): (&String, &Value)| {
                        Some((name.clone(), constants(&view.core(schema))?))
                    };
                    self.constants.extend(properties.iter().filter_map(listed));
                }
                // Whatever else may stand there is as good as true.
                ("additionalProperties", value) if value != false => {}
                (keyword, _) => self.open &= OPEN.contains(&keyword) || keyword.starts_with("x-"),
            }
        }
        self.kinds.extend(kinds(&schema));
    }

    fn is_open_to(&self, other: &Self) -> bool {
        self.open
            && self.required.is_subset(&other.required)
            && self.kinds.iter().all(|a| other.kinds.iter().all(|b| !a.is_disjoint(b)))
            && !self.required.iter().any(|name| self.differs(other, name))
    }

    /// Whether the constants of a property tell the two apart.
    fn differs(&self, other: &Self, name: &str) -> bool {
        let both = self.constants.get(name).zip(other.constants.get(name));
        both.is_some_and(|(mine, theirs)| mine.is_disjoint(theirs))
    }
}

fn constants(schema: &Value) -> Option<BTreeSet<String>> {
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return Some(listed.iter().map(Value::to_string).collect());
    }
    Some(BTreeSet::from([schema.get("const")?.to_string()]))
}

/// The kinds of value that a schema names; `None` when it may be any. An integer is a number.
fn kinds(schema: &Value) -> Option<BTreeSet<&'static str>> {
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return Some(listed.iter().map(kind).collect());
    }
    match schema.get("type")? {
        Value::String(word) => Some(named(word).into_iter().collect()),
        Value::Array(words) => {
            Some(words.iter().filter_map(Value::as_str).filter_map(named).collect())
        }
        _ => None,
    }
}

fn named(word: &str) -> Option<&'static str> {
    let kinds = ["null", "boolean", "number", "string", "array", "object"];
    let word = if word == "integer" { "number" } else { word };
    kinds.into_iter().find(|kind| *kind == word)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
