//! `tools/call`: find the tool in one snapshot, check the arguments, make the call, shape the result.
//!
//! What the arguments or the upstream get wrong is a tool error that a model reads; only a tool that
//! is not there is a protocol error. Numbers of a reply follow [`digits`].

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::future;
use http::{HeaderMap, request::Parts};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResult, ContentBlock, ProgressNotificationParam,
        ProgressToken, ResourceContents,
    },
    service::{Peer, RequestContext},
};
use tokio::sync::mpsc;

use super::{Edge, Gauge, digits, notify::Arrival};
use crate::{
    diagnostic::{quote, suggestion},
    registry::{Tool, Toolset, plan::ArgumentFault},
    snapshot::{Snapshot, live::Live},
    upstream::{Answer, CallerAuth, Content, Progress, Trace},
};

/// Serves one `tools/call` from one snapshot.
pub(super) async fn call(
    edge: &Edge,
    snapshot: Option<Arc<Snapshot>>,
    params: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let snapshot = snapshot.ok_or_else(|| unknown(edge, None, &params.name))?;
    let Some((toolset, tool)) = snapshot.tool(&params.name) else {
        return Err(unknown(edge, Some(&snapshot), &params.name));
    };
    edge.counts.calls.fetch_add(1, Ordering::Relaxed);
    let _running = Gauge::new(&edge.counts, |counts| &counts.calls_running);
    let work = carry_out(edge, toolset, tool, params, context);
    tokio::select! {
        done = edge.caller.guard(&tool.plan, work) => {
            Ok(done.unwrap_or_else(|answer| shape(answer, tool)))
        }
        () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
    }
}

async fn carry_out(
    edge: &Edge,
    toolset: &Toolset,
    tool: &Tool,
    params: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let parts = context.extensions.get::<Parts>();
    let arrival = parts.and_then(|parts| parts.extensions.get::<Arrival>());
    let found = arrival.map_or(&[][..], |arrival| &arrival.faults);
    let checked = tool.checker.check(params.arguments.unwrap_or_default());
    let arguments = match (checked, found) {
        (Ok(arguments), []) => arguments,
        (checked, found) => {
            let mut faults = [found, &checked.err().unwrap_or_default()].concat();
            faults.iter_mut().for_each(|fault| tell_new_name(&edge.live, tool, fault));
            tracing::info!("{}: refused {}", tool.name.as_str(), paths(&faults));
            return shape(Answer::refused(&faults), tool);
        }
    };
    let none = HeaderMap::new();
    let headers = parts.map_or(&none, |parts| &parts.headers);
    let trace = Trace::of(|name| context.meta.get(name)?.as_str(), headers);
    let auth = CallerAuth::of(headers, &toolset.target).traced(trace);
    let answer = match context.meta.get_progress_token() {
        None => edge.caller.call(&toolset.target, &tool.plan, &arguments, &auth, |_| {}).await,
        Some(token) => {
            let (sender, steps) = mpsc::unbounded_channel();
            // Three steps at most, so the queue is bounded; it closes with the call. Sending fails
            // only when nobody hears of progress any more.
            let progress = move |step| {
                let _ = sender.send(step);
            };
            let work = edge.caller.call(&toolset.target, &tool.plan, &arguments, &auth, progress);
            future::join(work, report(steps, &context.peer, token)).await.0
        }
    };
    shape(answer, tool)
}

/// A caller that knows an argument by the name it had before a swap is told the new one.
fn tell_new_name(live: &Live, tool: &Tool, fault: &mut ArgumentFault) {
    if tool.checker.takes(&fault.path) {
        return;
    }
    if let Some((since, name)) = live.renamed(tool, &fault.path) {
        let age = age(since.elapsed());
        fault.words = format!(
            "unknown argument; since a change {age} ago it is called `{name}`; list the tools again"
        );
    }
}

/// Which arguments are at fault, for the log: their paths, never their values.
fn paths(faults: &[ArgumentFault]) -> String {
    let of = |fault: &ArgumentFault| match fault.path.as_str() {
        "" => "the arguments".to_owned(),
        path => quote(path),
    };
    let shown: Vec<_> = faults.iter().take(PATHS).map(of).collect();
    let more = if faults.len() > PATHS { " …" } else { "" };
    shown.join(", ") + more
}

/// Paths in one log line.
const PATHS: usize = 8;

async fn report(
    mut steps: mpsc::UnboundedReceiver<Progress>,
    peer: &Peer<RoleServer>,
    token: ProgressToken,
) {
    while let Some(step) = steps.recv().await {
        let (done, words) = match step {
            Progress::Sent => (1.0, "request sent"),
            Progress::Headers => (2.0, "response headers received"),
            Progress::Complete => (3.0, "response complete"),
        };
        let notice = ProgressNotificationParam::new(token.clone(), done);
        let notice = notice.with_total(3.0).with_message(words);
        if peer.notify_progress(notice).await.is_err() {
            return;
        }
    }
}

