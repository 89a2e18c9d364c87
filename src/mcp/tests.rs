//! The edge as clients meet it: raw JSON-RPC over a real socket and over lines, no client library.
//!
//! A bench is one edge with an API in this process as its upstream; `ask` sends one request by one way
//! in, and `check` expects the same answer from all of them.

mod calls;
mod changes;
mod front;
mod memory;
mod support;

pub(super) use support::{snapshot, tool};
