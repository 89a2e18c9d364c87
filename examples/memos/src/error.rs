//! What a failed call looks like: a `Status` body as grpc-gateway writes it.
//!
//! Every failure of the API is an [`Error`], so that no answer is ever bare text. Faults in arguments are collected
//! in [`Faults`] and reported together. The cause of an internal error goes to stderr and never to the caller.

use std::fmt::Write as _;

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a call failed. Its text is what the caller reads.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}", sentence(.0))]
    Fields(Vec<Violation>),
    #[error("{0}")]
    Malformed(String),
    #[error("{0}")]
    Precondition(String),
    #[error("{0}")]
    Unauthenticated(&'static str),
    #[error("`{0}` does not exist")]
    Missing(String),
    #[error("`{0}` is taken; choose another id or leave it out")]
    Taken(String),
    #[error("no operation has the path `{0}`")]
    NoRoute(String),
    #[error("the path has no such method")]
    NoMethod,
    #[error("this operation is not part of the example")]
    Unimplemented,
    #[error("internal error")]
    Internal(#[source] Cause),
}

/// One fault in the arguments: which field, and what is wrong with it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Violation {
    pub(crate) field: String,
    pub(crate) description: String,
}

#[derive(Serialize)]
struct Status {
    code: i32,
    message: String,
    details: Value,
}

/// The faults found so far in one request.
#[derive(Default)]
pub(crate) struct Faults(Vec<Violation>);

impl Faults {
    pub(crate) fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.0.push(Violation { field: field.into(), description: description.into() });
    }

    /// Fails with all faults when there are any.
    pub(crate) fn check(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Fields(self.0)) }
    }
}

impl Error {
    pub(crate) fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    pub(crate) fn field(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::Fields(vec![Violation { field: field.into(), description: description.into() }])
    }

    /// The HTTP status and the gRPC code that stand for this kind of failure.
    fn codes(&self) -> (StatusCode, i32) {
        match self {
            Self::Fields(_) | Self::Malformed(_) => (StatusCode::BAD_REQUEST, 3),
            Self::Precondition(_) => (StatusCode::BAD_REQUEST, 9),
            Self::Unauthenticated(_) => (StatusCode::UNAUTHORIZED, 16),
            Self::Missing(_) | Self::NoRoute(_) => (StatusCode::NOT_FOUND, 5),
            Self::Taken(_) => (StatusCode::CONFLICT, 6),
            Self::NoMethod => (StatusCode::METHOD_NOT_ALLOWED, 12),
            Self::Unimplemented => (StatusCode::NOT_IMPLEMENTED, 12),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, 13),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Fields(violations) => json!([{
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations,
            }]),
            _ => json!([]),
        }
    }
}

fn sentence(violations: &[Violation]) -> String {
    let mut text = String::from("invalid argument");
    for (at, Violation { field, description }) in violations.iter().enumerate() {
        let before = if at == 0 { ":" } else { ";" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before} `{field}` {description}");
    }
    text
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        if let Self::Internal(cause) = &self {
            eprintln!("memos: internal error: {cause}");
        }
        let (status, code) = self.codes();
        let body = Status { code, message: self.to_string(), details: self.details() };
        let response = (status, Json(body)).into_response();
        if status == StatusCode::UNAUTHORIZED {
            return ([(header::WWW_AUTHENTICATE, "Bearer")], response).into_response();
        }
        response
    }
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Self::internal(cause)
    }
}

impl From<BytesRejection> for Error {
    fn from(rejection: BytesRejection) -> Self {
        Self::Malformed(rejection.body_text())
    }
}

impl From<JsonRejection> for Error {
    fn from(rejection: JsonRejection) -> Self {
        Self::Malformed(rejection.body_text())
    }
}

impl From<PathRejection> for Error {
    fn from(rejection: PathRejection) -> Self {
        Self::Malformed(rejection.body_text())
    }
}

impl From<QueryRejection> for Error {
    fn from(rejection: QueryRejection) -> Self {
        Self::Malformed(rejection.body_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_reported_at_once() {
        let mut faults = Faults::default();
        faults.add("content", "is needed");
        faults.add("pageSize", "is no number");
        let error = faults.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid argument: `content` is needed; `pageSize` is no number"
        );
        assert_eq!(error.details()[0]["fieldViolations"][1]["field"], "pageSize");
    }

    #[test]
    fn no_fault_is_no_error() {
        assert!(Faults::default().check().is_ok());
    }

    #[test]
    fn the_cause_of_an_internal_error_is_not_told() {
        let error = Error::internal("disk is full");
        assert_eq!(error.to_string(), "internal error");
        assert_eq!(error.codes(), (StatusCode::INTERNAL_SERVER_ERROR, 13));
    }
}
