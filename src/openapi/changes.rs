//! Which operations of a document another text of it adds, removes or changes.
//!
//! An operation is its key. It changed when anything of its own did, words included, or anything that
//! its references reach: this says where to look again, not what breaks.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Api, Operation, OperationKey, node::Node, reference};

/// What one text of a document has against another, in document order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Operations of the new one only.
    pub added: Vec<OperationKey>,
    /// Operations of the old one only.
    pub removed: Vec<OperationKey>,
    /// Operations of both that are not what they were.
    pub changed: Vec<OperationKey>,
}

/// From `old` to `new`. Pure.
pub fn changes(old: &Api, new: &Api) -> Changes {
    let before: HashMap<_, _> = old.operations().iter().map(|one| (&one.key, one)).collect();
    let now: HashSet<_> = new.operations().iter().map(|one| &one.key).collect();
    let mut changes = Changes::default();
    let mut walk = Walk { old: old.raw(), new: new.raw(), equal: HashMap::new() };
    for operation in new.operations() {
        match before.get(&operation.key) {
            None => changes.added.push(operation.key.clone()),
            Some(old) if !walk.same(old, operation) => changes.changed.push(operation.key.clone()),
            Some(_) => {}
        }
    }
    let gone = old.operations().iter().filter(|one| !now.contains(&one.key));
    changes.removed = gone.map(|one| one.key.clone()).collect();
    changes
}

struct Walk<'a> {
    old: &'a Value,
    new: &'a Value,
    /// Places that references lead to, by pointer: whether what stands there is the same, its own
    /// references left out; looked up only.
    equal: HashMap<String, bool>,
}

impl Walk<'_> {
    fn same(&mut self, old: &Operation, new: &Operation) -> bool {
        let (Some(before), Some(now)) =
            (Node::at(self.old, old.pointer.clone()), Node::at(self.new, new.pointer.clone()))
        else {
            return false;
        };
        let shared = |root: &Value, key: &OperationKey| {
            let item = root.get("paths").and_then(|paths| paths.get(&key.path));
            let part = |name| item.and_then(|item| item.get(name)).cloned();
            (part("parameters"), part("servers"), part("$ref"), root.get("servers").cloned())
        };
        let (old_shared, new_shared) = (shared(self.old, &old.key), shared(self.new, &new.key));
        if before.value != now.value || old_shared != new_shared {
            return false;
        }
        let mut pending = references(before.value);
        old_shared.0.iter().for_each(|shared| pending.extend(references(shared)));
        pending.extend(old_shared.2.as_ref().and_then(Value::as_str).map(str::to_owned));
        self.same_below(pending)
    }

    /// Whether everything that equal references reach is equal.
    fn same_below(&mut self, mut pending: Vec<String>) -> bool {
        let mut seen = HashSet::new();
        while let Some(found) = pending.pop() {
            let Ok(pointer) = reference::pointer(&found) else { continue };
            if !seen.insert(pointer.clone()) {
                continue;
            }
            let (before, now) = (self.old.pointer(&pointer), self.new.pointer(&pointer));
            if !*self.equal.entry(pointer).or_insert_with(|| before == now) {
                return false;
            }
            before.iter().for_each(|target| pending.extend(references(target)));
        }
        true
    }
}

/// Every `$ref` below a value. One that is only data is followed in vain and does no harm.
fn references(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut values = vec![value];
    while let Some(value) = values.pop() {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
                values.extend(Map::values(map));
            }
            Value::Array(items) => values.extend(items),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::{parse, text::Text};

    fn api(paths: &str, size: u32) -> Api {
        let text = format!(
            "openapi: 3.0.3
info: {{ title: t, version: '1' }}
paths: {{ {paths} }}
components:
  schemas:
    A: {{ type: object, properties: {{ b: {{ $ref: '#/components/schemas/B' }}, a: {{ $ref: '#/components/schemas/A' }} }} }}
    B: {{ type: string, maxLength: {size} }}
"
        );
        parse(&Text::new("a.yaml", text.as_bytes()).unwrap()).unwrap()
    }

    fn get(path: &str, schema: &str) -> String {
        let content = format!("{{ application/json: {{ schema: {schema} }} }}");
        format!(
            "{path}: {{ get: {{ responses: {{ '200': {{ description: ok, content: {content} }} }} }} }}"
        )
    }

    fn check(old: &Api, new: &Api, expected: [&str; 3]) {
        let Changes { added, removed, changed } = changes(old, new);
        let shown = [added, removed, changed]
            .map(|keys| keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        assert_eq!(shown, expected);
    }

    #[test]
    fn operations_are_compared_with_everything_they_reach() {
        let reaching = get("/a", "{ $ref: '#/components/schemas/A' }");
        let plain = get("/b", "{ type: string }");
        let both = format!("{reaching}, {plain}");
        check(&api(&both, 1), &api(&both, 1), ["", "", ""]);
        check(&api(&both, 1), &api(&both, 2), ["", "", "GET /a"]);
        check(&api(&reaching, 1), &api(&plain, 1), ["GET /b", "GET /a", ""]);
        let other = get("/b", "{ type: integer }");
        check(&api(&plain, 1), &api(&other, 1), ["", "", "GET /b"]);
        let shared =
            plain.replace("get:", "parameters: [{ name: q, in: query, schema: {} }], get:");
        check(&api(&plain, 1), &api(&shared, 1), ["", "", "GET /b"]);
    }
}
