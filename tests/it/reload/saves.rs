//! Waits poll for what must become true; the time it takes is measured by a benchmark, not asserted.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::mpsc::UnboundedReceiver, time};

use crate::support::{Client, Era, Recorder, Server, Workspace, eventually};

const ALLOWLIST: &str = "tools:\n  - one\n  - two\n";

/// A document with one GET per operationId, whose descriptions hold `version`.
fn document(ids: &[&str], version: &str) -> String {
    let path = |id: &&str| {
        format!(
            "  /{id}:\n    get:\n      operationId: {id}\n      description: '{version}'\n      responses: {{'200': {{description: ok}}}}\n"
        )
    };
    let paths: String = ids.iter().map(path).collect();
    format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")
}

/// A served folder with one client of each era, each listening.
struct Scene {
    workspace: Workspace,
    server: Server,
    clients: Vec<(Client, UnboundedReceiver<Value>)>,
}

impl Scene {
    async fn start() -> Self {
        let workspace = Workspace::new(&document(&["one", "two", "three"], "v1"), ALLOWLIST);
        let server = workspace.serve_in_process(&Recorder::json("{}")).await;
        let mut clients = Vec::new();
        for era in Era::ALL {
            let client = Client::connect(server.address, era).await;
            let notices = client.listen().await;
            clients.push((client, notices));
        }
        Self { workspace, server, clients }
    }

    /// Every listener hears exactly one list_changed, and the list it then asks for has these names.
    async fn expect(&mut self, names: &[&str]) {
        for (client, notices) in &mut self.clients {
            let notice = time::timeout(Duration::from_secs(20), notices.recv()).await;
            let notice = notice.expect("a list_changed").unwrap();
            assert_eq!(notice["method"], "notifications/tools/list_changed", "{notice}");
            assert_eq!(client.names().await, names);
        }
        self.expect_silence().await;
    }

    /// Nobody hears anything for longer than a scan takes.
    async fn expect_silence(&mut self) {
        time::sleep(Duration::from_millis(2_500)).await;
        for (_, notices) in &mut self.clients {
            assert!(notices.try_recv().is_err(), "an unexpected notice");
        }
    }

    fn generation(&self) -> u64 {
        self.server.gateway.snapshot().unwrap().generation()
    }
}

#[tokio::test]
async fn a_rename_over_the_allowlist_changes_the_tools() {
    let mut scene = Scene::start().await;
    scene.workspace.replace("allowlists/api.yaml", "tools:\n  - one\n  - two\n  - three\n");
    scene.expect(&["one", "two", "three"]).await;
    assert_eq!(scene.generation(), 2);
}

#[tokio::test]
async fn a_save_in_place_changes_the_tools() {
    let mut scene = Scene::start().await;
    scene.workspace.write("allowlists/api.yaml", "tools:\n  # - one\n  - two\n");
    scene.expect(&["two"]).await;
}

#[tokio::test]
async fn a_changed_document_changes_the_tools() {
    let mut scene = Scene::start().await;
    scene.workspace.replace("openapi.yaml", &document(&["one", "two", "three"], "v2"));
    scene.expect(&["one", "two"]).await;
    assert!(scene.clients[0].0.list().await[0]["description"].as_str().unwrap().contains("v2"));
}

#[tokio::test]
async fn a_bad_save_keeps_the_old_tools_says_where_and_heals() {
    let mut scene = Scene::start().await;
    scene.workspace.write("allowlists/api.yaml", "tools:\n  - one\n  - twoo\n");
    let refused = eventually("the refusal", || async {
        let status = scene.server.gateway.status();
        status.refusals().first().map(|refusal| refusal.diagnostics[0].to_string())
    })
    .await;
    assert!(
        refused.contains("api.yaml:3:5") && refused.contains("`twoo`") && refused.contains("`two`"),
        "{refused}"
    );
    scene.expect_silence().await;
    assert_eq!(scene.clients[0].0.names().await, ["one", "two"]);
    scene.workspace.write("allowlists/api.yaml", "tools:\n  - one\n  - two\n  - three\n");
    scene.expect(&["one", "two", "three"]).await;
    assert!(scene.server.gateway.status().refusals().is_empty());
}

