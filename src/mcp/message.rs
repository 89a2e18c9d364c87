//! One JSON-RPC message, read once and strictly; HTTP and stdio alike.
//!
//! rmcp decodes the same bytes again. What it would misread (a malformed `tools/call` becomes an
//! unknown method there, a cursor that is no string is ignored) is refused here, by decoding the
//! parameters into rmcp's own types. Nothing here knows headers or sessions.

use http::StatusCode;
use rmcp::model::{
    CallToolRequestParams, ErrorCode, InitializeRequestParams, PaginatedRequestParams, RequestId,
    SubscriptionsListenRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    arguments,
    refusal::Refusal,
    strict::{self, Fault, Strict},
};
use crate::{config::Limits, registry::plan::ArgumentFault};

/// The `_meta` key that makes a request modern.
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// A message that is sound as JSON-RPC and whose parameters, where the edge serves its method, are well formed.
#[derive(Debug)]
pub(super) struct Message {
    /// What it is.
    pub(super) kind: Kind,
    /// Its method; empty for a response.
    pub(super) method: String,
    /// The version in `_meta`; `None` when the key is absent.
    pub(super) version: Option<String>,
    /// Required `_meta` keys that are missing or malformed.
    pub(super) missing_meta: Vec<&'static str>,
    /// `params.protocolVersion` of `initialize`.
    pub(super) offer: Option<String>,
    /// Faults of a call's arguments that only the text shows.
    pub(super) faults: Vec<ArgumentFault>,
}

/// The three kinds of message a client sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Wants one answer.
    Request(RequestId),
    /// Wants none.
    Notification,
    /// Answers something the server asked; this server asks nothing.
    Response,
}

impl Message {
    /// Reads one message.
    pub(super) fn read(text: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        // The message and its `params` stand around the arguments, whose own depth is the limit.
        let strict = strict::read(text, limits.argument_depth + 2).map_err(refuse)?;
        let Value::Object(object) = &strict.value else {
            return Err(Refusal::invalid(no_object(&strict.value)));
        };
        let kind = kind(object)?;
        let id = kind.id();
        Self::of(text, &strict, object, kind).map_err(|refusal| refusal.to(id))
    }

    fn of(
        text: &[u8],
        strict: &Strict,
        object: &Map<String, Value>,
        kind: Kind,
    ) -> Result<Self, Refusal> {
        let method = object.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = object.get("params").unwrap_or(&Value::Null);
        if !matches!(params, Value::Null | Value::Object(_)) {
            return Err(Refusal::params("`params` is not an object"));
        }
        let meta = meta(params)?;
        if matches!(kind, Kind::Request(_)) {
            well_formed(&method, params).map_err(|refusal| match meta {
                // The modern era has no `initialize`; only a legacy client sends a sound one.
                Some(meta) if method == "initialize" && meta.contains_key(VERSION_KEY) => {
                    Refusal::no_method(&method)
                }
                _ => refusal,
            })?;
        }
        let faults = match method.as_str() {
            "tools/call" => arguments::faults(text, strict),
            _ => Vec::new(),
        };
        Ok(Self {
            version: meta.and_then(|meta| meta.get(VERSION_KEY)).map(version_text),
            missing_meta: missing_meta(meta),
            offer: text_of(params, "protocolVersion").filter(|_| method == "initialize"),
            faults,
            kind,
            method,
        })
    }
}

impl Kind {
    /// The id to answer to.
    pub(super) fn id(&self) -> Option<RequestId> {
        match self {
            Self::Request(id) => Some(id.clone()),
            Self::Notification | Self::Response => None,
        }
    }
}

fn refuse(fault: Fault) -> Refusal {
    match fault {
        Fault::Syntax(words) => Refusal::new(
            StatusCode::BAD_REQUEST,
            ErrorCode::PARSE_ERROR,
            format!("the message is not JSON: {words}"),
        ),
        Fault::Duplicate(key) => Refusal::invalid(format!("the message has the key `{key}` twice")),
        Fault::Deep(depth) => {
            Refusal::invalid(format!("the message nests deeper than {depth} levels"))
        }
    }
}

fn no_object(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "batches are not supported; send one message at a time",
        _ => "a message is a JSON object",
    }
}

fn kind(object: &Map<String, Value>) -> Result<Kind, Refusal> {
    let id = object.get("id").map(request_id).transpose()?;
    let refuse = |words: &str| Err(Refusal::invalid(words).to(id.clone()));
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse("`jsonrpc` is not `2.0`");
    }
    let outcomes =
        usize::from(object.contains_key("result")) + usize::from(object.contains_key("error"));
    match (object.get("method"), id.clone(), outcomes) {
        (Some(Value::String(_)), Some(id), 0) => Ok(Kind::Request(id)),
        (Some(Value::String(_)), None, 0) => Ok(Kind::Notification),
        (Some(_), _, 0) => refuse("`method` is not a string"),
        (None, _, 1) => Ok(Kind::Response),
        _ => refuse("the message is no request, notification or response"),
    }
}

fn request_id(id: &Value) -> Result<RequestId, Refusal> {
    match id {
        Value::String(text) => Ok(RequestId::String(text.as_str().into())),
        Value::Number(number) if number.is_i64() => {
            Ok(RequestId::Number(number.as_i64().unwrap_or_default()))
        }
        _ => Err(Refusal::invalid("`id` is not a string or a 64-bit integer")),
    }
}

fn meta(params: &Value) -> Result<Option<&Map<String, Value>>, Refusal> {
    match params.get("_meta") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(meta)) => Ok(Some(meta)),
        Some(_) => Err(Refusal::params("`params._meta` is not an object")),
    }
}

