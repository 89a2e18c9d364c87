//! Header names a file may set or forward, and header values with `${…}` in them.
//!
//! A value is split into pieces once; who reads the environment and the files puts them together and
//! checks the result again. No message here repeats a value, since values are secrets. `$${` stands
//! for a literal `${`, so that any text can be written.

use std::fmt;

use http::{HeaderName, HeaderValue};

use crate::diagnostic::{Diagnostic, quote};

/// A piece of a header's value.
#[derive(Clone, PartialEq, Eq)]
pub enum HeaderPiece {
    /// Literal text; never empty, visible ASCII, blanks and tabs.
    Text(String),
    /// `${VAR}`: from the environment.
    Variable(String),
    /// `${file:/run/secrets/key}`: the file's content without its trailing line end, re-read on change.
    File(String),
}

/// Literal text is a secret and stays out.
impl fmt::Debug for HeaderPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text(…)"),
            Self::Variable(name) => f.debug_tuple("Variable").field(name).finish(),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Headers that belong to one connection or to one message's body, and `host`: a file that set or
/// forwarded one could change where a request goes or where it ends.
const PROTECTED: [&str; 12] = [
    "connection",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Families of the same: a body's own headers, what this side can read, and this protocol's.
const PROTECTED_FAMILIES: [&str; 3] = ["accept", "content-", "mcp-"];

/// Whether a header is made by the request itself and never by a file, an argument or a caller.
/// `name` is in lower case.
pub fn is_protected(name: &str) -> bool {
    PROTECTED.contains(&name) || PROTECTED_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// A header name.
///
/// # Errors
/// When it is not one.
pub(super) fn name(text: &str) -> Result<HeaderName, Diagnostic> {
    HeaderName::try_from(text).map_err(|_| {
        Diagnostic::error(format!("{} is no header name", quote(text)))
            .help("use letters, digits and `-`")
    })
}

/// A header name that may be set or forwarded.
///
/// # Errors
/// When it is not one, or is protected.
pub(super) fn free_name(text: &str) -> Result<HeaderName, Diagnostic> {
    let name = name(text)?;
    if is_protected(name.as_str()) {
        return Err(Diagnostic::error(format!(
            "the header {} is made by the request itself",
            quote(text)
        ))
        .help("leave it out"));
    }
    Ok(name)
}

/// The pieces of a value; none for an empty one.
///
/// # Errors
/// When a `${` is not closed or names nothing that can be read, or the text around has a line break or
/// anything else that could end the header.
pub(super) fn pieces(value: &str) -> Result<Vec<HeaderPiece>, Diagnostic> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            literal.push_str(before);
            literal.push_str("${");
            rest = after;
            continue;
        }
        literal.push_str(before);
        let Some((inside, after)) = after.split_once('}') else {
            return Err(Diagnostic::error("a `${` is not closed")
                .help("write `${NAME}`, or `$${` for a literal `${`"));
        };
        push_text(&mut pieces, &mut literal)?;
        pieces.push(reference(inside)?);
        rest = after;
    }
    literal.push_str(rest);
    push_text(&mut pieces, &mut literal)?;
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<HeaderPiece>, literal: &mut String) -> Result<(), Diagnostic> {
    let value = HeaderValue::from_str(literal).ok();
    if value.is_none_or(|value| value.to_str().is_err()) {
        return Err(Diagnostic::error(
            "the value has a line break or a character no header can carry",
        )
        .help("use visible ASCII on one line"));
    }
    if !literal.is_empty() {
        pieces.push(HeaderPiece::Text(std::mem::take(literal)));
    }
    Ok(())
}

/// What stands between `${` and `}`.
fn reference(inside: &str) -> Result<HeaderPiece, Diagnostic> {
    if let Some(path) = inside.strip_prefix("file:") {
        if path.is_empty() || path.contains(char::is_control) {
            return Err(Diagnostic::error("`${file:}` names no file")
                .help("write `${file:/run/secrets/key}`"));
        }
        return Ok(HeaderPiece::File(path.to_owned()));
    }
    let mut letters = inside.bytes();
    let starts = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if starts && letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(HeaderPiece::Variable(inside.to_owned()));
    }
    let shown = quote(&format!("${{{inside}}}"));
    Err(Diagnostic::error(format!("{shown} names no environment variable"))
        .help("use letters, digits and `_`; there are no defaults or other forms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> HeaderPiece {
        HeaderPiece::Text(text.to_owned())
    }

    fn variable(name: &str) -> HeaderPiece {
        HeaderPiece::Variable(name.to_owned())
    }

    #[test]
    fn values_fall_into_pieces() {
        let check = |value: &str, expected: &[HeaderPiece]| {
            let actual = pieces(value).unwrap_or_else(|fault| panic!("{value}: {fault}"));
            assert!(actual == expected, "{value}: {actual:?}");
        };
        check("", &[]);
        check("plain value", &[text("plain value")]);
        check("${KEY}", &[variable("KEY")]);
        check("Bearer ${KEY}", &[text("Bearer "), variable("KEY")]);
        check("${A}${_B2}-", &[variable("A"), variable("_B2"), text("-")]);
        check("${file:/run/secrets/key}", &[HeaderPiece::File("/run/secrets/key".into())]);
        check("k ${file:a b/c:d}", &[text("k "), HeaderPiece::File("a b/c:d".into())]);
        check("$5 and $", &[text("$5 and $")]);
        check("}{", &[text("}{")]);
        check("a $${KEY} ${B}", &[text("a ${KEY} "), variable("B")]);
    }

    #[test]
    fn broken_values_are_refused_and_not_repeated() {
        let check = |value: &str, words: &str| {
            let fault = pieces(value).unwrap_err().to_string();
            assert!(fault.contains(words), "{value}: {fault}");
            assert!(!fault.contains("hunter2"), "{fault}");
        };
        check("hunter2 ${KEY", "is not closed");
        check("hunter2 ${}", "`${}` names no environment variable");
        check("${A-B}", "`${A-B}` names no environment variable");
        check("${A:-hunter}", "there are no defaults");
        check("${1A}", "names no environment variable");
        check("${file:}", "names no file");
        check("${file:a\nb}", "names no file");
        check("hunter2\r\nX-Other: 1", "has a line break");
        check("hunter2\n", "has a line break");
        check("hunter2\0", "no header can carry");
        check("hunter2 é", "no header can carry");
        check("${A}\n", "has a line break");
    }

    #[test]
    fn debug_shows_no_literal() {
        let pieces = pieces("hunter2 ${KEY}").unwrap();
        assert_eq!(format!("{pieces:?}"), "[Text(…), Variable(\"KEY\")]");
    }

    #[test]
    fn names_are_lowered_and_protected_ones_refused() {
        assert_eq!(free_name("X-Api-Key").unwrap(), "x-api-key");
        assert_eq!(free_name("Authorization").unwrap(), "authorization");
        for name in ["Host", "Content-Length", "content-type", "Transfer-Encoding", "Connection"] {
            let fault = free_name(name).unwrap_err();
            assert_eq!(fault.message, format!("the header `{name}` is made by the request itself"));
        }
        for name in ["Accept", "Accept-Encoding", "TE", "Upgrade", "Mcp-Session-Id", "Expect"] {
            assert!(free_name(name).is_err(), "{name}");
        }
        for name in ["", "a b", "a:b", "a\nb", "é"] {
            assert!(free_name(name).unwrap_err().message.ends_with("is no header name"), "{name}");
        }
        assert_eq!(name("Content-Range").unwrap(), "content-range");
    }
}
