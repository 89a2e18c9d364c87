//! Words for what a published schema cannot say with keywords.
//!
//! All texts that leave here are one line, free of control, bidi and zero-width characters, and
//! bounded. What a document says is cut before what toolgate says.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{
    flat::Flat,
    keywords,
    kind::{Kind, Values, is_portable_format},
    read::Part,
    view::{Shown, View},
};
use crate::{openapi::unescape, registry::text};

/// Bytes of a description in an input schema.
const DESCRIPTION: usize = 300;

/// Bytes of a description in an output schema: replies explain themselves, lists do not.
const OUTPUT_DESCRIPTION: usize = 160;

/// Bytes of one list of names or values.
const LIST: usize = 140;

/// Length bounds from here on are told, not enforced: grammars built from them grow too large for
/// some clients.
pub(super) const LARGE: u64 = 1_000;

/// Bytes of a text that are looked at: none is published longer, and a hostile one costs nothing.
const LOOKED_AT: usize = 2_048;

/// The tool that shows a whole schema.
const MORE: &str = "`get_schema` has the rest";

/// What an argument means: the document's text, then what its keywords cannot say.
pub(super) fn input(view: &View<'_>, name: &str) -> String {
    let flat = &view.flat;
    let mut notes = Vec::new();
    notes.extend(flat.deprecated.then(|| "Deprecated".to_owned()));
    notes.extend(kind_note(view));
    notes.extend(needs(flat));
    if view.is(Kind::String) || view.shown == Shown::StringOrText {
        notes.extend(string_notes(flat));
    }
    notes.extend(bound_notes(view));
    together(said(flat, name), &notes, DESCRIPTION)
}

/// What a part of a reply is, in words.
pub(super) fn output(view: &View<'_>, name: &str) -> String {
    let kind = clean(&kind_words(view), LIST);
    let note = said(&view.flat, name);
    if note.is_empty() {
        kind
    } else {
        together(&format!("{kind}. {note}"), &[], OUTPUT_DESCRIPTION)
    }
}

/// What a cut part stands for and where the rest is.
pub(super) fn cut(view: &View<'_>, around: Option<&str>) -> String {
    let word = if view.is(Kind::Array) { "array" } else { "object" };
    match (name(&view.flat), around) {
        (Some(name), _) => format!("`{name}` {word}; {MORE}"),
        (None, Some(around)) => format!("{word} in `{around}`; {MORE}"),
        (None, None) => format!("{word}; {MORE}"),
    }
}

/// What a part with any value says.
pub(super) const ANY: &str = "Any JSON value, as text";

/// Bytes the sentence of [`left_out`] needs at most as a description of its own.
pub(super) const LEFT_OUT: usize = 120;

/// The sentence for arguments or fields that did not fit.
pub(super) fn left_out(count: usize, noun: &str, what: &str) -> String {
    let (s, verb) = if count == 1 { ("", "is") } else { ("s", "are") };
    format!("{count} more {noun}{s} {verb} {what} here for size; `get_endpoint` lists all.")
}

/// The description of a result.
pub(super) fn result(flat: &Flat<'_>) -> String {
    clean(flat.description.text, DESCRIPTION)
}

/// The description of all arguments together, and what its alternatives ask for.
pub(super) fn arguments(flat: &Flat<'_>) -> String {
    together(flat.description.text, needs(flat).as_slice(), DESCRIPTION)
}

/// The schema's own name: that of the reference to it.
pub(super) fn name(flat: &Flat<'_>) -> Option<String> {
    flat.entries.first().or(flat.names.first()).and_then(|reference| reference_name(reference))
}

/// What alternatives are called, each once.
pub(super) fn labels<'m, 'a: 'm>(members: impl Iterator<Item = &'m Flat<'a>>) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in members.map(label) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// What a reference calls its target: the last token of the pointer.
pub(super) fn reference_name(reference: &str) -> Option<String> {
    let last = reference.rsplit('/').next().unwrap_or_default();
    let decoded = percent_decode_str(last).decode_utf8_lossy();
    Some(clean(&unescape(&decoded), 64)).filter(|name| !name.is_empty())
}

/// A schema by its reference, title or discriminating constant; scalars by their kind.
fn label(member: &Flat<'_>) -> String {
    let kinds = member.kinds();
    match &kinds[..] {
        [] if name(member).is_none() => "any".to_owned(),
        [Kind::Array] => array_label(member.items.as_ref()),
        [kind] if kind.is_scalar() => scalar_label(*kind, member.values.as_ref()),
        _ => {
            let title = || Some(clean(member.title.text, 64)).filter(|title| !title.is_empty());
            let named = name(member).or_else(title).or_else(|| constant(member));
            named.unwrap_or_else(|| list(kinds.iter().map(|kind| kind.word().to_owned()), " or "))
        }
    }
}

