//! A small memo API that keeps its memos in SQLite and checks its own bearer token.
//!
//! It is the example that toolgate ships with: real enough that an agent can work with it, small enough to be read
//! in one sitting. `spec/openapi.yaml` describes what it answers; nothing in here reads that file.
//!
//! ```text
//! router ─▶ api (the routes) ─▶ memo, attachment, reaction, relation (handlers and their tables) ─▶ store
//!             auth, request, page, order, filter (what a request says)      error (what every failure looks like)
//! ```
//!
//! There is one user, who owns everything, and one token, which is made at the first start and kept in the database.
//! Sign-in, users, webhooks and the like are in the document but not here: they answer 501.

mod api;
mod attachment;
mod auth;
mod choice;
pub mod clients;
mod error;
mod filter;
mod id;
mod memo;
mod order;
mod page;
mod reaction;
mod relation;
mod request;
mod store;
mod text;

pub use api::router;
pub use auth::Token;
pub use store::{OpenError, Store};

/// The one user there is.
const CREATOR: &str = "users/demo";
