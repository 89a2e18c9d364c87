//! The checking schemas of one toolset: everything the document says, in JSON Schema 2020-12.
//!
//! All tools share one set of `$defs`, which holds what the listed operations reach and nothing
//! else. Schemas are made sound on the way in, since one bad keyword would take the tool away: what
//! only describes is left out, a keyword of the wrong kind is not enforced, identifiers and dialects
//! of nested schemas go, and a pattern that no engine takes is a warning.

mod union;
mod weight;

use std::{collections::HashMap, sync::Arc};

use jsonschema::{Draft, PatternCache, PatternOptions, Registry, Validator};
use serde_json::{Map, Value, json};

use self::weight::Scale;
use super::{portable::is_portable_format, view::View};
use crate::openapi::Fault;

/// The name under which the shared `$defs` are registered; nothing is ever fetched from it.
const DEFS: &str = "toolgate:///schemas";

/// Steps back a pattern may take in one match. Real ones take a few hundred.
const BACKTRACKING: usize = 50_000;
/// Bytes of a compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;

/// Collects the checking schemas of a toolset.
pub(super) struct Bundle<'a> {
    view: &'a View<'a>,
    defs: Map<String, Value>,
    /// Reference to name in `defs`; looked up only.
    names: HashMap<String, String>,
    pending: Vec<String>,
    patterns: Patterns,
}

impl<'a> Bundle<'a> {
    /// An empty bundle over a document.
    pub(super) fn new(view: &'a View<'a>) -> Self {
        let (defs, names) = (Map::new(), HashMap::new());
        Self { view, defs, names, pending: Vec::new(), patterns: Patterns::default() }
    }

    /// The checking form of a schema; whatever it reaches joins the bundle.
    ///
    /// # Errors
    /// When a reference leads nowhere.
    pub(super) fn add(&mut self, schema: &Value) -> Result<Value, Fault> {
        let schema = self.schema(schema);
        while let Some(reference) = self.pending.pop() {
            let target = self.view.get(&reference)?;
            let target = self.schema(&target);
            if let Some(name) = self.names.get(&reference) {
                self.defs.insert(name.clone(), target);
            }
        }
        Ok(schema)
    }

    /// Patterns met since the last call that cannot be enforced.
    pub(super) fn take_unfit_patterns(&mut self) -> Vec<String> {
        std::mem::take(&mut self.patterns.unfit)
    }

    /// The shared set, ready to compile schemas against.
    ///
    /// # Errors
    /// In words, when the set does not hold together.
    pub(super) fn seal(self) -> Result<Sealed, String> {
        let resource = json!({ "$defs": &self.defs });
        let registry = Registry::new()
            .draft(Draft::Draft202012)
            .add(DEFS, resource)
            .and_then(|builder| builder.prepare())
            .map_err(|error| error.to_string())?;
        let scale = Scale::new(&self.defs);
        Ok(Sealed { registry, patterns: self.patterns.cache, defs: Arc::new(self.defs), scale })
    }

    fn schema(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(map) => {
                let sound = |(k, v): (&String, &Value)| Some((k.clone(), self.keyword(k, v)?));
                let mut sound: Map<_, _> = map.iter().filter_map(sound).collect();
                union::settle(self.view, map, &mut sound);
                Value::Object(sound)
            }
            // A `null` where a schema should be says nothing.
            _ => Value::Bool(true),
        }
    }

    /// A keyword as it is enforced; `None` when it only describes or is of the wrong kind.
    fn keyword(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        match keyword {
            "$ref" => value.as_str().map(|reference| self.reference(reference)),
            "properties" | "dependentSchemas" => self.schemas(value.as_object()?, false),
            "patternProperties" => self.schemas(value.as_object()?, true),
            "items"
            | "additionalProperties"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => {
                (value.is_object() || value.is_boolean()).then(|| self.schema(value))
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let members = value.as_array().filter(|members| !members.is_empty())?;
                Some(Value::Array(members.iter().map(|member| self.schema(member)).collect()))
            }
            "pattern" => value.as_str().filter(|text| self.patterns.take(text)).map(Value::from),
            _ => plain(keyword, value),
        }
    }

    fn schemas(&mut self, map: &Map<String, Value>, patterns: bool) -> Option<Value> {
        let mut schemas = Map::new();
        for (name, schema) in map {
            if !patterns || self.patterns.take(name) {
                schemas.insert(name.clone(), self.schema(schema));
            }
        }
        Some(Value::Object(schemas))
    }

    fn reference(&mut self, reference: &str) -> Value {
        if !self.names.contains_key(reference) {
            // The number keeps apart what cleaning made equal, and is never shown.
            let name = format!("{}-{}", clean(reference), self.names.len());
            self.names.insert(reference.to_owned(), name);
            self.pending.push(reference.to_owned());
        }
        let name = self.names.get(reference).map(String::as_str).unwrap_or_default();
        Value::String(format!("{DEFS}#/$defs/{name}"))
    }
}

