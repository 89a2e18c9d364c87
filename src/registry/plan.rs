//! Everything a call needs, decided at build time.
//!
//! A [`Plan`] is plain data: the method, the path in pieces, where each argument goes, how it is
//! written, and what shape the result has. Every input property has exactly one place, every
//! placeholder is filled, and path pieces are already split; the call path looks nothing up.

use std::{borrow::Cow, fmt, time::Duration};

use http::{HeaderName, HeaderValue, Method, Uri};
use serde_json::{Map, Value};

pub use crate::openapi::{Encoding, Style};

/// How one operation is called.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method.
    pub method: Method,
    /// Percent-encoded path before `path`; starts with `/` and has no trailing slash, or is empty.
    pub base_path: String,
    /// The path template below the base path, in segments; each is one segment on the wire, but for
    /// a value with [`PathValue::slashes`].
    pub path: Vec<Segment>,
    /// Query parameters in document order.
    pub query: Vec<Parameter>,
    /// Header parameters in document order; never a protected header.
    pub headers: Vec<Parameter>,
    /// Cookie parameters in document order.
    pub cookies: Vec<Parameter>,
    /// The requestBody.
    pub body: BodyPlan,
    /// The shape of the result.
    pub shape: Shape,
    /// Response headers lifted into the answer.
    pub response_headers: Vec<HeaderName>,
    /// Whether the operation only reads: decides what a timeout or an oversized reply says.
    pub reads: bool,
    /// Time of one call.
    pub timeout: Duration,
    /// Decoded bytes of one reply.
    pub max_response: usize,
    /// Names of the arguments that narrow a reply (`pageSize`, `filter`, …), for the error that says so.
    pub narrowing: Vec<String>,
}

/// One segment of a path: literals and values in turn, for example `{webhook}:getSigningSecret`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment(pub Vec<PathPiece>);

/// A piece of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPiece {
    /// Text as it goes on the wire, percent-encoded already.
    Literal(String),
    /// An argument's value.
    Value(PathValue),
}

/// A placeholder and the argument that fills it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathValue {
    /// Where the value comes from.
    pub source: Source,
    /// The parameter's wire name (matrix style writes it).
    pub name: String,
    /// How it is written.
    pub encoding: Encoding,
    /// The value keeps its slashes.
    pub slashes: bool,
    /// With `resource_names`: the template segments directly before the placeholder, from the first
    /// literal on. A value may lead with all of them, or with any later part that begins with a literal.
    /// Empty means none.
    pub resource: Vec<ResourceSegment>,
}

/// One leading segment of a canonical resource name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceSegment {
    /// Text that must be equal, unencoded.
    Literal(String),
    /// Must be equal to this argument.
    Argument(String),
}

/// A query, header or cookie parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: String,
    /// Where its value comes from.
    pub source: Source,
    /// How it is written.
    pub encoding: Encoding,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The argument of this name; absent when the caller gives none.
    Argument(String),
    /// The argument of this name, else this value.
    ArgumentOr(String, Value),
    /// Always this value; not an argument.
    Fixed(Value),
    /// The canonical name of the resource that the path says (`memos/abc`); not an argument.
    ResourceName(Vec<ResourceSegment>),
}

impl Source {
    /// The value for these arguments; `None` means not sent.
    pub fn value<'a>(&'a self, arguments: &'a Map<String, Value>) -> Option<Cow<'a, Value>> {
        match self {
            Self::Argument(name) => arguments.get(name).map(Cow::Borrowed),
            Self::ArgumentOr(name, default) => {
                Some(Cow::Borrowed(arguments.get(name).unwrap_or(default)))
            }
            Self::Fixed(value) => Some(Cow::Borrowed(value)),
            Self::ResourceName(segments) => {
                resource_name(segments, arguments).map(|name| Cow::Owned(Value::String(name)))
            }
        }
    }

    /// The value that is sent when the caller gives none.
    pub fn stand_in(&self) -> Option<&Value> {
        match self {
            Self::Argument(_) | Self::ResourceName(_) => None,
            Self::ArgumentOr(_, value) | Self::Fixed(value) => Some(value),
        }
    }

