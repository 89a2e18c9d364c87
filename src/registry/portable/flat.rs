//! One schema node as plain fields, whatever combination of nodes it was folded from.
//!
//! [`Flat::of`] reads the keywords of a single node, [`Flat::and`] joins two that both apply,
//! [`Flat::or`] two of which one applies. Keywords of the wrong JSON type read as absent: documents
//! have them, and a published schema must not fail on them.
//!
//! `null` is a flag, not a kind: an optional value is simply not given.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    kind::{Kind, Values, common, is_portable_format, narrowed},
    read::{Part, Reader, array},
};

/// A text of the document and whether it stands at the node itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said<'a> {
    pub(super) text: &'a str,
    near: bool,
}

impl<'a> Said<'a> {
    fn of(map: &'a Map<String, Value>, word: &str, near: bool) -> Self {
        Self { text: map.get(word).and_then(Value::as_str).unwrap_or_default().trim(), near }
    }

    fn and(&mut self, other: Self) {
        if self.text.is_empty() || other.near && !self.near && !other.text.is_empty() {
            *self = other;
        }
    }
}

/// Properties in document order, each name once.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a> {
    list: Vec<(&'a str, Part<'a>)>,
    /// Where names stand, filled when two nodes are joined: most never are.
    places: HashMap<&'a str, usize>,
}

impl<'a> Fields<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'a str, Part<'a>)> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Takes in the properties of another node; those both have are joined.
    fn join(&mut self, other: Self, join: fn(Part<'a>, Part<'a>) -> Part<'a>) {
        if self.list.is_empty() {
            *self = other;
            return;
        }
        for (place, (name, _)) in self.list.iter().enumerate().skip(self.places.len()) {
            self.places.insert(name, place);
        }
        for (name, part) in other.list {
            self.join_one(name, part, join);
        }
    }

    fn join_one(
        &mut self,
        name: &'a str,
        part: Part<'a>,
        join: fn(Part<'a>, Part<'a>) -> Part<'a>,
    ) {
        let place = *self.places.entry(name).or_insert(self.list.len());
        match self.list.get_mut(place) {
            Some((_, known)) => {
                let old = std::mem::replace(known, Part::All(Vec::new()));
                *known = join(old, part);
            }
            None => self.list.push((name, part)),
        }
    }
}

/// A folded node. Unions stay as they are until [`Reader::members`] takes them out.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat<'a> {
    /// Every reference followed on the way.
    pub(super) names: Vec<&'a str>,
    /// Those that name the node itself: what recursion is told by.
    pub(super) entries: Vec<&'a str>,
    pub(super) types: Option<Vec<Kind>>,
    pub(super) null: bool,
    /// The node is `false`: no value fits.
    pub(super) never: bool,
    pub(super) title: Said<'a>,
    pub(super) description: Said<'a>,
    pub(super) fields: Fields<'a>,
    pub(super) required: Vec<&'a str>,
    /// Values of names that are no property; absent for `false` too.
    pub(super) additional: Option<Part<'a>>,
    pub(super) items: Option<Part<'a>>,
    pub(super) values: Option<Values<'a>>,
    pub(super) format: Option<&'a str>,
    pub(super) base64: bool,
    pub(super) pattern: Option<&'a str>,
    /// Numeric and length bounds as written, and `uniqueItems`.
    pub(super) bounds: Vec<(&'static str, &'a Value)>,
    pub(super) default: Option<&'a Value>,
    pub(super) read_only: bool,
    /// `readOnly` stands at the node itself, not behind a reference.
    pub(super) read_only_near: bool,
    pub(super) write_only: bool,
    pub(super) deprecated: bool,
    pub(super) unions: Vec<Vec<Part<'a>>>,
    /// Groups of names of which one must be given: members that only add `required`.
    pub(super) needs: Vec<&'a [Value]>,
}

const BOUNDS: [&str; 10] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "multipleOf",
];

impl<'a> Flat<'a> {
    /// The keywords of one node; references and combinations are the reader's.
    pub(super) fn of(map: &'a Map<String, Value>, near: bool, reader: &Reader<'a>) -> Self {
        let yes = |word: &str| map.get(word).and_then(Value::as_bool).unwrap_or_default();
        let text = |word: &str| map.get(word).and_then(Value::as_str);
        let mut flat = Self {
            title: Said::of(map, "title", near),
            description: Said::of(map, "description", near),
            format: text("format"),
            pattern: text("pattern"),
            default: map.get("default").filter(|value| !value.is_null()),
            bounds: BOUNDS.iter().filter_map(|word| Some((*word, map.get(*word)?))).collect(),
            read_only: yes("readOnly"),
            read_only_near: near && yes("readOnly"),
            write_only: yes("writeOnly"),
            deprecated: yes("deprecated"),
            ..Self::default()
        };
        flat.base64 = text("contentEncoding").is_some_and(|word| word.starts_with("base64"))
            || matches!(flat.format, Some("byte" | "binary" | "base64"))
            || text("type") == Some("file");
        flat.read_types(map);
        flat.read_values(map, reader);
        flat.read_object(map, reader);
        flat.read_items(map, reader);
        flat
    }

    fn read_types(&mut self, map: &'a Map<String, Value>) {
        let words = match map.get("type") {
            Some(Value::Array(words)) => words.as_slice(),
            Some(word) => std::slice::from_ref(word),
            None => return,
        };
        let mut kinds = Vec::new();
        for word in words.iter().filter_map(Value::as_str) {
            self.null |= word == "null";
            let word = if word == "file" { "string" } else { word };
            kinds.extend(Kind::named(word).filter(|kind| !kinds.contains(kind)));
        }
        self.types = (!kinds.is_empty()).then_some(kinds);
    }

