//! Query strings and form bodies, by style and explode.
//!
//! Absent and null values are not sent, neither are empty lists and objects. `deepObject` writes
//! nested keys in brackets, the plain elements of a list as `name[]=a`, and elements that are lists
//! or objects themselves by index (`name[0][key]=a`). A list or an object inside a style that has no
//! rule for it is JSON text. Delimiters that a strict server refuses in a query (`|`, space, tab)
//! are percent-encoded.

use serde_json::{Map, Value};

use super::text::{any, content, encode, encode_reserved, scalar};
use crate::registry::plan::{Encoding, Style};

/// Appends one parameter or form field to `out`, joined with `&`.
pub(super) fn append(out: &mut String, name: &str, encoding: &Encoding, value: &Value) {
    if value.is_null() {
        return;
    }
    match encoding {
        Encoding::Content(media_type) => pair(out, name, &encode(&content(media_type, value))),
        Encoding::Style { style: Style::DeepObject, .. } => deep(out, name, value),
        Encoding::Style { style, explode, allow_reserved } => {
            let encode = if *allow_reserved { encode_reserved } else { encode };
            styled(out, name, value, (!explode).then(|| delimiter(*style)), encode);
        }
    }
}

/// The keys that an exploded object puts into the query as names of their own.
pub(super) fn spilled<'a>(
    encoding: &Encoding,
    value: &'a Value,
) -> impl Iterator<Item = &'a String> {
    let spills = match encoding {
        Encoding::Style { style, explode, .. } => *explode && *style != Style::DeepObject,
        Encoding::Content(_) => false,
    };
    value.as_object().filter(|_| spills).into_iter().flat_map(Map::keys)
}

/// What stands between the values of a list that is not exploded.
fn delimiter(style: Style) -> &'static str {
    match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::TabDelimited => "%09",
        Style::Form | Style::Simple | Style::Label | Style::Matrix | Style::DeepObject => ",",
    }
}

/// `joined` is the delimiter of a list that is not exploded; its elements are encoded strictly, so
/// that a delimiter inside one differs from one between two.
fn styled(
    out: &mut String,
    name: &str,
    value: &Value,
    joined: Option<&str>,
    encode_value: fn(&str) -> String,
) {
    match (value, joined) {
        (Value::Array(items), None) => {
            for item in items.iter().filter(|item| !item.is_null()) {
                pair(out, name, &encode_value(&any(item)));
            }
        }
        (Value::Object(members), None) => {
            for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                pair(out, key, &encode_value(&any(value)));
            }
        }
        (Value::Array(_) | Value::Object(_), Some(delimiter)) => {
            let parts = flat(value);
            if !parts.is_empty() {
                pair(out, name, &parts.join(delimiter));
            }
        }
        _ => pair(out, name, &encode_value(&any(value))),
    }
}

/// The elements of a list, or keys and values of an object in turn, encoded; nulls left out.
fn flat(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => {
            items.iter().filter(|item| !item.is_null()).map(|item| encode(&any(item))).collect()
        }
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .flat_map(|(key, value)| [encode(key), encode(&any(value))])
            .collect(),
        _ => Vec::new(),
    }
}

fn deep(out: &mut String, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            for (key, value) in members {
                deep(out, &format!("{name}[{key}]"), value);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let key = if scalar(item).is_some() { String::new() } else { index.to_string() };
                deep(out, &format!("{name}[{key}]"), item);
            }
        }
        _ => pair(out, name, &encode(&any(value))),
    }
}

fn pair(out: &mut String, name: &str, encoded: &str) {
    if !out.is_empty() {
        out.push('&');
    }
    out.push_str(&encode(name));
    out.push('=');
    out.push_str(encoded);
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "cases read better as plain values")]
mod tests {
    use serde_json::json;

    use super::*;

    fn style(style: Style, explode: bool) -> Encoding {
        Encoding::Style { style, explode, allow_reserved: false }
    }

    #[track_caller]
    fn check(encoding: Encoding, value: Value, expected: &str) {
        let mut out = String::new();
        append(&mut out, "ids", &encoding, &value);
        assert_eq!(out, expected);
    }

