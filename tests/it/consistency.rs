use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;

use crate::support::{Client, Era, Recorder, Server, Workspace, eventually, upstream};

const TOOLS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
const SWAPS: usize = 300;
const CLIENTS: usize = 8;

/// Every text holds the version; the path does too, so that the upstream says which version called it.
/// `delta` is there in even versions only.
fn document(version: usize) -> String {
    let operation = |id: &&str| {
        format!(
            "  /v{version}/{id}:\n    get: {{operationId: {id}, description: 'version {version}.', responses: {{'200': {{description: ok, content: {{application/json: {{schema: {{type: object}}}}}}}}}}}}\n"
        )
    };
    let ids = if version.is_multiple_of(2) { &TOOLS[..] } else { &TOOLS[..3] };
    let paths: String = ids.iter().map(operation).collect();
    format!("openapi: 3.0.3\ninfo: {{title: t, version: '{version}'}}\npaths:\n{paths}")
}

#[derive(Default)]
struct Tally {
    lists: AtomicUsize,
    calls: AtomicUsize,
    gone: AtomicUsize,
    done: AtomicBool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_mixes_two_versions() {
    let workspace = Workspace::new(&document(0), "tools: [\"GET *\"]\n");
    let echo =
        Recorder::new(|seen| upstream::json(format!(r#"{{"path": "{}"}}"#, seen.uri.path())));
    let gateway =
        workspace.builder().service(echo.router()).quiet(Duration::from_millis(1)).start().unwrap();
    let server = Server::start(gateway).await;
    let tally = Arc::new(Tally::default());
    let mut clients = Vec::new();
    for n in 0..CLIENTS {
        let client = Client::connect(server.address, Era::ALL[n % 3]).await;
        clients.push(tokio::spawn(watch(client, Arc::clone(&tally))));
    }
    for version in 1..=SWAPS {
        workspace.replace("openapi.yaml", &document(version));
        let wanted = version as u64 + 1;
        eventually("the swap", || async {
            (server.gateway.snapshot().unwrap().generation() >= wanted).then_some(())
        })
        .await;
    }
    tally.done.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    println!(
        "{} lists, {} calls, {} of a tool that was gone",
        count(&tally.lists),
        count(&tally.calls),
        count(&tally.gone)
    );
    assert!(count(&tally.lists) > SWAPS / 2 && count(&tally.calls) > SWAPS / 2);
}

/// Lists and calls until told to stop; versions never fall, and no answer mixes two.
async fn watch(client: Client, tally: Arc<Tally>) {
    let mut newest = 0;
    while !tally.done.load(Ordering::Relaxed) {
        let version = list(&client).await;
        assert!(version >= newest, "version {version} after {newest}");
        newest = version;
        tally.lists.fetch_add(1, Ordering::Relaxed);
        for tool in TOOLS {
            match call(&client, tool).await {
                Some(version) => {
                    assert!(version >= newest, "version {version} after {newest}");
                    newest = version;
                    tally.calls.fetch_add(1, Ordering::Relaxed);
                }
                None => drop(tally.gone.fetch_add(1, Ordering::Relaxed)),
            }
        }
    }
}

async fn list(client: &Client) -> usize {
    let tools = client.list().await;
    let version_of = |tool: &serde_json::Value| -> usize {
        let text = tool["description"].as_str().unwrap();
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let path = tool["_meta"]["path"].as_str().unwrap();
        assert!(path.starts_with(&format!("/v{digits}/")), "{tool}");
        digits.parse().unwrap()
    };
    let versions: BTreeSet<_> = tools.iter().map(version_of).collect();
    assert_eq!(versions.len(), 1, "{tools:?}");
    let version = versions.into_iter().next().unwrap();
    assert_eq!(tools.len(), if version % 2 == 0 { 4 } else { 3 }, "version {version}");
    version
}

/// The version that answered; `None` when the tool was gone.
async fn call(client: &Client, tool: &str) -> Option<usize> {
    let message = client.request("tools/call", json!({"name": tool, "arguments": {}})).await;
    if message.get("error").is_some() {
        assert_eq!((tool, &message["error"]["code"]), ("delta", &json!(-32602)), "{message}");
        return None;
    }
    let path = message["result"]["structuredContent"]["path"]
        .as_str()
        .unwrap_or_else(|| panic!("{message}"));
    let (version, id) = path.strip_prefix("/v").unwrap().split_once('/').unwrap();
    assert_eq!(id, tool);
    Some(version.parse().unwrap())
}
