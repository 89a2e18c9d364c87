//! YAML or JSON text to a strict value, and a pointer back to its line and column.
//!
//! Both languages go through one reader (`strict`) that refuses what the plain parsers let pass:
//! two equal keys, `.inf`, tags, aliases that grow without end. A text that is refused says where and
//! why in its own words; a text that is read gives places for any pointer in it ([`Text::places`]) by
//! a second look at the text, so that the value itself stays plain JSON.
//!
//! What a text must be is not decided here: an empty one is `null`, and only a reader of documents or
//! allowlists knows that this is wrong. Nothing here reads a file. Whatever the text, time and memory
//! are bounded by its size.

mod follow;
mod place;
mod scan;
mod strict;

use std::sync::Arc;

use serde::de::{Deserialize, DeserializeSeed, IgnoredAny};
use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place, Position};
use place::{Lines, Targets};
use strict::{Budget, Node, Refusal};

/// Larger texts are refused before anything looks at them; the largest known document has 13 MB.
const MAX_BYTES: usize = 32 << 20;

/// The YAML parser keeps all events of a text before it shows the first one, so what can become one is
/// counted before it runs. The largest known document has a fifth.
const MAX_MARKS: usize = 4_000_000;

/// Open flow brackets cost the YAML scanner quadratic time, so they are counted before it runs; prose
/// with brackets counts too, and no real text comes near.
const MAX_OPEN_BRACKETS: usize = 1024;

/// A text with the name the user knows it by.
#[derive(Clone, Debug)]
pub struct Text {
    file: Arc<str>,
    content: Arc<str>,
}

/// The two languages a text can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Json,
    Yaml,
}

impl Language {
    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
        }
    }
}

