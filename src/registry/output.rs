//! Results: which reply of an operation counts, what shape it has, and the published output schema.
//!
//! A result is always an object. An object stays as it is, any other JSON and every text becomes
//! `{"result": …}`, an empty reply `{"ok": true}`, and bytes are described (`media_type`, `bytes`)
//! beside the block that carries them. The published schema says the same, and so leniently that a
//! reply of another kind than announced still fits: nothing below its root has a type.
//!
//! Only success is described. What a reply really holds is decided when it arrives.

use serde_json::{Map, Value, json};

use super::{
    plan::Shape,
    portable::{self, Resolve},
};
use crate::openapi::{Media, Reply, Status, media_type};

/// What a successful call gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The shape of the result.
    pub shape: Shape,
    /// The published output schema; every object is valid under it.
    pub schema: Map<String, Value>,
    /// How many nodes of it were cut for depth, size or recursion.
    pub cut: usize,
}

/// What the replies of one operation lead to.
pub fn output(replies: &[Reply], resolve: Resolve<'_>) -> Output {
    let reply = success(replies);
    let form = reply.and_then(body).map_or(Form::Empty, |media| form(media, resolve));
    let root = match &form {
        Form::Object(schema) => (*schema).clone(),
        Form::Wrapped(schema) => wrapped(schema),
        Form::Text(media_type) => wrapped(&text_of(media_type)),
        Form::Bytes(media_type) => bytes_of(media_type),
        Form::Empty => {
            json!({ "properties": { "ok": { "description": "True: it worked", "type": "boolean" } } })
        }
    };
    let published = portable::output(&root, resolve);
    Output { shape: form.shape(), schema: published.schema, cut: published.cut }
}

/// The reply that success is described by: 200, else the lowest other 2xx, else `2XX`, else
/// `default` when it is the only one.
pub fn success(replies: &[Reply]) -> Option<&Reply> {
    let code = |reply: &&Reply| match reply.status {
        Status::Code(code @ 200..=299) => Some(code),
        _ => None,
    };
    let lowest = replies.iter().filter(|reply| code(reply).is_some()).min_by_key(code);
    let class = || replies.iter().find(|reply| reply.status == Status::Class(2));
    let only = || match replies {
        [reply] if reply.status == Status::Default => Some(reply),
        _ => None,
    };
    lowest.or_else(class).or_else(only)
}

/// The media type a reply is described by: JSON first, then text, then the first; `None` when it has
/// no body.
fn body(reply: &Reply) -> Option<&Media> {
    if matches!(reply.status, Status::Code(204 | 205)) {
        return None;
    }
    let first = |wanted: Sort| reply.media.iter().find(|media| sort(&media.media_type) == wanted);
    first(Sort::Json).or_else(|| first(Sort::Text)).or_else(|| reply.media.first())
}

/// What kind of body a media type announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Json,
    Text,
    Bytes,
}

/// A range (`*/*`) most likely means JSON.
fn sort(media_type: &str) -> Sort {
    let essence = media_type::essence(media_type);
    if media_type::is_json(&essence) || matches!(&*essence, "*/*" | "application/*") {
        Sort::Json
    } else if media_type::is_text(&essence) {
        Sort::Text
    } else {
        Sort::Bytes
    }
}

