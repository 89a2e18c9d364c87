//! A document and an allowlist to tools, without a folder and without a gateway.

use std::sync::Arc;

use toolgate::{
    allowlist,
    config::{Limits, Policy},
    diagnostic::Diagnostic,
    openapi::{self, Api, text::Text},
    registry::{
        self, Settings, Toolset,
        plan::{Target, Upstream},
    },
};

/// Calls go to a service in this process.
pub fn target() -> Target {
    Target {
        upstream: Upstream::Service,
        base_path: None,
        from: "test".into(),
        headers: Vec::new(),
        forward: Vec::new(),
        max_in_flight: 64,
    }
}

/// A document called `api.yaml`.
pub fn read(document: &str) -> Result<Arc<Api>, Vec<Diagnostic>> {
    let text = Text::new("api.yaml", document.as_bytes()).map_err(|fault| vec![fault])?;
    openapi::parse(&text).map(Arc::new)
}

/// An allowlist called `a.yaml`, compiled.
pub fn compile(
    api: &Arc<Api>,
    allowlist: &str,
    policy: Policy,
) -> Result<Toolset, Vec<Diagnostic>> {
    let text = Text::new("a.yaml", allowlist.as_bytes()).map_err(|fault| vec![fault])?;
    let allowlist = allowlist::parse("a", &text)?;
    let settings = Settings { policy, limits: Limits::default(), target: Arc::new(target()) };
    registry::compile(api, &allowlist, &settings)
}

/// Diagnostics, one a line.
pub fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}
