//! A second opinion: openapiv3's typed reading of each 3.0 document that it can read, against ours.

use openapiv3::{OpenAPI, Operation, Parameter, ReferenceOr, RequestBody, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{Api, Details, Encoding, Location, Style, Version},
    Status, api,
    corpus::{REFUSED, documents, folder},
};
use crate::openapi::{self, OperationKey, parse};

/// Documents that openapiv3 cannot read: operations that are references to other files.
const UNREAD: [&str; 1] = ["digitalocean-multifile.yaml"];

/// What both agreed on.
#[derive(Debug, Default)]
struct Agreed {
    documents: usize,
    operations: usize,
    parameters: usize,
    bodies: usize,
    replies: usize,
    /// Operations that we do not read to their end.
    refused: usize,
}

impl Agreed {
    /// Compares one document; `None` when openapiv3 cannot read it.
    fn document(&mut self, api: &Api) -> Option<()> {
        let typed: OpenAPI = serde_json::from_value(api.raw().clone()).ok()?;
        self.documents += 1;
        let mut ours: Vec<&OperationKey> = api.operations().iter().map(|one| &one.key).collect();
        for (path, item) in typed.paths.iter() {
            let ReferenceOr::Item(item) = item else { panic!("{path} is a reference") };
            for (method, operation) in item.iter() {
                let key = format!("{} {path}", method.to_uppercase());
                let at = ours.iter().position(|ours| ours.to_string() == key).unwrap();
                ours.swap_remove(at);
                self.operation(api, &key, operation, &item.parameters);
            }
        }
        assert!(ours.is_empty(), "{ours:?}");
        Some(())
    }

    fn operation(
        &mut self,
        api: &Api,
        key: &str,
        typed: &Operation,
        shared: &[ReferenceOr<Parameter>],
    ) {
        let ours = super::operation(api, key);
        assert_eq!((&ours.id, &ours.tags), (&typed.operation_id, &typed.tags), "{key}");
        self.operations += 1;
        let Ok(details) = api.details(ours, None) else {
            self.refused += 1;
            return;
        };
        let own: Vec<_> =
            typed.parameters.iter().map(|one| parameter(&resolved(api, one))).collect();
        let mut all: Vec<_> = shared.iter().map(|one| parameter(&resolved(api, one))).collect();
        all.retain(|shared| own.iter().all(|own| (&own.0, own.1) != (&shared.0, shared.1)));
        all.extend(own);
        let mut ours: Vec<_> = details.parameters.iter().map(our_parameter).collect();
        let order = |one: &Shown| (one.0.clone(), format!("{:?}", one.1));
        all.sort_by_key(order);
        all.dedup();
        ours.sort_by_key(order);
        assert_eq!(ours, all, "{key}");
        self.parameters += ours.len();
        self.body(api, key, typed, &details);
        self.replies(api, key, typed, &details);
    }

    fn body(&mut self, api: &Api, key: &str, typed: &Operation, details: &Details) {
        let typed = typed.request_body.as_ref().map(|body| resolved::<RequestBody>(api, body));
        let typed = typed.filter(|body| !body.content.is_empty());
        let ours = details.body.as_ref();
        let ours = ours.map(|body| (body.required, media(&body.media)));
        let theirs = typed.map(|body| (body.required, body.content.keys().cloned().collect()));
        assert_eq!(ours, theirs, "{key}");
        self.bodies += usize::from(ours.is_some());
    }

    fn replies(&mut self, api: &Api, key: &str, typed: &Operation, details: &Details) {
        let mut theirs: Vec<(String, Vec<String>)> = Vec::new();
        let default = typed.responses.default.as_ref().map(|reply| ("default".to_owned(), reply));
        let coded = typed.responses.responses.iter().map(|(status, reply)| {
            let shown = match status {
                StatusCode::Code(code) => code.to_string(),
                StatusCode::Range(class) => format!("{class}XX"),
            };
            (shown, reply)
        });
        for (status, reply) in default.into_iter().chain(coded) {
            let reply: Response = resolved(api, reply);
            theirs.push((status, reply.content.keys().cloned().collect()));
        }
        let ours = details.replies.iter().map(|reply| (status(reply.status), media(&reply.media)));
        let mut ours: Vec<_> = ours.collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{key}");
        self.replies += ours.len();
    }
}

