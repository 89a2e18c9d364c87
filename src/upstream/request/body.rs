//! The request body, by the document's media type.
//!
//! JSON is sent as the arguments hold it; a body that came as JSON text is sent digit by digit. Forms
//! follow style and explode like a query. No field given and none needed: no body, no Content-Type.
//! Nothing here checks arguments against a schema.

use std::{borrow::Cow, collections::HashSet};

use base64::{
    Engine,
    alphabet::{Alphabet, STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use http::HeaderValue;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{fault, multipart, query, shown, text::any};
use crate::registry::plan::{
    ArgumentFault, BodyMedia, BodyPlan, Encoding, Field, Part, PathPiece, Plan, Source, Style,
};

/// A body with its Content-Type.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) content_type: HeaderValue,
    pub(super) bytes: Bytes,
}

/// One field with its value, ready to be written.
pub(super) struct Given<'a> {
    pub(super) name: &'a str,
    /// The argument to name in a fault.
    pub(super) argument: &'a str,
    pub(super) part: Cow<'a, Part>,
    pub(super) value: Cow<'a, Value>,
}

/// Builds the body; `None` means that none is sent.
pub(super) fn build(
    plan: &Plan,
    arguments: &Map<String, Value>,
) -> Result<Option<Body>, ArgumentFault> {
    match &plan.body {
        BodyPlan::None => Ok(None),
        BodyPlan::Whole { source, media, text } => match source.value(arguments) {
            None => Ok(None),
            Some(value) => {
                whole(source.argument().unwrap_or("body"), &value, media, *text).map(Some)
            }
        },
        BodyPlan::Fields { fields, media, required, extra } => {
            let is_name = |field: &&Field| matches!(field.source, Source::ResourceName(_));
            let (names, others): (Vec<_>, Vec<_>) = fields.iter().partition(is_name);
            let mut given: Vec<_> =
                others.iter().filter_map(|field| give(field, arguments)).collect();
            if *extra {
                given.extend(extras(plan, fields, arguments));
            }
            if given.is_empty() && !required {
                return Ok(None);
            }
            // A name that the path says is no reason to send a body, and goes first into one.
            given.splice(0..0, names.iter().filter_map(|field| give(field, arguments)));
            of_fields(&given, media).map(Some)
        }
    }
}

fn give<'a>(field: &'a Field, arguments: &'a Map<String, Value>) -> Option<Given<'a>> {
    let value = field.source.value(arguments)?;
    let argument = field.source.argument().unwrap_or(&field.name);
    Some(Given { name: &field.name, argument, part: Cow::Borrowed(&field.part), value })
}

/// Arguments that no place of the plan reads; a declared field is never replaced by one.
fn extras<'a>(
    plan: &Plan,
    fields: &[Field],
    arguments: &'a Map<String, Value>,
) -> impl Iterator<Item = Given<'a>> {
    let mut known: HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
    let parameters = plan.query.iter().chain(&plan.headers).chain(&plan.cookies);
    let path = plan.path.iter().flat_map(|segment| &segment.0).filter_map(|piece| match piece {
        PathPiece::Value(place) => Some(&place.source),
        PathPiece::Literal(_) => None,
    });
    let sources = parameters
        .map(|parameter| &parameter.source)
        .chain(path)
        .chain(fields.iter().map(|field| &field.source));
    known.extend(sources.filter_map(Source::argument).map(str::to_owned));
    arguments.iter().filter(move |(name, _)| !known.contains(*name)).map(|(name, value)| Given {
        name,
        argument: name,
        part: Cow::Owned(plain_part()),
        value: Cow::Borrowed(value),
    })
}

fn plain_part() -> Part {
    let encoding = Encoding::Style { style: Style::Form, explode: true, allow_reserved: false };
    Part { encoding, content_type: None, binary: false }
}

fn whole(
    argument: &str,
    value: &Value,
    media: &BodyMedia,
    text: bool,
) -> Result<Body, ArgumentFault> {
    match media {
        BodyMedia::Json(content_type) => {
            let json = match value {
                Value::String(json) if text && is_json_text(json) => json.trim().to_owned(),
                _ => value.to_string(),
            };
            Ok(body(content_type.clone(), json))
        }
        BodyMedia::Text(content_type) => Ok(body(content_type.clone(), any(value).into_owned())),
        BodyMedia::Binary(content_type) => {
            let bytes = binary(value).map_err(|words| fault(argument, words))?;
            Ok(body(content_type.clone(), bytes))
        }
        BodyMedia::Form if value.is_string() => Ok(body(FORM, any(value).into_owned())),
        BodyMedia::Form | BodyMedia::Multipart => {
            let Value::Object(members) = value else {
                let words = format!("expected an object, got `{}`", shown(&any(value)));
                return Err(fault(argument, words));
            };
            let part = plain_part();
            let given: Vec<_> = members
                .iter()
                .map(|(name, value)| Given {
                    name,
                    argument,
                    part: Cow::Borrowed(&part),
                    value: Cow::Borrowed(value),
                })
                .collect();
            of_fields(&given, media)
        }
    }
}

