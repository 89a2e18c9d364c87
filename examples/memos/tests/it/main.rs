//! The API as a client sees it: requests in, status and body out.
//!
//! - `access`: who may read and write what
//! - `memos`: write, read, change and delete memos and comments
//! - `lists`: pages, order, filter and state
//! - `parts`: attachments, reactions and relations
//! - `faults`: what a bad request is told
//! - `document`: `spec/openapi.yaml` says what the API does, and nothing else
//! - `restart`: what is there again after the program ended

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that goes wrong may end at once"
)]

mod access;
mod document;
mod faults;
mod lists;
mod memos;
mod parts;
mod restart;
mod support;
