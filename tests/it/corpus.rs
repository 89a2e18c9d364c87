use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use toolgate::{
    openapi::{self, Api, OperationKey, Reply, Status, text::Text},
    registry::{
        Tool,
        plan::{ArgumentFault, Shape},
        portable,
    },
};

use crate::support::{
    instance::{Accepted, instance},
    specs::{self, Whole},
};

/// Real documents leave out no more than this, of the operations that stand in them.
const LEAST: f64 = 0.99;

/// Operations that are references to files which are not there.
const ELSEWHERE: &str = "is outside this document";

/// Operations of this repository's own documents that are wrong in every way there is.
const BROKEN: [&str; 4] = [
    "v20.yaml PATCH /order",
    "v30.yaml GET /broken/{missing}/*",
    "v30.yaml GET /nothing",
    "v31.json GET /anchored",
];

/// Bodies that are a text and a number at once, by document.
const CONTRADICTIONS: [&str; 4] = [
    "readme-schematypes-30.json PUT /anything/quirks/polymorphism",
    "readme-schematypes-30.json PATCH /anything/quirks/polymorphism",
    "readme-schematypes-31.json PUT /anything/quirks/polymorphism",
    "readme-schematypes-31.json PATCH /anything/quirks/polymorphism",
];

/// Beginnings of what a refusal may say.
const REFUSALS: [&str; 7] = [
    "expected ",
    "required, but not given",
    "required once `",
    "unknown here",
    "unknown argument",
    "fits none of its forms: ",
    "nothing to change was given; give at least one of `",
];

/// Success examples that do not fit, by operation; the document itself has them wrong.
const WRONG_EXAMPLES: [&str; 0] = [];

