//! toolgate turns a curated part of any OpenAPI document into MCP tools, serves them at `/mcp`, and
//! swaps the whole set atomically when the document or an allowlist file changes.
//!
//! Data moves one way, and a module imports only what stands above it in the list below:
//!
//! ```text
//! files, URLs ─ source ─▶ openapi ─┐
//!                         allowlist ┴▶ registry ─▶ snapshot ─▶ mcp ─▶ clients
//!                                      registry::plan ──▶ upstream ──▲
//! ```
//!
//! In reading order:
//!
//! - [`diagnostic`]: what is wrong and where; the only place that prints a file, line and column
//! - [`config`]: flags and environment as plain values; reads no files
//! - [`source`]: every input of one pass with its digest; the file watcher
//! - [`openapi`]: text to strict value to [`openapi::Api`]; versions are ironed out here
//! - [`allowlist`]: which operations become tools, and how
//! - [`registry`]: an allowlist compiled against its document: tools, schemas, plans
//! - [`snapshot`]: the whole pipeline as one pure function, the live value, the reload loop
//! - [`upstream`]: plan and arguments to a request, a response to an answer
//! - [`mcp`]: the protocol edge
//! - [`gateway`]: the pieces put together, for the command line and for embedding
//! - [`cli`]: the subcommands

pub mod allowlist;
pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod gateway;
pub mod mcp;
pub mod openapi;
pub mod registry;
pub mod snapshot;
pub mod source;
pub mod tls;
pub mod upstream;

pub use gateway::Gateway;
