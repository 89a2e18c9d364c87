//! How a request is read: its path values, its query and its body.
//!
//! The extractors here differ from axum's in one thing: whatever is wrong becomes an [`Error`], so that the caller
//! gets a `Status` body and not bare text.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::{Error, Faults};

/// The values of the placeholders in the path.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(values) = Path::from_request_parts(parts, state).await?;
        Ok(Self(values))
    }
}

/// A body that is a JSON object, whatever its content type says. Fields it does not know are passed over, as grpc-gateway does.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let bytes = Bytes::from_request(request, state).await?;
        // Asked first, because a struct would also be read from an array of its fields.
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return Err(Error::Malformed(String::from("the body must be a JSON object")));
        }
        let Json(value) = Json::from_bytes(&bytes)?;
        Ok(Self(value))
    }
}

/// The query, with the path it belongs to.
pub(crate) struct Params {
    path: String,
    pairs: Vec<(String, String)>,
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let path = parts.uri.path().to_owned();
        let Query(pairs) = Query::from_request_parts(parts, state).await?;
        Ok(Self { path, pairs })
    }
}

impl Params {
    /// The value of a parameter; an empty one counts as left out.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub(crate) fn flag(&self, name: &str, faults: &mut Faults) -> bool {
        match self.text(name) {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                faults.add(name, format!("is `{other}`, but must be `true` or `false`"));
                false
            }
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Everything that was asked, but for the parameters named.
    pub(crate) fn without<'a>(
        &'a self,
        names: &'a [&str],
    ) -> impl Iterator<Item = &'a (String, String)> {
        self.pairs.iter().filter(|(key, _)| !names.contains(&key.as_str()))
    }

    #[cfg(test)]
    pub(crate) fn of(path: &str, pairs: &[(&str, &str)]) -> Self {
        let pairs =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { path: path.to_owned(), pairs }
    }
}
