//! What the validators of one toolset come to.
//!
//! Each tool's validator is compiled with everything its schema reaches, although the schemas are
//! shared. A short document in which every schema reaches every other one, with many operations on
//! them, would take gigabytes: the nodes are counted beforehand and bounded in all.

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use serde_json::{Map, Value};

/// Nodes that the validators of one toolset may have; each takes some 700 bytes. No real document seen
/// so far needs as many.
const NODES: usize = 500_000;

/// The shared schemas by weight, and what is left of the bound.
#[derive(Debug)]
pub(super) struct Scale {
    defs: HashMap<String, Weight>,
    left: Cell<usize>,
}

/// One schema, without what its references lead to.
#[derive(Debug, Default)]
struct Weight {
    nodes: usize,
    references: Vec<String>,
}

impl Scale {
    /// A scale for tools over these shared schemas.
    pub(super) fn new(defs: &Map<String, Value>) -> Self {
        let defs = defs.iter().map(|(name, schema)| (name.clone(), Weight::of(schema)));
        Self { defs: defs.collect(), left: Cell::new(NODES) }
    }

    /// Takes what a validator of this schema needs.
    ///
    /// # Errors
    /// In words, when that is more than is left.
    pub(super) fn take(&self, schema: &Value) -> Result<(), String> {
        let nodes = self.reach(schema);
        let left = self.left.get().checked_sub(nodes).ok_or_else(|| {
            format!(
                "the schemas of this allowlist's tools come to over {NODES} nodes, {nodes} of them for this one; allow fewer operations"
            )
        })?;
        self.left.set(left);
        Ok(())
    }

    fn reach(&self, schema: &Value) -> usize {
        let own = Weight::of(schema);
        let mut nodes = own.nodes;
        let mut pending: Vec<&str> = own.references.iter().map(String::as_str).collect();
        let mut seen = HashSet::new();
        while let Some(name) = pending.pop() {
            if seen.insert(name)
                && let Some(weight) = self.defs.get(name)
            {
                nodes += weight.nodes;
                pending.extend(weight.references.iter().map(String::as_str));
            }
        }
        nodes
    }
}

impl Weight {
    fn of(schema: &Value) -> Self {
        let mut weight = Self::default();
        weight.add(schema);
        weight
    }

    /// Names in an enumeration count as well: they take their space.
    fn add(&mut self, node: &Value) {
        self.nodes += 1;
        match node {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    let name = reference.rsplit('/').next().unwrap_or_default();
                    self.references.push(name.to_owned());
                }
                map.values().for_each(|below| self.add(below));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_schema_reaches_counts_once_for_each_tool() {
        let reference =
            |name: &str| json!({ "$ref": format!("toolgate:///schemas#/$defs/{name}") });
        let defs = json!({
            "a": { "anyOf": [reference("b"), reference("b"), reference("a")] },
            "b": { "enum": vec![0; NODES / 2 - 20] },
        });
        let scale = Scale::new(defs.as_object().unwrap());
        assert_eq!(scale.reach(&json!({ "type": "string" })), 2);
        assert_eq!(scale.reach(&reference("a")), NODES / 2 - 20 + 2 + 8 + 2);
        assert_eq!(scale.take(&reference("a")), Ok(()));
        assert_eq!(scale.take(&reference("b")), Ok(()));
        let words = scale.take(&reference("a")).unwrap_err();
        assert!(words.contains("allow fewer operations"), "{words}");
        assert_eq!(scale.take(&json!({ "type": "string" })), Ok(()));
    }
}
