use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use toolgate::{
    openapi::{self, Api, Reply, text::Text},
    registry::{Tool, output, plan::Shape, portable},
};

use crate::support::{
    instance::instance,
    specs::{self, Whole},
};

/// Real documents leave out no more than this, of the operations that stand in them.
const LEAST: f64 = 0.99;

/// Operations that are references to files which are not there.
const ELSEWHERE: &str = "is outside this document";

/// What all documents came to.
#[derive(Default)]
struct Report {
    documents: usize,
    operations: usize,
    tools: usize,
    renamed: usize,
    reasons: BTreeMap<String, usize>,
    bytes: usize,
    largest: (usize, String),
    parse: Duration,
    build: Duration,
    lint: Duration,
    accepted: usize,
    refused: BTreeMap<String, usize>,
    examples: usize,
}

impl Report {
    /// Reads one document, makes all of it tools, and holds each of them against what is promised.
    fn document(&mut self, path: &Path) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = Text::new(name.clone(), &fs::read(path).unwrap()).unwrap();
        let started = Instant::now();
        text.value().unwrap();
        let parse = started.elapsed();
        let started = Instant::now();
        let api =
            Arc::new(openapi::parse(&text).unwrap_or_else(|faults| panic!("{name}: {faults:?}")));
        self.documents += 1;
        if api.operations().is_empty() {
            return println!("{name:34}     0 operations");
        }
        let Whole { toolset, left_out, renamed } = specs::whole(&api);
        let build = started.elapsed();
        let (bytes, lint) = (self.bytes, self.lint);
        for tool in &toolset.tools {
            self.tool(&api, tool);
        }
        println!(
            "{name:34} {:5} operations {:5} tools {:9} B  parse {:6.1} ms  build {:7.1} ms  lint {:5.1} ms",
            api.operations().len(),
            toolset.tools.len(),
            self.bytes - bytes,
            milliseconds(parse),
            milliseconds(build),
            milliseconds(self.lint - lint),
        );
        let left_out: BTreeMap<_, _> = left_out.into_iter().rev().collect();
        let n = left_out.len() + toolset.tools.len();
        assert_eq!(n, api.operations().len(), "{name}: {left_out:?}");
        for reason in left_out.values() {
            let words = reason.split('`').step_by(2).collect::<Vec<_>>().join("…");
            *self.reasons.entry(words).or_default() += 1;
        }
        self.operations += api.operations().len();
        self.tools += toolset.tools.len();
        self.renamed += renamed;
        self.parse += parse;
        self.build += build;
    }

    fn tool(&mut self, api: &Api, tool: &Tool) {
        let name = format!("{} {}", api.file(), tool.key);
        let bytes = Value::Object(tool.listed.clone()).to_string().len();
        self.bytes += bytes;
        self.largest = self.largest.clone().max((bytes, name.clone()));
        let (input, output) = (&tool.listed["inputSchema"], &tool.listed["outputSchema"]);
        let started = Instant::now();
        let faults = [portable::lint(input), portable::lint_output(output)].concat();
        self.lint += started.elapsed();
        assert_eq!(faults, Vec::<String>::new(), "{name}");
        self.arguments(&name, input, tool);
        self.replies(api, &name, output, tool);
    }

    /// Values made from the published schema mean the same in both drafts, and are accepted or
    /// refused in words.
    fn arguments(&mut self, name: &str, schema: &Value, tool: &Tool) {
        let same = Drafts::new(name, schema);
        for full in [true, false] {
            let value = instance(schema, full, &|_| None);
            same.verdict(&value);
            for key in value.as_object().into_iter().flat_map(Map::keys) {
                let mut odd = value.clone();
                odd[key] = json!([null, { "a": -1e300 }]);
                same.verdict(&odd);
            }
            match tool.checker.check(value.as_object().unwrap().clone()) {
                Ok(_) => self.accepted += 1,
                Err(faults) => {
                    assert!(faults.iter().all(|fault| !fault.words.is_empty()), "{name}");
                    let words = faults[0].words.split(['`', '"', ',']).next().unwrap();
                    if words.starts_with("required") || words.starts_with("unknown") {
                        println!("  {name} {value} {faults:?}");
                    }
                    *self.refused.entry(words.to_owned()).or_default() += 1;
                }
            }
        }
    }

    /// Every success example of the document fits what is published.
    fn replies(&mut self, api: &Api, name: &str, schema: &Value, tool: &Tool) {
        let same = Drafts::new(name, schema);
        for value in [json!({}), json!({ "result": null, "ok": 5, "x": [] }), json!([])] {
            same.verdict(&value);
        }
        let operation = api.operations().iter().find(|one| one.key == tool.key).unwrap();
        let Ok(details) = api.details(operation, None) else { return };
        let reply = output::success(&details.replies);
        for example in reply.into_iter().flat_map(|reply| given(api, reply)) {
            let value = shaped(tool.plan.shape, example);
            assert!(same.verdict(&value), "{name} {value}");
            self.examples += 1;
        }
    }

    fn print(&self) {
        let (bytes, tool) = &self.largest;
        println!(
            "{} documents, {} operations, {} tools ({} of them renamed for a clash)",
            self.documents, self.operations, self.tools, self.renamed
        );
        println!("{} bytes of lists; largest tool {bytes} B: {tool}", self.bytes);
        println!("parse {:?}, build {:?}, lint {:?}", self.parse, self.build, self.lint);
        self.reasons.iter().for_each(|(reason, n)| println!("  left out: {n:5} × {reason}"));
        println!(
            "{} instances of published schemas accepted, {} refused:",
            self.accepted,
            self.refused.values().sum::<usize>()
        );
        self.refused.iter().for_each(|(words, n)| println!("  {n:5} × {words}"));
        println!("{} success examples fit", self.examples);
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// One schema compiled under both drafts.
struct Drafts<'a> {
    name: &'a str,
    draft7: jsonschema::Validator,
    draft202012: jsonschema::Validator,
}

