//! Parameters of every version: merged, located, and with the way their values are written.
//!
//! The words of styles come from openapiv3, one type a location; here they are one [`Style`]. Swagger 2.0
//! says the same with `collectionFormat` and keeps the schema's keywords in the parameter itself.

use openapiv3::{CookieStyle, HeaderStyle, PathStyle, QueryStyle};
use serde::de::{
    Deserialize,
    value::{BorrowedStrDeserializer, Error},
};
use serde_json::{Map, Value, json};

use super::{
    Encoding, Fault, Location, Parameter, Style, Version, node::Node, operation::Reader, schema,
};

/// A parameter as written, its name and place read.
pub(super) struct Given<'a> {
    pub(super) node: Node<'a>,
    pub(super) name: &'a str,
    place: &'a str,
    shared: bool,
}

impl Given<'_> {
    /// A part of 2.0's body.
    pub(super) fn is_body(&self) -> bool {
        matches!(self.place, "body" | "formData")
    }

    /// The whole of 2.0's body.
    pub(super) fn is_whole_body(&self) -> bool {
        self.place == "body"
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_name = match self.place {
            "header" => self.name.eq_ignore_ascii_case(other.name),
            _ => self.name == other.name,
        };
        same_name && self.place == other.place
    }
}

impl<'a> Reader<'a> {
    /// Parameters of the path item and of the operation by place and name; the operation's win.
    pub(super) fn merged(&mut self, shared: Vec<Node<'a>>, own: Vec<Node<'a>>) -> Vec<Given<'a>> {
        let mut merged: Vec<Given<'a>> = Vec::new();
        let own = own.into_iter().map(|node| (node, false));
        for (node, shared) in shared.into_iter().map(|node| (node, true)).chain(own) {
            let Some(given) = self.given(node, shared) else { continue };
            match merged.iter_mut().find(|known| known.is_same(&given)) {
                None => merged.push(given),
                Some(known) if known.shared && !shared => *known = given,
                Some(known) if known.node.value == given.node.value => {}
                Some(_) => {
                    let words = format!("`{}` stands twice in `{}`", given.name, given.place);
                    self.faults.push(given.node.fault(words));
                }
            }
        }
        merged
    }

    fn given(&mut self, node: Node<'a>, shared: bool) -> Option<Given<'a>> {
        let node = self.resolved(node)?;
        let (name, place) = (self.keep(node.needed("name")), self.keep(node.needed("in")));
        Some(Given { name: name?, place: place?, node, shared })
    }

    pub(super) fn parameters(&mut self, given: Vec<Given<'a>>) -> Vec<Parameter> {
        given.into_iter().filter_map(|given| self.parameter(&given)).collect()
    }

    fn parameter(&mut self, given: &Given<'a>) -> Option<Parameter> {
        let node = &given.node;
        let location = self.keep(location(given))?;
        let (encoding, schema) = if self.version == Version::V20 {
            (self.keep(collection(given, location))?, own_schema(node, self.version))
        } else {
            self.written(node, location)?
        };
        Some(Parameter {
            name: given.name.to_owned(),
            location,
            required: self.keep(node.flag("required"))?.unwrap_or(false)
                || location == Location::Path,
            description: node.prose("description"),
            deprecated: node.value.get("deprecated") == Some(&Value::Bool(true)),
            encoding,
            schema,
            mcp_header: header_token(node).map(str::to_owned),
            pointer: node.pointer.clone(),
        })
    }

    /// How a value is written from 3.0 on, and its schema.
    fn written(&mut self, node: &Node<'a>, location: Location) -> Option<(Encoding, Value)> {
        let content = self.keep(node.entries("content"))?;
        if let [(media_type, media)] = content.as_slice() {
            let media = self.resolved(media.clone())?;
            return Some((Encoding::Content((*media_type).to_owned()), self.schema(&media)));
        }
        if content.len() > 1 {
            self.faults.push(node.fault("`content` of a parameter has one media type"));
            return None;
        }
        let style = match self.keep(node.text("style"))? {
            None => default_style(location),
            Some(word) => {
                let wrong = || node.fault(format!("style `{word}` does not exist there"));
                self.keep(style(location, word).ok_or_else(wrong))?
            }
        };
        let encoding = Encoding::Style {
            style,
            explode: self.keep(node.flag("explode"))?.unwrap_or(style == Style::Form),
            allow_reserved: self.keep(node.flag("allowReserved"))?.unwrap_or(false)
                && location == Location::Query,
        };
        Some((encoding, self.schema(node)))
    }

    /// The schema of a node that may have one.
    fn schema(&self, node: &Node<'a>) -> Value {
        node.child("schema")
            .map_or_else(|| json!({}), |child| schema::normal(child.value, self.version))
    }
}

