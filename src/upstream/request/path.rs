//! The path: template segments filled with arguments.
//!
//! A value fills one segment or a part of one, so everything in it but unreserved characters is
//! encoded. Values that would make another path after a server has tidied it (empty, `.`, `..`, control
//! characters) are refused, in the value and again in the finished segment. With `slashes` a value
//! is several segments and each obeys the same. With `resource_names` a value may come as a canonical
//! name (`memos/abc`) and loses the part that the template says anyway.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::{
    fault, shown,
    text::{any, content, encode, scalar},
};
use crate::registry::plan::{
    ArgumentFault, Encoding, PathPiece, PathValue, ResourceSegment, Segment, Style,
};

/// A filled path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Percent-encoded; every segment with a `/` before it.
    pub(super) text: String,
    /// How many segments it must have: the template's, and one more for each slash that a value keeps.
    pub(super) n_segments: usize,
}

/// Fills a template.
pub(super) fn fill(
    template: &[Segment],
    arguments: &Map<String, Value>,
) -> Result<Path, Vec<ArgumentFault>> {
    let mut filler = Filler { arguments, names: Vec::new(), extra_segments: 0, faults: Vec::new() };
    let mut text = String::new();
    for segment in template {
        text.push('/');
        text.push_str(&filler.segment(segment));
    }
    let n_segments = template.len() + filler.extra_segments;
    if filler.faults.is_empty() { Ok(Path { text, n_segments }) } else { Err(filler.faults) }
}

struct Filler<'a> {
    arguments: &'a Map<String, Value>,
    /// Arguments seen so far, without the resource name around them.
    names: Vec<(&'a str, String)>,
    extra_segments: usize,
    faults: Vec<ArgumentFault>,
}

impl<'a> Filler<'a> {
    fn segment(&mut self, segment: &'a Segment) -> String {
        let mut text = String::new();
        let mut argument = None;
        for piece in &segment.0 {
            match piece {
                PathPiece::Literal(literal) => text.push_str(literal),
                PathPiece::Value(place) => {
                    argument = argument.or(Some(name(place)));
                    match self.value(place) {
                        Ok(value) => text.push_str(&value),
                        Err(words) => {
                            self.faults.push(fault(name(place), words));
                            return String::new();
                        }
                    }
                }
            }
        }
        // Two harmless values side by side can make one harmful segment.
        if let Some(argument) = argument
            && let Err(words) = text.split('/').try_for_each(finished)
        {
            self.faults.push(fault(argument, words));
        }
        text
    }

    fn value(&mut self, place: &'a PathValue) -> Result<String, String> {
        let value = place.source.value(self.arguments).filter(|value| !value.is_null());
        let value = value.ok_or("is needed for the path")?;
        let Some(text) = scalar(&value) else { return composed(place, &value) };
        let text = self.without_resource(place, &text)?;
        if let Some(argument) = place.source.argument() {
            self.names.push((argument, text.to_owned()));
        }
        let encoded = if place.slashes {
            self.extra_segments += text.matches('/').count();
            let parts: Result<Vec<_>, _> = text.split('/').map(part).collect();
            parts?.join("/")
        } else if let Encoding::Content(media_type) = &place.encoding {
            part(&content(media_type, &value))?
        } else {
            part(text)?
        };
        Ok(decorated(place, &encoded))
    }

    /// A canonical name without what the template says anyway; any other value as it is.
    fn without_resource<'t>(&self, place: &PathValue, text: &'t str) -> Result<&'t str, String> {
        let mut missed = None;
        for (start, segment) in place.resource.iter().enumerate() {
            if matches!(segment, ResourceSegment::Argument(_)) {
                continue; // a canonical name begins with a literal
            }
            let prefix = place.resource.get(start..).unwrap_or_default();
            match self.strip(prefix, text) {
                Prefix::Equal(rest) => return Ok(rest),
                Prefix::OtherParent(expected) => missed = missed.or(Some(expected)),
                Prefix::None => {}
            }
        }
        match missed {
            None => Ok(text),
            Some(expected) => Err(format!(
                "expected a plain value or one that starts with `{expected}/`, got `{}`",
                shown(text)
            )),
        }
    }

    fn strip<'t>(&self, prefix: &[ResourceSegment], text: &'t str) -> Prefix<'t> {
        let mut rest = text;
        let mut expected = Vec::new();
        let mut same_parent = true;
        for segment in prefix {
            let Some((head, tail)) = rest.split_once('/') else { return Prefix::None };
            rest = tail;
            match segment {
                ResourceSegment::Literal(literal) if literal != head => return Prefix::None,
                ResourceSegment::Literal(literal) => expected.push(literal.as_str()),
                ResourceSegment::Argument(argument) => {
                    let known = self.names.iter().find(|(name, _)| name == argument);
                    let known = known.map_or("", |(_, value)| value.as_str());
                    same_parent &= known == head;
                    expected.push(known);
                }
            }
        }
        if same_parent { Prefix::Equal(rest) } else { Prefix::OtherParent(expected.join("/")) }
    }
}

