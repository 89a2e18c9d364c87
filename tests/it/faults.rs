use std::{fs, process::Output};

use serde_json::Value;
use toolgate::{allowlist, openapi::text::Text};

use crate::support::Workspace;

const UPSTREAM: [&str; 2] = ["--upstream", "http://127.0.0.1:9"];

fn said(workspace: &Workspace, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = workspace.command(arguments).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// The errors of `check`, one a line, without the lines they stand on.
#[track_caller]
fn check(workspace: &Workspace, expected: &[&str]) {
    let (code, said) = said(workspace, &["check"]);
    let errors: Vec<_> = said.lines().filter(|line| line.contains("error: ")).collect();
    assert_eq!(errors, expected, "{said}");
    assert_eq!(code, Some(2));
    let start =
        self::said(workspace, &["serve", "--listen", "127.0.0.1:0", "--log-format", "text"]);
    assert_eq!(start, (code, said), "a start says the same");
}

fn workspace(allowlist: &str) -> Workspace {
    let workspace = Workspace::memos();
    workspace.write("allowlists/api.yaml", allowlist);
    workspace
}

const HEAD: &str = "document: ../openapi.yaml\nupstream: http://127.0.0.1:9\n";

#[test]
fn a_misspelt_key_hides_no_other_fault() {
    let tools = "\
prefx: a_
headers: { X-Key: '${NOT_SET}' }
tools:
  - MemoService_ListMemo
  - operation: MemoService_GetMemo
    hdie: [memo]
    hide: [nothing_like_it]
  - operation: MemoService_CreateMemo
    max_response: 12XB
    required: [contnt]
  - tag: MemoServic
";
    let workspace = workspace(&format!("{HEAD}{tools}"));
    check(
        &workspace,
        &[
            "allowlists/api.yaml:3:1: error: unknown key `prefx`; did you mean `prefix`?",
            "allowlists/api.yaml:4:12: error: `${NOT_SET}` is not set in the environment; set `NOT_SET` before the start, or remove the header",
            "allowlists/api.yaml:6:5: error: `MemoService_ListMemo` matches no operation of `openapi.yaml`; did you mean `MemoService_ListMemos`?",
            "allowlists/api.yaml:8:5: error: unknown key `hdie`; did you mean `hide`?",
            "allowlists/api.yaml:9:12: error: the operation has no argument `nothing_like_it`; it has `memo`",
            "allowlists/api.yaml:11:5: error: `12XB` is no size; write bytes, or a whole number of kB, KiB, MB, MiB, GB or GiB, like `128KiB`",
            "allowlists/api.yaml:12:16: error: the operation has no argument `contnt`; did you mean `content`?",
            "allowlists/api.yaml:13:5: error: `tag:MemoServic` matches no operation of `openapi.yaml`; did you mean `MemoService`?",
        ],
    );
}

#[test]
fn one_mistake_is_one_fault() {
    for (keys, expected) in [
        ("dney: [MemoService_GetMemo]", "error: unknown key `dney`"),
        ("deny: [/memos]", "error: `/memos` has no method"),
        ("upstrem: http://h", "error: unknown key `upstrem`"),
    ] {
        // Without the denied one there is no clash.
        let tools = "tools:\n  - { operation: MemoService_ListMemos, name: a }\n  - { operation: MemoService_GetMemo, name: a }\n";
        let head = HEAD.lines().next().unwrap();
        let upstream = if keys.contains("upstrem") { "" } else { "\nupstream: http://127.0.0.1:9" };
        let tools = if keys.contains("upstrem") { "tools: []\n" } else { tools };
        let workspace = workspace(&format!("{head}{upstream}\n{keys}\n{tools}"));
        let (_, said) = said(&workspace, &["check"]);
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
        assert!(said.contains(expected), "{said}");
    }
    let prefix = "prefx: a_\ntools:\n  - MemoService_GetMemo\n  - { operation: MemoService_ListMemos, name: memo_get_memo }\n";
    let (_, said) = said(&workspace(&format!("{HEAD}{prefix}")), &["check"]);
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    let entry = "tools:\n  - { operation: MemoService_GetMemo, nmae: b }\n  - { operation: MemoService_ListMemos, name: memo_get_memo }\n";
    let (_, said) = self::said(&workspace(&format!("{HEAD}{entry}")), &["check"]);
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
}

#[test]
fn a_broken_document_and_a_broken_file_are_said_together() {
    let workspace = workspace(&format!("{HEAD}dcos: true\ntools: [MemoService_ListMemo]\n"));
    workspace.write("allowlists/second.yaml", &format!("{HEAD}tools: [/memos]\n"));
    workspace.write("openapi.yaml", "openapi: 3.0.3\npaths: 1\n");
    let (code, said) = said(&workspace, &["check"]);
    let errors: Vec<_> = said.lines().filter(|line| line.contains("error: ")).collect();
    assert_eq!(code, Some(2));
    let [key, document, selector] = errors.as_slice() else { panic!("{said}") };
    assert!(key.starts_with("allowlists/api.yaml:3:1: error: unknown key `dcos`"), "{said}");
    assert!(document.starts_with("openapi.yaml:2:1: error: "), "{said}");
    assert!(selector.starts_with("allowlists/second.yaml:3:9: error: "), "{said}");
}

#[test]
fn a_reload_names_all_that_a_shared_document_refuses_in_one_warning() {
    let workspace = workspace(&format!("{HEAD}tools: [MemoService_ListMemos]\n"));
    let second = format!("{HEAD}prefix: b_\ntools: [MemoService_ListMemos]\n");
    workspace.write("allowlists/second.yaml", &second);
    let log = fs::File::create(workspace.path("log")).unwrap();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--log-format", "text"];
    let mut server = workspace.command(&serve).stderr(log).spawn().unwrap();
    workspace.logged("listening on");
    workspace.replace("openapi.yaml", "openapi: 3.0.3\npaths: 1\n");
    let log = workspace.logged("openapi.yaml:2:1");
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(log.contains("`api`, `second` keep their last good versions:"), "{log}");
    assert_eq!(log.matches("openapi.yaml:2:1: error: ").count(), 1, "{log}");
}

#[test]
fn without_a_file_the_flag_is_named_and_not_the_key() {
    let workspace = Workspace::memos();
    fs::remove_dir_all(workspace.path("allowlists")).unwrap();
    let (code, said) = said(&workspace, &["check", "openapi.yaml", "--allow", "GET *"]);
    let expected = "error: there is no upstream: nothing says where calls go; pass `--upstream http://HOST:PORT`\n";
    assert_eq!((code, said.as_str()), (Some(2), expected));
}

/// What `init` prints for a document, with every mark taken out, and what it says beside.
#[track_caller]
fn initialised(document: &str) {
    let workspace = workspace("tools: []\n");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/init");
    let text = fs::read_to_string(format!("{folder}/{document}")).unwrap();
    workspace.write("openapi.yaml", &text);
    for allow in [&[][..], &["--allow", "* /*"]] {
        let init = [&["init", "openapi.yaml"], allow].concat();
        let output = workspace.command(&init).output().unwrap();
        let (page, said) =
            [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap()).into();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("does not say yet where calls go"), "{said}");
        workspace.write("allowlists/api.yaml", &page);
        let (code, said) = self::said(&workspace, &[&["check"], &UPSTREAM[..]].concat());
        assert_eq!(code, Some(0), "{page}\n--\n{said}");
        let all = page.replace("\n  # - ", "\n  - ").replace("\n# upstream: ", "\nupstream: ");
        workspace.write("allowlists/api.yaml", &all);
        let (code, said) = self::said(&workspace, &["check"]);
        assert_eq!((code, said.as_str()), (Some(0), ""), "{all}");
        let n_entries = all.lines().filter(|line| line.starts_with("  - ")).count();
        let tools = workspace.command(&["tools"]).output().unwrap();
        let listed = String::from_utf8(tools.stdout).unwrap();
        assert!(listed.contains(&format!("\n{n_entries} tools, ")), "{listed}");
    }
}

