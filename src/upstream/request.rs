//! Plan and arguments to a request; pure.
//!
//! Arguments fill places that the plan fixed; they cannot make new ones. Every value is encoded for
//! its place, and the finished address is compared with the template once more: same origin, same base
//! path, same number of segments. A header that the protocol, the operator or the caller's credentials
//! own is never set from an argument. All faults are said at once.

mod body;
mod header;
mod multipart;
mod path;
mod query;
mod text;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri, header::CONTENT_TYPE};
use serde_json::{Map, Value};

use crate::registry::plan::{ArgumentFault, Arguments, Parameter, Plan, Target, Upstream};

/// A request without what every call carries (Accept, the caller's and the operator's headers).
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) method: Method,
    /// With the origin of the target; only path and query for a service in this process.
    pub(super) uri: Uri,
    /// From header and cookie parameters, and Content-Type when there is a body.
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Builds the request of one call. `max_url` bounds the bytes of path and query.
///
/// # Errors
/// Every fault of the arguments at once.
pub(super) fn build(
    plan: &Plan,
    target: &Target,
    arguments: &Arguments,
    max_url: usize,
) -> Result<Outgoing, Vec<ArgumentFault>> {
    let arguments = arguments.map();
    let mut faults = Vec::new();
    let uri = address(plan, target, arguments, max_url).unwrap_or_else(|mut found| {
        faults.append(&mut found);
        Uri::default()
    });
    let mut headers = header::build(plan, arguments, &mut faults);
    let body = body::build(plan, arguments).unwrap_or_else(|fault| {
        faults.push(fault);
        None
    });
    if !faults.is_empty() {
        return Err(faults);
    }
    let bytes = body.map_or_else(Bytes::new, |body| {
        headers.insert(CONTENT_TYPE, body.content_type);
        body.bytes
    });
    Ok(Outgoing { method: plan.method.clone(), uri, headers, body: bytes })
}

fn address(
    plan: &Plan,
    target: &Target,
    arguments: &Map<String, Value>,
    max_url: usize,
) -> Result<Uri, Vec<ArgumentFault>> {
    let base = target.base_path.as_deref().unwrap_or(&plan.base_path);
    let path = path::fill(&plan.path, arguments);
    let query = query(&plan.query, arguments);
    let (path, query) = match (path, query) {
        (Ok(path), Ok(query)) => (path, query),
        (path, query) => {
            return Err(path.err().into_iter().chain(query.err()).flatten().collect());
        }
    };
    let mut text = format!("{base}{}", path.text);
    if text.is_empty() {
        text.push('/');
    }
    let path_bytes = text.len();
    if !query.is_empty() {
        text.push('?');
        text.push_str(&query);
    }
    if text.len() > max_url {
        let words = format!(
            "path and query would be {} bytes, over the limit of {max_url}; give shorter or fewer values",
            text.len()
        );
        return Err(vec![fault("", words)]);
    }
    let n_segments = path.n_segments;
    let expected = Expected { upstream: &target.upstream, base, n_segments, path_bytes };
    expected
        .finish(&text)
        .ok_or_else(|| vec![fault("", "the values would change where the request goes".to_owned())])
}

/// What a finished address must still be.
struct Expected<'a> {
    upstream: &'a Upstream,
    base: &'a str,
    n_segments: usize,
    path_bytes: usize,
}

impl Expected<'_> {
    fn finish(&self, path_and_query: &str) -> Option<Uri> {
        let uri: Uri = match self.upstream {
            Upstream::Service => path_and_query.parse().ok()?,
            Upstream::Origin(origin) => {
                let origin = format!("{}://{}", origin.scheme()?, origin.authority()?);
                format!("{origin}{path_and_query}").parse().ok()?
            }
        };
        let same_origin = match self.upstream {
            Upstream::Service => uri.authority().is_none(),
            Upstream::Origin(origin) => {
                uri.scheme() == origin.scheme() && uri.authority() == origin.authority()
            }
        };
        let below = uri.path().strip_prefix(self.base)?;
        let n_segments = below.matches('/').count();
        let root = self.n_segments == 0 && matches!(below, "" | "/");
        let same_shape = root || n_segments == self.n_segments;
        let same_path = uri.path().len() == self.path_bytes;
        (same_origin && same_shape && same_path).then_some(uri)
    }
}

