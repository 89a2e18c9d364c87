//! Bodies and replies: their media types, schemas and how their parts are written.
//!
//! Swagger 2.0 has no media types of its own: a body is one `body` parameter or all `formData` ones, its
//! media types stand in `consumes` and `produces` of the operation, else of the document.

use openapiv3::StatusCode;
use serde_json::{Map, Value, json};

use super::{
    Body, Fault, Location, Media, PartEncoding, Reply, Status, Version,
    node::Node,
    operation::Reader,
    parameter::{Given, collection_style, known, own_schema, query_style, unknown_collection},
    schema,
};

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

impl<'a> Reader<'a> {
    /// The requestBody; one without any media type is none.
    pub(super) fn body(&mut self, operation: &Node<'a>) -> Option<Body> {
        let node = self.resolved(operation.child("requestBody")?)?;
        if node.child("content").is_none() {
            self.faults.push(node.fault("`content` is missing"));
        }
        let media = self.content(&node);
        let required = self.keep(node.flag("required"))?.unwrap_or(false);
        let description = node.prose("description");
        (!media.is_empty()).then(|| Body { required, description, media, pointer: node.pointer })
    }

    /// The media types of a body or a reply.
    fn content(&mut self, node: &Node<'a>) -> Vec<Media> {
        let entries = self.keep(node.entries("content")).unwrap_or_default();
        entries.into_iter().filter_map(|(name, node)| self.media(name, node)).collect()
    }

    fn media(&mut self, name: &str, node: Node<'a>) -> Option<Media> {
        if node.value.is_null() {
            return Some(plain(name, None));
        }
        let node = self.resolved(node)?;
        let normal = |child: Node<'_>| schema::normal(child.value, self.version);
        // A sequence (3.2) as a whole is the list of its items.
        let items = || Some(json!({"type": "array", "items": normal(node.child("itemSchema")?)}));
        let schema = node.child("schema").map(normal).or_else(items);
        let parts = self.keep(node.entries("encoding")).unwrap_or_default();
        let part = |(name, part): (&str, Node<'_>)| Some((name.to_owned(), self.part(&part)?));
        let encoding = parts.into_iter().filter_map(part).collect();
        Some(Media { media_type: name.to_owned(), schema, encoding })
    }

    fn part(&mut self, node: &Node<'_>) -> Option<PartEncoding> {
        let style = self.keep(node.text("style"))?.map(|word| {
            query_style(word)
                .ok_or_else(|| node.fault(format!("style `{word}` does not exist there")))
        });
        Some(PartEncoding {
            content_type: self.keep(node.text("contentType"))?.map(str::to_owned),
            style: self.keep(style.transpose())?,
            explode: self.keep(node.flag("explode"))?,
        })
    }

    /// The replies in document order; extensions are none.
    pub(super) fn replies(&mut self, operation: &Node<'a>) -> Vec<Reply> {
        let mut entries = self.keep(operation.entries("responses")).unwrap_or_default();
        entries.retain(|(status, _)| !status.starts_with("x-"));
        let reply = |(status, node)| self.reply(operation, status, node);
        entries.into_iter().filter_map(reply).collect()
    }

    fn reply(&mut self, operation: &Node<'a>, status: &str, node: Node<'a>) -> Option<Reply> {
        let unknown =
            || node.fault(format!("`{status}` is no status; write `200`, `2XX` or `default`"));
        let status = self.keep(self::status(status).ok_or_else(unknown))?;
        if node.value.is_null() {
            let (description, pointer) = (String::new(), node.pointer);
            return Some(Reply {
                status,
                description,
                media: Vec::new(),
                headers: Vec::new(),
                pointer,
            });
        }
        let node = self.resolved(node)?;
        let media = if self.version == Version::V20 {
            self.produced(operation, &node)
        } else {
            self.content(&node)
        };
        let headers = self.keep(node.entries("headers")).unwrap_or_default();
        Some(Reply {
            status,
            description: node.prose("description"),
            media,
            headers: headers.into_iter().map(|(name, _)| name.to_owned()).collect(),
            pointer: node.pointer,
        })
    }

    /// What a 2.0 reply with a schema may come as.
    fn produced(&mut self, operation: &Node<'a>, node: &Node<'a>) -> Vec<Media> {
        let Some(child) = node.child("schema") else { return Vec::new() };
        let types = self.media_types(operation, "produces");
        let schema = schema::normal(child.value, self.version);
        let default = if child.value.get("type") == Some(&json!("file")) {
            "application/octet-stream"
        } else {
            "application/json"
        };
        or_default(types, default)
            .into_iter()
            .map(|name| plain(name, Some(schema.clone())))
            .collect()
    }

    /// `consumes` or `produces` of the operation, else of the document.
    fn media_types(&mut self, operation: &Node<'a>, key: &str) -> Vec<&'a str> {
        let root = Node::root(self.root);
        let level = if operation.child(key).is_some() { operation } else { &root };
        self.keep(level.elements(key).map(drop));
        level.words(key)
    }

    /// The body that 2.0 parameters make.
    pub(super) fn fields(&mut self, operation: &Node<'a>, given: &[Given<'a>]) -> Option<Body> {
        let types = self.media_types(operation, "consumes");
        let Some(whole) = given.iter().find(|given| given.is_whole_body()) else {
            return self.form(operation, &types, given);
        };
        if given.len() > 1 {
            let words = format!("body parameter `{}` is not the only one", whole.name);
            self.faults.push(whole.node.fault(words));
        }
        let node = &whole.node;
        let schema = node.child("schema").map(|child| schema::normal(child.value, self.version));
        let types = or_default(types, "application/json").into_iter();
        Some(Body {
            required: self.keep(node.flag("required"))?.unwrap_or(false),
            description: node.prose("description"),
            media: types.map(|name| plain(name, schema.clone())).collect(),
            pointer: node.pointer.clone(),
        })
    }

    /// All form fields as one object.
    fn form(&mut self, operation: &Node<'a>, types: &[&str], given: &[Given<'a>]) -> Option<Body> {
        if given.is_empty() {
            return None;
        }
        let (mut properties, mut required, mut encoding) = (Map::new(), Vec::new(), Vec::new());
        for field in given {
            if self.keep(field.node.flag("required"))?.unwrap_or(false) {
                required.push(field.name);
            }
            encoding.extend(self.keep(field_encoding(field))?);
            properties.insert(field.name.to_owned(), field_schema(&field.node, self.version));
        }
        let mut schema = json!({"type": "object", "properties": properties});
        if let (false, Some(map)) = (required.is_empty(), schema.as_object_mut()) {
            map.insert("required".into(), json!(required));
        }
        let media = |name: &str| Media {
            media_type: name.to_owned(),
            schema: Some(schema.clone()),
            encoding: encoding.clone(),
        };
        Some(Body {
            required: !required.is_empty(),
            description: String::new(),
            media: form_types(types, given).into_iter().map(media).collect(),
            pointer: format!("{}/parameters", operation.pointer),
        })
    }
}

