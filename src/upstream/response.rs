//! The response to an answer; pure.
//!
//! A success is an object, shaped as its schema says or, where the reply differs in kind, by the same
//! rules applied to what came; its JSON is carried as text with the upstream's own digits. Anything
//! but 2xx is an error of text only. A reply that did not arrive whole is an error of a read; of
//! a write that succeeded it is a note that it was carried out, because a model that sees an error
//! writes again. Nothing here waits or sends.

mod json;
mod media;
mod problem;

pub(super) use json::rewrite_strings;

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode, header::CONTENT_ENCODING};
use serde::de::IgnoredAny;

use self::{
    json::{NotJson, quoted},
    media::{Kind, MediaType},
};
use super::{Answer, Content, secret::Secrets};
use crate::registry::plan::{Plan, Shape, Target};

/// A response as far as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Decoded, at most the plan's `max_response`.
    pub(super) body: Bytes,
    pub(super) end: End,
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Complete,
    /// It was longer than the plan allows.
    OverLimit,
    /// The time of the call was over.
    TimedOut,
    /// The connection broke, or the body could not be decoded.
    Broken,
}

/// What an answer depends on besides the response.
pub(super) struct Context<'a> {
    pub(super) plan: &'a Plan,
    pub(super) target: &'a Target,
    /// The path that was asked for, percent-encoded.
    pub(super) path: &'a str,
    pub(super) secrets: &'a Secrets,
    /// Whether the request carried an Authorization header.
    pub(super) has_credential: bool,
}

/// The answer to a response.
pub(super) fn answer(received: &Received, context: &Context<'_>) -> Answer {
    if !received.status.is_success() {
        return Answer::error(problem::text(received, context));
    }
    let media = MediaType::of(&received.headers);
    let ended = received.end == End::Complete || (media.is_stream() && received.end != End::Broken);
    if !ended {
        return unfinished(received, context, &unfinished_words(received, context));
    }
    if let Some(encoding) = undecoded(received) {
        let words = format!("the reply is encoded as `{encoding}`, which was not asked for");
        return unfinished(received, context, &words);
    }
    whole(received, context, &media)
}

/// A reply that did not arrive whole or cannot be read.
fn unfinished(received: &Received, context: &Context<'_>, words: &str) -> Answer {
    if context.plan.reads {
        let words = context.secrets.blank(words);
        return Answer::error(format!("{words}{}", narrowing(received.end, context)));
    }
    let status = problem::status_line(received.status);
    let note = format!("{status}, carried out; {words} and is left out. Do not repeat.");
    let note = context.secrets.blank(&note);
    let structured = format!(r#"{{"ok":true,"note":{}}}"#, quoted(&note));
    Answer { content: vec![Content::Text(note)], structured: Some(structured), is_error: false }
}

fn unfinished_words(received: &Received, context: &Context<'_>) -> String {
    match received.end {
        End::OverLimit => format!("the reply was over {}", size(context.plan.max_response)),
        End::TimedOut => {
            format!("the reply was not complete within {}", time(context.plan.timeout))
        }
        End::Complete | End::Broken => "the reply broke off".to_owned(),
    }
}

/// How a read gets under the limit.
fn narrowing(end: End, context: &Context<'_>) -> String {
    let names: Vec<_> = context.plan.narrowing.iter().map(|name| format!("`{name}`")).collect();
    match (end, names.is_empty()) {
        (End::OverLimit | End::TimedOut, false) => format!("; narrow it with {}", names.join(", ")),
        (End::OverLimit, true) => {
            "; no argument narrows it (`max_response` in the allowlist raises the limit)".to_owned()
        }
        _ => String::new(),
    }
}

/// The encoding of a body that was not undone.
fn undecoded(received: &Received) -> Option<String> {
    let encoding = received.headers.get(CONTENT_ENCODING)?;
    let encoding = String::from_utf8_lossy(encoding.as_bytes()).to_ascii_lowercase();
    let plain = encoding.is_empty() || encoding == "identity" || received.body.is_empty();
    (!plain).then(|| encoding.chars().filter(|c| !c.is_control()).take(40).collect())
}

fn whole(received: &Received, context: &Context<'_>, media: &MediaType) -> Answer {
    let note = match received.end {
        End::OverLimit => Some(format!("the stream was ended after {}", size(received.body.len()))),
        End::TimedOut => Some(format!("the stream was ended after {}", time(context.plan.timeout))),
        End::Complete | End::Broken => None,
    };
    let body = Body { bytes: &received.body, media, note };
    let built = match media.kind() {
        _ if received.body.is_empty() && body.note.is_none() => Built::json(OK.to_owned()),
        Kind::Json => body.json(context.plan.shape),
        Kind::Text => body.text(),
        Kind::Image | Kind::Audio | Kind::Blob => body.bytes(context.secrets),
        Kind::Unsaid => body.unsaid(context.plan.shape, context.secrets),
    };
    built.finish(received, context)
}

const OK: &str = r#"{"ok":true}"#;

struct Body<'a> {
    bytes: &'a [u8],
    media: &'a MediaType,
    note: Option<String>,
}

