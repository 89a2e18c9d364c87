//! Header and cookie parameters.
//!
//! A value that could end its header, begin another or be trimmed on the way is refused rather than
//! changed. Headers that belong to the protocol, to proxies or to credentials are never set from an
//! argument, whatever a plan says.

use http::{HeaderMap, HeaderName, HeaderValue, header::COOKIE};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Map, Value};

use super::{
    fault,
    text::{any, content},
};
use crate::registry::plan::{ArgumentFault, Encoding, Parameter, Plan};

/// Names that no argument sets; a trailing `-` stands for all that begin so.
const PROTECTED: [&str; 22] = [
    "accept",
    "accept-",
    "authorization",
    "connection",
    "content-",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "origin",
    "proxy-",
    "sec-",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-",
    "x-real-ip",
];

/// What RFC 6265 does not allow in a cookie's value, and `%` itself.
const COOKIE_VALUE: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b',').add(b';').add(b'\\').add(b'%');

/// Whether a header belongs to the protocol, to proxies or to credentials.
pub(super) fn is_protected(name: &HeaderName) -> bool {
    PROTECTED.iter().any(|protected| {
        *protected == name.as_str()
            || (protected.ends_with('-') && name.as_str().starts_with(protected))
    })
}

/// Headers from header and cookie parameters; faults are added to `faults`.
pub(super) fn build(
    plan: &Plan,
    arguments: &Map<String, Value>,
    faults: &mut Vec<ArgumentFault>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for parameter in &plan.headers {
        match header(parameter, arguments) {
            Ok(None) => {}
            Ok(Some((name, value))) => {
                headers.insert(name, value);
            }
            Err(words) => faults.push(fault(argument(parameter), words)),
        }
    }
    let cookies: Vec<_> =
        plan.cookies.iter().flat_map(|parameter| cookie(parameter, arguments)).collect();
    if !cookies.is_empty() {
        let value = HeaderValue::try_from(cookies.join("; "));
        headers.insert(COOKIE, value.expect("percent-encoded text is ASCII without controls"));
    }
    headers
}

fn argument(parameter: &Parameter) -> &str {
    parameter.source.argument().unwrap_or(&parameter.name)
}

fn header(
    parameter: &Parameter,
    arguments: &Map<String, Value>,
) -> Result<Option<(HeaderName, HeaderValue)>, String> {
    let Some(value) = parameter.source.value(arguments).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let name = HeaderName::try_from(&parameter.name)
        .map_err(|_| format!("`{}` is no header name", parameter.name))?;
    if is_protected(&name) {
        return Err(format!("the header `{name}` is never set by a call"));
    }
    let text = simple(&parameter.encoding, &value)?;
    if text.trim() != text || !text.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e)) {
        let words = "expected printable ASCII without blanks around it: it is sent as a header";
        return Err(words.to_owned());
    }
    let value = HeaderValue::try_from(text).map_err(|_| "does not fit into a header".to_owned())?;
    Ok(Some((name, value)))
}

fn simple(encoding: &Encoding, value: &Value) -> Result<String, String> {
    let explode = match encoding {
        Encoding::Content(media_type) => return Ok(content(media_type, value).into_owned()),
        Encoding::Style { explode, .. } => *explode,
    };
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(element).collect::<Result<_, _>>()?,
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                Ok(format!("{key}{}{}", if explode { "=" } else { "," }, element(value)?))
            })
            .collect::<Result<_, String>>()?,
        _ => return Ok(any(value).into_owned()),
    };
    Ok(parts.join(","))
}

fn element(value: &Value) -> Result<String, String> {
    let text = any(value);
    if text.contains(',') {
        return Err("a value with a comma would become two in a header".to_owned());
    }
    Ok(text.into_owned())
}

/// `name=value` pairs in form style.
fn cookie(parameter: &Parameter, arguments: &Map<String, Value>) -> Vec<String> {
    let encoded = |text: &str| utf8_percent_encode(text, COOKIE_VALUE).to_string();
    let pair = |name: &str, value: &Value| {
        format!("{}={}", super::text::encode(name), encoded(&any(value)))
    };
    let Some(value) = parameter.source.value(arguments).filter(|value| !value.is_null()) else {
        return Vec::new();
    };
    let explode = match &parameter.encoding {
        Encoding::Content(media_type) => {
            let text = content(media_type, &value);
            return vec![format!("{}={}", super::text::encode(&parameter.name), encoded(&text))];
        }
        Encoding::Style { explode, .. } => *explode,
    };
    match &*value {
        Value::Array(items) if explode => {
            items.iter().map(|item| pair(&parameter.name, item)).collect()
        }
        Value::Object(members) if explode => {
            members.iter().map(|(key, value)| pair(key, value)).collect()
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| encoded(&any(item))).collect();
            vec![format!("{}={}", super::text::encode(&parameter.name), items.join(","))]
        }
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{},{}", encoded(key), encoded(&any(value))))
                .collect();
            vec![format!("{}={}", super::text::encode(&parameter.name), members.join(","))]
        }
        value => vec![pair(&parameter.name, value)],
    }
}
