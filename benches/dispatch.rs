//! The call path beside the same work without it: every pair runs in one process, in one run.
//!
//! The upstream is a service in this process that answers at once, so that what differs between the two
//! lines of a pair is toolgate's own: arguments checked, request from the plan, response to a result.
//! `list` is the ready-made bytes beside serialising the tools again.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that panics says what went wrong")]

use std::{convert::Infallible, hint::black_box, sync::Arc};

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use toolgate::{
    Gateway,
    registry::{Tool, Toolset},
    snapshot::Snapshot,
    upstream::{Caller, CallerAuth, Service},
};
use tower::{ServiceExt, service_fn};

/// Writes are answered with nothing, reads with a page of memos.
fn page() -> Bytes {
    let memo = |n: usize| json!({"name": format!("memos/{n}"), "content": "x".repeat(200), "pinned": false, "rank": n});
    json!({"memos": (0..100).map(memo).collect::<Vec<_>>(), "nextPageToken": "100"})
        .to_string()
        .into()
}

fn answer(request: &Request<Full<Bytes>>, page: &Bytes) -> Response<Full<Bytes>> {
    let body = if request.method() == "GET" { page.clone() } else { Bytes::from_static(b"{}") };
    Response::builder().header("content-type", "application/json").body(Full::new(body)).unwrap()
}

struct Bench {
    snapshot: Arc<Snapshot>,
    caller: Caller,
    page: Bytes,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    fn new() -> Self {
        let page = page();
        let body = page.clone();
        let service = service_fn(move |request: Request<Full<Bytes>>| {
            let reply = answer(&request, &body);
            async move { Ok::<_, Infallible>(reply) }
        });
        let root = env!("CARGO_MANIFEST_DIR");
        let gateway = Gateway::builder()
            .document(format!("{root}/spec/openapi.yaml"))
            .allowlists(format!("{root}/allowlists"))
            .service(service.clone())
            .start()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let caller = Caller::new(&toolgate::config::Limits::default(), Some(Service::new(service)));
        Self { snapshot: gateway.snapshot().unwrap(), caller, page, runtime }
    }

    fn tool(&self, name: &str) -> (&Toolset, &Tool) {
        let (toolset, tool) = self.snapshot.tool(name).unwrap();
        (toolset, tool)
    }

    /// Through the checker, the plan and the shaping.
    fn call(&self, name: &str, arguments: &Value) {
        let (toolset, tool) = self.tool(name);
        let arguments = tool.checker.check(arguments.as_object().unwrap().clone()).unwrap();
        let auth = CallerAuth::of(&HeaderMap::new(), &toolset.target);
        let call = self.caller.call(&toolset.target, &tool.plan, &arguments, &auth, |_| {});
        let answer = self.runtime.block_on(call);
        assert!(!answer.is_error);
        black_box(answer);
    }

    /// The same request made by hand, its body collected.
    fn bare(&self, method: &str, uri: &str, body: &Bytes) {
        let request = Request::builder().method(method).uri(uri);
        let request = request.body(Full::new(body.clone())).unwrap();
        let reply = service_fn(|request| {
            let reply = answer(&request, &self.page);
            async move { Ok::<_, Infallible>(reply) }
        })
        .oneshot(request);
        let body =
            self.runtime.block_on(async { reply.await.unwrap().into_body().collect().await });
        black_box(body.unwrap().to_bytes());
    }
}

fn dispatch(criterion: &mut Criterion) {
    let bench = Bench::new();
    let write = json!({"content": "Tea\n".repeat(50), "visibility": "PRIVATE", "state": "NORMAL"});
    let body: Bytes = write.to_string().into();
    let read = json!({"pageSize": 100, "filter": "content.contains(\"x\")"});
    let uri = "/api/v1/memos?pageSize=100&filter=content.contains%28%22x%22%29";

    let mut group = criterion.benchmark_group("plan to request");
    group.bench_function("bare", |b| b.iter(|| bench.bare("POST", "/api/v1/memos", &body)));
    group.bench_function("toolgate", |b| b.iter(|| bench.call("memo_create_memo", &write)));
    group.finish();

    let mut group = criterion.benchmark_group("response to result (28 kB)");
    group.bench_function("bare", |b| b.iter(|| bench.bare("GET", uri, &Bytes::new())));
    group.bench_function("toolgate", |b| b.iter(|| bench.call("memo_list_memos", &read)));
    group.finish();

    let mut group = criterion.benchmark_group("list");
    group.bench_function("ready-made", |b| b.iter(|| black_box(bench.snapshot.list().clone())));
    group.bench_function("serialised again", |b| {
        let tools = || bench.snapshot.tools().map(|(_, tool)| &tool.listed).collect::<Vec<_>>();
        b.iter(|| black_box(serde_json::to_vec(&tools()).unwrap()));
    });
    group.finish();
}

criterion_group!(benches, dispatch);
criterion_main!(benches);
