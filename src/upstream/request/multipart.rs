//! `multipart/form-data` (RFC 7578).
//!
//! Each field is a part, each element of a list a part of its own; objects are JSON parts; binary
//! fields are decoded from base64 and carry a file name. The boundary is random and stands nowhere
//! in the content, so no value can end its part.

use std::{
    borrow::Cow,
    hash::{BuildHasher, RandomState},
};

use bytes::Bytes;
use http::HeaderValue;
use serde_json::Value;

use super::{
    body::{Body, Given, binary},
    fault,
    text::{any, is_json},
};
use crate::registry::plan::ArgumentFault;

/// Writes the fields; nulls are not sent.
pub(super) fn build(given: &[Given<'_>]) -> Result<Body, ArgumentFault> {
    let mut parts = Vec::new();
    for field in given {
        for value in elements(field) {
            parts.push(part(field, value).map_err(|words| fault(field.argument, words))?);
        }
    }
    let boundary = boundary(&parts);
    let mut bytes = Vec::new();
    for part in &parts {
        bytes.extend_from_slice(format!("--{boundary}\r\n{}\r\n", part.head).as_bytes());
        bytes.extend_from_slice(&part.content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let content_type = HeaderValue::try_from(format!("multipart/form-data; boundary={boundary}"))
        .expect("a boundary is hexadecimal digits");
    Ok(Body { content_type, bytes: Bytes::from(bytes) })
}

struct Part {
    /// Header lines, each with its end.
    head: String,
    content: Vec<u8>,
}

/// The values that are parts of their own: a list's elements unless the whole list is one JSON part.
fn elements<'a>(field: &'a Given<'a>) -> impl Iterator<Item = &'a Value> {
    let as_json = field.part.content_type.as_deref().is_some_and(is_json);
    let items = match &*field.value {
        Value::Array(items) if !as_json => items.as_slice(),
        value => std::slice::from_ref(value),
    };
    items.iter().filter(|value| !value.is_null())
}

fn part(field: &Given<'_>, value: &Value) -> Result<Part, String> {
    let name = quoted(field.name);
    let declared = field.part.content_type.as_deref().and_then(concrete);
    let mut head = format!("Content-Disposition: form-data; name=\"{name}\"");
    let (content, content_type) = if field.part.binary {
        head.push_str(&format!("; filename=\"{name}\""));
        (binary(value)?, Some(declared.unwrap_or("application/octet-stream")))
    } else if declared.is_some_and(is_json) || value.is_object() || value.is_array() {
        (value.to_string().into_bytes(), Some(declared.unwrap_or("application/json")))
    } else {
        (any(value).into_owned().into_bytes(), declared)
    };
    head.push_str("\r\n");
    if let Some(content_type) = content_type {
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
    }
    Ok(Part { head, content })
}

/// A name inside the quotes of Content-Disposition, as browsers write it.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains(['"', '\r', '\n']) {
        Cow::Owned(name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A"))
    } else {
        Cow::Borrowed(name)
    }
}

/// The first media type of a list such as `image/png, image/*` that names one type and is safe to send.
fn concrete(content_type: &str) -> Option<&str> {
    content_type
        .split(',')
        .map(str::trim)
        .find(|media| !media.is_empty() && !media.contains('*'))
        .filter(|media| media.bytes().all(|byte| (0x20..0x7f).contains(&byte)))
}

/// 128 random bits, drawn again in the unlikely case that a part holds them.
fn boundary(parts: &[Part]) -> String {
    loop {
        let random = |salt: u8| RandomState::new().hash_one(salt);
        let boundary = format!("{:016x}{:016x}", random(0), random(1));
        let held = |part: &Part| {
            part.head.contains(&boundary)
                || part.content.windows(boundary.len()).any(|window| window == boundary.as_bytes())
        };
        if !parts.iter().any(held) {
            return boundary;
        }
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "cases read better as plain values")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::plan::{Encoding, Part as Written, Style};

    fn written(content_type: Option<&str>, binary: bool) -> Written {
        let encoding = Encoding::Style { style: Style::Form, explode: true, allow_reserved: false };
        Written { encoding, content_type: content_type.map(str::to_owned), binary }
    }

    fn build_one(name: &str, part: Written, value: Value) -> Result<String, ArgumentFault> {
        let given =
            Given { name, argument: "arg", part: Cow::Owned(part), value: Cow::Borrowed(&value) };
        let body = build(&[given])?;
        let content_type = body.content_type.to_str().unwrap();
        let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
        Ok(String::from_utf8(body.bytes.to_vec()).unwrap().replace(boundary, "B"))
    }

    #[track_caller]
    fn check(part: Written, value: Value, expected: &str) {
        assert_eq!(build_one("f", part, value).unwrap(), expected);
    }

    #[test]
    fn scalars_are_plain_parts() {
        check(
            written(None, false),
            json!(5.0),
            "--B\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n5\r\n--B--\r\n",
        );
        check(written(None, false), json!(null), "--B--\r\n");
    }

    #[test]
    fn list_elements_are_parts_of_their_own() {
        let body = build_one("f", written(None, false), json!(["a", null, "b"])).unwrap();
        assert_eq!(body.matches("name=\"f\"").count(), 2);
        check(
            written(Some("application/json"), false),
            json!([1, 2]),
            "--B\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Type: application/json\r\n\r\n[1,2]\r\n--B--\r\n",
        );
    }

    #[test]
    fn objects_are_json_parts() {
        check(
            written(None, false),
            json!({"a": 1}),
            "--B\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--B--\r\n",
        );
    }

    #[test]
    fn binary_fields_are_decoded_files() {
        check(
            written(Some("image/*, image/png"), true),
            json!("aGVsbG8="),
            "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: image/png\r\n\r\nhello\r\n--B--\r\n",
        );
        let body = build_one("f", written(None, true), json!("aGVsbG8=")).unwrap();
        assert!(body.contains("Content-Type: application/octet-stream\r\n"), "{body}");
        let fault = build_one("f", written(None, true), json!("!")).unwrap_err();
        assert_eq!(fault.path, "arg");
    }

    #[test]
    fn no_name_or_type_breaks_out_of_its_header() {
        let body = build_one("a\"\r\nX: y", written(Some("x\r\nY: z"), false), json!("v")).unwrap();
        assert!(body.contains("name=\"a%22%0D%0AX: y\"\r\n\r\nv"), "{body}");
    }

    #[test]
    fn boundaries_are_random() {
        assert_ne!(boundary(&[]), boundary(&[]));
    }
}
