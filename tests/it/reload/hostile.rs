//! Documents and allowlists that no writer means: refused by what is wrong with them, the process alive,
//! the next good save live.

use super::{
    scene::{Files, Scene},
    versions::{ALL, document},
};

/// A document whose root is a schema nested so deep.
fn deep(depth: usize, open: &str, close: &str) -> String {
    let nested = open.repeat(depth) + &close.repeat(depth);
    format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths: {{}}\nx-deep: {nested}\n")
}

/// Ten aliases of ten aliases, and so on.
fn bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    text
}

/// 200 kB of aliases that stand for 100 MB.
fn heavy() -> String {
    let aliases = "*a, ".repeat(40_000);
    format!("a: &a {}\nb: [{aliases}]\n", "x".repeat(2_500))
}

fn documents() -> Vec<(&'static str, String)> {
    let good = document(2);
    vec![
        ("empty", String::new()),
        ("only comments", "# nothing\n# here\n".to_owned()),
        ("null", "~\n".to_owned()),
        ("blank lines", "\n\n\n".to_owned()),
        ("a page", "<!doctype html><html><body>502 Bad Gateway</body></html>".to_owned()),
        ("a list", "[]\n".to_owned()),
        ("another format", "{\"swagger\": \"1.2\"}".to_owned()),
        ("a half", good[..good.len() / 2].to_owned()),
        ("a duplicate key", good.replace("  /op3:", "  /op2:")),
        ("nested 10,000 deep in braces", deep(10_000, "{a: ", "}")),
        ("nested 10,000 deep in brackets", deep(10_000, "[", "]")),
        ("nested 10,000 deep in indents", {
            (0..10_000).map(|depth| format!("{}a:\n", " ".repeat(depth % 2_000))).collect()
        }),
        ("an alias bomb", bomb()),
        ("aliases worth 100 MB", heavy()),
        ("an alias of itself", "a: &a {b: *a}\n".to_owned()),
        ("a tab", "openapi: 3.0.3\n\tinfo: {}\n".to_owned()),
        ("two documents", format!("{good}---\n{good}")),
        ("a lost reference", good.replace("    S3v2:", "    T3v2:")),
        ("control characters", "openapi: \u{0}\u{7}\n".to_owned()),
    ]
}

/// Each is refused, whether it is written in place or renamed over, and forgotten with the next save.
fn check(
    name: &str,
    bad: &[(&'static str, String)],
    good: impl Fn(usize) -> String,
    live: impl Fn(usize) -> String,
) {
    let files = Files::new();
    let builder = files.builder();
    let scene = Scene::start(files, builder);
    for (n, (what, text)) in bad.iter().enumerate() {
        let before = scene.live();
        if n % 2 == 0 {
            scene.files.write(name, text);
        } else {
            scene.files.replace(name, text);
        }
        scene.until(what, |scene| scene.status().failure.is_some());
        let refused = scene.refused();
        println!("{what}: {}", refused.lines().next().unwrap_or_default());
        assert!(refused.contains("api.yaml"), "{what}: {refused}");
        assert_eq!(scene.live(), before, "{what}");
        scene.files.write(name, good(n));
        scene.until_live(&live(n));
        scene.until_healed();
    }
    let allowed: Vec<_> = (0..bad.len()).map(live).collect();
    let seen = scene.seen();
    assert!(seen.iter().skip(1).all(|seen| allowed.contains(seen)), "{seen:?}");
    assert_eq!(scene.status().counts.panics, 0);
}

#[test]
fn a_hostile_document_changes_nothing_and_the_next_good_one_is_live() {
    let version = |n| n as u32 + 2;
    check(
        "spec/api.yaml",
        &documents(),
        |n| document(version(n)),
        |n| format!("api={}*12", version(n)),
    );
}

#[test]
fn a_hostile_allowlist_changes_nothing_and_the_next_good_one_is_live() {
    let bad = vec![
        ("empty", String::new()),
        ("only comments", "# tools:\n#  - GET *\n".to_owned()),
        ("null", "~\n".to_owned()),
        ("a page", "<!doctype html><html></html>".to_owned()),
        ("a list", "- GET *\n".to_owned()),
        ("an unknown key", format!("toolz: []\n{ALL}")),
        ("a duplicate key", format!("{ALL}{ALL}")),
        ("nested deep", format!("tools: {}{}\n", "[".repeat(10_000), "]".repeat(10_000))),
        ("an alias bomb", bomb()),
        ("aliases worth 100 MB", heavy()),
    ];
    let list = |n| format!("prefix: n{n}_\n{ALL}");
    check("allowlists/api.yaml", &bad, list, |n| format!("api=n{n}/1*12"));
}