fn query(
    parameters: &[Parameter],
    arguments: &Map<String, Value>,
) -> Result<String, Vec<ArgumentFault>> {
    let mut out = String::new();
    let mut faults = Vec::new();
    for parameter in parameters {
        let Some(value) = parameter.source.value(arguments) else { continue };
        // The keys of an exploded object are names in the query: none may stand for another parameter.
        let taken = query::spilled(&parameter.encoding, &value)
            .filter(|key| parameters.iter().any(|other| other.name == **key));
        let argument = parameter.source.argument().unwrap_or(&parameter.name);
        faults.extend(taken.map(|key| {
            let words = format!("`{key}` is a parameter of its own and cannot be set here");
            fault(&format!("{argument}.{key}"), words)
        }));
        query::append(&mut out, &parameter.name, &parameter.encoding, &value);
    }
    if faults.is_empty() { Ok(out) } else { Err(faults) }
}

fn fault(argument: &str, words: String) -> ArgumentFault {
    ArgumentFault { path: argument.to_owned(), words }
}

/// A value cut to a length that is fit to be shown.
fn shown(text: &str) -> &str {
    prefix(text, 80)
}

/// The longest start of a text that has at most so many bytes and ends between characters.
pub(super) fn prefix(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "cases read better as plain values")]
pub(super) mod tests {
    use std::time::Duration;

    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::registry::plan::{
        BodyMedia, BodyPlan, Encoding, Field, Part, PathPiece, PathValue, Segment, Shape, Source,
        Style,
    };

    pub(in crate::upstream) fn argument(name: &str) -> Source {
        Source::Argument(name.to_owned())
    }

    fn form(explode: bool) -> Encoding {
        Encoding::Style { style: Style::Form, explode, allow_reserved: false }
    }

    pub(in crate::upstream) fn field(name: &str) -> Field {
        let part = Part { encoding: form(true), content_type: None, binary: false };
        Field { name: name.to_owned(), source: argument(name), part }
    }

    pub(in crate::upstream) fn parameter(name: &str) -> Parameter {
        Parameter { name: name.to_owned(), source: argument(name), encoding: form(true) }
    }

    fn header_parameter(name: &str) -> Parameter {
        let encoding =
            Encoding::Style { style: Style::Simple, explode: false, allow_reserved: false };
        Parameter { encoding, ..parameter(name) }
    }

    /// `GET /memos/{memo}?page=`
    pub(in crate::upstream) fn plan() -> Plan {
        Plan {
            method: Method::GET,
            base_path: String::new(),
            path: vec![
                Segment(vec![PathPiece::Literal("memos".into())]),
                Segment(vec![PathPiece::Value(path::tests::simple("memo"))]),
            ],
            query: vec![parameter("page")],
            headers: Vec::new(),
            cookies: Vec::new(),
            body: BodyPlan::None,
            shape: Shape::Object,
            response_headers: Vec::new(),
            reads: true,
            timeout: Duration::from_secs(5),
            max_response: 128 * 1024,
            narrowing: vec!["page".into()],
        }
    }

    pub(in crate::upstream) fn target(origin: &str) -> Target {
        Target {
            upstream: Upstream::Origin(origin.parse().unwrap()),
            base_path: None,
            from: "--upstream".into(),
            headers: Vec::new(),
            forward: vec![HeaderName::from_static("authorization")],
            max_in_flight: 64,
        }
    }

    pub(in crate::upstream) fn arguments(value: Value) -> Arguments {
        let Value::Object(map) = value else { panic!("arguments are an object") };
        Arguments::assume_checked(map)
    }

    fn run(plan: &Plan, target: &Target, given: Value) -> Result<Outgoing, String> {
        build(plan, target, &arguments(given), 8192).map_err(|faults| {
            let faults: Vec<_> =
                faults.iter().map(|fault| format!("{}: {}", fault.path, fault.words)).collect();
            faults.join("; ")
        })
    }

