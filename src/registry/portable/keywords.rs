//! The keywords of one node in an input schema, and what stands where a node was cut.
//!
//! Only keywords of the node's own kind are written, and only with values that every draft and every
//! known client reads alike. What is dropped here and worth knowing is said by [`super::words`].

use serde_json::{Map, Value, json};

use super::{
    kind::{Kind, Values, is_portable_format},
    view::{Shown, View},
    words,
};

/// Bytes of one `enum`; a longer list is told in words.
const ENUM: usize = 2_000;

/// Bytes of one `default`.
const DEFAULT: usize = 200;

/// The largest magnitude of a bound: the integers that every client reads exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A node's own keywords, those that hold other schemas left out.
pub(super) fn own(view: &View<'_>, name: &str) -> Map<String, Value> {
    let mut keywords = bare(view);
    let text = words::input(view, name);
    if !text.is_empty() {
        keywords.insert("description".into(), text.into());
    }
    let Shown::Kind(kind) = view.shown else { return keywords };
    let flat = &view.flat;
    if let Some(format) =
        flat.format.filter(|format| kind == Kind::String && is_portable_format(format))
    {
        keywords.insert("format".into(), format.into());
    }
    if let Some(values) = flat.values.as_ref().filter(|_| lists_values(view, kind)) {
        keywords.insert("enum".into(), values.list.iter().copied().cloned().collect());
    }
    if let Some(default) = flat.default.filter(|default| is_default(view, kind, default)) {
        keywords.insert("default".into(), default.clone());
    }
    for (word, value) in &flat.bounds {
        if let Some(value) = bound(kind, word, value) {
            keywords.entry(*word).or_insert(value);
        }
    }
    keywords
}

/// The type alone.
pub(super) fn bare(view: &View<'_>) -> Map<String, Value> {
    let kind = match view.shown {
        Shown::Kind(kind) => kind,
        Shown::Text | Shown::StringOrText => Kind::String,
    };
    Map::from_iter([("type".to_owned(), kind.word().into())])
}

/// A string that holds any JSON value.
pub(super) fn any() -> Map<String, Value> {
    object(json!({ "type": "string", "description": words::ANY }))
}

/// An object with nothing known of it but what the text says.
pub(super) fn open(text: &str) -> Map<String, Value> {
    object(json!({
        "type": "object", "description": text, "properties": {}, "additionalProperties": true
    }))
}

/// An array of such items.
pub(super) fn array(items: &Map<String, Value>) -> Map<String, Value> {
    object(json!({ "type": "array", "items": items }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Whether the node's values are written as an `enum` of one kind.
pub(super) fn lists_values(view: &View<'_>, kind: Kind) -> bool {
    let fits = |values: &Values<'_>| {
        values.whole()
            && !values.list.is_empty()
            && values.list.iter().all(|value| kind.is_scalar() && kind.holds(value))
            && size(&values.list) <= ENUM
    };
    view.flat.values.as_ref().is_some_and(fits)
}

fn is_default(view: &View<'_>, kind: Kind, default: &Value) -> bool {
    let allowed = !lists_values(view, kind)
        || view.flat.values.as_ref().is_some_and(|values| values.list.contains(&default));
    let flat = match default {
        Value::Array(items) => items.iter().all(|item| Kind::of(item).is_some_and(Kind::is_scalar)),
        Value::Object(_) => false,
        _ => true,
    };
    allowed && flat && kind.holds(default) && size(default) <= DEFAULT
}

/// A bound as it may be published for this kind.
fn bound(kind: Kind, word: &str, value: &Value) -> Option<Value> {
    let number = matches!(kind, Kind::Integer | Kind::Number);
    match word {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" if number => {
            value.as_f64().filter(|bound| bound.abs() <= EXACT).map(|bound| whole(bound, value))
        }
        "minLength" | "maxLength" if kind == Kind::String => length(value),
        "minItems" | "maxItems" if kind == Kind::Array => length(value),
        "uniqueItems" if kind == Kind::Array && value == true => Some(true.into()),
        _ => None,
    }
}

/// Whole numbers without a fraction: `60`, not `60.0`.
fn whole(bound: f64, value: &Value) -> Value {
    // Exact: the magnitude was checked, and a fraction keeps the value as it is.
    if value.is_f64() && bound.fract() == 0.0 { Value::from(bound as i64) } else { value.clone() }
}

fn length(value: &Value) -> Option<Value> {
    value.as_u64().filter(|length| *length <= words::LARGE).map(Value::from)
}

/// Bytes of a value as JSON.
pub(super) fn size<T: serde::Serialize + ?Sized>(value: &T) -> usize {
    let mut count = Count::default();
    // A count takes everything, and map keys are strings: it cannot fail.
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.bytes,
        Err(_) => usize::MAX / 2,
    }
}

/// The beginning of a value as JSON.
pub(super) fn short(value: &Value) -> String {
    let mut count = Count { kept: 120, ..Count::default() };
    let _ = serde_json::to_writer(&mut count, value);
    String::from_utf8_lossy(&count.head).into_owned()
}

/// Counts bytes and keeps the first few.
#[derive(Default)]
struct Count {
    bytes: usize,
    kept: usize,
    head: Vec<u8>,
}

impl std::io::Write for Count {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.bytes += buffer.len();
        let room = self.kept.saturating_sub(self.head.len());
        self.head.extend(buffer.iter().take(room));
        Ok(buffer.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
