//! Which references a part of a document reaches, and which of them lead nowhere.
//!
//! The walk knows the grammar of a document, so that data (examples, defaults, extensions, a property
//! called `$ref`) is never taken for a reference. One node's findings are a [`Step`]: they depend on the
//! document alone, so each target is walked once and kept, and an operation's reach is a walk over steps.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value};

use super::{
    Fault, Version, escape,
    node::{self, Node},
    reference,
    schema::{self, Below},
};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Document,
    Components,
    PathItem,
    Operation,
    /// A header too: it has the same parts.
    Parameter,
    Body,
    Media,
    Encoding,
    Response,
    Schema,
    Callback,
    /// A link or an example: a reference or data.
    Aside,
}

/// What stands below a key.
enum Part {
    One(Kind),
    Names(Kind),
    /// Names, but for extensions.
    Extensible(Kind),
    List(Kind),
    OneOrList(Kind),
}

impl Kind {
    fn part(self, key: &str) -> Option<Part> {
        use Part::{Extensible, List, Names, One};
        Some(match (self, key) {
            (Self::Schema, _) => match schema::below(key)? {
                Below::One => One(Self::Schema),
                Below::List => List(Self::Schema),
                Below::Names => Names(Self::Schema),
                Below::OneOrList => Part::OneOrList(Self::Schema),
            },
            (Self::Document, "paths" | "webhooks") => Extensible(Self::PathItem),
            (Self::Document, "components") => One(Self::Components),
            (Self::Document, "definitions") | (Self::Components, "schemas") => Names(Self::Schema),
            (Self::Document | Self::Components, "parameters") => Names(Self::Parameter),
            (Self::Document | Self::Components, "responses") => Names(Self::Response),
            (Self::Components, "requestBodies") => Names(Self::Body),
            (Self::Components, "pathItems") => Names(Self::PathItem),
            (Self::Components, "mediaTypes") => Names(Self::Media),
            (Self::Components, "links" | "examples") => Names(Self::Aside),
            (Self::Components | Self::Operation, "callbacks") => Names(Self::Callback),
            (Self::Components | Self::Response | Self::Encoding, "headers") => {
                Names(Self::Parameter)
            }
            (Self::PathItem, "additionalOperations") => Names(Self::Operation),
            (
                Self::PathItem,
                "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace"
                | "query",
            ) => One(Self::Operation),
            (Self::PathItem | Self::Operation, "parameters") => List(Self::Parameter),
            (Self::Operation, "requestBody") => One(Self::Body),
            (Self::Operation, "responses") => Extensible(Self::Response),
            (Self::Parameter | Self::Media | Self::Response, "schema") => One(Self::Schema),
            (Self::Media, "itemSchema") | (Self::Parameter, "items") => One(Self::Schema),
            (Self::Parameter | Self::Body | Self::Response, "content") => Names(Self::Media),
            (Self::Media, "encoding") => Names(Self::Encoding),
            (Self::Parameter | Self::Media, "examples") | (Self::Response, "links") => {
                Names(Self::Aside)
            }
            (Self::Callback, key) if key != "$ref" && !key.starts_with("x-") => One(Self::PathItem),
            _ => return None,
        })
    }

    /// Never part of a call: a reference out of the document does not matter here, nor does its shape.
    fn is_aside(self) -> bool {
        matches!(self, Self::Aside | Self::Callback)
    }
}

/// What one node leads to directly.
#[derive(Debug, Default)]
pub(super) struct Step {
    targets: Vec<(Kind, String)>,
    faults: Vec<Fault>,
}

/// The steps that were made before; each target of a document is walked once.
#[derive(Debug, Default)]
pub(super) struct Steps(Mutex<HashMap<(Kind, String), Arc<Step>>>);

