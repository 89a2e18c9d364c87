use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Recorder, Workspace};

fn toolgate(workspace: &Workspace, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    command.current_dir(workspace.path("")).env_clear().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const UPSTREAM: [&str; 2] = ["--upstream", "http://127.0.0.1:9"];

#[test]
fn check_is_quiet_and_good_on_good_inputs() {
    let workspace = Workspace::memos();
    let output = toolgate(&workspace, &["check", "openapi.yaml", UPSTREAM[0], UPSTREAM[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("17 tools"), "{}", text(&output.stdout));
}

#[test]
fn check_says_every_fault_with_its_line_and_a_caret_and_exits_with_2() {
    let workspace = Workspace::memos();
    let listed = workspace.read("allowlists/api.yaml");
    workspace.write(
        "allowlists/api.yaml",
        &format!("{listed}  - MemoService_GetMemmo\n  - GET /api/v1/nowhere\n"),
    );
    let output = toolgate(&workspace, &["check", "openapi.yaml", UPSTREAM[0], UPSTREAM[1]]);
    assert_eq!(output.status.code(), Some(2));
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let line = listed.lines().count() + 1;
    assert!(said.contains(&format!("allowlists/api.yaml:{line}:5: error: ")), "{said}");
    for words in ["`MemoService_GetMemmo`", "`MemoService_GetMemo`", "`GET /api/v1/nowhere`", "^"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_secret_file_may_be_named_relative_to_its_allowlist() {
    let workspace = Workspace::memos();
    let listed = workspace.read("allowlists/api.yaml");
    let check = |path: &str| {
        let headers = format!("headers: {{ X-Key: '${{file:{path}}}' }}\n");
        workspace.write("allowlists/api.yaml", &(headers + &listed));
        toolgate(&workspace, &["check", "openapi.yaml", UPSTREAM[0], UPSTREAM[1]])
    };
    workspace.write("key", "k3y");
    for path in ["../key".to_owned(), workspace.path("key").display().to_string()] {
        let output = check(&path);
        assert_eq!(output.status.code(), Some(0), "{path}: {}", text(&output.stderr));
    }
    let output = check("../no-key");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(said.contains("error: `../no-key` does not exist"), "{said}");
}

#[test]
fn bad_flags_exit_with_2_and_name_the_way_out() {
    let workspace = Workspace::memos();
    for (arguments, words) in [
        (&["serve", "openapi.yaml"][..], "--upstream"),
        (&["serve", "missing.yaml", UPSTREAM[0], UPSTREAM[1]], "missing.yaml"),
        (&["serve", "openapi.yaml", "--limit", "repply=1KiB"], "reply"),
        (&["serve", "openapi.yaml", "--stdio", "--listen", "127.0.0.1:0"], "--listen"),
        (
            &["serve", "openapi.yaml", "--stdio", "--inbound-token-file", "token"],
            "--inbound-token-file",
        ),
        (
            &["serve", "openapi.yaml", UPSTREAM[0], UPSTREAM[1], "--inbound-token-file", "token"],
            "token: error: does not exist",
        ),
        (
            &["serve", "openapi.yaml", UPSTREAM[0], UPSTREAM[1], "--ca-file", "ca.pem"],
            "ca.pem: error: cannot be read",
        ),
        (&["nonsense"], "--help"),
    ] {
        let output = toolgate(&workspace, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn an_operators_credential_on_an_open_address_ends_the_start_and_names_both_ways_out() {
    let workspace = Workspace::memos();
    let listed = workspace.read("allowlists/api.yaml");
    let headers = "headers: { X-Key: '${file:key}' }\n";
    workspace.write("allowlists/api.yaml", &format!("{headers}{listed}"));
    workspace.write("allowlists/key", "k3y-s3cret");
    let serve = ["serve", "openapi.yaml", UPSTREAM[0], UPSTREAM[1], "--listen"];
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let output = toolgate(&workspace, &[&serve[..], &[listen]].concat());
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        for words in
            ["allowlists/api.yaml:1:", "--inbound-token-file FILE", "--listen 127.0.0.1:7676"]
        {
            assert!(said.contains(words), "{said}");
        }
        assert!(!said.contains("k3y-s3cret"), "{said}");
    }
}

#[test]
fn tools_prints_names_targets_and_bytes() {
    let workspace = Workspace::memos();
    let output = toolgate(&workspace, &["tools", "openapi.yaml", UPSTREAM[0], UPSTREAM[1]]);
    let said = text(&output.stdout);
    assert!(said.contains("memo_list_memos") && said.contains("GET /api/v1/memos"), "{said}");
    assert!(said.contains("http://127.0.0.1:9"), "{said}");
    let output =
        toolgate(&workspace, &["tools", "openapi.yaml", UPSTREAM[0], UPSTREAM[1], "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["tools"].as_array().unwrap().len(), 17);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn call_prints_what_a_model_would_see() {
    let recorder = Recorder::json(r#"{"name": "memos/1"}"#);
    let upstream = format!("http://{}", recorder.listen().await);
    let workspace = Workspace::memos();
    let run = |arguments: &[&str]| {
        let all = ["call", "--document", "openapi.yaml", "--upstream", &upstream];
        toolgate(&workspace, &[&all[..], arguments].concat())
    };
    let output = run(&["memo_get_memo", "memo=abc"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("memos/1"));
    assert_eq!(recorder.take().line(), "GET /api/v1/memos/abc");
    let output = run(&["memo_create_memo", r#"{"content": "a", "visibility": "PRIVATE"}"#]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(recorder.take().json()["content"], "a");
    let output = run(&["memo_get_memo", "mmo=abc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("`memo`"), "{}", text(&output.stdout));
}

#[test]
fn init_prints_a_file_that_allows_nothing_yet_and_allow_takes_the_marks_out() {
    let workspace = Workspace::memos();
    let init = |more: &[&str]| {
        let output = toolgate(&workspace, &[&["init", "openapi.yaml"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let page = text(&output.stdout).to_owned();
        workspace.write("allowlists/api.yaml", &page);
        page
    };
    let page = init(&[UPSTREAM[0], UPSTREAM[1]]);
    assert!(page.starts_with("# yaml-language-server: $schema=./schema.json\n"), "{page}");
    assert!(page.contains("\ndocument: ../openapi.yaml\nupstream: http://127.0.0.1:9\n"), "{page}");
    assert!(page.contains("\n  # - MemoService_ListMemos "), "{page}");
    let output = toolgate(&workspace, &["check"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("api: 0 tools"), "{}", text(&output.stdout));

    let page = init(&["--allow", "GET /api/v1/memos*"]);
    assert!(page.contains("\n# upstream: http://localhost:8080 "), "{page}");
    assert!(page.contains("\n  - MemoService_ListMemos "), "{page}");
    let output = toolgate(&workspace, &["check", UPSTREAM[0], UPSTREAM[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn init_refuses_what_it_cannot_read_or_find() {
    let workspace = Workspace::memos();
    for (arguments, words) in [
        (&["init"][..], "`toolgate init DOCUMENT`"),
        (&["init", "missing.yaml"], "missing.yaml"),
        (&["init", "openapi.yaml", "--allow", "MemoService_GetMemmo"], "`MemoService_GetMemo`"),
    ] {
        let output = toolgate(&workspace, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && text(&output.stderr).contains(words), "{output:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn init_takes_the_upstream_from_the_url_that_was_typed() {
    let recorder = Recorder::json(
        r#"{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "servers": [{"url": "http://other"}],
            "paths": {"/tea": {"get": {"operationId": "tea", "responses": {"204": {"description": "ok"}}}}}}"#,
    );
    let origin = format!("http://{}", recorder.listen().await);
    let workspace = Workspace::memos();
    let url = format!("{origin}/openapi.json");
    let output = toolgate(&workspace, &["init", &url]);
    let page = text(&output.stdout);
    assert!(
        page.contains(&format!("\ndocument: {url}\nupstream: {origin}\n\ntools:\n")),
        "{output:?}"
    );
    assert!(page.ends_with("  # - tea   # GET /tea\n"), "{page}");
}