    #[track_caller]
    fn check(plan: &Plan, given: Value, expected: &str) {
        let uri = run(plan, &target("http://127.0.0.1:5230"), given).map(|out| out.uri.to_string());
        assert_eq!(uri.unwrap_or_else(|words| words), expected);
    }

    #[test]
    fn address_is_origin_base_path_and_query() {
        check(&plan(), json!({"memo": "a", "page": 2}), "http://127.0.0.1:5230/memos/a?page=2");
        check(&plan(), json!({"memo": "a"}), "http://127.0.0.1:5230/memos/a");
        check(&plan(), json!({"memo": "a", "page": null}), "http://127.0.0.1:5230/memos/a");
        let based = Plan { base_path: "/api/v1".into(), ..plan() };
        check(&based, json!({"memo": "a"}), "http://127.0.0.1:5230/api/v1/memos/a");
        let root = Plan { path: Vec::new(), ..plan() };
        check(&root, json!({}), "http://127.0.0.1:5230/");
        let root = Plan { path: vec![Segment(vec![PathPiece::Literal(String::new())])], ..plan() };
        check(&root, json!({"page": 1}), "http://127.0.0.1:5230/?page=1");
    }

    #[test]
    fn the_targets_base_path_replaces_the_documents() {
        let based = Plan { base_path: "/api/v1".into(), ..plan() };
        let target = Target { base_path: Some("/v2".into()), ..target("https://api.example:8443") };
        let out = run(&based, &target, json!({"memo": "a"})).unwrap();
        assert_eq!(out.uri, "https://api.example:8443/v2/memos/a");
    }

    #[test]
    fn a_service_gets_path_and_query_only() {
        let target = Target { upstream: Upstream::Service, ..target("http://unused") };
        let out = run(&plan(), &target, json!({"memo": "//evil.test/x", "page": 1})).unwrap();
        assert_eq!(out.uri, "/memos/%2F%2Fevil.test%2Fx?page=1");
    }

    #[test]
    fn all_faults_are_said_at_once() {
        let mut plan = plan();
        plan.headers.push(header_parameter("X-Trace"));
        let words = run(&plan, &target("http://h"), json!({"memo": "..", "X-Trace": "a\nb"}));
        let words = words.unwrap_err();
        assert!(words.contains("memo: ") && words.contains("X-Trace: "), "{words}");
    }

    #[test]
    fn a_long_address_is_refused() {
        let words = run(&plan(), &target("http://h"), json!({"memo": "a".repeat(9000)}));
        assert!(words.unwrap_err().contains("over the limit of 8192"));
    }

    #[test]
    fn a_plan_that_would_leave_its_template_is_refused() {
        for piece in ["a/b", "a?b", "a#b", "a/../b"] {
            let path = vec![Segment(vec![PathPiece::Literal(piece.into())])];
            let words = run(&Plan { path, ..plan() }, &target("http://h"), json!({"page": 1}));
            assert!(words.unwrap_err().contains("change where the request goes"), "{piece}");
        }
    }

    #[test]
    fn an_exploded_object_cannot_set_another_parameter() {
        let mut plan = plan();
        plan.query.push(Parameter { source: Source::Fixed(json!("N")), ..parameter("state") });
        plan.query.push(parameter("filter"));
        let given = json!({"memo": "a", "filter": {"state": "D"}});
        check(
            &plan,
            given,
            "filter.state: `state` is a parameter of its own and cannot be set here",
        );
        let given = json!({"memo": "a", "filter": {"colour": "red"}});
        check(&plan, given, "http://127.0.0.1:5230/memos/a?state=N&colour=red");
    }

    #[track_caller]
    fn check_header(name: &'static str, value: Value, expected: Result<&str, &str>) {
        let mut plan = plan();
        plan.headers.push(header_parameter(name));
        let out = run(&plan, &target("http://h"), json!({"memo": "a", name: value}));
        match (out, expected) {
            (Ok(out), Ok(expected)) => {
                let value = out.headers.get(name).map_or("", |value| value.to_str().unwrap());
                assert_eq!(value, expected);
            }
            (Err(words), Err(part)) => assert!(words.contains(part), "{words}"),
            (out, _) => panic!("{out:?}"),
        }
    }

