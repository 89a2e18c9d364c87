//! An object schema as a list of fields.
//!
//! `allOf` is merged, a union of one is unwrapped, and members that only add `required` are kept as
//! rules of the whole. Anything that is not plainly an object with known fields (arrays, scalars,
//! real unions, free-form maps) is not read as one.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::view::View;
use crate::openapi::Fault;

/// `allOf` and references within each other; deeper ones are no plain object.
const DEPTH: usize = 16;

/// The fields of an object schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object {
    /// Name and schema, in schema order.
    pub(super) fields: Vec<(String, Value)>,
    /// Names that must be given, each once.
    pub(super) required: Vec<String>,
    /// Names that are no field.
    pub(super) extra: Extra,
    /// What else the whole must obey, each a schema of its own.
    pub(super) rules: Vec<Value>,
    /// Whether anything said that this is an object with known fields.
    known: bool,
    /// References met, and whether what they lead to was read to its end as a plain object. Each is
    /// read once: saying the same twice adds nothing, and shared members multiply.
    met: HashMap<String, bool>,
}

/// What a schema says of names that are no field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Extra {
    /// Nothing.
    #[default]
    Unsaid,
    /// There are none.
    Refused,
    /// They are as this schema says.
    Schema(Value),
}

/// Reads a schema as an object of known fields; `None` when it is anything else.
///
/// # Errors
/// When a reference leads nowhere.
pub(super) fn read(view: &View<'_>, schema: &Value) -> Result<Option<Object>, Fault> {
    let mut object = Object::default();
    let plain = object.gather(view, schema, DEPTH)?;
    object.declare();
    Ok(Some(object).filter(|object| plain && object.known))
}