#[test]
fn init_passes_check_with_every_operation_of_a_2_0_and_a_3_2_document() {
    initialised("v20.yaml");
    initialised("v32.yaml");
}

#[test]
fn a_long_list_is_warned_of_and_served() {
    let paths: String = (0..41)
        .map(|n| format!("  /p{n}: {{get: {{responses: {{'204': {{description: ok}}}}}}}}\n"))
        .collect();
    let document = format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}");
    let workspace = Workspace::new(&document, &format!("{HEAD}tools: ['* /*']\n"));
    let words = "warning: the list has 41 tools: more than 40 ";
    for subcommand in ["check", "tools"] {
        let (code, said) = said(&workspace, &[subcommand]);
        assert!(code == Some(0) && said.starts_with(words) && said.lines().count() == 1, "{said}");
    }
    workspace.write("allowlists/api.yaml", &format!("{HEAD}deny: [GET /p40]\ntools: ['* /*']\n"));
    assert_eq!(said(&workspace, &["check"]), (Some(0), String::new()));
    workspace.write("allowlists/api.yaml", &format!("{HEAD}tools: [GET /p0]\n"));
    let tools = workspace.command(&["tools"]).output().unwrap();
    let listed = String::from_utf8(tools.stdout).unwrap();
    assert!(listed.contains("api: 1 tool → ") && listed.contains("\n1 tool, "), "{listed}");
}

/// Whether an editor that checks the file by its schema finds nothing, as `check` does.
#[track_caller]
fn agreed(allowlist: &str, sound: bool) {
    let validator = jsonschema::validator_for(&allowlist::schema()).unwrap();
    let text = Text::new("a.yaml", allowlist.as_bytes()).unwrap();
    let value = text.value().unwrap();
    let faults: Vec<_> = validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
    assert_eq!(faults.is_empty(), sound, "{allowlist}: {faults:?}");
    assert_eq!(allowlist::parse("a", &text).is_ok(), sound, "{allowlist}");
}

#[test]
fn an_editor_that_has_the_schema_finds_what_check_finds() {
    let root = env!("CARGO_MANIFEST_DIR");
    let folder = fs::read_dir(format!("{root}/allowlists")).unwrap();
    let files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    let is_yaml = |file: &&std::path::PathBuf| file.extension().is_some_and(|end| end == "yaml");
    let yaml: Vec<_> = files.iter().filter(is_yaml).collect();
    assert!(!yaml.is_empty());
    yaml.iter().for_each(|file| agreed(&fs::read_to_string(file).unwrap(), true));
    let schema: Value = serde_json::from_str(
        &fs::read_to_string(format!("{root}/allowlists/schema.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(schema, allowlist::schema());
    agreed("tools:\n", true);
    agreed(
        "docs: all\nmax_response: 5000\ntools: [A, { tag: B }, { operation: C, annotations: { readOnlyHint: true } }]",
        true,
    );
    agreed("dcos: true\ntools: []", false);
    agreed("tools: [{ operation: A, hdie: [] }]", false);
    agreed("tools: [{ operation: A, annotations: { readonly: true } }]", false);
    agreed("tools: [{ operation: A, arguments: { a: { fixd: 1 } } }]", false);
    agreed("tools: A", false);
    agreed("deny: []", false);
    agreed("docs: yes\ntools: []", false);
}