fn array_label(items: Option<&Part<'_>>) -> String {
    match items.and_then(part_label) {
        Some(name) => format!("array of {name}"),
        None => "array".to_owned(),
    }
}

/// What a node is called by its reference or its type, looking no further.
fn part_label(part: &Part<'_>) -> Option<String> {
    let Part::One(node) = part else { return None };
    let named = part.reference().and_then(reference_name);
    named.or_else(|| node.get("type")?.as_str().map(|word| clean(word, 64)))
}

fn scalar_label(kind: Kind, values: Option<&Values<'_>>) -> String {
    match values {
        Some(values) if values.whole() && values.list.len() <= 3 => values_list(values),
        _ => kind.word().to_owned(),
    }
}

/// The first property that can have one value only.
fn constant(member: &Flat<'_>) -> Option<String> {
    member.fields.iter().find_map(|(name, part)| {
        let Part::One(node) = part else { return None };
        let only = |values: &'_ Vec<Value>| values.len() == 1;
        let first = || node.get("enum")?.as_array().filter(|values| only(values))?.first();
        let value = node.get("const").or_else(first)?;
        Some(clean(&format!("{name} = {}", plain(value)), 64))
    })
}

/// What the one shown kind leaves out.
fn kind_note(view: &View<'_>) -> Option<String> {
    let values = view.flat.values.as_ref();
    let kinds = || view.kinds.iter().map(|kind| kind.word().to_owned());
    let labels = || view.labels.iter().cloned();
    match view.shown {
        Shown::Text if values.is_some() => {
            Some(format!("One of {}, as JSON text", values.map(values_list).unwrap_or_default()))
        }
        Shown::Text if !view.kinds.is_empty() => {
            Some(format!("{}, as JSON text", list(kinds(), " or ")))
        }
        Shown::Text if !view.labels.is_empty() => Some(format!("{ANY} ({})", list(labels(), ", "))),
        Shown::Text => Some(ANY.to_owned()),
        Shown::StringOrText => {
            let others = if view.labels.is_empty() {
                list(kinds().skip(1), " or ")
            } else {
                list(labels(), " or ")
            };
            Some(format!("{others}; objects and arrays as JSON text"))
        }
        Shown::Kind(Kind::Object) if view.kinds.len() == 1 => {
            (view.labels.len() > 1).then(|| format!("One of {}", list(labels(), ", ")))
        }
        Shown::Kind(kind) if view.kinds.len() < 2 || kind == Kind::Number => None,
        Shown::Kind(_) if view.labels.is_empty() => Some(list(kinds(), " or ")),
        Shown::Kind(_) => Some(list(labels(), " or ")),
    }
}

fn needs(flat: &Flat<'_>) -> Option<String> {
    let groups = flat.needs.iter().map(|names| {
        list(names.iter().filter_map(Value::as_str).map(|name| format!("`{name}`")), " and ")
    });
    (!flat.needs.is_empty()).then(|| format!("Needs {}", list(groups, ", or ")))
}

fn string_notes(flat: &Flat<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let known = |format: &str| {
        is_portable_format(format)
            || matches!(format, "" | "string" | "enum" | "byte" | "binary" | "base64")
    };
    if flat.base64 {
        notes.push("Base64".to_owned());
    } else if let Some(format) = flat.format.filter(|format| !known(format)) {
        notes.push(format!("Format {}", clean(format, 40)));
    }
    if let Some(pattern) = flat.pattern.filter(|pattern| pattern.len() <= 80) {
        notes.push(format!("Matches `{pattern}`"));
    }
    notes
}

fn bound_notes(view: &View<'_>) -> Vec<String> {
    let flat = &view.flat;
    let bound =
        |word: &str| flat.bounds.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    let large = |word: &str| bound(word).and_then(Value::as_u64).filter(|bound| *bound > LARGE);
    let mut notes = Vec::new();
    if let Shown::Kind(kind) = view.shown {
        let values = flat.values.as_ref().filter(|_| !keywords::lists_values(view, kind));
        notes.extend(values.map(|values| format!("One of {}", values_list(values))));
    }
    let (word, noun) =
        if view.is(Kind::Array) { ("maxItems", "items") } else { ("maxLength", "characters") };
    if let Some(most) = large(word).filter(|most| *most < 1 << 31) {
        notes.push(format!("At most {most} {noun}"));
    }
    if view.is(Kind::Integer) || view.is(Kind::Number) {
        let multiple = bound("multipleOf").filter(|value| value.is_number());
        notes.extend(multiple.map(|value| format!("A multiple of {value}")));
    }
    notes
}