/// The form media types among those consumed; files travel in multipart only.
fn form_types<'t>(types: &[&'t str], given: &[Given<'_>]) -> Vec<&'t str> {
    let file = given.iter().any(|given| given.node.value.get("type") == Some(&json!("file")));
    let known = |name: &&&str| match **name {
        FORM => !file,
        MULTIPART => true,
        _ => false,
    };
    let types: Vec<&str> = types.iter().filter(known).copied().collect();
    or_default(types, if file { MULTIPART } else { FORM })
}

fn field_encoding(field: &Given<'_>) -> Result<Option<(String, PartEncoding)>, Fault> {
    if field.node.value.get("type") != Some(&json!("array")) {
        return Ok(None);
    }
    let word = field.node.text("collectionFormat")?;
    let (style, explode) = collection_style(word, Location::Query)
        .ok_or_else(|| field.node.fault(unknown_collection(word)))?;
    let part = PartEncoding { content_type: None, style: Some(style), explode: Some(explode) };
    Ok(Some((field.name.to_owned(), part)))
}

/// A form field's schema, with the description that a property carries itself.
fn field_schema(node: &Node<'_>, version: Version) -> Value {
    let mut schema = own_schema(node, version);
    let description = node.prose("description");
    if let (false, Some(map)) = (description.is_empty(), schema.as_object_mut()) {
        map.insert("description".into(), description.into());
    }
    schema
}

fn or_default<'t>(types: Vec<&'t str>, default: &'t str) -> Vec<&'t str> {
    if types.is_empty() { vec![default] } else { types }
}

fn plain(name: &str, schema: Option<Value>) -> Media {
    Media { media_type: name.to_owned(), schema, encoding: Vec::new() }
}

/// The status that a key of `responses` means.
fn status(key: &str) -> Option<Status> {
    if key == "default" {
        return Some(Status::Default);
    }
    match known::<StatusCode>(key)? {
        StatusCode::Code(code) => Some(Status::Code(code)),
        StatusCode::Range(class @ 1..=5) => u8::try_from(class).ok().map(Status::Class),
        StatusCode::Range(_) => None,
    }
}
