//! Schemas as a request sees them: without what only replies hold.
//!
//! A property marked `readOnly` leaves its object, also from `required`, through `allOf` and in
//! nested schemas. References stay; [`View::get`] gives their targets the same treatment, once each,
//! so that the checking schema and the published one see the same thing.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{object::is_null, portable::Resolve};
use crate::openapi::Fault;

/// References and `allOf` in a row that are followed; a longer chain says nothing more.
const DEPTH: usize = 16;
/// Members that are put in the place of their references within one; real ones have a few.
const PLACES: usize = 100;

/// The request's view of one document's schemas.
pub(super) struct View<'a> {
    resolve: Resolve<'a>,
    /// Looked up by reference only, never walked: its order reaches nobody.
    seen: RefCell<HashMap<String, Arc<Value>>>,
    /// Members put in place within each other; schemas may refer to themselves.
    put_in_place: Cell<usize>,
    /// How many more may be put in place within the outermost: within each other they multiply.
    places: Cell<usize>,
}

impl<'a> View<'a> {
    /// A view of the schemas that `resolve` finds.
    pub(super) fn new(resolve: Resolve<'a>) -> Self {
        Self {
            resolve,
            seen: RefCell::default(),
            put_in_place: Cell::new(0),
            places: Cell::new(PLACES),
        }
    }

    /// The target of a reference.
    pub(super) fn get(&self, reference: &str) -> Result<Arc<Value>, Fault> {
        if let Some(schema) = self.seen.borrow().get(reference) {
            return Ok(schema.clone());
        }
        let schema = (self.resolve)(reference)?;
        let schema = Arc::new(self.of(&schema));
        self.seen.borrow_mut().insert(reference.to_owned(), schema.clone());
        Ok(schema)
    }

    /// A schema, its references kept.
    pub(super) fn of(&self, schema: &Value) -> Value {
        self.without(schema, &[])
    }

    /// What a schema's references lead to: the first node that is no reference alone.
    pub(super) fn follow(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..DEPTH {
            let target = schema.get("$ref").and_then(Value::as_str).map(|r| self.get(r));
            let Some(Ok(target)) = target else { break };
            schema = beside(&target, &schema);
        }
        schema
    }

    /// What a schema comes to behind references, an `allOf` of one, and a union of one beside `null`.
    pub(super) fn core(&self, schema: &Value) -> Value {
        let mut schema = self.follow(schema);
        for _ in 0..DEPTH {
            let Some(only) = only_member(&schema) else { break };
            schema = self.follow(only);
        }
        schema
    }

    /// `outer` are names that are read only in a schema around this one, which it speaks of too.
    fn without(&self, schema: &Value, outer: &[String]) -> Value {
        let Value::Object(map) = schema else {
            return schema.clone();
        };
        let mut names = outer.to_vec();
        names.extend(self.read_only(map));
        Value::Object(map.iter().map(|(k, v)| (k.clone(), self.keyword(k, v, &names))).collect())
    }

    fn keyword(&self, keyword: &str, value: &Value, names: &[String]) -> Value {
        match (keyword, value) {
            ("properties", Value::Object(map)) => {
                let kept = map.iter().filter(|(name, _)| !names.contains(name));
                Value::Object(kept.map(|(name, schema)| (name.clone(), self.of(schema))).collect())
            }
            ("patternProperties" | "dependentSchemas", Value::Object(map)) => Value::Object(
                map.iter().map(|(name, schema)| (name.clone(), self.of(schema))).collect(),
            ),
            ("required", Value::Array(list)) => {
                let kept = |name: &&Value| !name.as_str().is_some_and(|n| has(names, n));
                Value::Array(list.iter().filter(kept).cloned().collect())
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(members)) => {
                Value::Array(members.iter().map(|member| self.member(member, names)).collect())
            }
            ("prefixItems", Value::Array(items)) => {
                Value::Array(items.iter().map(|item| self.of(item)).collect())
            }
            ("items" | "additionalProperties" | "contains" | "unevaluatedItems", _) => {
                self.of(value)
            }
            _ => value.clone(),
        }
    }

