//! The fixture: one document and one allowlist in numbered versions, and what a snapshot shows of them.
//!
//! A version stands in every description, in the schema every operation refers to, and at the end of the
//! document, so that no mixture and no part of it can be taken for a whole.

use std::collections::BTreeSet;

use toolgate::snapshot::Snapshot;

/// Operations of a document.
pub const OPERATIONS: usize = 12;

/// Picks everything, so that a document that lost a part would still be one.
pub const ALL: &str = "tools:\n  - GET *\n";

/// A document, paths before what they refer to.
pub fn document(version: u32) -> String {
    sized(version, OPERATIONS)
}

/// The same with so many operations.
pub fn sized(version: u32, operations: usize) -> String {
    let path = |n| {
        format!(
            "  /op{n}:\n    get:\n      operationId: op{n}\n      description: 'version {version}.'\n      responses:\n        '200':\n          description: ok\n          content:\n            application/json:\n              schema: {{$ref: '#/components/schemas/S{n}v{version}'}}\n"
        )
    };
    let schema = |n| {
        format!(
            "    S{n}v{version}:\n      type: object\n      properties:\n        x{n}: {{type: string, description: 'version {version}.'}}\n"
        )
    };
    let paths: String = (0..operations).map(path).collect();
    let schemas: String = (0..operations).map(schema).collect();
    format!(
        "openapi: 3.0.3\ninfo: {{title: t, version: '{version}'}}\npaths:\n{paths}components:\n  schemas:\n{schemas}"
    )
}

/// An allowlist whose version is the prefix of every name.
pub fn allowlist(version: u32) -> String {
    format!("prefix: p{version}_\n{ALL}")
}

/// What is live, a word a toolset: `api=2*12` is version 2 of the document with 12 tools,
/// `api=p3/2*12` the same under version 3 of the allowlist. A mixture shows all it is made of.
pub fn shown(snapshot: &Snapshot) -> String {
    let toolset = |served: &toolgate::snapshot::Served| {
        let tools = &served.toolset.tools;
        let mut versions = BTreeSet::new();
        let mut prefixes = BTreeSet::new();
        for tool in tools {
            let text = serde_json::Value::Object(tool.listed.clone()).to_string();
            versions.extend(text.split("version ").skip(1).map(digits));
            prefixes
                .extend(tool.name.as_str().split_once('_').map(|(prefix, _)| format!("{prefix}/")));
        }
        let join = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join("+");
        format!("{}={}{}*{}", served.toolset.name, join(prefixes), join(versions), tools.len())
    };
    snapshot.toolsets().iter().map(toolset).collect::<Vec<_>>().join(" ")
}

fn digits(text: &str) -> String {
    text.chars().take_while(char::is_ascii_digit).collect()
}

/// The same of the tools of a `tools/list`, without toolsets: `2*12`.
pub fn shown_list(tools: &[serde_json::Value]) -> String {
    let versions: BTreeSet<_> = tools
        .iter()
        .flat_map(|tool| tool.to_string().split("version ").skip(1).map(digits).collect::<Vec<_>>())
        .collect();
    format!("{}*{}", versions.into_iter().collect::<Vec<_>>().join("+"), tools.len())
}
