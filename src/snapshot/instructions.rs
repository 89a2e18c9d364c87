//! What `initialize` and `server/discover` tell a model about the server.

use std::{fmt::Write, sync::Arc};

use super::Served;

/// Names each API and how many of its operations are tools. Depends on the toolsets alone.
pub(super) fn text(toolsets: &[Served]) -> Arc<str> {
    let mut text = String::from("Each tool calls one operation of an HTTP API.");
    for served in toolsets {
        let toolset = &served.toolset;
        let title = match toolset.api.title().trim() {
            "" => toolset.name.as_str(),
            title => title,
        };
        let _ = write!(text, " {title}: {} tools.", toolset.tools.len());
    }
    text.push_str(" Arguments are flat: path, query and body fields side by side. An error says what to change.");
    text.into()
}