    #[test]
    fn header_values_are_written_in_simple_style() {
        check_header("X-Request-Id", json!("abc, d"), Ok("abc, d"));
        check_header("X-Request-Id", json!([1, "b"]), Ok("1,b"));
        check_header("X-Request-Id", json!({"a": 1, "b": true}), Ok("a,1,b,true"));
        check_header("X-Request-Id", json!(5.0), Ok("5"));
        check_header("X-Request-Id", json!(null), Ok(""));
    }

    #[test]
    fn header_values_that_could_split_or_trim_are_refused() {
        for value in ["a\r\nEvil: 1", "a\nb", "a\u{0}b", " a", "a ", "\ta", "ü", "a\u{7f}"] {
            check_header("X-Request-Id", json!(value), Err("X-Request-Id: "));
        }
        check_header("X-Request-Id", json!(["a,b", "c"]), Err("comma"));
    }

    #[test]
    fn protected_headers_are_never_set() {
        for name in [
            "Authorization",
            "cookie",
            "Host",
            "Content-Length",
            "content-type",
            "Accept",
            "Accept-Encoding",
            "Transfer-Encoding",
            "Connection",
            "X-Forwarded-For",
            "Proxy-Authorization",
            "Sec-Fetch-Site",
            "TE",
        ] {
            check_header(name, json!("x"), Err("is never set by a call"));
        }
    }

    #[test]
    fn cookies_are_one_header() {
        let mut plan = plan();
        plan.cookies = vec![parameter("session"), parameter("ids"), parameter("absent")];
        let given = json!({"memo": "a", "session": "a;b c=d\"%", "ids": [1, 2]});
        let out = run(&plan, &target("http://h"), given).unwrap();
        assert_eq!(
            out.headers.get("cookie"),
            Some(&HeaderValue::from_static("session=a%3Bb%20c=d%22%25; ids=1; ids=2"))
        );
    }

    #[test]
    fn content_type_is_set_with_a_body_only() {
        let media = BodyMedia::Json(HeaderValue::from_static("application/json"));
        let body = BodyPlan::Fields {
            fields: vec![field("content")],
            media,
            required: false,
            extra: false,
        };
        let plan = Plan { method: Method::POST, body, ..plan() };
        let out = run(&plan, &target("http://h"), json!({"memo": "a", "content": "x"})).unwrap();
        assert_eq!(out.headers.get("content-type").unwrap(), "application/json");
        assert_eq!(out.body, r#"{"content":"x"}"#);
        let out = run(&plan, &target("http://h"), json!({"memo": "a"})).unwrap();
        assert!(out.headers.is_empty() && out.body.is_empty());
    }

    /// A segment of a random template: a literal, a value, or a value with a verb.
    #[derive(Clone, Debug)]
    enum Piece {
        Literal(String),
        Value { slashes: bool },
        Verb(String),
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            "[a-z0-9]{1,6}".prop_map(Piece::Literal),
            any::<bool>().prop_map(|slashes| Piece::Value { slashes }),
            "[a-z]{1,6}".prop_map(Piece::Verb),
        ]
    }

