use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Output,
};

use serde_json::{Value, json};

use crate::support::Workspace;

const FILE: &str = "allowlists/api.yaml";
const LIST: &str = "\
# mine
document: ../openapi.yaml
deny: [AuthService_*]

tools:
  ## Memos
  # - MemoService_ListMemos   # GET /api/v1/memos: List
  - MemoService_GetMemo   # one

docs: false
";

fn run(workspace: &Workspace, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = workspace.command(arguments).output().unwrap();
    let said = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (status.code(), said)
}

fn workspace(allowlist: &str) -> Workspace {
    let workspace = Workspace::memos();
    workspace.write(FILE, allowlist);
    workspace
}

/// The exit code, words of what is said, and the file afterwards.
#[track_caller]
fn check(workspace: &Workspace, arguments: &[&str], code: i32, words: &[&str], after: &str) {
    let (actual, said) = run(workspace, &[&["allow"], arguments].concat());
    assert_eq!(actual, Some(code), "{arguments:?}: {said}");
    words.iter().for_each(|words| assert!(said.contains(words), "{words}: {said}"));
    assert_eq!(workspace.read(FILE), after, "{arguments:?}");
}

#[test]
fn a_commented_line_is_allowed_and_commented_again() {
    let workspace = workspace(LIST);
    let allowed = LIST.replace("# - MemoService_List", "- MemoService_List");
    let lines = [
        "allowlists/api.yaml:7\n",
        "-   # - MemoService_ListMemos   # GET",
        "+   - MemoService_ListMemos   # GET",
    ];
    check(&workspace, &["GET /api/v1/memos", "--yes"], 0, &lines, &allowed);
    let already = ["`GET /api/v1/memos` is allowed already, by `MemoService_ListMemos` in"];
    check(&workspace, &["GET /api/v1/memos"], 0, &already, &allowed);
    check(&workspace, &["MemoService_ListMemos", "--remove", "--yes"], 0, &["# - "], LIST);
}

#[test]
fn what_is_not_commented_out_gets_a_line_that_goes_again() {
    let workspace = workspace(LIST);
    let added = LIST.replace(
        "# one\n",
        "# one\n  - DELETE /api/v1/memos/{memo}\n  - \"* /api/v1/attachments*\"\n",
    );
    let selectors = ["delete /api/v1/memos/{memo}", "* /api/v1/attachments*"];
    check(&workspace, &[&selectors[..], &["--yes"]].concat(), 0, &["api.yaml:9"], &added);
    let remove = [&selectors[..], &["--remove", "--yes"]].concat();
    check(&workspace, &remove, 0, &["- "], LIST);
}

#[test]
fn nothing_is_written_unasked_or_when_it_would_not_pass() {
    let workspace = workspace(LIST);
    for (arguments, words) in [
        (&["MemoService_ListMemos"][..], &["+   - MemoService_ListMemos", "`--yes`"][..]),
        (&["MemoService_ListMemo", "--yes"], &["did you mean `MemoService_ListMemos`?"]),
        (
            &["AuthService_SignIn", "--yes"],
            &["denied by `AuthService_*` in `allowlists/api.yaml:3`"],
        ),
        (&["tag:AuthService", "--yes"], &["`tag:AuthService` is denied by"]),
        (&["MemoService_ListMemos", "--file", "other.yaml", "--yes"], &["other.yaml"]),
    ] {
        check(&workspace, arguments, 2, words, LIST);
    }
    let broken = LIST.replace("docs: false", "dcos: false");
    workspace.write(FILE, &broken);
    check(&workspace, &["MemoService_ListMemos", "--yes"], 2, &["did you mean `docs`?"], &broken);
}

#[test]
fn an_old_fault_does_not_keep_a_new_operation_out() {
    let old = LIST.replace("MemoService_GetMemo ", "MemoService_Gone ");
    let workspace = workspace(&old);
    let allowed = old.replace("# - MemoService_List", "- MemoService_List");
    check(&workspace, &["MemoService_ListMemos", "--yes"], 0, &[], &allowed);
    let healed = allowed.replace("- MemoService_Gone ", "# - MemoService_Gone ");
    check(&workspace, &["MemoService_Gone", "--remove", "--yes"], 0, &[], &healed);
}

#[test]
fn an_operation_that_a_pattern_allows_is_not_taken_out_alone() {
    let list = "document: ../openapi.yaml\ntools:\n  - MemoService_*\n";
    let workspace = workspace(list);
    let words = ["is allowed by `MemoService_*` in `allowlists/api.yaml:3`", "`deny`"];
    check(&workspace, &["MemoService_GetMemo", "--remove", "--yes"], 2, &words, list);
}

