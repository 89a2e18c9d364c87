//! One OpenAPI document as the rest of the program sees it.
//!
//! A text becomes a strict JSON value ([`text`]), its version is read first, and an [`Api`] answers
//! from then on in one model, whatever version the document speaks: Swagger 2.0, OpenAPI 3.0, 3.1
//! or 3.2. Schemas leave here as JSON Schema 2020-12 whose references are pointers into the document.
//!
//! Only what is asked for must be sound: [`parse`] fails on the shape of the whole (not an OpenAPI
//! document, two equal keys), [`Api::details`] on the one operation it is asked about. References
//! are followed inside the document only; nothing here opens a file or a connection.

mod body;
mod changes;
mod index;
pub mod media_type;
mod model;
mod node;
mod operation;
mod parameter;
mod reach;
mod reference;
mod schema;
mod server;
pub mod template;
#[cfg(test)]
mod tests;
pub mod text;
mod version;

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place, Position};
use node::Node;

pub use changes::{Changes, changes};
pub use model::{
    Body, Details, Encoding, Location, Media, Operation, OperationKey, Parameter, PartEncoding,
    Reply, Status, Style, Tag, Version,
};

/// Faults of one document that get a line and a column; more help nobody.
const MAX_LOCATED: usize = 50;

/// A fault inside a document: where and what. [`Api::diagnostics`] adds file, line and column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// RFC 6901 pointer of the faulty node, or of its nearest existing parent.
    pub pointer: String,
    /// Lower case, no full stop, the document's own words in backticks.
    pub words: String,
}

/// One document of a known version. Operations are in document order and their keys are unique;
/// [`parse`] is the only maker.
#[derive(Debug)]
pub struct Api {
    text: text::Text,
    root: Value,
    version: Version,
    api_version: String,
    operations: Vec<Operation>,
    schemas: Mutex<HashMap<String, Arc<Value>>>,
    steps: reach::Steps,
    dangling: OnceLock<Option<Fault>>,
}

/// One of these makes a document without `paths` whole.
const OTHER_PARTS: [&str; 3] = ["components", "webhooks", "definitions"];

/// Reads a document.
///
/// # Errors
/// When the text is not JSON or YAML within the budgets, or not an OpenAPI document of a known version.
pub fn parse(text: &text::Text) -> Result<Api, Vec<Diagnostic>> {
    if text.content().trim_start().starts_with('<') {
        let words = "not an OpenAPI document; it looks like a web page";
        return Err(diagnostics(text, &[Node::root(&Value::Null).fault(words)]));
    }
    let root = text.value().map_err(|diagnostic| vec![diagnostic])?;
    let (version, operations) =
        sound(&Node::root(&root)).map_err(|faults| diagnostics(text, &faults))?;
    let info = Node::root(&root).child("info");
    Ok(Api {
        text: text.clone(),
        version,
        api_version: info.map(|info| info.prose("version")).unwrap_or_default(),
        operations,
        root,
        schemas: Mutex::default(),
        steps: reach::Steps::default(),
        dangling: OnceLock::new(),
    })
}

/// Version and operations of a document whose outermost parts have the right shape.
fn sound(root: &Node<'_>) -> Result<(Version, Vec<Operation>), Vec<Fault>> {
    let not_one = |words: String| vec![root.fault(format!("not an OpenAPI document; {words}"))];
    match root.value {
        Value::Object(map) if map.contains_key("openapi") || map.contains_key("swagger") => {}
        Value::Object(_) => return Err(not_one("it has no `openapi` or `swagger` entry".into())),
        Value::Null => return Err(not_one("it is empty".into())),
        value => return Err(not_one(format!("it is {}", node::kind(value)))),
    }
    match (Version::of(root), paths(root)) {
        (Ok(version), Ok(())) => {
            let operations = index::operations(root.value, version).map_err(|fault| vec![fault])?;
            Ok((version, operations))
        }
        (version, paths) => Err(version.err().into_iter().chain(paths.err()).collect()),
    }
}

