//! The portable profile: the projection of a schema that every known client accepts.
//!
//! One schema that one client cannot read makes it drop the whole list, so a published schema uses
//! few keywords, one type word a node, and no references. [`input`] describes arguments, [`output`]
//! describes results so leniently that no reply can break it, and [`lint`] and [`lint_output`] say
//! where a schema breaks the profile. What keywords cannot say is said in words.
//!
//! Both projections are pure and bounded: equal inputs give equal bytes, a schema that refers to
//! itself or is made to be costly ends at a fixed number of nodes, bytes and levels, and what is cut
//! says so. Nothing here validates anything; the checking schema does.
//!
//! An argument of any kind, or of kinds that share no type word, is published as a string that
//! holds JSON. [`shown_as_text`] tells which ones, [`read_text`] reads them back.

mod flat;
mod frame;
mod keywords;
mod kind;
mod lint;
mod read;
mod tree;
mod view;
mod words;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::openapi::Fault;
pub(super) use kind::is_portable_format;
pub use lint::{lint, lint_output};
use read::{Part, Reader, Shelf};
use tree::Side;
use view::{Shown, View};

/// Finds the target of a local reference, as [`crate::openapi::Api::schema`] does.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Result<Arc<Value>, Fault>;

/// Bytes of one input schema.
pub const INPUT_BYTES: usize = 16_000;
/// Bytes of one output schema.
pub const OUTPUT_BYTES: usize = 8_000;
/// Levels of one input schema below its root.
const INPUT_DEPTH: usize = 6;
/// Levels of one output schema below its root.
const OUTPUT_DEPTH: usize = 4;

/// What a schema became, and what was left out on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// The portable schema: `{type: object, properties: …}`.
    pub schema: Map<String, Value>,
    /// How many nodes were cut for depth, size or recursion.
    pub cut: usize,
}

/// The input profile of an object schema (2020-12, references allowed): at most 16 kB, depth 6.
///
/// `readOnly` properties leave, but at the root only those that say so themselves: arguments are the
/// caller's choice, and a path parameter may share the schema of a read-only identifier.
pub fn input(schema: &Value, resolve: Resolve<'_>) -> Published {
    let shelf = Shelf::default();
    tree::grow(&Reader::new(resolve, &shelf), Side::Input, schema)
}

/// The output profile of an object schema: `type` on the root only, at most 8 kB, depth 4. Every
/// object is valid under it.
pub fn output(schema: &Value, resolve: Resolve<'_>) -> Published {
    let shelf = Shelf::default();
    tree::grow(&Reader::new(resolve, &shelf), Side::Output, schema)
}

/// Whether [`input`] shows this node as a string that holds JSON, so that a string given for it
/// goes through [`read_text`]. It depends on the node alone, not on where it stands.
pub fn shown_as_text(schema: &Value, resolve: Resolve<'_>) -> bool {
    let shelf = Shelf::default();
    let view = view::input(&Reader::new(resolve, &shelf), &Part::One(schema));
    matches!(view.shown, Shown::Text | Shown::StringOrText)
}

/// The value that a text given for this node stands for; `None` when it stands for itself: the node
/// is not shown as text, the text is no JSON, or it is a string that the schema takes as it is.
pub fn read_text(schema: &Value, resolve: Resolve<'_>, text: &str) -> Option<Value> {
    let shelf = Shelf::default();
    let view = view::input(&Reader::new(resolve, &shelf), &Part::One(schema));
    let value = || serde_json::from_str(text).ok();
    match view.shown {
        Shown::Kind(_) => None,
        Shown::Text => value().filter(|_| !lists(&view, text)),
        Shown::StringOrText => {
            value().filter(|value: &Value| value.is_object() || value.is_array())
        }
    }
}

/// Whether every value of the schema is an object; `null` aside, which an optional reply may be.
pub(super) fn is_object(schema: &Value, resolve: Resolve<'_>) -> bool {
    let shelf = Shelf::default();
    view::output(&Reader::new(resolve, &shelf), &Part::One(schema)).kinds == [kind::Kind::Object]
}

/// Whether the text is one of the values the schema lists.
fn lists(view: &View<'_>, text: &str) -> bool {
    view.flat.values.as_ref().is_some_and(|values| values.list.iter().any(|value| *value == text))
}

#[cfg(test)]
#[allow(
    clippy::needless_pass_by_value,
    reason = "tables read better without `&` before each schema"
)]
mod tests;

#[cfg(test)]
mod random;

#[cfg(test)]
mod sweep;
