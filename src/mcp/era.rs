//! Which of the two protocol eras a message belongs to, decided once and passed on.
//!
//! A request is judged by itself: `initialize` is legacy, a request with the version key in `_meta`
//! (or `server/discover`, which is nothing else) is modern, and where the body says nothing the
//! version header does. Then the era's own rules for versions hold. No other place compares dates.

use http::{HeaderMap, StatusCode};
use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::json;

use super::{
    message::{Kind, Message},
    refusal::Refusal,
};

/// The header that names the protocol version.
pub(super) const VERSION_HEADER: &str = "mcp-protocol-version";

/// Everything this server speaks, oldest first. 2025-03-26 is left out: it would promise batches.
pub(super) const SUPPORTED: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Legacy means sessions, modern means `_meta` in every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// 2025-06-18 and 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

impl Era {
    /// The era of a message with these headers; stdio has none.
    pub(super) fn of(message: &Message, headers: &HeaderMap) -> Self {
        if message.method == "initialize" {
            return Self::Legacy;
        }
        match &message.version {
            Some(version) if is_modern(version) => Self::Modern,
            _ if message.method == "server/discover" => Self::Modern,
            Some(_) => Self::Legacy,
            None => Self::of_headers(headers),
        }
    }

    /// The era of a request without a body.
    pub(super) fn of_headers(headers: &HeaderMap) -> Self {
        match header(headers) {
            Some(version) if is_modern(version) => Self::Modern,
            _ => Self::Legacy,
        }
    }
}

/// Whether the version rules of a modern request over HTTP hold.
pub(super) fn check_modern(message: &Message, headers: &HeaderMap) -> Result<(), Refusal> {
    let in_header = header(headers);
    if let Some(version) = message.version.as_deref()
        && in_header != Some(version)
    {
        return Err(mismatch(in_header, version));
    }
    if let Some(version) = in_header
        && !is_supported(version)
    {
        return Err(unsupported(version));
    }
    if matches!(message.kind, Kind::Request(_)) && !message.missing_meta.is_empty() {
        let words = format!("`params._meta` lacks {}", message.missing_meta.join(" and "));
        return Err(Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::INVALID_PARAMS, words));
    }
    Ok(())
}

/// Whether the version header of a legacy request is one that a session can have.
pub(super) fn check_legacy(headers: &HeaderMap) -> Result<(), Refusal> {
    match header(headers) {
        Some(version) if is_modern(version) || !is_supported(version) => Err(Refusal::invalid(
            format!("unsupported MCP-Protocol-Version `{version}`; supported are {}", names()),
        )),
        _ => Ok(()),
    }
}

/// Whether the version header of `initialize`, when there is one, says what its body offers.
/// What is offered need not be supported: it is negotiated.
pub(super) fn check_initialize(message: &Message, headers: &HeaderMap) -> Result<(), Refusal> {
    match (header(headers), message.offer.as_deref()) {
        (Some(version), Some(offer)) if version != offer => Err(Refusal::invalid(format!(
            "the MCP-Protocol-Version header `{version}` differs from the offered protocolVersion `{offer}`"
        ))),
        _ => Ok(()),
    }
}

fn header(headers: &HeaderMap) -> Option<&str> {
    headers.get(VERSION_HEADER).map(|value| value.to_str().unwrap_or("unreadable"))
}

/// Versions are dates, so they compare as text; what is no date at all is for the modern answer.
fn is_modern(version: &str) -> bool {
    version >= ProtocolVersion::V_2026_07_28.as_str()
}

fn is_supported(version: &str) -> bool {
    SUPPORTED.iter().any(|supported| supported.as_str() == version)
}

fn names() -> String {
    SUPPORTED.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ")
}

fn mismatch(in_header: Option<&str>, in_meta: &str) -> Refusal {
    let header = in_header.map_or("no MCP-Protocol-Version header".into(), |version| {
        format!("the MCP-Protocol-Version header `{version}`")
    });
    let words = format!("`_meta` says version `{in_meta}`, but there is {header}");
    Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::HEADER_MISMATCH, words)
}

