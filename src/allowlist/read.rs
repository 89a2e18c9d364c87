//! A value read key by key: every fault is kept with its place, and reading goes on.
//!
//! [`Section::open`] checks a mapping against the table of its keys once: unknown keys and values of
//! the wrong kind are reported there, so whoever asks a section for a key later gets a sound value or
//! none, and never reports a kind again. That is what keeps one mistake at one diagnostic.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    Allowlist, Broken, Doubt, Located, Rest,
    key::{Key, Kind},
};
use crate::diagnostic::{Diagnostic, Place, Position, counted, nearest, quote};

/// Nodes deeper than this are parts of a `default` or a `fixed`, which nothing here speaks of.
const DEEPEST: usize = 6;

/// More faults than this have one cause that the first ones show.
const MOST_FAULTS: usize = 100;

/// The faults of one file so far, and where its nodes stand.
#[derive(Debug)]
pub(super) struct Reader {
    file: Arc<str>,
    places: HashMap<String, Place>,
    faults: Vec<Diagnostic>,
    doubt: Doubt,
}

impl Reader {
    /// A reader of `value`, with its nodes placed by `locate` in one go; lines that hold one of `secrets`
    /// are not shown.
    pub(super) fn new(
        file: &Arc<str>,
        value: &Value,
        secrets: &[&str],
        locate: impl FnOnce(&[&str]) -> Vec<Option<Place>>,
    ) -> Self {
        let mut pointers = Vec::new();
        collect(value, String::new(), 0, &mut pointers);
        let found = locate(&pointers.iter().map(String::as_str).collect::<Vec<_>>());
        let places = pointers.into_iter().zip(found);
        let places = places.filter_map(|(pointer, place)| {
            let place = blanked(place?, secrets);
            Some((pointer, place))
        });
        let places = places.collect();
        Self { file: file.clone(), places, faults: Vec::new(), doubt: Doubt::default() }
    }

    /// Where a node stands.
    pub(super) fn position(&self, pointer: &str) -> Position {
        Position { file: self.file.clone(), place: self.places.get(pointer).cloned() }
    }

    /// A value with its place.
    pub(super) fn located<T>(&self, pointer: &str, value: T) -> Located<T> {
        Located { value, position: self.position(pointer) }
    }

    /// Keeps a fault of the node at `pointer`.
    pub(super) fn fault(&mut self, pointer: &str, fault: Diagnostic) {
        let position = self.position(pointer);
        let key = pointer.split('/').nth(1);
        self.doubt.keys.extend(key.map(str::to_owned));
        self.faults.push(fault.at(position));
    }

    /// How many faults there are so far.
    pub(super) fn n_faults(&self) -> usize {
        self.faults.len()
    }

    /// What the faults so far make unsure.
    pub(super) fn doubt(&mut self) -> &mut Doubt {
        &mut self.doubt
    }

