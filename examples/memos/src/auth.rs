//! Who is calling: anyone, or the owner, who has the token.
//!
//! The API checks the token itself and trusts nobody in front of it. A handler says what it needs by what it takes:
//! [`Caller`] lets everyone in, [`Owner`] answers 401 to all but the owner. A wrong token is refused in both, so that
//! a typing mistake is never taken for a caller without token.

use std::fmt;

use axum::extract::FromRequestParts;
use axum::http::{HeaderMap, header, request::Parts};
use constant_time_eq::constant_time_eq;

use crate::error::Error;
use crate::store::Store;

const PREFIX: &str = "memos-dev-";

/// The secret that makes a caller the owner: `memos-dev-` and 32 hexadecimal digits. Not shown by `Debug`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new token out of the randomness of the operating system.
    pub(crate) fn fresh() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{:032x}", u128::from_be_bytes(bytes))))
    }

    /// A token that was kept.
    pub(crate) fn kept(text: String) -> Self {
        Self(text)
    }

    /// The secret itself, for the one who starts the program.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the two differ.
    fn is(&self, given: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), given.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Whoever calls. Reads take this and decide by what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Anyone,
    Owner,
}

/// Proof that the caller has the token. Writes take this.
pub(crate) struct Owner;

pub(crate) const NEEDS_TOKEN: Error = Error::Unauthenticated(
    "this needs the header `Authorization: Bearer TOKEN`; the server prints the token at its start",
);
const WRONG_TOKEN: Error = Error::Unauthenticated(
    "the token in `Authorization` is not the one of this server, which prints it at its start",
);

impl FromRequestParts<Store> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, store: &Store) -> Result<Self, Error> {
        caller(&parts.headers, store.token())
    }
}

impl FromRequestParts<Store> for Owner {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, store: &Store) -> Result<Self, Error> {
        match caller(&parts.headers, store.token())? {
            Caller::Owner => Ok(Self),
            Caller::Anyone => Err(NEEDS_TOKEN),
        }
    }
}

fn caller(headers: &HeaderMap, token: &Token) -> Result<Caller, Error> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(Caller::Anyone) };
    match value.to_str().ok().and_then(bearer) {
        Some(given) if token.is(given) => Ok(Caller::Owner),
        _ => Err(WRONG_TOKEN),
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Option<&str>, expected: Option<Caller>) {
        let token = Token::kept("memos-dev-0".to_owned());
        let mut headers = HeaderMap::new();
        if let Some(value) = value {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        assert_eq!(caller(&headers, &token).ok(), expected, "{value:?}");
    }

    #[test]
    fn only_the_right_token_makes_an_owner() {
        check(None, Some(Caller::Anyone));
        check(Some("Bearer memos-dev-0"), Some(Caller::Owner));
        check(Some("bearer  memos-dev-0 "), Some(Caller::Owner));
        check(Some("Bearer memos-dev-1"), None);
        check(Some("Bearer memos-dev-00"), None);
        check(Some("Bearer memos-dev-"), None);
        check(Some("Bearer "), None);
        check(Some("memos-dev-0"), None);
        check(Some("Basic memos-dev-0"), None);
        check(Some(""), None);
    }

    #[test]
    fn a_fresh_token_has_its_prefix_and_32_hex_digits() {
        let token = Token::fresh().unwrap();
        let digits = token.reveal().strip_prefix(PREFIX).unwrap();
        assert_eq!(digits.len(), 32);
        assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(token.reveal(), Token::fresh().unwrap().reveal());
    }

    #[test]
    fn debug_does_not_show_the_token() {
        assert_eq!(format!("{:?}", Token::kept("secret".to_owned())), "Token(…)");
    }
}
