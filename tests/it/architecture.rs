//! The import table of `docs/architecture.md`, held against the source text.
//!
//! The texts are read without their comments and without their `mod tests`; what remains is searched
//! for `crate::module` and for the names of outside crates.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Module, and what it may import. `openapi::text` is the strict reader that two modules share.
const IMPORTS: &[(&str, &[&str])] = &[
    ("diagnostic", &[]),
    ("config", &["diagnostic"]),
    ("tls", &["diagnostic"]),
    ("source", &["diagnostic", "config", "tls"]),
    ("openapi", &["diagnostic"]),
    ("allowlist", &["diagnostic", "config", "openapi::text"]),
    ("registry", &["diagnostic", "config", "openapi", "allowlist"]),
    ("snapshot", &["diagnostic", "config", "source", "openapi", "allowlist", "registry"]),
    ("upstream", &["config", "tls", "registry::plan", "openapi"]),
    (
        "mcp",
        &[
            "diagnostic",
            "config",
            "source",
            "openapi",
            "allowlist",
            "registry",
            "snapshot",
            "upstream",
        ],
    ),
    (
        "gateway",
        &[
            "diagnostic",
            "config",
            "tls",
            "source",
            "openapi",
            "allowlist",
            "registry",
            "snapshot",
            "upstream",
            "mcp",
        ],
    ),
    (
        "cli",
        &[
            "diagnostic",
            "config",
            "tls",
            "source",
            "openapi",
            "allowlist",
            "registry",
            "snapshot",
            "upstream",
            "mcp",
            "gateway",
        ],
    ),
];

/// Outside crates with an owner: only files whose path starts with one of these name them.
const OWNERS: &[(&str, &[&str])] = &[
    ("notify", &["source/watch"]),
    ("openapiv3", &["openapi"]),
    ("serde_yaml", &["openapi/text"]),
    ("jsonschema", &["registry"]),
    ("arc_swap", &["snapshot/live"]),
    ("hyper_util", &["upstream/client", "source/remote", "mcp/http"]),
    ("hyper_rustls", &["upstream/client", "source/remote"]),
    ("socket2", &["mcp/http"]),
    ("rmcp", &["mcp"]),
    ("axum", &["mcp", "admin", "gateway"]),
    ("tower_http", &["mcp", "admin", "upstream/client"]),
    ("rustls", &["tls"]),
    ("clap", &["cli"]),
];

/// Never name tokio: they are synchronous. The poller of URLs runs one on a thread of its own.
const SYNCHRONOUS: &[&str] = &["source", "openapi", "allowlist", "registry", "explore"];
const SYNCHRONOUS_BUT: &[&str] = &["source/remote"];

