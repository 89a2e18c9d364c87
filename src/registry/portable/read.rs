//! Reading schemas where they stand: references followed, `allOf` folded, `null` set aside.
//!
//! Everything borrows: a node of the document is a [`Part`], a combination of nodes is a [`Part`]
//! of parts, and [`Reader::flatten`] folds one into a [`Flat`]. Targets of references are kept on a
//! [`Shelf`] for as long as one projection lasts.
//!
//! Work is bounded: every node, property and enum value read takes one from the reader's budget.
//! When it is used up, what remains reads as untyped. Loops are worklists, so that a chain of a
//! thousand references needs no deep stack. Nothing here decides what is published.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{Resolve, flat::Flat};

/// Nodes, properties and enum values one projection may read. The largest real operations need
/// about a tenth; a hostile one ends here after some milliseconds.
const VISITS: usize = 30_000;

/// Alternatives or conjuncts one combination holds; what exceeds it is left out.
const PARTS: usize = 200;

/// A node of the document, or a combination of nodes.
#[derive(Clone, Debug)]
pub(super) enum Part<'a> {
    /// One node.
    One(&'a Value),
    /// All of them apply.
    All(Vec<Self>),
    /// One of them applies.
    Any(Vec<Self>),
}

impl<'a> Part<'a> {
    /// Both apply.
    pub(super) fn and(self, other: Self) -> Self {
        match self {
            Self::All(parts) => Self::All(push(parts, other)),
            one => Self::All(push(vec![one], other)),
        }
    }

    /// Either applies.
    pub(super) fn or(self, other: Self) -> Self {
        match self {
            Self::Any(parts) => Self::Any(push(parts, other)),
            one => Self::Any(push(vec![one], other)),
        }
    }

    /// The reference a single node is, when it is one.
    pub(super) fn reference(&self) -> Option<&'a str> {
        let Self::One(node) = self else { return None };
        node.get("$ref").and_then(Value::as_str)
    }

    fn same(&self, other: &Self) -> bool {
        let (Self::One(one), Self::One(two)) = (self, other) else { return false };
        std::ptr::eq(*one, *two) || self.reference().is_some() && one == two
    }
}

fn push<'a>(mut parts: Vec<Part<'a>>, part: Part<'a>) -> Vec<Part<'a>> {
    if parts.len() < PARTS && !parts.iter().any(|known| known.same(&part)) {
        parts.push(part);
    }
    parts
}

/// Targets of references, kept while a projection borrows from them.
#[derive(Default)]
pub(super) struct Shelf {
    slots: [OnceCell<Arc<Value>>; 32],
    next: OnceCell<Box<Self>>,
}

impl Shelf {
    fn keep(&self, value: &Arc<Value>) -> &Value {
        let mut shelf = self;
        loop {
            if let Some(free) = shelf.slots.iter().find(|slot| slot.get().is_none()) {
                return free.get_or_init(|| Arc::clone(value));
            }
            shelf = shelf.next.get_or_init(Box::default);
        }
    }
}

