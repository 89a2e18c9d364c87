//! The edge as clients meet it: raw JSON-RPC over a real socket and over lines, no client library.
//!
//! [`Bench`] is one edge with a scripted upstream; [`Bench::ask`] sends one request by each way in, and
//! [`Bench::check`] expects the same answer from all of them.

mod calls;
mod changes;
mod front;
mod support;

pub(super) use support::{snapshot, tool};