/// A version that is no string is kept as its JSON, which no server supports.
fn version_text(version: &Value) -> String {
    version.as_str().map_or_else(|| version.to_string(), str::to_owned)
}

fn missing_meta(meta: Option<&Map<String, Value>>) -> Vec<&'static str> {
    let has =
        |key, sound: fn(&Value) -> bool| meta.and_then(|meta| meta.get(key)).is_some_and(sound);
    let mut missing = Vec::new();
    if !has(VERSION_KEY, Value::is_string) {
        missing.push(VERSION_KEY);
    }
    if !has(CAPABILITIES_KEY, Value::is_object) {
        missing.push(CAPABILITIES_KEY);
    }
    missing
}

fn text_of(params: &Value, key: &str) -> Option<String> {
    params.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Decodes the parameters of the methods that are served as rmcp will.
fn well_formed(method: &str, params: &Value) -> Result<(), Refusal> {
    match method {
        "tools/call" => decode::<CallToolRequestParams>(method, params),
        "tools/list" => decode::<Option<PaginatedRequestParams>>(method, params),
        "subscriptions/listen" => decode::<SubscriptionsListenRequestParams>(method, params),
        "initialize" => decode::<InitializeRequestParams>(method, params),
        _ => Ok(()),
    }
}

fn decode<T: DeserializeOwned>(method: &str, params: &Value) -> Result<(), Refusal> {
    match T::deserialize(params) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::params(format!("malformed params of `{method}`: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects a refusal with this code and status, or a message for code 0.
    fn check(text: &str, code: i32, status: u16, part: &str) {
        let limits = Limits { argument_depth: 4, ..Limits::default() };
        let outcome = Message::read(text.as_bytes(), &limits);
        let Err(refusal) = outcome else {
            assert_eq!(code, 0, "{text}");
            return;
        };
        let error: Value = serde_json::from_slice(&refusal.json()).unwrap();
        assert_eq!(error["error"]["code"], code, "{text}: {error}");
        assert_eq!(refusal.status.as_u16(), status, "{text}");
        assert!(error["error"]["message"].as_str().unwrap().contains(part), "{error}");
    }

    fn request(method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    }

    #[test]
    fn what_is_no_json_rpc_is_refused() {
        check("", -32700, 400, "not JSON");
        check("{", -32700, 400, "not JSON");
        check("[]", -32600, 400, "batches");
        check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, 400, "batches");
        check("7", -32600, 400, "object");
        check(r#"{"id":1,"method":"ping"}"#, -32600, 400, "`jsonrpc`");
        check(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, 400, "`jsonrpc`");
        check(r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600, 400, "`jsonrpc`");
        check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, 400, "`id`");
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, 400, "`id`");
        check(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, 400, "`id`");
        check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, 400, "`method`");
        check(r#"{"jsonrpc":"2.0","id":1}"#, -32600, 400, "no request");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32600, 400, "no request");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, -32600, 400, "no request");
    }

    #[test]
    fn a_key_twice_or_too_much_depth_is_refused() {
        check(&request("tools/call", r#"{"name":"a","name":"b"}"#), -32600, 400, "`name` twice");
        check(
            &request("tools/call", r#"{"name":"a","arguments":{"x":1,"x":2}}"#),
            -32600,
            400,
            "`x` twice",
        );
        check(&request("tools/call", r#"{"name":"a","arguments":{"x":[[[1]]]}}"#), 0, 0, "");
        check(
            &request("tools/call", r#"{"name":"a","arguments":{"x":[[[[1]]]]}}"#),
            -32600,
            400,
            "deeper",
        );
    }

    #[test]
    fn malformed_params_of_a_served_method_are_refused() {
        for params in [
            "null",
            "{}",
            r#"{"name":7}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","arguments":"{}"}"#,
        ] {
            check(&request("tools/call", params), -32602, 200, "`tools/call`");
        }
        check(&request("tools/call", "[1]"), -32602, 200, "`params`");
        check(&request("tools/call", r#"{"name":"a","_meta":7}"#), -32602, 200, "`params._meta`");
        check(&request("tools/list", r#"{"cursor":7}"#), -32602, 200, "`tools/list`");
        check(&request("subscriptions/listen", "{}"), -32602, 200, "`subscriptions/listen`");
        check(
            &request("subscriptions/listen", r#"{"notifications":{"toolsListChanged":"yes"}}"#),
            -32602,
            200,
            "listen",
        );
        check(
            &request("initialize", r#"{"protocolVersion":"2025-11-25"}"#),
            -32602,
            200,
            "`initialize`",
        );
    }

    #[test]
    fn the_modern_era_has_no_initialize() {
        let modern = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        check(&request("initialize", modern), -32601, 404, "initialize");
    }

    #[test]
    fn well_formed_messages_pass() {
        for text in [
            &request("tools/call", r#"{"name":"a"}"#),
            &request("tools/call", r#"{"name":"a","arguments":null}"#),
            &request("tools/list", "null"),
            &request("tools/list", r#"{"cursor":null}"#),
            &request("tools/list", r#"{"cursor":"x"}"#),
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        ] {
            check(text, 0, 0, "");
        }
    }

    #[test]
    fn an_error_names_the_request_it_answers() {
        let refusal =
            Message::read(request("tools/call", "{}").as_bytes(), &Limits::default()).unwrap_err();
        assert!(String::from_utf8(refusal.json()).unwrap().contains(r#""id":1"#));
    }
}
