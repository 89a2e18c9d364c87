//! The operations of a document, in its order.
//!
//! Reading the index never fails: an operation that is broken is listed with what can be told of it,
//! and only asking for its parts says what is wrong. Webhooks are calls the other way and not listed.

use std::collections::{HashMap, HashSet};

use http::Method;
use serde_json::Value;

use super::{Fault, Operation, OperationKey, Version, node::Node};

/// The operations below `paths`.
pub(super) fn operations(root: &Value, version: Version) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut seen = HashSet::new();
    for (path, item) in paths(root) {
        for node in chain(item, root).0 {
            for (method, node) in methods(&node, version) {
                let key = OperationKey { method, path: path.to_owned() };
                if seen.insert(key.clone()) {
                    operations.push(operation(key, &node));
                }
            }
        }
    }
    mark_shared(&mut operations);
    operations
}

fn paths(root: &Value) -> Vec<(&str, Node<'_>)> {
    let mut paths = Node::root(root).entries("paths").unwrap_or_default();
    paths.retain(|(path, _)| !path.starts_with("x-"));
    paths
}

/// A path item and the ones its reference leads to, outermost first, and what broke the chain.
/// What stands in an outer one wins.
pub(super) fn chain<'a>(item: Node<'a>, root: &'a Value) -> (Vec<Node<'a>>, Option<Fault>) {
    let mut items = vec![item];
    while let Some(item) = items.last()
        && let Some(reference) = item.reference()
    {
        match item.target(root, reference) {
            Ok(next) if items.iter().all(|item| item.pointer != next.pointer) => items.push(next),
            Ok(_) => {
                let words = format!("`{reference}` leads back to itself through references only");
                let fault = Fault { pointer: format!("{}/$ref", item.pointer), words };
                return (items, Some(fault));
            }
            Err(fault) => return (items, Some(fault)),
        }
    }
    (items, None)
}

/// The operations of one path item, in its order.
fn methods<'a>(item: &Node<'a>, version: Version) -> Vec<(Method, Node<'a>)> {
    let mut methods = Vec::new();
    for key in item.value.as_object().into_iter().flat_map(|map| map.keys()) {
        if key == "additionalOperations" && version == Version::V32 {
            let more = item.entries(key).unwrap_or_default();
            let named = more
                .into_iter()
                .filter_map(|(name, node)| Some((Method::from_bytes(name.as_bytes()).ok()?, node)));
            methods.extend(named);
        } else if let Some(method) = method(key, version)
            && let Some(node) = item.child(key)
        {
            methods.push((method, node));
        }
    }
    methods
}

/// The method behind a key of a path item.
fn method(key: &str, version: Version) -> Option<Method> {
    Some(match key {
        "get" => Method::GET,
        "put" => Method::PUT,
        "post" => Method::POST,
        "delete" => Method::DELETE,
        "options" => Method::OPTIONS,
        "head" => Method::HEAD,
        "patch" => Method::PATCH,
        "trace" if version >= Version::V30 => Method::TRACE,
        "query" if version == Version::V32 => Method::from_bytes(b"QUERY").ok()?,
        _ => return None,
    })
}

fn operation(key: OperationKey, node: &Node<'_>) -> Operation {
    let id = node.value.get("operationId").and_then(Value::as_str);
    Operation {
        key,
        id: id.filter(|id| !id.is_empty()).map(str::to_owned),
        shared_id: false,
        tags: node.words("tags").into_iter().map(str::to_owned).collect(),
        summary: node.prose("summary"),
        description: node.prose("description"),
        deprecated: node.value.get("deprecated") == Some(&Value::Bool(true)),
        pointer: node.pointer.clone(),
    }
}

fn mark_shared(operations: &mut [Operation]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for id in operations.iter().filter_map(|operation| operation.id.clone()) {
        *counts.entry(id).or_default() += 1;
    }
    for operation in operations {
        let count = operation.id.as_ref().and_then(|id| counts.get(id));
        operation.shared_id = count.is_some_and(|count| *count > 1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(version: Version, root: &Value, expected: &[&str]) {
        let operations = operations(root, version);
        let show = |operation: &Operation| {
            let id = operation.id.as_deref().unwrap_or("-");
            let shared = if operation.shared_id { "!" } else { "" };
            format!("{} {id}{shared}", operation.key)
        };
        let shown: Vec<String> = operations.iter().map(show).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn operations_are_in_document_order() {
        let root = json!({"paths": {
            "/b": {"post": {"operationId": "x"}, "get": {"operationId": "x"}, "parameters": []},
            "x-c": {"get": {}},
            "/a": {"x-get": {}, "summary": "s", "delete": {"operationId": ""}},
        }, "webhooks": {"w": {"post": {"operationId": "x"}}}});
        check(Version::V31, &root, &["POST /b x!", "GET /b x!", "DELETE /a -"]);
    }

    #[test]
    fn broken_parts_do_not_hide_the_others() {
        let root = json!({"paths": {"/a": {"get": 5, "put": null, "post": {"operationId": 7, "tags": "t"}},
            "/b": [], "/c": null, "/d": {"$ref": "other.yaml"}, "/e": {"get": {}}}});
        check(Version::V30, &root, &["GET /a -", "POST /a -", "GET /e -"]);
        check(Version::V30, &json!({"paths": []}), &[]);
        check(Version::V31, &json!({}), &[]);
    }

    #[test]
    fn path_items_may_be_references() {
        let root = json!({"paths": {
            "/a": {"$ref": "#/components/pathItems/p", "get": {"operationId": "own"}},
            "/loop": {"$ref": "#/paths/~1loop"},
        }, "components": {"pathItems": {"p": {"get": {"operationId": "p"}, "put": {"operationId": "q"}}}}});
        check(Version::V31, &root, &["GET /a own", "PUT /a q"]);
    }

    #[test]
    fn methods_of_3_2_are_known_there_only() {
        let root = json!({"paths": {"/a": {"query": {}, "additionalOperations": {"COPY": {}, "b c": {}}}}});
        check(Version::V32, &root, &["QUERY /a -", "COPY /a -"]);
        check(Version::V31, &root, &[]);
    }
}