fn unsupported(version: &str) -> Refusal {
    let supported: Vec<_> = SUPPORTED.iter().map(ProtocolVersion::as_str).collect();
    Refusal::new(
        StatusCode::BAD_REQUEST,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        format!("unsupported protocol version `{version}`"),
    )
    .with(json!({ "supported": supported, "requested": version }))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config::Limits;

    const META: &str = r#""io.modelcontextprotocol/clientCapabilities":{}"#;

    fn message(method: &str, version: Option<&str>) -> Message {
        let meta = version.map_or(String::new(), |version| {
            format!(r#","_meta":{{"io.modelcontextprotocol/protocolVersion":{version},{META}}}"#)
        });
        let rest = match method {
            "initialize" => {
                r#""protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"t","version":"1"}"#
            }
            _ => r#""a":1"#,
        };
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{rest}{meta}}}}}"#);
        Message::read(text.as_bytes(), &Limits::default()).unwrap()
    }

    fn headers(version: Option<&str>) -> HeaderMap {
        version
            .map(|version| (VERSION_HEADER.parse().unwrap(), version.parse().unwrap()))
            .into_iter()
            .collect()
    }

    /// Code 0 means accepted.
    fn check(method: &str, meta: Option<&str>, header: Option<&str>, era: Era, code: i32) {
        let (message, headers) = (message(method, meta), headers(header));
        assert_eq!(Era::of(&message, &headers), era, "{method} {meta:?} {header:?}");
        let outcome = match era {
            _ if method == "initialize" => check_initialize(&message, &headers),
            Era::Legacy => check_legacy(&headers),
            Era::Modern => check_modern(&message, &headers),
        };
        let found = outcome.err().map_or(0, |refusal| {
            assert_eq!(refusal.status, 400);
            let error: Value = serde_json::from_slice(&refusal.json()).unwrap();
            error["error"]["code"].as_i64().unwrap() as i32
        });
        assert_eq!(found, code, "{method} {meta:?} {header:?}");
    }

    const MODERN: Option<&str> = Some("2026-07-28");
    const MODERN_META: Option<&str> = Some(r#""2026-07-28""#);

    #[test]
    fn modern_requests_say_the_version_twice() {
        check("tools/list", MODERN_META, MODERN, Era::Modern, 0);
        check("tools/list", MODERN_META, None, Era::Modern, -32020);
        check("tools/list", MODERN_META, Some("2025-11-25"), Era::Modern, -32020);
        check("tools/list", Some(r#""2099-01-01""#), Some("2099-01-01"), Era::Modern, -32022);
        check("tools/list", None, Some("2099-01-01"), Era::Modern, -32022);
        check("tools/list", None, Some("latest"), Era::Modern, -32022);
        check("tools/list", None, MODERN, Era::Modern, -32602);
        check("tools/list", Some("{}"), MODERN, Era::Modern, -32020);
        check("server/discover", None, None, Era::Modern, -32602);
        check("server/discover", MODERN_META, MODERN, Era::Modern, 0);
    }

    #[test]
    fn legacy_requests_may_name_a_legacy_version() {
        check("tools/list", None, None, Era::Legacy, 0);
        check("tools/list", None, Some("2025-06-18"), Era::Legacy, 0);
        check("tools/list", None, Some("2025-11-25"), Era::Legacy, 0);
        check("tools/list", None, Some("2025-03-26"), Era::Legacy, -32600);
        check("tools/list", None, Some("1999-01-01"), Era::Legacy, -32600);
    }

    #[test]
    fn initialize_is_legacy_whatever_it_offers() {
        check("initialize", None, None, Era::Legacy, 0);
        check("initialize", None, MODERN, Era::Legacy, 0);
        check("initialize", None, Some("2025-11-25"), Era::Legacy, -32600);
    }

    #[test]
    fn an_unsupported_version_lists_the_supported_ones() {
        let error: Value = serde_json::from_slice(&unsupported("2099-01-01").json()).unwrap();
        assert_eq!(
            error["error"]["data"],
            json!({"supported": ["2025-06-18", "2025-11-25", "2026-07-28"], "requested": "2099-01-01"})
        );
    }
}
