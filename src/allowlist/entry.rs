//! Entries of `tools` and `deny`: a selector, and what an entry changes about its operation.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Annotations, ArgumentChange, Changes, Entry, Located, Selector,
    file::path,
    header,
    key::{ANNOTATIONS, ARGUMENT, CHANGES, SELECTOR},
    read::{Reader, Section, kind_of},
};
use crate::{
    config::unit,
    diagnostic::{Diagnostic, Position, quote},
};

/// Compiling a pattern costs far more than reading it; a list that needs more is better served by tags.
const MAX_PATTERNS: usize = 1_000;

/// Selectors that were already read, by their text.
#[derive(Debug, Default)]
struct Seen {
    positions: HashMap<String, Position>,
    n_patterns: usize,
}

/// The selectors of a list that takes no changes.
pub(super) fn selectors(
    reader: &mut Reader,
    section: &Section<'_>,
    key: &str,
) -> Vec<Located<Selector>> {
    let mut seen = Seen::default();
    let mut selectors = Vec::new();
    for (pointer, item) in section.items(key).unwrap_or_default() {
        let selector = match item {
            Value::Object(map) => {
                let item = Section::open(reader, pointer.clone(), map, &[SELECTOR]);
                selector(reader, &item)
            }
            _ => plain_selector(reader, &pointer, item),
        };
        let Some(selector) = selector else { continue };
        if seen.has_too_many_patterns(reader, &pointer, &selector) {
            break;
        }
        if seen.is_new(reader, &pointer, &selector) {
            selectors.push(reader.located(&pointer, selector));
        }
    }
    selectors
}

/// The entries of `tools`.
pub(super) fn entries(reader: &mut Reader, section: &Section<'_>) -> Vec<Entry> {
    let mut seen = Seen::default();
    let mut entries = Vec::new();
    for (pointer, item) in section.items("tools").unwrap_or_default() {
        let n_faults = reader.n_faults();
        let Some((selector, changes)) = entry(reader, &pointer, item) else {
            reader.doubt().lost |= item.is_object();
            continue;
        };
        if seen.has_too_many_patterns(reader, &pointer, &selector) {
            break;
        }
        let is_faulty = reader.n_faults() > n_faults;
        if seen.is_new(reader, &pointer, &selector) {
            reader.doubt().entries.extend(is_faulty.then_some(entries.len()));
            entries.push(Entry { selector, changes, position: reader.position(&pointer) });
        }
    }
    entries
}

fn entry(reader: &mut Reader, pointer: &str, item: &Value) -> Option<(Selector, Changes)> {
    let Value::Object(map) = item else {
        return Some((plain_selector(reader, pointer, item)?, Changes::default()));
    };
    let section = Section::open(reader, pointer.to_owned(), map, &[SELECTOR, CHANGES]);
    let selector = selector(reader, &section);
    let changes = changes(reader, &section);
    let selector = selector?;
    if selector.names_one() {
        return Some((selector, changes));
    }
    refuse_changes(reader, &section, &selector);
    Some((selector, Changes::default()))
}

fn plain_selector(reader: &mut Reader, pointer: &str, item: &Value) -> Option<Selector> {
    if let Value::String(text) = item {
        return reader.keep(pointer, Selector::parse(text));
    }
    let found = kind_of(item);
    let fault = Diagnostic::error(format!("expected a selector, found {found}"))
        .help("write an operationId, `METHOD /path` or `tag:NAME`");
    reader.fault(pointer, fault);
    None
}

/// The selector of a mapping.
fn selector(reader: &mut Reader, section: &Section<'_>) -> Option<Selector> {
    match (section.text("operation"), section.text("tag")) {
        (Some(text), None) => reader.keep(&section.pointer("operation"), Selector::parse(text)),
        (None, Some(name)) => reader.keep(&section.pointer("tag"), Selector::tag(name)),
        (Some(_), Some(_)) => {
            let fault = Diagnostic::error("`operation` and `tag` stand in one entry")
                .help("make two entries of it");
            reader.fault(&section.pointer("tag"), fault);
            None
        }
        (None, None) => {
            if section.lacks("operation") && section.lacks("tag") {
                let fault = Diagnostic::error("this entry names no operation")
                    .help("write `operation: METHOD /path` (or an operationId) or `tag: NAME`");
                reader.fault(&section.pointer("operation"), fault);
            }
            None
        }
    }
}

