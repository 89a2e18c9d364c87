use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Client, Era, Recorder, Workspace, eventually};

fn diff(workspace: &Workspace, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    let command = command.current_dir(workspace.path("")).env_clear();
    command.arg("diff").args(arguments).output().unwrap()
}

fn check(workspace: &Workspace, arguments: &[&str], code: i32, words: &[&str]) {
    let output = diff(workspace, arguments);
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).join("");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    for words in words {
        assert!(said.contains(words), "{words} not in {said}");
    }
}

const UPSTREAM: &str = "--upstream=http://127.0.0.1:9";
const HERE: [&str; 2] = ["--document=openapi.yaml", UPSTREAM];

/// The memo tools, with their list saved beside the document as it was.
fn saved() -> Workspace {
    let workspace = Workspace::memos();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    let command = command.current_dir(workspace.path("")).env_clear();
    let list = command.args(["tools", "--json"]).args(HERE).output().unwrap();
    workspace.write("saved.json", std::str::from_utf8(&list.stdout).unwrap());
    workspace.write("old.yaml", &workspace.read("openapi.yaml"));
    workspace
}

fn replace(workspace: &Workspace, from: &str, to: &str) {
    let text = workspace.read("openapi.yaml");
    assert!(text.contains(from), "{from}");
    workspace.write("openapi.yaml", &text.replace(from, to));
}

#[test]
fn a_list_that_was_saved_pins_the_tools() {
    let workspace = saved();
    let against = ["saved.json", HERE[0], HERE[1]];
    check(&workspace, &against, 0, &["nothing changed for callers"]);
    replace(&workspace, "name: pageToken", "name: cursor");
    let words = ["breaking  ~ memo_list_memos: input: `pageToken`: removed", "tools break"];
    check(&workspace, &against, 1, &words);
    check(&workspace, &["saved.json", "saved.json"], 0, &["nothing changed"]);
}

#[test]
fn two_documents_are_compared_under_the_same_allowlists() {
    let workspace = saved();
    replace(&workspace, "name: pageToken", "name: page_token");
    let words = "`pageToken`: is called `page_token` now";
    check(&workspace, &["old.yaml", "openapi.yaml", UPSTREAM], 1, &[words]);
    check(&workspace, &["old.yaml", HERE[0], HERE[1]], 2, &["given twice for every toolset"]);
    check(&workspace, &["old.yaml", "old.yaml", "--allow=GET *", UPSTREAM], 0, &["nothing"]);
}

#[test]
fn two_folders_of_allowlists_are_compared() {
    let workspace = saved();
    std::fs::create_dir(workspace.path("more")).unwrap();
    let listed = workspace.read("allowlists/api.yaml");
    workspace.write("more/api.yaml", &format!("{listed}  - MemoService_BatchGetUsers\n"));
    let unknown = ["allowlists", "more", HERE[0], HERE[1]];
    check(&workspace, &unknown, 2, &["more/api.yaml:", "`MemoService_BatchGetUsers`"]);
    let fewer = listed.replace("  - MemoService_DeleteMemo\n", "");
    assert_ne!(listed, fewer);
    workspace.write("more/api.yaml", &fewer);
    let words = "breaking  - memo_delete_memo: removed";
    check(&workspace, &["allowlists", "more", HERE[0], HERE[1]], 1, &[words]);
    check(
        &workspace,
        &["more", "allowlists/api.yaml", HERE[0], HERE[1]],
        0,
        &["+ memo_delete_memo"],
    );
    check(
        &workspace,
        &["more", "--allowlists=allowlists", HERE[0], HERE[1]],
        0,
        &["nothing breaks"],
    );
}

