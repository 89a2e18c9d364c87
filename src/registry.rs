//! An allowlist compiled against its document.
//!
//! [`compile`] decides everything a tool needs once, so that a call only looks things up: names,
//! texts, schemas, hints and the [`plan`]. It is pure: equal inputs give equal bytes, in every
//! process. A toolset succeeds or fails as a whole, and says every fault at once.

pub mod check;
pub mod output;
pub mod plan;
pub mod portable;

mod alias;
mod bundle;
mod changes;
mod clash;
mod draft;
mod findings;
mod finished;
mod hints;
mod input;
mod media;
mod name;
mod object;
mod path;
mod place;
#[cfg(test)]
mod sample;
mod select;
mod survey;
mod text;
mod view;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    allowlist::{Allowlist, Docs, Doubt, Rest},
    config::{Limits, Policy},
    diagnostic::{Diagnostic, Position},
    openapi::{Api, OperationKey},
};
use bundle::Bundle;
use draft::{Draft, Workshop};
use findings::{Findings, Refusal};
use plan::{Plan, Target};
use view::View;

pub use select::{picks, unmatched};
pub use survey::{Survey, nowhere, survey};

/// An allowlist compiled against its document; the unit that succeeds or fails as a whole.
#[derive(Clone, Debug)]
pub struct Toolset {
    /// Its name: the allowlist's.
    pub name: String,
    /// The allowlist file as the user named it.
    pub file: Arc<str>,
    /// The document it was compiled against.
    pub api: Arc<Api>,
    /// Where its calls go.
    pub target: Arc<Target>,
    /// Its tools, in list order.
    pub tools: Vec<Arc<Tool>>,
    /// What a model is told of the API before it sees a tool; one paragraph.
    pub instructions: String,
    /// What was forgiven or is worth knowing.
    pub warnings: Vec<Diagnostic>,
}

/// One operation as MCP sees it. Its roots are objects, its published schemas portable, its checking
/// schema compiles, all four hints are explicit.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// Names that still answer but are not listed.
    pub aliases: Vec<ToolName>,
    /// The operation it calls.
    pub key: OperationKey,
    /// The operation's operationId, when it has one of its own.
    pub operation_id: Option<String>,
    /// The tool as `tools/list` shows it: `name`, `title`, `description`, `inputSchema`,
    /// `outputSchema`, `annotations`, `_meta`, in this order; nothing in it depends on the era.
    pub listed: Map<String, Value>,
    /// What arguments are checked against.
    pub checker: check::Checker,
    /// Everything a call needs.
    pub plan: Plan,
}

impl Tool {
    /// Every name it answers to: its own, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &ToolName> {
        std::iter::once(&self.name).chain(&self.aliases)
    }
}

/// A tool's name: `[A-Za-z0-9_]`, 1 to 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Box<str>);

impl ToolName {
    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for ToolName {
    type Error = String;

    fn try_from(text: &str) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(allowed) {
            return Err(format!("`{text}` is no tool name; use 1 to 64 of A-Z, a-z, 0-9 and `_`"));
        }
        Ok(Self(text.into()))
    }
}

/// What a toolset is compiled with besides its document and allowlist.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is forgiven.
    pub policy: Policy,
    /// Defaults for what the allowlist does not say.
    pub limits: Limits,
    /// Where calls go, decided from flags, file and document.
    pub target: Arc<Target>,
}

/// Compiles an allowlist against its document.
///
/// # Errors
/// Every fault at once, each with its place. With [`Policy::Forgiving`], a listed operation that is not
/// in the document or cannot be called is a warning in the [`Toolset`] instead.
pub fn compile(
    api: &Arc<Api>,
    allowlist: &Allowlist,
    settings: &Settings,
) -> Result<Toolset, Vec<Diagnostic>> {
    build(api, allowlist, &Doubt::default(), settings)
}

/// What a file that has faults of its own gets wrong about its document besides, as far as its rest tells.
pub fn further(api: &Arc<Api>, rest: &Rest, settings: &Settings) -> Vec<Diagnostic> {
    build(api, &rest.allowlist, &rest.doubt, settings).err().unwrap_or_default()
}

