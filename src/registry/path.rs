//! A path template in pieces, and the plan's segments made of it.
//!
//! A template is split at the slashes outside braces. A placeholder is `{memo}`, one of several in a
//! segment (`{a}.{b}`), one before a verb (`{memo}:archive`), or one with the shape of its value
//! (`{name=memos/*}`), which then keeps its slashes. Literal text leaves here percent-encoded.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::plan::{PathPiece, PathValue, ResourceSegment, Segment, Source};
use crate::openapi::{Encoding, Style};

/// What a path segment cannot hold as it is; `%` is looked at by [`encoded`].
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'|')
    .add(b'\\')
    .add(b'{')
    .add(b'}');

/// A template whose braces are paired and whose placeholders are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Vec<Piece>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Placeholder(Placeholder),
}

/// One placeholder of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// Its name, as its parameter writes it.
    pub(super) name: String,
    /// The shape of its value, `memos/*`.
    pub(super) shape: Option<String>,
}

impl Placeholder {
    /// A regular expression for its shape: `*` is one segment, `**` any number of them.
    pub(super) fn pattern(&self) -> Option<String> {
        let shape = self.shape.as_ref()?;
        let piece = |segment: &str| match segment {
            "*" => "[^/]+".to_owned(),
            "**" => ".+".to_owned(),
            text => text.chars().map(escaped).collect(),
        };
        Some(format!("^{}$", shape.split('/').map(piece).collect::<Vec<_>>().join("/")))
    }
}

fn escaped(c: char) -> String {
    if c.is_alphanumeric() || matches!(c, '_' | '-') { c.to_string() } else { format!("\\{c}") }
}

/// Reads a template.
///
/// # Errors
/// In words, when no call can fill it.
pub(super) fn parse(path: &str) -> Result<Template, String> {
    let Some(rest) = path.strip_prefix('/') else {
        return Err(format!("path `{path}` does not start with `/`"));
    };
    let segments: Vec<Vec<Piece>> =
        segments(rest)?.iter().map(|text| pieces(text)).collect::<Result<_, _>>()?;
    match segments.iter().find_map(|segment| unfit(segment)) {
        Some(what) => Err(format!("path `{path}` holds `{what}`, which no call can fill")),
        None => Ok(Template(segments)),
    }
}

/// Splits at the slashes outside braces.
fn segments(path: &str) -> Result<Vec<String>, String> {
    let mut segments = vec![String::new()];
    let mut inside = false;
    for c in path.chars() {
        match c {
            '{' | '}' if inside == (c == '{') => {
                return Err(format!("path `/{path}` has braces that are not paired"));
            }
            '{' | '}' => inside = c == '{',
            '/' if !inside => {
                segments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(segment) = segments.last_mut() {
            segment.push(c);
        }
    }
    if inside {
        Err(format!("path `/{path}` has a brace that is not closed"))
    } else {
        Ok(segments)
    }
}

fn pieces(segment: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = segment;
    while let Some((text, after)) = rest.split_once('{') {
        // Braces are paired: `segments` has looked.
        let (inside, after) = after.split_once('}').unwrap_or((after, ""));
        pieces.extend(
            Some(text).filter(|text| !text.is_empty()).map(|text| Piece::Text(text.into())),
        );
        pieces.push(Piece::Placeholder(placeholder(inside)?));
        rest = after;
    }
    pieces.extend(Some(rest).filter(|rest| !rest.is_empty()).map(|rest| Piece::Text(rest.into())));
    Ok(pieces)
}

fn placeholder(inside: &str) -> Result<Placeholder, String> {
    let (name, shape) = match inside.split_once('=') {
        Some((name, shape)) => (name, Some(shape.to_owned())),
        None => (inside, None),
    };
    let name = name.trim();
    if name.is_empty() {
        return Err("a placeholder of the path has no name".to_owned());
    }
    Ok(Placeholder { name: name.to_owned(), shape: shape.filter(|shape| shape != "*") })
}

/// The part of a segment that no call can fill.
fn unfit(segment: &[Piece]) -> Option<&str> {
    let texts = segment.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Placeholder(_) => None,
    });
    let marks = ["*", "?", "#"];
    let marked = |text: &str| marks.into_iter().find(|mark| text.contains(mark));
    let dots = || match segment {
        [Piece::Text(text)] => [".", ".."].into_iter().find(|dots| text == dots),
        _ => None,
    };
    texts.into_iter().find_map(marked).or_else(dots)
}

