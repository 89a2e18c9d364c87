//! Flags and environment as plain values, decided once and passed on.
//!
//! Nothing here reads a file or touches the network: [`Inputs`] says what to read, [`Limits`] what
//! to stop at, [`Policy`] what to forgive. The command line fills these in; an embedding service
//! fills them in through its builder.

pub mod unit;
pub mod url;

use std::{path::PathBuf, time::Duration};

/// What happens to a listed operation that left the document or cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `serve`: it refuses the toolset's new version.
    Strict,
    /// `dev`: it drops out with a warning while the others move on.
    Forgiving,
}

/// Everything that decides which tools are built; equal inputs and equal files give equal tools.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The allowlist folder or file, as the user named it; `None` when only `allow` decides.
    pub allowlists: Option<PathBuf>,
    /// Selectors of `--allow`: an allowlist on the command line.
    pub allow: Vec<String>,
    /// `--document`: replaces the document of every toolset, or of the one named.
    pub documents: Vec<Override>,
    /// `--upstream`: replaces the upstream of every toolset, or of the one named.
    pub upstreams: Vec<Override>,
    /// Calls go to a service in this process, so an `upstream` is an error.
    pub in_process: bool,
    /// What is forgiven.
    pub policy: Policy,
    /// Start with, and stay with, whatever is good, even nothing yet.
    pub keep_going: bool,
    /// What to stop at.
    pub limits: Limits,
}

/// A value of the command line for every toolset, or for the one it names (`NAME=VALUE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The toolset it is for; `None` means all.
    pub toolset: Option<String>,
    /// The user's own text.
    pub value: String,
}

/// Every bound, with the defaults of the documentation; `--limit NAME=VALUE` sets one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one request body.
    pub request_body: usize,
    /// Time until a request's headers are complete.
    pub header_time: Duration,
    /// Time until a request's body is complete.
    pub body_time: Duration,
    /// Connections at once; `None` derives it from the descriptor limit.
    pub connections: Option<usize>,
    /// Legacy sessions at once.
    pub sessions: usize,
    /// Listen streams at once.
    pub streams: usize,
    /// Listen streams of one session.
    pub session_streams: usize,
    /// Calls in flight over all upstreams.
    pub calls: usize,
    /// Calls in flight to one upstream, when the allowlist does not say.
    pub upstream_calls: usize,
    /// Bytes of one page of `tools/list`.
    pub list_page: usize,
    /// Nesting of one call's arguments.
    pub argument_depth: usize,
    /// Bytes of one string in the arguments.
    pub argument_string: usize,
    /// Bytes of a request's path and query.
    pub url: usize,
    /// Decoded bytes of one reply, when the allowlist does not say.
    pub reply: usize,
    /// Time of one call, when the allowlist does not say.
    pub call_time: Duration,
    /// Swaps kept in the history.
    pub history: usize,
    /// Swaps for which the names of removed tools are remembered.
    pub removed_names: usize,
    /// Bytes of a document.
    pub document: usize,
    /// Bytes of an allowlist file.
    pub allowlist: usize,
    /// Allowlist files in the folder.
    pub allowlist_files: usize,
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_body: 4 * MIB,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            connections: None,
            sessions: 1_000,
            streams: 2_000,
            session_streams: 8,
            calls: 256,
            upstream_calls: 64,
            list_page: 4 * MIB,
            argument_depth: 64,
            argument_string: MIB,
            url: 8 * KIB,
            reply: 128 * KIB,
            call_time: Duration::from_secs(30),
            history: 50,
            removed_names: 10,
            document: 32_000_000,
            allowlist: 1_000_000,
            allowlist_files: 256,
        }
    }
}
