use axum::body::Body;
use axum::http::{Request, header};
use memos::Store;
use tower::ServiceExt as _;

/// One run of the program: opens the folder, makes a call with this token, and ends.
async fn run(
    folder: &std::path::Path,
    token: Option<&str>,
    method: &str,
    uri: &str,
    body: &str,
) -> (u16, String) {
    let store = Store::open(folder).unwrap();
    let token = token.map_or_else(|| store.token().reveal().to_owned(), str::to_owned);
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::from(body.to_owned()));
    let response = memos::router(store).oneshot(request.unwrap()).await.unwrap();
    (response.status().as_u16(), token)
}

#[tokio::test]
async fn token_and_memos_survive() {
    let folder = tempfile::tempdir().unwrap();
    let (status, token) =
        run(folder.path(), None, "POST", "/api/v1/memos?memoId=kept", r#"{"content": "a"}"#).await;
    assert_eq!(status, 200);
    assert!(token.starts_with("memos-dev-"), "{token}");
    let (status, _) = run(folder.path(), Some(&token), "DELETE", "/api/v1/memos/welcome", "").await;
    assert_eq!(status, 200);
    assert_eq!(run(folder.path(), Some(&token), "GET", "/api/v1/memos/kept", "").await.0, 200);
    assert_eq!(run(folder.path(), Some(&token), "GET", "/api/v1/memos/welcome", "").await.0, 404);
    assert_eq!(
        run(folder.path(), Some("memos-dev-0"), "GET", "/api/v1/memos/kept", "").await.0,
        401
    );
}