    /// A member is put in the place of its reference only when it requires a name that is read only
    /// outside of it, which its own target cannot know.
    fn member(&self, member: &Value, names: &[String]) -> Value {
        if member.get("$ref").is_none() {
            return self.without(member, names);
        }
        let target = self.raw(member);
        let own = target.as_object().map(|map| self.read_only(map)).unwrap_or_default();
        let unknown: Vec<String> = names.iter().filter(|n| !has(&own, n)).cloned().collect();
        if self.put_in_place.get() == 0 {
            self.places.set(PLACES);
        }
        let spent = self.put_in_place.get() >= DEPTH || self.places.get() == 0;
        if spent || !requires(&target, &unknown) {
            return member.clone();
        }
        self.places.update(|left| left - 1);
        self.put_in_place.update(|depth| depth + 1);
        let placed = self.without(&target, names);
        self.put_in_place.update(|depth| depth - 1);
        placed
    }

    /// Names of the properties that only replies hold, each once.
    fn read_only(&self, schema: &Map<String, Value>) -> Vec<String> {
        let mut names = Vec::new();
        self.collect_read_only(schema, &mut names, &mut Trail::default());
        names
    }

    fn collect_read_only(
        &self,
        schema: &Map<String, Value>,
        names: &mut Vec<String>,
        trail: &mut Trail,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if self.is_read_only(property, &mut Trail::default()) && !has(names, name) {
                names.push(name.clone());
            }
        }
        for member in members(schema) {
            if trail.depth < DEPTH
                && trail.is_new(member)
                && let Some(member) = self.raw(member).as_object()
            {
                trail.depth += 1;
                self.collect_read_only(member, names, trail);
                trail.depth -= 1;
            }
        }
    }

    fn is_read_only(&self, property: &Value, trail: &mut Trail) -> bool {
        if property.get("readOnly") == Some(&Value::Bool(true)) {
            return true;
        }
        let Some(map) = property.as_object().filter(|_| trail.depth < DEPTH) else {
            return false;
        };
        trail.depth += 1;
        let behind = map.contains_key("$ref")
            && trail.is_new(property)
            && self.is_read_only(&self.raw(property), trail);
        let found = behind || members(map).any(|member| self.is_read_only(member, trail));
        trail.depth -= 1;
        found
    }

    /// What a reference leads to, as the document has it.
    fn raw(&self, schema: &Value) -> Arc<Value> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| (self.resolve)(reference).ok());
        target.unwrap_or_else(|| Arc::new(schema.clone()))
    }
}

/// Where one walk has been. Each reference is followed once: schemas that share members by the dozen
/// would take for ever otherwise.
#[derive(Default)]
struct Trail {
    followed: HashSet<String>,
    depth: usize,
}

impl Trail {
    /// Whether this schema is no reference, or one not followed before.
    fn is_new(&mut self, schema: &Value) -> bool {
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.is_none_or(|reference| self.followed.insert(reference.to_owned()))
    }
}

fn members(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    schema.get("allOf").and_then(Value::as_array).into_iter().flatten()
}

/// The one member of a schema that is nothing but a wrap around it.
fn only_member(schema: &Value) -> Option<&Value> {
    let map = schema.as_object()?;
    let wraps = ["allOf", "anyOf", "oneOf"].into_iter().filter(|word| map.contains_key(*word));
    let [word] = wraps.collect::<Vec<_>>()[..] else { return None };
    if ["type", "properties", "items", "enum"].into_iter().any(|other| map.contains_key(other)) {
        return None;
    }
    let members = map.get(word)?.as_array()?;
    let mut members = members.iter().filter(|member| !is_null(member));
    members.next().filter(|_| members.next().is_none())
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

fn requires(schema: &Value, names: &[String]) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).any(|name| has(names, name))
}