fn build(
    api: &Arc<Api>,
    allowlist: &Allowlist,
    doubt: &Doubt,
    settings: &Settings,
) -> Result<Toolset, Vec<Diagnostic>> {
    let resolve = |reference: &str| api.schema(reference);
    let view = View::new(&resolve);
    let workshop = Workshop { api, allowlist, settings, view: &view };
    let selection = select::select(api, allowlist, settings.policy);
    let mut findings = Findings::new(api, settings.policy, selection.errors, selection.warnings);
    let mut bundle = Bundle::new(&view);
    let mut drafts = Vec::new();
    for pick in &selection.picks {
        match Draft::build(pick, &workshop, &mut bundle) {
            Ok(draft) => drafts.push(draft),
            // Its `path` may be what is misspelt.
            Err(Refusal::Uncallable(_)) if doubt.of_entry(allowlist, pick.entry) => {}
            Err(refusal) => findings.refused(pick, refusal),
        }
        findings.remark(pick, bundle.take_unfit_patterns());
    }
    if !doubt.of_tools() {
        let named = drafts.iter().filter(|draft| !doubt.of_name(allowlist, draft.pick.entry));
        findings.clashes(clash::find(named));
    }
    let tools = finish(drafts, bundle, &workshop, &mut findings);
    let mut warnings = findings.settle()?;
    if allowlist.docs != Docs::Off {
        let fault =
            Diagnostic::warning("`docs` has no effect yet: there are no documentation tools");
        warnings.push(fault.at(Position::whole(Arc::clone(&allowlist.file))));
    }
    Ok(Toolset {
        name: allowlist.name.clone(),
        file: allowlist.file.clone(),
        api: api.clone(),
        target: settings.target.clone(),
        instructions: text::instructions(allowlist, api.title(), tools.len()),
        tools,
        warnings,
    })
}

