//! The pieces a published schema grows from, and what each is paid for in bytes.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::{flat::Flat, keywords, kind::Kind, view::View, words};

/// Where a part stands in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'a> {
    Property(&'a str),
    Items,
    Values,
}

impl<'a> Slot<'a> {
    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Property(name) => name,
            Self::Items | Self::Values => "",
        }
    }

    /// Bytes besides the part itself: the key, a colon, a comma.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Property(name) => keywords::size(name) + 2,
            Self::Items => r#""items":,"#.len(),
            Self::Values => r#""additionalProperties":,"#.len(),
        }
    }
}

/// What a node consists of besides its parts.
#[derive(Default)]
pub(super) struct Frame<'a> {
    pub(super) keywords: Map<String, Value>,
    /// Names of required properties, all of them present.
    pub(super) required: Vec<&'a str>,
    /// Names that are no property may have any value.
    pub(super) open: bool,
}

impl Frame<'_> {
    /// An upper bound of its bytes: one comma too many at most.
    fn bytes(&self, n_properties: usize) -> usize {
        let required = self.required.iter().map(|name| keywords::size(*name) + 1).sum::<usize>();
        let object = self.keywords.get("type").is_some_and(|kind| kind == "object");
        let paid = [
            (object || n_properties > 0, r#""properties":{},"#),
            (required > 0, r#""required":[],"#),
            (self.open, r#""additionalProperties":true,"#),
        ];
        let words = paid.iter().filter(|(held, _)| *held).map(|(_, word)| word.len());
        keywords::size(&self.keywords) + words.sum::<usize>() + required
    }
}

/// A node as it stands.
#[derive(Default)]
pub(super) struct Node<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) parts: Vec<(Slot<'a>, usize)>,
    /// What it and the stubs of its parts were paid for.
    pub(super) bytes: usize,
}

/// A part before it is decided whether its parent fits.
pub(super) struct Sprout<'a> {
    pub(super) slot: Slot<'a>,
    pub(super) view: View<'a>,
    pub(super) stub: Map<String, Value>,
}

impl Sprout<'_> {
    pub(super) fn bytes(&self) -> usize {
        self.slot.bytes() + keywords::size(&self.stub)
    }
}

/// A node opened one level.
pub(super) struct Opened<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) parts: Vec<Sprout<'a>>,
}

impl Opened<'_> {
    pub(super) fn bytes(&self) -> usize {
        self.frame.bytes(self.parts.len()) + self.parts.iter().map(Sprout::bytes).sum::<usize>()
    }

    /// An array of values without parts: one level more than the depth costs nothing.
    pub(super) fn is_flat_array(&self) -> bool {
        self.parts.iter().all(|part| part.slot == Slot::Items && !is_compound(&part.view))
    }
}

pub(super) fn is_compound(view: &View<'_>) -> bool {
    view.is(Kind::Object) || view.is(Kind::Array)
}

/// References above a node.
pub(super) struct Trail<'a> {
    entries: Vec<&'a str>,
    above: Option<Rc<Self>>,
}

impl<'a> Trail<'a> {
    pub(super) fn below(above: Option<&Rc<Self>>, flat: &Flat<'a>) -> Rc<Self> {
        Rc::new(Self { entries: flat.entries.clone(), above: above.cloned() })
    }

    pub(super) fn meets(&self, flat: &Flat<'_>) -> bool {
        self.lines().any(|trail| flat.entries.iter().any(|name| trail.entries.contains(name)))
    }

    /// The nearest schema with a name.
    pub(super) fn name(&self) -> Option<String> {
        let entry = self.lines().find_map(|trail| trail.entries.first())?;
        words::reference_name(entry)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |trail| trail.above.as_deref())
    }
}

/// Drops parts that may go from the last on, until nothing is over.
pub(super) fn drop_last(
    parts: &mut Vec<Sprout<'_>>,
    over: &mut usize,
    may_go: impl Fn(&str) -> bool,
) {
    let mut stays = |part: &Sprout<'_>| {
        let stays = *over == 0 || !may_go(part.slot.name());
        *over = over.saturating_sub(if stays { 0 } else { part.bytes() });
        stays
    };
    let mut kept: Vec<_> =
        std::mem::take(parts).into_iter().rev().filter(|part| stays(part)).collect();
    kept.reverse();
    *parts = kept;
}
