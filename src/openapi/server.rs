//! The path in front of every path: from `servers`, or 2.0's `basePath`.
//!
//! Scheme, host and port are left out: the document never decides where calls go. Whether the path is
//! used at all is decided by who knows the upstream.

use super::{Fault, Version, node::Node};

/// The path of the first server of the innermost level that has one; no trailing slash.
pub(super) fn path(version: Version, levels: &[&Node<'_>]) -> Result<String, Fault> {
    if version == Version::V20 {
        let root = levels.last();
        let base = root.map_or(Ok(None), |root| root.text("basePath"))?;
        return Ok(normal(base.unwrap_or_default()));
    }
    for level in levels {
        if let Some(server) = level.elements("servers")?.into_iter().next() {
            return server_path(&server);
        }
    }
    Ok(String::new())
}

fn server_path(server: &Node<'_>) -> Result<String, Fault> {
    let mut url = server.text("url")?.unwrap_or_default().to_owned();
    server.mapping()?;
    for (name, variable) in server.entries("variables")? {
        let default = variable.prose("default");
        if variable.child("default").is_some() {
            url = url.replace(&format!("{{{name}}}"), &default);
        }
    }
    let path = path_of(&url);
    if path.contains('{') {
        return Err(server.fault(format!("server `{url}` has a variable without a default")));
    }
    Ok(normal(path))
}

/// Without scheme and host.
fn path_of(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("//") else { return url };
    if !scheme.is_empty() && !scheme.ends_with(':') {
        return url;
    }
    rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or_default()
}

/// Percent-encoded, dots resolved, no query, no trailing slash.
fn normal(path: &str) -> String {
    let base = url::Url::parse("http://host/")
        .and_then(|base| base.join(&format!("./{}", path.trim_start_matches('/'))));
    base.map_or_else(|_| String::new(), |url| url.path().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(server: &Value, expected: &str) {
        let root = json!({"servers": [server]});
        let path = path(Version::V30, &[&Node::root(&root)]);
        assert_eq!(path.unwrap_or_else(|fault| fault.words), expected);
    }

    #[test]
    fn only_the_path_is_kept() {
        check(&json!({"url": "https://api.test/v1/"}), "/v1");
        check(&json!({"url": "https://api.test"}), "");
        check(&json!({"url": "https://api.test:8080/a b/c?d#e"}), "/a%20b/c");
        check(&json!({"url": "//api.test/v1"}), "/v1");
        check(&json!({"url": "/"}), "");
        check(&json!({"url": "/v1"}), "/v1");
        check(&json!({"url": "./v1/../v2"}), "/v2");
        check(&json!({"url": "v1"}), "/v1");
        check(&json!({"url": ""}), "");
        check(&json!({}), "");
    }

    #[test]
    fn variables_take_their_defaults() {
        let variables = json!({"base": {"default": "v2"}, "port": {"enum": ["1"], "default": 443}});
        check(&json!({"url": "https://{host}:{port}/{base}", "variables": variables}), "/v2");
        let whole = json!({"server": {"default": "https://api.test/v3"}});
        check(&json!({"url": "{server}/a", "variables": whole}), "/v3/a");
        check(
            &json!({"url": "https://a.test/{v}"}),
            "server `https://a.test/{v}` has a variable without a default",
        );
    }

    #[test]
    fn the_innermost_level_with_servers_wins() {
        let servers = |url: &str| json!({"servers": [{"url": url}]});
        let (operation, item, root) = (json!({}), servers("/item"), servers("/root"));
        let levels = [&operation, &item, &root].map(Node::root);
        let levels = levels.each_ref();
        assert_eq!(path(Version::V31, &levels), Ok("/item".into()));
        let base = json!({"basePath": "/api/", "host": "elsewhere.test"});
        assert_eq!(path(Version::V20, &[&Node::root(&base)]), Ok("/api".into()));
    }
}
