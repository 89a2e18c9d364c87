//! An API with a fresh database, and short ways to call it.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use memos::Store;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) struct Api {
    router: Router,
    bearer: String,
    _folder: TempDir,
}

/// A status and the JSON body that came with it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

impl Api {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let bearer = format!("Bearer {}", store.token().reveal());
        Self { router: memos::router(store), bearer, _folder: folder }
    }

    /// Calls as the owner.
    pub(crate) async fn call(&self, operation: &str, body: &str) -> Answer {
        self.call_as(Some(&self.bearer), operation, body).await
    }

    /// Calls with this `Authorization`, or none. `operation` is a method and a path.
    pub(crate) async fn call_as(
        &self,
        authorization: Option<&str>,
        operation: &str,
        body: &str,
    ) -> Answer {
        let response =
            self.router.clone().oneshot(request(authorization, operation, body)).await.unwrap();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| panic!("{operation}: {status} is no JSON: {text}"));
        Answer { status, body }
    }

    /// Calls as the owner and returns the answer as it came.
    pub(crate) async fn raw(&self, operation: &str) -> Response {
        self.raw_as(&self.bearer, operation).await
    }

    pub(crate) async fn raw_as(&self, authorization: &str, operation: &str) -> Response {
        self.router.clone().oneshot(request(Some(authorization), operation, "")).await.unwrap()
    }

    /// Calls as the owner what must succeed.
    pub(crate) async fn ok(&self, operation: &str, body: &str) -> Value {
        let answer = self.call(operation, body).await;
        assert_eq!(answer.status, StatusCode::OK, "{operation}: {}", answer.body);
        answer.body
    }

    /// Calls as the owner what must fail with this status and code, and returns the message.
    pub(crate) async fn fails(
        &self,
        operation: &str,
        body: &str,
        status: u16,
        code: i32,
    ) -> String {
        let answer = self.call(operation, body).await;
        assert_eq!(answer.status, status, "{operation}: {}", answer.body);
        assert_eq!(answer.body["code"], code, "{operation}: {}", answer.body);
        assert!(answer.body["details"].is_array(), "{operation}: {}", answer.body);
        answer.body["message"].as_str().unwrap().to_owned()
    }
}

fn request(authorization: Option<&str>, operation: &str, body: &str) -> Request<Body> {
    let (method, uri) = operation.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(uri);
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    if !body.is_empty() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    request.body(Body::from(body.to_owned())).unwrap()
}

/// The values of one field in a list.
pub(crate) fn column(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
}
