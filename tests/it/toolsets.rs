use serde_json::json;
use toolgate::{Gateway, gateway::Builder};

use crate::support::{Client, Era, Recorder, Server, Workspace, eventually};

/// A document whose GETs have these operationIds.
fn document(ids: &[&str]) -> String {
    let path = |id: &&str| {
        format!(
            "  /{id}: {{get: {{operationId: {id}, responses: {{'200': {{description: ok}}}}}}}}\n"
        )
    };
    let paths: String = ids.iter().map(path).collect();
    format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}")
}

/// Two allowlists over one document.
fn two(first: &str, second: &str) -> Workspace {
    let workspace = Workspace::new(&document(&["one", "two", "three"]), first);
    workspace.write("allowlists/other.yaml", second);
    workspace
}

fn names(gateway: &Gateway) -> Vec<String> {
    let snapshot = gateway.snapshot().unwrap();
    snapshot.tools().map(|(_, tool)| tool.name.as_str().to_owned()).collect()
}

fn in_process(workspace: &Workspace) -> Builder {
    workspace.builder().service(Recorder::json("{}").router())
}

#[test]
fn toolsets_stand_in_file_name_order_and_tools_in_their_own() {
    let workspace = two("tools: [two, one]", "tools: [three]");
    assert_eq!(names(&in_process(&workspace).start().unwrap()), ["two", "one", "three"]);
}

#[test]
fn equal_names_refuse_both_at_the_start_and_name_the_ways_out() {
    let workspace = two("tools: [one, two]", "tools: [two]");
    let error = in_process(&workspace).start().unwrap_err();
    let text = error.to_string();
    assert_eq!(error.diagnostics.len(), 2, "{text}");
    for words in
        ["`two`", "prefix: api_", "prefix: other_", "- operation: GET /two", "name: other_two"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
    let gateway = in_process(&workspace).keep_going(true).start().unwrap();
    assert_eq!(names(&gateway), [""; 0]);
}

#[tokio::test]
async fn a_clash_while_running_refuses_the_toolset_that_changed() {
    let workspace = two("tools: [one]", "tools: [two]");
    let gateway = in_process(&workspace).start().unwrap();
    for (file, text, refused) in [
        ("allowlists/api.yaml", "tools: [one, two]", "api"),
        ("allowlists/other.yaml", "tools: [two, one]", "other"),
    ] {
        let before = workspace.read(file);
        workspace.replace(file, text);
        let toolset = eventually("the refusal", || async {
            gateway.status().refusals().first().map(|refusal| refusal.toolset.clone())
        })
        .await;
        assert_eq!(toolset, refused);
        assert_eq!(names(&gateway), ["one", "two"]);
        workspace.replace(file, &before);
        eventually("the healing", || async {
            gateway.status().refusals().is_empty().then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn names_can_move_between_toolsets_in_one_save() {
    let workspace = two("tools: [one]", "tools: [two]");
    let gateway = in_process(&workspace).start().unwrap();
    workspace.replace("allowlists/other.yaml", "tools: [one]");
    workspace.replace("allowlists/api.yaml", "tools: [two]");
    eventually("the swap", || async { (names(&gateway) == ["two", "one"]).then_some(()) }).await;
}

#[tokio::test]
async fn a_named_upstream_is_for_one_toolset_and_a_bare_one_for_the_others() {
    let workspace = two(
        "upstream: http://127.0.0.1:1\ntools: [one]",
        "upstream: http://127.0.0.1:2\ntools: [two]",
    );
    let (one, two) = (Recorder::json("{}"), Recorder::json("{}"));
    let origins =
        [format!("http://{}", one.listen().await), format!("http://{}/v2", two.listen().await)];
    let error = workspace.builder().upstream(&origins[0]).start().unwrap_err().to_string();
    assert!(error.contains("different origins") && error.contains("--upstream api="), "{error}");
    let gateway = workspace
        .builder()
        .upstream_of("api", &origins[0])
        .upstream_of("other", &origins[1])
        .start()
        .unwrap();
    let server = Server::start(gateway).await;
    let client = Client::connect(server.address, Era::Modern).await;
    client.call("one", json!({})).await;
    client.call("two", json!({})).await;
    assert_eq!(one.take().line(), "GET /one");
    assert_eq!(two.take().line(), "GET /v2/two");
}

#[test]
fn what_is_missing_is_said_together() {
    let workspace = Workspace::new(&document(&["one"]), "tools: [one]");
    let error = Gateway::builder().allowlists(workspace.path("allowlists")).start().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("has no upstream") && text.contains("names no document"), "{text}");
}

#[test]
fn an_upstream_beside_a_service_in_this_process_is_an_error() {
    let workspace =
        Workspace::new(&document(&["one"]), "upstream: http://127.0.0.1:1\ntools: [one]");
    let error = in_process(&workspace).start().unwrap_err().to_string();
    assert!(error.contains("api.yaml:1:1") && error.contains("in this process"), "{error}");
}

#[test]
fn an_operators_credential_is_not_mixed_with_the_callers() {
    let workspace = Workspace::new(
        &document(&["one"]),
        "headers: { Authorization: Bearer configured }\ntools: [one]",
    );
    let gateway = in_process(&workspace).start().unwrap();
    let snapshot = gateway.snapshot().unwrap();
    assert!(snapshot.toolsets()[0].toolset.target.forward.is_empty());
    assert!(!format!("{snapshot:?}").contains("configured"));
}
