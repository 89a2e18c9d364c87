//! Credentials kept out of answers, whatever an upstream echoes.
//!
//! A [`Secrets`] knows the values of the headers that carry credentials in one call. What an answer says
//! is searched for every form in which a server may repeat one: as sent, percent-encoded, escaped for
//! HTML or JSON, and inside base64 at any offset, letters in any case. A quick look for the shortest
//! forms comes first, since most replies hold none. Values too short to be a credential are left
//! alone, and so are numbers. Nothing here is stored past the call.

use std::ops::Range;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use http::{HeaderName, HeaderValue, header::COOKIE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::response::rewrite_strings;

/// What stands where a credential stood.
const BLANK: &str = "[redacted]";

/// Shorter values (`1`, `en`) are no credentials, and blanking them would garble every text.
const SHORTEST: usize = 4;

/// From this length on a value is blanked inside other words, and searched for in base64.
const LONG: usize = 8;

const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const WITH_SLASH: &AsciiSet = &STRICT.remove(b'/');
const COMPONENT: &AsciiSet =
    &STRICT.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');

/// The credentials of one call in every form, in lower case.
#[derive(Default)]
pub(super) struct Secrets {
    /// As texts.
    forms: Vec<String>,
    /// As parts of base64.
    cores: Vec<String>,
    /// One of these is in every text that holds any of the others.
    needles: Vec<String>,
}

impl Secrets {
    /// The credentials in these headers.
    pub(super) fn of<'a>(
        headers: impl IntoIterator<Item = (&'a HeaderName, &'a HeaderValue)>,
    ) -> Self {
        let mut secrets = Vec::new();
        for (name, value) in headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            if *name == COOKIE {
                let values = value.split(';').filter_map(|pair| pair.split_once('='));
                secrets.extend(values.map(|(_, value)| value.trim().trim_matches('"').to_owned()));
            } else if let Some((scheme, token)) = value.trim().split_once(' ') {
                secrets.extend(basic(scheme, token));
                secrets.push(token.trim().to_owned());
            }
            secrets.push(value.trim().to_owned());
        }
        secrets.retain(|secret| secret.len() >= SHORTEST);
        let lower = |text: String| text.to_ascii_lowercase();
        let distinct = |mut texts: Vec<String>| {
            texts.sort();
            texts.dedup();
            texts
        };
        let forms = distinct(secrets.iter().flat_map(|it| forms(it)).map(lower).collect());
        // What a longer one would be found by, a shorter one within it is found by as well.
        let long = shortest(secrets.iter().filter(|secret| secret.len() >= LONG));
        let cores = distinct(long.iter().flat_map(|it| base64_cores(it)).map(lower).collect());
        let needles = shortest(forms.iter().chain(&cores));
        Self { forms, cores, needles }
    }

    /// A text without any form of a credential.
    pub(super) fn blank(&self, text: &str) -> String {
        self.blanked(text).unwrap_or_else(|| text.to_owned())
    }

    /// The same; `None` when there is nothing to blank.
    fn blanked(&self, text: &str) -> Option<String> {
        let lower = text.to_ascii_lowercase();
        if !self.needles.iter().any(|needle| lower.contains(needle.as_str())) {
            return None;
        }
        let forms = self.forms.iter().flat_map(|form| occurrences(&lower, form));
        let cores = self
            .cores
            .iter()
            .flat_map(|core| occurrences(&lower, core).map(|range| whole_base64(&lower, range)));
        let found: Vec<_> = forms.chain(cores).collect();
        (!found.is_empty()).then(|| without(text, found))
    }

    /// Whether bytes that are passed on as they are hold a credential.
    pub(super) fn are_in(&self, bytes: &[u8]) -> bool {
        !self.needles.is_empty() && self.blanked(&String::from_utf8_lossy(bytes)).is_some()
    }

    /// A JSON text whose strings are without any form of a credential; it stays valid.
    pub(super) fn blank_json(&self, json: String) -> String {
        let lower = json.to_ascii_lowercase();
        let found = self.needles.iter().any(|needle| lower.contains(needle.as_str()));
        if found || self.may_be_escaped(&lower) {
            rewrite_strings(&json, |contents| self.blanked(contents))
        } else {
            json
        }
    }

    /// Whether JSON may write a credential so that it shows only once its escapes are undone.
    fn may_be_escaped(&self, json: &str) -> bool {
        let is_delicate = |needle: &String| needle.contains(['/', '"', '\\']);
        json.contains('\\')
            && !self.needles.is_empty()
            && (json.contains("\\u") || self.needles.iter().any(is_delicate))
    }
}