/// The target with what stands beside the reference to it.
fn beside(target: &Value, schema: &Value) -> Value {
    let (Some(target_map), Some(siblings)) = (target.as_object(), schema.as_object()) else {
        return target.clone();
    };
    let mut merged = target_map.clone();
    for (keyword, value) in siblings.iter().filter(|(keyword, _)| *keyword != "$ref") {
        merged.insert(keyword.clone(), value.clone());
    }
    Value::Object(merged)
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "cases are written as values")]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, expected: Value) {
        let resolve = |reference: &str| {
            let target = match reference {
                "#/User" => json!({"required": ["id"], "properties": {
                    "id": {"readOnly": true}, "name": {}}}),
                "#/NeedsId" => json!({"required": ["id", "x"]}),
                "#/ReadOnly" => json!({"type": "string", "readOnly": true}),
                _ => return Err(Fault { pointer: String::new(), words: "none".into() }),
            };
            Ok(Arc::new(target))
        };
        let view = View::new(&resolve);
        assert_eq!(view.of(&schema), expected);
        assert_eq!(
            *view.get("#/User").unwrap(),
            json!({"required": [], "properties": {"name": {}}})
        );
    }

    #[test]
    fn read_only_properties_leave_requests() {
        check(
            json!({"properties": {"id": {"readOnly": true}, "a": {}}, "required": ["id", "a"]}),
            json!({"properties": {"a": {}}, "required": ["a"]}),
        );
        check(
            json!({"items": {"properties": {"id": {"readOnly": true}}}}),
            json!({"items": {"properties": {}}}),
        );
    }

    #[test]
    fn read_only_is_seen_behind_references() {
        check(json!({"properties": {"a": {"$ref": "#/ReadOnly"}}}), json!({"properties": {}}));
        check(
            json!({"properties": {"a": {"allOf": [{"$ref": "#/ReadOnly"}]}}}),
            json!({"properties": {}}),
        );
    }

    #[test]
    fn a_member_that_requires_a_read_only_name_is_put_in_place() {
        check(
            json!({"allOf": [{"$ref": "#/User"}, {"$ref": "#/NeedsId"}, {"required": ["id"]}]}),
            json!({"allOf": [{"$ref": "#/User"}, {"required": ["x"]}, {"required": []}]}),
        );
    }

    /// Each of 12 schemas is all the others and more, so that there are 11¹⁶ ways through them.
    fn clique(more: Value) -> impl Fn(&str) -> Result<Arc<Value>, Fault> {
        move |_: &str| {
            let mut schema = more.clone();
            let others = (0..12).map(|n| json!({ "$ref": format!("#/{n}") }));
            schema["allOf"] = others.collect();
            Ok(Arc::new(schema))
        }
    }

    #[test]
    fn schemas_that_are_all_each_other_are_read_once() {
        let resolve = clique(json!({"properties": {"id": {"readOnly": true}, "a": {}}}));
        let seen = View::new(&resolve).get("#/0").unwrap();
        assert_eq!(seen["properties"], json!({"a": {}}));
        let resolve = clique(json!({"type": "string"}));
        let schema = json!({"properties": {"a": {"$ref": "#/0"}}});
        assert_eq!(View::new(&resolve).of(&schema), schema);
    }

    #[test]
    fn members_put_in_place_end_somewhere() {
        let resolve = clique(json!({"required": ["id"]}));
        let schema = json!({"properties": {"id": {"readOnly": true}}, "allOf": [{"$ref": "#/0"}]});
        let seen = View::new(&resolve).of(&schema);
        assert_eq!(seen["allOf"][0]["required"], json!([]));
    }

    #[test]
    fn a_property_named_like_a_keyword_is_no_keyword() {
        let schema = json!({"properties": {"readOnly": {"type": "boolean"}, "required": {}}});
        check(schema.clone(), schema);
    }
}