    fn read_values(&mut self, map: &'a Map<String, Value>, reader: &Reader<'a>) {
        let given = match (map.get("const"), map.get("enum")) {
            (Some(value), _) => std::slice::from_ref(value),
            (None, Some(Value::Array(values))) => values.as_slice(),
            _ => return,
        };
        let taken = reader.take(given.len());
        let mut values = Values { total: given.len() - taken, list: Vec::new() };
        for value in given.iter().take(taken) {
            match value {
                Value::Null => self.null = true,
                value => values.add(value),
            }
        }
        self.values = (values.total > 0).then_some(values);
    }

    fn read_object(&mut self, map: &'a Map<String, Value>, reader: &Reader<'a>) {
        if let Some(Value::Object(properties)) = map.get("properties") {
            let taken = reader.take(properties.len());
            let given = properties.iter().take(taken);
            self.fields.list = given.map(|(name, node)| (name.as_str(), Part::One(node))).collect();
        }
        let names = array(map, "required");
        let taken = reader.take(names.len());
        self.required.extend(names.iter().take(taken).filter_map(Value::as_str));
        self.additional = map
            .get("additionalProperties")
            .filter(|node| !matches!(node, Value::Bool(false)))
            .map(Part::One)
            .or_else(|| patterns(map, reader));
    }

    fn read_items(&mut self, map: &'a Map<String, Value>, reader: &Reader<'a>) {
        let mut nodes: Vec<&Value> = array(map, "prefixItems").iter().collect();
        match map.get("items") {
            Some(Value::Array(list)) => nodes.extend(list),
            Some(Value::Bool(_)) | None => {}
            Some(node) => nodes.push(node),
        }
        let taken = reader.take(nodes.len());
        let parts = nodes.into_iter().take(taken).map(Part::One);
        self.items = parts.reduce(Part::or);
    }

    /// Joins a node that applies too.
    pub(super) fn and(&mut self, other: Self) {
        self.fields.join(other.fields, Part::and);
        self.names.extend(other.names);
        self.entries.extend(other.entries);
        self.title.and(other.title);
        self.description.and(other.description);
        self.required.extend(other.required);
        self.additional = joined(self.additional.take(), other.additional, Part::and);
        self.items = joined(self.items.take(), other.items, Part::and);
        self.types = narrowed(self.types.take(), other.types);
        self.values = common(self.values.take(), other.values);
        self.bounds.extend(other.bounds);
        self.format = self.format.or(other.format);
        self.pattern = self.pattern.or(other.pattern);
        self.default = self.default.or(other.default);
        self.null |= other.null;
        self.never |= other.never;
        self.base64 |= other.base64;
        self.read_only |= other.read_only;
        self.read_only_near |= other.read_only_near;
        self.write_only |= other.write_only;
        self.deprecated |= other.deprecated;
        self.unions.extend(other.unions);
        self.needs.extend(other.needs);
    }

    /// Adds the parts of an alternative: its properties, items and map values may occur, none of them
    /// must.
    pub(super) fn or(&mut self, other: &Self) {
        self.entries.extend(&other.entries);
        self.fields.join(other.fields.clone(), Part::or);
        self.additional = joined(self.additional.take(), other.additional.clone(), Part::or);
        self.items = joined(self.items.take(), other.items.clone(), Part::or);
    }

    /// The kinds a value may have, in the given order; empty when the node says nothing.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        if let Some(types) = &self.types {
            return types.clone();
        }
        let mut kinds = Vec::new();
        for value in self.values.iter().flat_map(|values| &values.list) {
            kinds.extend(Kind::of(value).filter(|kind| !kinds.contains(kind)));
        }
        if kinds.is_empty() {
            kinds.extend(self.implied());
        }
        kinds
    }

    /// The kind that keywords imply when no type is written.
    fn implied(&self) -> Option<Kind> {
        let bounded = |words: &[&str]| self.bounds.iter().any(|(word, _)| words.contains(word));
        if self.fields.len() > 0 || self.additional.is_some() || !self.required.is_empty() {
            return Some(Kind::Object);
        }
        if self.items.is_some() || bounded(&["minItems", "maxItems", "uniqueItems"]) {
            return Some(Kind::Array);
        }
        let text = self.pattern.is_some() || self.base64 || bounded(&["minLength", "maxLength"]);
        if text || self.format.is_some_and(is_portable_format) {
            return Some(Kind::String);
        }
        let number = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
        bounded(&number).then_some(Kind::Number)
    }

    /// Whether it says anything but texts and a union.
    pub(super) fn has_substance(&self) -> bool {
        !self.kinds().is_empty()
    }
}

/// `patternProperties` as the values of a map.
fn patterns<'a>(map: &'a Map<String, Value>, reader: &Reader<'a>) -> Option<Part<'a>> {
    let patterns = map.get("patternProperties")?.as_object()?;
    let taken = reader.take(patterns.len());
    patterns.values().take(taken).map(Part::One).reduce(Part::or)
}

fn joined<'a>(
    one: Option<Part<'a>>,
    two: Option<Part<'a>>,
    join: fn(Part<'a>, Part<'a>) -> Part<'a>,
) -> Option<Part<'a>> {
    match (one, two) {
        (Some(one), Some(two)) => Some(join(one, two)),
        (one, two) => one.or(two),
    }
}

/// Names without repetition, in order.
pub(super) fn unique<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.iter().filter(|name| seen.insert(**name)).copied().collect()
}
