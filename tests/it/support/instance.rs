//! Values for schemas, made by nothing that toolgate has: what a published schema or a checking schema
//! says is turned into a value, and another validator says whether it really fits.

use proptest::{
    strategy::{Strategy, ValueTree},
    string::string_regex,
    test_runner::TestRunner,
};
use serde_json::{Map, Value, json};
use toolgate::registry::{
    Tool,
    plan::{BodyPlan, Source},
};

/// Ways through unions that are tried.
const WAYS: usize = 12;
/// Deeper than this only what is required.
const DEEP: usize = 4;
/// Strings tried against a pattern.
const STRINGS: usize = 40;

/// What only the members of a union require that were not taken.
const OTHERS: &str = "required by others";

/// A value for a published schema: with everything that it names, or with only what it requires.
pub fn instance(schema: &Value, full: bool) -> Value {
    Generator { full, way: 0, defs: None }.value(schema, 0).unwrap_or(Value::Null)
}

/// Whether arguments fit what a tool says it accepts, by a validator of the test's own.
#[derive(Debug)]
pub struct Accepted {
    schema: Value,
    arguments: jsonschema::Validator,
    body: Option<jsonschema::Validator>,
    /// Arguments that are fields of the body, and their names on the wire.
    fields: Vec<(String, String)>,
}

impl Accepted {
    /// Compiles the checking schema of a tool.
    pub fn new(tool: &Tool) -> Self {
        let accepted = tool.checker.accepted();
        let fields = match &tool.plan.body {
            BodyPlan::Fields { fields, .. } => {
                let named = |source: &Source| source.argument().map(str::to_owned);
                fields
                    .iter()
                    .filter_map(|one| Some((named(&one.source)?, one.name.clone())))
                    .collect()
            }
            BodyPlan::None | BodyPlan::Whole { .. } => Vec::new(),
        };
        let arguments = compile(&accepted.arguments);
        let body = accepted.body.as_ref().map(compile);
        Self { schema: joined(accepted.arguments, accepted.body), arguments, body, fields }
    }

    /// Whether these arguments fit.
    pub fn fits(&self, value: &Value) -> bool {
        self.arguments.is_valid(value)
            && self.body.as_ref().is_none_or(|body| body.is_valid(&self.wire(value)))
    }

    /// Arguments that fit: with everything that is named, or with only what is required. What does not
    /// fit among everything is left out again.
    pub fn instance(&self, full: bool) -> Option<Map<String, Value>> {
        let made =
            |way| Generator { full, way, defs: self.schema.get("$defs") }.value(&self.schema, 0);
        let fit = |mut value: Value| {
            self.prune(&mut value);
            self.fits(&value).then_some(value)
        };
        let value = (0..WAYS).filter_map(made).find_map(fit)?;
        value.as_object().cloned()
    }

    /// Leaves out what may be left out and does not fit.
    fn prune(&self, value: &mut Value) {
        for _ in 0..40 {
            let Some(error) = self.arguments.iter_errors(value).next() else { return };
            let mut place = error.instance_path().to_string();
            drop(error);
            let before = value.clone();
            while let Some((parent, last)) = place.clone().rsplit_once('/') {
                let last = last.replace("~1", "/").replace("~0", "~");
                if let Some(Value::Object(map)) = value.pointer_mut(parent) {
                    map.shift_remove(&last);
                    break;
                }
                place = parent.to_owned();
            }
            if *value == before {
                return;
            }
        }
    }

    /// The body as it will be built.
    fn wire(&self, arguments: &Value) -> Value {
        let of = |(argument, name): &(String, String)| {
            Some((name.clone(), arguments.get(argument)?.clone()))
        };
        Value::Object(self.fields.iter().filter_map(of).collect())
    }
}