impl Object {
    /// Adds what a schema says; `false` when it is no plain object.
    fn gather(&mut self, view: &View<'_>, schema: &Value, depth: usize) -> Result<bool, Fault> {
        let Some(map) = schema.as_object().filter(|_| depth > 0) else {
            return Ok(schema == &Value::Bool(true));
        };
        if !may_be_object(map.get("type")) {
            return Ok(false);
        }
        for (keyword, value) in map {
            if !self.keyword(view, (keyword, value), depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn keyword(
        &mut self,
        view: &View<'_>,
        (keyword, value): (&str, &Value),
        depth: usize,
    ) -> Result<bool, Fault> {
        match (keyword, value) {
            ("$ref", Value::String(reference)) => return self.follow(view, reference, depth),
            ("allOf", Value::Array(members)) => return self.all(view, members, depth),
            ("anyOf" | "oneOf", Value::Array(members)) => {
                return self.union(view, (keyword, members), depth);
            }
            ("properties", Value::Object(properties)) => self.properties(properties),
            ("required", Value::Array(names)) => self.require(names),
            ("additionalProperties" | "unevaluatedProperties", _) => self.extra(keyword, value),
            ("not" | "minProperties" | "maxProperties" | "dependentRequired", _) => {
                self.rules.push(json!({ keyword: value }));
            }
            ("enum" | "const" | "if" | "patternProperties" | "propertyNames", _) => {
                return Ok(false);
            }
            ("dependentSchemas", _) => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn follow(&mut self, view: &View<'_>, reference: &str, depth: usize) -> Result<bool, Fault> {
        if let Some(plain) = self.met.get(reference) {
            return Ok(*plain);
        }
        self.met.insert(reference.to_owned(), false);
        let plain = self.gather(view, &*view.get(reference)?, depth - 1)?;
        self.met.insert(reference.to_owned(), plain);
        Ok(plain)
    }

    fn all(&mut self, view: &View<'_>, members: &[Value], depth: usize) -> Result<bool, Fault> {
        for member in members {
            if !self.gather(view, member, depth - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One member beside `null` is that member; members that only require names are a rule.
    fn union(
        &mut self,
        view: &View<'_>,
        (keyword, members): (&str, &[Value]),
        depth: usize,
    ) -> Result<bool, Fault> {
        let members: Vec<&Value> = members.iter().filter(|member| !is_null(member)).collect();
        if let [only] = members.as_slice() {
            return self.gather(view, only, depth - 1);
        }
        let only_requires = members.iter().all(|member| is_requirement(member));
        if only_requires {
            self.rules.push(json!({ keyword: members }));
        }
        Ok(only_requires)
    }

    fn properties(&mut self, properties: &Map<String, Value>) {
        self.known = true;
        for (name, schema) in properties {
            match self.fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) if known == schema => {}
                Some((_, known)) => *known = json!({ "allOf": [known.take(), schema] }),
                None => self.fields.push((name.clone(), schema.clone())),
            }
        }
    }

    fn require(&mut self, names: &[Value]) {
        for name in names.iter().filter_map(Value::as_str) {
            if !self.required.iter().any(|known| known == name) {
                self.required.push(name.to_owned());
            }
        }
    }

    /// A name that must be given is a field, whether or not anything more is said of it: else nobody
    /// could give it. Where it is refused at the same time, nothing can be done.
    fn declare(&mut self) {
        let schema = match &self.extra {
            Extra::Refused => return,
            Extra::Unsaid | Extra::Schema(Value::Bool(_)) => json!({}),
            Extra::Schema(schema) => schema.clone(),
        };
        for name in &self.required {
            if self.fields.iter().all(|(known, _)| known != name) {
                self.fields.push((name.clone(), schema.clone()));
            }
        }
    }

    /// What is written out wins over what is refused: in an `allOf` each member refuses the others' names.
    fn extra(&mut self, keyword: &str, value: &Value) {
        match value {
            Value::Bool(false) => {
                self.known |= keyword == "additionalProperties";
                if self.extra == Extra::Unsaid {
                    self.extra = Extra::Refused;
                }
            }
            Value::Bool(true) | Value::Object(_) => self.extra = Extra::Schema(value.clone()),
            _ => {}
        }
    }
}

/// Absent, `object`, or `object` and `null`.
fn may_be_object(kind: Option<&Value>) -> bool {
    let fits = |word: &Value| word == "object" || word == "null";
    match kind {
        None => true,
        Some(Value::Array(words)) => words.iter().all(fits) && words.iter().any(|w| w == "object"),
        Some(word) => word == "object",
    }
}

/// A schema that only `null` fits.
pub(super) fn is_null(schema: &Value) -> bool {
    let only = |list: &Value| list.as_array().is_some_and(|l| l.iter().all(Value::is_null));
    schema.get("type").is_some_and(|kind| kind == "null")
        || schema.get("const").is_some_and(Value::is_null)
        || schema.get("enum").is_some_and(only)
}

/// A schema that says which names go together, and nothing else.
fn is_requirement(schema: &Value) -> bool {
    let says = |keyword: &String| {
        matches!(keyword.as_str(), "required" | "title" | "description" | "type" | "not")
    };
    schema.as_object().is_some_and(|map| {
        may_be_object(map.get("type"))
            && map.keys().all(says)
            && map.get("not").is_none_or(is_requirement)
            && (map.contains_key("required") || map.contains_key("not"))
    })
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "cases are written as values")]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn object(schema: &Value) -> Option<Object> {
        let resolve = |reference: &str| match reference {
            "#/A" => Ok(Arc::new(json!({"type": "object", "properties": {"a": {}},
                "required": ["a"]}))),
            "#/Loop" => Ok(Arc::new(json!({"allOf": [{"$ref": "#/Loop"}]}))),
            _ => Err(Fault { pointer: String::new(), words: "none".into() }),
        };
        read(&View::new(&resolve), schema).unwrap()
    }

    fn check(schema: Value, fields: &[&str], required: &[&str]) {
        let object = object(&schema).unwrap_or_else(|| panic!("no object: {schema}"));
        let names: Vec<&str> = object.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, fields);
        assert_eq!(object.required, required);
    }

    #[test]
    fn objects_of_known_fields_are_read() {
        check(
            json!({"properties": {"x": {}, "y": {}}, "required": ["y", "y"]}),
            &["x", "y"],
            &["y"],
        );
        check(json!({"$ref": "#/A"}), &["a"], &["a"]);
        check(json!({"allOf": [{"$ref": "#/A"}, {"properties": {"b": {}}}]}), &["a", "b"], &["a"]);
        check(json!({"anyOf": [{"$ref": "#/A"}, {"type": "null"}]}), &["a"], &["a"]);
        check(json!({"oneOf": [{"$ref": "#/A"}]}), &["a"], &["a"]);
        check(json!({"type": ["object", "null"], "properties": {}}), &[], &[]);
        check(json!({"type": "object", "additionalProperties": false}), &[], &[]);
    }

    #[test]
    fn a_name_that_must_be_given_is_a_field() {
        check(json!({"properties": {"a": {}}, "required": ["b"]}), &["a", "b"], &["b"]);
        let said = object(
            &json!({"properties": {"a": {}}, "required": ["b"], "additionalProperties": {"type": "string"}}),
        );
        assert_eq!(said.unwrap().fields[1], ("b".to_owned(), json!({"type": "string"})));
        let refused =
            json!({"properties": {"a": {}}, "required": ["b"], "additionalProperties": false});
        check(refused, &["a"], &["b"]);
    }

    #[test]
    fn anything_else_is_no_plain_object() {
        let check = |schema| assert_eq!(object(&schema), None, "{schema}");
        check(json!({"type": "array"}));
        check(json!({"type": "string"}));
        check(json!({"type": "object"}));
        check(json!({}));
        check(json!({"type": "object", "additionalProperties": {"type": "string"}}));
        check(json!({"oneOf": [{"$ref": "#/A"}, {"properties": {"b": {}}}]}));
        check(json!({"$ref": "#/Loop"}));
        check(json!({"properties": {"a": {}}, "patternProperties": {"^x": {}}}));
        check(json!({"type": ["object", "string"], "properties": {"a": {}}}));
    }

    /// Seven levels, each eight times the next: there are two million ways through them.
    #[test]
    fn a_schema_met_again_is_not_read_again() {
        let resolve = |reference: &str| {
            let n: usize = reference.trim_start_matches("#/").parse().unwrap();
            let next = json!({ "$ref": format!("#/{}", (n + 1)) });
            let schema = match n {
                14 => json!({"properties": {"a": {}}}),
                _ => json!({"allOf": vec![next; 8]}),
            };
            Ok(Arc::new(schema))
        };
        let object = read(&View::new(&resolve), &json!({"$ref": "#/7"})).unwrap().unwrap();
        assert_eq!(object.fields, [("a".to_owned(), json!({}))]);
    }

    #[test]
    fn members_that_only_require_are_rules() {
        let union = json!([{"required": ["a"]}, {"required": ["b"]}]);
        let schema = json!({"properties": {"a": {}, "b": {}}, "anyOf": union});
        assert_eq!(object(&schema).unwrap().rules, [json!({"anyOf": union})]);
    }

    #[test]
    fn a_field_said_twice_obeys_both() {
        let schema = json!({"allOf": [
            {"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"maxLength": 3}}}]});
        let expected = json!({"allOf": [{"type": "string"}, {"maxLength": 3}]});
        assert_eq!(object(&schema).unwrap().fields, [("a".to_owned(), expected)]);
    }

    #[test]
    fn extra_names_only_when_written_out() {
        let extra = |more: Value| {
            let mut schema = json!({"properties": {"a": {}}});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            object(&schema).unwrap().extra
        };
        assert_eq!(extra(json!({})), Extra::Unsaid);
        assert_eq!(extra(json!({"additionalProperties": false})), Extra::Refused);
        assert_eq!(extra(json!({"additionalProperties": true})), Extra::Schema(true.into()));
    }
}
