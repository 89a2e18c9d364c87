//! The finished list held against what every known client accepts, before anything is swapped.
//!
//! One schema that one client cannot read makes it drop the whole list, so no list is served on
//! trust: what was built is read once more, by rules that know nothing of how it was made. A fault
//! here is toolgate's own, never the document's or the allowlist's, and the diagnostic says so.

use serde_json::{Map, Value};

use super::{ToolName, portable};

/// Every hint, so that no client falls back to its own idea.
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// Everything a tool as listed breaks, in words; empty when it is fit to be served.
pub(super) fn faults(listed: &Map<String, Value>) -> Vec<String> {
    let mut faults = Vec::new();
    let name = listed.get("name").and_then(Value::as_str).unwrap_or_default();
    faults.extend(ToolName::try_from(name).err());
    match listed.get("inputSchema") {
        Some(schema) => faults.extend(within("inputSchema", portable::lint(schema))),
        None => faults.push("there is no `inputSchema`".to_owned()),
    }
    if let Some(schema) = listed.get("outputSchema") {
        faults.extend(within("outputSchema", portable::lint_output(schema)));
    }
    let hint = |hint: &&str| listed.get("annotations").and_then(|all| all.get(*hint));
    let missing = HINTS.iter().filter(|name| !hint(name).is_some_and(Value::is_boolean));
    faults.extend(missing.map(|name| format!("`annotations` do not say `{name}`")));
    faults
}

fn within(schema: &str, faults: Vec<String>) -> impl Iterator<Item = String> {
    faults.into_iter().map(move |fault| format!("`{schema}`: {fault}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is said of a sound tool with one part replaced.
    fn check(part: &str, value: Value, expected: &[&str]) {
        let mut listed = json!({
            "name": "a",
            "inputSchema": { "type": "object", "properties": {} },
            "outputSchema": { "type": "object", "properties": {} },
            "annotations": HINTS.map(|hint| (hint.to_owned(), Value::Bool(true))).into_iter().collect::<Map<_, _>>(),
        });
        listed[part] = value;
        assert_eq!(faults(listed.as_object().unwrap()), expected);
    }

    #[test]
    fn a_tool_that_one_client_would_refuse_is_named_with_the_place() {
        check("x", json!(1), &[]);
        check(
            "name",
            json!("a-b"),
            &["`a-b` is no tool name; use 1 to 64 of A-Z, a-z, 0-9 and `_`"],
        );
        check(
            "inputSchema",
            json!({ "type": "object" }),
            &[
                "`inputSchema`: the root has no `properties`",
                "`inputSchema`: `` is an object without `properties`",
            ],
        );
        check(
            "outputSchema",
            json!({ "type": "object" }),
            &["`outputSchema`: the root has no `properties`"],
        );
        let three = json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": 1, "openWorldHint": true });
        check("annotations", three, &["`annotations` do not say `idempotentHint`"]);
    }
}
