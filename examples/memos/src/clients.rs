//! What to type to let a client use the tools: one finished command or file each.
//!
//! The texts are made here and printed by `main`; nothing here runs a command or writes a file.

use serde_json::{Value, json};

use crate::auth::Token;

/// How to add the tools at `url` to each client. Holds the token in the clear.
#[must_use]
pub fn commands(url: &str, token: &Token) -> String {
    let header = format!("Authorization: Bearer {}", token.reveal());
    let headers = json!({ "Authorization": format!("Bearer {}", token.reveal()) });
    let vscode = json!({ "name": "memos", "type": "http", "url": url, "headers": headers });
    let entries = [
        (
            "Claude Code",
            format!("claude mcp add --transport http memos {url} --header \"{header}\""),
        ),
        ("VS Code", format!("code --add-mcp '{vscode}'")),
        ("  or in .vscode/mcp.json", vscode_file(url, &headers).to_string()),
        ("Cursor, in .cursor/mcp.json", cursor_file(url, &headers).to_string()),
        (
            "MCP Inspector",
            format!(
                "npx @modelcontextprotocol/inspector --cli {url} --transport http --header \"{header}\" --method tools/list"
            ),
        ),
    ];
    entries.map(|(client, command)| format!("{client}:\n    {command}\n")).concat()
}

fn vscode_file(url: &str, headers: &Value) -> Value {
    json!({ "servers": { "memos": { "type": "http", "url": url, "headers": headers } } })
}

fn cursor_file(url: &str, headers: &Value) -> Value {
    json!({ "mcpServers": { "memos": { "url": url, "headers": headers } } })
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
    code --add-mcp '{\"headers\":{\"Authorization\":\"Bearer memos-dev-0\"},\"name\":\"memos\",\"type\":\"http\",\"url\":\"http://127.0.0.1:5230/mcp\"}'
  or in .vscode/mcp.json:
    {\"servers\":{\"memos\":{\"headers\":{\"Authorization\":\"Bearer memos-dev-0\"},\"type\":\"http\",\"url\":\"http://127.0.0.1:5230/mcp\"}}}
Cursor, in .cursor/mcp.json:
    {\"mcpServers\":{\"memos\":{\"headers\":{\"Authorization\":\"Bearer memos-dev-0\"},\"url\":\"http://127.0.0.1:5230/mcp\"}}}
MCP Inspector:
    npx @modelcontextprotocol/inspector --cli http://127.0.0.1:5230/mcp --transport http --header \"Authorization: Bearer memos-dev-0\" --method tools/list
";
        assert_eq!(text, expected);
    }
}