fn compile(schema: &Value) -> jsonschema::Validator {
    let patterns = jsonschema::PatternOptions::fancy_regex();
    let options = jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_pattern_options(patterns);
    options.build(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

/// The schema of the arguments, and what the body obeys besides: names mostly are the same.
fn joined(mut arguments: Value, body: Option<Value>) -> Value {
    let Some(mut body) = body else { return arguments };
    let mut defs = Map::new();
    for schema in [&mut arguments, &mut body] {
        if let Some(Value::Object(own)) =
            schema.as_object_mut().and_then(|map| map.shift_remove("$defs"))
        {
            defs.extend(own);
        }
    }
    json!({ "allOf": [body, arguments], "$defs": defs })
}

struct Generator<'a> {
    full: bool,
    /// Which member of a union is taken.
    way: usize,
    defs: Option<&'a Value>,
}

impl Generator<'_> {
    /// `None` where no end is in sight.
    fn value(&self, schema: &Value, depth: usize) -> Option<Value> {
        if depth > 3 * DEEP {
            return None;
        }
        let schema = self.flat(schema, depth)?;
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(Value::Array(all)) = schema.get("enum") {
            return all.iter().find(|one| !one.is_null()).or(all.first()).cloned();
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

    /// References followed, `allOf` joined, one branch of a union taken.
    fn flat(&self, schema: &Value, depth: usize) -> Option<Map<String, Value>> {
        if depth > 3 * DEEP {
            return None;
        }
        let mut all = schema.as_object().cloned().unwrap_or_default();
        if let Some(Value::String(reference)) = all.shift_remove("$ref") {
            let target = self.defs?.get(reference.strip_prefix("#/$defs/")?)?;
            join(&mut all, self.flat(target, depth + 1)?);
        }
        for word in ["oneOf", "anyOf", "allOf"] {
            let Some(Value::Array(parts)) = all.shift_remove(word) else { continue };
            let (skip, n) =
                if word == "allOf" { (0, parts.len()) } else { (self.way % parts.len(), 1) };
            for part in parts.iter().skip(skip).take(n) {
                join(&mut all, self.flat(part, depth + 1)?);
            }
            if word == "oneOf" {
                let required =
                    |part: &Value| part.get("required").and_then(Value::as_array).cloned();
                let others = parts.iter().enumerate().filter(|(at, _)| *at != skip);
                let others = others.filter_map(|(_, part)| required(part)).flatten();
                join(&mut all, Map::from_iter([(OTHERS.to_owned(), others.collect())]));
            }
        }
        Some(all)
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, part) in properties.into_iter().flatten() {
            let needed = required.contains(&name.as_str());
            let others = schema.get(OTHERS).and_then(Value::as_array);
            let of_others = others.is_some_and(|all| all.iter().any(|one| one == name));
            if !needed && (!self.full || depth >= DEEP || of_others) {
                continue;
            }
            match self.value(part, depth + 1) {
                Some(value) => drop(object.insert(name.clone(), value)),
                None if needed => return None,
                None => {}
            }
        }
        let more = schema.get("additionalProperties").filter(|more| more.is_object());
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0) as usize;
        let unsaid =
            required.iter().filter(|name| properties.is_none_or(|all| !all.contains_key(**name)));
        let mut names: Vec<String> = unsaid.map(|name| (*name).to_owned()).collect();
        let optional = properties.into_iter().flatten().map(|(name, _)| name.clone());
        let spare = optional
            .chain((0..3).map(|n| format!("key{n}")))
            .filter(|name| !object.contains_key(name));
        let missing = least.saturating_sub(object.len() + names.len());
        names.extend(spare.take(missing).collect::<Vec<_>>());
        for name in names {
            let part = properties.and_then(|all| all.get(&name)).or(more);
            let value = part.map_or(Some(json!("a")), |part| self.value(part, depth + 1))?;
            object.insert(name, value);
        }
        Some(object.into())
    }

    fn array(&self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let n = least.max(u64::from(self.full && depth < DEEP)) as usize;
        let item = schema.get("items").cloned().unwrap_or(json!({ "type": "string" }));
        let first =
            schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut items = Vec::new();
        for at in 0..n.min(20) {
            let mut value = self.value(first.get(at).unwrap_or(&item), depth + 1)?;
            if schema.get("uniqueItems") == Some(&json!(true)) && items.contains(&value) {
                let choices = item.get("enum").and_then(Value::as_array);
                value = match (choices, value) {
                    (Some(choices), _) => choices.get(at)?.clone(),
                    (_, Value::String(text)) => format!("{text}{at}").into(),
                    (_, value) => value.as_i64().map_or(value, |number| json!(number + at as i64)),
                };
            }
            items.push(value);
        }
        Some(items.into())
    }
}

