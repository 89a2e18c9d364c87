//! A tool as a diff sees it: built from inputs, or one entry of a saved list.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    registry::{Tool, ToolName, Toolset, plan::Upstream},
    snapshot::Snapshot,
};

/// One tool to compare. Of a saved one only the list's entry is known.
#[derive(Clone, Debug)]
pub struct Seen {
    kind: Kind,
    upstream: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Built(Arc<Toolset>, Arc<Tool>),
    Saved(Map<String, Value>),
}

impl Seen {
    /// Every tool of a snapshot, in list order.
    pub fn all(snapshot: &Snapshot) -> Vec<Self> {
        let seen = |(toolset, tool): (&Arc<Toolset>, &Arc<Tool>)| {
            let kind = Kind::Built(Arc::clone(toolset), Arc::clone(tool));
            Self { kind, upstream: true }
        };
        snapshot.tools().map(seen).collect()
    }

    /// An entry of a tools array; `None` when it is no tool.
    pub fn saved(entry: &Value) -> Option<Self> {
        let entry = entry.as_object()?;
        let has_schema = entry.get("inputSchema").is_some_and(Value::is_object);
        let is_tool = has_schema && entry.get("name").is_some_and(Value::is_string);
        is_tool.then(|| Self { kind: Kind::Saved(entry.clone()), upstream: false })
    }

    /// The same without a word on where calls go: only a document was swapped, and its URL says nothing.
    #[must_use]
    pub fn of_any_upstream(self) -> Self {
        Self { upstream: false, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Every name it is known to answer to.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let aliases = self.built().map(|tool| tool.aliases.as_slice()).unwrap_or_default();
        std::iter::once(self.name()).chain(aliases.iter().map(ToolName::as_str))
    }

    /// Whether both are one and the same value, so that nothing can differ.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Built(toolset, tool), Kind::Built(other_toolset, other)) => {
                Arc::ptr_eq(tool, other) && Arc::ptr_eq(toolset, other_toolset)
            }
            _ => false,
        }
    }

    /// The tool behind the entry, when it was built.
    pub(in crate::snapshot) fn built(&self) -> Option<&Arc<Tool>> {
        match &self.kind {
            Kind::Built(_, tool) => Some(tool),
            Kind::Saved(_) => None,
        }
    }

    /// Where its calls go, when that is known and counts.
    pub(super) fn upstream(&self) -> Option<&Upstream> {
        match &self.kind {
            Kind::Built(toolset, _) if self.upstream => Some(&toolset.target.upstream),
            Kind::Built(..) | Kind::Saved(_) => None,
        }
    }

    /// The list's entry.
    pub(super) fn entry(&self) -> &Map<String, Value> {
        match &self.kind {
            Kind::Built(_, tool) => &tool.listed,
            Kind::Saved(entry) => entry,
        }
    }

    /// A text of the entry; empty when absent.
    pub(super) fn text(&self, key: &str) -> &str {
        self.entry().get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// An object of the entry.
    pub(super) fn object(&self, key: &str) -> Option<&Map<String, Value>> {
        self.entry().get(key).and_then(Value::as_object)
    }

    /// A text of `_meta`; empty when absent.
    pub(super) fn meta(&self, key: &str) -> &str {
        let meta = self.object("_meta").and_then(|meta| meta.get(key));
        meta.and_then(Value::as_str).unwrap_or_default()
    }
}
