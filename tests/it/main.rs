//! What toolgate promises, tested from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a test that panics says what went wrong"
)]

/// A module imports only what stands above it, and each outside crate has one owner.
mod architecture;

mod support;

/// The whole list of a few documents, byte for byte.
mod golden;

/// Every document at hand becomes tools that every client accepts.
mod corpus;

/// Requests for real operations, written down for a judge that shares no code with toolgate.
mod judge;

/// Random documents: equal bytes, plans that are whole, tools that do not touch each other.
mod property;

/// The corpus of every fuzz target, and mutations of it for as long as one likes.
mod fuzz;

/// What went wrong elsewhere and must not here, one line a case.
mod cases;

/// The memo allowlist gives exactly its seventeen tools, and none of the families it excludes.
mod selection;

/// Both eras answer on one path, with tools and nothing else.
mod protocol;

/// Arguments become the request that the document describes, over HTTP and in-process.
mod requests;

/// Whatever an upstream answers becomes an object, or an error text a model can act on.
mod results;

/// Upstreams that are away, slow, broken, hostile or behind TLS; callers that leave; tokens that guard.
mod transport;

/// Several allowlists live side by side, and flags decide where each one's calls go.
mod toolsets;

/// Credentials reach the one origin they are for; foreign pages reach nothing.
mod credentials;

/// A save changes the tools; a bad one changes nothing.
mod reload;

/// What the command line prints, and how it exits.
mod command_line;

/// Documents by URL: a dev server that restarts changes the tools, and whatever else it says nothing.
mod remote;

/// What a change breaks for callers: as a command, in the history, and told to who calls the old way.
mod differences;

/// Lines of an allowlist come and go by command; faults are the same wherever they are said.
mod allowing;

/// Everything wrong is said at once, none of it twice, and with the way out.
mod faults;

/// A person at a terminal is asked before an allowlist changes.
mod terminal;