    #[test]
    fn form_writes_lists_and_objects_exploded_or_joined() {
        check(style(Style::Form, true), json!([1, 2, 3]), "ids=1&ids=2&ids=3");
        check(style(Style::Form, false), json!([1, 2, 3]), "ids=1,2,3");
        check(style(Style::Form, true), json!({"a": 1, "b": "x y"}), "a=1&b=x%20y");
        check(style(Style::Form, false), json!({"a": 1, "b": "x"}), "ids=a,1,b,x");
        check(style(Style::Form, true), json!("a&b=c d+é"), "ids=a%26b%3Dc%20d%2B%C3%A9");
        check(style(Style::Form, true), json!(true), "ids=true");
        check(style(Style::Form, true), json!(10.0), "ids=10");
        check(style(Style::Form, true), json!(""), "ids=");
    }

    #[test]
    fn null_and_empty_lists_are_not_sent() {
        check(style(Style::Form, true), json!(null), "");
        check(style(Style::Form, true), json!([]), "");
        check(style(Style::Form, false), json!([]), "");
        check(style(Style::Form, false), json!({}), "");
        check(style(Style::DeepObject, true), json!({"a": null}), "");
        check(style(Style::Form, true), json!([1, null, 2]), "ids=1&ids=2");
        check(style(Style::Form, false), json!({"a": null, "b": 1}), "ids=b,1");
        check(Encoding::Content("application/json".into()), json!(null), "");
    }

    #[test]
    fn a_delimiter_inside_an_element_is_encoded() {
        check(style(Style::Form, false), json!(["a,b", "c"]), "ids=a%2Cb,c");
        let reserved = Encoding::Style { style: Style::Form, explode: false, allow_reserved: true };
        check(reserved, json!(["a,b", "c"]), "ids=a%2Cb,c");
    }

    #[test]
    fn other_delimiters_stand_encoded_between_elements() {
        check(style(Style::SpaceDelimited, false), json!([1, 2, 3]), "ids=1%202%203");
        check(style(Style::PipeDelimited, false), json!([1, 2, 3]), "ids=1%7C2%7C3");
        check(style(Style::TabDelimited, false), json!([1, 2]), "ids=1%092");
        check(style(Style::PipeDelimited, false), json!({"a": 1}), "ids=a%7C1");
        check(style(Style::PipeDelimited, true), json!([1, 2]), "ids=1&ids=2");
    }

    #[test]
    fn deep_objects_nest_in_brackets() {
        let deep = || style(Style::DeepObject, true);
        check(deep(), json!({"a": 1, "b": "x"}), "ids%5Ba%5D=1&ids%5Bb%5D=x");
        check(deep(), json!({"a": {"b": 1}}), "ids%5Ba%5D%5Bb%5D=1");
        check(deep(), json!({"a": ["x", "y"]}), "ids%5Ba%5D%5B%5D=x&ids%5Ba%5D%5B%5D=y");
        check(deep(), json!(["x"]), "ids%5B%5D=x");
        check(deep(), json!([{"k": 1}, {"k": 2}]), "ids%5B0%5D%5Bk%5D=1&ids%5B1%5D%5Bk%5D=2");
    }

    #[test]
    fn reserved_characters_stay_where_allowed() {
        let reserved = Encoding::Style { style: Style::Form, explode: true, allow_reserved: true };
        check(reserved, json!("a/b:c?d#e&f=g"), "ids=a/b:c?d%23e%26f%3Dg");
    }

    #[test]
    fn content_parameters_are_json_text() {
        let json_content = || Encoding::Content("application/json".into());
        check(json_content(), json!({"a": [1]}), "ids=%7B%22a%22%3A%5B1%5D%7D");
        check(json_content(), json!("x"), "ids=%22x%22");
        check(Encoding::Content("text/plain".into()), json!("x y"), "ids=x%20y");
    }

    #[test]
    fn values_without_a_rule_are_json_text() {
        check(style(Style::Form, true), json!([{"a": 1}]), "ids=%7B%22a%22%3A1%7D");
        check(style(Style::Form, false), json!([[1, 2]]), "ids=%5B1%2C2%5D");
    }

    #[test]
    fn names_are_encoded() {
        let mut out = String::new();
        append(&mut out, "page[size]", &style(Style::Form, true), &json!(1));
        append(&mut out, "a:b", &style(Style::Form, true), &json!(2));
        assert_eq!(out, "page%5Bsize%5D=1&a%3Ab=2");
    }
}
