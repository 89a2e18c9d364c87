//! The routes: which path and method is answered by what.
//!
//! Operations that stand in the document but are not part of the example answer 501; any other path answers 404. All
//! of them answer with a `Status` body.

use axum::Router;
use axum::http::Uri;
use axum::routing::{MethodRouter, any, delete, get};

use crate::error::Error;
use crate::store::Store;
use crate::{attachment, memo, reaction, relation};

/// The API on a database. It knows nothing of MCP; a gateway may be merged with it or call it in-process.
pub fn router(store: Store) -> Router {
    let absent =
        ABSENT.iter().fold(Router::new(), |router, path| router.route(path, any(unimplemented)));
    Router::new()
        .route("/api/v1/memos", get(memo::handler::list).post(memo::handler::create))
        .route("/api/v1/memos/{memo}", one_memo())
        .route(
            "/api/v1/memos/{memo}/attachments",
            get(attachment::handler::list_of_memo).patch(attachment::handler::set),
        )
        .route(
            "/api/v1/memos/{memo}/comments",
            get(memo::handler::list_comments).post(memo::handler::create_comment),
        )
        .route("/api/v1/memos/{memo}/reactions", get(reaction::list).post(reaction::upsert))
        .route("/api/v1/memos/{memo}/reactions/{reaction}", delete(reaction::delete))
        .route("/api/v1/memos/{memo}/relations", get(relation::list).patch(relation::set))
        .route("/api/v1/attachments", get(attachment::handler::list))
        .route(
            "/api/v1/attachments/{attachment}",
            get(attachment::handler::get).delete(attachment::handler::delete),
        )
        .route("/file/attachments/{attachment}", get(attachment::handler::download))
        .merge(absent)
        .method_not_allowed_fallback(async || Error::NoMethod)
        .fallback(async |uri: Uri| Error::NoRoute(uri.path().to_owned()))
        .with_state(store)
}

/// The paths of the document that the example leaves out.
const ABSENT: [&str; 11] = [
    "/api/v1/ai:transcribe",
    "/api/v1/attachments:batchDelete",
    "/api/v1/auth/{*rest}",
    "/api/v1/identity-providers",
    "/api/v1/identity-providers/{*rest}",
    "/api/v1/instance/{*rest}",
    "/api/v1/memos/{memo}/shares",
    "/api/v1/memos/{memo}/shares/{share}",
    "/api/v1/shares/{*rest}",
    "/api/v1/users",
    "/api/v1/users/{*rest}",
];

fn one_memo() -> MethodRouter<Store> {
    get(memo::handler::get).patch(memo::handler::update).delete(memo::handler::delete)
}

async fn unimplemented() -> Error {
    Error::Unimplemented
}