impl Body<'_> {
    fn json(self, shape: Shape) -> Built {
        let decoded = self.media.decode(self.bytes);
        let trouble = match json::compact(&decoded.text) {
            Ok(json) => return Built::json(shaped(json, shape)),
            Err(_) if decoded.text.trim().is_empty() => return Built::json(OK.to_owned()),
            Err(NotJson::Syntax) => "is not JSON",
            Err(NotJson::TooDeep) => "is nested too deeply to be passed on as JSON",
        };
        let note =
            format!("the reply says `{}` but {trouble}; this is its text", self.media.essence);
        Built::text(decoded.text, [Some(note), decoded.note, self.note])
    }

    fn text(self) -> Built {
        let decoded = self.media.decode(self.bytes);
        Built::text(decoded.text, [decoded.note, self.note, None])
    }

    fn bytes(self, secrets: &Secrets) -> Built {
        let media_type = match self.media.essence.as_str() {
            "" => "application/octet-stream".to_owned(),
            essence => secrets.blank(essence),
        };
        let structured =
            format!(r#"{{"media_type":{},"bytes":{}}}"#, quoted(&media_type), self.bytes.len());
        if secrets.are_in(self.bytes) {
            let note = quoted("left out: a credential of this call is in it");
            return Built::json(with_member(&structured, "note", &note));
        }
        let data = STANDARD.encode(self.bytes);
        let content = match self.media.kind() {
            Kind::Image => Content::Image { data, media_type },
            Kind::Audio => Content::Audio { data, media_type },
            Kind::Json | Kind::Text | Kind::Blob | Kind::Unsaid => {
                Content::Blob { data, media_type }
            }
        };
        Built { structured, own: Own::Block(content) }
    }

    fn unsaid(self, shape: Shape, secrets: &Secrets) -> Built {
        match std::str::from_utf8(self.bytes) {
            Ok(text) if !text.contains('\0') => match json::compact(text) {
                Ok(json) => Built::json(shaped(json, shape)),
                Err(_) => self.text(),
            },
            _ => self.bytes(secrets),
        }
    }
}

/// A success before headers are lifted into it and credentials blanked.
struct Built {
    /// JSON text of an object.
    structured: String,
    own: Own,
}

/// What a success shows besides its JSON.
enum Own {
    /// Nothing: the JSON is the text.
    Nothing,
    /// Texts that say the same as the JSON, easier to read.
    Texts(Vec<String>),
    /// A block of its own kind; the JSON describes it.
    Block(Content),
}

impl Built {
    fn json(structured: String) -> Self {
        Self { structured, own: Own::Nothing }
    }

