//! Growing a published schema breadth first within its bounds.
//!
//! A node stands first as a stub, whose bytes are paid for when it is queued; taken from the queue,
//! it is replaced by its full form if that still fits. So whatever is cut is cut deep, never the
//! arguments themselves, and the sum of bytes never exceeds the bound.
//!
//! Recursion ends where a node's own reference is met again above it.

use std::{
    collections::{HashSet, VecDeque},
    rc::Rc,
};

use serde_json::{Map, Value};

use super::{
    Published,
    flat::{Flat, unique},
    frame::{Frame, Node, Opened, Slot, Sprout, Trail, drop_last, is_compound},
    keywords,
    kind::Kind,
    read::{Part, Reader},
    view::{self, Shown, View},
    words,
};

/// Which of a tool's two schemas is grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

impl Side {
    /// Bytes of the whole schema.
    fn bytes(self) -> usize {
        match self {
            Self::Input => super::INPUT_BYTES,
            Self::Output => super::OUTPUT_BYTES,
        }
    }

    /// Steps below the root at which a node has no parts any more.
    fn depth(self) -> usize {
        match self {
            Self::Input => super::INPUT_DEPTH,
            Self::Output => super::OUTPUT_DEPTH,
        }
    }

    /// Bytes the parts of a node need at least; tells cheaply that it cannot fit.
    fn least(self, view: &View<'_>) -> usize {
        let fields = if view.is(Kind::Object) { view.flat.fields.len() } else { 0 };
        let names = view.flat.fields.iter().take(fields).map(|(name, _)| name.len()).sum::<usize>();
        let stub = match self {
            Self::Input => r#""":{"type":"array"},"#.len(),
            Self::Output => r#""":{},"#.len(),
        };
        names + fields * stub
    }

    fn view<'a>(self, reader: &Reader<'a>, part: &Part<'a>) -> View<'a> {
        match self {
            Self::Input => view::input(reader, part),
            Self::Output => view::output(reader, part),
        }
    }

    /// Whether a property has no place on this side.
    fn hides(self, flat: &Flat<'_>, at_root: bool) -> bool {
        match self {
            // Arguments are the registry's choice: a path parameter may share the schema of a
            // resource's own read-only identifier, so at the root only the node itself is asked.
            Self::Input if at_root => flat.never || flat.read_only_near,
            Self::Input => flat.never || flat.read_only,
            Self::Output => flat.never || flat.write_only,
        }
    }
}

/// A stub that may grow.
struct Task<'a> {
    node: usize,
    slot: Slot<'a>,
    view: View<'a>,
    above: Rc<Trail<'a>>,
    depth: usize,
}

struct Tree<'r, 'a> {
    reader: &'r Reader<'a>,
    side: Side,
    nodes: Vec<Node<'a>>,
    queue: VecDeque<Task<'a>>,
    bytes: usize,
    cut: usize,
}

/// Grows the schema of an object; every other root counts as an object without properties.
pub(super) fn grow<'a>(reader: &Reader<'a>, side: Side, root: &'a Value) -> Published {
    let mut tree =
        Tree { reader, side, nodes: Vec::new(), queue: VecDeque::new(), bytes: 0, cut: 0 };
    tree.plant(root);
    while let Some(task) = tree.queue.pop_front() {
        tree.open_up(task);
    }
    let schema = tree.write(0);
    Published { schema, cut: tree.cut }
}