/// Follows references and counts what it reads.
pub(super) struct Reader<'a> {
    resolve: Resolve<'a>,
    shelf: &'a Shelf,
    known: RefCell<HashMap<&'a str, Option<&'a Value>>>,
    left: Cell<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(resolve: Resolve<'a>, shelf: &'a Shelf) -> Self {
        Self { resolve, shelf, known: RefCell::default(), left: Cell::new(VISITS) }
    }

    /// Takes up to `n` from the budget and says how many were left to take.
    pub(super) fn take(&self, n: usize) -> usize {
        let taken = n.min(self.left.get());
        self.left.set(self.left.get() - taken);
        taken
    }

    /// The target of a reference; `None` when there is none.
    fn follow(&self, reference: &'a str) -> Option<&'a Value> {
        if let Some(known) = self.known.borrow().get(reference) {
            return *known;
        }
        let target = (self.resolve)(reference).ok().map(|value| self.shelf.keep(&value));
        self.known.borrow_mut().insert(reference, target);
        target
    }

    /// Folds a part into one flat node.
    pub(super) fn flatten(&self, part: &Part<'a>) -> Flat<'a> {
        let mut fold = Fold { reader: self, flat: Flat::default(), seen: HashSet::new() };
        let mut todo = vec![Step { part: part.clone(), near: true, entry: true }];
        while let Some(step) = todo.pop() {
            let next = fold.absorb(step);
            todo.extend(next.into_iter().rev());
        }
        fold.flat
    }

    /// Takes the unions out of a node and gives their members in the given order, members of nested
    /// unions in their place, each reference once.
    pub(super) fn members(&self, flat: &mut Flat<'a>) -> Vec<Flat<'a>> {
        if flat.unions.is_empty() {
            return Vec::new();
        }
        let mut seen: HashSet<&str> = flat.names.iter().copied().collect();
        let mut todo: Vec<Part<'a>> =
            std::mem::take(&mut flat.unions).into_iter().flatten().collect();
        todo.reverse();
        let mut members = Vec::new();
        while let Some(part) = todo.pop() {
            if part.reference().is_some_and(|name| !seen.insert(name)) || self.take(1) == 0 {
                continue;
            }
            let mut member = self.flatten(&part);
            flat.names.extend(&member.names);
            let nested = std::mem::take(&mut member.unions);
            let only_a_union = !nested.is_empty() && !member.has_substance();
            todo.extend(nested.into_iter().flatten().rev());
            if !only_a_union && !member.never {
                members.push(member);
            }
        }
        members
    }
}

/// A part still to fold.
struct Step<'a> {
    part: Part<'a>,
    /// Written at the node itself, not behind a reference: its texts win.
    near: bool,
    /// Stands for the whole node, not for one of several conjuncts: its reference names the node.
    entry: bool,
}

struct Fold<'r, 'a> {
    reader: &'r Reader<'a>,
    flat: Flat<'a>,
    seen: HashSet<&'a str>,
}

impl<'a> Fold<'_, 'a> {
    /// Takes one part in; gives what it leads to, in order.
    fn absorb(&mut self, Step { part, near, entry }: Step<'a>) -> Vec<Step<'a>> {
        match part {
            Part::One(Value::Object(map)) if self.reader.take(1) == 1 => {
                self.node(map, near, entry)
            }
            Part::One(node) => {
                self.flat.never |= node == &Value::Bool(false);
                Vec::new()
            }
            Part::All(parts) => {
                parts.into_iter().map(|part| Step { part, near, entry: false }).collect()
            }
            Part::Any(parts) => {
                self.choice(parts).map(|part| Step { part, near, entry }).into_iter().collect()
            }
        }
    }

    fn node(&mut self, map: &'a Map<String, Value>, near: bool, entry: bool) -> Vec<Step<'a>> {
        self.flat.and(Flat::of(map, near, self.reader));
        let conjuncts = array(map, "allOf");
        let entry = entry && is_whole(map, conjuncts);
        let mut next = Vec::new();
        if let Some(target) = self.target(map, entry) {
            next.push(Step { part: Part::One(target), near: false, entry });
        }
        let taken = self.reader.take(conjuncts.len());
        next.extend(conjuncts.iter().take(taken).map(|node| Step {
            part: Part::One(node),
            near,
            entry,
        }));
        for word in ["oneOf", "anyOf"] {
            let parts = array(map, word);
            let taken = self.reader.take(parts.len());
            let parts = parts.iter().take(taken).map(Part::One).collect();
            next.extend(self.choice(parts).map(|part| Step { part, near, entry }));
        }
        next
    }

    fn target(&mut self, map: &'a Map<String, Value>, entry: bool) -> Option<&'a Value> {
        let reference = map.get("$ref")?.as_str()?;
        if !self.seen.insert(reference) {
            return None;
        }
        self.flat.names.push(reference);
        if entry {
            self.flat.entries.push(reference);
        }
        self.reader.follow(reference)
    }

    /// A union without `null`: the one member left, if it is one; else it is kept as a union.
    fn choice(&mut self, parts: Vec<Part<'a>>) -> Option<Part<'a>> {
        let given = parts.len();
        let mut parts: Vec<_> = parts.into_iter().filter(|part| !is_null(part)).collect();
        self.flat.null |= parts.len() < given;
        if !parts.is_empty() && parts.iter().all(|part| needs(part).is_some()) {
            self.flat.needs.extend(parts.iter().filter_map(needs).take(PARTS));
            return None;
        }
        if parts.len() > 1 {
            self.flat.unions.push(parts);
            return None;
        }
        parts.pop()
    }
}

/// The elements of an array keyword; empty when it is absent or something else.
pub(super) fn array<'a>(map: &'a Map<String, Value>, word: &str) -> &'a [Value] {
    map.get(word).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether what a node refers to is the node itself, not a base it adds to.
fn is_whole(map: &Map<String, Value>, conjuncts: &[Value]) -> bool {
    let carrying = conjuncts.iter().filter(|node| carries(node)).count();
    let own = usize::from(map.contains_key("properties"));
    carrying + own + usize::from(map.contains_key("$ref")) < 2
}

fn carries(node: &Value) -> bool {
    ["$ref", "properties", "items", "allOf", "oneOf", "anyOf"]
        .iter()
        .any(|word| node.get(word).is_some())
}

/// Whether a member of a union is only `null`.
fn is_null(part: &Part<'_>) -> bool {
    let Part::One(node) = part else { return false };
    let Value::Object(map) = node else { return node.is_null() };
    let only =
        |value: &Value| value.as_array().is_some_and(|list| list.iter().all(|item| item == "null"));
    map.get("type").is_some_and(|word| word == "null" || only(word))
        || map.get("const").is_some_and(Value::is_null)
        || map.get("enum").is_some_and(|list| list == &Value::Array(vec![Value::Null]))
}

/// The names a member asks for when that is all it does.
fn needs<'a>(part: &Part<'a>) -> Option<&'a [Value]> {
    let Part::One(Value::Object(map)) = part else { return None };
    let silent = |word: &str| matches!(word, "required" | "title" | "description" | "not" | "type");
    let object = map.get("type").is_none_or(|word| word == "object");
    let names = array(map, "required");
    (object && !names.is_empty() && map.keys().all(|word| silent(word))).then_some(names)
}
