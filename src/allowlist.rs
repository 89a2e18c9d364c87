//! The allowlist file: which operations of one document become tools, and how.
//!
//! [`parse`] turns a text into an [`Allowlist`] whose every entry knows its place, or into all the
//! faults of the file at once, none twice; [`read`] gives the sound rest of such a file too. Nothing here knows a document or reads a file: whether a
//! selector matches anything is for the registry to say, and [`references`] tells whoever reads the
//! inputs what else to read.
//!
//! The keys stand in one table, from which unknown ones are told and the [`schema`] for editors is
//! made. An empty list or mapping may be written as nothing (all its lines commented out); `tools`
//! must be there, so that a file cut short is not taken for one that allows nothing.

mod broken;
pub mod edit;
mod entry;
mod file;
pub mod header;
mod key;
mod read;
mod reference;
mod schema;
pub mod selector;
pub mod write;

use std::{sync::Arc, time::Duration};

use http::HeaderName;
use serde_json::Value;

pub use broken::{Broken, Doubt, Rest};
pub use header::HeaderPiece;
pub use reference::{References, references};
pub use schema::schema;
pub use selector::{Pattern, Selector};

use crate::{
    diagnostic::{Diagnostic, Place, Position},
    openapi::text::{Text, is_json},
};

/// One allowlist. Its version is known, every entry has a [`Position`]; [`parse`] and
/// [`Allowlist::from_selectors`] are the only makers.
#[derive(Clone, Debug)]
pub struct Allowlist {
    /// The toolset's name: the file name without its ending.
    pub name: String,
    /// The file as the user named it.
    pub file: Arc<str>,
    /// `document`: a path relative to the allowlist's folder, or a URL.
    pub document: Option<Located<String>>,
    /// `upstream`: an origin, optionally with a path.
    pub upstream: Option<Located<String>>,
    /// `base_path`: replaces the document's.
    pub base_path: Option<Located<String>>,
    /// `deny`: never, whatever `tools` says.
    pub deny: Vec<Located<Selector>>,
    /// `tools`, in file order.
    pub entries: Vec<Entry>,
    /// `instructions`: what a model is told about the server, instead of the text made from the document.
    pub instructions: Option<String>,
    /// `headers`: on every call, in file order.
    pub headers: Vec<Header>,
    /// `forward`: the caller's headers that go upstream; `None` means the default rule.
    pub forward: Option<Vec<Located<HeaderName>>>,
    /// `resource_names`.
    pub resource_names: bool,
    /// `prefix`, before derived names only.
    pub prefix: String,
    /// `docs`.
    pub docs: Docs,
    /// `docs_prefix`.
    pub docs_prefix: String,
    /// `output`: whether output schemas are published.
    pub output: bool,
    /// `timeout`.
    pub timeout: Option<Duration>,
    /// `max_response`, in bytes.
    pub max_response: Option<usize>,
    /// `max_in_flight`.
    pub max_in_flight: Option<usize>,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub position: Position,
}

/// The documentation tools of a toolset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Docs {
    /// None.
    #[default]
    Off,
    /// Over the listed operations and the schemas they reach.
    Listed,
    /// Over the whole document.
    All,
}

/// One entry of `headers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Never a protected one.
    pub name: Located<HeaderName>,
    /// Its value in pieces.
    pub value: Vec<HeaderPiece>,
}

/// One entry of `tools`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which operations.
    pub selector: Selector,
    /// What differs from what the document says; only on an entry that names one operation.
    pub changes: Changes,
    /// Where the entry stands.
    pub position: Position,
}

/// Overrides of one entry; everything absent by default.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// `name`: final, no prefix.
    pub name: Option<Located<String>>,
    /// `aliases`: old names that still answer.
    pub aliases: Vec<Located<String>>,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `annotations`.
    pub annotations: Annotations,
    /// `hide`: arguments that are not offered, by wire name or argument name.
    pub hide: Vec<Located<String>>,
    /// `required`: exactly these, besides path parameters.
    pub required: Option<Vec<Located<String>>>,
    /// `path`: replaces the document's.
    pub path: Option<Located<String>>,
    /// `arguments`, in file order.
    pub arguments: Vec<ArgumentChange>,
    /// `response_headers`: lifted into the answer.
    pub response_headers: Vec<Located<HeaderName>>,
    /// `output`: whether the output schema is published.
    pub output: Option<bool>,
    /// `timeout`.
    pub timeout: Option<Duration>,
    /// `max_response`, in bytes.
    pub max_response: Option<usize>,
}

