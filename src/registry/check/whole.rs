//! Rules that speak of all fields of a body together.
//!
//! They hold on the body as it will be built, under its names on the wire; what is said of it names
//! the arguments. What each field must be alone is not looked at here.

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::{fault, words};
use crate::registry::plan::{ArgumentFault, Source};

/// The rules of one body.
#[derive(Debug)]
pub(super) struct Whole {
    /// Compiled from `rules`.
    pub(super) validator: Validator,
    /// The schema of the rules, as the bundle made it.
    pub(super) rules: Value,
    /// The fields with their names on the wire.
    pub(super) fields: Vec<(String, Source)>,
    /// A body is sent although no field is given.
    pub(super) required: bool,
}

impl Whole {
    /// What the body made of these arguments breaks; `extra` are those that are no argument.
    pub(super) fn faults<'a>(
        &self,
        arguments: &Map<String, Value>,
        extra: impl Iterator<Item = (&'a String, &'a Value)>,
    ) -> Vec<ArgumentFault> {
        let mut body = Map::new();
        for (name, source) in &self.fields {
            if let Some(value) = source.value(arguments) {
                body.insert(name.clone(), value.into_owned());
            }
        }
        body.extend(extra.map(|(name, value)| (name.clone(), value.clone())));
        if body.is_empty() && !self.required {
            return Vec::new();
        }
        if let Some(fault) = self.rules().find_map(|rule| self.several(rule, &body)) {
            return vec![fault];
        }
        words::faults(&self.validator, &Value::Object(body))
    }

    fn rules(&self) -> impl Iterator<Item = &Value> {
        self.rules.get("allOf").and_then(Value::as_array).into_iter().flatten()
    }

    /// Fields that exclude each other, given together: the validator counts the forms, this names them.
    fn several(&self, rule: &Value, body: &Map<String, Value>) -> Option<ArgumentFault> {
        let members = rule.get("oneOf")?.as_array()?;
        let forms: Option<Vec<Vec<&str>>> = members.iter().map(names).collect();
        let forms = forms?;
        let is_given = |form: &&Vec<&str>| form.iter().all(|name| body.contains_key(*name));
        let given: Vec<&Vec<&str>> = forms.iter().filter(is_given).collect();
        if given.len() < 2 {
            return None;
        }
        let shown = |form: &Vec<&str>| words::list(form.iter().map(|name| self.argument(name)));
        let all: Vec<String> = forms.iter().map(shown).collect();
        let words = format!("expected only one of these together: {}", all.join("; or "));
        Some(fault("", words))
    }

    /// What the caller calls a field.
    fn argument<'a>(&'a self, wire: &'a str) -> &'a str {
        let known = self.fields.iter().find(|(name, _)| name == wire);
        known.and_then(|(_, source)| source.argument()).unwrap_or(wire)
    }
}

/// The names that a schema requires; `None` when it says anything else.
fn names(schema: &Value) -> Option<Vec<&str>> {
    let map = schema
        .as_object()
        .filter(|map| map.keys().all(|key| key == "required" || key == "type"))?;
    map.get("required")?.as_array()?.iter().map(Value::as_str).collect()
}