    /// The argument it reads, if any.
    pub fn argument(&self) -> Option<&str> {
        match self {
            Self::Argument(name) | Self::ArgumentOr(name, _) => Some(name),
            Self::Fixed(_) | Self::ResourceName(_) => None,
        }
    }
}

/// `memos/abc` for the arguments of a path `memos/{memo}`. A value that came as a canonical name has
/// the segments before it already.
fn resource_name(segments: &[ResourceSegment], arguments: &Map<String, Value>) -> Option<String> {
    let mut name = String::new();
    for segment in segments {
        let text = match segment {
            ResourceSegment::Literal(text) => text,
            ResourceSegment::Argument(argument) => {
                let value = arguments.get(argument)?.as_str()?;
                let starts =
                    std::iter::once(0).chain(name.match_indices('/').map(|(at, _)| at + 1));
                let mut said =
                    starts.filter_map(|start| name.get(start..)).filter(|said| !said.is_empty());
                said.find_map(|said| value.strip_prefix(said)).unwrap_or(value)
            }
        };
        name = format!("{name}{text}/");
    }
    name.pop();
    Some(name)
}

/// How a requestBody is made.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyPlan {
    /// The operation has none.
    None,
    /// One argument is the whole body.
    Whole {
        /// Where it comes from.
        source: Source,
        /// How it is written.
        media: BodyMedia,
        /// The schema is untyped or a union shown as text, so a string is read as JSON first.
        text: bool,
    },
    /// Arguments are the fields of one object.
    Fields {
        /// Each field, in schema order.
        fields: Vec<Field>,
        /// How the object is written.
        media: BodyMedia,
        /// Whether a body is sent when no field is given (`{}`).
        required: bool,
        /// Names that are no argument go into the body (the schema's `additionalProperties`).
        extra: bool,
    },
}

/// One field of an object body.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name on the wire.
    pub name: String,
    /// Where its value comes from.
    pub source: Source,
    /// How a form or multipart body writes it; unused in JSON.
    pub part: Part,
}

/// How a form or multipart body writes one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Style and explode of a form field.
    pub encoding: Encoding,
    /// The part's media type, when the document or the schema says one.
    pub content_type: Option<String>,
    /// The argument is base64 of the bytes.
    pub binary: bool,
}

/// How a body is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyMedia {
    /// JSON under this media type (`application/json`, `application/merge-patch+json`, …).
    Json(HeaderValue),
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// A string as it is, under this media type.
    Text(HeaderValue),
    /// Base64 decoded, under this media type.
    Binary(HeaderValue),
}

/// The shape of a result; a result is always an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The reply is an object and stays as it is.
    Object,
    /// Anything else becomes `{"result": …}`.
    Wrapped,
    /// No reply body: `{"ok": true}`.
    Empty,
}

/// Where the calls of a toolset go.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// Where.
    pub upstream: Upstream,
    /// Replaces the path of the document's servers before every operation's path, when the upstream
    /// has a path or the allowlist says `base_path`; percent-encoded, no trailing slash.
    pub base_path: Option<String>,
    /// Where the upstream came from, for people (`--upstream`, `allowlists/memos.yaml:3:1`, …).
    pub from: String,
    /// Sent on every call; values are marked sensitive and never shown.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The caller's headers that go along, lower case.
    pub forward: Vec<HeaderName>,
    /// Calls at once to this upstream.
    pub max_in_flight: usize,
}

/// The one place calls go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// An HTTP origin: scheme and authority, path empty.
    Origin(Uri),
    /// The service in this process.
    Service,
}

/// Header values stay out.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("upstream", &self.upstream)
            .field("base_path", &self.base_path)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// One thing wrong with a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The argument's path as a caller would write it: `memo`, `relations[0].type`; empty for the whole.
    pub path: String,
    /// What is wrong: expected, got, allowed values or the nearest name; values cut to a bounded length.
    pub words: String,
}

/// Arguments that passed [`super::check::Checker::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments(pub(super) Map<String, Value>);

impl Arguments {
    /// The arguments by name.
    pub fn map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Arguments as if a checker had passed them.
    #[cfg(test)]
    pub(crate) fn assume_checked(arguments: Map<String, Value>) -> Self {
        Self(arguments)
    }
}
