use std::{env, fs, path::Path, process::Command};

use crate::support::Workspace;

/// Holds `tools --json` of a document and an allowlist against the file of that name. With
/// `TOOLGATE_BLESS` set, a difference is written instead of reported; look at it before it is committed.
fn check(name: &str, document: &str, allowlist: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = Workspace::new(&fs::read_to_string(root.join(document)).unwrap(), allowlist);
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    let arguments = ["tools", "openapi.yaml", "--upstream", "http://127.0.0.1:9", "--json"];
    let output =
        command.current_dir(workspace.path("")).env_clear().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = String::from_utf8(output.stdout).unwrap();
    let path = root.join("tests/data/lists").join(format!("{name}.json"));
    if env::var_os("TOOLGATE_BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert!(expected == found, "{name}: differs; TOOLGATE_BLESS=1 writes what is found");
}

#[test]
fn memos_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let allowlist = fs::read_to_string(root.join("allowlists/memos.yaml")).unwrap();
    check("memos", "spec/openapi.yaml", &allowlist.replace("\ndocument:", "\n# document:"));
}

#[test]
fn swagger_2_list() {
    check("v20", "tests/data/openapi/v20.yaml", "deny: [PATCH /order]\ntools: ['* /*']");
}

#[test]
fn openapi_3_1_list() {
    let deny = "deny: [GET /anchored]";
    check("v31", "tests/data/openapi/v31.json", &format!("{deny}\ntools: ['* /*']"));
}

#[test]
fn openapi_3_2_list() {
    check("v32", "tests/data/openapi/v32.yaml", "tools: ['* /*']");
}