/// Those that hold none of the others.
fn shortest<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut texts: Vec<_> = texts.collect();
    texts.sort_by_key(|text| text.len());
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        if !kept.iter().any(|short| text.contains(short.as_str())) {
            kept.push(text.clone());
        }
    }
    kept
}

/// What a Basic credential holds.
fn basic(scheme: &str, token: &str) -> Vec<String> {
    if !scheme.eq_ignore_ascii_case("basic") {
        return Vec::new();
    }
    let pair = STANDARD.decode(token.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let password =
        pair.as_deref().and_then(|pair| pair.split_once(':')).map(|(_, it)| it.to_owned());
    pair.into_iter().chain(password).collect()
}

fn forms(secret: &str) -> Vec<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if secret.bytes().all(is_plain) {
        return vec![secret.to_owned()]; // nothing of it is ever encoded
    }
    let json = serde_json::Value::from(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut forms = vec![
        secret.to_owned(),
        utf8_percent_encode(secret, STRICT).to_string(),
        utf8_percent_encode(secret, WITH_SLASH).to_string(),
        utf8_percent_encode(secret, COMPONENT).to_string(),
        utf8_percent_encode(secret, STRICT).to_string().replace("%20", "+"),
        html.replace('"', "&quot;").replace('\'', "&#39;"),
        html.replace('"', "&#34;").replace('\'', "&#x27;"),
        json.replace('/', "\\/"),
        json,
    ];
    forms.sort();
    forms.dedup();
    forms
}

/// For each offset that the value can have in a longer text, the characters of that text's base64 that
/// depend on the value alone.
fn base64_cores(secret: &str) -> Vec<String> {
    let mut cores = Vec::new();
    for (offset, unsure) in [(0, 0), (1, 2), (2, 3)] {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(secret.as_bytes());
        let sure = bytes.len() * 8 / 6; // the character after these depends on what follows
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            cores.extend(encoded.get(unsure..sure).map(str::to_owned));
        }
    }
    cores.sort();
    cores.dedup();
    cores
}

/// Where `form` stands in `text`; a short one only as a word of its own.
fn occurrences<'a>(text: &'a str, form: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    text.match_indices(form).map(move |(start, _)| start..start + form.len()).filter(move |range| {
        let word = |c: char| c.is_alphanumeric();
        let before = text.get(..range.start).and_then(|text| text.chars().next_back());
        let after = text.get(range.end..).and_then(|text| text.chars().next());
        form.len() >= LONG || !(before.is_some_and(word) || after.is_some_and(word))
    })
}

/// The whole base64 word around a part of it.
fn whole_base64(text: &str, part: Range<usize>) -> Range<usize> {
    let outside = |c: char| !(c.is_ascii_alphanumeric() || "+/=-_".contains(c));
    let before = text.get(..part.start).and_then(|text| {
        text.char_indices().rev().find(|(_, c)| outside(*c)).map(|(at, c)| at + c.len_utf8())
    });
    let after = text.get(part.end..).and_then(|text| text.find(outside));
    before.unwrap_or(0)..after.map_or(text.len(), |after| part.end + after)
}

