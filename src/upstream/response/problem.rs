//! The text of an error reply: what a model needs to mend its call.
//!
//! Status and reason come first, then the upstream's own message and its field errors, found by the
//! names that real APIs use; plain text as it is, HTML reduced to its title. At most 2 KiB, without
//! credentials. The upstream's text is data: nothing in it is followed or trusted.

use http::{
    StatusCode,
    header::{AUTHORIZATION, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde_json::{Map, Value};
use url::Url;

use super::{Context, End, Received, media::MediaType, undecoded};
use crate::{registry::plan::Upstream, upstream::request::prefix};

/// Bytes of one error text.
const LONGEST: usize = 2048;

/// Nesting to which a message is searched for.
const DEPTH: usize = 3;

/// The text for a reply whose status is not a success.
pub(super) fn text(received: &Received, context: &Context<'_>) -> String {
    let status = status_line(received.status);
    let message = match received.status {
        status if status.is_redirection() => redirect(received, context),
        _ => None,
    };
    let message = message.or_else(|| message_of(received));
    let notes = notes(received, context);
    let said = match message {
        Some(message) => format!("{status}: {}", context.secrets.blank(&tidy(&message))),
        None => format!("{status} (the reply has no body)"),
    };
    format!("{}{notes}", cut(&said, LONGEST - notes.len()))
}

/// What stands below the upstream's own words, a line each; at most half of the whole.
fn notes(received: &Received, context: &Context<'_>) -> String {
    let headers = super::lifted(&context.plan.response_headers, &received.headers)
        .map(|headers| format!("(response headers: {})", context.secrets.blank(&headers)));
    let notes = [hint(received, context), patience(received, context), headers];
    let lines: String = notes.into_iter().flatten().map(|note| format!("\n{note}")).collect();
    cut(&lines, LONGEST / 2)
}

/// When to try again, in the upstream's own words.
fn patience(received: &Received, context: &Context<'_>) -> Option<String> {
    let busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
    let after = received.headers.get(RETRY_AFTER).filter(|_| busy.contains(&received.status))?;
    let after = context.secrets.blank(cut(after.to_str().ok()?, 40).trim());
    let unit = if after.bytes().all(|byte| byte.is_ascii_digit()) { " s" } else { "" };
    Some(format!("Try again after {after}{unit}."))
}

/// `404 Not Found`
pub(super) fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

fn message_of(received: &Received) -> Option<String> {
    if let Some(encoding) = undecoded(received) {
        return Some(format!("its body is encoded as `{encoding}`, which was not asked for"));
    }
    let media = MediaType::of(&received.headers);
    let decoded = media.decode(&received.body).text;
    let text = decoded.trim().trim_start_matches('\u{feff}');
    if text.is_empty() {
        return match &received.end {
            End::Complete | End::OverLimit => None,
            End::TimedOut | End::Broken => Some("its body did not arrive".to_owned()),
        };
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return Some(of_json(&value, received.status));
    }
    let start: String = text.chars().take(15).collect::<String>().to_ascii_lowercase();
    let html = media.essence == "text/html" || media.essence == "application/xhtml+xml";
    if html || start.starts_with("<!doctype html") || start.starts_with("<html") {
        return Some(title(text).unwrap_or_else(|| "an HTML page without a title".to_owned()));
    }
    Some(text.to_owned())
}

/// The message of a JSON error body with its field errors.
fn of_json(value: &Value, status: StatusCode) -> String {
    let message = message(value, DEPTH);
    let mut parts: Vec<String> = message.into_iter().collect();
    for field in fields(value) {
        if !parts.iter().any(|part| part.contains(&field)) {
            parts.push(field);
        }
    }
    // A message that only repeats the status gives way to anything that says more.
    let says_more = |part: &String| Some(part.as_str()) != status.canonical_reason();
    if parts.iter().any(says_more) {
        parts.retain(says_more);
    }
    match parts.pop() {
        None => value.to_string(),
        Some(last) => {
            let sentence = |part: String| format!("{}; ", part.trim_end_matches('.'));
            parts.into_iter().map(sentence).collect::<String>() + &last
        }
    }
}

fn message(value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let object = match value {
        Value::Object(object) => object,
        Value::String(text) => return said(text),
        Value::Array(items) => return joined(items),
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    let within = |name: &str| object.get(name).and_then(|value| message(value, depth));
    within("message")
        .or_else(|| within("detail"))
        .or_else(|| described(object))
        .or_else(|| within("error"))
        .or_else(|| within("title"))
        .or_else(|| within("description"))
        .or_else(|| within("exception_message"))
        .or_else(|| listed(object.get("errors")?))
}

/// OAuth's way: a code in `error`, and what it means beside it.
fn described(object: &Map<String, Value>) -> Option<String> {
    let code = said(object.get("error")?.as_str()?)?;
    let meaning = said(object.get("error_description")?.as_str()?)?;
    Some(format!("{code}: {meaning}"))
}

/// Errors of single fields, each `where: what`.
fn fields(value: &Value) -> Vec<String> {
    let inner = value.get("error").filter(|error| error.is_object());
    let mut fields = Vec::new();
    for object in [Some(value), inner].into_iter().flatten() {
        for name in ["errors", "detail", "exception_detail", "invalid-params", "invalid_params"] {
            match object.get(name) {
                Some(Value::Array(items)) => fields.extend(items.iter().filter_map(item)),
                Some(Value::Object(members)) if name == "errors" => {
                    fields.extend(by_field(members))
                }
                _ => {}
            }
        }
        match object.get("details") {
            Some(Value::Array(items)) => fields.extend(items.iter().flat_map(violations)),
            Some(Value::Object(members)) => fields.extend(by_field(members)),
            Some(Value::String(text)) => fields.extend(said(text)),
            _ => {}
        }
    }
    fields
}

/// One entry of a gRPC status's `details`.
fn violations(detail: &Value) -> Vec<String> {
    let listed = ["fieldViolations", "field_violations", "violations"]
        .iter()
        .find_map(|name| detail.get(name)?.as_array());
    match listed {
        Some(items) => items.iter().filter_map(item).collect(),
        None => item(detail).into_iter().filter(|_| detail.get("@type").is_none()).collect(),
    }
}

fn listed(errors: &Value) -> Option<String> {
    match errors {
        Value::Array(items) => joined(items),
        Value::Object(members) => {
            let members: Vec<_> = by_field(members).collect();
            (!members.is_empty()).then(|| members.join("; "))
        }
        Value::String(text) => said(text),
        _ => None,
    }
}

fn by_field(members: &Map<String, Value>) -> impl Iterator<Item = String> {
    members.iter().filter_map(|(field, value)| Some(format!("{field}: {}", message(value, DEPTH)?)))
}

fn joined(items: &[Value]) -> Option<String> {
    let items: Vec<_> = items.iter().filter_map(item).collect();
    (!items.is_empty()).then(|| items.join("; "))
}

/// One error of a list: a text, or an object with a place and words.
fn item(value: &Value) -> Option<String> {
    let object = match value {
        Value::String(text) => return said(text),
        Value::Object(object) => object,
        _ => return None,
    };
    let words = ["msg", "message", "description", "detail", "title", "reason", "code"]
        .iter()
        .find_map(|name| said(object.get(*name)?.as_str()?));
    match (place(object), words) {
        (Some(place), Some(words)) if words.starts_with(&place) => Some(words),
        (Some(place), Some(words)) => Some(format!("{place}: {words}")),
        (None, Some(words)) => Some(words),
        (Some(place), None) => Some(place),
        (None, None) => None,
    }
}

fn place(object: &Map<String, Value>) -> Option<String> {
    let pointer = object.get("source").and_then(|source| source.get("pointer"));
    let named = ["loc", "field", "name", "path", "pointer", "location", "param", "parameter"]
        .iter()
        .find_map(|name| object.get(*name));
    match named.or(pointer)? {
        Value::String(text) => said(text),
        Value::Array(steps) => {
            let steps: Vec<_> = steps
                .iter()
                .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
                .collect();
            said(&steps.join("."))
        }
        _ => None,
    }
}

fn said(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The contents of an HTML page's `title`.
fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    let title = html.get(start..end)?;
    let title = title
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    said(&title.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Where a redirect points: its origin only, since the rest may hold what is not for the model.
fn redirect(received: &Received, context: &Context<'_>) -> Option<String> {
    let location = received.headers.get(LOCATION)?.to_str().ok()?;
    let base = match &context.target.upstream {
        Upstream::Origin(origin) => origin.to_string(),
        Upstream::Service => "http://localhost".to_owned(),
    };
    let base = Url::parse(&base).ok()?.join(context.path).ok()?;
    let place = match base.join(location) {
        Ok(url) if url.origin().is_tuple() => pointed(&url, &base),
        _ => "another place".to_owned(),
    };
    Some(format!("it points to {place}; redirects are not followed"))
}

fn pointed(url: &Url, base: &Url) -> String {
    let origin = url.origin().ascii_serialization();
    if url.origin() != base.origin() {
        return format!("`{origin}`");
    }
    match url.path().strip_suffix('/') == Some(base.path()) {
        true => format!(
            "the same path of `{origin}` with a `/` at its end (`path:` in the allowlist adds it)"
        ),
        false => format!("another path of `{origin}`"),
    }
}

/// How a caller without a credential gives one.
fn hint(received: &Received, context: &Context<'_>) -> Option<String> {
    if received.status != StatusCode::UNAUTHORIZED || context.has_credential {
        return None;
    }
    let scheme = received.headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let scheme = scheme.and_then(|value| value.split([' ', ',']).next()).unwrap_or("Bearer");
    let scheme: String = scheme.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    Some(if context.target.forward.contains(&AUTHORIZATION) {
        format!(
            "No credential was sent. Give the MCP client an `Authorization: {scheme} …` header (over stdio and for `toolgate call`: set `TOOLGATE_AUTHORIZATION`); it is passed on to this API only."
        )
    } else {
        "No credential was sent, and this toolset passes none on: `forward: [authorization]` or `headers:` in its allowlist does.".to_owned()
    })
}

/// Without control characters, which terminals obey.
fn tidy(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// At most this many bytes, cut between characters.
fn cut(text: &str, longest: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= longest {
        return text.to_owned();
    }
    format!("{}{MARK}", prefix(text, longest - MARK.len()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;
    use crate::registry::plan::Target;
    use crate::upstream::{
        request::tests::{plan, target},
        secret::Secrets,
    };

    fn reply(status: u16, headers: &[(&'static str, &str)], body: &str) -> Received {
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        Received {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::from_iter(headers),
            body: Bytes::copy_from_slice(body.as_bytes()),
            end: End::Complete,
        }
    }

    fn said(received: &Received) -> String {
        let (plan, target, token) =
            (plan(), target("http://api.test"), HeaderValue::from_static("Bearer t0ken-t0ken"));
        let secrets = Secrets::of([(&AUTHORIZATION, &token)]);
        let context = Context {
            plan: &plan,
            target: &target,
            path: "/memos/abc",
            secrets: &secrets,
            has_credential: true,
        };
        text(received, &context)
    }

    #[track_caller]
    fn json(body: &str, expected: &str) {
        let received = reply(422, &[("content-type", "application/json")], body);
        assert_eq!(said(&received), format!("422 Unprocessable Entity: {expected}"));
    }

    #[track_caller]
    fn plain(content_type: &str, body: &str, expected: &str) {
        assert_eq!(said(&reply(500, &[("content-type", content_type)], body)), expected);
    }

    #[test]
    fn the_upstreams_message_is_found_under_its_usual_names() {
        json(r#"{"message":"content too long","code":3}"#, "content too long");
        json(
            r#"{"message":["a is empty","b is long"],"error":"Bad Request"}"#,
            "a is empty; b is long",
        );
        json(r#"{"detail":"Not found."}"#, "Not found.");
        json(r#"{"error":{"message":"no such memo","code":5}}"#, "no such memo");
        json(r#"{"error":"boom"}"#, "boom");
        json(
            r#"{"error":"invalid_grant","error_description":"the code is used up"}"#,
            "invalid_grant: the code is used up",
        );
        json(r#"{"title":"Conflict","status":409}"#, "Conflict");
        json(r#"{"title":"Bad","detail":"name is taken"}"#, "name is taken");
        json(r#"{"description":"why"}"#, "why");
        json(r#"{"exception_message":"Invalid request received."}"#, "Invalid request received.");
        json(r#"{"errors":["one","two"]}"#, "one; two");
        json(
            r#"{"errors":{"name":["is too short"],"age":"is no number"}}"#,
            "name: is too short; age: is no number",
        );
        json(r#""just text""#, "just text");
        json(r#"[{"message":"first","errorCode":"X"}]"#, "first");
        json(r#"{"message":"","detail":null,"error":"boom"}"#, "boom");
        json(r#"{"unknown":1}"#, r#"{"unknown":1}"#);
    }

    #[test]
    fn field_errors_are_named_with_their_place() {
        json(
            r#"{"detail":[{"loc":["body","items",0,"name"],"msg":"field required","type":"missing"}]}"#,
            "body.items.0.name: field required",
        );
        json(
            r#"{"code":3,"message":"invalid","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"memo.content","description":"must not be empty"}]}]}"#,
            "invalid; memo.content: must not be empty",
        );
        json(
            r#"{"error":{"message":"bad","details":[{"@type":"t","fieldViolations":[{"field":"f","description":"d"}]}]}}"#,
            "bad; f: d",
        );
        json(
            r#"{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}"#,
            "Validation Failed; title: missing_field",
        );
        json(
            r#"{"exception_message":"Invalid","exception_detail":[{"loc":["limit"],"msg":"too big"}]}"#,
            "Invalid; limit: too big",
        );
        json(
            r#"{"errors":[{"source":{"pointer":"/data/name"},"detail":"is taken"}]}"#,
            "/data/name: is taken",
        );
        json(
            r#"{"title":"Bad request","invalid-params":[{"name":"age","reason":"must be positive"}]}"#,
            "Bad request; age: must be positive",
        );
        json(
            r#"{"errno":107,"error":"Invalid parameters","message":"Required","details":[{"location":"body","name":"data","description":"data: Required"}]}"#,
            "Required; data: Required",
        );
        json(r#"{"message":"m","details":[{"@type":"t","debug":"stack"}]}"#, "m");
        json(
            r#"{"error":"Unprocessable Entity","details":{"id":"nope","resource":"record","n":1}}"#,
            "id: nope; resource: record",
        );
        json(
            r#"{"error":"Unprocessable Entity","details":"the name is taken"}"#,
            "the name is taken",
        );
        json(r#"{"error":"Unprocessable Entity"}"#, "Unprocessable Entity");
        json(
            r#"{"message":"Invalid request.","errors":[{"field":"a","message":"is empty."},{"field":"b","message":"is long."}]}"#,
            "Invalid request; a: is empty; b: is long.",
        );
    }

    #[test]
    fn other_bodies_say_what_they_can() {
        plain("text/plain", " it broke \n", "500 Internal Server Error: it broke");
        plain("application/json", "it broke", "500 Internal Server Error: it broke");
        plain(
            "text/plain",
            r#"{"message":"json all the same"}"#,
            "500 Internal Server Error: json all the same",
        );
        plain(
            "text/html; charset=utf-8",
            "<html><head><TITLE>502 &amp;\n Bad</TITLE></head><body>long</body></html>",
            "500 Internal Server Error: 502 & Bad",
        );
        plain(
            "application/json",
            "<!DOCTYPE html><title>Oops</title>",
            "500 Internal Server Error: Oops",
        );
        plain("text/html", "<p>x", "500 Internal Server Error: an HTML page without a title");
        plain("text/plain", "", "500 Internal Server Error (the reply has no body)");
        plain("text/plain", " \n", "500 Internal Server Error (the reply has no body)");
        plain("text/plain", "\u{1b}[31mred\u{7}", "500 Internal Server Error: [31mred");
        assert_eq!(said(&reply(599, &[], "x")), "599: x");
        assert_eq!(said(&reply(304, &[], "")), "304 Not Modified (the reply has no body)");
        let encoded = reply(500, &[("content-encoding", "zstd")], "\u{1}");
        assert_eq!(
            said(&encoded),
            "500 Internal Server Error: its body is encoded as `zstd`, which was not asked for"
        );
        let broken = Received { end: End::Broken, ..reply(500, &[], "") };
        assert_eq!(said(&broken), "500 Internal Server Error: its body did not arrive");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        for body in ["ü".repeat(5000), format!("a{}", "ü".repeat(5000)), "{".repeat(131_072)] {
            let said = said(&reply(400, &[], &body));
            assert!(said.len() <= LONGEST && said.len() > LONGEST - 8, "{}", said.len());
            assert!(said.ends_with('…'));
        }
    }

    #[test]
    fn credentials_are_blanked_before_the_cut() {
        let at_the_cut = format!("{}t0ken-t0ken", "a".repeat(LONGEST - 40));
        let said_at_cut = said(&reply(400, &[], &at_the_cut));
        assert!(!said_at_cut.contains("t0ken"), "{said_at_cut}");
        json(r#"{"message":"invalid token t0ken-t0ken"}"#, "invalid token [redacted]");
    }

    #[track_caller]
    fn redirect_to(location: &str, expected: &str) {
        let received = reply(307, &[("location", location)], "<html>moved</html>");
        assert_eq!(
            said(&received),
            format!("307 Temporary Redirect: it points to {expected}; redirects are not followed")
        );
    }

    #[test]
    fn redirects_name_the_origin_only() {
        redirect_to("http://other.test/a?token=1", "`http://other.test`");
        redirect_to("https://user:pass@other.test:8443/a", "`https://other.test:8443`");
        redirect_to("//other.test/a", "`http://other.test`");
        redirect_to("/memos/", "another path of `http://api.test`");
        redirect_to("abcd?x", "another path of `http://api.test`");
        let slash = "the same path of `http://api.test` with a `/` at its end (`path:` in the allowlist adds it)";
        redirect_to("http://api.test/memos/abc/", slash);
        redirect_to("/memos/abc/?page=1", slash);
        redirect_to("mailto:a@b", "another place");
    }

    #[test]
    fn a_401_without_a_credential_says_how_to_give_one() {
        let (plan, mut target, secrets) = (plan(), target("http://api.test"), Secrets::default());
        let received =
            reply(401, &[("www-authenticate", "Basic realm=\"x\"")], r#"{"message":"sign in"}"#);
        let ask = |target: &Target| {
            let context =
                Context { plan: &plan, target, path: "", secrets: &secrets, has_credential: false };
            text(&received, &context)
        };
        let forwarding = ask(&target);
        assert!(forwarding.starts_with("401 Unauthorized: sign in\n"), "{forwarding}");
        assert!(forwarding.contains("`Authorization: Basic …`"), "{forwarding}");
        target.forward.clear();
        assert!(ask(&target).contains("`forward: [authorization]`"));
        assert!(!said(&received).contains("credential"));
        let long = reply(401, &[], &"x".repeat(5000));
        let context = Context {
            plan: &plan,
            target: &target,
            path: "",
            secrets: &secrets,
            has_credential: false,
        };
        let long = text(&long, &context);
        assert!(long.len() <= LONGEST && long.contains("`headers:` in its allowlist"), "{long}");
    }

    #[test]
    fn headers_that_the_allowlist_lifts_and_the_time_to_wait_stand_below() {
        let mut plan = plan();
        plan.response_headers = vec!["sl-violations".parse().unwrap()];
        let token = HeaderValue::from_static("Bearer t0ken-t0ken");
        let (target, secrets) =
            (target("http://api.test"), Secrets::of([(&AUTHORIZATION, &token)]));
        let context = Context {
            plan: &plan,
            target: &target,
            path: "",
            secrets: &secrets,
            has_credential: true,
        };
        let headers = [("sl-violations", "no t0ken-t0ken"), ("retry-after", "7")];
        assert_eq!(
            text(&reply(429, &headers, "slow down"), &context),
            "429 Too Many Requests: slow down\nTry again after 7 s.\n(response headers: {\"sl-violations\":\"no [redacted]\"})"
        );
        let long = reply(
            503,
            &[("retry-after", "t0ken-t0ken"), ("sl-violations", &"x".repeat(5000))],
            &"y".repeat(5000),
        );
        let long = text(&long, &context);
        assert!(
            long.len() <= LONGEST && long.contains("after [redacted].") && !long.contains("t0ken"),
            "{long}"
        );
    }

    #[test]
    fn html_is_told_by_its_type_too() {
        let received = reply(404, &[("content-type", "application/xhtml+xml")], "<title>T</title>");
        assert_eq!(said(&received), "404 Not Found: T");
    }
}