/// A change that held for many operations would be a slip more often than a wish.
fn refuse_changes(reader: &mut Reader, section: &Section<'_>, selector: &Selector) {
    let changes: Vec<_> =
        section.names().filter(|name| !matches!(*name, "operation" | "tag")).collect();
    let Some(first) = changes.first() else { return };
    let kind = if matches!(selector, Selector::Tag(_)) { "a tag" } else { "a pattern" };
    let keys = changes.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let words = format!("{keys} cannot apply to {}, which is {kind}", quote(&selector.to_string()));
    let fault = Diagnostic::error(words).help("list the one operation to change by itself");
    reader.fault(&section.pointer(first), fault);
}

impl Seen {
    /// Counts patterns; a fault when there are too many to go on.
    fn has_too_many_patterns(
        &mut self,
        reader: &mut Reader,
        pointer: &str,
        selector: &Selector,
    ) -> bool {
        self.n_patterns += usize::from(matches!(selector, Selector::Pattern(_)));
        if self.n_patterns <= MAX_PATTERNS {
            return false;
        }
        let fault = Diagnostic::error(format!("more than {MAX_PATTERNS} patterns in one list"))
            .help("use tags or wider patterns");
        reader.fault(pointer, fault);
        true
    }

    /// Whether no earlier selector has the same text; a fault when one has.
    fn is_new(&mut self, reader: &mut Reader, pointer: &str, selector: &Selector) -> bool {
        let text = selector.to_string();
        let Some(first) = self.positions.get(&text) else {
            self.positions.insert(text, reader.position(pointer));
            return true;
        };
        let fault = Diagnostic::error(format!("{} is listed twice", quote(&text)));
        let fault = match &first.place {
            Some(place) => fault.help(format!("first on line {}", place.line)),
            None => fault,
        };
        reader.fault(pointer, fault);
        false
    }
}

fn changes(reader: &mut Reader, section: &Section<'_>) -> Changes {
    let own = |text: &str| Ok(text.to_owned());
    Changes {
        name: reader.parsed(section, "name", tool_name),
        aliases: reader.names(section, "aliases", tool_name).unwrap_or_default(),
        title: section.text("title").map(str::to_owned),
        description: section.text("description").map(str::to_owned),
        annotations: annotations(reader, section),
        hide: reader.names(section, "hide", own).unwrap_or_default(),
        required: reader.names(section, "required", own),
        path: reader.parsed(section, "path", path),
        arguments: arguments(reader, section),
        response_headers: reader
            .names(section, "response_headers", header::name)
            .unwrap_or_default(),
        output: section.flag("output"),
        timeout: reader.parsed(section, "timeout", unit::duration).map(|timeout| timeout.value),
        max_response: reader.parsed(section, "max_response", unit::size).map(|size| size.value),
    }
}

/// Whether a tool's name may hold it.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn tool_name(text: &str) -> Result<String, Diagnostic> {
    if !text.is_empty() && text.len() <= 64 && text.bytes().all(is_name_byte) {
        return Ok(text.to_owned());
    }
    Err(Diagnostic::error(format!("{} is no tool name", quote(text)))
        .help("use 1 to 64 of A-Z, a-z, 0-9 and `_`"))
}

fn argument_name(text: &str) -> Result<String, Diagnostic> {
    let digit = text.starts_with(|first: char| first.is_ascii_digit());
    tool_name(text).ok().filter(|_| !digit).ok_or_else(|| {
        Diagnostic::error(format!("{} is no argument name", quote(text)))
            .help("use a letter or `_`, then letters, digits and `_`, up to 64")
    })
}

