//! Building a toolset beside parsing the same text, at 20, 100 and 1,000 operations.
//!
//! Three lines a size: the parser alone (the same serde_json, into plain values), the strict reading
//! into an `Api`, and the whole build (read, compile every operation). Compare within one run.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that panics says what went wrong")]

use std::{hint::black_box, sync::Arc};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use toolgate::{
    allowlist,
    config::{Limits, Policy},
    openapi::{self, text::Text},
    registry::{
        self, Settings,
        plan::{Target, Upstream},
    },
};

/// A document in the shapes of a generated one: five operations a resource, shared schemas, texts.
fn document(n_operations: usize) -> String {
    let mut paths = serde_json::Map::new();
    let mut schemas = serde_json::Map::new();
    for resource in 0..n_operations.div_ceil(5) {
        let name = format!("Thing{resource}");
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        let reply = |schema: &Value| json!({"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}});
        let body =
            json!({"required": true, "content": {"application/json": {"schema": reference}}});
        let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}, "description": "Which one."});
        let page = json!({"name": "pageSize", "in": "query", "schema": {"type": "integer", "format": "int32"}, "description": "How many at most."});
        let operation = |verb: &str, parameters: Value, extra: Value| {
            let mut operation = json!({
                "operationId": format!("ThingService_{verb}{name}"),
                "tags": [name], "summary": format!("{verb} a thing of kind {resource}."),
                "description": "A sentence that says what it does. Another that says when to use it.",
                "parameters": parameters, "responses": reply(&reference),
            });
            operation.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            operation
        };
        let list = json!({"type": "object", "properties": {"things": {"type": "array", "items": reference}, "nextPageToken": {"type": "string"}}});
        paths.insert(
            format!("/v1/things{resource}"),
            json!({
                "get": operation("List", json!([page]), json!({"responses": reply(&list)})),
                "post": operation("Create", json!([]), json!({"requestBody": body})),
            }),
        );
        paths.insert(
            format!("/v1/things{resource}/{{id}}"),
            json!({
                "get": operation("Get", json!([id]), json!({})),
                "patch": operation("Update", json!([id]), json!({"requestBody": body})),
                "delete": operation("Delete", json!([id]), json!({"responses": {"204": {"description": "gone"}}})),
            }),
        );
        schemas.insert(name, schema(resource));
    }
    json!({
        "openapi": "3.0.3", "info": {"title": "Things", "version": "1"},
        "paths": paths, "components": {"schemas": schemas},
    })
    .to_string()
}

fn schema(resource: usize) -> Value {
    let fields = (0..12).map(|field| {
        let schema = match field % 4 {
            0 => json!({"type": "string", "description": "A text of some length that says something."}),
            1 => json!({"type": "string", "format": "date-time", "readOnly": true}),
            2 => json!({"type": "array", "items": {"type": "string", "enum": ["A", "B", "C"]}}),
            _ => json!({"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "number", "nullable": true}}}),
        };
        (format!("field{field}Of{resource}"), schema)
    });
    json!({"type": "object", "required": [format!("field0Of{resource}")], "properties": fields.collect::<serde_json::Map<_, _>>()})
}

fn build(text: &Text, allowlist: &allowlist::Allowlist, settings: &Settings) -> usize {
    let api = Arc::new(openapi::parse(text).unwrap());
    registry::compile(&api, allowlist, settings).unwrap().tools.len()
}

fn registry_build(criterion: &mut Criterion) {
    let target = Target {
        upstream: Upstream::Origin("http://127.0.0.1:1".parse().unwrap()),
        base_path: None,
        from: "bench".into(),
        headers: Vec::new(),
        forward: Vec::new(),
        max_in_flight: 1,
    };
    let settings =
        Settings { policy: Policy::Strict, limits: Limits::default(), target: Arc::new(target) };
    let everything = Text::new("bench.yaml", b"tools: [\"* /*\"]\n").unwrap();
    let allowlist = allowlist::parse("bench", &everything).unwrap();
    let mut group = criterion.benchmark_group("registry_build");
    group.sample_size(10);
    for n_operations in [20, 100, 1_000] {
        let content = document(n_operations);
        let text = Text::new("bench.json", content.as_bytes()).unwrap();
        assert_eq!(build(&text, &allowlist, &settings), n_operations);
        group.throughput(Throughput::Bytes(content.len() as u64));
        let id = |what: &str| BenchmarkId::new(what, n_operations);
        group.bench_function(id("parse alone"), |bencher| {
            bencher.iter(|| black_box(serde_json::from_str::<Value>(&content).unwrap()));
        });
        group.bench_function(id("read strictly"), |bencher| {
            bencher.iter(|| black_box(openapi::parse(&text).unwrap()));
        });
        group.bench_function(id("read and compile"), |bencher| {
            bencher.iter(|| black_box(build(&text, &allowlist, &settings)));
        });
    }
    group.finish();
}

criterion_group!(benches, registry_build);
criterion_main!(benches);