impl<'a> Tree<'_, 'a> {
    /// The root with a stub for each property, as many as fit.
    fn plant(&mut self, root: &'a Value) {
        let mut view = self.side.view(self.reader, &Part::One(root));
        view.shown = Shown::Kind(Kind::Object);
        let trail = Trail::below(None, &view.flat);
        let mut opened = self.open(&view, &trail, true);
        opened.frame.open &= view.flat.additional.is_some();
        opened.frame.keywords = Map::from_iter([("type".to_owned(), "object".into())]);
        let text = match self.side {
            Side::Input => words::arguments(&view.flat),
            Side::Output => words::result(&view.flat),
        };
        if !text.is_empty() {
            opened.frame.keywords.insert("description".into(), text.into());
        }
        self.cut += self.make_room(&mut opened);
        self.bytes = opened.bytes();
        self.nodes.push(Node::default());
        self.settle(0, opened, &trail, 0);
    }

    /// Drops optional properties from the last on, then required ones, until the rest fits; says how
    /// many.
    fn make_room(&self, opened: &mut Opened<'a>) -> usize {
        let bytes = opened.bytes();
        if bytes <= self.side.bytes() {
            return 0;
        }
        let mut over = bytes + words::LEFT_OUT - self.side.bytes();
        let before = opened.parts.len();
        let required: HashSet<&str> = opened.frame.required.iter().copied().collect();
        drop_last(&mut opened.parts, &mut over, |name| !required.contains(name));
        drop_last(&mut opened.parts, &mut over, |_| true);
        let names: HashSet<&str> = opened.parts.iter().map(|part| part.slot.name()).collect();
        opened.frame.required.retain(|name| names.contains(name));
        let dropped = before - opened.parts.len();
        self.tell_dropped(&mut opened.frame.keywords, dropped);
        dropped
    }

    fn tell_dropped(&self, keywords: &mut Map<String, Value>, dropped: usize) {
        let said = keywords.get("description").and_then(Value::as_str).unwrap_or_default();
        let sentence = match self.side {
            Side::Input => words::left_out(dropped, "argument", "left out"),
            Side::Output => words::left_out(dropped, "field", "not described"),
        };
        keywords.insert("description".into(), format!("{said} {sentence}").trim().into());
    }

    /// Replaces a stub by the node itself, if depth, recursion and bytes allow it.
    fn open_up(&mut self, task: Task<'a>) {
        let Task { node, view, above, depth, slot } = task;
        let paid = self.nodes.get(node).map_or(0, |node| node.bytes);
        let room = (self.side.bytes() + paid).saturating_sub(self.bytes);
        let recursive = is_compound(&view) && above.meets(&view.flat);
        if recursive || self.side.least(&view) > room {
            self.cut += 1;
            return;
        }
        let trail = Trail::below(Some(&above), &view.flat);
        let mut opened = self.open(&view, &trail, false);
        opened.frame.keywords = self.keywords(&view, slot.name());
        let deep = depth >= self.side.depth() && !opened.is_flat_array();
        let bytes = opened.bytes();
        if deep || bytes > room {
            self.cut += 1;
            return;
        }
        self.bytes = self.bytes - paid + bytes;
        self.settle(node, opened, &trail, depth);
    }

    fn keywords(&self, view: &View<'a>, name: &str) -> Map<String, Value> {
        match self.side {
            Side::Input => keywords::own(view, name),
            Side::Output => said(words::output(view, name)),
        }
    }

    /// The parts of a node with their stubs; its own keywords are still to come.
    fn open(&self, view: &View<'a>, trail: &Trail<'a>, at_root: bool) -> Opened<'a> {
        let mut opened = Opened { frame: Frame::default(), parts: Vec::new() };
        if view.is(Kind::Object) {
            self.open_object(view, trail, at_root, &mut opened);
        } else if view.is(Kind::Array) {
            opened
                .parts
                .extend(self.items(view).map(|items| self.sprout(Slot::Items, items, trail)));
        }
        opened
    }

    /// What an array holds; replies say nothing where the document says nothing.
    fn items(&self, array: &View<'a>) -> Option<View<'a>> {
        match (&array.flat.items, self.side) {
            (Some(items), side) => Some(side.view(self.reader, items)),
            (None, Side::Input) => Some(View::any()),
            (None, Side::Output) => None,
        }
    }

    fn open_object(
        &self,
        view: &View<'a>,
        trail: &Trail<'a>,
        at_root: bool,
        opened: &mut Opened<'a>,
    ) {
        for (name, part) in view.flat.fields.iter() {
            let view = self.side.view(self.reader, part);
            if !self.side.hides(&view.flat, at_root) {
                opened.parts.push(self.sprout(Slot::Property(name), view, trail));
            }
        }
        if self.side == Side::Output {
            return;
        }
        let names: HashSet<&str> = opened.parts.iter().map(|part| part.slot.name()).collect();
        opened.frame.required = unique(&view.flat.required);
        opened.frame.required.retain(|name| names.contains(name));
        match &view.flat.additional {
            Some(values) => {
                let values = self.side.view(self.reader, values);
                opened.frame.open = is_silent(&values);
                if !opened.frame.open {
                    opened.parts.push(self.sprout(Slot::Values, values, trail));
                }
            }
            None => opened.frame.open = opened.parts.is_empty(),
        }
    }

    fn sprout(&self, slot: Slot<'a>, view: View<'a>, trail: &Trail<'a>) -> Sprout<'a> {
        let stub = self.stub(&view, trail);
        Sprout { slot, view, stub }
    }

    /// What stands for a node that is cut.
    fn stub(&self, view: &View<'a>, trail: &Trail<'a>) -> Map<String, Value> {
        let cut = || words::cut(view, trail.name().as_deref());
        if self.side == Side::Output {
            return if is_compound(view) { said(cut()) } else { Map::new() };
        }
        match view.shown {
            Shown::Text => keywords::any(),
            Shown::Kind(Kind::Object) => keywords::open(&cut()),
            Shown::Kind(Kind::Array) => keywords::array(&self.stub_items(view, trail)),
            _ => keywords::bare(view),
        }
    }

    fn stub_items(&self, array: &View<'a>, trail: &Trail<'a>) -> Map<String, Value> {
        let items = self.items(array).unwrap_or_else(View::any);
        match items.shown {
            Shown::Text => keywords::any(),
            Shown::Kind(Kind::Object | Kind::Array) => {
                keywords::open(&words::cut(&items, trail.name().as_deref()))
            }
            _ => keywords::bare(&items),
        }
    }

    /// Puts an opened node in its place and queues its parts.
    fn settle(&mut self, place: usize, opened: Opened<'a>, trail: &Rc<Trail<'a>>, depth: usize) {
        let mut parts = Vec::with_capacity(opened.parts.len());
        for Sprout { slot, view, stub } in opened.parts {
            let node = self.nodes.len();
            let bytes = keywords::size(&stub);
            let frame = Frame { keywords: stub, ..Frame::default() };
            self.nodes.push(Node { frame, parts: Vec::new(), bytes });
            self.queue.push_back(Task {
                node,
                slot,
                view,
                above: Rc::clone(trail),
                depth: depth + 1,
            });
            parts.push((slot, node));
        }
        if let Some(node) = self.nodes.get_mut(place) {
            node.frame = opened.frame;
            node.parts = parts;
        }
    }

    /// The schema below a node; as deep as the schema is.
    fn write(&mut self, place: usize) -> Map<String, Value> {
        let Some(node) = self.nodes.get_mut(place) else { return Map::new() };
        let Node { frame: Frame { mut keywords, required, open }, parts, .. } =
            std::mem::take(node);
        let mut properties = Map::new();
        let mut after = Map::new();
        for (slot, part) in parts {
            let schema = Value::Object(self.write(part));
            match slot {
                Slot::Property(name) => drop(properties.insert(name.to_owned(), schema)),
                Slot::Items => drop(keywords.insert("items".into(), schema)),
                Slot::Values => drop(after.insert("additionalProperties".into(), schema)),
            }
        }
        let object = keywords.get("type").is_some_and(|kind| kind == "object");
        if object || !properties.is_empty() {
            keywords.entry("properties").or_insert(properties.into());
        }
        if !required.is_empty() {
            keywords.insert("required".into(), required.into());
        }
        if open {
            keywords.insert("additionalProperties".into(), true.into());
        }
        keywords.extend(after);
        keywords
    }
}

/// Whether a map's values say nothing, so that `true` says as much.
fn is_silent(values: &View<'_>) -> bool {
    let unsaid = values.flat.description.text.is_empty() && values.flat.title.text.is_empty();
    values.shown == Shown::Text && values.kinds.is_empty() && values.labels.is_empty() && unsaid
}

fn said(text: String) -> Map<String, Value> {
    Map::from_iter([("description".to_owned(), text.into())])
}