/// What the result is made from.
enum Form<'a> {
    Object(&'a Value),
    Wrapped(&'a Value),
    Text(&'a str),
    Bytes(&'a str),
    Empty,
}

impl Form<'_> {
    fn shape(&self) -> Shape {
        match self {
            Self::Object(_) | Self::Bytes(_) => Shape::Object,
            Self::Wrapped(_) | Self::Text(_) => Shape::Wrapped,
            Self::Empty => Shape::Empty,
        }
    }
}

fn form<'a>(media: &'a Media, resolve: Resolve<'_>) -> Form<'a> {
    match (sort(&media.media_type), &media.schema) {
        (Sort::Text, _) => Form::Text(&media.media_type),
        (Sort::Bytes, _) => Form::Bytes(&media.media_type),
        (Sort::Json, None) => Form::Empty,
        (Sort::Json, Some(schema)) if portable::is_object(schema, resolve) => Form::Object(schema),
        (Sort::Json, Some(schema)) => Form::Wrapped(schema),
    }
}

fn wrapped(schema: &Value) -> Value {
    json!({ "properties": { "result": schema } })
}

fn text_of(media_type: &str) -> Value {
    json!({ "type": "string", "description": format!("The text of the reply, {media_type}") })
}

/// The reply itself comes as a block of its own.
fn bytes_of(media_type: &str) -> Value {
    json!({ "properties": {
        "media_type": { "type": "string", "description": format!("Of the reply, which is attached: {media_type}") },
        "bytes": { "type": "integer", "description": "Its size" },
    } })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::openapi::Fault;

    fn media(media_type: &str, schema: Option<Value>) -> Media {
        Media { media_type: media_type.into(), schema, encoding: Vec::new() }
    }

    fn reply(status: Status, media: Vec<Media>) -> Reply {
        Reply {
            status,
            description: String::new(),
            media,
            headers: Vec::new(),
            pointer: String::new(),
        }
    }

    fn resolve(reference: &str) -> Result<Arc<Value>, Fault> {
        let found = match reference {
            "#/Memo" => json!({ "type": "object", "properties": { "name": { "type": "string" } } }),
            "#/Memos" => json!({ "type": "array", "items": { "$ref": "#/Memo" } }),
            other => return Err(Fault { pointer: other.into(), words: "does not exist".into() }),
        };
        Ok(Arc::new(found))
    }

    fn of(media_type: &str, schema: Option<Value>) -> Output {
        let output = output(&[reply(Status::Code(200), vec![media(media_type, schema)])], &resolve);
        let schema = Value::Object(output.schema.clone());
        assert_eq!(portable::lint_output(&schema), Vec::<String>::new());
        for reply in [
            json!({}),
            json!({ "ok": true }),
            json!({ "result": [1] }),
            json!({ "result": null }),
            json!({ "name": 3 }),
        ] {
            assert!(
                jsonschema::draft7::is_valid(&schema, &reply)
                    && jsonschema::draft202012::is_valid(&schema, &reply),
                "{schema} {reply}"
            );
        }
        output
    }

    #[track_caller]
    fn check(schema: Value, shape: Shape, properties: &Value) {
        let output = of("application/json", Some(schema));
        assert_eq!((output.shape, &output.schema["properties"]), (shape, properties));
    }

    #[test]
    fn the_success_reply_is_chosen_by_its_status() {
        use Status::{Class, Code, Default};
        let check = |given: &[Status], expected: Option<Status>| {
            let replies: Vec<_> = given.iter().map(|status| reply(*status, Vec::new())).collect();
            assert_eq!(success(&replies).map(|reply| reply.status), expected, "{given:?}");
        };
        check(&[Code(201), Code(404), Code(200)], Some(Code(200)));
        check(&[Code(204), Code(202), Default], Some(Code(202)));
        check(&[Default, Class(2), Class(4)], Some(Class(2)));
        check(&[Class(2), Code(201)], Some(Code(201)));
        check(&[Default], Some(Default));
        check(&[Code(404), Default], None);
        check(&[Code(302)], None);
        check(&[], None);
    }

    #[test]
    fn objects_stay_as_they_are() {
        let name = json!({ "name": { "description": "string" } });
        check(json!({ "$ref": "#/Memo" }), Shape::Object, &name);
        check(json!({ "anyOf": [{ "$ref": "#/Memo" }, { "type": "null" }] }), Shape::Object, &name);
        check(json!({ "allOf": [{ "$ref": "#/Memo" }] }), Shape::Object, &name);
        check(
            json!({ "oneOf": [{ "$ref": "#/Memo" }, { "type": "object" }] }),
            Shape::Object,
            &name,
        );
        check(json!({ "additionalProperties": { "type": "string" } }), Shape::Object, &json!({}));
    }

    #[test]
    fn all_else_is_wrapped() {
        let memo = json!({ "description": "object", "properties": { "name": { "description": "string" } } });
        check(
            json!({ "$ref": "#/Memos" }),
            Shape::Wrapped,
            &json!({ "result": { "description": "array", "items": memo } }),
        );
        check(
            json!({ "type": "integer" }),
            Shape::Wrapped,
            &json!({ "result": { "description": "integer" } }),
        );
        check(json!({}), Shape::Wrapped, &json!({ "result": { "description": "any value" } }));
        check(
            json!({ "$ref": "#/none" }),
            Shape::Wrapped,
            &json!({ "result": { "description": "any value" } }),
        );
        check(
            json!({ "type": ["object", "array"] }),
            Shape::Wrapped,
            &json!({ "result": { "description": "object or array" } }),
        );
        check(
            json!({ "oneOf": [{ "$ref": "#/Memo" }, { "$ref": "#/Memos" }] }),
            Shape::Wrapped,
            &json!({ "result": { "description": "object or array: one of Memo, array of Memo", "properties": { "name": { "description": "string" } } } }),
        );
    }

    #[test]
    fn replies_without_a_body_are_ok() {
        let ok = json!({ "ok": { "description": "boolean. True: it worked" } });
        let schema = Some(json!({ "$ref": "#/Memo" }));
        for replies in [
            vec![reply(Status::Code(204), vec![media("application/json", schema)])],
            vec![reply(Status::Code(200), Vec::new())],
            vec![reply(Status::Code(200), vec![media("application/json", None)])],
            vec![],
        ] {
            let output = output(&replies, &resolve);
            assert_eq!((output.shape, &output.schema["properties"]), (Shape::Empty, &ok));
        }
    }

    #[test]
    fn json_comes_before_text_before_bytes() {
        let all = |types: &[&str]| {
            reply(Status::Default, types.iter().map(|name| media(name, None)).collect())
        };
        let check = |types: &[&str], expected: &str| {
            let reply = all(types);
            assert_eq!(body(&reply).map(|media| &*media.media_type), Some(expected));
        };
        check(
            &["image/png", "text/csv", "application/problem+json; v=1"],
            "application/problem+json; v=1",
        );
        check(&["application/zip", "TEXT/plain"], "TEXT/plain");
        check(&["image/png", "application/zip"], "image/png");
    }

    #[test]
    fn texts_are_wrapped_and_bytes_described() {
        let text = of("text/csv", Some(json!({ "type": "string" })));
        assert_eq!(text.shape, Shape::Wrapped);
        assert_eq!(
            text.schema["properties"],
            json!({ "result": { "description": "string. The text of the reply, text/csv" } })
        );
        assert_eq!(of("application/xml", Some(json!({ "$ref": "#/Memo" }))).shape, Shape::Wrapped);
        let image = of("image/png", None);
        assert_eq!(image.shape, Shape::Object);
        assert_eq!(
            image.schema["properties"]["media_type"]["description"],
            "string. Of the reply, which is attached: image/png"
        );
    }
}
