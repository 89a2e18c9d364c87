//! The token that every caller must show, where a file names one.
//!
//! It guards toolgate itself and is nobody else's: a request that shows it goes on without its
//! `Authorization`, so no upstream ever sees it. The file is looked at with every request, so that a
//! new token counts at once and the old one no longer; a file that is missing, empty or unreadable
//! changes nothing, and the log says so. Over stdio nobody has to show a token.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use http::{HeaderMap, StatusCode, header::AUTHORIZATION};
use rmcp::model::ErrorCode;

use super::refusal::Refusal;
use crate::{diagnostic::Diagnostic, source::Lone};

/// The token of one file.
pub struct Inbound(Mutex<Guard>);

struct Guard {
    file: Lone,
    /// Of the token; equality of hashes takes the same time wherever they differ.
    hash: blake3::Hash,
}

/// Without the token.
impl std::fmt::Debug for Inbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inbound(…)")
    }
}

impl Inbound {
    /// Reads the token.
    ///
    /// # Errors
    /// When the file cannot be read or holds no token.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Diagnostic> {
        let mut file = Lone::new(path);
        let hash = token(&file.content()?).map_err(|fault| fault.at(file.position()))?;
        Ok(Self(Mutex::new(Guard { file, hash })))
    }

    /// Takes the token off a request.
    ///
    /// # Errors
    /// 401, when it has none or another one.
    pub(super) fn take(&self, headers: &mut HeaderMap) -> Result<(), Refusal> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guard.follow();
        let shown = shown(headers).ok_or_else(|| refused("the token is missing"))?;
        if blake3::hash(shown) != guard.hash {
            return Err(refused("the token is not the right one"));
        }
        headers.remove(AUTHORIZATION);
        Ok(())
    }
}

impl Guard {
    fn follow(&mut self) {
        let Some(content) = self.file.news() else { return };
        match content.and_then(|content| token(&content)) {
            Ok(hash) => {
                self.hash = hash;
                tracing::info!(
                    "{}: the token for callers was read anew",
                    self.file.position().file
                );
            }
            Err(fault) => tracing::warn!(
                "{}: {}; the token read before still counts",
                self.file.position().file,
                fault.message
            ),
        }
    }
}

/// The one bearer token of a request.
fn shown(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?.as_bytes(), values.next()) else { return None };
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

fn token(content: &[u8]) -> Result<blake3::Hash, Diagnostic> {
    let token = content.trim_ascii();
    if token.is_empty() {
        return Err(Diagnostic::error("holds no token")
            .help("write one into it, for example with `openssl rand -hex 32`"));
    }
    if !token.iter().all(u8::is_ascii_graphic) {
        return Err(Diagnostic::error("holds more than a token")
            .help("use one line of letters, digits and punctuation"));
    }
    Ok(blake3::hash(token))
}

fn refused(words: &str) -> Refusal {
    let words = format!(
        "{words}: this server needs `Authorization: Bearer TOKEN`; ask whoever runs it for the token"
    );
    Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::INVALID_REQUEST, words)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use http::HeaderValue;

    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let values = values.iter().map(|value| HeaderValue::from_str(value).unwrap());
        values.map(|value| (AUTHORIZATION, value)).collect()
    }

    #[test]
    fn only_the_token_of_the_file_lets_in_and_it_is_taken_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "s3cret-token\n").unwrap();
        let inbound = Inbound::open(&path).unwrap();
        for good in ["Bearer s3cret-token", "bearer  s3cret-token "] {
            let mut given = headers(&[good]);
            assert_eq!(inbound.take(&mut given), Ok(()), "{good}");
            assert!(given.is_empty());
        }
        for bad in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["Bearer s3cret-toke"],
            &["Bearer s3cret-token2"],
            &["Basic s3cret-token"],
            &["s3cret-token"],
            &["Bearer s3cret-token", "Bearer s3cret-token"],
        ] {
            assert_eq!(inbound.take(&mut headers(bad)).unwrap_err().status, 401, "{bad:?}");
        }
    }

    #[test]
    fn a_new_token_counts_at_once_and_a_broken_file_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "one").unwrap();
        let inbound = Inbound::open(&path).unwrap();
        let opens = |token: &str| inbound.take(&mut headers(&[&format!("Bearer {token}")])).is_ok();
        fs::write(&path, "two-two").unwrap();
        assert!(opens("two-two") && !opens("one"));
        for broken in ["", "two words"] {
            fs::write(&path, broken).unwrap();
            assert!(opens("two-two") && !opens(broken) && !opens("two"));
        }
        fs::remove_file(&path).unwrap();
        assert!(opens("two-two"));
        fs::write(&path, "three").unwrap();
        assert!(opens("three") && !opens("two-two"));
    }

    #[test]
    fn a_file_without_a_token_is_refused_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let fault = |text: &str| {
            fs::write(&path, text).unwrap();
            Inbound::open(&path).unwrap_err().to_string()
        };
        assert!(fault(" \n").contains("token: error: holds no token"));
        let words = fault("s3cret one\n");
        assert!(words.contains("holds more than a token") && !words.contains("s3cret"), "{words}");
        assert!(Inbound::open(folder.path()).unwrap_err().to_string().contains("is a folder"));
    }
}