/// Overrides of the four hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// One entry of `arguments`.
#[derive(Clone, Debug)]
pub struct ArgumentChange {
    /// The argument it is about, by wire name or argument name.
    pub argument: Located<String>,
    /// `name`: what the argument is called.
    pub name: Option<Located<String>>,
    /// `description`.
    pub description: Option<String>,
    /// `default`: sent when the caller gives none.
    pub default: Option<Value>,
    /// `fixed`: always sent, not an argument.
    pub fixed: Option<Value>,
    /// `slashes`: a path value that keeps its slashes.
    pub slashes: bool,
}

impl Allowlist {
    /// The allowlist of `--allow`, whose entries stand at the flag; `name` is the toolset's.
    ///
    /// # Errors
    /// Every selector that is not one.
    pub fn from_selectors(name: &str, selectors: &[String]) -> Result<Self, Broken> {
        file::from_selectors(name, selectors)
    }
}

/// Reads an allowlist file; `name` is the toolset's.
///
/// # Errors
/// Every fault of the file, each with its place, in the order of the text.
pub fn parse(name: &str, text: &Text) -> Result<Allowlist, Vec<Diagnostic>> {
    Ok(read(name, text)?)
}

/// As [`parse`], and keeps what is sound of a file that has faults.
///
/// # Errors
/// Every fault of the file, each with its place, in the order of the text, and the rest of it.
pub fn read(name: &str, text: &Text) -> Result<Allowlist, Broken> {
    let no_value = |fault| Broken {
        faults: vec![without_secrets(in_plain_words(fault), text.content())],
        rest: None,
    };
    let value = text.value().map_err(no_value)?;
    file::read(name, text.file(), &value, |pointers| places(text, pointers))
}

/// Steps that finding places may take; all allowlists that people write need a thousandth.
const MAX_STEPS: usize = 400_000_000;

/// Columns are counted from the start of a line, so many nodes on one endless line are quadratic work:
/// such a file, which a program wrote, is known by its name alone.
fn places(text: &Text, pointers: &[&str]) -> Vec<Option<Place>> {
    let longest = text.content().lines().map(str::len).max().unwrap_or_default();
    match longest.checked_mul(pointers.len()) {
        Some(steps) if steps <= MAX_STEPS => text.places(pointers),
        _ => pointers.iter().map(|_| None).collect(),
    }
}

/// A text that cannot be read does not tell which values are secret, so no line is shown that may be one
/// of `headers` or holds a URL with a password.
fn without_secrets(mut fault: Diagnostic, content: &str) -> Diagnostic {
    let place = fault.position.as_mut().and_then(|position| position.place.as_mut());
    let Some(place) = place else { return fault };
    let above = content.lines().take(place.line as usize);
    let starts_key =
        |line: &&str| line.starts_with(|first: char| !first.is_whitespace() && first != '#');
    let is_json = is_json(content.as_bytes());
    let section = if is_json { Some(content) } else { above.filter(starts_key).last() };
    let may_be_header = section.is_some_and(|section| section.contains("headers"));
    if may_be_header || place.excerpt.contains("://") && place.excerpt.contains('@') {
        place.excerpt = Box::default();
    }
    fault
}

/// The YAML parser's words help nobody who does not know its grammar; the usual slips are named.
fn in_plain_words(fault: Diagnostic) -> Diagnostic {
    let place = fault.position.as_ref().and_then(|position| position.place.as_ref());
    let excerpt = place.map(|place| &*place.excerpt).unwrap_or_default();
    // In YAML a `*` starts an alias.
    let is_star = place.is_some_and(|place| {
        let before = (place.column as usize).saturating_sub(2);
        excerpt.chars().skip(before).take(2).any(|character| character == '*')
    });
    let is_tab = excerpt.chars().take_while(|c| c.is_whitespace()).any(|blank| blank == '\t');
    let says = |words: &str| fault.message.contains(words);
    let help = if is_star {
        "in YAML, text that starts with `*` needs quotes: `\"* /api/*\"`"
    } else if is_tab {
        "indent with spaces; YAML takes no tabs"
    } else if says("mapping values are not allowed") {
        "give all keys of one entry the same indent, and text that holds `: ` double quotes"
    } else if says("did not find expected") {
        "close every `[`, `{` and quote, and give all items of one list the same indent"
    } else {
        return fault;
    };
    fault.help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &str) -> Text {
        Text::new("allowlists/memos.yaml", content.as_bytes()).unwrap()
    }

    /// Every line of the faults of a file, as a terminal shows them.
    fn check(content: &str, expected: &[&str]) {
        let faults = parse("memos", &text(content)).expect_err("faults");
        let shown: Vec<_> = faults.iter().map(Diagnostic::to_string).collect();
        assert_eq!(shown, expected);
    }

    const FIRST_SCREEN: &str = r#"