fn annotations(reader: &mut Reader, section: &Section<'_>) -> Annotations {
    let Some(Value::Object(map)) = section.get("annotations") else {
        return Annotations::default();
    };
    let section = Section::open(reader, section.pointer("annotations"), map, &[ANNOTATIONS]);
    Annotations {
        read_only: section.flag("read_only"),
        destructive: section.flag("destructive"),
        idempotent: section.flag("idempotent"),
        open_world: section.flag("open_world"),
    }
}

fn arguments(reader: &mut Reader, section: &Section<'_>) -> Vec<ArgumentChange> {
    let mut arguments = Vec::new();
    for (pointer, argument, value) in section.entries("arguments") {
        let Some(map) = reader.mapping(&pointer, value) else { continue };
        let section = Section::open(reader, pointer.clone(), map, &[ARGUMENT]);
        refuse_contradiction(reader, &section);
        arguments.push(ArgumentChange {
            argument: reader.located(&pointer, argument.to_owned()),
            name: reader.parsed(&section, "name", argument_name),
            description: section.text("description").map(str::to_owned),
            default: section.get("default").cloned(),
            fixed: section.get("fixed").cloned(),
            slashes: section.flag("slashes").unwrap_or(false),
        });
    }
    arguments
}

/// A fixed argument is no argument, so what an argument is called or falls back to has no effect.
fn refuse_contradiction(reader: &mut Reader, section: &Section<'_>) {
    if section.get("fixed").is_none() {
        return;
    }
    for key in ["name", "description", "default"] {
        if section.get(key).is_some() {
            let words = format!("`{key}` has no effect on an argument that is `fixed`");
            reader.fault(&section.pointer(key), Diagnostic::error(words).help("keep one"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{
        super::file::tests::{faults, read_value},
        *,
    };

    fn entry_of(item: impl Into<Value>) -> Entry {
        let allowlist = read_value(&json!({ "tools": [item.into()] }));
        allowlist.unwrap_or_else(|faults| panic!("{faults:?}")).entries.remove(0)
    }

    /// One fault of an allowlist with one entry.
    fn check(item: impl Into<Value>, expected: &str) {
        assert_eq!(faults(&json!({ "tools": [item.into()] })), [expected]);
    }

    /// One fault of an entry with this change.
    fn check_change(key: &str, value: impl Into<Value>, expected: &str) {
        check(json!({ "operation": "A", key: value.into() }), expected);
    }

    #[test]
    fn every_way_to_name_operations_is_an_entry() {
        let shown = |item: Value| entry_of(item).selector.to_string();
        assert_eq!(shown(json!("ListMemos")), "ListMemos");
        assert_eq!(shown(json!("get /a")), "GET /a");
        assert_eq!(shown(json!("tag:Memo")), "tag:Memo");
        assert_eq!(shown(json!({ "tag": "Memo" })), "tag:Memo");
        assert_eq!(shown(json!({ "operation": "GET /a/*" })), "GET /a/*");
        let position = entry_of(json!({ "operation": "A", "hide": null })).position;
        assert_eq!(&*position.place.unwrap().pointer, "/tools/0");
    }

    #[test]
    fn every_change_is_read() {
        let changes = entry_of(json!({
            "operation": "MemoService_CreateMemo", "name": "memo_create",
            "aliases": ["memo_create_memo"], "title": "Write a memo", "description": "Writes.",
            "annotations": { "destructive": false, "idempotentHint": true }, "hide": ["updateMask"],
            "required": ["content"], "path": "/api/v1/memos", "output": false, "timeout": "2m",
            "max_response": "1MB", "response_headers": ["Next-Page"],
            "arguments": { "a/b": { "default": null, "name": "b", "description": "B." },
                "state": { "fixed": "NORMAL" }, "file": { "slashes": true } },
        }))
        .changes;
        assert_eq!(changes.name.unwrap().value, "memo_create");
        assert_eq!(changes.aliases[0].value, "memo_create_memo");
        assert_eq!(changes.title.unwrap(), "Write a memo");
        assert_eq!(changes.description.unwrap(), "Writes.");
        let hints = changes.annotations;
        assert_eq!((hints.destructive, hints.idempotent), (Some(false), Some(true)));
        assert_eq!((hints.read_only, hints.open_world), (None, None));
        assert_eq!(changes.hide[0].value, "updateMask");
        assert_eq!(changes.required.unwrap()[0].value, "content");
        assert_eq!(changes.path.unwrap().value, "/api/v1/memos");
        assert_eq!((changes.output, changes.max_response), (Some(false), Some(1_000_000)));
        assert_eq!(changes.timeout, Some(Duration::from_secs(120)));
        assert_eq!(changes.response_headers[0].value, "next-page");
        let [renamed, fixed, slashes] = changes.arguments.as_slice() else { panic!() };
        assert_eq!(
            &*renamed.argument.position.place.clone().unwrap().pointer,
            "/tools/0/arguments/a~1b"
        );
        assert_eq!(
            (renamed.argument.value.as_str(), &renamed.default),
            ("a/b", &Some(Value::Null))
        );
        assert_eq!(renamed.name.as_ref().unwrap().value, "b");
        assert_eq!((&fixed.fixed, fixed.slashes), (&Some(json!("NORMAL")), false));
        assert!(slashes.slashes && slashes.fixed.is_none() && slashes.default.is_none());
    }

    #[test]
    fn an_entry_without_changes_changes_nothing() {
        let changes = entry_of(json!("A")).changes;
        assert!(changes.name.is_none() && changes.hide.is_empty() && changes.required.is_none());
        assert_eq!(changes.annotations, Annotations::default());
        let nothing = entry_of(json!({ "operation": "A", "required": null, "arguments": null }));
        assert_eq!(nothing.changes.required, Some(Vec::new()));
    }

    #[test]
    fn entries_that_name_nothing_or_two_things_are_refused() {
        let names_none = "this entry names no operation; write `operation: METHOD /path` (or an operationId) or `tag: NAME`";
        check(json!({ "hide": [] }), &format!("/tools/0: {names_none}"));
        check(
            json!({ "opration": "A" }),
            "/tools/0/opration: unknown key `opration`; did you mean `operation`?",
        );
        check(
            json!({ "operation": "A", "tag": "B" }),
            "/tools/0/tag: `operation` and `tag` stand in one entry; make two entries of it",
        );
        check(
            json!(7),
            "/tools/0: expected a selector, found a number; write an operationId, `METHOD /path` or `tag:NAME`",
        );
        check(
            json!({ "operation": 7 }),
            "/tools/0/operation: `operation`: expected a string, found a number; put it in quotes",
        );
        check(json!("/a"), "/tools/0: `/a` has no method; write `GET /a`, or `*` for every method");
        check(
            json!({ "operation": "" }),
            "/tools/0/operation: a selector is empty; write an operationId, `METHOD /path`, `tag:NAME`, or one of these with `*`",
        );
    }

    #[test]
    fn changes_need_one_operation() {
        let words = "list the one operation to change by itself";
        check(
            json!({ "tag": "Memo", "hide": ["a"], "timeout": "1s" }),
            &format!(
                "/tools/0/hide: `hide`, `timeout` cannot apply to `tag:Memo`, which is a tag; {words}"
            ),
        );
        check(
            json!({ "operation": "get /a/*", "title": "A" }),
            &format!(
                "/tools/0/title: `title` cannot apply to `GET /a/*`, which is a pattern; {words}"
            ),
        );
        let deny = json!({ "deny": [{ "operation": "A", "hide": [] }], "tools": null });
        assert_eq!(faults(&deny), ["/deny/0/hide: unknown key `hide`; known here: operation, tag"]);
    }

    #[test]
    fn equal_selectors_are_listed_once() {
        let twice = |first: &str, second: &str| faults(&json!({ "tools": [first, "B", second] }));
        assert_eq!(twice("A", "A"), ["/tools/2: `A` is listed twice; first on line 1"]);
        assert_eq!(
            twice("get  /a", "GET /a"),
            ["/tools/2: `GET /a` is listed twice; first on line 1"]
        );
        let tags = json!({ "tools": ["tag:A", { "tag": "A" }] });
        assert_eq!(faults(&tags), ["/tools/1: `tag:A` is listed twice; first on line 1"]);
        let deny = json!({ "deny": ["A*", "A*"], "tools": ["A*"] });
        assert_eq!(faults(&deny), ["/deny/1: `A*` is listed twice; first on line 1"]);
    }

    #[test]
    fn patterns_are_counted() {
        let patterns = |n_patterns: usize| json!({ "tools": (0..n_patterns).map(|n| format!("a{n}*")).collect::<Vec<_>>() });
        assert_eq!(read_value(&patterns(1_000)).unwrap().entries.len(), 1_000);
        let expected =
            ["/tools/1000: more than 1000 patterns in one list; use tags or wider patterns"];
        assert_eq!(faults(&patterns(1_002)), expected);
    }

    #[test]
    fn changes_are_checked_for_their_meaning() {
        let tool = "is no tool name; use 1 to 64 of A-Z, a-z, 0-9 and `_`";
        check_change("name", json!("a b"), &format!("/tools/0/name: `a b` {tool}"));
        check_change("name", json!(""), &format!("/tools/0/name: `` {tool}"));
        check_change("aliases", json!(["a", "b-c"]), &format!("/tools/0/aliases/1: `b-c` {tool}"));
        assert_eq!(
            faults(&json!({ "tools": [{ "operation": "A", "name": "x".repeat(65) }] })).len(),
            1
        );
        check_change("path", json!("a"), "/tools/0/path: `a` does not start with `/`; write `/a`");
        check_change(
            "path",
            json!("/a b"),
            "/tools/0/path: `/a b` has a blank or a control character; percent-encode it",
        );
        check_change("hide", json!(["a", "a"]), "/tools/0/hide/1: `a` is listed twice");
        check_change(
            "response_headers",
            json!(["a b"]),
            "/tools/0/response_headers/0: `a b` is no header name; use letters, digits and `-`",
        );
        check_change(
            "required",
            json!("content"),
            "/tools/0/required: `required`: expected a list of strings, found a string; write `required: [\"content\"]`",
        );
    }

    #[test]
    fn hints_are_known_in_both_spellings() {
        check_change(
            "annotations",
            json!({ "destructive": true, "destructiveHint": true }),
            "/tools/0/annotations/destructiveHint: `destructiveHint` says the same as `destructive`; keep one",
        );
        check_change(
            "annotations",
            json!({ "readonly": true }),
            "/tools/0/annotations/readonly: unknown key `readonly`; did you mean `read_only`?",
        );
        check_change(
            "annotations",
            json!({ "readOnlyHnt": true }),
            "/tools/0/annotations/readOnlyHnt: unknown key `readOnlyHnt`; did you mean `readOnlyHint`?",
        );
        check_change(
            "annotations",
            json!({ "readOnlyHint": "yes" }),
            "/tools/0/annotations/readOnlyHint: `readOnlyHint`: expected `true` or `false`, found a string; write `true`, without quotes",
        );
    }

    #[test]
    fn arguments_are_checked() {
        let check_argument = |changes: Value, expected: &str| {
            check_change("arguments", json!({ "a": changes }), expected);
        };
        check_argument(json!(1), "/tools/0/arguments/a: expected a mapping, found a number");
        check_argument(
            json!({ "defualt": 1 }),
            "/tools/0/arguments/a/defualt: unknown key `defualt`; did you mean `default`?",
        );
        check_argument(
            json!({ "fixed": 1, "default": 2 }),
            "/tools/0/arguments/a/default: `default` has no effect on an argument that is `fixed`; keep one",
        );
        check_argument(
            json!({ "name": "1a" }),
            "/tools/0/arguments/a/name: `1a` is no argument name; use a letter or `_`, then letters, digits and `_`, up to 64",
        );
        check_argument(
            json!({ "slashes": 1 }),
            "/tools/0/arguments/a/slashes: `slashes`: expected `true` or `false`, found a number",
        );
    }
}
