//! Media type and character set of a reply.
//!
//! The Content-Type header is a claim: it decides how a body is offered to be read, and every reader
//! copes with bodies that are something else. Text is UTF-8 or Latin-1; any other set is read as
//! UTF-8 with replacement characters, and a note says so.

use http::{HeaderMap, header::CONTENT_TYPE};

use crate::openapi::media_type;

/// What a body claims to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MediaType {
    /// Type and subtype in lower case; empty when the header is missing or unreadable.
    pub(super) essence: String,
    charset: Option<String>,
}

/// How a body is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Text,
    Image,
    Audio,
    /// Any other type.
    Blob,
    /// No type given: what the bytes look like.
    Unsaid,
}

/// Text, and what had to be given up for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) note: Option<String>,
}

impl MediaType {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mut parts = value.unwrap_or_default().split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches('"').to_ascii_lowercase();
            name.trim().eq_ignore_ascii_case("charset").then_some(value)
        });
        Self { essence, charset }
    }

    pub(super) fn kind(&self) -> Kind {
        let essence = self.essence.as_str();
        match essence.split_once('/') {
            None => Kind::Unsaid,
            Some(_) if media_type::is_json(essence) => Kind::Json,
            Some(_) if media_type::is_text(essence) => Kind::Text,
            Some(("image", _)) => Kind::Image,
            Some(("audio", _)) => Kind::Audio,
            Some(_) => Kind::Blob,
        }
    }

    /// Whether the type is one that has no end of its own.
    pub(super) fn is_stream(&self) -> bool {
        STREAMS.contains(&self.essence.as_str())
    }

    pub(super) fn decode(&self, bytes: &[u8]) -> Decoded {
        match self.charset.as_deref() {
            Some("iso-8859-1" | "latin1" | "latin-1" | "iso_8859-1" | "iso8859-1") => {
                let text = bytes.iter().copied().map(char::from).collect();
                Decoded { text, note: None }
            }
            None | Some("utf-8" | "utf8" | "us-ascii" | "ascii") => {
                let text = String::from_utf8_lossy(bytes);
                let note = "bytes that are not UTF-8 are shown as `\u{fffd}`".to_owned();
                let note = matches!(text, std::borrow::Cow::Owned(_)).then_some(note);
                Decoded { text: text.into_owned(), note }
            }
            Some(other) => {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let other: String = other.chars().take(40).collect();
                let note =
                    format!("the character set `{other}` is not known and was read as UTF-8");
                Decoded { text, note: Some(note) }
            }
        }
    }
}

const STREAMS: [&str; 6] = [
    "text/event-stream",
    "application/jsonl",
    "application/x-ndjson",
    "application/ndjson",
    "application/json-seq",
    "application/x-json-stream",
];

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(content_type: &str) -> MediaType {
        let value = HeaderValue::from_str(content_type).unwrap();
        MediaType::of(&HeaderMap::from_iter([(CONTENT_TYPE, value)]))
    }

    #[test]
    fn types_have_a_kind() {
        for (content_type, expected) in [
            ("application/json", Kind::Json),
            ("application/problem+json; charset=utf-8", Kind::Json),
            ("Text/HTML", Kind::Text),
            ("text/event-stream", Kind::Text),
            ("application/xml", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("image/png", Kind::Image),
            ("audio/wav", Kind::Audio),
            ("application/pdf", Kind::Blob),
            ("video/mp4", Kind::Blob),
            ("nonsense", Kind::Unsaid),
            ("", Kind::Unsaid),
        ] {
            assert_eq!(of(content_type).kind(), expected, "{content_type}");
        }
        assert_eq!(MediaType::of(&HeaderMap::new()).kind(), Kind::Unsaid);
    }

    #[track_caller]
    fn check(content_type: &str, bytes: &[u8], expected: &str, note: Option<&str>) {
        let decoded = of(content_type).decode(bytes);
        assert_eq!(decoded.text, expected);
        match (decoded.note, note) {
            (None, None) => {}
            (Some(said), Some(part)) => assert!(said.contains(part), "{said}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn character_sets_are_honoured_or_named() {
        check("text/plain", "ü".as_bytes(), "ü", None);
        check("text/plain; charset=UTF-8", "ü".as_bytes(), "ü", None);
        check("text/plain; charset=\"ISO-8859-1\"", b"\xfc", "ü", None);
        check("text/plain; format=flowed; charset=latin1", b"\xfc", "ü", None);
        check("text/plain", b"a\xfcb", "a\u{fffd}b", Some("not UTF-8"));
        check("text/plain; charset=koi8-r", b"\xc1a", "\u{fffd}a", Some("`koi8-r`"));
    }
}