    /// The value, or its fault kept.
    pub(super) fn keep<T>(&mut self, pointer: &str, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|fault| self.fault(pointer, fault)).ok()
    }

    /// What was read, or all faults in the order of the text and what they leave of it.
    pub(super) fn finish(mut self, read: Option<Allowlist>) -> Result<Allowlist, Broken> {
        let read = match read {
            Some(allowlist) if self.faults.is_empty() => return Ok(allowlist),
            read => read,
        };
        self.faults.sort_by_key(|fault| {
            let place = fault.position.as_ref().and_then(|position| position.place.as_ref());
            place.map(|place| (place.line, place.column))
        });
        let n_more = self.faults.len().saturating_sub(MOST_FAULTS);
        self.faults.truncate(MOST_FAULTS);
        if n_more > 0 {
            let words = format!("{} not shown", counted(n_more, "more fault"));
            self.faults.push(Diagnostic::error(words).at(Position::whole(self.file)));
        }
        let rest = read.map(|allowlist| Rest { allowlist, doubt: self.doubt });
        Err(Broken { faults: self.faults, rest: rest.map(Box::new) })
    }

    /// A mapping, or a fault.
    pub(super) fn mapping<'a>(
        &mut self,
        pointer: &str,
        value: &'a Value,
    ) -> Option<&'a Map<String, Value>> {
        if value.as_object().is_none() {
            let found = kind_of(value);
            self.fault(pointer, Diagnostic::error(format!("expected a mapping, found {found}")));
        }
        value.as_object()
    }

    /// The text behind a key as `parse` understands it.
    pub(super) fn parsed<T>(
        &mut self,
        section: &Section<'_>,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Diagnostic>,
    ) -> Option<Located<T>> {
        let value = section.get(name)?;
        // A number of bytes is as good as its text.
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let pointer = section.pointer(name);
        let parsed = self.keep(&pointer, parse(&text))?;
        Some(self.located(&pointer, parsed))
    }

    /// The list of strings behind a key, each as `parse` understands it, none twice; `None` when the
    /// key is absent.
    pub(super) fn names<T: AsRef<str> + Clone + Eq + Hash>(
        &mut self,
        section: &Section<'_>,
        name: &str,
        parse: impl Fn(&str) -> Result<T, Diagnostic>,
    ) -> Option<Vec<Located<T>>> {
        let items = section.items(name)?;
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for (pointer, item) in items {
            let text = item.as_str().ok_or_else(|| wrong_kind(Kind::Text, item, None));
            let Some(parsed) = self.keep(&pointer, text.and_then(&parse)) else { continue };
            if !seen.insert(parsed.clone()) {
                self.fault(
                    &pointer,
                    Diagnostic::error(format!("{} is listed twice", quote(parsed.as_ref()))),
                );
                continue;
            }
            names.push(self.located(&pointer, parsed));
        }
        Some(names)
    }
}

/// A place whose line is not shown when it holds a header's value or one of `secrets`.
fn blanked(mut place: Place, secrets: &[&str]) -> Place {
    let is_header = place.pointer.starts_with("/headers/");
    if is_header || secrets.iter().any(|secret| place.excerpt.contains(secret)) {
        place.excerpt = Box::default();
    }
    place
}

/// A mapping whose remaining keys are known and whose values are of their kinds.
#[derive(Debug)]
pub(super) struct Section<'a> {
    pointer: String,
    /// The key's name, the key as written, the value.
    fields: Vec<(&'static str, &'a str, &'a Value)>,
    /// Keys that a faulty one was or may have been meant to be.
    attempted: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// Checks a mapping against its tables and keeps what is sound.
    pub(super) fn open(
        reader: &mut Reader,
        pointer: String,
        map: &'a Map<String, Value>,
        tables: &[&'static [Key]],
    ) -> Self {
        let mut section = Self { pointer, fields: Vec::new(), attempted: Vec::new() };
        for (written, value) in map {
            let place = child(&section.pointer, written);
            let mut keys = tables.iter().copied().flatten();
            let Some(key) = keys.find(|key| key.name == written || key.also == Some(written))
            else {
                let meant = closest(written, tables);
                section.attempted.extend(meant.map(|(key, _)| key.name));
                reader.fault(&place, unknown(written, meant.map(|(_, name)| name), tables));
                continue;
            };
            if let Some((_, other, _)) = section.fields.iter().find(|field| field.0 == key.name) {
                let words = format!("{} says the same as `{other}`", quote(written));
                reader.fault(&place, Diagnostic::error(words).help("keep one"));
            } else if key.kind.admits(value) {
                section.fields.push((key.name, written, value));
            } else {
                reader.fault(&place, wrong_kind(key.kind, value, Some(written)));
                section.attempted.push(key.name);
            }
        }
        section
    }

    /// The value of a key.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.field(name).map(|(_, value)| value)
    }

    /// Whether a key is absent and no other fault may be the reason.
    pub(super) fn lacks(&self, name: &str) -> bool {
        self.get(name).is_none() && !self.attempted.contains(&name)
    }

    /// Keys that a faulty one was or may have been meant to be.
    pub(super) fn attempted(&self) -> &[&'static str] {
        &self.attempted
    }

    /// The string of a key.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    /// The `true` or `false` of a key.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    /// The items of a list with their pointers; empty when nothing stands below the key.
    pub(super) fn items(&self, name: &str) -> Option<Vec<(String, &'a Value)>> {
        let list = self.get(name)?.as_array().map(Vec::as_slice).unwrap_or_default();
        let pointer = self.pointer(name);
        let items = list.iter().enumerate();
        Some(items.map(|(number, item)| (format!("{pointer}/{number}"), item)).collect())
    }

    /// The entries of a mapping with their pointers; empty when the key is absent or nothing stands
    /// below it.
    pub(super) fn entries(&self, name: &str) -> Vec<(String, &'a str, &'a Value)> {
        let pointer = self.pointer(name);
        let map = self.get(name).and_then(Value::as_object).into_iter().flatten();
        map.map(|(key, value)| (child(&pointer, key), key.as_str(), value)).collect()
    }

    /// Pointer of a key's value, or of the mapping when the key is absent.
    pub(super) fn pointer(&self, name: &str) -> String {
        match self.field(name) {
            Some((written, _)) => child(&self.pointer, written),
            None => self.pointer.clone(),
        }
    }

    /// The names of the keys that are there, in file order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|(name, _, _)| *name)
    }

    fn field(&self, name: &str) -> Option<(&'a str, &'a Value)> {
        let found = self.fields.iter().find(|(known, _, _)| *known == name);
        found.map(|(_, written, value)| (*written, *value))
    }
}

