use std::{collections::BTreeSet, env, fs, path::Path, sync::Arc};

use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use toolgate::{
    config::Limits,
    openapi::{self, Api, text::Text},
    registry::Tool,
    upstream::{Caller, CallerAuth, Service},
};

use crate::support::{Recorder, compile::target, instance::Accepted, specs};

/// Operations of one document.
const EACH: usize = 16;

/// Operations for which no request is made from what their tools accept, and why that is so.
const UNSENT: [(&str, &str); 2] = [
    ("readme-schematypes-30.json PATCH /anything/quirks/polymorphism", CONTRADICTION),
    ("readme-schematypes-31.json PATCH /anything/quirks/polymorphism", CONTRADICTION),
];
const CONTRADICTION: &str = "the document asks for a text that is a number";

/// Makes requests and writes them down, a line each.
struct Scribe {
    runtime: Runtime,
    recorder: Recorder,
    caller: Caller,
    lines: String,
    operations: usize,
    unsent: Vec<String>,
}

impl Scribe {
    fn new() -> Self {
        let recorder = Recorder::json("{}");
        let caller = Caller::new(&Limits::default(), Some(Service::new(recorder.router())));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, recorder, caller, lines: String::new(), operations: 0, unsent: Vec::new() }
    }

    fn document(&mut self, path: &Path) {
        let text = Text::new("api", &fs::read(path).unwrap()).unwrap();
        let api = Arc::new(openapi::parse(&text).unwrap());
        if api.operations().is_empty() {
            return;
        }
        let tools = specs::whole(&api).toolset.tools;
        for tool in tools.iter().step_by(tools.len().div_ceil(EACH).max(1)) {
            self.operation(path, &api, tool);
        }
    }

    /// One request with everything that can be given, one with what must be.
    fn operation(&mut self, path: &Path, api: &Api, tool: &Tool) {
        let accepted = Accepted::new(tool);
        let mut sent = true;
        for full in [true, false] {
            match self.request(tool, &accepted, full) {
                Ok(request) => self.line(path, api, tool, full, request),
                Err(words) => {
                    sent = false;
                    let name = path.file_name().unwrap().to_string_lossy();
                    self.unsent.push(format!("{name} {}: {words}", tool.key));
                }
            }
        }
        self.operations += usize::from(sent);
    }

    /// What is sent for arguments that fit what the tool says it accepts, or why nothing is.
    fn request(&self, tool: &Tool, accepted: &Accepted, full: bool) -> Result<Value, String> {
        let arguments = accepted.instance(full).ok_or("no arguments were found that fit")?;
        let shown = Value::Object(arguments.clone());
        let checked = tool.checker.check(arguments);
        let checked = checked.map_err(|faults| format!("{shown} is refused: {faults:?}"))?;
        let (target, auth) = (target(), CallerAuth::default());
        let call = self.caller.call(&target, &tool.plan, &checked, &auth, |_| ());
        let answer = self.runtime.block_on(call);
        if self.recorder.seen().is_empty() {
            return Err(format!("{shown} is not sent: {:?}", answer.content));
        }
        let seen = self.recorder.take();
        let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (name.to_string(), Value::from(value.to_str().unwrap()))
        };
        let headers: Map<_, _> = seen.headers.iter().map(header).collect();
        Ok(json!({"uri": seen.uri.to_string(), "headers": headers, "body": seen.body.to_vec()}))
    }

    fn line(&mut self, path: &Path, api: &Api, tool: &Tool, full: bool, mut request: Value) {
        let operation = api.operations().iter().find(|one| one.key == tool.key).unwrap();
        let details = api.details(operation, None).unwrap();
        request["file"] = json!(path);
        request["version"] = format!("{:?}", api.version()).into();
        request["template"] = tool.key.path.as_str().into();
        request["method"] = tool.key.method.as_str().into();
        request["server"] = details.server_path.into();
        request["full"] = full.into();
        self.lines.push_str(&format!("{request}\n"));
    }
}

/// What is made from a tool's own checking schema is accepted and sent. The folder named by
/// `TOOLGATE_REQUESTS` keeps the requests for `tests/judge.py`.
#[test]
fn what_a_tool_accepts_becomes_a_request_for_the_judge() {
    let mut scribe = Scribe::new();
    specs::files().iter().for_each(|path| scribe.document(path));
    println!("{} operations, {} requests", scribe.operations, scribe.lines.lines().count());
    if let Some(folder) = env::var_os("TOOLGATE_REQUESTS") {
        fs::write(Path::new(&folder).join("requests.jsonl"), &scribe.lines).unwrap();
    }
    let mut named: BTreeSet<_> = UNSENT.into_iter().collect();
    for line in &scribe.unsent {
        let known = UNSENT.iter().find(|(operation, _)| line.starts_with(operation));
        let (operation, reason) = known.unwrap_or_else(|| panic!("{line}"));
        println!("{operation}: {reason}");
        named.remove(&(operation, reason));
    }
    if specs::real().is_some() {
        assert!(named.is_empty(), "exceptions without a case: {named:?}");
        assert!(scribe.operations >= 300);
    }
}
