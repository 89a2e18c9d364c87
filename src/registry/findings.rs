//! What a build finds wrong, and whether it refuses the toolset.
//!
//! Faults of the document are located all at once at the end, since each look for places reads the
//! whole text again.

use super::{name, select::Pick};
use crate::{
    config::Policy,
    diagnostic::{Diagnostic, Severity, quote},
    openapi::{Api, Fault},
};

/// Why an operation is no tool.
#[derive(Debug)]
pub(super) enum Refusal {
    /// No call of it can be made.
    Uncallable(Vec<Fault>),
    /// A part of the document is missing.
    Torn(Vec<Fault>),
    /// Its allowlist entry asks for what cannot be.
    Allowlist(Vec<Diagnostic>),
}

impl Refusal {
    /// One construct that cannot be called.
    pub(super) fn fault(fault: Fault) -> Self {
        Self::Uncallable(vec![fault])
    }

    /// What the document's own reading refused.
    pub(super) fn from_api(api: &Api, faults: Vec<Fault>) -> Self {
        if faults.iter().any(|fault| is_torn(api, fault)) {
            Self::Torn(faults)
        } else {
            Self::Uncallable(faults)
        }
    }
}

/// Whether a fault stands at a reference into the document itself: its target is missing, as in a
/// document that is only half written.
fn is_torn(api: &Api, fault: &Fault) -> bool {
    let node = api.raw().pointer(&fault.pointer);
    let reference = node.and_then(|node| node.as_str().or_else(|| node.get("$ref")?.as_str()));
    reference.is_some_and(|reference| reference.starts_with('#'))
}

/// What a build has found so far.
pub(super) struct Findings<'a> {
    api: &'a Api,
    policy: Policy,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Without their places yet.
    faults: Vec<(Severity, Fault)>,
}

impl<'a> Findings<'a> {
    /// What the selection found.
    pub(super) fn new(
        api: &'a Api,
        policy: Policy,
        errors: Vec<Diagnostic>,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        Self { api, policy, errors, warnings, faults: Vec::new() }
    }

    /// An operation that is no tool: an error, unless it was picked among others or the policy
    /// forgives that it cannot be called. A torn document is never forgiven.
    pub(super) fn refused(&mut self, pick: &Pick<'_>, refusal: Refusal) {
        let is_forgiven = !pick.is_named() || self.policy == Policy::Forgiving;
        let (faults, severity) = match refusal {
            Refusal::Allowlist(faults) => return self.errors.extend(faults),
            Refusal::Torn(faults) => (faults, Severity::Error),
            Refusal::Uncallable(faults) if is_forgiven => (faults, Severity::Warning),
            Refusal::Uncallable(faults) => (faults, Severity::Error),
        };
        let what = if severity == Severity::Warning { " is left out" } else { "" };
        for Fault { pointer, words } in faults {
            let words = format!("`{}`{what}: {words}", pick.operation.key);
            self.faults.push((severity, Fault { pointer, words }));
        }
    }

    /// Two tools of one name.
    pub(super) fn clashes(&mut self, clashes: Vec<Diagnostic>) {
        self.errors.extend(clashes);
    }

    /// A fault of the whole toolset, in words.
    pub(super) fn broken(&mut self, words: &str) {
        self.faults
            .push((Severity::Error, Fault { pointer: String::new(), words: words.to_owned() }));
    }

    /// What a finished tool breaks: a fault of the code above, which no policy forgives.
    pub(super) fn unfit(&mut self, pick: &Pick<'_>, faults: Vec<String>) {
        for fault in faults {
            let words = format!(
                "`{}` became a tool that some clients refuse: {fault}; this is a fault of toolgate's \
                 own: please report it, and `deny` the operation until it is mended",
                pick.operation.key
            );
            let pointer = pick.operation.pointer.clone();
            self.faults.push((Severity::Error, Fault { pointer, words }));
        }
    }

    /// What is worth knowing of an operation.
    pub(super) fn remark(&mut self, pick: &Pick<'_>, unfit_patterns: Vec<String>) {
        let operation = pick.operation;
        for pattern in unfit_patterns {
            let words = format!("pattern {} cannot be read and is not checked", quote(&pattern));
            let pointer = operation.pointer.clone();
            self.faults.push((Severity::Warning, Fault { pointer, words }));
        }
        if let Some(id) = operation.id.as_ref().filter(|_| operation.shared_id && !pick.is_named())
        {
            let words = format!(
                "several operations have the operationId {}, so `{}` is named after its path",
                quote(id),
                operation.key
            );
            let pointer = operation.pointer.clone();
            self.faults.push((Severity::Warning, Fault { pointer, words }));
        }
        let long = pick.changes().name.as_ref().filter(|name| name.value.len() > name::DERIVED);
        if let Some(name) = long {
            let words = format!("`{}` is longer than {} characters", name.value, name::DERIVED);
            let warning = Diagnostic::warning(words).at(name.position.clone());
            self.warnings.push(warning.help("some clients cut or refuse longer names"));
        }
    }

    /// The warnings of a sound toolset.
    ///
    /// # Errors
    /// Every error, those of the allowlist first.
    pub(super) fn settle(mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        // Errors first: only so many faults get a place.
        self.faults.sort_by_key(|(severity, _)| *severity == Severity::Warning);
        let (severities, faults): (Vec<Severity>, Vec<Fault>) = self.faults.into_iter().unzip();
        for (severity, found) in severities.into_iter().zip(self.api.diagnostics(&faults)) {
            match severity {
                Severity::Error => self.errors.push(found),
                Severity::Warning => self.warnings.push(Diagnostic { severity, ..found }),
            }
        }
        if self.errors.is_empty() { Ok(self.warnings) } else { Err(self.errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        allowlist,
        openapi::{self, text::Text},
        registry::select,
    };

    #[test]
    fn a_tool_that_breaks_the_profile_refuses_its_toolset_under_every_policy() {
        let text = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n  /a:\n    get: {responses: {}}\n";
        let api = openapi::parse(&Text::new("api.yaml", text.as_bytes()).unwrap()).unwrap();
        let text = Text::new("a.yaml", b"tools: ['* /*']").unwrap();
        let allowlist = allowlist::parse("a", &text).unwrap();
        let pick = &select::select(&api, &allowlist, Policy::Forgiving).picks[0];
        let mut findings = Findings::new(&api, Policy::Forgiving, Vec::new(), Vec::new());
        findings.unfit(pick, Vec::new());
        findings.unfit(pick, vec!["`inputSchema`: the root is no object".into()]);
        let errors = findings.settle().unwrap_err();
        assert_eq!(errors.len(), 1);
        let shown = errors[0].to_string();
        assert!(shown.starts_with("api.yaml:5:5: error: `GET /a` became a tool"), "{shown}");
        assert!(shown.contains("a fault of toolgate's own"), "{shown}");
    }
}