/// Pointers of a value and everything in it.
fn collect(value: &Value, pointer: String, depth: usize, pointers: &mut Vec<String>) {
    if depth < DEEPEST {
        let items = value.as_array().into_iter().flatten().enumerate();
        for (number, item) in items {
            collect(item, format!("{pointer}/{number}"), depth + 1, pointers);
        }
        for (key, item) in value.as_object().into_iter().flatten() {
            collect(item, child(&pointer, key), depth + 1, pointers);
        }
    }
    pointers.push(pointer);
}

/// The pointer of a mapping's entry (RFC 6901 section 3).
pub(super) fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The key that an unknown one may have been meant to be, and the spelling that comes nearest.
fn closest(written: &str, tables: &[&'static [Key]]) -> Option<(&'static Key, &'static str)> {
    let keys = || tables.iter().copied().flatten();
    let spellings: Vec<_> = keys().flat_map(|key| [Some(key.name), key.also]).flatten().collect();
    let name = nearest(written, spellings)?;
    let key = keys().find(|key| key.name == name || key.also == Some(name))?;
    Some((key, name))
}

fn unknown(written: &str, meant: Option<&str>, tables: &[&'static [Key]]) -> Diagnostic {
    let help = match meant {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let names: Vec<_> = tables.iter().copied().flatten().map(|key| key.name).collect();
            format!("known here: {}", names.join(", "))
        }
    };
    Diagnostic::error(format!("unknown key {}", quote(written))).help(help)
}

fn wrong_kind(kind: Kind, value: &Value, key: Option<&str>) -> Diagnostic {
    let subject = key.map(|key| format!("`{key}`: ")).unwrap_or_default();
    let (expected, found) = (kind.words(), kind_of(value));
    let fault = Diagnostic::error(format!("{subject}expected {expected}, found {found}"));
    match (key, value) {
        (Some(key), Value::String(text)) if kind.is_list() && text.len() < 80 => {
            fault.help(format!("write `{key}: [{}]`", Value::from(text.as_str())))
        }
        (_, Value::Number(_) | Value::Bool(_)) if kind == Kind::Text => {
            fault.help("put it in quotes")
        }
        (_, Value::Number(number)) if kind == Kind::Duration => {
            fault.help(format!("write the unit, like `{number}s`"))
        }
        (_, Value::String(text)) if kind.takes_flags() => match text.as_str() {
            "true" | "yes" | "on" => fault.help("write `true`, without quotes"),
            "false" | "no" | "off" => fault.help("write `false`, without quotes"),
            _ => fault,
        },
        (_, Value::Number(_)) if matches!(kind, Kind::Size | Kind::Count) => {
            fault.help("use a whole number from 1")
        }
        (_, Value::String(_)) if matches!(kind, Kind::Count | Kind::Version) => {
            fault.help("write it without quotes")
        }
        (_, Value::Object(_)) if kind.is_list() => fault.help("write one `- ` a line"),
        (_, Value::Null) => fault.help("give it a value or leave the key out"),
        _ => fault,
    }
}

/// What a value is, for a message.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "`true` or `false`",
        Value::Number(number) if number.as_i64().is_some_and(i64::is_negative) => {
            "a number below zero"
        }
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