fn join(all: &mut Map<String, Value>, more: Map<String, Value>) {
    for (word, value) in more {
        match (all.get_mut(&word), value) {
            (Some(Value::Object(known)), Value::Object(new)) if word == "properties" => {
                for (name, part) in new {
                    let both = known.shift_remove(&name);
                    let part = both.map_or(part.clone(), |one| json!({ "allOf": [one, part] }));
                    known.insert(name, part);
                }
            }
            (Some(Value::Array(known)), Value::Array(new))
                if word == "required" || word == OTHERS =>
            {
                known.extend(new)
            }
            (Some(Value::Array(known)), Value::Array(new)) if word == "enum" => {
                known.retain(|one| new.contains(one));
            }
            (Some(known), new) if word.starts_with("min") => {
                if new.as_f64() > known.as_f64() {
                    *known = new;
                }
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
        None if schema.contains_key("properties") || schema.contains_key("required") => "object",
        None if schema.contains_key("items") => "array",
        None if schema.contains_key("minimum") => "integer",
        None => "string",
    }
}

fn number(schema: &Map<String, Value>) -> Value {
    let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
    let step = bound("multipleOf").unwrap_or(1.0);
    let above = bound("exclusiveMinimum").map(|least| least + step);
    let below = bound("exclusiveMaximum").map(|most| most - step);
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
        "uri" => "https://example.com/a",
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        // Base64 of something, for the bytes of a body that are not told by the checking schema.
        _ => "YWJj",
    };
    let length =
        |word: &str| schema.get(word).and_then(Value::as_u64).map(|n| n.min(10_000) as usize);
    let mut text = known.repeat(length("minLength").unwrap_or(0).div_ceil(known.len()).max(1));
    text.truncate(length("maxLength").unwrap_or(text.len()).max(length("minLength").unwrap_or(0)));
    match schema.get("pattern").and_then(Value::as_str) {
        Some(pattern) => matching(schema, pattern, text).into(),
        None => text.into(),
    }
}

/// A string that a pattern takes, and the other words of its schema too; `text` when none is found.
fn matching(schema: &Map<String, Value>, pattern: &str, text: String) -> String {
    let words = ["pattern", "format", "minLength", "maxLength"];
    let only = schema.iter().filter(|(word, _)| words.contains(&word.as_str()));
    let only: Map<_, _> = only.map(|(word, value)| (word.clone(), value.clone())).collect();
    let fits = compile(&Value::Object(only));
    let known = [
        "a747a818-a4c4-4446-8a87-704216495a08",
        "a",
        "1",
        "A1",
        "ab-cd",
        "2024-05-06",
        "/a/b",
        "*",
        "1.0.0",
    ]
    .map(String::from);
    let bare = pattern.trim_start_matches('^').trim_end_matches('$');
    // Not just any character but a slash, for paths and names.
    let bare = bare.replace("[^/]", "[a-z]");
    let bare = bare.replace("|^", "|").replace("$|", "|").replace("(^", "(").replace("$)", ")");
    let strategy = string_regex(&bare.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]"));
    let mut runner = TestRunner::deterministic();
    let made = strategy.into_iter().flat_map(|strategy| {
        (0..STRINGS).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>()
    });
    let mut tried = std::iter::once(text.clone()).chain(known).chain(made);
    tried.find(|one| fits.is_valid(&json!(one))).unwrap_or(text)
}
