//! The four behaviour hints of a tool: by method, then as the allowlist says.

use http::Method;
use serde_json::{Map, Value};

use crate::allowlist::Annotations;

/// The four hints, each explicit: clients take the worst of one that is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hints {
    /// The operation changes nothing.
    pub(super) read_only: bool,
    /// It may overwrite or remove what was there.
    pub(super) destructive: bool,
    /// Twice is as once.
    pub(super) idempotent: bool,
    /// It reaches beyond the program.
    pub(super) open_world: bool,
}

impl Hints {
    /// The hints of a method with the overrides of an allowlist.
    pub(super) fn new(method: &Method, annotations: Annotations) -> Self {
        let base = Self::of(method);
        Self {
            read_only: annotations.read_only.unwrap_or(base.read_only),
            destructive: annotations.destructive.unwrap_or(base.destructive),
            idempotent: annotations.idempotent.unwrap_or(base.idempotent),
            open_world: annotations.open_world.unwrap_or(base.open_world),
        }
    }

    fn of(method: &Method) -> Self {
        let (read_only, destructive, idempotent) = match method.as_str() {
            "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => (true, false, true),
            "PUT" | "DELETE" => (false, true, true),
            "PATCH" => (false, true, false),
            _ => (false, false, false),
        };
        Self { read_only, destructive, idempotent, open_world: true }
    }

    /// As MCP writes them.
    pub(super) fn listed(self) -> Map<String, Value> {
        let hints = [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
        ];
        hints.into_iter().map(|(name, on)| (name.to_owned(), on.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, expected: [bool; 4]) {
        let hints = Hints::new(&method.parse().unwrap(), Annotations::default());
        let found: Vec<bool> = hints.listed().values().filter_map(Value::as_bool).collect();
        assert_eq!(found, expected, "{method}");
    }

    #[test]
    fn every_method_has_all_four_hints() {
        for method in ["GET", "HEAD", "OPTIONS", "QUERY"] {
            check(method, [true, false, true, true]);
        }
        check("PUT", [false, true, true, true]);
        check("DELETE", [false, true, true, true]);
        check("PATCH", [false, true, false, true]);
        check("POST", [false, false, false, true]);
        check("PURGE", [false, false, false, true]);
    }

    #[test]
    fn the_allowlist_overrides_each() {
        let annotations = Annotations { read_only: Some(true), ..Annotations::default() };
        assert!(Hints::new(&Method::POST, annotations).read_only);
        let annotations = Annotations { open_world: Some(false), ..Annotations::default() };
        assert!(!Hints::new(&Method::POST, annotations).open_world);
    }
}
