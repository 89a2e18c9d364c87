//! Values for schemas: a small generator, enough for what is published and most of what documents say.

use serde_json::{Map, Value, json};

/// Finds what a reference leads to.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// A value for `schema`: with everything that it names, or with only what it requires.
pub fn instance(schema: &Value, full: bool, resolve: Resolve<'_>) -> Value {
    Generator { full, resolve }.value(schema, 0).unwrap_or(Value::Null)
}

struct Generator<'a> {
    full: bool,
    resolve: Resolve<'a>,
}

/// Deeper than this only what is required.
const DEEP: usize = 4;

impl Generator<'_> {
    /// `None` where no end is in sight.
    fn value(&self, schema: &Value, depth: usize) -> Option<Value> {
        if depth > 3 * DEEP {
            return None;
        }
        let schema = self.flat(schema, depth)?;
        for word in ["const", "example", "default"] {
            if let Some(value) = schema.get(word).filter(|value| !value.is_null()) {
                return Some(value.clone());
            }
        }
        let first = |word: &str| schema.get(word).and_then(Value::as_array)?.first().cloned();
        if let Some(value) = first("enum").or_else(|| first("examples")) {
            return Some(value);
        }
        Some(match kind(&schema) {
            "object" => self.object(&schema, depth)?,
            "array" => self.array(&schema, depth)?,
            "integer" | "number" => number(&schema),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => text(&schema),
        })
    }

    /// References followed, `allOf` joined, the first branch of a union taken.
    fn flat(&self, schema: &Value, depth: usize) -> Option<Map<String, Value>> {
        if depth > 3 * DEEP {
            return None;
        }
        let mut all = schema.as_object().cloned().unwrap_or_default();
        if let Some(Value::String(reference)) = all.shift_remove("$ref") {
            join(&mut all, self.flat(&(self.resolve)(&reference)?, depth + 1)?);
        }
        for word in ["oneOf", "anyOf", "allOf"] {
            let Some(Value::Array(parts)) = all.shift_remove(word) else { continue };
            let n = if word == "allOf" { parts.len() } else { 1 };
            for part in parts.iter().take(n) {
                join(&mut all, self.flat(part, depth + 1)?);
            }
        }
        Some(all)
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let mut object = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, part) in properties.into_iter().flatten() {
            let read_only = part.get("readOnly").is_some_and(|word| word == true);
            let needed = is_required(name);
            if read_only || !needed && (!self.full || depth >= DEEP) {
                continue;
            }
            match self.value(part, depth + 1) {
                Some(value) => drop(object.insert(name.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if properties.is_none_or(|all| !all.contains_key(name)) {
                object.insert(name.to_owned(), json!("a"));
            }
        }
        Some(object.into())
    }

    fn array(&self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let n = least.max(u64::from(self.full && depth < DEEP));
        let item = schema.get("items").cloned().unwrap_or(json!({ "type": "string" }));
        (0..n.min(20))
            .map(|_| self.value(&item, depth + 1))
            .collect::<Option<Vec<_>>>()
            .map(Value::from)
    }
}

fn join(all: &mut Map<String, Value>, more: Map<String, Value>) {
    for (word, value) in more {
        match (all.get_mut(&word), value) {
            (Some(Value::Object(known)), Value::Object(new)) if word == "properties" => {
                known.extend(new)
            }
            (Some(Value::Array(known)), Value::Array(new)) if word == "required" => {
                known.extend(new)
            }
            (Some(_), _) => {}
            (None, value) => drop(all.insert(word, value)),
        }
    }
}

fn kind(schema: &Map<String, Value>) -> &str {
    let word = match schema.get("type") {
        Some(Value::Array(words)) => words.iter().find(|word| *word != "null"),
        word => word,
    };
    match word.and_then(Value::as_str) {
        Some(word) => word,
        None if schema.contains_key("properties") => "object",
        None if schema.contains_key("items") => "array",
        None => "string",
    }
}

fn number(schema: &Map<String, Value>) -> Value {
    let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|least| least + 1.0);
    let below = bound("exclusiveMaximum").map(|most| most - 1.0);
    let step = bound("multipleOf").unwrap_or(1.0);
    let least = bound("minimum").or(above).unwrap_or(1.0);
    let most = bound("maximum").or(below).unwrap_or(f64::MAX);
    let value = ((least / step).ceil() * step).min(most);
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn text(schema: &Map<String, Value>) -> Value {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let known = match format {
        "date-time" => "2024-05-06T07:08:09Z",
        "date" => "2024-05-06",
        "time" => "07:08:09Z",
        "email" => "a@example.com",
        "uri" | "url" => "https://example.com/a",
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "byte" | "binary" => "YWJj",
        _ => "a",
    };
    let length =
        |word: &str| schema.get(word).and_then(Value::as_u64).map(|n| n.min(10_000) as usize);
    let mut text = known.repeat(length("minLength").unwrap_or(0).div_ceil(known.len()).max(1));
    text.truncate(length("maxLength").unwrap_or(text.len()).max(length("minLength").unwrap_or(0)));
    text.into()
}
