//! One operation's parts, with every fault of it at once.
//!
//! A [`Reader`] goes on after a fault, so that a person mends a document in one go. What it returns is
//! used only when nothing was wrong, in the operation itself or in anything it reaches.

use serde_json::Value;

use super::{
    Api, Details, Fault, Location, Operation, Parameter, Version, index,
    node::Node,
    reach::Kind,
    server,
    template::{self, Piece},
};

/// Reads parts of a document and collects what is wrong with them.
pub(super) struct Reader<'a> {
    pub(super) root: &'a Value,
    pub(super) version: Version,
    pub(super) faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    /// The good part of a result; the other is kept.
    pub(super) fn keep<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.faults.push(fault)).ok()
    }

    /// What a node's chain of references ends in; it is a mapping.
    pub(super) fn resolved(&mut self, node: Node<'a>) -> Option<Node<'a>> {
        let node = self.keep(node.follow(self.root))?;
        self.keep(node.mapping().map(drop))?;
        Some(node)
    }
}

/// The parts of one operation; with `path`, its placeholders are matched against that template.
pub(super) fn details(
    api: &Api,
    operation: &Operation,
    path: Option<&str>,
) -> Result<Details, Vec<Fault>> {
    let root = api.raw();
    let mut reader = Reader { root, version: api.version(), faults: Vec::new() };
    let Some(parts) = Parts::of(&mut reader, operation) else { return Err(reader.faults) };
    let template = path.unwrap_or(&operation.key.path);
    let details = reader.details(&parts, operation, template);
    let mut reached = vec![(Kind::Operation, parts.operation)];
    reached.extend(parts.shared.into_iter().map(|node| (Kind::Parameter, node)));
    reader.faults.extend(api.reached_faults(&reached));
    let faults = distinct(reader.faults);
    if faults.is_empty() { Ok(details) } else { Err(faults) }
}

/// The nodes that make an operation.
struct Parts<'a> {
    operation: Node<'a>,
    /// Its path item and the ones that stand behind its reference.
    items: Vec<Node<'a>>,
    /// Parameters of the path item.
    shared: Vec<Node<'a>>,
}

impl<'a> Parts<'a> {
    fn of(reader: &mut Reader<'a>, operation: &Operation) -> Option<Self> {
        let root = Node::root(reader.root);
        let node = Node::at(reader.root, operation.pointer.clone());
        let missing = || root.fault(format!("`{}` does not exist", operation.key));
        let node = reader.keep(node.ok_or_else(missing))?;
        let node = reader.resolved(node)?;
        let item = root.child("paths").and_then(|paths| paths.child(&operation.key.path));
        let (items, _) = item.map(|item| index::chain(item, reader.root)).unwrap_or_default();
        let with = items.iter().find(|item| item.child("parameters").is_some());
        let shared = with.map_or(Ok(Vec::new()), |item| item.elements("parameters"));
        let shared = reader.keep(shared).unwrap_or_default();
        Some(Self { operation: node, items, shared })
    }
}

impl<'a> Reader<'a> {
    fn details(&mut self, parts: &Parts<'a>, operation: &Operation, template: &str) -> Details {
        let own = self.keep(parts.operation.elements("parameters")).unwrap_or_default();
        let given = self.merged(parts.shared.clone(), own);
        let (body, parameters) = if self.version == Version::V20 {
            let (fields, parameters): (Vec<_>, Vec<_>) =
                given.into_iter().partition(|given| given.is_body());
            (self.fields(&parts.operation, &fields), self.parameters(parameters))
        } else {
            (self.body(&parts.operation), self.parameters(given))
        };
        self.placeholders(operation, template, &parameters);
        let replies = self.replies(&parts.operation);
        let root = Node::root(self.root);
        let levels = [&parts.operation].into_iter().chain(&parts.items).chain([&root]);
        let server_path = server::path(self.version, &levels.collect::<Vec<_>>());
        let server_path = self.keep(server_path).unwrap_or_default();
        Details { parameters, body, replies, server_path }
    }

    /// Each placeholder has its parameter and each path parameter its placeholder.
    fn placeholders(&mut self, operation: &Operation, template: &str, parameters: &[Parameter]) {
        let fault = |words| Fault { pointer: operation.pointer.clone(), words };
        let Some(pieces) = self.keep(template::pieces(template).map_err(fault)) else { return };
        self.faults.extend(template::unfillable(template, &pieces).map(fault));
        let in_path = || parameters.iter().filter(|given| given.location == Location::Path);
        for piece in &pieces {
            if let Piece::Placeholder(name) = piece
                && !in_path().any(|given| given.name == *name)
            {
                let words = format!("placeholder `{name}` of `{template}` has no path parameter");
                self.faults.push(fault(words));
            }
        }
        for given in in_path().filter(|given| !pieces.contains(&Piece::Placeholder(&given.name))) {
            let words =
                format!("path parameter `{}` has no placeholder in `{template}`", given.name);
            self.faults.push(Fault { pointer: given.pointer.clone(), words });
        }
    }
}

/// Each fault once, in order: two ways of looking may find the same.
fn distinct(faults: Vec<Fault>) -> Vec<Fault> {
    let mut distinct: Vec<Fault> = Vec::new();
    for fault in faults {
        if !distinct.contains(&fault) {
            distinct.push(fault);
        }
    }
    distinct
}