fn without(text: &str, mut found: Vec<Range<usize>>) -> String {
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for range in found {
        if range.start >= done {
            out.push_str(text.get(done..range.start).unwrap_or_default());
            out.push_str(BLANK);
        }
        done = done.max(range.end);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets(name: &'static str, value: &str) -> Secrets {
        let value = HeaderValue::from_str(value).unwrap();
        Secrets::of([(&HeaderName::from_static(name), &value)])
    }

    #[track_caller]
    fn check(name: &'static str, value: &str, text: &str, expected: &str) {
        assert_eq!(secrets(name, value).blank(text), expected);
    }

    #[test]
    fn tokens_are_blanked_in_every_form() {
        let bearer = "Bearer s3cr/et+tok=en";
        check("authorization", bearer, "bad s3cr/et+tok=en!", "bad [redacted]!");
        check("authorization", bearer, "Bearer s3cr/et+tok=en", "[redacted]");
        check("authorization", bearer, "S3CR/ET+TOK=EN", "[redacted]");
        check("authorization", bearer, "q=s3cr%2Fet%2Btok%3Den", "q=[redacted]");
        check("authorization", bearer, "q=s3cr%2fet%2btok%3den", "q=[redacted]");
        check("authorization", bearer, "q=s3cr/et%2Btok%3Den", "q=[redacted]");
        check("authorization", bearer, r#"{"t":"s3cr\/et+tok=en"}"#, r#"{"t":"[redacted]"}"#);
        check("x-key", "a\"b<c>&d'", "a&quot;b&lt;c&gt;&amp;d&#39;", "[redacted]");
        check("x-key", "pass word1", "q=pass+word1", "q=[redacted]");
    }

    #[test]
    fn basic_credentials_are_blanked_decoded_too() {
        let basic = format!("Basic {}", STANDARD.encode("alice:opensesame"));
        check("authorization", &basic, "no user alice:opensesame", "no user [redacted]");
        check("authorization", &basic, "opensesame is wrong", "[redacted] is wrong");
        check("authorization", &basic, "YWxpY2U6b3BlbnNlc2FtZQ==", "[redacted]");
    }

    #[test]
    fn each_cookie_is_blanked() {
        check(
            "cookie",
            "session=abcd1234; csrf=\"wxyz9876\"",
            "abcd1234 wxyz9876",
            "[redacted] [redacted]",
        );
    }

    #[test]
    fn short_values_are_blanked_as_words_only_and_tiny_ones_never() {
        check("x-key", "abcde", "abcde abcdef xabcde", "[redacted] abcdef xabcde");
        check("x-version", "1", "1 of 11", "1 of 11");
    }

    #[test]
    fn successes_are_blanked_in_every_form_too() {
        let tricky = secrets("authorization", "Bearer s3cr/et+tok=en");
        let json = |text: &str| tricky.blank_json(text.to_owned());
        assert_eq!(json(r#"{"a":"S3cr/et+tok=en","b":1.10}"#), r#"{"a":"[redacted]","b":1.10}"#);
        assert_eq!(json(r#"["q=s3cr%2Fet%2btok%3Den"]"#), r#"["q=[redacted]"]"#);
        assert_eq!(json(r#"["\u0073\u0033cr\/et+tok=en"]"#), r#"["[redacted]"]"#);
        assert_eq!(json(r#"["{\"t\":\"s3cr\\/et+tok=en\"}"]"#), r#"["{\"t\":\"[redacted]\"}"]"#);
        let within = STANDARD.encode("token: s3cr/et+tok=en.");
        assert_eq!(json(&format!(r#"["{}"]"#, within.replace('/', "\\/"))), r#"["[redacted]"]"#);
        assert_eq!(json(r#"{"a":"\n\/\u00fc"}"#), r#"{"a":"\n\/\u00fc"}"#);
        assert!(tricky.are_in(b"\xff\x00s3cr/et+tok=en") && !tricky.are_in(b"\xff\x00s3cret"));
    }

    #[test]
    fn json_replies_stay_valid() {
        let slashed = secrets("authorization", "Bearer 12345678/9");
        let json = r#"{"n":12345678,"a":"x 12345678\/9 y","b":"12345678/9"}"#.to_owned();
        assert_eq!(
            slashed.blank_json(json),
            r#"{"n":12345678,"a":"x [redacted] y","b":"[redacted]"}"#
        );
        let digits = secrets("x-key", "12345678");
        assert_eq!(digits.blank_json(r#"{"n":12345678}"#.into()), r#"{"n":12345678}"#);
    }

    proptest! {
        #[test]
        fn base64_around_a_token_never_shows_it(before in "[ -~]{0,9}", token in "[A-Za-z0-9]{12,40}", after in "[ -~]{0,9}") {
            let secrets = secrets_of(&token);
            for encoded in [STANDARD.encode(format!("{before}{token}{after}")), URL_SAFE_NO_PAD.encode(format!("{before}{token}{after}"))] {
                prop_assert_eq!(secrets.blank(&format!("echo: {encoded} end")), "echo: [redacted] end");
            }
        }

        #[test]
        fn planted_tokens_never_survive(before in ".{0,20}", token in "[!-~]{8,40}", after in ".{0,20}") {
            let secrets = secrets_of(&token);
            let blanked = secrets.blank(&format!("{before}{token}{after}"));
            prop_assert!(!blanked.contains(&token) || BLANK.contains(&token), "{}", blanked);
        }
    }

    fn secrets_of(token: &str) -> Secrets {
        secrets("authorization", &format!("Bearer {token}"))
    }
}