impl Text {
    /// A text as read from `file`. A byte order mark is dropped.
    ///
    /// # Errors
    /// When the bytes are not UTF-8, with the line of the first bad byte.
    pub fn new(file: impl Into<Arc<str>>, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let file = file.into();
        // With the mark, the YAML parser misreads the first key.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(content) => Ok(Self { file, content: content.into() }),
            Err(error) => {
                let lossy = String::from_utf8_lossy(bytes);
                let place = Lines::new(&lossy).place(error.valid_up_to(), "");
                Err(Diagnostic::error("not UTF-8").at(Position { file, place: Some(place) }))
            }
        }
    }

    /// The name the user knows it by.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The text itself.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The value the text stands for, see [`is_json`].
    /// An empty text, or one of comments only, is `null`.
    ///
    /// # Errors
    /// On anything but exactly one sound document within the budgets.
    pub fn value(&self) -> Result<Value, Diagnostic> {
        if self.content.len() > MAX_BYTES {
            let words = format!("larger than {} MB", MAX_BYTES >> 20);
            return Err(Diagnostic::error(words).at(Position::whole(self.file.clone())));
        }
        match self.language() {
            Language::Json => self.json(),
            Language::Yaml => self.yaml(),
        }
    }

    /// Where the nodes behind `pointers` stand, in their order; `None` where nothing exists up to the root.
    /// A pointer to a mapping's entry is placed at its key, one to nothing at its nearest existing parent.
    pub fn places(&self, pointers: &[&str]) -> Vec<Option<Place>> {
        if pointers.is_empty() {
            return Vec::new();
        }
        let mut targets = Targets::new(pointers);
        match self.language() {
            Language::Json => scan::scan(&self.content, &mut targets),
            Language::Yaml => follow::follow(&self.content, &mut targets),
        }
        let lines = Lines::new(&self.content);
        let place = |(offset, pointer): (usize, String)| lines.place(offset, &pointer);
        (0..pointers.len()).map(|n| targets.found(n).map(place)).collect()
    }

    fn language(&self) -> Language {
        if is_json(self.content.as_bytes()) { Language::Json } else { Language::Yaml }
    }

    fn json(&self) -> Result<Value, Diagnostic> {
        let mut budget = Budget::new(self.content.len(), Language::Json);
        let mut reader = serde_json::Deserializer::from_str(&self.content);
        let value = Node(&mut budget).deserialize(&mut reader);
        value.and_then(|value| reader.end().map(|()| value)).map_err(|error| {
            let lines = Lines::new(&self.content);
            let offset = lines.offset_of_bytes(error.line(), error.column());
            self.refused(Language::Json, budget.refusal, &error.to_string(), Some(offset))
        })
    }

    fn yaml(&self) -> Result<Value, Diagnostic> {
        if let Some((words, offset)) = excess(&self.content) {
            return Err(self.diagnostic(words, Some(offset), ""));
        }
        let mut budget = Budget::new(self.content.len(), Language::Yaml);
        let mut documents = serde_yaml::Deserializer::from_str(&self.content);
        let Some(document) = documents.next() else { return Ok(Value::Null) };
        let value = Node(&mut budget).deserialize(document).map_err(|error| {
            let offset = self.yaml_offset(&error);
            self.refused(Language::Yaml, budget.refusal.take(), &error.to_string(), offset)
        })?;
        let Some(more) = documents.next() else { return Ok(value) };
        Err(match IgnoredAny::deserialize(more) {
            Err(error) if error.location().is_some() => {
                let offset = self.yaml_offset(&error);
                self.refused(Language::Yaml, None, &error.to_string(), offset)
            }
            _ => self.diagnostic(
                "more than one YAML document in one text; keep one".into(),
                second_document(&self.content),
                "",
            ),
        })
    }

    /// The byte offset of a YAML error, when it has a place.
    fn yaml_offset(&self, error: &serde_yaml::Error) -> Option<usize> {
        let location = error.location()?;
        let lines = Lines::yaml(&self.content);
        Some(lines.offset_of_chars(location.line(), location.column()))
    }

    /// A refusal of the strict reader in its words, else the parser's error without its own place.
    fn refused(
        &self,
        language: Language,
        refusal: Option<Refusal>,
        parser_words: &str,
        offset: Option<usize>,
    ) -> Diagnostic {
        match refusal {
            Some(refusal) if refusal.duplicate => self.duplicate(language, &refusal, offset),
            Some(refusal) => {
                let pointer = refusal.pointer();
                self.diagnostic(refusal.words, offset, &pointer)
            }
            None => {
                let offset = offset.or_else(|| first_alias(&self.content));
                self.diagnostic(parser_message(language, parser_words), offset, "")
            }
        }
    }

    /// Two equal keys: placed at the second, naming the line of the first.
    fn duplicate(
        &self,
        language: Language,
        refusal: &Refusal,
        offset: Option<usize>,
    ) -> Diagnostic {
        let offset = match language {
            Language::Json => offset.map(|end| scan::string_start(&self.content, end)),
            Language::Yaml => offset,
        };
        let pointer = refusal.pointer();
        let first = self.places(&[&pointer]).into_iter().flatten().next();
        let line = first.map_or_else(String::new, |place| format!(" on line {} and", place.line));
        self.diagnostic(format!("{} stands{line} here", refusal.words), offset, &pointer)
            .help("two equal keys hide one another; keep one")
    }

    fn diagnostic(&self, words: String, offset: Option<usize>, pointer: &str) -> Diagnostic {
        let place = offset.map(|offset| Lines::new(&self.content).place(offset, pointer));
        Diagnostic::error(words).at(Position { file: self.file.clone(), place })
    }
}

/// Whether a text is read as JSON: its first byte that is not blank is `{`. All else is YAML.
pub fn is_json(text: &[u8]) -> bool {
    text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

/// The parser's own words without the place it adds, and in ours where we have better ones.
fn parser_message(language: Language, words: &str) -> String {
    let name = language.name();
    let words = words.split(" at line ").next().unwrap_or(words);
    if words.contains("recursion limit") {
        return "nested deeper than 128 levels".into();
    }
    if words.contains("repetition limit") {
        return "aliases repeat their anchors too often".into();
    }
    format!("not valid {name}: {words}")
}

/// Where a YAML text first has more open brackets, or more of what separates nodes, than its parser
/// could take.
fn excess(text: &str) -> Option<(String, usize)> {
    let (mut open, mut marks) = (0_usize, 0_usize);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            b',' | b':' | b'-' | b'?' | b'\n' | b'\r' => marks += 1,
            _ => {}
        }
        if open > MAX_OPEN_BRACKETS {
            let words = format!("more than {MAX_OPEN_BRACKETS} brackets are open at once");
            return Some((words, offset));
        }
        if marks > MAX_MARKS {
            return Some((format!("more than {MAX_MARKS} separators"), offset));
        }
    }
    None
}

