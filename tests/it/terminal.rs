use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use crate::support::Workspace;

const FILE: &str = "allowlists/api.yaml";
const LIST: &str = "document: ../openapi.yaml\ntools:\n  # - MemoService_ListMemos\n";
const ALLOWED: &str = "document: ../openapi.yaml\ntools:\n  - MemoService_ListMemos\n";

/// Runs a command on a pseudo-terminal, types a line once it asks, prints what stood on the terminal and
/// exits as the command did.
const TERMINAL: &str = r#"
import os, pty, sys
answer = sys.argv[1].encode() + b"\n"
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, typed = b"", False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if not typed and b"[y/N] " in shown:
        os.write(terminal, answer)
        typed = True
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

fn workspace() -> Workspace {
    let workspace = Workspace::memos();
    workspace.write(FILE, LIST);
    workspace
}

/// Whether there is a Python with pseudo-terminals; said aloud when there is none.
fn is_terminal_at_hand() -> bool {
    let probe = Command::new("python3").args(["-c", "import pty"]).stderr(Stdio::null()).status();
    let found = probe.is_ok_and(|status| status.success());
    if !found {
        eprintln!("SKIPPED: no python3 with `pty`, so nobody was asked at a terminal");
    }
    found
}

/// The exit code, what stood on the terminal, and the file afterwards.
fn answered(answer: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let workspace = workspace();
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, answer, env!("CARGO_BIN_EXE_toolgate"), "allow"]);
    command.args(["MemoService_ListMemos"]).args(more).current_dir(workspace.path(""));
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8(stdout).unwrap();
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (status.code(), shown, workspace.read(FILE))
}

#[test]
fn a_person_at_a_terminal_is_asked_and_decides() {
    if !is_terminal_at_hand() {
        return;
    }
    for (answer, code, after) in
        [("y", 0, ALLOWED), ("YES", 0, ALLOWED), ("n", 1, LIST), ("", 1, LIST), ("yea", 1, LIST)]
    {
        let (actual, shown, file) = answered(answer, &[]);
        assert!(shown.contains("+   - MemoService_ListMemos"), "{answer}: {shown}");
        assert!(shown.contains("allow? [y/N] "), "{answer}: {shown}");
        assert_eq!((actual, file.as_str()), (Some(code), after), "{answer}: {shown}");
    }
    let (code, shown, file) = answered("n", &["--yes"]);
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert_eq!((code, file.as_str()), (Some(0), ALLOWED));
}

#[test]
fn without_a_terminal_only_yes_agrees() {
    let run = |more: &[&str]| {
        let workspace = workspace();
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.args(["allow", "MemoService_ListMemos"]).args(more);
        command.current_dir(workspace.path("")).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // An answer that nobody was asked for.
        let _ = child.stdin.take().unwrap().write_all(b"y\n");
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap(), workspace.read(FILE))
    };
    let (code, said, file) = run(&[]);
    assert!(said.contains("no terminal to ask at; pass `--yes`"), "{said}");
    assert_eq!((code, file.as_str()), (Some(2), LIST));
    let (code, said, file) = run(&["--yes"]);
    assert_eq!((code, said.as_str(), file.as_str()), (Some(0), "", ALLOWED));
}