fn of_fields(given: &[Given<'_>], media: &BodyMedia) -> Result<Body, ArgumentFault> {
    match media {
        BodyMedia::Multipart => multipart::build(given),
        BodyMedia::Form => {
            let mut form = String::new();
            for field in given {
                query::append(&mut form, field.name, &field.part.encoding, &field.value);
            }
            Ok(body(FORM, form))
        }
        BodyMedia::Json(content_type)
        | BodyMedia::Text(content_type)
        | BodyMedia::Binary(content_type) => {
            let object: Map<String, Value> = given
                .iter()
                .map(|field| (field.name.to_owned(), field.value.clone().into_owned()))
                .collect();
            Ok(body(content_type.clone(), Value::Object(object).to_string()))
        }
    }
}

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

fn body(content_type: HeaderValue, bytes: impl Into<Bytes>) -> Body {
    Body { content_type, bytes: bytes.into() }
}

fn is_json_text(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Bytes given as base64: standard or URL-safe, padded or not, lines broken or not.
pub(super) fn binary(value: &Value) -> Result<Vec<u8>, String> {
    let text = any(value);
    let packed: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let alphabet = if packed.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    forgiving(alphabet)
        .decode(packed)
        .map_err(|_| format!("expected base64 of the bytes, got `{}`", shown(&text)))
}

fn forgiving(alphabet: &Alphabet) -> GeneralPurpose {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config)
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "cases read better as plain values")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::plan::ResourceSegment;
    use crate::upstream::request::tests::{argument, field, plan};

    fn json_media() -> BodyMedia {
        BodyMedia::Json(HeaderValue::from_static("application/json"))
    }

    fn of(body: BodyPlan, arguments: &Value) -> Result<Option<(String, String)>, String> {
        let plan = Plan { body, ..plan() };
        let built = build(&plan, arguments.as_object().unwrap());
        built
            .map(|body| {
                body.map(|body| {
                    let content_type = body.content_type.to_str().unwrap().to_owned();
                    (content_type, String::from_utf8(body.bytes.to_vec()).unwrap())
                })
            })
            .map_err(|fault| format!("{}: {}", fault.path, fault.words))
    }

    #[track_caller]
    fn check(body: BodyPlan, arguments: Value, expected: &str) {
        let built = of(body, &arguments).unwrap();
        assert_eq!(built.map_or("none".to_owned(), |(_, body)| body), expected);
    }

    fn fields(media: BodyMedia, required: bool, extra: bool) -> BodyPlan {
        BodyPlan::Fields {
            fields: vec![field("content"), Field { source: argument("body_id"), ..field("id") }],
            media,
            required,
            extra,
        }
    }

    fn whole(media: BodyMedia, text: bool) -> BodyPlan {
        BodyPlan::Whole { source: argument("body"), media, text }
    }

    #[test]
    fn a_name_that_the_path_says_goes_into_a_body_that_is_sent_anyway() {
        let name = [
            ResourceSegment::Literal("memos".into()),
            ResourceSegment::Argument("memo".into()),
            ResourceSegment::Literal("reactions".into()),
            ResourceSegment::Argument("reaction".into()),
        ];
        let named = Field {
            name: "name".into(),
            source: Source::ResourceName(name.into()),
            part: plain_part(),
        };
        let state = Field {
            source: Source::Argument("state".into()),
            name: "state".into(),
            ..named.clone()
        };
        let plan = BodyPlan::Fields {
            fields: vec![named, state],
            media: BodyMedia::Json(HeaderValue::from_static("application/json")),
            required: false,
            extra: false,
        };
        let full = r#"{"name":"memos/a/reactions/r","state":1}"#;
        check(plan.clone(), json!({"memo": "a", "reaction": "r", "state": 1}), full);
        check(
            plan.clone(),
            json!({"memo": "memos/a", "reaction": "memos/a/reactions/r", "state": 1}),
            full,
        );
        check(
            plan.clone(),
            json!({"memo": "memos/a", "reaction": "reactions/r", "state": 1}),
            full,
        );
        check(plan, json!({"memo": "a", "reaction": "r"}), "none");
    }

    #[test]
    fn fields_become_one_object_under_their_wire_names() {
        let body = || fields(json_media(), false, false);
        check(
            body(),
            json!({"content": "x", "body_id": 7, "memo": "a"}),
            r#"{"content":"x","id":7}"#,
        );
        check(body(), json!({"content": null}), r#"{"content":null}"#);
        check(body(), json!({}), "none");
        check(fields(json_media(), true, false), json!({}), "{}");
        check(BodyPlan::None, json!({"content": "x"}), "none");
    }

    #[test]
    fn fixed_and_default_values_are_always_sent() {
        let body = |source| BodyPlan::Fields {
            fields: vec![Field { source, ..field("state") }],
            media: json_media(),
            required: false,
            extra: true,
        };
        check(body(Source::Fixed(json!("N"))), json!({}), r#"{"state":"N"}"#);
        check(body(Source::Fixed(json!("N"))), json!({"state": "D"}), r#"{"state":"N"}"#);
        let default = || Source::ArgumentOr("state".into(), json!("N"));
        check(body(default()), json!({}), r#"{"state":"N"}"#);
        check(body(default()), json!({"state": "D"}), r#"{"state":"D"}"#);
    }

    #[test]
    fn extra_names_go_into_the_body_only_where_allowed() {
        let arguments = json!({"content": "x", "memo": "path", "page": 1, "colour": "red"});
        check(fields(json_media(), false, false), arguments.clone(), r#"{"content":"x"}"#);
        check(fields(json_media(), false, true), arguments, r#"{"content":"x","colour":"red"}"#);
    }

    #[test]
    fn a_whole_body_is_sent_as_given() {
        check(whole(json_media(), false), json!({"body": [1, "a"]}), r#"[1,"a"]"#);
        check(whole(json_media(), false), json!({"body": null}), "null");
        check(whole(json_media(), false), json!({"body": "[1]"}), r#""[1]""#);
        check(whole(json_media(), false), json!({}), "none");
    }

    #[test]
    fn a_body_shown_as_text_is_read_as_json_digit_by_digit() {
        check(
            whole(json_media(), true),
            json!({"body": " {\"n\": 1.10, \"i\": 12345678901234567890123} "}),
            "{\"n\": 1.10, \"i\": 12345678901234567890123}",
        );
        check(whole(json_media(), true), json!({"body": "not json"}), r#""not json""#);
        check(whole(json_media(), true), json!({"body": {"a": 1}}), r#"{"a":1}"#);
    }

    #[test]
    fn the_content_type_is_the_documents() {
        let merge = BodyMedia::Json(HeaderValue::from_static("application/merge-patch+json"));
        let (content_type, _) = of(whole(merge, false), &json!({"body": {}})).unwrap().unwrap();
        assert_eq!(content_type, "application/merge-patch+json");
        let form = of(fields(BodyMedia::Form, true, false), &json!({})).unwrap().unwrap();
        assert_eq!(form, ("application/x-www-form-urlencoded".to_owned(), String::new()));
    }

    #[test]
    fn forms_follow_style_and_explode() {
        let form = || fields(BodyMedia::Form, false, true);
        check(
            form(),
            json!({"content": "a&b=c d+é", "body_id": true}),
            "content=a%26b%3Dc%20d%2B%C3%A9&id=true",
        );
        check(form(), json!({"content": null, "body_id": [1, 2]}), "id=1&id=2");
        check(form(), json!({"content": "x", "extra": {"a": 1}}), "content=x&a=1");
        check(
            whole(BodyMedia::Form, false),
            json!({"body": {"a": "x y", "b": [{"c": 1}]}}),
            "a=x%20y&b=%7B%22c%22%3A1%7D",
        );
        check(whole(BodyMedia::Form, false), json!({"body": "a=1&b=2"}), "a=1&b=2");
        assert!(
            of(whole(BodyMedia::Form, false), &json!({"body": 5}))
                .unwrap_err()
                .starts_with("body: expected an object")
        );
    }

    #[test]
    fn text_and_binary_bodies_are_sent_raw() {
        let plain = || BodyMedia::Text(HeaderValue::from_static("text/plain"));
        let octets = || BodyMedia::Binary(HeaderValue::from_static("application/octet-stream"));
        check(whole(plain(), false), json!({"body": "a \"b\""}), "a \"b\"");
        check(whole(octets(), false), json!({"body": "aGVsbG8="}), "hello");
        check(whole(octets(), false), json!({"body": "aGVs\nbG8"}), "hello");
        assert_eq!(binary(&json!("-_8=")).unwrap(), [0xfb, 0xff]);
        assert!(
            of(whole(octets(), false), &json!({"body": "***"}))
                .unwrap_err()
                .starts_with("body: expected base64")
        );
    }
}