/// What fills one placeholder.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    /// Where its value comes from.
    pub(super) source: Source,
    /// How it is written.
    pub(super) encoding: Encoding,
    /// The value keeps its slashes.
    pub(super) slashes: bool,
}

impl Template {
    /// Its placeholders in order; one that stands twice comes twice.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.0.iter().flatten().filter_map(|piece| match piece {
            Piece::Placeholder(placeholder) => Some(placeholder),
            Piece::Text(_) => None,
        })
    }

    /// The plan's segments, each placeholder filled by name; with `resource_names` each value knows
    /// the segments before it.
    ///
    /// # Errors
    /// In words, when a placeholder has no filling.
    pub(super) fn plan(
        &self,
        filling: &dyn Fn(&str) -> Option<Filling>,
        resource_names: bool,
    ) -> Result<Vec<Segment>, String> {
        let mut before: Vec<ResourceSegment> = Vec::new();
        let mut planned = Vec::new();
        for segment in &self.0 {
            let resource = if resource_names { from_literal(&before) } else { Vec::new() };
            let segment = planned_segment(segment, filling, &resource)?;
            match leading(&segment) {
                Some(segment) => before.push(segment),
                None => before.clear(),
            }
            planned.push(segment);
        }
        Ok(planned)
    }
}

fn planned_segment(
    pieces: &[Piece],
    filling: &dyn Fn(&str) -> Option<Filling>,
    resource: &[ResourceSegment],
) -> Result<Segment, String> {
    let mut planned = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        planned.push(match piece {
            Piece::Text(text) => PathPiece::Literal(encoded(text)),
            Piece::Placeholder(placeholder) => {
                let resource = if i == 0 { resource.to_vec() } else { Vec::new() };
                PathPiece::Value(value(placeholder, filling, resource)?)
            }
        });
    }
    Ok(Segment(planned))
}

fn value(
    placeholder: &Placeholder,
    filling: &dyn Fn(&str) -> Option<Filling>,
    resource: Vec<ResourceSegment>,
) -> Result<PathValue, String> {
    let name = placeholder.name.clone();
    let Some(Filling { source, encoding, slashes }) = filling(&name) else {
        return Err(format!("placeholder `{{{name}}}` of the path has no parameter"));
    };
    let slashes = slashes || placeholder.shape.is_some();
    // A value with a shape of its own is a whole name already.
    let resource = if slashes { Vec::new() } else { resource };
    Ok(PathValue { source, name, encoding, slashes, resource })
}

/// How a planned segment looks at the front of a resource name, when it is one text or one value.
fn leading(segment: &Segment) -> Option<ResourceSegment> {
    match segment.0.as_slice() {
        [PathPiece::Literal(text)] => Some(ResourceSegment::Literal(decoded(text))),
        [PathPiece::Value(value)] if !value.slashes => match &value.source {
            Source::Argument(name) => Some(ResourceSegment::Argument(name.clone())),
            Source::ArgumentOr(..) | Source::ResourceName(_) => None,
            Source::Fixed(fixed) => {
                fixed.as_str().map(|text| ResourceSegment::Literal(text.to_owned()))
            }
        },
        _ => None,
    }
}

/// The canonical name of the resource that a path says: `memos/{memo}` of `/api/v1/memos/{memo}/comments`,
/// from the literal before the first value to the last value. Empty when it has none.
pub(super) fn resource_name(path: &[Segment]) -> Vec<ResourceSegment> {
    let is_value =
        |segment: &Option<ResourceSegment>| matches!(segment, Some(ResourceSegment::Argument(_)));
    let segments: Vec<_> = path.iter().map(leading).collect();
    let first = segments.iter().position(is_value).and_then(|at| at.checked_sub(1));
    let last = segments.iter().rposition(is_value);
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    let name = segments.get(first..=last).unwrap_or_default();
    name.iter().cloned().collect::<Option<_>>().unwrap_or_default()
}

fn from_literal(before: &[ResourceSegment]) -> Vec<ResourceSegment> {
    let argument = |segment: &&ResourceSegment| matches!(segment, ResourceSegment::Argument(_));
    before.iter().skip_while(argument).cloned().collect()
}

