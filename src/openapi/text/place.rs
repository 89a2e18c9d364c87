//! Pointers on one side, offsets on the other, and the lines and columns people read.

use std::collections::BTreeMap;

use crate::{
    diagnostic::Place,
    openapi::{escape, unescape},
};

/// A longer line is a minified text: showing it helps nobody.
const MAX_EXCERPT: usize = 400;

/// The line starts of a text.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// As an editor counts them.
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// As the YAML parser counts them: it ends lines at more characters.
    pub(super) fn yaml(text: &'t str) -> Self {
        let mut starts = vec![0];
        for (at, char) in text.char_indices() {
            let end = at + char.len_utf8();
            let more = char == '\r' && text.get(end..).is_some_and(|rest| rest.starts_with('\n'));
            if matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}') && !more {
                starts.push(end);
            }
        }
        Self { text, starts }
    }

    /// The place of a byte offset; one inside a character belongs to that character.
    pub(super) fn place(&self, offset: usize, pointer: &str) -> Place {
        let offset =
            (0..=offset).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or_default();
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        let rest = self.text.get(start..).unwrap_or_default();
        let text = rest.lines().next().unwrap_or_default();
        let excerpt = if text.len() > MAX_EXCERPT { "" } else { text };
        Place {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
            pointer: pointer.into(),
            excerpt: excerpt.into(),
        }
    }

    /// The offset of a line and a column in bytes, both counted from 1.
    pub(super) fn offset_of_bytes(&self, line: usize, column: usize) -> usize {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        (start + column.saturating_sub(1)).min(self.text.len())
    }

    /// The offset of a line and a column in characters, both counted from 1.
    pub(super) fn offset_of_chars(&self, line: usize, column: usize) -> usize {
        let start = self.offset_of_bytes(line, 1);
        let rest = self.text.get(start..).unwrap_or_default();
        let column = rest.char_indices().nth(column.saturating_sub(1));
        start + column.map_or(rest.len(), |(at, _)| at)
    }
}

/// Pointers to be found in one walk over a text, as a tree.
pub(super) struct Targets {
    nodes: Vec<Target>,
    asked: Vec<usize>,
}

#[derive(Default)]
struct Target {
    token: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    found: Option<Found>,
}

#[derive(Clone, Copy)]
struct Found {
    offset: usize,
    merged: bool,
}

/// The node of the whole text.
pub(super) const ROOT: usize = 0;

impl Targets {
    pub(super) fn new(pointers: &[&str]) -> Self {
        let mut targets = Self { nodes: vec![Target::default()], asked: Vec::new() };
        for pointer in pointers {
            let tokens = pointer.split('/').skip(1);
            let node = tokens.fold(ROOT, |node, token| targets.add(node, &unescape(token)));
            targets.asked.push(node);
        }
        targets
    }

    fn add(&mut self, parent: usize, token: &str) -> usize {
        if let Some(child) = self.child(parent, token) {
            return child;
        }
        let child = self.nodes.len();
        self.nodes.push(Target { token: token.into(), parent: Some(parent), ..Target::default() });
        if let Some(node) = self.nodes.get_mut(parent) {
            node.children.insert(token.into(), child);
        }
        child
    }

    pub(super) fn child(&self, node: usize, token: &str) -> Option<usize> {
        self.nodes.get(node)?.children.get(token).copied()
    }

    pub(super) fn has_children(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| !node.children.is_empty())
    }

    pub(super) fn is_placed(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.found.is_some())
    }

    /// The first place of a node stays, but for one that came through a merge key.
    pub(super) fn set(&mut self, node: usize, offset: usize, merged: bool) {
        let Some(node) = self.nodes.get_mut(node) else { return };
        if node.found.is_none_or(|found| found.merged && !merged) {
            node.found = Some(Found { offset, merged });
        }
    }

    /// Offset and pointer of the n-th pointer asked for, or of its nearest existing parent.
    pub(super) fn found(&self, n: usize) -> Option<(usize, String)> {
        let mut node = self.nodes.get(*self.asked.get(n)?)?;
        loop {
            if let Some(found) = node.found {
                return Some((found.offset, self.pointer(node)));
            }
            node = self.nodes.get(node.parent?)?;
        }
    }

    fn pointer<'s>(&'s self, mut node: &'s Target) -> String {
        let mut tokens = Vec::new();
        while let Some(parent) = node.parent.and_then(|parent| self.nodes.get(parent)) {
            tokens.push(escape(&node.token));
            node = parent;
        }
        tokens.iter().rev().map(|token| format!("/{token}")).collect()
    }
}
