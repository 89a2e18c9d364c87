//! Which of a body's media types is sent, and how its fields are written.

use http::HeaderValue;
use serde_json::Value;

use super::plan::{BodyMedia, Part};
use crate::openapi::{Body, Encoding, Media, PartEncoding, Style, media_type};

/// The media type a call sends: JSON first, then forms, text and bytes; document order among equals.
///
/// # Errors
/// In words, when none can be sent.
pub(super) fn choose(body: &Body) -> Result<(&Media, BodyMedia), String> {
    let known = body.media.iter().filter_map(|media| Some((rank(media)?, media)));
    let best = known.min_by_key(|((rank, _), _)| *rank);
    best.map(|((_, how), media)| (media, how)).ok_or_else(|| {
        let names: Vec<String> = body.media.iter().map(|m| format!("`{}`", m.media_type)).collect();
        format!("the body is {}, which cannot be sent", names.join(" or "))
    })
}

/// How good a choice is, and how it is written; `None` when it cannot be.
fn rank(media: &Media) -> Option<(u8, BodyMedia)> {
    let essence = media_type::essence(&media.media_type);
    let header = HeaderValue::from_str(media.media_type.trim()).ok()?;
    let (kind, sub) = essence.split_once('/')?;
    Some(match (kind, sub) {
        ("application", "json") => (0, BodyMedia::Json(header)),
        (_, sub) if media_type::is_json(&essence) && !sub.contains('*') => {
            (1, BodyMedia::Json(header))
        }
        ("*", "*") | ("application", "*" | "*+json") if !is_binary(media.schema.as_ref()) => {
            (2, BodyMedia::Json(HeaderValue::from_static("application/json")))
        }
        ("application", "x-www-form-urlencoded") => (3, BodyMedia::Form),
        ("multipart", "form-data") => (4, BodyMedia::Multipart),
        ("text", "*") => (5, BodyMedia::Text(HeaderValue::from_static("text/plain"))),
        ("text", _) => (5, BodyMedia::Text(header)),
        ("application", "octet-stream") => (6, BodyMedia::Binary(header)),
        ("*", "*") => (6, BodyMedia::Binary(HeaderValue::from_static("application/octet-stream"))),
        (_, sub) if is_binary(media.schema.as_ref()) && !sub.contains('*') => {
            (7, BodyMedia::Binary(header))
        }
        _ => return None,
    })
}

/// Whether a schema says that its value is bytes.
fn is_binary(schema: Option<&Value>) -> bool {
    let Some(schema) = schema else { return false };
    let says = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let binary = says("format").is_some_and(|format| format == "binary");
    let raw = says("contentMediaType").is_some() && says("contentEncoding").is_none();
    binary || raw && schema.get("type").is_some_and(|kind| kind == "string")
}

/// Whether a field of a multipart body is bytes, or a list of bytes.
fn is_bytes(schema: &Value) -> bool {
    is_binary(Some(schema)) || is_binary(schema.get("items"))
}

/// How one field of a body is written; only forms care.
pub(super) fn part(media: &Media, how: &BodyMedia, name: &str, schema: &Value) -> Part {
    let said = media.encoding.iter().find(|(known, _)| known == name).map(|(_, said)| said);
    Part {
        encoding: encoding(said),
        content_type: said.and_then(|said| said.content_type.clone()),
        binary: *how == BodyMedia::Multipart && is_bytes(schema),
    }
}

fn encoding(said: Option<&PartEncoding>) -> Encoding {
    let style = said.and_then(|said| said.style).unwrap_or(Style::Form);
    let explode = said.and_then(|said| said.explode).unwrap_or(style == Style::Form);
    Encoding::Style { style, explode, allow_reserved: false }
}

/// Whether a media type is JSON, so that a value keeps its kind.
pub(super) fn is_json(how: &BodyMedia) -> bool {
    matches!(how, BodyMedia::Json(_))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(types: &[&str]) -> Body {
        let media = |name: &&str| Media {
            media_type: (*name).into(),
            schema: Some(json!({"type": "object"})),
            encoding: Vec::new(),
        };
        Body {
            required: true,
            description: String::new(),
            media: types.iter().map(media).collect(),
            pointer: String::new(),
        }
    }

    fn check(types: &[&str], expected: &str) {
        let body = body(types);
        let shown = match choose(&body).map(|(media, how)| (media.media_type.as_str(), how)) {
            Ok((name, BodyMedia::Json(header))) => {
                format!("{name} json {}", header.to_str().unwrap())
            }
            Ok((name, BodyMedia::Text(header))) => {
                format!("{name} text {}", header.to_str().unwrap())
            }
            Ok((name, how)) => format!("{name} {how:?}"),
            Err(words) => words,
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn json_comes_first_then_forms_text_and_bytes() {
        check(&["text/plain", "application/json"], "application/json json application/json");
        check(
            &["application/x-www-form-urlencoded", "application/merge-patch+json"],
            "application/merge-patch+json json application/merge-patch+json",
        );
        check(
            &["application/json; charset=utf-8"],
            "application/json; charset=utf-8 json application/json; charset=utf-8",
        );
        check(
            &["multipart/form-data", "application/x-www-form-urlencoded"],
            "application/x-www-form-urlencoded Form",
        );
        check(&["multipart/form-data", "text/csv"], "multipart/form-data Multipart");
        check(&["text/csv"], "text/csv text text/csv");
        check(&["*/*"], "*/* json application/json");
        check(&["application/xml"], "the body is `application/xml`, which cannot be sent");
    }

    #[test]
    fn bytes_of_any_type_are_sent_as_they_are() {
        let mut body = body(&["image/png"]);
        assert!(choose(&body).is_err());
        body.media[0].schema = Some(json!({"type": "string", "format": "binary"}));
        assert!(matches!(choose(&body), Ok((_, BodyMedia::Binary(_)))));
    }

    #[test]
    fn parts_follow_the_encoding_object() {
        let said =
            PartEncoding { content_type: None, style: Some(Style::DeepObject), explode: None };
        let mut body = body(&["multipart/form-data"]);
        body.media[0].encoding.push(("meta".into(), said));
        let part = |name, schema| part(&body.media[0], &BodyMedia::Multipart, name, &schema);
        let style = |style, explode| Encoding::Style { style, explode, allow_reserved: false };
        assert_eq!(part("meta", json!({})).encoding, style(Style::DeepObject, false));
        assert_eq!(part("other", json!({})).encoding, style(Style::Form, true));
        assert!(part("f", json!({"type": "string", "format": "binary"})).binary);
        assert!(part("f", json!({"items": {"format": "binary"}})).binary);
        assert!(!part("f", json!({"type": "string"})).binary);
    }
}
