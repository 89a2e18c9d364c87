use std::{fs, path::PathBuf, sync::Arc, time::Instant};

use super::*;
use crate::{
    allowlist,
    config::{Limits, Policy},
    openapi::{self, text::Text},
    registry::{
        Settings, Toolset,
        plan::{Target, Upstream},
    },
};

const DOCUMENT: &str = "
openapi: 3.0.3
info: { title: Memos, version: '1' }
servers: [{ url: \"https://example.com/base/\\u202e\\n- evil\" }]
tags: [{ name: Memos }]
paths:
  /users:
    get: { operationId: 'true', tags: [Users], responses: { '204': { description: ok } } }
  /memos:
    post: { operationId: createMemo, tags: [Memos], deprecated: true, responses: { '204': { description: ok } } }
    get: { operationId: listMemos, tags: [Memos], summary: \"List\\n- evil\\u2028 memos\", responses: { '204': { description: ok } } }
  /a:
    get: { operationId: twice, responses: { '204': { description: ok } } }
  '/b #{c}':
    get: { operationId: twice, summary: Odd, parameters: [{ name: c, in: path, required: true, schema: { type: string } }], responses: { '204': { description: ok } } }
  /star/*:
    get: { operationId: 'a*', responses: { '204': { description: ok } } }
  /star/x:
    get: { operationId: 'tag:x', responses: { '204': { description: ok } } }
  /torn:
    get: { operationId: torn, responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Gone' } } } } } }
";

fn read(name: &str, text: &[u8]) -> Option<Arc<Api>> {
    openapi::parse(&Text::new(name, text).ok()?).ok().map(Arc::new)
}

fn page(api: &Arc<Api>, allow: &[&str]) -> Result<String, Vec<Diagnostic>> {
    let allow: Vec<_> = allow.iter().map(|selector| (*selector).to_owned()).collect();
    let allowlist = Allowlist::from_selectors("all", &allow)?;
    let head = Head { document: "../openapi.yaml".to_owned(), upstream: None };
    let survey = registry::survey(api, &Limits::default());
    Page { api, head: &head, allowlist: &allowlist, survey: &survey }.write().map(|page| page.0)
}

fn compile(api: &Arc<Api>, content: &str) -> Result<Toolset, Vec<Diagnostic>> {
    let text = Text::new("a.yaml", content.as_bytes()).unwrap();
    let allowlist = allowlist::parse("a", &text)?;
    let target = Arc::new(Target {
        upstream: Upstream::Service,
        base_path: None,
        from: String::new(),
        headers: Vec::new(),
        forward: Vec::new(),
        max_in_flight: 1,
    });
    let settings = Settings { policy: Policy::Strict, limits: Limits::default(), target };
    registry::compile(api, &allowlist, &settings)
}

/// Each selectable line with its `# ` taken out, and what the whole text is then.
fn edits(page: &str) -> impl Iterator<Item = (&str, String)> {
    let selectable = |line: &str| line.trim_start().starts_with("# - ");
    page.lines().enumerate().filter(move |(_, line)| selectable(line)).map(|(place, line)| {
        let edited = page.lines().enumerate().map(|(at, other)| match at == place {
            true => other.replacen("# ", "", 1) + "\n",
            false => format!("{other}\n"),
        });
        (line, edited.collect())
    })
}

/// Every edit is a valid one that allows one operation, and so are all of them together.
fn check_edits(name: &str, api: &Arc<Api>, every: usize) -> usize {
    let page = page(api, &[]).unwrap();
    let toolset = compile(api, &page).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
    assert!(toolset.tools.is_empty(), "{name}");
    let mut n_lines = 0;
    for (line, edited) in edits(&page) {
        n_lines += 1;
        if n_lines % every != 0 {
            continue;
        }
        let toolset = compile(api, &edited).unwrap_or_else(|faults| panic!("{line}: {faults:?}"));
        assert_eq!(toolset.tools.len(), 1, "{name}: {line}");
        let key = toolset.tools[0].key.to_string();
        let shown = comment(&key, LONGEST);
        let is_named = [scalar(&key), shown.trim_end_matches('…').to_owned()];
        assert!(is_named.iter().any(|name| line.contains(name)), "{name}: {line}: {key}");
    }
    let all = page.replace("\n  # - ", "\n  - ");
    let toolset = compile(api, &all).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
    assert_eq!(toolset.tools.len(), n_lines, "{name}");
    let shown = page.lines().filter(|line| line.starts_with("  ")).count();
    assert!(shown >= api.operations().len(), "{name}: {shown}");
    n_lines
}

#[test]
fn operations_stand_by_tag_reads_first_and_each_under_a_name_that_is_its_own() {
    let api = read("api.yaml", DOCUMENT.as_bytes()).unwrap();
    let expected = "\
# yaml-language-server: $schema=./schema.json
# What agents may call: take the `# ` from an operation to allow it. Saved changes are live at once.
document: ../openapi.yaml
# upstream: http://localhost:8080   # write where calls go; the document names https://example.com/base/ - evil

tools:
  ## Memos
  - listMemos    # GET /memos: List - evil memos
  # - createMemo   # POST /memos (deprecated)

  ## Users
  # - GET /users

  ## without a tag
  # - GET /a
  ## - \"GET /b #{c}\"   # cannot be called: path `/b #{c}` has a `#` in it; give the real one as `path` in the allowlist
  ## GET /star/*: cannot be called: path `/star/*` cannot be filled: it has a literal `*`; give the real…
  # - GET /star/x
  ## - torn            # GET /torn: cannot be called: `#/components/schemas/Gone` does not exist
";
    assert_eq!(page(&api, &["listMemos", "torn"]).unwrap(), expected);
}

#[test]
fn tools_that_would_share_a_name_get_one_each() {
    let document = "
openapi: 3.0.3
info: { title: T, version: '1' }
paths:
  /a:
    get: { operationId: listTea, responses: { '204': { description: ok } } }
    post: { operationId: list_tea, responses: { '204': { description: ok } } }
  /list/tea:
    get: { operationId: post_a, responses: { '204': { description: ok } } }
  '/a/{b}':
    get: { operationId: 'list.tea', parameters: [{ name: b, in: path, required: true, schema: {} }], responses: { '204': { description: ok } } }
";
    let api = read("api.yaml", document.as_bytes()).unwrap();
    let page = page(&api, &["list_tea"]).unwrap();
    let tools = "\
tools:
  # - listTea                                    # GET /a
  # - post_a                                     # GET /list/tea
  # - { operation: \"list.tea\", name: get_a_b }   # GET /a/{b}
  - { operation: list_tea, name: post_a_2 }    # POST /a
";
    assert!(page.ends_with(tools), "{page}");
    assert_eq!(check_edits("clashes", &api, 1), 4);
}

#[test]
fn a_selector_that_matches_nothing_names_the_nearest() {
    let api = read("api.yaml", DOCUMENT.as_bytes()).unwrap();
    let faults = page(&api, &["listMemo", "tag:Memo"]).unwrap_err();
    let shown: Vec<_> = faults.iter().map(Diagnostic::to_string).collect();
    let expected = [
        "--allow: error: `listMemo` matches no operation of `api.yaml`; did you mean `listMemos`?",
        "--allow: error: `tag:Memo` matches no operation of `api.yaml`; did you mean `Memos`?",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn taking_out_one_mark_is_a_valid_edit() {
    let api = read("api.yaml", DOCUMENT.as_bytes()).unwrap();
    assert_eq!(check_edits("own", &api, 1), 5);
    let commented = page(&api, &[]).unwrap();
    let upstream = commented.replacen("# upstream", "upstream", 1);
    assert!(compile(&api, &upstream).is_ok());
}

#[test]
fn taking_out_one_mark_is_a_valid_edit_in_every_known_document() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder =
        std::env::var_os("TOOLGATE_SPECS").map_or(root.join("../shared/specs"), Into::into);
    let own = [root.join("tests/data/openapi"), root.join("spec")];
    let folders = own.into_iter().chain(Some(folder).filter(|folder| folder.is_dir()));
    let (mut n_documents, mut n_lines, start) = (0, 0, Instant::now());
    for file in folders.flat_map(files) {
        let Some(api) = read("api", &fs::read(&file).unwrap()) else { continue };
        // The largest ones line by line would take longer than all other tests.
        let every = (api.operations().len() / 10).max(1);
        n_documents += 1;
        n_lines += check_edits(&file.display().to_string(), &api, every);
    }
    eprintln!("{n_documents} documents, {n_lines} lines, {:?}", start.elapsed());
    assert!(n_documents > 0 && n_lines > 0);
}

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|one| end == *one))
    });
    files.sort();
    files
}