fn shape(answer: Answer, tool: &Tool) -> CallToolResult {
    let Answer { content, structured, is_error } = answer;
    if is_error {
        let texts = content.into_iter().filter(|block| matches!(block, Content::Text(_)));
        return CallToolResult::error(texts.map(|block| shown(block, tool)).collect());
    }
    let content = content.into_iter().map(|block| shown(block, tool)).collect();
    let mut result = CallToolResult::success(content);
    // A structured answer is the text of an object; were it not, the text block still has it.
    result.structured_content = structured.and_then(|json| digits::value(&json).ok());
    result
}

fn shown(block: Content, tool: &Tool) -> ContentBlock {
    match block {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image { data, media_type } => ContentBlock::image(data, media_type),
        Content::Audio { data, media_type } => ContentBlock::audio(data, media_type),
        Content::Blob { data, media_type } => {
            let uri = format!("reply:{}", tool.name.as_str());
            let resource = ResourceContents::blob(data, uri).with_mime_type(media_type);
            ContentBlock::resource(resource)
        }
    }
}

fn unknown(edge: &Edge, snapshot: Option<&Snapshot>, name: &str) -> ErrorData {
    let tools = snapshot.into_iter().flat_map(Snapshot::tools);
    let names = tools.map(|(_, tool)| tool.name.as_str());
    let words = match edge.live.removed(name) {
        Some(since) => format!(
            "unknown tool {}: it is no longer available since a change {} ago; list the tools again",
            quote(name),
            age(since.elapsed())
        ),
        None => format!("unknown tool {}{}", quote(name), suggestion(name, names)),
    };
    ErrorData::invalid_params(words, None)
}

fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::tests::tool;

    #[expect(clippy::needless_pass_by_value, reason = "expectations read best as values")]
    fn check(answer: Answer, expected: serde_json::Value) {
        let result = serde_json::to_value(shape(answer, &tool("t"))).unwrap();
        assert_eq!(result, expected);
    }

    fn text(text: &str) -> Content {
        Content::Text(text.into())
    }

    #[test]
    fn a_structured_answer_is_an_object_and_the_same_text() {
        let json = r#"{"n":9007199254740993,"big":123456789012345678901234567890}"#;
        check(
            Answer { content: vec![text(json)], structured: Some(json.into()), is_error: false },
            json!({
                "resultType": "complete",
                "content": [{"type": "text", "text": json}],
                "structuredContent": {"n": 9_007_199_254_740_993_i64, "big": "123456789012345678901234567890"},
                "isError": false,
            }),
        );
    }

    #[test]
    fn the_log_names_arguments_and_no_values() {
        let fault = |path: &str| ArgumentFault { path: path.into(), words: "got `secret`".into() };
        assert_eq!(paths(&[fault("page_size"), fault("")]), "`page_size`, the arguments");
        let many: Vec<_> = (0..9).map(|n| fault(&format!("a{n}\n"))).collect();
        let said = paths(&many);
        assert!(said.starts_with("`a0\\n`, `a1\\n`") && said.ends_with("`a7\\n` …"), "{said}");
    }

    #[test]
    fn an_error_is_text_only() {
        let data = Content::Image { data: "QQ==".into(), media_type: "image/png".into() };
        check(
            Answer { content: vec![text("404: gone"), data], structured: None, is_error: true },
            json!({
                "resultType": "complete",
                "content": [{"type": "text", "text": "404: gone"}],
                "isError": true,
            }),
        );
    }

    #[test]
    fn media_are_content_of_their_own_kind() {
        let media =
            |kind: fn(String, String) -> Content, name: &str| kind("QQ==".into(), name.into());
        let content = vec![
            media(|data, media_type| Content::Image { data, media_type }, "image/png"),
            media(|data, media_type| Content::Audio { data, media_type }, "audio/wav"),
            media(|data, media_type| Content::Blob { data, media_type }, "application/zip"),
        ];
        check(
            Answer { content, structured: None, is_error: false },
            json!({
                "resultType": "complete",
                "content": [
                    {"type": "image", "data": "QQ==", "mimeType": "image/png"},
                    {"type": "audio", "data": "QQ==", "mimeType": "audio/wav"},
                    {"type": "resource", "resource": {"uri": "reply:t", "mimeType": "application/zip", "blob": "QQ=="}},
                ],
                "isError": false,
            }),
        );
    }
}