impl Steps {
    fn step(&self, kind: Kind, pointer: &str, root: &Value, version: Version) -> Arc<Step> {
        let key = (kind, pointer.to_owned());
        if let Some(step) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return step.clone();
        }
        let step = Node::at(root, pointer.to_owned());
        let step = Arc::new(step.map(|node| walk(kind, &node, root, version)).unwrap_or_default());
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        steps.entry(key).or_insert(step).clone()
    }

    /// Every fault that a call of the operation with these parts could meet.
    pub(super) fn faults(
        &self,
        parts: &[(Kind, Node<'_>)],
        root: &Value,
        version: Version,
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut seen = HashSet::new();
        let mut queue: Vec<Arc<Step>> = Vec::new();
        queue.extend(parts.iter().map(|(kind, node)| Arc::new(walk(*kind, node, root, version))));
        while let Some(step) = queue.pop() {
            faults.extend(step.faults.iter().cloned());
            for (kind, pointer) in &step.targets {
                if seen.insert((*kind, pointer.clone())) {
                    queue.push(self.step(*kind, pointer, root, version));
                }
            }
        }
        faults
    }
}

/// The first local reference of the whole document that leads nowhere.
pub(super) fn dangling(root: &Value, version: Version) -> Option<Fault> {
    let mut walk = Walk::new(root, version, Scope::Document, "");
    walk.node(Kind::Document, root);
    walk.step.faults.into_iter().next()
}

fn walk(kind: Kind, node: &Node<'_>, root: &Value, version: Version) -> Step {
    let mut walk = Walk::new(root, version, Scope::Call, &node.pointer);
    walk.node(kind, node.value);
    walk.step
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everything that a call depends on: targets, shapes, references of every kind.
    Call,
    /// Local references that lead nowhere, anywhere; ends at the first.
    Document,
}

struct Walk<'a> {
    root: &'a Value,
    version: Version,
    scope: Scope,
    path: String,
    step: Step,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Value, version: Version, scope: Scope, path: &str) -> Self {
        Self { root, version, scope, path: path.to_owned(), step: Step::default() }
    }

    fn node(&mut self, kind: Kind, value: &Value) {
        if self.scope == Scope::Document && !self.step.faults.is_empty() {
            return;
        }
        let Some(map) = self.mapping(kind, value) else { return };
        if let Some(reference) = map.get("$ref") {
            self.reference(kind, reference);
            let siblings =
                kind == Kind::PathItem || (kind == Kind::Schema && self.version.keeps_siblings());
            if !siblings {
                return;
            }
        }
        if kind.is_aside() && self.scope == Scope::Call {
            return;
        }
        if kind == Kind::Schema && map.contains_key("$dynamicRef") {
            self.fault("`$dynamicRef` is not supported".into());
        }
        for (key, value) in map {
            if let Some(part) = kind.part(key) {
                self.below(key, |walk| walk.part(&part, value));
            }
        }
    }

    fn part(&mut self, part: &Part, value: &Value) {
        match (part, value) {
            (_, Value::Null) => {}
            (Part::One(kind), _) => self.node(*kind, value),
            (Part::List(kind) | Part::OneOrList(kind), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(&index.to_string(), |walk| walk.node(*kind, item));
                }
            }
            (Part::OneOrList(kind), _) => self.node(*kind, value),
            (Part::List(kind), _) => self.wrong(*kind, "a list", value),
            // Some generators write an empty mapping as an empty list.
            (_, Value::Array(items)) if items.is_empty() => {}
            (Part::Names(kind) | Part::Extensible(kind), _) => {
                let Value::Object(map) = value else {
                    return self.wrong(*kind, "a mapping", value);
                };
                let extensible = matches!(part, Part::Extensible(_));
                for (name, value) in map {
                    if !extensible || !name.starts_with("x-") {
                        self.below(name, |walk| walk.node(*kind, value));
                    }
                }
            }
        }
    }

    fn below(&mut self, token: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&escape(token));
        visit(self);
        self.path.truncate(length);
    }

    fn mapping<'v>(&mut self, kind: Kind, value: &'v Value) -> Option<&'v Map<String, Value>> {
        match value {
            Value::Object(map) => return Some(map),
            Value::Null => {}
            Value::Bool(_) if kind == Kind::Schema => {}
            _ => self.wrong(kind, "a mapping", value),
        }
        None
    }

    fn wrong(&mut self, kind: Kind, expected: &str, value: &Value) {
        if !kind.is_aside() {
            self.fault(format!("must be {expected}, not {}", node::kind(value)));
        }
    }

    /// A fault of shape: only what a call depends on has to be sound.
    fn fault(&mut self, words: String) {
        if self.scope == Scope::Call {
            self.step.faults.push(Fault { pointer: self.path.clone(), words });
        }
    }

    fn reference(&mut self, kind: Kind, reference: &Value) {
        let Value::String(reference) = reference else {
            let words = format!("`$ref` must be text, not {}", node::kind(reference));
            return self.fault(words);
        };
        let followed = self.scope == Scope::Call && !kind.is_aside();
        match reference::pointer(reference) {
            Ok(pointer) if self.root.pointer(&pointer).is_some() => {
                if followed {
                    self.cycle(&pointer);
                    self.step.targets.push((kind, pointer));
                }
            }
            Ok(_) => self.unresolved(format!("`{reference}` does not exist")),
            Err(words) if followed => self.unresolved(words),
            Err(_) => {}
        }
    }

    /// A target that is nothing but references in a circle stands for nothing.
    fn cycle(&mut self, pointer: &str) {
        let target = Node::at(self.root, pointer.to_owned());
        if let Some(Err(fault)) = target.map(|target| target.follow(self.root)) {
            self.step.faults.push(fault);
        }
    }

    fn unresolved(&mut self, words: String) {
        self.step.faults.push(Fault { pointer: format!("{}/$ref", self.path), words });
    }
}