/// A text cut off before or after its `paths:` is no document without operations.
fn paths(root: &Node<'_>) -> Result<(), Fault> {
    match root.value.get("paths") {
        Some(Value::Null) => {
            Err(Fault { pointer: "/paths".into(), words: "`paths` is empty".into() })
        }
        None if OTHER_PARTS.iter().all(|part| root.child(part).is_none()) => {
            Err(root.fault("`paths` is missing"))
        }
        _ => root.entries("paths").map(drop),
    }
}

impl Api {
    /// The document's name as the user wrote it.
    pub fn file(&self) -> &Arc<str> {
        self.text.file()
    }

    /// The version it speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// `info.title`; empty when absent.
    pub fn title(&self) -> &str {
        self.root.pointer("/info/title").and_then(Value::as_str).unwrap_or_default()
    }

    /// `info.version`, also when it is written as a number; empty when absent.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// `info.description`; empty when absent.
    pub fn description(&self) -> &str {
        self.root.pointer("/info/description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The tags that the document declares, in its order.
    pub fn tags(&self) -> Vec<Tag> {
        let tags = Node::root(&self.root).elements("tags").unwrap_or_default();
        let tag = |node: Node<'_>| {
            let name = node.text("name").ok().flatten()?.to_owned();
            Some(Tag { name, description: node.prose("description") })
        };
        tags.into_iter().filter_map(tag).collect()
    }

    /// All operations, in document order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The parts of one operation. With `path`, its placeholders are matched against that template
    /// instead of the document's.
    ///
    /// # Errors
    /// Every fault of the operation at once, dangling references that it reaches included.
    pub fn details(
        &self,
        operation: &Operation,
        path: Option<&str>,
    ) -> Result<Details, Vec<Fault>> {
        operation::details(self, operation, path)
    }

    /// The target of a local reference (`#/components/schemas/Memo`) as 2020-12; references inside
    /// it stay. Each target is made once and kept.
    ///
    /// # Errors
    /// When there is no such place, or it is a cycle of nothing but references.
    pub fn schema(&self, reference: &str) -> Result<Arc<Value>, Fault> {
        let fault = |words| Fault { pointer: String::new(), words };
        let pointer = reference::pointer(reference).map_err(fault)?;
        let schemas = || self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = schemas().get(&pointer) {
            return Ok(schema.clone());
        }
        let missing = || fault(format!("`{reference}` does not exist"));
        let node = Node::at(&self.root, pointer.clone()).ok_or_else(missing)?;
        node.clone().follow(&self.root)?;
        let schema = Arc::new(schema::normal(node.value, self.version));
        Ok(schemas().entry(pointer).or_insert(schema).clone())
    }

    /// The first local reference anywhere in the document that does not resolve, listed or not: what
    /// tells a torn document from a whole one.
    pub fn dangling(&self) -> Option<&Fault> {
        self.dangling.get_or_init(|| reach::dangling(&self.root, self.version)).as_ref()
    }

    /// Faults with file, line and column; at most 50 are located, the rest carry the file only.
    pub fn diagnostics(&self, faults: &[Fault]) -> Vec<Diagnostic> {
        diagnostics(&self.text, faults)
    }

    /// The document as it was read, for readers that show it.
    pub fn raw(&self) -> &Value {
        &self.root
    }

    /// Faults in what these parts of an operation are and reach.
    fn reached_faults(&self, parts: &[(reach::Kind, Node<'_>)]) -> Vec<Fault> {
        self.steps.faults(parts, &self.root, self.version)
    }
}

fn diagnostics(text: &text::Text, faults: &[Fault]) -> Vec<Diagnostic> {
    let pointers: Vec<&str> =
        faults.iter().take(MAX_LOCATED).map(|fault| fault.pointer.as_str()).collect();
    let places = text.places(&pointers).into_iter().chain(std::iter::repeat(None));
    let diagnostic = |(fault, place): (&Fault, Option<Place>)| {
        let position = Position { file: text.file().clone(), place };
        Diagnostic::error(fault.words.clone()).at(position)
    };
    faults.iter().zip(places).map(diagnostic).collect()
}

/// Escapes one token of a JSON pointer.
pub fn escape(token: &str) -> Cow<'_, str> {
    if token.contains(['~', '/']) {
        Cow::Owned(token.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Unescapes one token of a JSON pointer (RFC 6901 section 4).
pub fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}