/// The kinds of a part of a reply: `string or null`, `array of Memo`, `object: one of Cat, Dog`.
fn kind_words(view: &View<'_>) -> String {
    let flat = &view.flat;
    let mut kinds: Vec<String> = view.kinds.iter().map(|kind| kind_word(*kind, flat)).collect();
    if kinds.is_empty() {
        return "any value".to_owned();
    }
    if flat.null {
        kinds.push("null".to_owned());
    }
    let mut words = list(kinds.into_iter(), " or ");
    if view.is(Kind::String)
        && let Some(format) = flat.format.filter(|format| is_portable_format(format))
    {
        words = format!("{words} ({format})");
    }
    if flat.base64 {
        words.push_str(" (base64)");
    }
    match &flat.values {
        Some(values) => format!("{words}: {}", values_list(values)),
        None if names_objects(view) => {
            format!("{words}: one of {}", list(view.labels.iter().cloned(), ", "))
        }
        None => words,
    }
}

/// Whether the alternatives are called something that their kinds do not say.
fn names_objects(view: &View<'_>) -> bool {
    let plain = |label: &str| {
        label.starts_with("array") || label.split(" or ").all(|word| Kind::named(word).is_some())
    };
    let objects = view.kinds.contains(&Kind::Object) && view.labels.len() > 1;
    objects && view.labels.iter().any(|label| !plain(label))
}

/// The word of a kind; a map says what it holds.
fn kind_word(kind: Kind, flat: &Flat<'_>) -> String {
    let map = kind == Kind::Object && flat.fields.len() == 0;
    let values = flat.additional.as_ref().filter(|_| map).and_then(part_label);
    match values {
        Some(values) => format!("object with {values} by name"),
        None => kind.word().to_owned(),
    }
}

/// The document's own text: the description, or a title that says more than the names.
fn said<'a>(flat: &Flat<'a>, name: &str) -> &'a str {
    let title = letters(flat.title.text);
    let known =
        title == letters(name) || self::name(flat).is_some_and(|name| letters(&name) == title);
    if flat.description.text.is_empty() && !known { flat.title.text } else { flat.description.text }
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).take(64);
    letters.flat_map(char::to_lowercase).collect()
}

/// A text, then notes as sentences; the text gives way.
fn together(text: &str, notes: &[String], most: usize) -> String {
    let notes: Vec<_> = notes.iter().map(|note| capital(note)).collect();
    let notes = clean(&notes.join(". "), most * 2 / 3);
    let room = if notes.is_empty() { most } else { most - notes.len() - 2 };
    let text = clean(text, room);
    match (text.is_empty(), notes.is_empty()) {
        (true, _) => notes,
        (_, true) => text,
        _ if text.ends_with(['.', '!', '?', ':', '…']) => format!("{text} {notes}"),
        _ => format!("{text}. {notes}"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn values_list(values: &Values<'_>) -> String {
    let shown = list(values.list.iter().map(|value| plain(value)), ", ");
    let unlisted = values.total - values.list.len();
    if unlisted > 0 && !shown.contains(" more") {
        format!("{shown} and {unlisted} more")
    } else {
        shown
    }
}

/// A value as a person writes it in a list.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => clean(text, 60),
        Value::Array(_) | Value::Object(_) => clean(&keywords::short(value), 60),
        value => value.to_string(),
    }
}

/// Items joined, as many as fit; the rest is counted.
fn list(items: impl Iterator<Item = String>, between: &str) -> String {
    let mut text = String::new();
    let mut more = 0;
    for item in items {
        if more > 0 || text.len() + item.len() > LIST {
            more += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(between);
        }
        text.push_str(&item);
    }
    if more > 0 { format!("{text} and {more} more") } else { text }
}

/// What can be seen of a text, as one line of at most `longest` bytes.
fn clean(text: &str, longest: usize) -> String {
    let text = text::floor(text, LOOKED_AT);
    if is_plain(text) {
        return text::cut(text.trim(), longest);
    }
    text::cut(&text::clean(text).split_whitespace().collect::<Vec<_>>().join(" "), longest)
}

/// Whether cleaning would change nothing, as with most texts.
fn is_plain(text: &str) -> bool {
    let seen = |byte: u8| (b' '..=b'~').contains(&byte);
    text.bytes().all(seen) && !text.contains("  ") && !text.contains("<!--")
}