#[test]
fn json_keeps_its_keys() {
    let workspace = saved();
    let listed = workspace.read("allowlists/api.yaml");
    let named = "  - operation: MemoService_DeleteMemo\n    name: remove_memo\n    aliases: [memo_delete_memo]\n";
    workspace.write("allowlists/api.yaml", &listed.replace("  - MemoService_DeleteMemo\n", named));
    let output = diff(&workspace, &["saved.json", "--json", HERE[0], HERE[1]]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let renamed = json!([{"from": "memo_delete_memo", "to": "remove_memo", "breaking": false}]);
    assert_eq!((&found["breaking"], &found["renamed"]), (&json!(false), &renamed), "{found:#}");
    for key in ["added", "removed", "changed"] {
        assert!(found[key].is_array(), "{key}");
    }
}

#[test]
fn what_is_no_side_of_a_diff_exits_with_2() {
    let workspace = saved();
    workspace.write("list.json", r#"{"tools": [{"name": "a"}]}"#);
    workspace.write("words.txt", "hello");
    workspace.write("empty.yaml", "");
    let words = "list.json: error: entry 1 of `tools` is no tool";
    check(&workspace, &["list.json", "saved.json"], 2, &[words]);
    check(&workspace, &["nowhere.json", "saved.json"], 2, &["nowhere.json: error: No such file"]);
    check(&workspace, &["words.txt", "saved.json"], 2, &["words.txt: error: is no document"]);
    check(&workspace, &["empty.yaml", "saved.json"], 2, &["empty.yaml"]);
    let flag = ["saved.json", "saved.json", UPSTREAM];
    check(&workspace, &flag, 2, &["`--upstream` has no effect beside OLD and NEW"]);
    let flag = ["saved.json", "saved.json", "--ca-file=ca.pem"];
    check(&workspace, &flag, 2, &["`--ca-file` has no effect beside OLD and NEW"]);
    check(
        &workspace,
        &["http://127.0.0.1:1/a.json", "saved.json", "--allow=GET *"],
        2,
        &["cannot be fetched"],
    );
}

/// One operation with an argument `size`.
const DOCUMENT: &str = "openapi: 3.0.3
info: { title: t, version: '1' }
paths:
  /a: { get: { operationId: read, parameters: [{ name: size, in: query, schema: { type: integer } }], responses: { '204': { description: ok } } } }
  /b: { get: { operationId: other, responses: { '204': { description: ok } } } }
";

/// `read` under another name, with its argument under another name, and `other` no more.
const RENAMED: &str = "tools: [{ operation: read, name: fetch, aliases: [read], arguments: { size: { name: limit } } }]";

async fn until(client: &Client, n_tools: usize) {
    let listed = || async { (client.names().await.len() == n_tools).then_some(()) };
    eventually("the list", listed).await;
}

#[tokio::test]
async fn a_caller_of_what_a_swap_took_away_is_told() {
    let workspace = Workspace::new(DOCUMENT, "tools: [read, other]");
    let server = workspace.serve_in_process(&Recorder::json("{}")).await;
    for era in Era::ALL {
        workspace.replace("allowlists/api.yaml", "tools: [read, other]");
        let client = Client::connect(server.address, era).await;
        until(&client, 2).await;
        workspace.replace("allowlists/api.yaml", RENAMED);
        until(&client, 1).await;
        let told = client.call("read", json!({"size": 1})).await;
        let text = told["content"][0]["text"].as_str().unwrap();
        assert_eq!(told["isError"], true, "{told}");
        assert!(text.contains("it is called `limit`; list the tools again"), "{text}");
        assert_eq!(client.call("read", json!({"limit": 1})).await["isError"], false);
        let gone = client.request("tools/call", json!({"name": "other", "arguments": {}})).await;
        let message = gone["error"]["message"].as_str().unwrap();
        assert!(message.contains("no longer available since a change"), "{message}");
        assert!(message.contains("list the tools again"), "{message}");
    }
    let status = server.gateway.status();
    let last = status.history.swaps().next().unwrap();
    assert_eq!((last.totals.renamed, last.totals.removed, last.totals.breaking), (1, 1, 2));
    assert_eq!(last.diff.renamed[0].to, "fetch");
}
