//! The keys of the file, from a strict value to an [`Allowlist`].

use std::sync::Arc;

use serde_json::Value;

use super::{
    Allowlist, Broken, Docs, Header, Located, entry,
    header::{self, HeaderPiece},
    key::{FILE, Kind},
    read::{Reader, Section, kind_of},
};
use crate::{
    config::{unit, url},
    diagnostic::{Diagnostic, Place, quote},
};

/// Longest prefix: a name of one letter must still fit.
const LONGEST_PREFIX: usize = 63;

/// Reads a file's value; `locate` places its nodes.
pub(super) fn read(
    name: &str,
    file: &Arc<str>,
    value: &Value,
    locate: impl FnOnce(&[&str]) -> Vec<Option<Place>>,
) -> Result<Allowlist, Broken> {
    let mut reader = Reader::new(file, value, &secrets(value), locate);
    let read = allowlist(&mut reader, name, file, value);
    reader.finish(read)
}

fn allowlist(reader: &mut Reader, name: &str, file: &Arc<str>, value: &Value) -> Option<Allowlist> {
    let Value::Object(map) = value else {
        reader.fault("", not_a_file(value));
        return None;
    };
    let section = Section::open(reader, String::new(), map, &[FILE]);
    let section = &section;
    let attempted = section.attempted().iter().map(|key| (*key).to_owned());
    reader.doubt().keys.extend(attempted);
    version(reader, section);
    let deny = entry::selectors(reader, section, "deny");
    let entries = entry::entries(reader, section);
    if section.lacks("tools") {
        reader.fault("", no_tools());
    }
    Some(Allowlist {
        name: name.to_owned(),
        file: file.clone(),
        document: reader.parsed(section, "document", |text| url::document(text).map(str::to_owned)),
        upstream: reader
            .parsed(section, "upstream", |text| url::origin(text).map(|_| text.to_owned())),
        base_path: reader.parsed(section, "base_path", base_path),
        deny,
        entries,
        instructions: section.text("instructions").map(str::to_owned),
        headers: headers(reader, section),
        forward: reader.names(section, "forward", header::free_name),
        resource_names: section.flag("resource_names").unwrap_or(false),
        prefix: prefix(reader, section, "prefix"),
        docs: docs(section),
        docs_prefix: prefix(reader, section, "docs_prefix"),
        output: section.flag("output").unwrap_or(true),
        timeout: plain(reader.parsed(section, "timeout", unit::duration)),
        max_response: plain(reader.parsed(section, "max_response", unit::size)),
        max_in_flight: plain(reader.parsed(section, "max_in_flight", count)),
    })
}

/// The allowlist of `--allow`: selectors only.
pub(super) fn from_selectors(name: &str, selectors: &[String]) -> Result<Allowlist, Broken> {
    let file: Arc<str> = "--allow".into();
    let value = serde_json::json!({ "tools": selectors });
    read(name, &file, &value, |pointers| pointers.iter().map(|_| None).collect())
}

fn not_a_file(value: &Value) -> Diagnostic {
    if value.is_null() {
        return Diagnostic::error("the allowlist is empty").help(
            "write `tools:` with the operations to allow below it, or with nothing for none",
        );
    }
    Diagnostic::error(format!("expected a mapping with `tools`, found {}", kind_of(value)))
        .help("write `tools:` and the operations to allow below it, one `- ` a line")
}

fn no_tools() -> Diagnostic {
    Diagnostic::error("`tools` is missing")
        .help("write `tools:` with nothing below it for no tools")
}

fn version(reader: &mut Reader, section: &Section<'_>) {
    let version = section.get("version").and_then(Value::as_u64).unwrap_or(1);
    if version != 1 {
        let words = format!("version {version} of the allowlist format is not known");
        reader.fault(
            &section.pointer("version"),
            Diagnostic::error(words).help("this toolgate reads version 1"),
        );
    }
}

fn base_path(text: &str) -> Result<String, Diagnostic> {
    let text = path(text)?;
    let dots = text.split('/').any(|segment| segment == "." || segment == "..");
    if dots || text.contains(['?', '#', '{', '}']) {
        return Err(Diagnostic::error(format!("{} is no base path", quote(&text)))
            .help("use plain segments, like `/api/v1`"));
    }
    Ok(text)
}