    fn text(text: String, notes: [Option<String>; 3]) -> Self {
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        let mut structured = format!(r#"{{"result":{}"#, quoted(&text));
        let mut texts = vec![text];
        if !notes.is_empty() {
            let note = notes.join("; ");
            structured.push_str(&format!(r#","note":{}"#, quoted(&note)));
            texts.push(format!("(note: {note})"));
        }
        structured.push('}');
        Self { structured, own: Own::Texts(texts) }
    }

    fn finish(self, received: &Received, context: &Context<'_>) -> Answer {
        let secrets = context.secrets;
        let lifted = lifted(&context.plan.response_headers, &received.headers);
        let structured = match &lifted {
            Some(headers) => with_headers(&self.structured, headers),
            None => self.structured,
        };
        let structured = secrets.blank_json(structured);
        let text = |text: String| Content::Text(secrets.blank(&text));
        let content = match self.own {
            Own::Nothing => vec![Content::Text(structured.clone())],
            Own::Texts(texts) => {
                let lifted = lifted.map(|headers| format!("(response headers: {headers})"));
                texts.into_iter().chain(lifted).map(text).collect()
            }
            Own::Block(block) => vec![block, Content::Text(structured.clone())],
        };
        Answer { content, structured: Some(structured), is_error: false }
    }
}

fn shaped(json: String, shape: Shape) -> String {
    match shape {
        Shape::Object | Shape::Empty if json.starts_with('{') => json,
        Shape::Object | Shape::Empty | Shape::Wrapped => format!(r#"{{"result":{json}}}"#),
    }
}

/// Under which name lifted headers stand in the answer: the allowlist's own word.
const LIFTED: &str = "response_headers";

/// The headers that the plan lifts, as a JSON object; `None` when the response has none of them.
fn lifted(names: &[HeaderName], headers: &HeaderMap) -> Option<String> {
    let members: Vec<_> = names
        .iter()
        .filter(|name| headers.contains_key(*name))
        .map(|name| {
            let values: Vec<_> = headers
                .get_all(name)
                .iter()
                .map(|value| String::from_utf8_lossy(value.as_bytes()))
                .collect();
            format!("{}:{}", quoted(name.as_str()), quoted(&values.join(", ")))
        })
        .collect();
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}

/// Adds the headers as a last member; a reply that has such a member itself is wrapped first.
fn with_headers(object: &str, headers: &str) -> String {
    type Members<'a> = std::collections::BTreeMap<String, IgnoredAny>;
    let taken = serde_json::from_str::<Members<'_>>(object)
        .is_ok_and(|members| members.contains_key(LIFTED));
    let open = match object.strip_suffix('}') {
        Some(open) if !taken => open.to_owned(),
        _ => format!(r#"{{"result":{object}"#),
    };
    with_member(&format!("{open}}}"), LIFTED, headers)
}

/// A JSON object with one more member.
fn with_member(object: &str, name: &str, value: &str) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    let comma = if open.len() == 1 { "" } else { "," };
    format!(r#"{open}{comma}"{name}":{value}}}"#)
}

/// `128 KiB`
pub(super) fn size(bytes: usize) -> String {
    const KIB: usize = 1024;
    const MIB: usize = 1024 * KIB;
    match bytes {
        0 => "0 bytes".to_owned(),
        _ if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        _ if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} bytes"),
    }
}

/// `30 s`
pub(super) fn time(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::upstream::request::tests::{plan, target};

    struct Case {
        plan: Plan,
        received: Received,
    }

    fn reply(content_type: &str, body: impl Into<Bytes>) -> Case {
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert("content-type", HeaderValue::from_str(content_type).unwrap());
        }
        let received =
            Received { status: StatusCode::OK, headers, body: body.into(), end: End::Complete };
        Case { plan: plan(), received }
    }

    fn write(status: StatusCode, end: End) -> Case {
        let mut case = reply("application/json", "{");
        case.plan.reads = false;
        case.received.status = status;
        case.received.end = end;
        case
    }

    impl Case {
        fn shape(mut self, shape: Shape) -> Self {
            self.plan.shape = shape;
            self
        }

        fn header(mut self, name: &'static str, value: &str) -> Self {
            self.received.headers.append(name, HeaderValue::from_str(value).unwrap());
            self
        }

        fn end(mut self, end: End) -> Self {
            self.received.end = end;
            self
        }

        fn answer(&self) -> Answer {
            let token = HeaderValue::from_static("Bearer t0ken-t0ken");
            let secrets = Secrets::of([(&http::header::AUTHORIZATION, &token)]);
            let context = Context {
                plan: &self.plan,
                target: &target("http://api.test"),
                path: "/memos/abc",
                secrets: &secrets,
                has_credential: true,
            };
            answer(&self.received, &context)
        }

        /// A success whose one text is the same JSON.
        #[track_caller]
        fn is(&self, expected: &str) {
            let answer = self.answer();
            assert_eq!(answer.structured.as_deref(), Some(expected));
            assert_eq!(answer.content, [Content::Text(expected.to_owned())]);
            assert!(!answer.is_error);
            assert!(serde_json::from_str::<Value>(expected).unwrap().is_object());
        }

        /// A success whose own text comes first.
        #[track_caller]
        fn reads(&self, text: &str, structured: &Value) {
            let answer = self.answer();
            assert_eq!(answer.content.first(), Some(&Content::Text(text.to_owned())));
            let said: Value = serde_json::from_str(&answer.structured.unwrap()).unwrap();
            assert_eq!(&said, structured);
            assert!(!answer.is_error);
        }

        #[track_caller]
        fn fails(&self, expected: &str) {
            assert_eq!(self.answer(), Answer::error(expected.to_owned()));
        }
    }

    fn json_reply(body: &'static str) -> Case {
        reply("application/json", body)
    }

    #[test]
    fn results_are_shaped_by_their_schema() {
        json_reply(r#"{"a": 1}"#).is(r#"{"a":1}"#);
        json_reply("[]").shape(Shape::Wrapped).is(r#"{"result":[]}"#);
        json_reply(r#"[{"tag": "x"}]"#).shape(Shape::Wrapped).is(r#"{"result":[{"tag":"x"}]}"#);
        json_reply("5").shape(Shape::Wrapped).is(r#"{"result":5}"#);
        json_reply(r#"{"a": 1}"#).shape(Shape::Wrapped).is(r#"{"result":{"a":1}}"#);
        reply("", "").shape(Shape::Empty).is(r#"{"ok":true}"#);
    }

    #[test]
    fn replies_of_another_kind_follow_the_same_rules() {
        json_reply("").is(r#"{"ok":true}"#);
        json_reply(" \n").is(r#"{"ok":true}"#);
        json_reply("[1]").is(r#"{"result":[1]}"#);
        json_reply("null").is(r#"{"result":null}"#);
        json_reply("").shape(Shape::Wrapped).is(r#"{"ok":true}"#);
        json_reply(r#"{"a":1}"#).shape(Shape::Empty).is(r#"{"a":1}"#);
        json_reply("true").shape(Shape::Empty).is(r#"{"result":true}"#);
        json_reply(r#"{"name":null}"#).is(r#"{"name":null}"#);
    }

    #[test]
    fn every_empty_success_is_ok() {
        for status in [200, 201, 202, 204, 205] {
            let mut case = reply("application/json", "");
            case.received.status = StatusCode::from_u16(status).unwrap();
            case.is(r#"{"ok":true}"#);
        }
        reply("image/png", "").is(r#"{"ok":true}"#);
    }

    #[test]
    fn digits_stay_exact() {
        json_reply(r#"{"id": 9007199254740993, "big": 123456789012345678901234567890, "f": 1.10}"#)
            .is(r#"{"id":9007199254740993,"big":123456789012345678901234567890,"f":1.10}"#);
    }

    #[test]
    fn json_is_told_by_its_type_or_its_look() {
        reply("application/problem+json; charset=utf-8", r#"{"a":1}"#).is(r#"{"a":1}"#);
        reply("application/json; charset=iso-8859-1", &b"{\"a\":\"\xfc\"}"[..]).is(r#"{"a":"ü"}"#);
        reply("", r#"{"a":1}"#).is(r#"{"a":1}"#);
        reply("", "plain").reads("plain", &json!({"result": "plain"}));
    }

    #[test]
    fn text_labelled_as_json_is_passed_with_a_note() {
        let case = json_reply("OK then");
        let note = "the reply says `application/json` but is not JSON; this is its text";
        case.reads("OK then", &json!({"result": "OK then", "note": note}));
        assert_eq!(case.answer().content.len(), 2);
    }

    #[test]
    fn texts_are_their_own_kind() {
        reply("text/html", "<h1>x</h1>").reads("<h1>x</h1>", &json!({"result": "<h1>x</h1>"}));
        reply("application/xml", "<a/>").reads("<a/>", &json!({"result": "<a/>"}));
        reply("text/plain; charset=latin1", &b"\xfc"[..]).reads("ü", &json!({"result": "ü"}));
        let lossy = reply("text/plain", &b"a\xff"[..]);
        let note = "bytes that are not UTF-8 are shown as `\u{fffd}`";
        lossy.reads("a\u{fffd}", &json!({"result": "a\u{fffd}", "note": note}));
    }

    #[track_caller]
    fn block(case: &Case, expected: Content, structured: &str) {
        let answer = case.answer();
        assert_eq!(answer.content, [expected, Content::Text(structured.to_owned())]);
        assert_eq!(answer.structured.as_deref(), Some(structured));
    }

    #[test]
    fn images_sound_and_other_types_are_blocks_with_a_description() {
        let data = || STANDARD.encode(b"\x89PNG");
        let png = reply("image/png", &b"\x89PNG"[..]);
        let media_type = || "image/png".to_owned();
        block(
            &png,
            Content::Image { data: data(), media_type: media_type() },
            r#"{"media_type":"image/png","bytes":4}"#,
        );
        let wav = reply("audio/wav", &b"\x89PNG"[..]);
        let media_type = || "audio/wav".to_owned();
        block(
            &wav,
            Content::Audio { data: data(), media_type: media_type() },
            r#"{"media_type":"audio/wav","bytes":4}"#,
        );
        let pdf = reply("application/pdf", &b"\x89PNG"[..]);
        let media_type = || "application/pdf".to_owned();
        block(
            &pdf,
            Content::Blob { data: data(), media_type: media_type() },
            r#"{"media_type":"application/pdf","bytes":4}"#,
        );
        let unknown = reply("", &b"\x89PNG"[..]);
        let media_type = || "application/octet-stream".to_owned();
        block(
            &unknown,
            Content::Blob { data: data(), media_type: media_type() },
            r#"{"media_type":"application/octet-stream","bytes":4}"#,
        );
    }

    #[test]
    fn wanted_headers_are_lifted_into_the_answer() {
        let lift = |mut case: Case| {
            case.plan.response_headers =
                vec!["next-page".parse().unwrap(), "absent".parse().unwrap()];
            case.header("next-page", "2").header("next-page", "\"3\"").header("other", "x")
        };
        lift(json_reply("{}")).is(r#"{"response_headers":{"next-page":"2, \"3\""}}"#);
        lift(json_reply(r#"{"a":1}"#)).is(r#"{"a":1,"response_headers":{"next-page":"2, \"3\""}}"#);
        lift(json_reply("[]")).is(r#"{"result":[],"response_headers":{"next-page":"2, \"3\""}}"#);
        lift(json_reply(r#"{"response_headers":1}"#))
            .is(r#"{"result":{"response_headers":1},"response_headers":{"next-page":"2, \"3\""}}"#);
        let text = lift(reply("text/plain", "x")).answer();
        assert!(
            matches!(text.content.last(), Some(Content::Text(text)) if text.contains("next-page"))
        );
    }

    #[test]
    fn an_oversized_read_names_what_narrows_it() {
        let mut case = json_reply("{").end(End::OverLimit);
        case.fails("the reply was over 128 KiB; narrow it with `page`");
        case.plan.narrowing.clear();
        case.fails(
            "the reply was over 128 KiB; no argument narrows it (`max_response` in the allowlist raises the limit)",
        );
        json_reply("{")
            .end(End::TimedOut)
            .fails("the reply was not complete within 5 s; narrow it with `page`");
        json_reply("{").end(End::Broken).fails("the reply broke off");
    }

    #[test]
    fn a_write_that_succeeded_says_so_first_whatever_became_of_its_reply() {
        #[track_caller]
        fn check(case: &Case, note: &str) {
            case.reads(note, &json!({"ok": true, "note": note}));
        }
        check(
            &write(StatusCode::CREATED, End::OverLimit),
            "201 Created, carried out; the reply was over 128 KiB and is left out. Do not repeat.",
        );
        check(
            &write(StatusCode::OK, End::TimedOut),
            "200 OK, carried out; the reply was not complete within 5 s and is left out. Do not repeat.",
        );
        check(
            &write(StatusCode::OK, End::Broken),
            "200 OK, carried out; the reply broke off and is left out. Do not repeat.",
        );
        let error = write(StatusCode::INTERNAL_SERVER_ERROR, End::OverLimit).answer();
        assert!(error.is_error);
    }

    #[test]
    fn endless_streams_end_at_the_limits() {
        let note = "the stream was ended after 8 bytes";
        reply("text/event-stream", "data: 1\n")
            .end(End::OverLimit)
            .reads("data: 1\n", &json!({"result": "data: 1\n", "note": note}));
        let note = "the stream was ended after 5 s";
        reply("application/x-ndjson", "{}\n")
            .end(End::TimedOut)
            .reads("{}\n", &json!({"result": "{}\n", "note": note}));
        reply("text/event-stream", "")
            .end(End::TimedOut)
            .reads("", &json!({"result": "", "note": note}));
        reply("text/event-stream", "data").end(End::Broken).fails("the reply broke off");
    }

    #[test]
    fn a_body_in_an_unknown_encoding_is_not_shown() {
        let case = reply("application/json", "x").header("content-encoding", "zstd");
        case.fails("the reply is encoded as `zstd`, which was not asked for");
        reply("application/json", "{}").header("content-encoding", "identity").is("{}");
    }

    #[test]
    fn credentials_in_successes_are_blanked() {
        json_reply(r#"{"headers":{"Authorization":"Bearer t0ken-t0ken"}}"#)
            .is(r#"{"headers":{"Authorization":"[redacted]"}}"#);
        reply("text/plain", "you sent t0ken-t0ken")
            .reads("you sent [redacted]", &json!({"result": "you sent [redacted]"}));
    }

    #[test]
    fn credentials_in_what_describes_a_reply_are_blanked() {
        let left_out = "left out: a credential of this call is in it";
        let blob = reply("application/zip", &b"PK\x00 t0ken-t0ken"[..]);
        blob.is(&format!(r#"{{"media_type":"application/zip","bytes":15,"note":"{left_out}"}}"#));
        let named = reply("image/t0ken-t0ken", &b"\x89"[..]).answer();
        let encoded =
            reply("application/json", "x").header("content-encoding", "t0ken-t0ken").answer();
        let mut write = write(StatusCode::OK, End::Complete);
        write = write.header("content-encoding", "t0ken-t0ken");
        for answer in [named, encoded, write.answer()] {
            let shown = format!("{answer:?}");
            assert!(shown.contains("[redacted]") && !shown.contains("t0ken"), "{shown}");
        }
    }

    #[test]
    fn everything_but_a_success_is_an_error_of_text_only() {
        for status in [302, 304, 400, 401, 403, 404, 409, 422, 429, 500, 503] {
            let mut case = json_reply(r#"{"message":"m"}"#);
            case.received.status = StatusCode::from_u16(status).unwrap();
            let answer = case.answer();
            assert!(answer.is_error && answer.structured.is_none(), "{status}");
            assert!(
                matches!(answer.content.as_slice(), [Content::Text(text)] if text.starts_with(&status.to_string()))
            );
        }
    }

    #[test]
    fn sizes_and_times_read_well() {
        assert_eq!(
            [size(131_072), size(4 * 1024 * 1024), size(100)],
            ["128 KiB", "4 MiB", "100 bytes"]
        );
        assert_eq!(
            [time(Duration::from_secs(30)), time(Duration::from_millis(1500))],
            ["30 s", "1.5 s"]
        );
    }
}
