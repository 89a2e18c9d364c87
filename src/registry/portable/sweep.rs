//! Every schema and every success example of the real documents, when the folder with them is there.

use std::{fs, path::PathBuf};

use serde_json::json;

use super::*;
use crate::{
    openapi::{Media, Reply, Status},
    registry::{output as outputs, plan::Shape},
};

fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/specs"));
    let folder = std::env::var_os("TOOLGATE_SPECS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The documents that a plain parser reads, by name.
fn documents() -> Vec<(String, Value)> {
    let files = folder().into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> =
        files.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        let value = if text.trim_start().starts_with('{') {
            serde_json::from_str(&text).ok()
        } else {
            serde_yaml::from_str(&text).ok()
        };
        let value = value.filter(|value: &Value| value.get("paths").is_some())?;
        Some((path.file_name()?.to_string_lossy().into_owned(), value))
    };
    paths.into_iter().filter_map(read).collect()
}

fn schemas(document: &Value) -> Vec<String> {
    let lists = ["/components/schemas", "/definitions"];
    let names = |list: &&str| {
        document.pointer(list).and_then(Value::as_object).map(|map| {
            map.keys()
                .map(|name| format!("#{list}/{}", name.replace('~', "~0").replace('/', "~1")))
                .collect::<Vec<_>>()
        })
    };
    lists.iter().filter_map(names).flatten().collect()
}

fn sound(name: &str, schema: &Value, faults: &[String]) {
    assert_eq!(faults, Vec::<String>::new(), "{name}");
    assert!(
        jsonschema::draft7::new(schema).is_ok() && jsonschema::draft202012::new(schema).is_ok(),
        "{name}"
    );
}

#[test]
fn every_schema_of_the_real_documents_becomes_portable() {
    let (mut count, mut bytes, mut cut) = (0, [0, 0], 0);
    for (file, document) in documents() {
        let resolve = by_pointer(&document);
        let started = std::time::Instant::now();
        let before = count;
        for name in schemas(&document) {
            let reference = json!({ "$ref": name });
            let body = json!({ "type": "object", "properties": { "body": reference }, "required": ["body"] });
            for root in [&reference, &body] {
                let (one, two) = (input(root, &resolve), output(root, &resolve));
                cut += usize::from(one.cut > 0);
                let (one, two) = (Value::Object(one.schema), Value::Object(two.schema));
                bytes[0] += keywords::size(&one);
                bytes[1] += keywords::size(&two);
                count += 1;
                sound(&format!("{file} {name}"), &one, &lint(&one));
                sound(&format!("{file} {name}"), &two, &lint_output(&two));
            }
        }
        println!("{file}: {} in {:?}", count - before, started.elapsed());
    }
    println!("{count} schemas, {bytes:?} bytes, {cut} inputs cut");
}

fn by_pointer(document: &Value) -> impl Fn(&str) -> Result<Arc<Value>, Fault> {
    move |reference: &str| {
        let pointer = percent_encoding::percent_decode_str(reference.trim_start_matches('#'))
            .decode_utf8_lossy();
        let found = document.pointer(&pointer).cloned().map(Arc::new);
        found.ok_or_else(|| Fault { pointer: pointer.into_owned(), words: "does not exist".into() })
    }
}

/// The replies of every operation, read without regard to references of whole replies.
fn replies(document: &Value) -> Vec<(String, Vec<(Reply, Vec<Value>)>)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, item)| {
        item.as_object()
            .into_iter()
            .flatten()
            .map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    let of = |(key, operation): (String, &Value)| {
        let all = operation.get("responses")?.as_object()?;
        Some((
            key,
            all.iter().filter_map(|(status, reply)| self::reply(document, status, reply)).collect(),
        ))
    };
    operations.filter_map(of).collect()
}

fn reply(document: &Value, status: &str, reply: &Value) -> Option<(Reply, Vec<Value>)> {
    let target =
        reply.get("$ref").and_then(Value::as_str).and_then(|name| document.pointer(&name[1..]));
    let reply = target.unwrap_or(reply);
    let status = match status {
        "default" => Status::Default,
        "2XX" => Status::Class(2),
        code => Status::Code(code.parse().ok()?),
    };
    let mut examples = Vec::new();
    let mut media = Vec::new();
    for (media_type, content) in
        reply.get("content").and_then(Value::as_object).into_iter().flatten()
    {
        let named = content.get("examples").and_then(Value::as_object).into_iter().flatten();
        examples.extend(named.filter_map(|(_, example)| example.get("value")).cloned());
        examples.extend(content.get("example").cloned());
        media.push(Media {
            media_type: media_type.clone(),
            schema: content.get("schema").cloned(),
            encoding: Vec::new(),
        });
    }
    if let Some(schema) = reply.get("schema") {
        media.push(Media {
            media_type: "application/json".into(),
            schema: Some(schema.clone()),
            encoding: Vec::new(),
        });
        examples.extend(
            reply
                .get("examples")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(_, value)| value.clone()),
        );
    }
    let reply = Reply {
        status,
        description: String::new(),
        media,
        headers: Vec::new(),
        pointer: String::new(),
    };
    Some((reply, examples))
}

/// A reply as the call path would shape it.
fn shaped(shape: Shape, value: &Value) -> Value {
    match (shape, value) {
        (Shape::Object | Shape::Empty, Value::Object(_)) => value.clone(),
        _ => json!({ "result": value }),
    }
}

#[test]
fn every_success_example_fits_its_output_schema() {
    let (mut operations, mut examples, mut other_kind) = (0, 0, 0);
    for (file, document) in documents() {
        let resolve = by_pointer(&document);
        for (key, replies) in replies(&document) {
            let (replies, given): (Vec<_>, Vec<_>) = replies.into_iter().unzip();
            let output = outputs::output(&replies, &resolve);
            let schema = Value::Object(output.schema);
            sound(&format!("{file} {key}"), &schema, &lint_output(&schema));
            operations += 1;
            let chosen = outputs::success(&replies)
                .and_then(|chosen| replies.iter().position(|reply| std::ptr::eq(reply, chosen)));
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            for example in chosen.map(|place| given[place].iter()).into_iter().flatten() {
                let value = shaped(output.shape, example);
                assert!(validator.is_valid(&value), "{file} {key} {value}");
                examples += 1;
                other_kind += usize::from(output.shape == Shape::Object && !example.is_object());
            }
        }
    }
    println!("{operations} operations, {examples} examples, {other_kind} of another kind");
    assert!(folder().is_none() || examples > 500);
}