/// What all documents came to.
#[derive(Default)]
struct Report {
    documents: usize,
    operations: usize,
    tools: usize,
    renamed: usize,
    reasons: BTreeMap<&'static str, usize>,
    bytes: usize,
    largest: (usize, String),
    parse: Duration,
    build: Duration,
    lint: Duration,
    accepted: usize,
    refused: BTreeMap<String, usize>,
    examples: usize,
    wrong: BTreeMap<String, usize>,
    /// Tools for which no arguments were found that fit.
    uncallable: Vec<String>,
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
        for (key, reason) in &left_out {
            let operation = api.operations().iter().find(|one| one.key.to_string() == **key);
            let key = &operation.unwrap_or_else(|| panic!("{name}: no {key}")).key;
            let is_ours = BROKEN.contains(&format!("{name} {key}").as_str());
            let construct = construct(&api, key, reason).or(is_ours.then_some("broken on purpose"));
            let construct = construct.unwrap_or_else(|| panic!("{name} {key}: {reason}"));
            *self.reasons.entry(construct).or_default() += 1;
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

    /// Values made from the published schema mean the same in both drafts, and are accepted, or refused
    /// for what another validator finds wrong with them too, in words that name the argument.
    fn arguments(&mut self, name: &str, schema: &Value, tool: &Tool) {
        let same = Drafts::new(name, schema);
        // Compiles what arguments are checked against under 2020-12.
        let accepted = Accepted::new(tool);
        match accepted.instance(false).or_else(|| accepted.instance(true)) {
            Some(arguments) => drop(tool.checker.check(arguments).unwrap()),
            None => self.uncallable.push(name.to_owned()),
        }
        for full in [true, false] {
            let value = instance(schema, full);
            same.verdict(&value);
            for key in value.as_object().into_iter().flat_map(Map::keys) {
                let mut odd = value.clone();
                odd[key] = json!([null, { "a": -1e300 }]);
                same.verdict(&odd);
            }
            match tool.checker.check(value.as_object().unwrap().clone()) {
                Ok(_) => self.accepted += 1,
                Err(faults) => {
                    assert!(!accepted.fits(&value), "{name} {value} {faults:?}");
                    faults.iter().for_each(|fault| explains(name, fault, schema));
                    let words = faults[0].words.split(['`', '"', ',']).next().unwrap();
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
        for example in details.replies.iter().flat_map(|reply| given(api, reply)) {
            let value = shaped(tool.plan.shape, example);
            if same.verdict(&value) {
                self.examples += 1;
            } else {
                *self.wrong.entry(name.to_owned()).or_default() += 1;
                println!("  {name}: {value}");
            }
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
        println!("{} success examples fit, not those of {:?}", self.examples, self.wrong);
    }
}

/// The construct that keeps an operation from being called, when the document really has it.
fn construct(api: &Api, key: &OperationKey, reason: &str) -> Option<&'static str> {
    let item = &api.raw()["paths"][&key.path];
    let operation = &item[key.method.as_str().to_lowercase()];
    let named = reason.split('`').nth(1)?;
    let parameters = [&item["parameters"], &operation["parameters"]];
    let parameters = parameters.into_iter().filter_map(Value::as_array).flatten();
    let mut in_path = parameters.map(|one| followed(api, one)).filter(|one| one["in"] == "path");
    let has_elsewhere = |value: &Value| value.to_string().contains(&format!("\"$ref\":\"{named}"));
    let kinds = operation["requestBody"]["content"].as_object();
    let consumes = operation["consumes"].as_array().or(api.raw()["consumes"].as_array());
    let mut kinds = kinds.into_iter().flat_map(Map::keys).map(String::as_str);
    let mut consumes = consumes.into_iter().flatten().filter_map(Value::as_str);
    let known = [
        (
            reason.contains("has a literal `*`") && key.path.contains('*'),
            "a `*` in the path that stands for itself",
        ),
        (
            reason.contains("in it; give the real one as") && key.path.contains(['?', '#']),
            "a `?` or `#` in the path",
        ),
        (
            reason.contains("has no path parameter")
                && key.path.contains(named)
                && in_path.all(|one| one["name"] != named),
            "a placeholder that is no parameter",
        ),
        (
            reason.ends_with("which cannot be sent")
                && (kinds.any(|kind| kind == named) || consumes.any(|kind| kind == named)),
            "a body of a media type that nobody knows how to write",
        ),
        (
            reason.contains(ELSEWHERE) && !named.starts_with('#') && has_elsewhere(api.raw()),
            "a reference to another file",
        ),
        (
            reason.starts_with("parameters in `")
                && api.raw().to_string().contains(&format!("\"in\":\"{named}\"")),
            "a parameter in a place that no request is known to have",
        ),
    ];
    known.into_iter().find_map(|(holds, construct)| holds.then_some(construct))
}

/// A refusal says for which argument, and what was expected of it.
fn explains(name: &str, fault: &ArgumentFault, schema: &Value) {
    let says = REFUSALS.iter().any(|beginning| fault.words.starts_with(beginning));
    let argument = fault.path.split(['.', '[']).next().unwrap();
    let is_known = |name: &str| schema["properties"].get(name).is_some();
    // What is wrong with the whole names the arguments in its words.
    let names_one = || fault.words.split(['`', '"']).skip(1).step_by(2).any(is_known);
    let is_of_one = is_known(argument) || argument.is_empty() && names_one();
    assert!(says && is_of_one, "{name} {fault:?}");
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

/// The examples of a reply that says success, as the document has them; none when it says anything else.
fn given<'a>(api: &'a Api, reply: &Reply) -> Vec<&'a Value> {
    let is_success = matches!(reply.status, Status::Code(200..=299) | Status::Class(2));
    let Some(reply) = api.raw().pointer(&reply.pointer).filter(|_| is_success) else {
        return Vec::new();
    };
    let reply = followed(api, reply);
    let members = |node: &'a Value, word: &str| {
        let members = node.get(word).and_then(Value::as_object);
        members.into_iter().flat_map(Map::iter).collect::<Vec<_>>()
    };
    let is_json = |kind: &str| kind.contains("json") || kind == "*/*";
    // In 2.0 the examples stand by media type.
    let own = members(reply, "examples").into_iter().filter(|(kind, _)| is_json(kind));
    let mut examples: Vec<&Value> = own.map(|(_, value)| value).collect();
    for (_, content) in members(reply, "content").into_iter().filter(|(kind, _)| is_json(kind)) {
        examples.extend(content.get("example"));
        let named = members(content, "examples").into_iter();
        examples.extend(named.filter_map(|(_, one)| followed(api, one).get("value")));
    }
    examples
}

/// What a node's reference leads to, else the node.
fn followed<'a>(api: &'a Api, node: &'a Value) -> &'a Value {
    let reference = node.get("$ref").and_then(Value::as_str);
    reference.and_then(|reference| api.raw().pointer(&reference[1..])).unwrap_or(node)
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
    let elsewhere = report.reasons.get("a reference to another file").copied().unwrap_or_default();
    let own = report.operations - elsewhere;
    assert!(report.tools as f64 >= LEAST * own as f64, "{} of {own}", report.tools);
    let wrong: Vec<_> = report.wrong.keys().collect();
    assert_eq!(wrong, WRONG_EXAMPLES, "success examples that do not fit what is published");
    assert_eq!(report.uncallable, CONTRADICTIONS, "tools that accept nothing");
    assert!(report.tools > 5_000 && report.examples > 900);
    assert!(report.accepted > 9 * report.refused.values().sum::<usize>());
}