#[tokio::test]
async fn a_broken_document_keeps_the_old_tools_and_heals() {
    let mut scene = Scene::start().await;
    for broken in [
        "",
        "paths: [",
        "openapi: 3.0.3\ninfo: {title: t, version: '1'}\npaths: {}\n",
        "<html></html>",
    ] {
        scene.workspace.write("openapi.yaml", broken);
        eventually("the refusal", || async {
            (!scene.server.gateway.status().refusals().is_empty()).then_some(())
        })
        .await;
        assert_eq!(scene.clients[0].0.names().await, ["one", "two"], "{broken:?}");
        scene.workspace.write("openapi.yaml", &document(&["one", "two", "three"], "v1"));
        eventually("the healing", || async {
            scene.server.gateway.status().refusals().is_empty().then_some(())
        })
        .await;
    }
    scene.expect_silence().await;
    assert_eq!(scene.generation(), 1);
}

#[tokio::test]
async fn an_unchanged_save_sends_nothing() {
    let mut scene = Scene::start().await;
    let text = scene.workspace.read("openapi.yaml");
    scene.workspace.replace("openapi.yaml", &text);
    scene.workspace.write("allowlists/api.yaml", ALLOWLIST);
    scene.expect_silence().await;
    assert_eq!(scene.generation(), 1);
}

#[tokio::test]
async fn a_comment_swaps_without_a_notice() {
    let mut scene = Scene::start().await;
    scene.workspace.write("allowlists/api.yaml", &format!("# a remark\n{ALLOWLIST}"));
    eventually("the swap", || async { (scene.generation() == 2).then_some(()) }).await;
    scene.expect_silence().await;
}

#[tokio::test]
async fn document_and_allowlist_changed_together_swap_once() {
    let mut scene = Scene::start().await;
    scene.workspace.replace("openapi.yaml", &document(&["one", "four"], "v1"));
    time::sleep(Duration::from_millis(50)).await;
    scene.workspace.replace("allowlists/api.yaml", "tools:\n  - one\n  - four\n");
    scene.expect(&["one", "four"]).await;
    assert_eq!(scene.generation(), 2);
}

#[tokio::test]
async fn one_broken_toolset_does_not_hold_back_another() {
    let mut scene = Scene::start().await;
    scene.workspace.write("allowlists/other.yaml", "tools:\n  - nothing_like_it\n");
    eventually("the refusal", || async {
        (!scene.server.gateway.status().refusals().is_empty()).then_some(())
    })
    .await;
    scene.workspace.write("allowlists/api.yaml", "tools:\n  - one\n");
    scene.expect(&["one"]).await;
    scene.workspace.write("allowlists/other.yaml", "tools:\n  - three\n");
    scene.expect(&["one", "three"]).await;
    std::fs::remove_file(scene.workspace.path("allowlists/other.yaml")).unwrap();
    scene.expect(&["one"]).await;
}

#[tokio::test]
async fn a_removed_tool_is_unknown_and_the_error_says_so() {
    let mut scene = Scene::start().await;
    scene.workspace.write("allowlists/api.yaml", "tools:\n  - two\n");
    scene.expect(&["two"]).await;
    for (client, _) in &scene.clients {
        let message = client.request("tools/call", json!({"name": "one", "arguments": {}})).await;
        assert_eq!(message["error"]["code"], -32602, "{message}");
        let text = message["error"]["message"].as_str().unwrap();
        assert!(text.contains("one") && text.contains("no longer available"), "{text}");
    }
}

#[tokio::test]
async fn the_next_call_goes_where_the_new_document_says() {
    let text = |base: &str| {
        let document = document(&["one", "two"], "v1");
        document.replace("paths:", &format!("servers: [{{url: '{base}'}}]\npaths:"))
    };
    let workspace = Workspace::new(&text("/first"), ALLOWLIST);
    let upstream = Recorder::json("{}");
    let server = workspace.serve_in_process(&upstream).await;
    let client = Client::connect(server.address, Era::Modern).await;
    for base in ["/first", "/second"] {
        workspace.replace("openapi.yaml", &text(base));
        let line = format!("GET {base}/one");
        eventually(&line, || async {
            client.call("one", json!({})).await;
            (upstream.take().line() == line).then_some(())
        })
        .await;
    }
}
