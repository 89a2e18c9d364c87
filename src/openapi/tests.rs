//! The module as others see it: whole documents of each version, shown in a few lines an operation.
//!
//! `tests/data/openapi` holds documents and what they are read as. With `TOOLGATE_BLESS` set, a
//! difference is written instead of reported; look at it before it is committed.

mod corpus;
mod opinion;

use std::{env, fmt::Write, fs, path::Path};

use serde_json::{Value, json};

use super::{
    Api, Body, Details, Encoding, Fault, Location, Media, Operation, Parameter, Reply, Status,
    Version, parse, text::Text,
};

/// A document of this text.
pub(super) fn api(content: &str) -> Api {
    let text = Text::new("api.yaml", content.as_bytes()).unwrap();
    parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// What `parse` says of a text that is no document.
#[track_caller]
fn refused(content: &str, expected: &[&str]) {
    let text = Text::new("api.yaml", content.as_bytes()).unwrap();
    let errors = parse(&text).expect_err("refused");
    let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected);
}

fn operation<'a>(api: &'a Api, key: &str) -> &'a Operation {
    let named = |operation: &&Operation| operation.key.to_string() == key;
    api.operations().iter().find(named).unwrap()
}

/// The words of every fault of an operation, each with its pointer.
fn faults(api: &Api, key: &str, path: Option<&str>) -> Vec<String> {
    let faults = api.details(operation(api, key), path).err().unwrap_or_default();
    faults.iter().map(|fault| format!("{} {}", fault.pointer, fault.words)).collect()
}

/// One operation in a few lines.
fn shown(api: &Api, operation: &Operation) -> String {
    let mut out = format!("{}", operation.key);
    let id = operation.id.as_deref().unwrap_or("-");
    let shared = if operation.shared_id { " shared" } else { "" };
    let deprecated = if operation.deprecated { " deprecated" } else { "" };
    writeln!(out, " {id}{shared}{deprecated} {:?} {:?}", operation.tags, operation.summary)
        .unwrap();
    match api.details(operation, None) {
        Ok(details) => parts(&mut out, &details),
        Err(faults) => {
            for diagnostic in api.diagnostics(&faults) {
                writeln!(out, "  {diagnostic}").unwrap();
            }
        }
    }
    out
}

fn parts(out: &mut String, details: &Details) {
    writeln!(out, "  server {:?}", details.server_path).unwrap();
    for Parameter { name, location, required, encoding, schema, .. } in &details.parameters {
        let mark = if *required { "!" } else { "" };
        let encoding = match encoding {
            Encoding::Content(media_type) => media_type.clone(),
            Encoding::Style { style, explode, allow_reserved } => {
                let explode = if *explode { " exploded" } else { "" };
                format!("{style:?}{explode}{}", if *allow_reserved { " reserved" } else { "" })
            }
        };
        writeln!(out, "  {location:?} {name}{mark} {encoding} {schema}").unwrap();
    }
    if let Some(Body { required, description, media, .. }) = &details.body {
        writeln!(out, "  body{} {description:?}", if *required { "!" } else { "" }).unwrap();
        media.iter().for_each(|media| media_line(out, media));
    }
    for Reply { status, description, media, headers, .. } in &details.replies {
        writeln!(out, "  {status:?} {description:?} {headers:?}").unwrap();
        media.iter().for_each(|media| media_line(out, media));
    }
}

fn media_line(out: &mut String, media: &Media) {
    let schema = media.schema.as_ref().map_or_else(|| "-".into(), Value::to_string);
    writeln!(out, "    {} {schema}", media.media_type).unwrap();
    for (name, part) in &media.encoding {
        writeln!(out, "      {name} {part:?}").unwrap();
    }
}