/// Compiles the checkers, once the schemas that all tools share are complete, and reads the finished
/// tools once more.
fn finish(
    drafts: Vec<Draft<'_>>,
    bundle: Bundle<'_>,
    workshop: &Workshop<'_>,
    findings: &mut Findings<'_>,
) -> Vec<Arc<Tool>> {
    let sealed = match bundle.seal() {
        Ok(sealed) => sealed,
        Err(words) => {
            findings.broken(&words);
            return Vec::new();
        }
    };
    let mut tools = Vec::new();
    for draft in drafts {
        let pick = draft.pick.clone();
        match draft.finish(&sealed, workshop) {
            Ok(tool) => {
                findings.unfit(&pick, finished::faults(&tool.listed));
                tools.push(Arc::new(tool));
            }
            Err(refusal) => findings.refused(&pick, refusal),
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;
    use crate::{
        allowlist,
        openapi::{self, text::Text},
    };
    use plan::Upstream;

    const DOCUMENT: &str = "
openapi: 3.0.3
info: { title: Memos, version: '1' }
servers: [{ url: 'https://example.com/base/' }]
paths:
  /memos:
    get:
      operationId: MemoService_ListMemos
      tags: [MemoService]
      summary: List memos
      parameters: [{ name: pageSize, in: query, schema: { type: integer } }]
      responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Memos' } } } } }
    post:
      operationId: MemoService_CreateMemo
      tags: [MemoService]
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Memo' } } } }
      responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Memo' } } } } }
  /memos/{memo}:
    get:
      operationId: MemoService_GetMemo
      tags: [MemoService]
      deprecated: true
      parameters: [{ name: memo, in: path, required: true, schema: { type: string } }]
      responses: { '204': { description: gone } }
  /torn:
    get:
      operationId: torn
      responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/Gone' } } } } }
  /xml:
    post:
      operationId: xml
      tags: [Odd]
      requestBody: { content: { application/xml: { schema: { type: object } } } }
      responses: { '200': { description: ok } }
  /a:
    get: { operationId: twice, tags: [Odd], responses: { '204': { description: ok } } }
  /b:
    get: { operationId: twice, tags: [Odd], responses: { '204': { description: ok } } }
  /c/list-memos:
    get: { operationId: memo_list_memos, tags: [Clash], responses: { '204': { description: ok } } }
components:
  schemas:
    Memos: { type: object, properties: { memos: { type: array, items: { $ref: '#/components/schemas/Memo' } } } }
    Memo:
      type: object
      required: [name, content]
      properties:
        name: { type: string, readOnly: true }
        content: { type: string, pattern: '^(?!x)', maxLength: 100 }
        state: { type: string, enum: [NORMAL, ARCHIVED] }
        parent: { $ref: '#/components/schemas/Memo' }
";

    fn settings(policy: Policy) -> Settings {
        let target = Target {
            upstream: Upstream::Service,
            base_path: None,
            from: "test".into(),
            headers: Vec::new(),
            forward: Vec::new(),
            max_in_flight: 1,
        };
        Settings { policy, limits: Limits::default(), target: Arc::new(target) }
    }

    fn shown(diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
    }

    fn read(text: &str) -> Arc<Api> {
        let text = Text::new("api.yaml", text.as_bytes()).unwrap();
        Arc::new(openapi::parse(&text).unwrap_or_else(|faults| panic!("{}", shown(&faults))))
    }

    fn build_in(
        api: &Arc<Api>,
        allowlist: &str,
        policy: Policy,
    ) -> Result<Toolset, Vec<Diagnostic>> {
        let text = Text::new("a.yaml", allowlist.as_bytes()).unwrap();
        let allowlist = allowlist::parse("a", &text).unwrap_or_else(|f| panic!("{}", shown(&f)));
        compile(api, &allowlist, &settings(policy))
    }

    fn build(allowlist: &str, policy: Policy) -> Result<Toolset, Vec<Diagnostic>> {
        build_in(&read(DOCUMENT), allowlist, policy)
    }

    fn names(toolset: &Toolset) -> String {
        toolset.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The tools under the strict policy.
    fn check(allowlist: &str, expected: &str) {
        let built = build(allowlist, Policy::Strict);
        let toolset = built.unwrap_or_else(|faults| panic!("{}", shown(&faults)));
        assert_eq!(names(&toolset), expected);
    }

    /// The errors under a policy, each holding its words.
    fn refused(allowlist: &str, policy: Policy, words: &[&str]) {
        let faults = build(allowlist, policy).expect_err("refused");
        assert_eq!(faults.len(), words.len(), "{}", shown(&faults));
        for (fault, words) in faults.iter().zip(words) {
            assert!(fault.to_string().contains(words), "{words}\n--\n{}", shown(&faults));
        }
    }

    #[test]
    fn entries_keep_their_order_and_patterns_the_documents() {
        check(
            "tools: [MemoService_GetMemo, MemoService_ListMemos]",
            "memo_get_memo memo_list_memos",
        );
        check(
            "tools: [MemoService_GetMemo, 'tag:MemoService', 'MemoService_*']",
            "memo_get_memo memo_list_memos memo_create_memo",
        );
        check("tools: ['GET /memos*']", "memo_list_memos memo_get_memo");
        check("tools:\n# - MemoService_GetMemo", "");
        check("prefix: my_\ntools: [GET /memos]", "my_memo_list_memos");
    }

    #[test]
    fn an_entry_that_names_an_operation_decides_its_changes() {
        let entry = "{ operation: GET /memos, name: all_memos, aliases: [memos] }";
        check(
            &format!("tools: ['MemoService_*', {entry}]"),
            "all_memos memo_create_memo memo_get_memo",
        );
        refused(
            &format!("tools: [MemoService_ListMemos, {entry}]"),
            Policy::Strict,
            &["`GET /memos` is named twice"],
        );
    }

    #[test]
    fn deny_wins() {
        check("deny: ['* /memos']\ntools: ['MemoService_*']", "memo_get_memo");
        refused(
            "deny: ['POST *']\ntools: [MemoService_CreateMemo]",
            Policy::Forgiving,
            &["a.yaml:2:9: error: `MemoService_CreateMemo` is denied by `POST *`"],
        );
        let toolset = build("deny: [Nobody]\ntools: []", Policy::Strict).unwrap();
        assert!(shown(&toolset.warnings).contains("`Nobody` in `deny` matches no operation"));
    }

    #[test]
    fn a_path_that_leads_elsewhere_once_decoded_is_refused() {
        for segment in ["%2e%2e", ".%2E", "%2E", "x%2f..", "..%5cx"] {
            let tools = format!("tools: [{{ operation: GET /memos, path: /a/{segment}/b }}]");
            let words = format!("holds `{segment}`, which leads elsewhere");
            refused(&tools, Policy::Strict, &[&words]);
        }
        check("tools: [{ operation: GET /memos, path: /a%20b/%2e%2e%2e }]", "memo_list_memos");
    }

    #[test]
    fn a_selector_that_matches_nothing_names_the_nearest() {
        let tools = "tools: [MemoService_ListMemo, GET /memo, 'tag:MemoServic', 'Zzz*']";
        let near = |strict: bool| {
            let mut words = vec!["`MemoServic", "`Zzz*` matches no operation of `api.yaml`"];
            if strict {
                words.splice(0..1, [
                    "a.yaml:1:9: error: `MemoService_ListMemo` matches no operation of `api.yaml`; did you mean `MemoService_ListMemos`?",
                    "did you mean `GET /memos`?",
                    "did you mean `MemoService`?",
                ]);
            } else {
                words[0] = "did you mean `MemoService`?";
            }
            words
        };
        refused(tools, Policy::Strict, &near(true));
        refused(tools, Policy::Forgiving, &near(false));
    }

    #[test]
    fn a_listed_operation_that_cannot_be_called_is_forgiven_in_dev_only() {
        let tools = "tools: [xml, MemoService_Gone, MemoService_GetMemo]";
        refused(
            tools,
            Policy::Strict,
            &["`MemoService_Gone`", "`POST /xml`: the body is `application/xml`"],
        );
        let toolset = build(tools, Policy::Forgiving).unwrap();
        assert_eq!(names(&toolset), "memo_get_memo");
        let warnings = shown(&toolset.warnings);
        assert!(
            warnings.contains("`POST /xml` is left out: the body is `application/xml`"),
            "{warnings}"
        );
        assert!(warnings.contains("`MemoService_Gone` matches no operation"), "{warnings}");
    }

    #[test]
    fn a_pattern_leaves_out_what_cannot_be_called() {
        let toolset = build("tools: ['tag:Odd']", Policy::Strict).unwrap();
        assert_eq!(names(&toolset), "get_a get_b");
        let warnings = shown(&toolset.warnings);
        assert!(
            warnings.starts_with("api.yaml:33:7: warning: `POST /xml` is left out"),
            "{warnings}"
        );
        assert!(warnings.contains("several operations have the operationId `twice`"), "{warnings}");
    }

    #[test]
    fn a_torn_document_refuses_whatever_the_policy() {
        for policy in [Policy::Strict, Policy::Forgiving] {
            refused("tools: [torn]", policy, &["`GET /torn`: `#/components/schemas/Gone`"]);
            refused("tools: ['GET /t*']", policy, &["`GET /torn`: `#/components/schemas/Gone`"]);
        }
        check("tools: [MemoService_GetMemo]", "memo_get_memo");
    }

    #[test]
    fn a_shared_operation_id_lists_the_keys() {
        refused(
            "tools: [twice]",
            Policy::Strict,
            &[
                "`twice` is the operationId of several operations; name one by its key: `GET /a`, `GET /b`",
            ],
        );
        check("tools: [GET /a]", "get_a");
    }

    #[test]
    fn a_clash_of_names_holds_the_lines_to_paste() {
        let tools = "tools:\n- GET /memos\n- GET /c/list-memos";
        let paste = "  - operation: GET /c/list-memos\n    name: get_c_list_memos";
        refused(tools, Policy::Strict, &[paste]);
        let mended = format!("tools:\n  - GET /memos\n{paste}");
        check(&mended, "memo_list_memos get_c_list_memos");
        let alias = "tools: [GET /memos, { operation: GET /a, aliases: [memo_list_memos] }]";
        refused(alias, Policy::Strict, &["both called `memo_list_memos`"]);
    }

    #[test]
    fn faults_of_the_allowlist_are_never_forgiven() {
        let tools = "tools:\n- operation: MemoService_CreateMemo\n  hide: [contents]\n- operation: MemoService_ListMemos\n  arguments: { pageSize: { default: many } }";
        refused(
            tools,
            Policy::Forgiving,
            &[
                "a.yaml:3:10: error: the operation has no argument `contents`; did you mean `content`?",
                "a.yaml:5:16: error: the value for `pageSize` does not fit: expected integer, got `\"many\"`",
            ],
        );
    }

    #[test]
    fn a_tool_is_listed_in_full() {
        let tools = "tools:\n- operation: MemoService_GetMemo\n  name: a_very_long_name_that_some_clients_will_cut_to_sixty\n- MemoService_CreateMemo";
        let toolset = build(tools, Policy::Strict).unwrap();
        let listed = &toolset.tools[1].listed;
        let keys: Vec<&str> = listed.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"]
        );
        assert_eq!(listed["title"], "Memo create memo");
        assert_eq!(listed["description"], "POST /memos");
        assert_eq!(listed["inputSchema"]["required"], serde_json::json!(["content"]));
        assert_eq!(
            listed["_meta"],
            serde_json::json!({"operationId": "MemoService_CreateMemo", "method": "POST",
                "path": "/memos", "toolset": "a"})
        );
        let gone = &toolset.tools[0];
        assert_eq!(gone.plan.shape, plan::Shape::Empty);
        assert_eq!(gone.plan.base_path, "/base");
        assert_eq!(gone.listed["description"], "Deprecated. GET /memos/{memo}");
        assert!(shown(&toolset.warnings).contains("longer than 48 characters"));
        let silent = build("output: false\ntools: [GET /memos]", Policy::Strict).unwrap();
        assert!(!silent.tools[0].listed.contains_key("outputSchema"));
    }

    #[test]
    fn an_unrelated_edit_changes_no_byte_of_a_tool() {
        let more = DOCUMENT.replace(
            "paths:",
            "paths:\n  /aaa:\n    get: { operationId: MemoService_ListMemo, responses: { '204': { description: x } } }",
        );
        let tools = "tools: [MemoService_ListMemos, MemoService_CreateMemo]";
        let bytes = |api: &Arc<Api>| {
            let toolset = build_in(api, tools, Policy::Strict).unwrap();
            let tool = |tool: &Arc<Tool>| format!("{:?}{:?}", tool.listed, tool.plan);
            toolset.tools.iter().map(tool).collect::<String>()
        };
        assert_eq!(bytes(&read(DOCUMENT)), bytes(&read(&more)));
    }

    #[test]
    fn arguments_are_checked_against_the_document() {
        let toolset = build("tools: [MemoService_CreateMemo]", Policy::Strict).unwrap();
        let check = |given: Value| {
            toolset.tools[0]
                .checker
                .check(given.as_object().unwrap().clone())
                .map(|a| a.map().clone())
        };
        let parent = serde_json::json!({"content": "a", "parent": {"content": 5}});
        assert_eq!(check(parent).unwrap()["parent"]["content"], "5");
        let faults = check(serde_json::json!({"content": "xyz", "parent": {"state": "GONE"}}));
        let paths: Vec<String> = faults.unwrap_err().into_iter().map(|fault| fault.path).collect();
        assert_eq!(paths, ["content", "parent.content", "parent.state"]);
    }

    /// The folder of real documents, when there is one.
    fn specs() -> Option<PathBuf> {
        let named = std::env::var_os("TOOLGATE_SPECS").map(PathBuf::from);
        let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/specs");
        Some(named.unwrap_or_else(beside)).filter(|folder| folder.is_dir())
    }

    #[test]
    fn the_seventeen_memo_operations_become_tools() {
        let Some(folder) = specs() else { return };
        let api = read(&fs::read_to_string(folder.join("memos.yaml")).unwrap());
        let memo = "ListMemos CreateMemo GetMemo UpdateMemo DeleteMemo ListMemoComments CreateMemoComment \
            ListMemoAttachments SetMemoAttachments ListMemoReactions UpsertMemoReaction \
            DeleteMemoReaction ListMemoRelations SetMemoRelations";
        let memo = memo.split_whitespace().map(|name| format!("MemoService_{name}"));
        let attachment = ["ListAttachments", "GetAttachment", "DeleteAttachment"];
        let attachment = attachment.iter().map(|name| format!("AttachmentService_{name}"));
        let ids: Vec<String> = memo.chain(attachment).collect();
        let tools = format!("resource_names: true\ntools: [{}]", ids.join(", "));
        let built = build_in(&api, &tools, Policy::Strict);
        let toolset = built.unwrap_or_else(|faults| panic!("{}", shown(&faults)));
        assert_eq!(toolset.tools.len(), 17);
        assert!(toolset.warnings.is_empty(), "{}", shown(&toolset.warnings));
        assert_eq!(toolset.tools[0].name.as_str(), "memo_list_memos");
        assert_eq!(toolset.tools[16].name.as_str(), "attachment_delete_attachment");
    }
}
