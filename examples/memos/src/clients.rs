//! What to type to let a client use the tools: one finished command or file each.
//!
//! The texts are made here and printed by `main`; nothing here runs a command or writes a file.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::auth::Token;

/// A server as the clients' files describe it, in the order they show it.
#[derive(Serialize)]
struct Server<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    url: &'a str,
    headers: BTreeMap<&'a str, &'a str>,
}

/// How to add the tools at `url` to each client. Holds the token in the clear.
#[must_use]
pub fn commands(url: &str, token: &Token) -> String {
    let bearer = format!("Bearer {}", token.reveal());
    let server = |name, kind| {
        json(&Server {
            name,
            kind,
            url,
            headers: BTreeMap::from([("Authorization", bearer.as_str())]),
        })
    };
    let http = Some("http");
    let header = format!("--header \"Authorization: {bearer}\"");
    let inspector = "npx @modelcontextprotocol/inspector@latest --cli";
    let entries = [
        ("Claude Code", format!("claude mcp add --transport http memos {url} {header}")),
        ("VS Code", format!("code --add-mcp '{}'", server(Some("memos"), http))),
        ("or in .vscode/mcp.json", format!("{{\"servers\":{{\"memos\":{}}}}}", server(None, http))),
        (
            "Cursor, in .cursor/mcp.json",
            format!("{{\"mcpServers\":{{\"memos\":{}}}}}", server(None, None)),
        ),
        (
            "MCP Inspector",
            format!("{inspector} {url} --transport http {header} --method tools/list"),
        ),
    ];
    entries.map(|(client, command)| format!("{client}:\n    {command}\n")).concat()
}

fn json(server: &Server<'_>) -> String {
    serde_json::to_string(server).expect("a struct of texts is always JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_finished_command() {
        let text = commands("http://127.0.0.1:5230/mcp", &Token::kept("memos-dev-0".to_owned()));
        let expected = "\
Claude Code:
    claude mcp add --transport http memos http://127.0.0.1:5230/mcp --header \"Authorization: Bearer memos-dev-0\"
VS Code:
    code --add-mcp '{\"name\":\"memos\",\"type\":\"http\",\"url\":\"http://127.0.0.1:5230/mcp\",\"headers\":{\"Authorization\":\"Bearer memos-dev-0\"}}'
or in .vscode/mcp.json:
    {\"servers\":{\"memos\":{\"type\":\"http\",\"url\":\"http://127.0.0.1:5230/mcp\",\"headers\":{\"Authorization\":\"Bearer memos-dev-0\"}}}}
Cursor, in .cursor/mcp.json:
    {\"mcpServers\":{\"memos\":{\"url\":\"http://127.0.0.1:5230/mcp\",\"headers\":{\"Authorization\":\"Bearer memos-dev-0\"}}}}
MCP Inspector:
    npx @modelcontextprotocol/inspector@latest --cli http://127.0.0.1:5230/mcp --transport http --header \"Authorization: Bearer memos-dev-0\" --method tools/list
";
        assert_eq!(text, expected);
    }
}