/// A document of `tests/data/openapi` is read as the text beside it says.
#[track_caller]
fn golden(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openapi");
    let text = Text::new(name, &fs::read(folder.join(name)).unwrap()).unwrap();
    let api = parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut out = format!("{:?} {:?} {:?}\n", api.version(), api.title(), api.api_version());
    let tags = api.tags();
    tags.iter().for_each(|tag| writeln!(out, "tag {} {:?}", tag.name, tag.description).unwrap());
    let dangling = api.dangling().map(|fault| format!("{} {}", fault.pointer, fault.words));
    writeln!(out, "dangling {dangling:?}\n").unwrap();
    api.operations().iter().for_each(|operation| out += &format!("{}\n", shown(&api, operation)));
    let expected = folder.join(name).with_extension("txt");
    if env::var_os("TOOLGATE_BLESS").is_some() {
        fs::write(&expected, &out).unwrap();
    }
    let expected = fs::read_to_string(expected).unwrap_or_default();
    let difference = out.lines().zip(expected.lines()).find(|(ours, theirs)| ours != theirs);
    assert_eq!(difference, None);
    assert_eq!(out.lines().count(), expected.lines().count());
}

#[test]
fn a_swagger_2_0_document_is_read() {
    golden("v20.yaml");
}

#[test]
fn an_openapi_3_0_document_is_read() {
    golden("v30.yaml");
}

#[test]
fn an_openapi_3_1_document_is_read() {
    golden("v31.json");
}

#[test]
fn an_openapi_3_2_document_is_read() {
    golden("v32.yaml");
}

#[test]
fn what_is_no_document_is_refused_by_a_word() {
    refused("", &["api.yaml:1:1: error: not an OpenAPI document; it is empty"]);
    refused("# only\n# comments\n", &["api.yaml:1:1: error: not an OpenAPI document; it is empty"]);
    refused(
        "<!doctype html>\n<p>hello",
        &["api.yaml:1:1: error: not an OpenAPI document; it looks like a web page"],
    );
    refused("hello", &["api.yaml:1:1: error: not an OpenAPI document; it is text"]);
    refused("[1]", &["api.yaml:1:1: error: not an OpenAPI document; it is a list"]);
    refused(
        "asyncapi: 3.0.0",
        &["api.yaml:1:1: error: not an OpenAPI document; it has no `openapi` or `swagger` entry"],
    );
    refused(
        "info: {}\nopenapi: 4.0.0\npaths:\n",
        &[
            "api.yaml:2:1: error: openapi `4.0.0` is not supported; 2.0, 3.0, 3.1 and 3.2 are",
            "api.yaml:3:1: error: `paths` is empty",
        ],
    );
    refused("openapi: 3.0.0\ninfo: {}\n", &["api.yaml:1:1: error: `paths` is missing"]);
    refused(
        "openapi: 3.0.0\npaths: 5",
        &["api.yaml:2:1: error: `paths` must be a mapping, not a number"],
    );
}

#[test]
fn a_document_may_have_no_operations() {
    assert_eq!(api("openapi: 3.1.0\ncomponents: {}\n").operations().len(), 0);
    assert_eq!(api("openapi: 3.0.0\npaths: {}\n").operations().len(), 0);
}

#[test]
fn another_path_is_matched_instead_of_the_documents() {
    let api = api(
        "openapi: 3.0.0\npaths:\n  /instance/{instance}/*:\n    get:\n      parameters:\n        - {name: instance, in: path, required: true}\n",
    );
    let key = "GET /instance/{instance}/*";
    let at = "/paths/~1instance~1{instance}~1*/get";
    assert_eq!(faults(&api, key, Some("/instance/settings/{instance}")), [""; 0]);
    assert!(faults(&api, key, None)[0].contains("it has a literal `*`"));
    assert_eq!(
        faults(&api, key, Some("/instance/settings")),
        [format!(
            "{at}/parameters/0 path parameter `instance` has no placeholder in `/instance/settings`"
        )],
    );
    assert_eq!(
        faults(&api, key, Some("/{instance}/{other}")),
        [format!("{at} placeholder `other` of `/{{instance}}/{{other}}` has no path parameter")],
    );
    assert!(faults(&api, key, Some("/{instance"))[0].contains("without its `}`"));
}

