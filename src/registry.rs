//! An allowlist compiled against its document.
//!
//! [`compile`] decides everything a tool needs once, so that a call only looks things up: names,
//! texts, schemas, hints and the [`plan`]. It is pure: equal inputs give equal bytes, in every
//! process. A toolset succeeds or fails as a whole, and says every fault at once.

pub mod check;
pub mod output;
pub mod plan;
pub mod portable;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    allowlist::Allowlist,
    config::{Limits, Policy},
    diagnostic::Diagnostic,
    openapi::{Api, OperationKey},
};
use plan::{Plan, Target};

/// An allowlist compiled against its document; the unit that succeeds or fails as a whole.
#[derive(Clone, Debug)]
pub struct Toolset {
    /// Its name: the allowlist's.
    pub name: String,
    /// The allowlist file as the user named it.
    pub file: Arc<str>,
    /// The document it was compiled against.
    pub api: Arc<Api>,
    /// Where its calls go.
    pub target: Arc<Target>,
    /// Its tools, in list order.
    pub tools: Vec<Arc<Tool>>,
    /// What was forgiven or is worth knowing.
    pub warnings: Vec<Diagnostic>,
}

/// One operation as MCP sees it. Its roots are objects, its published schemas portable, its checking
/// schema compiles, all four hints are explicit.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// Names that still answer but are not listed.
    pub aliases: Vec<ToolName>,
    /// The operation it calls.
    pub key: OperationKey,
    /// The operation's operationId, when it has one of its own.
    pub operation_id: Option<String>,
    /// The tool as `tools/list` shows it: `name`, `title`, `description`, `inputSchema`,
    /// `outputSchema`, `annotations`, `_meta`, in this order; nothing in it depends on the era.
    pub listed: Map<String, Value>,
    /// What arguments are checked against.
    pub checker: check::Checker,
    /// Everything a call needs.
    pub plan: Plan,
}

/// A tool's name: `[A-Za-z0-9_]`, 1 to 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Box<str>);

impl ToolName {
    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for ToolName {
    type Error = String;

    fn try_from(text: &str) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(allowed) {
            return Err(format!("`{text}` is no tool name; use 1 to 64 of A-Z, a-z, 0-9 and `_`"));
        }
        Ok(Self(text.into()))
    }
}

/// What a toolset is compiled with besides its document and allowlist.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is forgiven.
    pub policy: Policy,
    /// Defaults for what the allowlist does not say.
    pub limits: Limits,
    /// Where calls go, decided from flags, file and document.
    pub target: Arc<Target>,
}

/// Compiles an allowlist against its document.
///
/// # Errors
/// Every fault at once, each with its place. With [`Policy::Forgiving`], a listed operation that is not
/// in the document or cannot be called is a warning in the [`Toolset`] instead.
pub fn compile(
    api: &Arc<Api>,
    allowlist: &Allowlist,
    settings: &Settings,
) -> Result<Toolset, Vec<Diagnostic>> {
    let _ = (api, allowlist, settings);
    Err(Vec::new())
}