# what agents may call
document: ../spec/openapi.yaml
upstream: http://127.0.0.1:5230
deny: [AuthService_*, "* /api/v1/users/*"]   # never, whatever stands below

tools:
  - MemoService_ListMemos              # an operationId
  - GET /api/v1/memos/{memo}           # or METHOD /path
  - GET /api/v1/reports/*              # * matches anything, / too
  - tag: AttachmentService             # every operation of a tag
  - operation: MemoService_UpdateMemo  # with changes
    description: Change fields of one memo.
    hide: [name, updateMask]
"#;

    #[test]
    fn the_first_screen_is_read_with_its_places() {
        let allowlist = parse("memos", &text(FIRST_SCREEN)).unwrap();
        let shown: Vec<_> = allowlist
            .entries
            .iter()
            .map(|entry| {
                let place = entry.position.place.as_ref().unwrap();
                format!("{}:{} {}", place.line, place.column, entry.selector)
            })
            .collect();
        let expected = [
            "8:5 MemoService_ListMemos",
            "9:5 GET /api/v1/memos/{memo}",
            "10:5 GET /api/v1/reports/*",
            "11:5 tag:AttachmentService",
            "12:5 MemoService_UpdateMemo",
        ];
        assert_eq!(shown, expected);
        let last = &allowlist.entries.last().unwrap().changes;
        assert_eq!(last.hide[1].value, "updateMask");
        assert_eq!(last.hide[1].position.place.as_ref().unwrap().line, 14);
        assert_eq!(allowlist.deny[1].position.place.as_ref().unwrap().column, 23);
    }

    #[test]
    fn the_rest_of_the_language_is_read() {
        let content = r#"
# yaml-language-server: $schema=./schema.json
version: 1
headers: { X-Api-Key: "${MEMO_KEY}" }
forward: [authorization]
resource_names: true
base_path: /v2
prefix: memo_
docs: true
docs_prefix: docs_
output: false
timeout: 30s
max_response: 128KiB
max_in_flight: 64
tools:
  - operation: MemoService_CreateMemo
    name: memo_create
    aliases: [memo_create_memo]
    title: Write a memo
    annotations: { destructive: false, idempotent: false }
    required: [content]
    path: /api/v1/memos
    arguments:
      visibility: { default: PRIVATE, description: Who may read it. }
      state: { fixed: NORMAL }
      createTime: { name: created_at }
      file_path: { slashes: true }
    response_headers: [Next-Page]
"#;
        let allowlist = parse("memos", &text(content)).unwrap();
        assert_eq!(allowlist.entries[0].changes.arguments.len(), 4);
        assert_eq!(references(content).variables, ["MEMO_KEY"]);
    }

    #[test]
    fn only_comments_below_tools_are_no_tools() {
        let allowlist = parse("memos", &text("tools:\n  # - MemoService_ListMemos\n")).unwrap();
        assert!(allowlist.entries.is_empty());
    }

    #[test]
    fn an_empty_file_is_no_allowlist() {
        for content in ["", "# tools:\n", "\n\n"] {
            let faults = parse("memos", &text(content)).unwrap_err();
            assert!(faults[0].to_string().contains("the allowlist is empty"), "{faults:?}");
        }
    }

    #[test]
    fn faults_stand_in_the_order_of_the_text() {
        check(
            "tools:\n  - GET api\n  - operation: A\n    hdie: [a]\n  - GET  /b\n  - get /b\ndney: []\ntimeout: 5\n",
            &[
                "allowlists/memos.yaml:2:5: error: the path of `GET api` does not start with `/`; write `GET /api`",
                "allowlists/memos.yaml:4:5: error: unknown key `hdie`; did you mean `hide`?",
                "allowlists/memos.yaml:6:5: error: `GET /b` is listed twice; first on line 5",
                "allowlists/memos.yaml:7:1: error: unknown key `dney`; did you mean `deny`?",
                "allowlists/memos.yaml:8:1: error: `timeout`: expected a duration like `30s`, found a number; write the unit, like `5s`",
            ],
        );
    }

    #[test]
    fn json_is_read_too() {
        check(
            "{\n  \"tools\": [\"A\", \"A\"],\n  \"docs\": \"no\"\n}",
            &[
                "allowlists/memos.yaml:2:18: error: `A` is listed twice; first on line 2",
                "allowlists/memos.yaml:3:3: error: `docs`: expected `true`, `false` or `all`, found a string; write `false`, without quotes",
            ],
        );
    }

    #[test]
    fn an_endless_line_is_read_in_bounded_time() {
        let list = |n_selectors: usize| {
            let selectors: Vec<_> = (0..n_selectors).map(|n| format!("a{n}")).collect();
            parse("memos", &text(&format!("tools: [{}]", selectors.join(",")))).unwrap()
        };
        let long = list(30_000);
        assert_eq!(long.entries.len(), 30_000);
        assert_eq!(long.entries[7].position, Position::whole("allowlists/memos.yaml"));
        assert!(list(1_000).entries[7].position.place.is_some());
    }

    #[test]
    fn a_text_that_is_no_yaml_has_one_fault() {
        check(
            "tools: [\n",
            &[
                "allowlists/memos.yaml:2:1: error: not valid YAML: did not find expected node content; close every `[`, `{` and quote, and give all items of one list the same indent",
            ],
        );
    }

    #[test]
    fn an_unquoted_star_is_refused_with_quotes() {
        for content in ["tools:\n  - * /a\n", "tools:\n  - *Memo\n", "deny: [A, * /a]\n"] {
            let faults = parse("memos", &text(content)).unwrap_err();
            assert_eq!(faults.len(), 1, "{faults:?}");
            let help = "in YAML, text that starts with `*` needs quotes: `\"* /api/*\"`";
            assert_eq!(faults[0].help.as_deref(), Some(help), "{faults:?}");
        }
    }

    #[test]
    fn other_slips_of_yaml_are_named_too() {
        let help = |content: &str| parse("memos", &text(content)).unwrap_err()[0].help.clone();
        let check = |content: &str, words: &str| {
            let help = help(content).unwrap_or_default();
            assert!(help.contains(words) && !words.is_empty(), "{content}: {help}");
        };
        check("tools: *", "`*` needs quotes");
        check("tools:\n\t- A\n", "no tabs");
        check("tools:\n  - operation: A\n     hide: [x]\n", "the same indent");
        check("tools:\n  - a: b: c\n", "double quotes");
        check("a*: [\n", "close every `[`");
    }

    #[test]
    fn a_line_that_may_hold_a_secret_is_not_shown_when_the_text_is_broken() {
        let shown = |content: &str| parse("memos", &text(content)).unwrap_err()[0].snippet();
        for content in [
            "{headers: {X-Key: hunter22}, tools: [A]}",
            "{\n  \"headers\": {\n    \"X-Key\": 'hunter22'\n  }\n}",
            "tools:\n- A\nheaders:\n# mine\n  X-Key: a: hunter22\n",
            "upstream: http://a:hunter22@host: 5\n",
        ] {
            assert!(!shown(content).contains("hunter22"), "{content}: {}", shown(content));
        }
        assert!(shown("headers: {}\ntools:\n  - a: b: c\n").contains("a: b: c"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_does_more_than_fail(
            lines in proptest::collection::vec(
                "(tools|deny|headers|docs|timeout|- operation|  hide|- tag|x)?(:|: )?[\\[\\]{}*\"'$a-c0-9 -]{0,8}",
                0..8,
            ),
        ) {
            let text = text(&lines.join("\n"));
            let _ = references(text.content());
            if let Err(faults) = parse("memos", &text) {
                assert!(!faults.is_empty());
                for fault in &faults {
                    assert!(fault.position.is_some(), "{fault}");
                    let twice = faults.iter().filter(|other| *other == fault).count();
                    assert_eq!(twice, 1, "{fault}");
                }
            }
        }
    }
}