#[test]
fn a_schema_is_made_once_and_found_by_any_spelling() {
    let api = api(
        "openapi: 3.0.0\npaths: {}\nx-a: {'b/c d': {nullable: true, type: string}}\nx-loop: {$ref: '#/x-loop'}\nx-on: {$ref: '#/x-a'}\n",
    );
    let schema = api.schema("#/x-a/b~1c%20d").unwrap();
    assert_eq!(*schema, json!({"type": ["string", "null"]}));
    assert!(std::sync::Arc::ptr_eq(&schema, &api.schema("#/x-a/b~1c d").unwrap()));
    assert_eq!(*api.schema("#/x-on").unwrap(), json!({"$ref": "#/x-a"}));
    let words = |reference: &str| api.schema(reference).unwrap_err().words;
    assert_eq!(words("#/x-a/none"), "`#/x-a/none` does not exist");
    assert_eq!(words("#/x-loop"), "`#/x-loop` leads back to itself through references only");
    assert!(words("a.yaml#/b").starts_with("`a.yaml#/b` is outside this document"));
    assert!(words("#name").starts_with("`#name` is a named anchor"));
    assert!(words("#/%ff").contains("no UTF-8"));
}

#[test]
fn dangling_looks_everywhere_but_into_data() {
    let first = |yaml: &str| api(yaml).dangling().map(|fault| fault.pointer.clone());
    let schema = |schema: &str| format!("openapi: 3.0.0\ncomponents: {{schemas: {{a: {schema}}}}}");
    assert_eq!(first(&schema("{$ref: '#/none'}")), Some("/components/schemas/a/$ref".into()));
    assert_eq!(first(&schema("{properties: {$ref: {type: string}}}")), None);
    assert_eq!(first(&schema("{default: {$ref: '#/none'}, x-b: {$ref: '#/none'}}")), None);
    assert_eq!(first(&schema("{$ref: 'file.yaml'}")), None);
    assert_eq!(
        first(&schema("{properties: {a: {items: {$ref: '#/none'}}}}")),
        Some("/components/schemas/a/properties/a/items/$ref".into()),
    );
    let callback = "openapi: 3.0.0\npaths: {/a: {get: {callbacks: {c: {'{$url}': {post: {requestBody: {$ref: '#/none'}}}}}}}}";
    assert!(first(callback).is_some_and(|pointer| pointer.ends_with("/requestBody/$ref")));
    assert_eq!(faults(&api(callback), "GET /a", None), [""; 0]);
}

#[test]
fn only_the_first_faults_are_located() {
    let api = api("openapi: 3.0.0\npaths: {}\n");
    let fault = Fault { pointer: "/openapi".into(), words: "words".into() };
    let diagnostics = api.diagnostics(&vec![fault; 60]);
    let located = |n: usize| diagnostics[n].position.as_ref().unwrap().place.is_some();
    assert!(diagnostics.len() == 60 && located(49) && !located(50));
}

/// A generator may be interrupted anywhere; each prefix is refused or read, and every fault has a place.
#[test]
fn a_text_cut_anywhere_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openapi");
    for name in ["v20.yaml", "v30.yaml", "v31.json", "v32.yaml"] {
        let whole = fs::read(folder.join(name)).unwrap();
        for end in (0..whole.len()).step_by(13) {
            let Ok(text) = Text::new(name, &whole[..end]) else { continue };
            let diagnostics = match parse(&text) {
                Err(diagnostics) => diagnostics,
                Ok(api) => {
                    let read = api.operations().iter().map(|one| api.details(one, None));
                    api.diagnostics(&read.filter_map(Result::err).flatten().collect::<Vec<_>>())
                }
            };
            let mut places = diagnostics.iter().take(50).map(|one| one.position.as_ref());
            assert!(places.all(|one| one.is_some_and(|one| one.place.is_some())), "{name} {end}");
        }
    }
}

#[test]
fn statuses_styles_and_places_have_openapis_words() {
    let api =
        api("openapi: 3.0.0\npaths: {/a: {get: {responses: {'599': {}, 5xx: {}, default: {}}}}}");
    let replies = api.details(operation(&api, "GET /a"), None).unwrap().replies;
    let statuses: Vec<Status> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses, [Status::Code(599), Status::Class(5), Status::Default]);
    assert!(Version::V20 < Version::V32 && Location::Path != Location::Query);
}