/// Percent-encoded, what is encoded already kept.
pub(super) fn encoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut encoded: String =
        parts.next().map(|part| utf8_percent_encode(part, SEGMENT).to_string()).unwrap_or_default();
    for part in parts {
        let is_code = part.get(..2).is_some_and(|code| code.bytes().all(|b| b.is_ascii_hexdigit()));
        encoded.push_str(if is_code { "%" } else { "%25" });
        encoded.extend(utf8_percent_encode(part, SEGMENT));
    }
    encoded
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The encoding of a path value when a document says nothing.
pub(super) fn simple() -> Encoding {
    Encoding::Style { style: Style::Simple, explode: false, allow_reserved: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(name: &str) -> Option<Filling> {
        let source = Source::Argument(name.replace(['-', '.'], "_"));
        Some(Filling { source, encoding: simple(), slashes: name == "file" })
    }

    /// `lit` as it is, values as `<argument>`, with `~` when slashes stay.
    fn shown(path: &str) -> String {
        let segments = parse(path).unwrap().plan(&fill, true).unwrap();
        let piece = |piece: &PathPiece| match piece {
            PathPiece::Literal(text) => text.clone(),
            PathPiece::Value(value) => {
                let slashes = if value.slashes { "~" } else { "" };
                format!("<{}{slashes}>", value.source.argument().unwrap())
            }
        };
        segments.iter().map(|s| format!("/{}", s.0.iter().map(piece).collect::<String>())).collect()
    }

    #[test]
    fn templates_become_segments() {
        let check = |path, expected: &str| assert_eq!(shown(path), expected);
        check("/", "/");
        check("/memos/{memo}", "/memos/<memo>");
        check("/memos/", "/memos/");
        check("/v1/{name=memos/*}", "/v1/<name~>");
        check("/v1/{name=memos/**}:archive", "/v1/<name~>:archive");
        check("/v1/{name=*}", "/v1/<name>");
        check("/{a}.{b}/{x-y}", "/<a>.<b>/<x_y>");
        check("/{dotted.name}/{a}/{a}", "/<dotted_name>/<a>/<a>");
        check("/a b/ü/%41/100%", "/a%20b/%C3%BC/%41/100%25");
        check("/raw/{file}", "/raw/<file~>");
    }

    #[test]
    fn a_path_that_cannot_be_filled_is_refused() {
        let check = |path, part: &str| {
            let words = parse(path).unwrap_err();
            assert!(words.contains(part), "{words}");
        };
        check("memos", "does not start");
        check("/memos/*", "`*`");
        check("/memos?x=1", "`?`");
        check("/memos#x", "`#`");
        check("/memos/..", "`..`");
        check("/{a", "not closed");
        check("/a}", "not paired");
        check("/{{a}}", "not paired");
        check("/{}", "no name");
        assert!(parse("/{a}").unwrap().plan(&|_| None, false).is_err());
    }

    #[test]
    fn shapes_become_patterns() {
        let check = |path: &str, expected| {
            let template = parse(path).unwrap();
            assert_eq!(template.placeholders().next().unwrap().pattern().as_deref(), expected);
        };
        check("/{a}", None);
        check("/{a=*}", None);
        check("/{a=memos/*}", Some("^memos/[^/]+$"));
        check("/{a=x.y/**}", Some(r"^x\.y/.+$"));
    }

    #[test]
    fn values_know_the_segments_before_them() {
        let resource = |path: &str| {
            let segments = parse(path).unwrap().plan(&fill, true).unwrap();
            let piece =
                segments.into_iter().rev().flat_map(|s| s.0).find_map(|piece| match piece {
                    PathPiece::Value(value) => Some(value.resource),
                    PathPiece::Literal(_) => None,
                });
            let text = |segment: &ResourceSegment| match segment {
                ResourceSegment::Literal(text) => text.clone(),
                ResourceSegment::Argument(name) => format!("<{name}>"),
            };
            piece.unwrap().iter().map(text).collect::<Vec<_>>().join("/")
        };
        let check = |path, expected: &str| assert_eq!(resource(path), expected);
        check("/api/v1/memos/{memo}", "api/v1/memos");
        check("/memos/{memo}/reactions/{reaction}", "memos/<memo>/reactions");
        check("/memos/{memo}:archive", "memos");
        check("/{a}/memos/{memo}", "memos");
        check("/x{a}/{memo}", "");
        check("/v1/{name=memos/*}", "");
    }
}
