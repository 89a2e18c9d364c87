//! Flags and environment as plain values, decided once and passed on.
//!
//! Nothing here reads a file or touches the network: [`Inputs`] says what to read, [`Limits`] what
//! to stop at, [`Policy`] what to forgive, [`Serving`] where to be reached. The command line fills
//! these in; an embedding service fills them in through its builder. Texts that people type in both
//! places and in allowlist files (sizes, durations, URLs) are read here alone.

pub mod limit;
mod serving;
pub mod unit;
pub mod url;

use std::{path::PathBuf, time::Duration};

pub use limit::Limits;
pub use serving::{Audience, Http, LISTEN, LogFormat, Serving, listen};

use crate::diagnostic::{Diagnostic, quote};

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
    /// Certificates that are trusted beside the system's, over HTTPS to upstreams and documents.
    pub ca_file: Option<PathBuf>,
    /// Calls go to a service in this process, so an `upstream` is an error.
    pub in_process: bool,
    /// Who can call; decides whether a toolset may send a credential of its own.
    pub audience: Audience,
    /// What is forgiven.
    pub policy: Policy,
    /// Start with, and stay with, whatever is good, even nothing yet.
    pub keep_going: bool,
    /// What to stop at.
    pub limits: Limits,
}

/// Everything a server is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// What decides the tools.
    pub inputs: Inputs,
    /// How clients reach them.
    pub serving: Serving,
    /// Whether changed files are noticed; off, only a signal reads them again.
    pub watch: bool,
    /// The moment without a change before files are read.
    pub quiet: Duration,
}

/// A value of the command line for every toolset, or for the one it names (`NAME=VALUE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The toolset it is for; `None` means all.
    pub toolset: Option<String>,
    /// The user's own text.
    pub value: String,
}

impl Override {
    /// Reads `VALUE` or `NAME=VALUE`. A name is letters, digits, `_` and `-`, so the `=` of a URL's query
    /// is never taken for one; a file `a=b.yaml` is written `./a=b.yaml`.
    ///
    /// # Errors
    /// When the value is empty.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let name = |name: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            !name.is_empty() && name.bytes().all(allowed)
        };
        let (toolset, value) = match text.split_once('=') {
            Some((toolset, value)) if name(toolset) => (Some(toolset.to_owned()), value),
            _ => (None, text),
        };
        if value.trim().is_empty() {
            return Err(Diagnostic::error(format!("{} has no value", quote(text))));
        }
        Ok(Self { toolset, value: value.to_owned() })
    }

    /// The one for a toolset: its own before the one for all, the last one given before the earlier.
    pub fn of<'a>(overrides: &'a [Self], toolset: &str) -> Option<&'a Self> {
        let last = |wanted: Option<&str>| {
            overrides.iter().rfind(|value| value.toolset.as_deref() == wanted)
        };
        last(Some(toolset)).or_else(|| last(None))
    }
}

impl Inputs {
    /// No allowlist, no document, default limits: what the command line and the builder start from.
    pub fn new(policy: Policy) -> Self {
        Self {
            allowlists: None,
            allow: Vec::new(),
            documents: Vec::new(),
            upstreams: Vec::new(),
            ca_file: None,
            in_process: false,
            audience: Audience::Known,
            policy,
            // A document under development is often not there yet.
            keep_going: policy == Policy::Forgiving,
            limits: Limits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_word_before_the_equals_sign_is_a_toolset() {
        let check = |text: &str, toolset: Option<&str>, value: &str| {
            let expected =
                Override { toolset: toolset.map(str::to_owned), value: value.to_owned() };
            assert_eq!(Override::parse(text), Ok(expected), "{text}");
        };
        check("http://host", None, "http://host");
        check("memos=http://host", Some("memos"), "http://host");
        check("my-api_2=http://host/?a=b", Some("my-api_2"), "http://host/?a=b");
        check("http://host/?a=b", None, "http://host/?a=b");
        check("http://host/a=b", None, "http://host/a=b");
        check("host:80/?a=b", None, "host:80/?a=b");
        check("./a=b.yaml", None, "./a=b.yaml");
        check("spec.v1=a", None, "spec.v1=a");
        check("=http://host", None, "=http://host");
    }

    #[test]
    fn an_override_needs_a_value() {
        for text in ["", " ", "memos=", "memos= "] {
            let fault = Override::parse(text).unwrap_err();
            assert_eq!(fault.message, format!("`{text}` has no value"));
        }
    }

    #[test]
    fn forgiving_inputs_keep_going() {
        assert!(Inputs::new(Policy::Forgiving).keep_going);
        assert!(!Inputs::new(Policy::Strict).keep_going);
    }
}