/// The name in the shared `$defs` that a reference of a checking schema leads to.
pub(super) fn shared(reference: &str) -> Option<&str> {
    reference.strip_prefix(DEFS)?.strip_prefix("#/$defs/")
}

/// The last part of a reference in characters that need no escape anywhere.
fn clean(reference: &str) -> String {
    let last = reference.rsplit('/').next().unwrap_or_default();
    last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A keyword that holds no schema, when its value is of the right kind.
fn plain(keyword: &str, value: &Value) -> Option<Value> {
    match keyword {
        "type" => kinds(value),
        "enum" => value.as_array().filter(|list| !list.is_empty()).map(|_| value.clone()),
        "const" => Some(value.clone()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            value.is_number().then(|| value.clone())
        }
        "multipleOf" => value.as_f64().filter(|number| *number > 0.0).map(|_| value.clone()),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.as_u64().map(Value::from),
        "uniqueItems" => value.as_bool().map(Value::from),
        // Others mean different things to different generators.
        "format" => value.as_str().filter(|name| is_portable_format(name)).map(Value::from),
        "required" => names(value),
        "dependentRequired" => {
            let lists = value.as_object()?.iter();
            let lists = lists.filter_map(|(name, list)| Some((name.clone(), names(list)?)));
            Some(Value::Object(lists.collect()))
        }
        _ => None,
    }
}

fn kinds(value: &Value) -> Option<Value> {
    const KINDS: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
    let known = |word: &Value| word.as_str().is_some_and(|word| KINDS.contains(&word));
    match value {
        Value::Array(words) => {
            let mut kept: Vec<&Value> = Vec::new();
            for word in words.iter().filter(|word| known(word)) {
                if !kept.contains(&word) {
                    kept.push(word);
                }
            }
            (!kept.is_empty() && words.iter().all(known)).then(|| json!(kept))
        }
        word => known(word).then(|| word.clone()),
    }
}

/// A list of names, each once.
fn names(value: &Value) -> Option<Value> {
    let mut names: Vec<&str> = Vec::new();
    for name in value.as_array()?.iter().filter_map(Value::as_str) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(json!(names))
}

/// Patterns and whether an engine takes them.
#[derive(Default)]
struct Patterns {
    cache: PatternCache,
    /// Looked up only.
    known: HashMap<String, bool>,
    unfit: Vec<String>,
}

impl Patterns {
    /// Whether a pattern can be enforced; one that cannot is remembered for a warning.
    fn take(&mut self, pattern: &str) -> bool {
        if let Some(fit) = self.known.get(pattern) {
            return *fit;
        }
        let fit = options(&self.cache).build(&json!({ "pattern": pattern })).is_ok();
        self.known.insert(pattern.to_owned(), fit);
        if !fit {
            self.unfit.push(pattern.to_owned());
        }
        fit
    }
}

fn options<'i>(cache: &PatternCache) -> jsonschema::ValidationOptions<'i> {
    let patterns =
        PatternOptions::fancy_regex().backtrack_limit(BACKTRACKING).size_limit(PATTERN_SIZE);
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(patterns)
        .with_pattern_cache(cache.clone())
}

/// The shared `$defs` of a toolset, complete.
pub(super) struct Sealed {
    registry: Registry<'static>,
    patterns: PatternCache,
    defs: Arc<Map<String, Value>>,
    scale: Scale,
}

impl Sealed {
    /// The schemas by the last part of their references.
    pub(super) fn defs(&self) -> Arc<Map<String, Value>> {
        self.defs.clone()
    }

    /// Compiles a schema that [`Bundle::add`] made.
    ///
    /// # Errors
    /// In words, when it is no schema after all.
    pub(super) fn validator(&self, schema: &Value) -> Result<Validator, String> {
        self.scale.take(schema)?;
        options(&self.patterns)
            .with_registry(&self.registry)
            .build(schema)
            .map_err(|error| format!("its arguments cannot be checked: {error}"))
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "cases are written as values")]
mod tests {
    use super::*;

    fn resolve(reference: &str) -> Result<Arc<Value>, Fault> {
        match reference {
            "#/components/schemas/No#de" => Ok(Arc::new(json!({
                "$id": "https://example.com/x", "$schema": "http://json-schema.org/draft-04/schema",
                "type": "object", "required": ["v", "v"],
                "properties": {
                    "v": {"type": "integer"},
                    "next": {"$ref": "#/components/schemas/No#de"}
                }
            }))),
            _ => Err(Fault { pointer: reference.into(), words: "does not exist".into() }),
        }
    }

    fn check(schema: Value, fits: Value, does_not: Value) {
        let view = View::new(&resolve);
        let mut bundle = Bundle::new(&view);
        let checking = bundle.add(&schema).unwrap();
        let validator = bundle.seal().unwrap().validator(&checking).unwrap();
        assert!(validator.is_valid(&fits), "{fits} against {checking}");
        assert!(!validator.is_valid(&does_not), "{does_not} against {checking}");
    }

    #[test]
    fn references_lead_into_the_shared_set() {
        check(
            json!({"$ref": "#/components/schemas/No#de"}),
            json!({"v": 1, "next": {"v": 2, "next": {"v": 3}}}),
            json!({"v": 1, "next": {"v": 2, "next": {"v": "x"}}}),
        );
        let view = View::new(&resolve);
        assert!(Bundle::new(&view).add(&json!({"items": {"$ref": "#/nowhere"}})).is_err());
    }

    #[test]
    fn keywords_of_the_wrong_kind_are_not_enforced() {
        check(
            json!({"type": "string", "minLength": "3", "enum": [], "required": true, "items": null,
                "maxLength": 5, "multipleOf": 0, "format": "duration", "allOf": []}),
            json!("a"),
            json!("abcdefg"),
        );
        check(json!({"type": ["string", "null", "string"]}), json!(null), json!(1));
        check(
            json!({"properties": {"$ref": {"type": "string"}}}),
            json!({"$ref": "a"}),
            json!({"$ref": 1}),
        );
        check(json!({"enum": ["a"], "type": "file"}), json!("a"), json!("b"));
    }

    #[test]
    fn a_value_may_fit_several_members_of_a_union() {
        let role = json!({"oneOf": [{"enum": ["ADMIN"]}, {"type": "string"}]});
        check(role, json!("ADMIN"), json!(5));
        let both = json!({"anyOf": [{"type": "string"}, {"type": "integer"}],
            "oneOf": [{"enum": ["a", 1]}, {"type": "string"}, {"minLength": 1, "type": "string"}]});
        check(both.clone(), json!("a"), json!(2));
        check(both, json!(1), json!(false));
        let zones = json!({"oneOf": [
            {"properties": {"gateways": {"type": "array"}}}, {"properties": {"asns": {"type": "array"}}}]});
        check(zones, json!({"gateways": []}), json!({"gateways": 1, "asns": 1}));
        check(json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}), json!(1), json!("1"));
        let based = |more: Value| {
            json!({"allOf": [
            {"type": "object", "properties": {"kind": {"enum": ["A", "B"]}}, "required": ["kind"]}, {"properties": more}]})
        };
        let bases =
            json!({"oneOf": [based(json!({"a": {}})), based(json!({"b": {"type": "string"}}))]});
        check(bases, json!({"kind": "A"}), json!({"a": 1}));
    }

    #[test]
    fn a_value_fits_one_member_of_a_union_that_tells_its_members_apart() {
        let apart = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        check(apart, json!({"a": 1}), json!({"a": 1, "b": 1}));
        let named = json!({"oneOf": [
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {}}, "required": ["b"]}]});
        check(named, json!({"b": 1}), json!({"a": 1, "b": 1}));
        let kind = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
        check(json!({"oneOf": [kind("A"), kind("B")]}), json!({"kind": "A"}), json!({"kind": "C"}));
        let steps = json!({"oneOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "multipleOf": 5}]});
        check(steps, json!(9), json!(15));
    }

    #[test]
    fn a_union_of_any_size_costs_little() {
        let fan: Map<_, _> = (0..9)
            .map(|n| {
                let next = json!({"$ref": format!("#/components/schemas/L{}", (n + 1) % 9)});
                (format!("L{n}"), json!({"allOf": vec![next; 8]}))
            })
            .collect();
        let resolve =
            |reference: &str| Ok(Arc::new(fan[reference.rsplit('/').next().unwrap()].clone()));
        let view = View::new(&resolve);
        let one = json!({"oneOf": [{"$ref": "#/components/schemas/L0"}, {"type": "string", "minLength": 1}]});
        assert!(Bundle::new(&view).add(&one).unwrap().get("oneOf").is_some());
        let member = |n: usize| {
            let values: Vec<_> = (0..300).map(|value| n * 300 + value).collect();
            json!({"type": "object", "properties": {"k": {"enum": values}}, "required": ["k"]})
        };
        let wide = json!({"oneOf": (0..200).map(member).collect::<Vec<_>>()});
        assert!(Bundle::new(&view).add(&wide).unwrap().get("oneOf").is_some());
    }

    #[test]
    fn published_formats_are_asserted() {
        check(json!({"format": "uuid"}), json!("9c5b94b1-35ad-49bb-b118-8e8fc24abf80"), json!("x"));
        check(json!({"format": "date"}), json!("2025-01-31"), json!("31.1.2025"));
    }

    #[test]
    fn patterns_are_enforced_where_an_engine_takes_them() {
        check(json!({"pattern": "^(?!x)[a-z]+$"}), json!("abc"), json!("xabc"));
        let view = View::new(&resolve);
        let mut bundle = Bundle::new(&view);
        let checking = bundle.add(&json!({"pattern": "(", "type": "string"})).unwrap();
        assert_eq!(checking, json!({"type": "string"}));
        bundle.add(&json!({"pattern": "("})).unwrap();
        assert_eq!(bundle.take_unfit_patterns(), ["("]);
        let huge = bundle.add(&json!({"pattern": "(((\\w{1,200}){1,200}){1,200})"})).unwrap();
        assert_eq!(huge, json!({}));
    }
}
