use std::{env, fs, sync::Arc};

use serde_json::{Map, Value, json};
use toolgate::{
    config::Limits,
    openapi::{self, Api, Details, Location, text::Text},
    registry::{
        Tool,
        plan::{BodyMedia, BodyPlan, PathPiece, Source},
    },
    upstream::{Caller, CallerAuth, Service},
};

use crate::support::{Recorder, compile::target, instance::instance, specs};

/// Operations of one document.
const EACH: usize = 16;

/// Arguments that say what the document's own schemas ask for.
fn arguments(api: &Api, details: &Details, tool: &Tool, full: bool) -> Map<String, Value> {
    let resolve = |reference: &str| Some((*api.schema(reference).ok()?).clone());
    let mut arguments = Map::new();
    let mut give = |source: &Source, value: Value| {
        arguments.extend(source.argument().map(|name| (name.to_owned(), value)));
    };
    let mut parameter = |source: &Source, location, name: &str| {
        let same = |one: &&openapi::Parameter| one.location == location && one.name == name;
        let known = details.parameters.iter().find(same).unwrap();
        if known.required || full {
            give(source, instance(&known.schema, full, &resolve));
        }
    };
    let plan = &tool.plan;
    for piece in plan.path.iter().flat_map(|segment| &segment.0) {
        if let PathPiece::Value(value) = piece {
            parameter(&value.source, Location::Path, &value.name);
        }
    }
    plan.query.iter().for_each(|one| parameter(&one.source, Location::Query, &one.name));
    plan.headers.iter().for_each(|one| parameter(&one.source, Location::Header, &one.name));
    plan.cookies.iter().for_each(|one| parameter(&one.source, Location::Cookie, &one.name));
    let body = |media: &BodyMedia| instance(&schema(details, media), full, &resolve);
    match &plan.body {
        BodyPlan::None => {}
        BodyPlan::Whole { source, media, .. } => give(source, body(media)),
        BodyPlan::Fields { fields, media, .. } => {
            let value = body(media);
            for field in fields {
                if let Some(value) = value.get(&field.name) {
                    give(&field.source, value.clone());
                }
            }
        }
    }
    arguments
}

/// The schema of the body in this media type.
fn schema(details: &Details, media: &BodyMedia) -> Value {
    let wanted = match media {
        BodyMedia::Json(name) | BodyMedia::Text(name) | BodyMedia::Binary(name) => {
            name.to_str().unwrap()
        }
        BodyMedia::Form => "application/x-www-form-urlencoded",
        BodyMedia::Multipart => "multipart/form-data",
    };
    let all = details.body.iter().flat_map(|body| &body.media);
    let found = all.clone().find(|one| one.media_type.starts_with(wanted)).or(all.clone().next());
    found.and_then(|media| media.schema.clone()).unwrap_or(json!({}))
}

/// Writes a line for each request: file, path template, method, the request. The folder named by
/// `TOOLGATE_REQUESTS` keeps them for `tests/judge.py`.
#[test]
fn requests_are_written_down_for_the_judge() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let recorder = Recorder::json("{}");
    let caller = Caller::new(&Limits::default(), Some(Service::new(recorder.router())));
    let (mut lines, mut refused, mut operations) = (String::new(), 0, 0);
    for path in specs::files() {
        let text = Text::new("api", &fs::read(&path).unwrap()).unwrap();
        let api = Arc::new(openapi::parse(&text).unwrap());
        if api.operations().is_empty() {
            continue;
        }
        let tools = specs::whole(&api).toolset.tools;
        for tool in tools.iter().step_by(tools.len().div_ceil(EACH).max(1)) {
            let operation = api.operations().iter().find(|one| one.key == tool.key).unwrap();
            let details = api.details(operation, None).unwrap();
            let mut recorded = 0;
            for full in [true, false] {
                let given = arguments(&api, &details, tool, full);
                let Ok(checked) = tool.checker.check(given.clone()) else {
                    refused += 1;
                    continue;
                };
                let (target, auth) = (target(), CallerAuth::default());
                let call = caller.call(&target, &tool.plan, &checked, &auth, |_| ());
                let answer = runtime.block_on(call);
                // An empty list has no place in a path: the one thing that only the request refuses.
                if recorder.seen().is_empty() {
                    assert!(format!("{:?}", answer.content).contains("part of the path"));
                    refused += 1;
                    continue;
                }
                let seen = recorder.take();
                let headers: Map<_, _> = seen
                    .headers
                    .iter()
                    .map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()))
                    .collect();
                let line = json!({"file": path, "version": format!("{:?}", api.version()), "template": tool.key.path,
                    "server": details.server_path, "method": tool.key.method.as_str(), "uri": seen.uri.to_string(),
                    "headers": headers, "body": seen.body.to_vec(), "full": full});
                lines.push_str(&format!("{line}\n"));
                recorded = 1;
            }
            operations += recorded;
        }
    }
    println!(
        "{operations} operations, {} requests, {refused} times refused",
        lines.lines().count()
    );
    if let Some(folder) = env::var_os("TOOLGATE_REQUESTS") {
        fs::write(std::path::Path::new(&folder).join("requests.jsonl"), lines).unwrap();
    }
    assert!(specs::real().is_none() || operations >= 300);
}
