//! What toolgate promises, tested from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that panics says what went wrong"
)]

/// A module imports only what stands above it, and each outside crate has one owner.
mod architecture;