/// The token of the extension; it may also stand in the schema, where MCP has it.
fn header_token<'a>(node: &Node<'a>) -> Option<&'a str> {
    let token = |value: &'a Value| value.get("x-mcp-header").and_then(Value::as_str);
    token(node.value).or_else(|| token(node.value.get("schema")?))
}

fn location(given: &Given<'_>) -> Result<Location, Fault> {
    match given.place {
        "path" => Ok(Location::Path),
        "query" => Ok(Location::Query),
        "header" => Ok(Location::Header),
        "cookie" => Ok(Location::Cookie),
        place => Err(given.node.fault(format!("parameters in `{place}` are not supported"))),
    }
}

fn default_style(location: Location) -> Style {
    match location {
        Location::Path | Location::Header => Style::Simple,
        Location::Query | Location::Cookie => Style::Form,
    }
}

/// The style that a word means in a location.
fn style(location: Location, word: &str) -> Option<Style> {
    match location {
        Location::Path => known::<PathStyle>(word).map(Style::from),
        Location::Query => query_style(word),
        Location::Header => known::<HeaderStyle>(word).map(Style::from),
        // 3.2's own style differs from `form` only in what it does not escape.
        Location::Cookie if word == "cookie" => Some(Style::Form),
        Location::Cookie => known::<CookieStyle>(word).map(Style::from),
    }
}

/// The value of one of openapiv3's vocabularies that a word means.
pub(super) fn known<'w, T: Deserialize<'w>>(word: &'w str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<Error>::new(word)).ok()
}

/// The style that a word means in a query or a form.
pub(super) fn query_style(word: &str) -> Option<Style> {
    known::<QueryStyle>(word).map(Style::from)
}

impl From<PathStyle> for Style {
    fn from(style: PathStyle) -> Self {
        match style {
            PathStyle::Matrix => Self::Matrix,
            PathStyle::Label => Self::Label,
            PathStyle::Simple => Self::Simple,
        }
    }
}

impl From<QueryStyle> for Style {
    fn from(style: QueryStyle) -> Self {
        match style {
            QueryStyle::Form => Self::Form,
            QueryStyle::SpaceDelimited => Self::SpaceDelimited,
            QueryStyle::PipeDelimited => Self::PipeDelimited,
            QueryStyle::DeepObject => Self::DeepObject,
        }
    }
}

impl From<HeaderStyle> for Style {
    fn from(HeaderStyle::Simple: HeaderStyle) -> Self {
        Self::Simple
    }
}

impl From<CookieStyle> for Style {
    fn from(CookieStyle::Form: CookieStyle) -> Self {
        Self::Form
    }
}

/// 2.0's `collectionFormat` of a parameter.
fn collection(given: &Given<'_>, location: Location) -> Result<Encoding, Fault> {
    let word = given.node.text("collectionFormat")?;
    let (style, explode) = collection_style(word, location)
        .ok_or_else(|| given.node.fault(unknown_collection(word)))?;
    Ok(Encoding::Style { style, explode, allow_reserved: false })
}

pub(super) fn unknown_collection(word: Option<&str>) -> String {
    format!("collectionFormat `{}` does not exist there", word.unwrap_or("csv"))
}

/// Style and explode of a `collectionFormat`; only queries and forms know more than `csv`.
pub(super) fn collection_style(word: Option<&str>, location: Location) -> Option<(Style, bool)> {
    let in_query = location == Location::Query;
    Some(match word.unwrap_or("csv") {
        "csv" => (default_style(location), false),
        "multi" if in_query => (Style::Form, true),
        "ssv" if in_query => (Style::SpaceDelimited, false),
        "tsv" if in_query => (Style::TabDelimited, false),
        "pipes" if in_query => (Style::PipeDelimited, false),
        _ => return None,
    })
}

/// The schema that a 2.0 parameter is itself.
pub(super) fn own_schema(node: &Node<'_>, version: Version) -> Value {
    const NOT_SCHEMA: [&str; 8] = [
        "name",
        "in",
        "required",
        "description",
        "collectionFormat",
        "allowEmptyValue",
        "schema",
        "deprecated",
    ];
    let map = node.value.as_object().into_iter().flatten();
    let own = map.filter(|(key, _)| !NOT_SCHEMA.contains(&key.as_str()));
    let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    schema::normal(&Value::Object(own), version)
}
