//! Whether a `oneOf` can be taken at its word.
//!
//! Generators write `oneOf` for any union. Where a member is open to what another one describes (it
//! is of that kind, demands no name that the other does not, and no required name holds other
//! constants in both), no value that the API wants would ever fit exactly one; such a `oneOf` is
//! checked as `anyOf`. Everything else is checked as the document says.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::registry::view::View;

/// `allOf` within `allOf` that is looked into.
const DEPTH: usize = 8;

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

/// Whether no member is open to what another one describes.
fn tells_apart(view: &View<'_>, members: &[Value]) -> bool {
    let members: Vec<_> = members.iter().map(|member| Member::read(view, member)).collect();
    !members.iter().enumerate().any(|(at, member)| {
        let mut others = members.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(_, other)| member.is_open_to(other))
    })
}

/// What a member demands, through its references and `allOf`.
struct Member {
    /// It demands nothing but what stands in the other fields.
    open: bool,
    /// Each part of it; a value must be of all their kinds.
    parts: Vec<Value>,
    required: Vec<String>,
    /// The values that a property may have, where they are listed.
    constants: BTreeMap<String, Vec<Value>>,
}

impl Member {
    fn read(view: &View<'_>, schema: &Value) -> Self {
        let (parts, required) = (Vec::new(), Vec::new());
        let mut member = Self { open: true, parts, required, constants: BTreeMap::new() };
        member.absorb(view, schema, DEPTH);
        member
    }

    fn absorb(&mut self, view: &View<'_>, schema: &Value, depth: usize) {
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
        self.parts.push(schema);
    }

    fn is_open_to(&self, other: &Self) -> bool {
        let kinds = |a: &Value| other.parts.iter().all(|b| share_a_kind(a, b));
        self.open
            && self.required.iter().all(|name| other.required.contains(name))
            && self.parts.iter().all(kinds)
            && !self.required.iter().any(|name| self.differs(other, name))
    }

    /// Whether the constants of a property tell the two apart.
    fn differs(&self, other: &Self, name: &str) -> bool {
        match (self.constants.get(name), other.constants.get(name)) {
            (Some(mine), Some(theirs)) => !mine.iter().any(|value| theirs.contains(value)),
            _ => false,
        }
    }
}

fn constants(schema: &Value) -> Option<Vec<Value>> {
    let listed = schema.get("enum").and_then(Value::as_array).cloned();
    listed.or_else(|| Some(vec![schema.get("const")?.clone()]))
}

/// Whether some value may be of both.
fn share_a_kind(a: &Value, b: &Value) -> bool {
    match (kinds(a), kinds(b)) {
        (Some(a), Some(b)) => a.iter().any(|kind| b.contains(kind)),
        _ => true,
    }
}

/// The kinds of value that a schema names; `None` when it may be any. An integer is a number.
fn kinds(schema: &Value) -> Option<Vec<&str>> {
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return Some(listed.iter().map(kind).collect());
    }
    let number = |kind| if kind == "integer" { "number" } else { kind };
    match schema.get("type")? {
        Value::String(kind) => Some(vec![number(kind)]),
        Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).map(number).collect()),
        _ => None,
    }
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