/// How a value stands to the template segments before its placeholder.
enum Prefix<'t> {
    /// It leads with them; this is what follows.
    Equal(&'t str),
    /// The literals are equal, the arguments among them are not; this would have been equal.
    OtherParent(String),
    /// It does not lead with them.
    None,
}

fn name(place: &PathValue) -> &str {
    place.source.argument().unwrap_or(&place.name)
}

/// One plain value, encoded.
fn part(text: &str) -> Result<String, String> {
    tidy(text)?;
    Ok(encode(text))
}

fn tidy(text: &str) -> Result<(), String> {
    match text {
        "" => Err("must not be empty: it is a part of the path".to_owned()),
        "." | ".." => Err(format!("`{text}` is no part of a path")),
        _ if text.chars().any(char::is_control) => {
            Err("has a control character, which no path may hold".to_owned())
        }
        _ => Ok(()),
    }
}

/// The same for a finished segment, as a server sees it after decoding.
fn finished(segment: &str) -> Result<(), String> {
    tidy(&percent_decode_str(segment).decode_utf8_lossy())
}

/// A list or an object in a path.
fn composed(place: &PathValue, value: &Value) -> Result<String, String> {
    let (style, explode) = match &place.encoding {
        Encoding::Content(media_type) => return part(&content(media_type, value)),
        Encoding::Style { style, explode, .. } => (*style, *explode),
    };
    let (between, matrix) = match (style, explode) {
        (Style::Label, true) => (".", false),
        (Style::Matrix, true) => (";", true),
        _ => (",", false),
    };
    let parts = match value {
        Value::Array(items) => items
            .iter()
            .map(|item| part(&any(item)).map(|item| named(matrix.then_some(&place.name), item)))
            .collect::<Result<Vec<_>, _>>()?,
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                Ok(format!(
                    "{}{}{}",
                    part(key)?,
                    if explode { "=" } else { "," },
                    part(&any(value))?
                ))
            })
            .collect::<Result<Vec<_>, String>>()?,
        _ => Vec::new(),
    };
    if parts.is_empty() {
        return tidy("").map(|()| String::new());
    }
    let joined = parts.join(between);
    Ok(if matrix { format!(";{joined}") } else { decorated(place, &joined) })
}

fn named(name: Option<&String>, value: String) -> String {
    match name {
        Some(name) => format!("{}={value}", encode(name)),
        None => value,
    }
}