#[test]
fn modules_import_only_what_stands_above_them() {
    let table: BTreeMap<_, _> = IMPORTS.iter().copied().collect();
    let mut faults = Vec::new();
    for file in sources() {
        let Some(allowed) = table.get(file.module.as_str()) else {
            if !matches!(file.module.as_str(), "lib" | "main") {
                faults.push(format!("{}: `{}` is not in the import table", file.path, file.module));
            }
            continue;
        };
        for import in file.imports() {
            let own = import.split("::").next() == Some(&file.module);
            let fits = |may: &&str| import == **may || import.starts_with(&format!("{may}::"));
            if !own && !allowed.iter().any(fits) {
                faults.push(format!("{} imports `{import}`", file.path));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn outside_crates_have_one_owner() {
    let mut faults = Vec::new();
    for file in sources() {
        for (krate, owners) in OWNERS {
            let owned = owners.iter().any(|owner| file.path.starts_with(owner));
            if !owned && file.names(krate) {
                faults.push(format!("{} names `{krate}`, which belongs to {owners:?}", file.path));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_build_is_synchronous() {
    let is_synchronous = |file: &Source| {
        let build = file.module == "snapshot" && !file.path.starts_with("snapshot/live");
        let listed = SYNCHRONOUS.contains(&file.module.as_str());
        (build || listed) && !SYNCHRONOUS_BUT.iter().any(|but| file.path.starts_with(but))
    };
    let faults: Vec<_> =
        sources().into_iter().filter(|file| is_synchronous(file) && file.names("tokio")).collect();
    assert!(faults.is_empty(), "{:?}", faults.iter().map(|file| &file.path).collect::<Vec<_>>());
}

#[test]
fn every_dependency_is_used() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let files = sources();
    for line in section.lines().filter(|line| line.contains('=')) {
        let name = line.split([' ', '=']).next().unwrap().replace('-', "_");
        assert!(files.iter().any(|file| file.names(&name)), "no file in src/ names `{name}`");
    }
}

#[test]
fn the_table_in_the_documentation_is_this_one() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for (module, _) in IMPORTS {
        assert!(
            page.contains(&format!("| `{module}` |")),
            "docs/architecture.md has no row for `{module}`"
        );
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

struct Source {
    /// Below `src/`, without ending: `registry/plan`.
    path: String,
    /// The first part of the path.
    module: String,
    /// Without comments and without its `mod tests`.
    code: String,
}

fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join("src"), &mut files);
    files.sort();
    let sources = files.iter().map(|path| Source::read(path));
    sources.filter(|file| !file.is_test()).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

impl Source {
    fn read(file: &Path) -> Self {
        let below = file.strip_prefix(root().join("src")).unwrap().with_extension("");
        let path = below.to_str().unwrap().replace('\\', "/");
        let module = path.split('/').next().unwrap().to_owned();
        let text = fs::read_to_string(file).unwrap();
        // Not at the `mod tests;` of a file beside, which stands above the code.
        let tests = ["\nmod tests {", "\npub(super) mod tests {"];
        let end = tests.iter().filter_map(|tests| text.find(tests)).min();
        let text = &text[..end.unwrap_or(text.len())];
        let code = text
            .lines()
            .map(|line| line.split("//").next().unwrap())
            .collect::<Vec<_>>()
            .join("\n");
        Self { path, module, code }
    }

    /// Files that `#[cfg(test)] mod` brings in.
    fn is_test(&self) -> bool {
        let tests = ["tests", "fixture", "corpus", "sweep", "sample", "random", "raw", "server"];
        self.path.split('/').any(|part| tests.contains(&part))
    }

    /// Paths after `crate::`, groups spelled out two levels deep.
    fn imports(&self) -> BTreeSet<String> {
        let mut imports = BTreeSet::new();
        for rest in self.code.split("crate::").skip(1) {
            expand("", rest, &mut imports);
        }
        imports
    }

    /// Whether the code names an outside crate as a path, and not a module of its own of that name.
    fn names(&self, krate: &str) -> bool {
        let own = root().join("src").join(&self.module).join(krate).with_extension("rs");
        !own.exists() && self.code.lines().any(|line| is_named(line, krate))
    }
}

/// Whether a line has `krate::` or `use krate`, outside of a string.
fn is_named(line: &str, krate: &str) -> bool {
    let whole =
        |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let code = |before: &str| before.matches('"').count().is_multiple_of(2);
    let path = format!("{krate}::");
    let mut before = line.match_indices(&path).map(|(place, _)| &line[..place]);
    before.any(|before| whole(before) && code(before)) || line.contains(&format!("use {krate};"))
}

/// Adds the paths that start at `text`: `a::b`, or each of `{a, b::c}`; at most two names long.
fn expand(prefix: &str, text: &str, paths: &mut BTreeSet<String>) {
    if let Some(group) = text.strip_prefix('{') {
        for part in members(group) {
            expand(prefix, part.trim(), paths);
        }
        return;
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() || (prefix.is_empty() && name.starts_with(char::is_uppercase)) {
        return;
    }
    let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}::{name}") };
    match text[name.len()..].strip_prefix("::") {
        Some(rest) if prefix.is_empty() => expand(&path, rest, paths),
        _ => drop(paths.insert(if name == "self" { prefix.to_owned() } else { path })),
    }
}

/// The comma-separated members of a group, up to its closing brace.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (place, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                members.push(&group[start..place]);
                return members;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&group[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    members
}

#[test]
fn the_reader_of_imports_sees_groups() {
    let code = "use crate::{\n  allowlist::{Entry, Selector},\n  openapi::text::Text,\n};\ncrate::mcp::serve();".to_owned();
    let source = Source { path: String::new(), module: String::new(), code };
    let found: Vec<_> = source.imports().into_iter().collect();
    assert_eq!(found, ["allowlist::Entry", "allowlist::Selector", "mcp::serve", "openapi::text"]);
}
