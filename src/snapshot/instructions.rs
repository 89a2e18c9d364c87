//! What `initialize` and `server/discover` tell a model about the server.

use std::sync::Arc;

use super::Served;

/// How every tool of every toolset works.
const TOOLS: &str =
    "Arguments are flat: path, query and body fields side by side. An error says what to change.";

/// A paragraph a toolset, then how tools work. Depends on the toolsets alone.
pub(super) fn text(toolsets: &[Served]) -> Arc<str> {
    let paragraphs = toolsets.iter().map(|served| served.toolset.instructions.as_str());
    paragraphs.chain([TOOLS]).collect::<Vec<_>>().join("\n\n").into()
}
