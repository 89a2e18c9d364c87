//! What each fuzz target does with its bytes. The tests replay the corpus through the same functions.

#![allow(dead_code, reason = "each fuzz target calls one of them")]

use std::sync::Arc;

use toolgate::{
    allowlist,
    config::{Limits, Policy},
    openapi::{self, Api, text::Text},
    registry::{
        self, Settings,
        plan::{Target, Upstream},
    },
};

/// Any bytes as a document: read, located, and made into tools as far as they go.
pub fn document(bytes: &[u8]) {
    let Ok(text) = Text::new("api", bytes) else { return };
    let Ok(api) = openapi::parse(&text) else { return };
    let faults = api.operations().iter().filter_map(|one| api.details(one, None).err()).flatten();
    let faults: Vec<_> = faults.collect();
    drop(api.diagnostics(&faults));
    compile(&Arc::new(api), b"tools: ['* /*']");
}

/// Any bytes as an allowlist: read, and held against a small document.
pub fn allowlist(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        drop(allowlist::references(text));
    }
    let text = Text::new("api.yaml", include_bytes!("corpus/document/v30.yaml"));
    let api = text.and_then(|text| openapi::parse(&text).map_err(|mut all| all.remove(0)));
    compile(&Arc::new(api.expect("a document of our own")), bytes);
}

fn compile(api: &Arc<Api>, allowlist: &[u8]) {
    let Ok(text) = Text::new("a.yaml", allowlist) else { return };
    let Ok(allowlist) = allowlist::parse("a", &text) else { return };
    let target = Target {
        upstream: Upstream::Service,
        base_path: None,
        from: "fuzz".into(),
        headers: Vec::new(),
        forward: Vec::new(),
        max_in_flight: 1,
    };
    let target = Arc::new(target);
    let settings = Settings { policy: Policy::Forgiving, limits: Limits::default(), target };
    drop(registry::compile(api, &allowlist, &settings));
}
