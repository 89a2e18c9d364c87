//! The published output schema: which fields a caller can still read, and what they hold.
//!
//! It has no types below its root; a node says in its first sentence what it holds ([`Kind`]). Fields
//! may always be absent, so what matters is that none goes and none holds what it did not.

use serde_json::{Map, Value};

use super::{Aspect, Change, kind::Kind, other_words, schema::properties};
use crate::diagnostic::quote;

/// Everything that changed about what a call gives.
pub(super) fn changes(
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
) -> Vec<Change> {
    match (old, new) {
        (None, None) => Vec::new(),
        (None, Some(_)) => vec![Change::safe(Aspect::Output, "the result is described now")],
        (Some(_), None) => {
            let words = "the result is not described any more";
            vec![Change::breaking(Aspect::Output, words)]
        }
        (Some(old), Some(new)) => {
            let mut walk = Walk::default();
            walk.fields(old, new, "");
            walk.changes.extend(other_words(&walk.words));
            walk.changes
        }
    }
}

#[derive(Default)]
struct Walk {
    changes: Vec<Change>,
    /// Fields with another description.
    words: Vec<String>,
}

impl Walk {
    fn breaking(&mut self, place: &str, words: &str) {
        self.changes.push(Change::breaking(Aspect::Output, format!("{}: {words}", quote(place))));
    }

    fn safe(&mut self, place: &str, words: &str) {
        self.changes.push(Change::safe(Aspect::Output, format!("{}: {words}", quote(place))));
    }

    fn fields(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: &str) {
        let now = |name: &str| new.get("properties").and_then(|all| all.get(name));
        for (name, before) in properties(old) {
            let place = below(place, name);
            match now(name) {
                Some(now) => self.node(before, now, &place),
                None => self.breaking(&place, "removed"),
            }
        }
        let before = |name: &str| old.get("properties").and_then(|all| all.get(name));
        for (name, _) in properties(new).filter(|(name, _)| before(name).is_none()) {
            self.safe(&below(place, name), "added");
        }
    }

    fn node(&mut self, old: &Value, new: &Value, place: &str) {
        let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
            return self.breaking(place, "changed in a way that cannot be proved safe");
        };
        if old == new {
            return;
        }
        self.kinds(&Kind::of(old), &Kind::of(new), place);
        match (old.get("items"), new.get("items")) {
            (Some(old), Some(new)) => self.node(old, new, &format!("{place}[]")),
            (Some(_), None) => self.breaking(place, "does not say what its items are any more"),
            (None, Some(_)) => self.safe(place, "says what its items are now"),
            (None, None) => {}
        }
        self.fields(old, new, place);
        let said = |node: &Map<String, Value>| Kind::rest(node).to_owned();
        if said(old) != said(new) {
            self.words.push(quote(place));
        }
    }

    fn kinds(&mut self, old: &Kind<'_>, new: &Kind<'_>, place: &str) {
        if old == new {
            return;
        }
        let words = format!("holds {} instead of {}", quote(new.text), quote(old.text));
        if new.fits(old) { self.safe(place, &words) } else { self.breaking(place, &words) }
    }
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}