    /// Text with the characters that matter in addresses more often than chance would have it.
    fn hostile() -> impl Strategy<Value = String> {
        let bits = prop_oneof![
            Just("/".to_owned()),
            Just("..".to_owned()),
            Just(".".to_owned()),
            Just("%2e".to_owned()),
            Just("%2F".to_owned()),
            Just("\\".to_owned()),
            Just("//evil.test".to_owned()),
            Just("@".to_owned()),
            Just("?#&=;,".to_owned()),
            Just("\r\n".to_owned()),
            "[a-zA-Z0-9 ]{1,5}",
            any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(bits, 0..6).prop_map(|bits| bits.concat())
    }

    /// The template with placeholders `v0`, `v1` …, and the decoded segments it must give.
    fn template(pieces: &[Piece], values: &[String]) -> (Vec<Segment>, Vec<String>) {
        let mut segments = Vec::new();
        let mut expected = Vec::new();
        for (n, piece) in pieces.iter().enumerate() {
            let value = &values[n];
            let place = || path::tests::simple(&format!("v{n}"));
            let (segment, decoded) = match piece {
                Piece::Literal(text) => {
                    (vec![PathPiece::Literal(text.clone())], vec![text.clone()])
                }
                Piece::Value { slashes: false } => {
                    (vec![PathPiece::Value(place())], vec![value.clone()])
                }
                Piece::Value { slashes: true } => {
                    let place = PathValue { slashes: true, ..place() };
                    let decoded = value.split('/').map(str::to_owned).collect();
                    (vec![PathPiece::Value(place)], decoded)
                }
                Piece::Verb(verb) => {
                    let verb = format!(":{verb}");
                    let decoded = vec![format!("{value}{verb}")];
                    (vec![PathPiece::Value(place()), PathPiece::Literal(verb)], decoded)
                }
            };
            segments.push(Segment(segment));
            expected.extend(decoded);
        }
        (segments, expected)
    }

    proptest! {
        #[test]
        fn no_argument_changes_origin_or_path_shape_and_all_arrive_as_they_were(
            pieces in prop::collection::vec(piece(), 1..6),
            values in prop::collection::vec(hostile(), 6),
            page in hostile(),
            tags in prop::collection::vec(hostile(), 0..4),
        ) {
            let (segments, expected) = template(&pieces, &values);
            let plan = Plan {
                base_path: "/api/v1".into(),
                path: segments,
                query: vec![parameter("page"), parameter("tags")],
                ..plan()
            };
            let mut given = Map::new();
            given.extend(values.iter().enumerate().map(|(n, value)| (format!("v{n}"), json!(value))));
            given.insert("page".into(), json!(page));
            given.insert("tags".into(), json!(tags));
            let target = target("http://api.test:5230");
            let built = build(&plan, &target, &Arguments::assume_checked(given), 100_000);
            let used = pieces.iter().zip(&values).filter(|(piece, _)| !matches!(piece, Piece::Literal(_)));
            let refused = used.into_iter().any(|(piece, value)| {
                let parts: Vec<_> = match piece {
                    Piece::Value { slashes: true } => value.split('/').collect(),
                    _ => vec![value.as_str()],
                };
                parts.iter().any(|part| {
                    matches!(*part, "" | "." | "..") || part.chars().any(char::is_control)
                })
            });
            prop_assert_eq!(built.is_err(), refused);
            let Ok(outgoing) = built else { return Ok(()) };
            // A second, unforgiving reader: the address as browsers and most servers tidy it.
            let url = url::Url::parse(&outgoing.uri.to_string()).unwrap();
            prop_assert_eq!(url.origin().ascii_serialization(), "http://api.test:5230");
            let decode = |text: &str| {
                percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned()
            };
            let segments: Vec<_> = url.path_segments().unwrap().map(decode).collect();
            let expected: Vec<_> =
                ["api", "v1"].into_iter().map(str::to_owned).chain(expected).collect();
            prop_assert_eq!(segments, expected);
            let pairs: Vec<_> = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
            let tags = tags.into_iter().map(|tag| ("tags".to_owned(), tag));
            let expected: Vec<_> = [("page".to_owned(), page)].into_iter().chain(tags).collect();
            prop_assert_eq!(pairs, expected);
        }

        #[test]
        fn no_argument_ends_its_header_or_makes_another(value in hostile()) {
            let mut plan = plan();
            plan.headers.push(header_parameter("X-Trace"));
            plan.cookies.push(parameter("session"));
            let given = json!({"memo": "a", "X-Trace": value, "session": value});
            let Ok(outgoing) = build(&plan, &target("http://h"), &arguments(given), 8192) else {
                return Ok(());
            };
            prop_assert_eq!(outgoing.headers.len(), 2);
            prop_assert_eq!(outgoing.headers["x-trace"].as_bytes(), value.as_bytes());
            let cookie = outgoing.headers["cookie"].to_str().unwrap();
            let cookie = cookie.strip_prefix("session=").unwrap();
            prop_assert!(!cookie.contains([';', ',', ' ']));
            let decoded = percent_encoding::percent_decode_str(cookie).decode_utf8().unwrap();
            prop_assert_eq!(decoded.as_ref(), value.as_str());
        }
    }
}
