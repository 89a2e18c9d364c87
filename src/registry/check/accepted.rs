//! What a tool accepts, as JSON Schema that stands alone.
//!
//! A checker keeps its schemas apart: the arguments, what must be given, the rules of the whole body,
//! and one set of `$defs` for all tools of a toolset. Whoever wants to look at them, or to hold them
//! against another validator, gets them here in one piece. Nothing is checked with what is made here.

use serde_json::{Map, Value, json};

use super::{Checker, Place, cost::Schema};
use crate::registry::bundle;

/// The schemas of one tool, each complete with the `$defs` it reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// What the arguments obey, in JSON Schema 2020-12. What fits is accepted as it is, but for `null`,
    /// which counts as not given where it is no field of a body.
    pub arguments: Value,
    /// What the body obeys besides, once it is built under its names on the wire.
    pub body: Option<Value>,
}

impl Checker {
    /// What it accepts, in one piece. Arguments that are refused here may still be taken, as what they were meant to be.
    pub fn accepted(&self) -> Accepted {
        let parts = self.accepts();
        let mut arguments = parts.arguments.as_object().cloned().unwrap_or_default();
        if !parts.required.is_empty() {
            arguments.insert("required".into(), json!(parts.required));
        }
        if !parts.together.is_empty() {
            let fields = self.arguments.iter().filter(|one| one.place == Place::Field);
            let each = fields.map(|field| (field.name.clone(), json!(parts.together)));
            arguments.insert("dependentRequired".into(), Value::Object(each.collect()));
        }
        if !parts.one_of.is_empty() {
            let each = parts.one_of.iter().map(|name| json!({ "required": [name] }));
            arguments.insert("anyOf".into(), each.collect());
        }
        Accepted {
            arguments: self.schema.alone(Value::Object(arguments)),
            body: parts.rules.map(|rules| self.schema.alone(rules.clone())),
        }
    }
}

impl Schema {
    /// A schema with the `$defs` it reaches, all references within it.
    fn alone(&self, mut schema: Value) -> Value {
        let mut pending = Vec::new();
        turn(&mut schema, &mut pending);
        let mut defs = Map::new();
        while let Some(name) = pending.pop() {
            let Some(found) = self.defs.get(&name).filter(|_| !defs.contains_key(&name)) else {
                continue;
            };
            let mut found = found.clone();
            turn(&mut found, &mut pending);
            defs.insert(name, found);
        }
        if let Some(map) = schema.as_object_mut().filter(|_| !defs.is_empty()) {
            map.insert("$defs".into(), Value::Object(defs));
        }
        schema
    }
}

/// Turns references into the shared set inwards, and notes where they lead.
fn turn(schema: &mut Value, pending: &mut Vec<String>) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| turn(item, pending)),
        Value::Object(map) => {
            for (word, value) in map {
                let shared = value.as_str().filter(|_| word == "$ref").and_then(bundle::shared);
                match shared.map(str::to_owned) {
                    Some(name) => {
                        *value = format!("#/$defs/{name}").into();
                        pending.push(name);
                    }
                    None => turn(value, pending),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::sample::Sample;

    #[test]
    fn a_schema_stands_alone_with_what_must_be_given() {
        let memo = json!({ "$ref": "#/components/schemas/Memo" });
        let sample = Sample::new("POST /memos/{memo}").body("application/json!", memo);
        let Accepted { arguments, body } = sample.checker().accepted();
        assert_eq!(arguments["required"], json!(["memo", "content", "state"]));
        assert_eq!(body, None);
        let validator = jsonschema::draft202012::new(&arguments).unwrap();
        assert!(validator.is_valid(&json!({ "memo": "a", "content": "b", "state": "NORMAL" })));
        assert!(!validator.is_valid(&json!({ "memo": "a", "content": "b" })));
        assert!(!arguments.to_string().contains("toolgate:"));
    }

    #[test]
    fn recursion_ends() {
        let deep = json!({ "properties": { "a": { "$ref": "#/components/schemas/Deep30" } } });
        let sample = Sample::new("POST /x").body("application/json!", deep);
        let schema = sample.checker().accepted().arguments;
        assert!(schema["$defs"].as_object().is_some_and(|defs| defs.len() > 5));
        assert!(jsonschema::draft202012::new(&schema).is_ok());
    }

    #[test]
    fn rules_between_arguments_are_said() {
        let body = json!({ "properties": { "a": {}, "b": {} }, "required": ["a"] });
        let optional = Sample::new("POST /x").body("application/json", body.clone());
        let said = optional.checker().accepted().arguments;
        assert_eq!(said["dependentRequired"], json!({ "a": ["a"], "b": ["a"] }));
        let patch = Sample::new("PATCH /x").body("application/json!", body);
        let said = patch.checker().accepted().arguments;
        assert_eq!(said["anyOf"], json!([{ "required": ["a"] }, { "required": ["b"] }]));
        let either = json!([{ "required": ["a"] }, { "required": ["b"] }]);
        let rules = json!({ "properties": { "a": {}, "b": {} }, "anyOf": either });
        let whole = Sample::new("POST /x").body("application/json!", rules);
        assert_eq!(
            whole.checker().accepted().body,
            Some(json!({ "allOf": [{ "anyOf": either }] }))
        );
    }
}