/// A path that starts with `/` and can stand in a request line.
pub(super) fn path(text: &str) -> Result<String, Diagnostic> {
    if text.contains("://") {
        return Err(Diagnostic::error(format!("{} is no path", quote(text)))
            .help("write the path alone; where calls go is for `upstream` to say"));
    }
    if !text.starts_with('/') {
        return Err(Diagnostic::error(format!("{} does not start with `/`", quote(text)))
            .help(format!("write {}", quote(&format!("/{text}")))));
    }
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(Diagnostic::error(format!(
            "{} has a blank or a control character",
            quote(text)
        ))
        .help("percent-encode it"));
    }
    Ok(text.to_owned())
}

fn prefix(reader: &mut Reader, section: &Section<'_>, key: &str) -> String {
    let parse = |text: &str| {
        if text.len() <= LONGEST_PREFIX && text.bytes().all(entry::is_name_byte) {
            return Ok(text.to_owned());
        }
        Err(Diagnostic::error(format!("{} cannot start a tool name", quote(text)))
            .help(format!("use up to {LONGEST_PREFIX} of A-Z, a-z, 0-9 and `_`")))
    };
    plain(reader.parsed(section, key, parse)).unwrap_or_default()
}

fn count(text: &str) -> Result<usize, Diagnostic> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Diagnostic::error(format!("{} is no count", quote(text))).help("use 1 or more")),
    }
}

fn docs(section: &Section<'_>) -> Docs {
    match section.get("docs") {
        Some(Value::Bool(true)) => Docs::Listed,
        Some(Value::String(_)) => Docs::All,
        _ => Docs::Off,
    }
}

fn headers(reader: &mut Reader, section: &Section<'_>) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for (pointer, written, value) in section.entries("headers") {
        let name = reader.keep(&pointer, header::free_name(written));
        let value = reader.keep(&pointer, header_value(written, value));
        let (Some(name), Some(value)) = (name, value) else { continue };
        if headers.iter().any(|header| header.name.value == name) {
            let words = format!("the header {} is set twice", quote(written));
            reader.fault(&pointer, Diagnostic::error(words).help("case does not count in names"));
            continue;
        }
        headers.push(Header { name: reader.located(&pointer, name), value });
    }
    headers
}

fn header_value(name: &str, value: &Value) -> Result<Vec<HeaderPiece>, Diagnostic> {
    let Value::String(text) = value else {
        let (expected, found) = (Kind::Text.words(), kind_of(value));
        let words = format!("the header {}: expected {expected}, found {found}", quote(name));
        return Err(Diagnostic::error(words).help("put the value in quotes"));
    };
    header::pieces(text).map_err(|mut fault| {
        fault.message = format!("the header {}: {}", quote(name), fault.message);
        fault
    })
}

/// Shorter texts hide no secret, and are in too many lines.
const SHORTEST_SECRET: usize = 6;

/// Texts of the value that no diagnostic may show: what header values hold besides references, and
/// URLs with a password.
fn secrets(value: &Value) -> Vec<&str> {
    let headers = value.get("headers").and_then(Value::as_object).into_iter().flatten();
    let values = headers.filter_map(|(_, value)| value.as_str());
    let urls = ["document", "upstream"].into_iter().filter_map(|key| value.get(key)?.as_str());
    // A secret of several lines shows up by each of them, one with references by what is around.
    values
        .chain(urls.filter(|text| text.contains('@')))
        .flat_map(str::lines)
        .flat_map(|line| line.split(['{', '}']))
        .map(|part| part.trim_matches(['$', ' ']))
        .filter(|part| part.len() >= SHORTEST_SECRET)
        .collect()
}