/// Name, place, required, style, explode.
type Shown = (String, Location, bool, Option<Style>, Option<bool>);

fn parameter(typed: &Parameter) -> Shown {
    let data = typed.parameter_data_ref();
    let (location, style) = match typed {
        Parameter::Path { style, .. } => (Location::Path, Style::from(style.clone())),
        Parameter::Query { style, .. } => (Location::Query, Style::from(style.clone())),
        Parameter::Header { style, .. } => (Location::Header, Style::from(style.clone())),
        Parameter::Cookie { style, .. } => (Location::Cookie, Style::from(style.clone())),
    };
    let required = data.required || location == Location::Path;
    if let openapiv3::ParameterSchemaOrContent::Content(_) = data.format {
        return (data.name.clone(), location, required, None, None);
    }
    let explode = data.explode.unwrap_or(style == Style::Form);
    (data.name.clone(), location, required, Some(style), Some(explode))
}

fn our_parameter(ours: &openapi::Parameter) -> Shown {
    let (style, explode) = match ours.encoding {
        Encoding::Style { style, explode, .. } => (Some(style), Some(explode)),
        Encoding::Content(_) => (None, None),
    };
    (ours.name.clone(), ours.location, ours.required, style, explode)
}

fn media(media: &[openapi::Media]) -> Vec<String> {
    media.iter().map(|media| media.media_type.clone()).collect()
}

fn status(status: Status) -> String {
    match status {
        Status::Code(code) => code.to_string(),
        Status::Class(class) => format!("{class}XX"),
        Status::Default => "default".into(),
    }
}

/// What a reference leads to, by nothing but its own text.
fn resolved<T: for<'de> Deserialize<'de> + Clone>(api: &Api, one: &ReferenceOr<T>) -> T {
    let reference = match one {
        ReferenceOr::Item(item) => return item.clone(),
        ReferenceOr::Reference { reference } => reference,
    };
    let pointer = percent_decode_str(&reference[1..]).decode_utf8().unwrap();
    let target: &Value = api.raw().pointer(&pointer).unwrap_or_else(|| panic!("{reference}"));
    serde_json::from_value(target.clone()).unwrap()
}

#[test]
fn openapiv3_reads_the_same_from_a_small_document() {
    let yaml = "
openapi: 3.0.0
info: {title: t, version: '1'}
paths:
  /a/{b}:
    parameters:
      - {name: b, in: path, required: true, style: label, schema: {type: string}}
      - {name: c, in: query, schema: {type: string}}
    put:
      operationId: x
      tags: [t]
      parameters:
        - {name: c, in: query, required: true, style: pipeDelimited, schema: {type: array, items: {}}}
        - {name: d, in: header, explode: true, schema: {type: string}}
        - {name: e, in: cookie, content: {a/b: {}}}
      requestBody: {required: true, content: {application/json: {}, text/plain: {}}}
      responses: {200: {description: ok, content: {a/b: {}}}, 4XX: {description: no}, default: {description: d}}
";
    let mut agreed = Agreed::default();
    agreed.document(&api(yaml)).unwrap();
    assert_eq!((agreed.parameters, agreed.bodies, agreed.replies), (4, 1, 3));
}

#[test]
fn openapiv3_reads_the_same_from_real_documents() {
    let Some(folder) = folder() else { return };
    let (mut agreed, mut unread) = (Agreed::default(), Vec::new());
    for (name, text) in documents(&folder) {
        let api = parse(&text).unwrap();
        if api.version() != Version::V30 {
            continue;
        }
        let refused = agreed.refused;
        if agreed.document(&api).is_none() {
            unread.push(name);
            continue;
        }
        let expected = REFUSED.iter().find(|(known, ..)| *known == name).map_or(0, |(_, n, _)| *n);
        assert_eq!(agreed.refused - refused, expected, "{name}");
    }
    println!("{agreed:?}");
    assert_eq!(unread, UNREAD);
    assert!(agreed.operations > 4_000);
}
