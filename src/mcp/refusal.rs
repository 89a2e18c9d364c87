//! A request that is answered without being served: an HTTP status and a JSON-RPC error in one value.
//!
//! Every refusal of the front layer goes through here, so that a client always finds JSON with a
//! code, whatever was wrong. An id that could not be read is left out, as the protocol has it.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use serde_json::Value;

/// The code legacy SDKs use for an unknown session.
pub(super) const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32001);

/// Why a message is not served.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    /// The HTTP status; unused on stdio.
    pub(super) status: StatusCode,
    answer: Box<JsonRpcError>,
}

impl Refusal {
    /// A refusal whose request id is not known (yet).
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        let error = ErrorData::new(code, message.into(), None);
        Self { status, answer: Box::new(JsonRpcError::new(None, error)) }
    }

    /// 400 with -32600.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST, message)
    }

    /// -32602 in an HTTP 200, which is where both eras look for the answer to a request that was read.
    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(StatusCode::OK, ErrorCode::INVALID_PARAMS, message)
    }

    /// 404 with -32601.
    pub(super) fn no_method(method: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::METHOD_NOT_FOUND, method)
    }

    /// 503, to be tried again.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::INTERNAL_ERROR, message)
    }

    /// The same as the answer to this request.
    pub(super) fn to(mut self, id: Option<RequestId>) -> Self {
        self.answer.id = id;
        self
    }

    /// The same with data for programs.
    pub(super) fn with(mut self, data: Value) -> Self {
        self.answer.error.data = Some(data);
        self
    }

    /// The JSON-RPC error.
    pub(super) fn json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.answer).expect("strings and numbers are always JSON")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