fn plain<T>(located: Option<Located<T>>) -> Option<T> {
    located.map(|located| located.value)
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    /// Reads a value whose nodes all stand on a line that repeats it.
    pub(in crate::allowlist) fn read_value(value: &Value) -> Result<Allowlist, Broken> {
        let place = |pointer: &&str| {
            let excerpt = value.to_string().into();
            Some(Place { line: 1, column: 1, pointer: (*pointer).into(), excerpt })
        };
        read("memos", &"memos.yaml".into(), value, |pointers| pointers.iter().map(place).collect())
    }

    /// Faults as `pointer: message; help`.
    pub(in crate::allowlist) fn faults(value: &Value) -> Vec<String> {
        let faults = read_value(value).expect_err("faults").faults;
        let line = |fault: &Diagnostic| {
            let place = fault.position.as_ref().unwrap().place.as_ref().unwrap();
            let help = fault.help.iter().map(|help| format!("; {help}"));
            format!("{}: {}{}", place.pointer, fault.message, help.collect::<String>())
        };
        faults.iter().map(line).collect()
    }

    /// One fault of a file with these keys and no tools, as it is shown.
    fn check(keys: Value, expected: &str) {
        let mut value = keys;
        value.as_object_mut().unwrap().entry("tools").or_insert(Value::Null);
        assert_eq!(faults(&value), [expected]);
    }

    fn good(value: &Value) -> Allowlist {
        read_value(value).unwrap_or_else(|faults| panic!("{faults:?}"))
    }

    #[test]
    fn only_tools_must_be_there() {
        let allowlist = good(&json!({ "tools": null }));
        assert_eq!(allowlist.name, "memos");
        assert!(allowlist.entries.is_empty() && allowlist.deny.is_empty());
        assert!(allowlist.forward.is_none() && allowlist.headers.is_empty());
        assert!(allowlist.output && !allowlist.resource_names);
        assert_eq!(allowlist.docs, Docs::Off);
        assert_eq!(allowlist.prefix, "");
        assert!(good(&json!({ "tools": [] })).entries.is_empty());
    }

    #[test]
    fn missing_tools_are_told_from_no_tools() {
        let missing =
            ": `tools` is missing; write `tools:` with nothing below it for no tools".to_owned();
        assert_eq!(faults(&json!({ "document": "a.yaml" })), std::slice::from_ref(&missing));
        assert_eq!(faults(&json!({})), [missing]);
        assert!(faults(&Value::Null)[0].starts_with(": the allowlist is empty"));
        let list = ": expected a mapping with `tools`, found a list; write `tools:` and the operations to allow below it, one `- ` a line";
        assert_eq!(faults(&json!(["a"])), [list]);
    }

    #[test]
    fn every_key_of_the_file_is_read() {
        let allowlist = good(&json!({
            "version": 1, "document": "../spec/openapi.yaml", "upstream": "http://127.0.0.1:5230",
            "base_path": "/v2", "deny": ["AuthService_*", { "tag": "Admin" }],
            "instructions": "Be kind.", "headers": { "X-Api-Key": "${MEMO_KEY}" },
            "forward": ["Authorization"], "resource_names": true, "prefix": "memo_", "docs": true,
            "docs_prefix": "docs_", "output": false, "timeout": "30s", "max_response": "128KiB",
            "max_in_flight": 64, "tools": ["A", "GET /a"],
        }));
        assert_eq!(allowlist.document.unwrap().value, "../spec/openapi.yaml");
        let upstream = allowlist.upstream.unwrap();
        assert_eq!(upstream.value, "http://127.0.0.1:5230");
        assert_eq!(&*upstream.position.place.unwrap().pointer, "/upstream");
        assert_eq!(allowlist.base_path.unwrap().value, "/v2");
        let deny: Vec<_> = allowlist.deny.iter().map(|deny| deny.value.to_string()).collect();
        assert_eq!(deny, ["AuthService_*", "tag:Admin"]);
        assert_eq!(allowlist.instructions.unwrap(), "Be kind.");
        assert_eq!(allowlist.headers[0].name.value, "x-api-key");
        assert_eq!(allowlist.headers[0].value, [HeaderPiece::Variable("MEMO_KEY".into())]);
        assert_eq!(allowlist.forward.unwrap()[0].value, "authorization");
        assert!(allowlist.resource_names && !allowlist.output);
        assert_eq!((allowlist.docs, allowlist.prefix.as_str()), (Docs::Listed, "memo_"));
        assert_eq!(allowlist.docs_prefix, "docs_");
        assert_eq!(allowlist.timeout, Some(Duration::from_secs(30)));
        assert_eq!(allowlist.max_response, Some(131_072));
        assert_eq!(allowlist.max_in_flight, Some(64));
        assert_eq!(allowlist.entries.len(), 2);
    }

    #[test]
    fn other_spellings_of_values_are_read() {
        let docs = |value: Value| good(&json!({ "docs": value, "tools": null })).docs;
        assert_eq!([docs(json!("all")), docs(json!(false))], [Docs::All, Docs::Off]);
        let bytes = good(&json!({ "max_response": 5000, "tools": null })).max_response;
        assert_eq!(bytes, Some(5000));
        let url = json!({ "document": "https://host/openapi.json?v=1", "tools": null });
        assert_eq!(good(&url).document.unwrap().value, "https://host/openapi.json?v=1");
        let nothing = good(&json!({ "deny": null, "headers": null, "forward": null, "tools": [] }));
        assert_eq!(nothing.forward, Some(Vec::new()));
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        check(json!({ "dney": [] }), "/dney: unknown key `dney`; did you mean `deny`?");
        check(
            json!({ "resourceNames": true }),
            "/resourceNames: unknown key `resourceNames`; did you mean `resource_names`?",
        );
        check(json!({ "a/b~": 1 }), &format!("/a~1b~0: unknown key `a/b~`; known here: {}", all()));
        // The misspelled key is the one that is missing.
        let meant = faults(&json!({ "tool": [] }));
        assert_eq!(meant, ["/tool: unknown key `tool`; did you mean `tools`?"]);
    }

    fn all() -> String {
        FILE.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn wrong_kinds_say_what_was_expected_and_found() {
        check(
            json!({ "deny": "AuthService_*" }),
            "/deny: `deny`: expected a list of selectors, found a string; write `deny: [\"AuthService_*\"]`",
        );
        check(
            json!({ "tools": {} }),
            "/tools: `tools`: expected a list of selectors, found a mapping; write one `- ` a line",
        );
        check(
            json!({ "document": 5 }),
            "/document: `document`: expected a string, found a number; put it in quotes",
        );
        check(
            json!({ "upstream": null }),
            "/upstream: `upstream`: expected a string, found nothing; give it a value or leave the key out",
        );
        check(
            json!({ "resource_names": "yes" }),
            "/resource_names: `resource_names`: expected `true` or `false`, found a string; write `true`, without quotes",
        );
        check(
            json!({ "docs": "some" }),
            "/docs: `docs`: expected `true`, `false` or `all`, found a string",
        );
        check(
            json!({ "timeout": 30 }),
            "/timeout: `timeout`: expected a duration like `30s`, found a number; write the unit, like `30s`",
        );
        check(
            json!({ "max_in_flight": "64" }),
            "/max_in_flight: `max_in_flight`: expected a whole number, found a string; write it without quotes",
        );
        check(
            json!({ "max_response": -1 }),
            "/max_response: `max_response`: expected a size like `128KiB`, found a number below zero; use a whole number from 1",
        );
        check(
            json!({ "headers": ["a"] }),
            "/headers: `headers`: expected a mapping of header names to strings, found a list",
        );
        check(
            json!({ "forward": [1] }),
            "/forward/0: expected a string, found a number; put it in quotes",
        );
    }

    #[test]
    fn values_are_checked_for_their_meaning() {
        check(
            json!({ "version": 2 }),
            "/version: version 2 of the allowlist format is not known; this toolgate reads version 1",
        );
        check(
            json!({ "upstream": "localhost:80" }),
            "/upstream: `localhost:80` is no http or https URL; write `http://localhost:80`",
        );
        check(
            json!({ "upstream": "http://a/b?c" }),
            "/upstream: `http://a/b?c` has a query or a fragment; give the origin, and a path if the API stands below one",
        );
        check(
            json!({ "base_path": "v2" }),
            "/base_path: `v2` does not start with `/`; write `/v2`",
        );
        for path in ["/a/../b", "/./a", "/a?b", "/a#b", "/{a}"] {
            check(
                json!({ "base_path": path }),
                &format!(
                    "/base_path: `{path}` is no base path; use plain segments, like `/api/v1`"
                ),
            );
        }
        check(
            json!({ "document": "" }),
            "/document: `` is no document; give a path or an http(s) URL",
        );
        check(
            json!({ "document": "ftp://a/b" }),
            "/document: documents are not read over `ftp`; give a path or an http(s) URL",
        );
        check(json!({ "max_in_flight": 0 }), "/max_in_flight: `0` is no count; use 1 or more");
        check(
            json!({ "prefix": "memo-" }),
            "/prefix: `memo-` cannot start a tool name; use up to 63 of A-Z, a-z, 0-9 and `_`",
        );
        check(
            json!({ "timeout": "30" }),
            "/timeout: `30` is no duration; write a whole number of ms, s, m or h, like `30s`",
        );
        check(
            json!({ "max_response": "lots" }),
            "/max_response: `lots` is no size; write bytes, or a whole number of kB, KiB, MB, MiB, GB or GiB, like `128KiB`",
        );
        check(
            json!({ "forward": ["authorization", "Authorization"] }),
            "/forward/1: `authorization` is listed twice",
        );
    }

    #[test]
    fn headers_that_could_change_the_request_are_refused() {
        check(
            json!({ "headers": { "Host": "a" } }),
            "/headers/Host: the header `Host` is made by the request itself; leave it out",
        );
        check(
            json!({ "forward": ["content-length"] }),
            "/forward/0: the header `content-length` is made by the request itself; leave it out",
        );
        check(
            json!({ "headers": { "X-A": "a\r\nHost: b" } }),
            "/headers/X-A: the header `X-A`: the value has a line break or a character no header can carry; use visible ASCII on one line",
        );
        check(
            json!({ "headers": { "X-A": 5 } }),
            "/headers/X-A: the header `X-A`: expected a string, found a number; put the value in quotes",
        );
        check(
            json!({ "headers": { "X-A": "1", "x-a": "2" } }),
            "/headers/x-a: the header `x-a` is set twice; case does not count in names",
        );
    }

    #[test]
    fn all_faults_are_told_at_once_and_none_twice() {
        let value = json!({
            "versoin": 1, "upstream": "nowhere", "deny": "x", "timeout": 3,
            "headers": { "Host": 5 }, "tools": ["A", 7, { "operation": "B", "hdie": [] }, "A"],
        });
        let pointers =
            faults(&value).into_iter().map(|fault| fault.split(": ").next().unwrap().to_owned());
        let mut pointers: Vec<_> = pointers.collect();
        pointers.sort();
        let expected = [
            "/deny",
            "/headers/Host",
            "/headers/Host",
            "/timeout",
            "/tools/1",
            "/tools/2/hdie",
            "/tools/3",
            "/upstream",
            "/versoin",
        ];
        assert_eq!(pointers, expected);
    }

    #[test]
    fn a_flood_of_faults_is_cut() {
        let faults = read_value(&json!({ "tools": vec![1; 250] })).unwrap_err().faults;
        assert_eq!(faults.len(), 101);
        assert_eq!(faults[100].message, "150 more faults not shown");
    }

    #[test]
    fn secrets_are_in_no_diagnostic() {
        let check = |value: &Value| {
            for fault in read_value(value).unwrap_err().faults {
                let shown = fault.snippet();
                assert!(!shown.contains("hunter2"), "{shown}");
            }
        };
        check(&json!({ "headers": { "X-A": "hunter2" }, "tool": [] }));
        check(&json!({ "headers": { "X-A": "Bearer hunter2 ${A" }, "tools": [] }));
        check(&json!({ "headers": { "Host": "hunter2" }, "tools": [] }));
        check(&json!({ "upstream": "http://me:hunter2@host", "tools": [] }));
        check(&json!({ "document": "https://me:hunter2@host/a", "tools": [] }));
    }

    #[test]
    fn selectors_of_the_command_line_make_an_allowlist() {
        let selectors = ["GET *".to_owned(), "tag:Memo".to_owned()];
        let allowlist = from_selectors("api", &selectors).unwrap();
        assert_eq!(allowlist.entries.len(), 2);
        assert_eq!(allowlist.entries[0].position, crate::diagnostic::Position::whole("--allow"));
        let faults = from_selectors("api", &["/a".into(), "tag:".into()]).unwrap_err().faults;
        assert_eq!(faults.len(), 2);
        assert!(faults[0].to_string().starts_with("--allow: error: `/a` has no method"));
    }
}
