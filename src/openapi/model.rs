//! What is known of a document's operations, in one form for every version.
//!
//! Plain data without behaviour of its own: [`super::Api`] makes it, the registry and the documentation
//! tools read it. Schemas stay JSON, already 2020-12, with references that [`super::Api::schema`] follows.

use std::fmt;

use http::Method;
use serde_json::Value;

/// `METHOD /path` exactly as in the document; unique in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperationKey {
    /// The method; custom ones (3.2) too.
    pub method: Method,
    /// The path template.
    pub path: String,
}

impl fmt::Display for OperationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// What is known of an operation without looking at its parts; always readable.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its key.
    pub key: OperationKey,
    /// The operationId as written, also when other operations share it.
    pub id: Option<String>,
    /// Whether another operation of the document has the same operationId.
    pub shared_id: bool,
    /// Its tags, in order.
    pub tags: Vec<String>,
    /// Its summary; empty when absent.
    pub summary: String,
    /// Its description; empty when absent.
    pub description: String,
    /// Whether it is marked deprecated.
    pub deprecated: bool,
    /// Where it stands.
    pub pointer: String,
}

/// Everything a call of one operation needs; made only when all of it is sound, which includes that
/// every local reference reachable from it resolves.
#[derive(Clone, Debug)]
pub struct Details {
    /// Path-level and operation-level parameters merged by (in, name), in document order.
    pub parameters: Vec<Parameter>,
    /// The requestBody (2.0: the `body` parameter or all `formData` parameters as one object).
    pub body: Option<Body>,
    /// Replies by status, in document order.
    pub replies: Vec<Reply>,
    /// The path of the server that applies to the operation (operation, path, document level, in
    /// this order), without a trailing slash; `""` when there is none. Origins are left out: the
    /// document never decides where calls go.
    pub server_path: String,
}

/// Where a parameter stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// In the path template.
    Path,
    /// In the query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: String,
    /// Where it stands.
    pub location: Location,
    /// Whether it must be given; always true in a path.
    pub required: bool,
    /// Its description; empty when absent.
    pub description: String,
    /// Whether it is marked deprecated.
    pub deprecated: bool,
    /// How its value is written.
    pub encoding: Encoding,
    /// Its schema, 2020-12; an empty object when the document gives none.
    pub schema: Value,
    /// The token of `x-mcp-header`, as written.
    pub mcp_header: Option<String>,
    /// Where it stands.
    pub pointer: String,
}

/// How a parameter's value becomes text (OpenAPI 3.0 "Style Values", 2.0 `collectionFormat`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// By style and explode.
    Style {
        /// The style, all locations in one.
        style: Style,
        /// `explode`, the default of the style filled in.
        explode: bool,
        /// Reserved characters stay as they are (query only).
        allow_reserved: bool,
    },
    /// A `content` parameter: the value as text of this media type.
    Content(String),
}

/// The styles of openapiv3's `PathStyle`, `QueryStyle`, `HeaderStyle` and `CookieStyle`, and 2.0's `tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `a,b` (path, header)
    Simple,
    /// `.a.b` (path)
    Label,
    /// `;name=a` (path)
    Matrix,
    /// `name=a&name=b` or `name=a,b` (query, cookie)
    Form,
    /// `name=a%20b` (query)
    SpaceDelimited,
    /// `name=a|b` (query)
    PipeDelimited,
    /// `name[key]=a` (query)
    DeepObject,
    /// `name=a%09b` (2.0 `tsv`)
    TabDelimited,
}

/// A requestBody.
#[derive(Clone, Debug)]
pub struct Body {
    /// Whether one must be sent.
    pub required: bool,
    /// Its description; empty when absent.
    pub description: String,
    /// Its media types in document order; never empty.
    pub media: Vec<Media>,
    /// Where it stands.
    pub pointer: String,
}

/// One media type of a body or a reply.
#[derive(Clone, Debug)]
pub struct Media {
    /// The media type as written, for example `application/json`.
    pub media_type: String,
    /// Its schema, 2020-12; `None` when the document gives none.
    pub schema: Option<Value>,
    /// `encoding` of form and multipart bodies: property name to how it is written.
    pub encoding: Vec<(String, PartEncoding)>,
}

/// How one property of a form or multipart body is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartEncoding {
    /// `contentType`, when given.
    pub content_type: Option<String>,
    /// `style`, when given.
    pub style: Option<Style>,
    /// `explode`, when given.
    pub explode: Option<bool>,
}

/// One entry of `responses`.
#[derive(Clone, Debug)]
pub struct Reply {
    /// For which status.
    pub status: Status,
    /// Its description; empty when absent.
    pub description: String,
    /// Its media types; empty when it has no body.
    pub media: Vec<Media>,
    /// Names of its declared headers.
    pub headers: Vec<String>,
    /// Where it stands.
    pub pointer: String,
}

/// A key of `responses`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// One code, `200`.
    Code(u16),
    /// A class, `2XX`: its first digit.
    Class(u8),
    /// `default`.
    Default,
}

/// The version of the specification a document speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Swagger 2.0.
    V20,
    /// OpenAPI 3.0.
    V30,
    /// OpenAPI 3.1.
    V31,
    /// OpenAPI 3.2.
    V32,
}

/// A tag that a document declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// Its description; empty when absent.
    pub description: String,
}
