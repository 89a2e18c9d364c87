//! Every operation, schema and success example of the real documents, when the folder with them is
//! there: the folder named by `TOOLGATE_SPECS`, else `../shared/specs`.

use std::{
    env, fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::json;

use super::*;
use crate::{
    openapi::{self, Api, Details, Reply, text::Text},
    registry::{output as outputs, plan::Shape},
};

fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/specs"));
    let folder = env::var_os("TOOLGATE_SPECS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn documents() -> Vec<Api> {
    let files = folder().into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths
        .retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        openapi::parse(&Text::new(name, &fs::read(path).unwrap()).ok()?).ok()
    };
    paths.into_iter().filter_map(read).collect()
}

/// What one kind of schema came to.
#[derive(Debug, Default)]
struct Sum {
    count: usize,
    bytes: usize,
    largest: usize,
    cut: usize,
    time: Duration,
}

impl Sum {
    /// Projects, adds up, and holds the result against the profile.
    fn project(&mut self, name: &str, side: Side, of: impl Fn() -> Published) -> Value {
        let started = Instant::now();
        let Published { schema, cut } = of();
        self.time += started.elapsed();
        let schema = Value::Object(schema);
        let bytes = schema.to_string().len();
        self.count += 1;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
        self.cut += usize::from(cut > 0);
        let faults = if side == Side::Input { lint(&schema) } else { lint_output(&schema) };
        assert_eq!(faults, Vec::<String>::new(), "{name}");
        schema
    }
}

/// Compiles in both drafts.
fn compiles(name: &str, schema: &Value) -> jsonschema::Validator {
    assert!(jsonschema::draft7::new(schema).is_ok(), "{name}");
    jsonschema::draft202012::new(schema).unwrap()
}

/// All parameters and the body as arguments, much as the registry does it.
fn arguments(details: &Details) -> Value {
    let parameters =
        details.parameters.iter().map(|given| (given.name.clone(), given.schema.clone()));
    let mut properties: Map<_, _> = parameters.collect();
    let body =
        details.body.iter().flat_map(|body| &body.media).find_map(|media| media.schema.clone());
    properties.extend(body.map(|schema| ("body".to_owned(), schema)));
    let required: Vec<_> = properties.keys().cloned().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn every_operation_of_the_real_documents_is_portable() {
    let (mut inputs, mut results, mut examples) = (Sum::default(), Sum::default(), 0);
    for api in documents() {
        let resolve = |reference: &str| api.schema(reference);
        for operation in api.operations() {
            let Ok(details) = api.details(operation, None) else { continue };
            let name = format!("{} {}", api.file(), operation.key);
            let arguments = arguments(&details);
            let schema = inputs.project(&name, Side::Input, || input(&arguments, &resolve));
            compiles(&name, &schema);
            let output = outputs::output(&details.replies, &resolve);
            let schema = results.project(&name, Side::Output, || {
                let output = outputs::output(&details.replies, &resolve);
                Published { schema: output.schema, cut: output.cut }
            });
            let validator = compiles(&name, &schema);
            for example in
                outputs::success(&details.replies).into_iter().flat_map(|reply| given(&api, reply))
            {
                let value = shaped(output.shape, example);
                assert!(validator.is_valid(&value), "{name} {value}");
                examples += 1;
            }
        }
    }
    println!("inputs {inputs:?}\noutputs {results:?}\n{examples} examples");
    assert!(folder().is_none() || inputs.count > 5_000 && examples > 900);
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
        examples.extend(
            members(content, "examples").into_iter().filter_map(|example| example.get("value")),
        );
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

#[test]
#[ignore = "takes a minute, and operations reach most schemas"]
fn every_schema_of_the_real_documents_is_portable() {
    let (mut inputs, mut results) = (Sum::default(), Sum::default());
    for api in documents() {
        let resolve = |reference: &str| api.schema(reference);
        for list in ["/components/schemas", "/definitions"] {
            let names = api.raw().pointer(list).and_then(Value::as_object);
            for name in names.into_iter().flat_map(Map::keys) {
                let root = json!({ "$ref": format!("#{list}/{}", openapi::escape(name)) });
                let name = format!("{} {name}", api.file());
                inputs.project(&name, Side::Input, || input(&root, &resolve));
                results.project(&name, Side::Output, || output(&root, &resolve));
            }
        }
    }
    println!("inputs {inputs:?}\noutputs {results:?}");
    assert!(folder().is_none() || inputs.count > 5_000);
}