/// Where the second document of a YAML text begins.
fn second_document(text: &str) -> Option<usize> {
    let mut begun = false;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let marker = line.trim_end() == "---" || line.starts_with("--- ");
        if marker && begun {
            return Some(offset);
        }
        let skipped = line.trim().is_empty() || line.starts_with(['#', '%']);
        begun |= !skipped;
        offset += line.len();
    }
    None
}

/// The first `*name` of a YAML text.
fn first_alias(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let alias = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + 1);
        bytes.get(*at) == Some(&b'*')
            && before.is_some_and(|byte| b" \n[,".contains(byte))
            && after.is_some_and(u8::is_ascii_alphanumeric)
    };
    (0..bytes.len()).find(alias)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(content: &str) -> Text {
        Text::new("a.yaml", content.as_bytes()).unwrap()
    }

    #[track_caller]
    fn reads(content: &str, value: Value) {
        assert_eq!(text(content).value(), Ok(value), "{content}");
    }

    /// The diagnostic begins with `line:column: words`.
    #[track_caller]
    fn refused(content: &str, expected: &str) {
        let error = text(content).value().expect_err("refused").to_string();
        let shown = error.strip_prefix("a.yaml:").unwrap_or(&error).replace("error: ", "");
        let content: String = content.chars().take(60).collect();
        assert!(shown.starts_with(expected), "{content}: {shown}");
    }

    #[track_caller]
    fn placed(content: &str, pointer: &str, expected: &str) {
        let places = text(content).places(&[pointer]);
        let place = places[0].as_ref().map(|place| (place.line, place.column, &*place.pointer));
        let (at, pointer) = expected.split_once(' ').unwrap_or((expected, pointer));
        let (line, column) = at.split_once(':').unwrap();
        let expected = (line.parse().unwrap(), column.parse().unwrap(), pointer);
        assert_eq!(place, Some(expected), "{content:?}");
    }

    #[test]
    fn words_numbers_and_keys_are_read_as_yaml_1_2() {
        reads("a: no\nb: on\nc: yes\nd: ~", json!({"a": "no", "b": "on", "c": "yes", "d": null}));
        reads(
            "200: a\n'404': b\non: c\n0x10: d",
            json!({"200": "a", "404": "b", "on": "c", "0x10": "d"}),
        );
        reads("a: 9223372036854775807", json!({"a": i64::MAX}));
        reads("a: 18446744073709551615", json!({"a": u64::MAX}));
        reads("a: 18446744073709551616", json!({"a": 18_446_744_073_709_551_616.0_f64}));
        reads("a: -9223372036854775809", json!({"a": -9_223_372_036_854_775_809.0_f64}));
        reads(r#"{"a": 18446744073709551616}"#, json!({"a": 18_446_744_073_709_551_616.0_f64}));
        reads("a: 0123\nb: 1.10\nc: 2020-01-01", json!({"a": "0123", "b": 1.1, "c": "2020-01-01"}));
    }

    #[test]
    fn blank_texts_are_null_and_marks_and_line_ends_do_not_matter() {
        reads("", Value::Null);
        reads("# only a comment\n\n", Value::Null);
        reads("\u{feff}a: 1\r\nb:\r\n  - 2\r\n", json!({"a": 1, "b": [2]}));
        reads("\u{feff}{\"a\": 1}", json!({"a": 1}));
        reads("---\na: 1\n...\n", json!({"a": 1}));
    }

    #[test]
    fn merge_keys_are_applied_and_own_keys_win() {
        let base = "base: &b {x: 1, y: 2}\n";
        let shown = json!({"base": {"x": 1, "y": 2}, "a": {"y": 3, "x": 1}});
        reads(&format!("{base}a: {{<<: *b, y: 3}}"), shown.clone());
        reads(&format!("{base}a: {{y: 3, <<: *b}}"), shown);
        reads("a: {<<: [{x: 1}, {x: 2, y: 2}]}", json!({"a": {"x": 1, "y": 2}}));
        reads(r#"{"a": {"<<": 1}}"#, json!({"a": {"<<": 1}}));
        refused("a:\n  <<: 1", "2:3: `<<` takes a mapping");
        refused("b: &b {}\na: {<<: *b, <<: *b}", "2:13: `<<` stands on line 2 and here");
    }

    #[test]
    fn two_equal_keys_name_both_lines() {
        refused("paths:\n  /a: 1\n  /b: 2\n  /a: 3", "4:3: `/a` stands on line 2 and here");
        refused("200: 1\n'200': 2", "2:1: `200` stands on line 1 and here");
        refused("a:\n- {x: 1,\n   x: 2}", "3:4: `x` stands on line 2 and here");
        refused(
            "{\"a\": [{\"x\\\"\": 1,\n \"x\\\"\": 2}]}",
            "2:2: `x\"` stands on line 1 and here",
        );
    }

    #[test]
    fn what_plain_parsers_let_pass_is_refused() {
        refused("a: .inf", "1:4: a number that is not finite");
        refused("a: [.nan]", "1:5: a number that is not finite");
        refused("a: !x 1", "1:4: the tag `!x` is not supported");
        refused("a:\n  b: !Ref {c: 1}", "2:6: the tag `!Ref` is not supported");
        refused("a: 1\n---\nb: 2", "2:1: more than one YAML document");
        refused("--- \na: 1\n--- # more\nb: 2", "3:1: more than one YAML document");
        refused("? [a]\n: b", "1:3: not valid YAML: ");
        refused("a: *nowhere", "1:4: not valid YAML: unknown anchor");
    }

    #[test]
    fn syntax_errors_have_a_place() {
        refused("a: b: c", "1:5: not valid YAML: mapping values are not allowed");
        refused("a: [1, 2", "1:9: not valid YAML: ");
        refused("{\"a\": 1,}", "1:9: not valid JSON: trailing comma");
        refused("{\"a\": 1} x", "1:10: not valid JSON: trailing characters");
        refused("{\"a\": 1e999}", "1:11: not valid JSON: number out of range");
        let error = Text::new("a.yaml", b"a: 1\nb: \xff\n").expect_err("bad byte").to_string();
        assert_eq!(error, "a.yaml:2:4: error: not UTF-8");
    }

    #[test]
    fn deep_nesting_is_refused_soon() {
        for unit in ["[", "{a: ", "{\"a\": ", "- ", "[{a: "] {
            refused(&unit.repeat(10_000), "");
        }
        refused(&"[".repeat(2000), "1:1025: more than 1024 brackets");
        refused(&"- ".repeat(200), "1:257: nested deeper than 128");
        refused(&format!("{}1{}", "{\"a\":".repeat(130), "}".repeat(130)), "1:636: nested deeper");
        reads(&format!("{}{}", "[".repeat(100), "]".repeat(100)), text(&"[".repeat(100)).nest());
    }

    impl Text {
        fn nest(&self) -> Value {
            (1..self.content.len()).fold(json!([]), |inner, _| json!([inner]))
        }
    }

    #[test]
    fn alias_bombs_cost_little() {
        let begun = std::time::Instant::now();
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..10 {
            let row = vec![format!("*a{}", n - 1); 10].join(", ");
            bomb += &format!("a{n}: &a{n} [{row}]\n");
        }
        refused(&bomb, "");
        let wide = format!("a: &a {}\nb: [{}]", "x".repeat(2000), "*a, ".repeat(50_000));
        refused(&wide, "1:4: aliases make this text more than eight times as large");
        let merges = format!("a: &a {{{}}}\nb:\n{}", "x: 1", "- {<<: [*a, *a]}\n".repeat(60_000));
        assert!(text(&merges).value().is_ok());
        assert!(begun.elapsed().as_secs() < 20);
    }

    #[test]
    fn entries_are_placed_at_their_key_and_elements_at_their_start() {
        let yaml = "a:\n  b: 1\n  c:\n    - x\n    - y: 2\n      z: 3\n    - {w: 4}\n";
        placed(yaml, "", "1:1");
        placed(yaml, "/a/b", "2:3");
        placed(yaml, "/a/c/0", "4:7");
        placed(yaml, "/a/c/1", "5:7");
        placed(yaml, "/a/c/1/z", "6:7");
        placed(yaml, "/a/c/2", "7:7");
        placed(yaml, "/a/c/2/w", "7:8");
        let json = "{\n \"a\": {\"b~\": 1,\n  \"c\": [1, {\"\u{e4}\": [], \"\\u0064\": 2}]}}";
        placed(json, "", "1:1");
        placed(json, "/a/b~0", "2:8");
        placed(json, "/a/c/0", "3:9");
        placed(json, "/a/c/1", "3:12");
        placed(json, "/a/c/1/d", "3:22");
    }

    #[test]
    fn a_missing_target_is_placed_at_its_nearest_parent() {
        placed("a:\n  b: 1\n", "/a/c/d", "1:1 /a");
        placed("x: 1\na:\n- b\n", "/a/1", "2:1 /a");
        placed("x: 1\na:\n- {}\n", "/a/0/b", "2:1 /a");
        placed("{\"x\": 1,\n\"a\": [1]}", "/a/1/z", "2:1 /a");
        placed("a: 1\n", "/b", "1:1 ");
    }

    #[test]
    fn what_came_through_an_alias_or_a_merge_key_has_the_anchors_place() {
        let yaml = "base: &b\n  x: 1\n  y: 2\na: *b\nc:\n  <<: *b\n  y: 3\nd: [*b]\n";
        placed(yaml, "/a", "4:1");
        placed(yaml, "/a/y", "3:3");
        placed(yaml, "/c/x", "2:3");
        placed(yaml, "/c/y", "7:3");
        placed(yaml, "/d/0/y", "3:3");
        placed("b: &b {x: 1}\nc:\n  <<: [*b]\n", "/c/x", "1:8");
    }

    #[test]
    fn many_pointers_are_found_in_one_read() {
        let yaml: String = (0..50).map(|n| format!("k{n}:\n  v: {n}\n")).collect();
        let pointers: Vec<String> = (0..50).map(|n| format!("/k{n}/v")).collect();
        let pointers: Vec<&str> = pointers.iter().map(String::as_str).collect();
        let lines = text(&yaml).places(&pointers).into_iter().map(|place| place.unwrap().line);
        assert!(lines.eq((0..50).map(|n| 2 * n + 2)));
    }

    #[test]
    fn every_node_of_a_text_is_placed_alike_in_yaml_and_json() {
        let yaml = "a:\n  - b: 1\n    \"c d\": [x, y]\n  - 'z'\n\u{e9}: {f: {g: ~}, h: \"\"}\n";
        let value = text(yaml).value().unwrap();
        let json = serde_json::to_string_pretty(&value).unwrap();
        for (content, quoted) in [(yaml, false), (json.as_str(), true)] {
            for pointer in pointers(&value, "") {
                let place = text(content).places(&[&pointer]).remove(0).unwrap();
                let key = unescape(&pointer);
                let key = key.rsplit('/').next().unwrap();
                let rest: String = place.excerpt.chars().skip(place.column as usize - 1).collect();
                let is_index = key.parse::<usize>().is_ok();
                assert!(
                    is_index || rest.trim_start_matches('"').starts_with(key),
                    "{quoted} {pointer} {rest}"
                );
                assert_eq!(&*place.pointer, pointer);
            }
        }
    }

    fn unescape(pointer: &str) -> String {
        crate::openapi::unescape(pointer).into_owned()
    }

    fn pointers(value: &Value, at: &str) -> Vec<String> {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(n, item)| (n.to_string(), item)).collect()
            }
            _ => Vec::new(),
        };
        let below = |(key, value): (String, &Value)| {
            let pointer = format!("{at}/{key}");
            let mut all = pointers(value, &pointer);
            all.push(pointer);
            all
        };
        children.into_iter().flat_map(below).collect()
    }
}
