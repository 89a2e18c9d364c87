//! Alternatives and rules that hold together: `anyOf`, `oneOf`, `allOf`, a reference beside others.
//!
//! A new union covers an old one when each old member is covered by some new one. That proof holds
//! for `oneOf` only where no value fits two new members, which must be plain from types or from a
//! required property whose values differ.

use serde_json::{Map, Value};

use super::{
    Judge, follow, kinds,
    object::{property, requires},
    values,
};

pub(super) fn is_known(keyword: &str) -> bool {
    ["anyOf", "oneOf", "allOf"].contains(&keyword)
}

/// Pairs of members that are tried; larger unions must be equal.
const TRIALS: usize = 400;

impl<'a> Judge<'a> {
    pub(super) fn unions(
        &mut self,
        old: &'a Map<String, Value>,
        new: &'a Map<String, Value>,
        place: &str,
    ) {
        self.reference(old.get("$ref"), new.get("$ref"), (old, new), place);
        for word in ["anyOf", "oneOf"] {
            match (old.get(word), new.get(word)) {
                (None, None) => {}
                (Some(Value::Array(old)), Some(Value::Array(new))) => {
                    self.alternatives(word, old, new, place);
                }
                (Some(_), None) => self.widened(place, "takes more now"),
                _ => self.unproved(place, &format!("`{word}`")),
            }
        }
        match (members(old), members(new)) {
            ([], []) => {}
            (_, []) => self.widened(place, "takes more now"),
            (old, new) => self.rules(old, new, place),
        }
    }

    /// A reference that stands beside other keywords.
    fn reference(
        &mut self,
        old: Option<&'a Value>,
        new: Option<&'a Value>,
        (old_map, new_map): (&Map<String, Value>, &Map<String, Value>),
        place: &str,
    ) {
        let target = |reference: Option<&'a Value>, defs: super::Defs<'a>| {
            let name = reference?.as_str()?.rsplit('/').next()?;
            defs?.get(name)
        };
        match (target(old, self.old), target(new, self.new)) {
            (None, None) if old_map.get("$ref") == new_map.get("$ref") => {}
            (Some(old), Some(new)) => self.judge(old, new, place),
            (Some(_), None) if new.is_none() => self.widened(place, "takes more now"),
            _ => self.unproved(place, "a reference"),
        }
    }

    fn alternatives(&mut self, word: &str, old: &'a [Value], new: &'a [Value], place: &str) {
        let proves = word == "anyOf" || are_disjoint(new, self.new);
        let lost = if proves && old.len() * new.len() <= TRIALS {
            let other = self.unlike(old, new, false);
            other.into_iter().any(|old| !new.iter().any(|new| self.covers(old, new)))
        } else {
            let mut pairs = old.iter().zip(new);
            old.len() != new.len() || !pairs.all(|(old, new)| self.alike(old, new))
        };
        if lost {
            self.unproved(place, &format!("`{word}`"));
        } else if proves && self.has_more(old, new) {
            self.widened(place, "takes more now");
        }
    }

    /// Each new rule must follow from some old one.
    fn rules(&mut self, old: &'a [Value], new: &'a [Value], place: &str) {
        if let ([old], [new]) = (old, new) {
            return self.judge(old, new, place);
        }
        let other = self.unlike(new, old, true);
        let tried = other.len() * old.len() <= TRIALS;
        if !tried || !other.iter().all(|new| old.iter().any(|old| self.covers(old, new))) {
            return self.unproved(place, "`allOf`");
        }
        if old.len() > new.len() || self.has_more(old, new) {
            self.widened(place, "takes more now");
        }
    }
}

fn members(schema: &Map<String, Value>) -> &[Value] {
    schema.get("allOf").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether no value fits two of the members.
fn are_disjoint(members: &[Value], defs: super::Defs<'_>) -> bool {
    let maps: Option<Vec<_>> = members.iter().map(|one| follow(one, defs).as_object()).collect();
    let Some(maps) = maps else { return false };
    maps.iter().enumerate().all(|(at, one)| {
        maps.iter()
            .skip(at + 1)
            .all(|other| differ_in_kind(one, other) || differ_in_value(one, other))
    })
}

fn differ_in_kind(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let (Some(one), Some(other)) = (kinds(one), kinds(other)) else { return false };
    let number = |kind: &str| if kind == "integer" { "number".to_owned() } else { kind.to_owned() };
    one.iter().all(|kind| other.iter().all(|other| number(kind) != number(other)))
}

/// A property that both require and whose listed values have nothing in common.
fn differ_in_value(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let listed = |schema: &Value| {
        schema.as_object().and_then(values).map(|all| all.into_iter().cloned().collect::<Vec<_>>())
    };
    let names = one.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let mut told = names.filter(|name| requires(one, name) && requires(other, name));
    told.any(|name| {
        let values = |schema| property(schema, name).and_then(listed);
        match (values(one), values(other)) {
            (Some(one), Some(other)) => one.iter().all(|value| !other.contains(value)),
            _ => false,
        }
    })
}