/// What label and matrix put before a value.
fn decorated(place: &PathValue, encoded: &str) -> String {
    match &place.encoding {
        Encoding::Style { style: Style::Label, .. } => format!(".{encoded}"),
        Encoding::Style { style: Style::Matrix, .. } => {
            format!(";{}={encoded}", encode(&place.name))
        }
        _ => encoded.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "cases read better as plain values")]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::plan::Source;

    pub(in crate::upstream) fn simple(name: &str) -> PathValue {
        PathValue {
            source: Source::Argument(name.to_owned()),
            name: name.to_owned(),
            encoding: Encoding::Style {
                style: Style::Simple,
                explode: false,
                allow_reserved: false,
            },
            slashes: false,
            resource: Vec::new(),
        }
    }

    fn styled(style: Style, explode: bool) -> PathValue {
        PathValue {
            encoding: Encoding::Style { style, explode, allow_reserved: false },
            ..simple("id")
        }
    }

    fn literal(text: &str) -> Segment {
        Segment(vec![PathPiece::Literal(text.to_owned())])
    }

    fn filled(place: PathValue) -> Segment {
        Segment(vec![PathPiece::Value(place)])
    }

    fn run(template: &[Segment], arguments: &Value) -> Result<String, String> {
        fill(template, arguments.as_object().unwrap()).map(|path| path.text).map_err(|faults| {
            let faults: Vec<_> = faults
                .into_iter()
                .map(|fault| format!("{}: {}", fault.path, fault.words))
                .collect();
            faults.join("; ")
        })
    }

    #[track_caller]
    fn check(place: PathValue, value: Value, expected: &str) {
        assert_eq!(run(&[filled(place)], &json!({"id": value})).as_deref(), Ok(expected));
    }

    #[track_caller]
    fn refused(place: PathValue, value: Value, expected: &str) {
        let words = run(&[filled(place)], &json!({"id": value})).unwrap_err();
        assert!(words.starts_with("id: ") && words.contains(expected), "{words}");
    }

    #[test]
    fn every_value_is_one_encoded_segment() {
        check(simple("id"), json!("../../auth/me"), "/..%2F..%2Fauth%2Fme");
        check(simple("id"), json!("a?x=1"), "/a%3Fx%3D1");
        check(simple("id"), json!("a#b"), "/a%23b");
        check(simple("id"), json!("a%2e%2e"), "/a%252e%252e");
        check(simple("id"), json!("%2e%2e"), "/%252e%252e");
        check(simple("id"), json!("a b"), "/a%20b");
        check(simple("id"), json!("ü/ß"), "/%C3%BC%2F%C3%9F");
        check(simple("id"), json!("/x/y/1"), "/%2Fx%2Fy%2F1");
        check(simple("id"), json!("a\\b"), "/a%5Cb");
        check(simple("id"), json!("a;b,c@d:e"), "/a%3Bb%2Cc%40d%3Ae");
        check(simple("id"), json!(7), "/7");
        check(simple("id"), json!(7.0), "/7");
        check(simple("id"), json!(true), "/true");
    }

    #[test]
    fn values_that_a_server_would_tidy_away_are_refused() {
        refused(simple("id"), json!(""), "empty");
        refused(simple("id"), json!("."), "`.`");
        refused(simple("id"), json!(".."), "`..`");
        refused(simple("id"), json!("a\u{0}"), "control");
        refused(simple("id"), json!("a\r\nb"), "control");
        refused(simple("id"), json!("a\u{7f}"), "control");
        refused(simple("id"), json!("a\u{85}"), "control");
        refused(simple("id"), json!(null), "needed");
        refused(simple("id"), json!([]), "empty");
        refused(simple("id"), json!({}), "empty");
        refused(simple("id"), json!(["a", ""]), "empty");
    }

    #[test]
    fn all_faults_are_said_at_once() {
        let template = [filled(simple("a")), filled(simple("b"))];
        let words = run(&template, &json!({"a": "..", "b": ""})).unwrap_err();
        assert!(words.contains("a: ") && words.contains("b: "), "{words}");
    }

    #[test]
    fn two_values_cannot_make_a_dot_segment_together() {
        let segment = Segment(vec![PathPiece::Value(simple("a")), PathPiece::Value(simple("b"))]);
        let words = run(&[segment], &json!({"a": ".", "b": "."})).unwrap_err();
        assert!(words.starts_with("a: "), "{words}");
        let segment = Segment(vec![PathPiece::Literal(".".into()), PathPiece::Value(simple("a"))]);
        assert!(run(&[segment], &json!({"a": "."})).is_err());
        refused(styled(Style::Label, false), json!("."), "`.`");
    }

    #[test]
    fn literals_around_a_value_stay() {
        let segment = Segment(vec![
            PathPiece::Value(simple("id")),
            PathPiece::Literal(":getSigningSecret".into()),
        ]);
        let path = run(&[literal("hooks"), segment], &json!({"id": "a:b"}));
        assert_eq!(path.as_deref(), Ok("/hooks/a%3Ab:getSigningSecret"));
        assert_eq!(run(&[literal("a"), literal("")], &json!({})).as_deref(), Ok("/a/"));
    }

    #[test]
    fn path_styles_follow_the_specification() {
        let object = json!({"R": 100, "G": 200});
        check(styled(Style::Simple, false), json!([3, 4]), "/3,4");
        check(styled(Style::Simple, true), json!([3, 4]), "/3,4");
        check(styled(Style::Simple, false), object.clone(), "/R,100,G,200");
        check(styled(Style::Simple, true), object.clone(), "/R=100,G=200");
        check(styled(Style::Label, false), json!("blue"), "/.blue");
        check(styled(Style::Label, false), json!([3, 4]), "/.3,4");
        check(styled(Style::Label, true), json!([3, 4]), "/.3.4");
        check(styled(Style::Label, false), object.clone(), "/.R,100,G,200");
        check(styled(Style::Label, true), object.clone(), "/.R=100.G=200");
        check(styled(Style::Matrix, false), json!("blue"), "/;id=blue");
        check(styled(Style::Matrix, false), json!([3, 4]), "/;id=3,4");
        check(styled(Style::Matrix, true), json!([3, 4]), "/;id=3;id=4");
        check(styled(Style::Matrix, false), object.clone(), "/;id=R,100,G,200");
        check(styled(Style::Matrix, true), object, "/;R=100;G=200");
        check(styled(Style::Simple, false), json!(["a,b", "c/d"]), "/a%2Cb,c%2Fd");
        let content =
            PathValue { encoding: Encoding::Content("application/json".into()), ..simple("id") };
        check(content, json!({"a": 1}), "/%7B%22a%22%3A1%7D");
    }

    #[test]
    fn slashes_stay_where_asked_and_each_segment_obeys_the_same() {
        let slashes = || PathValue { slashes: true, ..simple("id") };
        check(slashes(), json!("docs/a b.md"), "/docs/a%20b.md");
        refused(slashes(), json!("docs/../x"), "`..`");
        refused(slashes(), json!("/docs"), "empty");
        refused(slashes(), json!("docs//x"), "empty");
        refused(slashes(), json!("docs/"), "empty");
        let path = fill(&[filled(slashes())], json!({"id": "a/b/c"}).as_object().unwrap());
        assert_eq!(path, Ok(Path { text: "/a/b/c".into(), n_segments: 3 }));
    }

    fn reaction_template() -> Vec<Segment> {
        let text = |text: &str| ResourceSegment::Literal(text.into());
        let memo =
            PathValue { resource: vec![text("api"), text("v1"), text("memos")], ..simple("memo") };
        let reaction = PathValue {
            resource: vec![
                text("api"),
                text("v1"),
                text("memos"),
                ResourceSegment::Argument("memo".into()),
                text("reactions"),
            ],
            ..simple("reaction")
        };
        vec![
            literal("api"),
            literal("v1"),
            literal("memos"),
            filled(memo),
            literal("reactions"),
            filled(reaction),
        ]
    }

    #[track_caller]
    fn resource(memo: &str, reaction: &str, expected: &str) {
        let path = run(&reaction_template(), &json!({"memo": memo, "reaction": reaction}));
        assert_eq!(path.unwrap_or_else(|words| words), expected);
    }

    #[test]
    fn canonical_names_lose_what_the_template_says() {
        resource("abc", "r1", "/api/v1/memos/abc/reactions/r1");
        resource("memos/abc", "r1", "/api/v1/memos/abc/reactions/r1");
        resource("abc", "memos/abc/reactions/r1", "/api/v1/memos/abc/reactions/r1");
        resource("memos/abc", "memos/abc/reactions/r1", "/api/v1/memos/abc/reactions/r1");
        resource("abc", "reactions/r1", "/api/v1/memos/abc/reactions/r1");
        resource("abc", "v1/memos/abc/reactions/r1", "/api/v1/memos/abc/reactions/r1");
    }

    #[test]
    fn foreign_names_are_kept_whole_and_other_parents_refused() {
        resource("users/abc", "r1", "/api/v1/memos/users%2Fabc/reactions/r1");
        resource(
            "abc",
            "memos/xyz/reactions/r1",
            "reaction: expected a plain value or one that starts with `memos/abc/reactions/`, got `memos/xyz/reactions/r1`",
        );
        resource("memos/", "r1", "memo: must not be empty: it is a part of the path");
        resource("memos/..", "r1", "memo: `..` is no part of a path");
    }
}
