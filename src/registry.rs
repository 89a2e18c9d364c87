//! An allowlist compiled against its document.
//!
//! [`compile`] decides everything a tool needs once, so that a call only looks things up: names,
//! texts, schemas, hints and the [`plan`]. It is pure: equal inputs give equal bytes, in every
//! process. A toolset succeeds or fails as a whole, and says every fault at once.

pub mod check;
pub mod output;
pub mod plan;
pub mod portable;

mod alias;
mod bundle;
mod changes;
mod clash;
mod draft;
mod hints;
mod input;
mod media;
mod name;
mod near;
mod object;
mod path;
mod place;
#[cfg(test)]
mod sample;
mod select;
mod text;
mod view;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    allowlist::Allowlist,
    config::{Limits, Policy},
    diagnostic::{Diagnostic, Severity, quote},
    openapi::{Api, Fault, OperationKey},
};
use bundle::Bundle;
use draft::{Draft, Workshop};
use plan::{Plan, Target};
use select::{Pick, Selection};
use view::View;

/// An allowlist compiled against its document; the unit that succeeds or fails as a whole.
#[derive(Debug)]
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
    let resolve = |reference: &str| api.schema(reference);
    let view = View::new(&resolve);
    let workshop = Workshop { api, allowlist, settings, view: &view };
    let Selection { picks, errors, warnings, .. } = select::select(api, allowlist, settings.policy);
    let mut found = Findings { errors, warnings };
    let mut bundle = Bundle::new(&view);
    let mut drafts = Vec::new();
    for pick in &picks {
        match Draft::build(pick, &workshop, &mut bundle) {
            Ok(draft) => drafts.push(draft),
            Err(refusal) => found.refused(refusal, pick, &workshop),
        }
        found.remark(pick, &workshop, bundle.take_unfit_patterns());
    }
    found.errors.extend(clash::find(&drafts));
    let tools = finish(drafts, bundle, &workshop, &mut found);
    if !found.errors.is_empty() {
        return Err(found.errors);
    }
    Ok(Toolset {
        name: allowlist.name.clone(),
        file: allowlist.file.clone(),
        api: api.clone(),
        target: settings.target.clone(),
        tools,
        warnings: found.warnings,
    })
}

fn finish(
    drafts: Vec<Draft<'_>>,
    bundle: Bundle<'_>,
    workshop: &Workshop<'_>,
    found: &mut Findings,
) -> Vec<Arc<Tool>> {
    let sealed = match bundle.seal() {
        Ok(sealed) => sealed,
        Err(words) => {
            found.errors.push(Diagnostic::error(words));
            return Vec::new();
        }
    };
    let mut tools = Vec::new();
    for draft in drafts {
        let pick = draft.pick.clone();
        match draft.finish(&sealed, workshop) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(refusal) => found.refused(refusal, &pick, workshop),
        }
    }
    tools
}

/// Why an operation is no tool.
#[derive(Debug)]
enum Refusal {
    /// No call of it can be made.
    Uncallable(Vec<Fault>),
    /// A part of the document is missing.
    Torn(Vec<Fault>),
    /// Its allowlist entry asks for what cannot be.
    Allowlist(Vec<Diagnostic>),
}

/// What a build has found so far.
struct Findings {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Findings {
    /// An operation that is no tool: an error, unless it was picked among others, or the policy
    /// forgives that it cannot be called.
    fn refused(&mut self, refusal: Refusal, pick: &Pick<'_>, workshop: &Workshop<'_>) {
        let forgiven = !pick.is_named() || workshop.settings.policy == Policy::Forgiving;
        let (faults, severity) = match refusal {
            Refusal::Allowlist(faults) => return self.errors.extend(faults),
            Refusal::Torn(faults) => (faults, Severity::Error),
            Refusal::Uncallable(faults) if forgiven => (faults, Severity::Warning),
            Refusal::Uncallable(faults) => (faults, Severity::Error),
        };
        let what = if severity == Severity::Warning { " is left out" } else { "" };
        let list = match severity {
            Severity::Warning => &mut self.warnings,
            Severity::Error => &mut self.errors,
        };
        for fault in workshop.api.diagnostics(&faults) {
            let message = format!("`{}`{what}: {}", pick.operation.key, fault.message);
            list.push(Diagnostic { severity, message, ..fault });
        }
    }

    /// What is worth knowing of an operation that is a tool.
    fn remark(&mut self, pick: &Pick<'_>, workshop: &Workshop<'_>, patterns: Vec<String>) {
        let operation = pick.operation;
        let key = &operation.key;
        for pattern in patterns {
            let words = format!("pattern {} cannot be read and is not checked", quote(&pattern));
            let fault = Fault { pointer: operation.pointer.clone(), words };
            let located = workshop.api.diagnostics(&[fault]).into_iter();
            self.warnings.extend(located.map(|d| Diagnostic { severity: Severity::Warning, ..d }));
        }
        if let Some(id) = operation.id.as_ref().filter(|_| operation.shared_id && !pick.is_named())
        {
            let words = format!(
                "operationId {} is shared by several operations, so `{key}` is named after its path",
                quote(id)
            );
            self.warnings.push(Diagnostic::warning(words).at(pick.position()));
        }
        let long = pick.changes().name.as_ref().filter(|name| name.value.len() > name::DERIVED);
        if let Some(name) = long {
            let words = format!(
                "`{}` has {} characters; some clients cut names over {}",
                name.value,
                name.value.len(),
                name::DERIVED
            );
            self.warnings.push(Diagnostic::warning(words).at(name.position.clone()));
        }
    }
}
