//! What is served, in one line a toolset: what every start, `check` and `tools` print.

use std::fmt::Write;

use crate::{
    diagnostic::counted,
    registry::{Toolset, plan::Upstream},
    snapshot::{Served, Snapshot},
};

/// `memos: 17 tools → http://127.0.0.1:5230/api (forwards authorization; upstream: --upstream)`, in
/// list order. A toolset that serves an older version says so first. Holds no header's value.
pub fn summary(snapshot: &Snapshot) -> Vec<String> {
    snapshot.toolsets().iter().map(line).collect()
}

fn line(served: &Served) -> String {
    let toolset = &served.toolset;
    let n_tools = toolset.tools.len();
    let n_tools = counted(n_tools, "tool");
    let stale =
        if served.refused.is_empty() { "" } else { "an older version, the newest is refused: " };
    let mut line = format!("{}: {stale}{n_tools} → {}", toolset.name, target(toolset));
    let forwarded: Vec<_> = toolset.target.forward.iter().map(|name| name.as_str()).collect();
    let forwarded = if forwarded.is_empty() { "nothing".to_owned() } else { forwarded.join(", ") };
    let from = &toolset.target.from;
    let _ = write!(
        line,
        " (forwards {forwarded}; upstream: {from}; base path: {})",
        base_from(toolset)
    );
    line
}

/// Where its calls go: the upstream and the path before every operation's.
pub fn target(toolset: &Toolset) -> String {
    let upstream = match &toolset.target.upstream {
        Upstream::Origin(origin) => origin.to_string().trim_end_matches('/').to_owned(),
        Upstream::Service => "this process".to_owned(),
    };
    format!("{upstream}{}", base_path(toolset))
}

fn base_path(toolset: &Toolset) -> &str {
    let documented = || toolset.tools.first().map(|tool| tool.plan.base_path.as_str());
    toolset.target.base_path.as_deref().or_else(documented).unwrap_or_default()
}

fn base_from(toolset: &Toolset) -> &'static str {
    match (&toolset.target.base_path, base_path(toolset)) {
        (Some(_), _) => "set",
        (None, "") => "none",
        (None, _) => "the document's",
    }
}
