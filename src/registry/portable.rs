//! The portable profile: the projection of a schema that every known client accepts.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::openapi::Fault;

/// Finds the target of a local reference, as [`crate::openapi::Api::schema`] does.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Result<Arc<Value>, Fault>;

/// What a schema became, and what was left out on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// The portable schema: `{type: object, properties: …}`.
    pub schema: Map<String, Value>,
    /// How many nodes were cut for depth or size.
    pub cut: usize,
}

/// The input profile of an object schema (2020-12, references allowed): at most 16 kB, depth 6.
pub fn input(schema: &Value, resolve: Resolve<'_>) -> Published {
    let _ = (schema, resolve);
    Published::default()
}

/// The output profile of an object schema: `type` on the root only, at most 8 kB, depth 4.
pub fn output(schema: &Value, resolve: Resolve<'_>) -> Published {
    let _ = (schema, resolve);
    Published::default()
}

/// Every way a published schema breaks the profile; empty when it is portable.
pub fn lint(schema: &Value) -> Vec<String> {
    let _ = schema;
    Vec::new()
}