impl<'a> Drafts<'a> {
    fn new(name: &'a str, schema: &Value) -> Self {
        let broken = |error: jsonschema::ValidationError<'_>| panic!("{name}: {error}");
        let draft7 = jsonschema::draft7::new(schema).unwrap_or_else(broken);
        let draft202012 = jsonschema::draft202012::new(schema).unwrap_or_else(broken);
        Self { name, draft7, draft202012 }
    }

    /// What both say.
    fn verdict(&self, value: &Value) -> bool {
        let verdict = self.draft202012.is_valid(value);
        assert_eq!(self.draft7.is_valid(value), verdict, "{} {value}", self.name);
        verdict
    }
}

/// The examples of a reply, as the document has them.
fn given<'a>(api: &'a Api, reply: &Reply) -> Vec<&'a Value> {
    let Some(reply) = api.raw().pointer(&reply.pointer) else { return Vec::new() };
    let target =
        reply.get("$ref").and_then(Value::as_str).and_then(|name| api.raw().pointer(&name[1..]));
    let reply = target.unwrap_or(reply);
    let members = |node: &'a Value, word: &str| {
        node.get(word)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
            .collect::<Vec<_>>()
    };
    let mut examples = members(reply, "examples");
    for content in members(reply, "content") {
        examples.extend(content.get("example"));
        examples
            .extend(members(content, "examples").into_iter().filter_map(|one| one.get("value")));
    }
    examples
}

/// A reply as the call path shapes it.
fn shaped(shape: Shape, value: &Value) -> Value {
    match (shape, value) {
        (Shape::Object | Shape::Empty, Value::Object(_)) => value.clone(),
        _ => json!({ "result": value }),
    }
}

/// Prints the report: `cargo test --test it corpus -- --nocapture`.
#[test]
fn every_document_becomes_tools_that_every_client_accepts() {
    let mut report = Report::default();
    specs::files().iter().for_each(|path| report.document(path));
    report.print();
    if specs::real().is_none() {
        return;
    }
    let elsewhere = report.reasons.iter().filter(|(reason, _)| reason.contains(ELSEWHERE));
    let own = report.operations - elsewhere.map(|(_, n)| n).sum::<usize>();
    assert!(report.tools as f64 >= LEAST * own as f64, "{} of {own}", report.tools);
    assert!(report.tools > 5_000 && report.examples > 900);
    assert!(report.accepted > 9 * report.refused.values().sum::<usize>());
}