#[test]
fn a_link_and_its_modes_stay() {
    let workspace = workspace(LIST);
    fs::rename(workspace.path(FILE), workspace.path("real.yaml")).unwrap();
    fs::set_permissions(workspace.path("real.yaml"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../real.yaml", workspace.path(FILE)).unwrap();
    let allowed = LIST.replace("# - MemoService_List", "- MemoService_List");
    check(&workspace, &["MemoService_ListMemos", "--yes"], 0, &[], &allowed);
    assert!(workspace.path(FILE).is_symlink());
    let mode = fs::metadata(workspace.path("real.yaml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(fs::read_dir(workspace.path("")).unwrap().count(), 3);
}

#[test]
fn of_several_files_the_one_whose_document_has_the_operation_is_changed() {
    let workspace = workspace(LIST);
    let other = "openapi: 3.0.3\ninfo: { title: T, version: '1' }\npaths:\n  /tea:\n    get: { operationId: tea, responses: { '204': { description: ok } } }\n";
    workspace.write("tea.yaml", other);
    workspace.write("allowlists/tea.yaml", "document: ../tea.yaml\ntools: []\n");
    check(&workspace, &["tea", "--yes"], 0, &["allowlists/tea.yaml:2"], LIST);
    assert_eq!(workspace.read("allowlists/tea.yaml"), "document: ../tea.yaml\ntools:\n  - tea\n");
    let words = ["several allowlists", "`allowlists/tea.yaml`", "`--file FILE`"];
    check(&workspace, &["GET *", "--yes"], 2, &words, LIST);
    check(&workspace, &["coffee", "--yes"], 2, &["no document", "`--file FILE`"], LIST);
    let file = ["MemoService_ListMemos", "--file", FILE, "--yes"];
    let allowed = LIST.replace("# - MemoService_List", "- MemoService_List");
    check(&workspace, &file, 0, &[], &allowed);
}

#[test]
fn without_an_allowlist_the_way_to_one_is_said() {
    let workspace = workspace(LIST);
    fs::remove_dir_all(workspace.path("allowlists")).unwrap();
    let (code, said) = run(&workspace, &["allow", "a"]);
    assert!(code == Some(2) && said.contains("toolgate init DOCUMENT"), "{said}");
}

const UPSTREAM: [&str; 2] = ["--upstream", "http://127.0.0.1:9"];

#[test]
fn check_has_one_json_object_for_good_and_bad() {
    let workspace = workspace(LIST);
    let object = |more: &[&str]| -> (Option<i32>, Value) {
        let output = workspace.command(&[&["check", "--json"], more].concat()).output().unwrap();
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
    };
    let toolset =
        json!({ "name": "api", "file": FILE, "tools": 1, "target": "http://127.0.0.1:9" });
    let good = json!({ "ok": true, "toolsets": [toolset], "diagnostics": [] });
    assert_eq!(object(&UPSTREAM), (Some(0), good));

    workspace.write(FILE, &LIST.replace("MemoService_GetMemo ", "MemoService_GetMem "));
    let (code, bad) = object(&[]);
    assert_eq!((code, &bad["ok"], &bad["toolsets"]), (Some(2), &json!(false), &json!([])));
    let [upstream, unknown] = bad["diagnostics"].as_array().unwrap().as_slice() else {
        panic!("{bad:#}");
    };
    assert!(upstream["message"].as_str().unwrap().contains("no upstream"), "{upstream}");
    assert_eq!((&upstream["line"], &upstream["toolset"]), (&Value::Null, &json!("api")));
    let expected = json!({
        "severity": "error",
        "message": "`MemoService_GetMem` matches no operation of `openapi.yaml`; did you mean `MemoService_GetMemo`?",
        "help": null, "file": FILE, "line": 8, "column": 5, "pointer": "/tools/0", "toolset": "api",
    });
    assert_eq!(*unknown, expected);
    let (code, flag) = object(&["--upstream", "nowhere"]);
    assert_eq!((code, &flag["diagnostics"][0]["file"]), (Some(2), &json!("--upstream")));
}

#[test]
fn a_fault_of_a_shared_document_is_said_once() {
    let workspace = workspace(LIST);
    workspace.write("allowlists/second.yaml", LIST);
    workspace.write("openapi.yaml", "openapi: 3.0.3\npaths: 1\n");
    let (code, said) = run(&workspace, &[&["check"], &UPSTREAM[..]].concat());
    assert_eq!((code, said.matches("error: ").count()), (Some(2), 1), "{said}");
}

#[test]
fn check_start_and_reload_say_the_same() {
    let workspace = workspace(LIST);
    let log = fs::File::create(workspace.path("log")).unwrap();
    let serve =
        [&["serve", "--listen", "127.0.0.1:0", "--log-format", "text"], &UPSTREAM[..]].concat();
    let mut server = workspace.command(&serve).stderr(log).spawn().unwrap();
    workspace.logged("listening on");
    let broken = LIST.replace("MemoService_GetMemo ", "MemoService_GetMem ");
    workspace.write(FILE, &broken.replace("docs: false", "  - GET /nowhere"));
    let log = workspace.logged("`GET /nowhere`");
    server.kill().unwrap();
    server.wait().unwrap();
    let checked = run(&workspace, &[&["check"], &UPSTREAM[..]].concat());
    assert_eq!(checked.0, Some(2));
    assert_eq!(checked.1.matches("error: ").count(), 2, "{}", checked.1);
    assert_eq!(run(&workspace, &serve), checked);
    assert!(log.contains(checked.1.trim_end()), "{log}\n--\n{}", checked.1);
}
