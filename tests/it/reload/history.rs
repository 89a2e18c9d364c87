//! Many clients list and call while versions are swapped through files; the history is checked.
//!
//! Every text and every path holds its version, so that each answer says which version made it. What must
//! hold: an answer is of one version; versions never fall for a client; a name is unknown only where a
//! version without it was live between question and answer; and once `n` notices were heard, nothing older
//! than the `n`th change is answered.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::many;
use crate::support::{Client, Era, Lines, Recorder, Server, Workspace, eventually, upstream};

const TOOLS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

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

/// What all clients share.
#[derive(Default)]
struct Stage {
    /// At least this version is live.
    live: AtomicUsize,
    /// At most this version is live.
    written: AtomicUsize,
    lists: AtomicUsize,
    calls: AtomicUsize,
    gone: AtomicUsize,
    notices: AtomicUsize,
    done: AtomicBool,
}

enum Way {
    Http(Client),
    Lines(Lines),
}

/// One client and what it knows.
struct Watcher {
    way: Way,
    notices: UnboundedReceiver<Value>,
    stage: Arc<Stage>,
    newest: usize,
    heard: usize,
}

impl Watcher {
    async fn request(&self, method: &str, params: Value) -> Value {
        match &self.way {
            Way::Http(client) => client.request(method, params).await,
            Way::Lines(lines) => lines.request(method, params).await,
        }
    }

    /// Lists and calls until told to stop.
    async fn run(mut self) {
        while !self.stage.done.load(Ordering::Relaxed) {
            let version = self.list().await;
            self.judge(version);
            self.stage.lists.fetch_add(1, Ordering::Relaxed);
            for tool in TOOLS {
                self.call(tool).await;
            }
        }
        self.end().await;
    }

    /// The last notice is on its way at most, and after it the last version is listed.
    async fn end(&mut self) {
        let last = self.stage.live.load(Ordering::Relaxed);
        while self.list().await < last {
            self.notices.recv().await.unwrap();
        }
        self.note();
        assert!(self.heard > 0, "nothing was heard");
        self.stage.notices.fetch_add(self.heard, Ordering::Relaxed);
    }

    fn note(&mut self) {
        while self.notices.try_recv().is_ok() {
            self.heard += 1;
        }
    }

    fn judge(&mut self, version: usize) {
        assert!(version >= self.newest, "version {version} after {}", self.newest);
        self.newest = version;
    }

    async fn list(&mut self) -> usize {
        self.note();
        let least = self.heard;
        let message = self.request("tools/list", json!({})).await;
        let tools = message["result"]["tools"].as_array().unwrap_or_else(|| panic!("{message}"));
        let versions: BTreeSet<_> = tools.iter().map(version_of).collect();
        assert_eq!(versions.len(), 1, "{tools:?}");
        let version = versions.into_iter().next().unwrap();
        assert_eq!(tools.len(), if version % 2 == 0 { 4 } else { 3 }, "version {version}");
        assert!(version >= least, "version {version} after {least} notices");
        version
    }

    async fn call(&mut self, tool: &str) {
        self.note();
        let (least, before) = (self.heard, self.stage.live.load(Ordering::SeqCst));
        let message = self.request("tools/call", json!({"name": tool, "arguments": {}})).await;
        if message.get("error").is_some() {
            let after = self.stage.written.load(Ordering::SeqCst);
            assert_eq!((tool, &message["error"]["code"]), ("delta", &json!(-32602)), "{message}");
            let odd = (before..=after).any(|version| version % 2 == 1);
            assert!(odd, "`delta` was in every version from {before} to {after}");
            self.stage.gone.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let path = message["result"]["structuredContent"]["path"].as_str();
        let path = path.unwrap_or_else(|| panic!("{message}"));
        let (version, id) = path.strip_prefix("/v").unwrap().split_once('/').unwrap();
        assert_eq!(id, tool);
        let version = version.parse().unwrap();
        assert!(version >= least, "version {version} after {least} notices");
        self.judge(version);
        self.stage.calls.fetch_add(1, Ordering::Relaxed);
    }
}

fn version_of(tool: &Value) -> usize {
    let text = tool["description"].as_str().unwrap();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let path = tool["_meta"]["path"].as_str().unwrap();
    assert!(path.starts_with(&format!("/v{digits}/")), "{tool}");
    digits.parse().unwrap()
}

/// Six over HTTP, two over lines; each era is there by both ways.
async fn watchers(server: &Server, stage: &Arc<Stage>) -> Vec<Watcher> {
    let mut ways = Vec::new();
    for era in [Era::ALL, Era::ALL].concat() {
        let client = Client::connect(server.address, era).await;
        let notices = client.listen().await;
        ways.push((Way::Http(client), notices));
    }
    for era in [Era::Legacy("2025-11-25"), Era::Modern] {
        let (lines, notices) = Lines::connect(&server.gateway, era).await;
        ways.push((Way::Lines(lines), notices));
    }
    let watcher = |(way, notices)| {
        let stage = Arc::clone(stage);
        Watcher { way, notices, stage, newest: 0, heard: 0 }
    };
    ways.into_iter().map(watcher).collect()
}

/// `TOOLGATE_SWAPS` is how many versions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_mixes_two_versions_or_is_older_than_what_was_heard() {
    let swaps = many("TOOLGATE_SWAPS", 200);
    let workspace = Workspace::new(&document(0), "tools: [\"GET *\"]\n");
    let echo =
        Recorder::new(|seen| upstream::json(format!(r#"{{"path": "{}"}}"#, seen.uri.path())));
    let gateway =
        workspace.builder().service(echo.router()).quiet(Duration::from_millis(1)).start().unwrap();
    let server = Server::start(gateway).await;
    let stage = Arc::new(Stage::default());
    let watchers = watchers(&server, &stage).await;
    let watchers: Vec<_> = watchers.into_iter().map(|one| tokio::spawn(one.run())).collect();
    for version in 1..=swaps {
        stage.written.store(version, Ordering::SeqCst);
        workspace.replace("openapi.yaml", &document(version));
        let wanted = version as u64 + 1;
        eventually("the swap", || async {
            (server.gateway.snapshot().unwrap().generation() >= wanted).then_some(())
        })
        .await;
        stage.live.store(version, Ordering::SeqCst);
    }
    stage.done.store(true, Ordering::SeqCst);
    for watcher in watchers {
        watcher.await.unwrap();
    }
    let [lists, calls, gone, notices] = [&stage.lists, &stage.calls, &stage.gone, &stage.notices]
        .map(|counter| counter.load(Ordering::Relaxed));
    println!("{lists} lists, {calls} calls, {gone} of a tool that was gone, {notices} notices");
    assert!(lists > swaps / 2 && calls > swaps / 2 && notices > swaps / 2);
    assert_eq!(server.gateway.status().counts.swaps, swaps as u64);
}
