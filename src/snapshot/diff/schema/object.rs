//! Properties, which of them must be there, and what other names may be.

use serde_json::{Map, Value};

use super::Judge;

pub(super) fn is_known(keyword: &str) -> bool {
    ["properties", "required", "additionalProperties"].contains(&keyword)
}

static ANYTHING: Value = Value::Bool(true);

impl<'a> Judge<'a> {
    pub(super) fn object(
        &mut self,
        old: &'a Map<String, Value>,
        new: &'a Map<String, Value>,
        place: &str,
    ) {
        for (name, before) in properties(old) {
            let place = below(place, name);
            match property(new, name) {
                Some(now) => self.judge(before, now, &place),
                None => self.narrowed(&place, "removed"),
            }
        }
        // An object of which nothing is said is there to hold any name.
        let is_free = !old.contains_key("properties");
        let others = old.get("additionalProperties").or(is_free.then_some(&ANYTHING));
        for (name, now) in properties(new).filter(|(name, _)| property(old, name).is_none()) {
            if old.contains_key("patternProperties") {
                self.unproved(&below(place, name), "what it may be");
            }
            self.added(now, (others, requires(new, name)), &below(place, name));
        }
        self.required(old, new, place);
        self.additional(old.get("additionalProperties"), new.get("additionalProperties"), place);
    }

    /// A property that only the new schema knows; `others` is what the old one says of such names.
    pub(in crate::snapshot::diff) fn added(
        &mut self,
        now: &'a Value,
        (others, required): (Option<&'a Value>, bool),
        place: &str,
    ) {
        match others {
            _ if required => self.narrowed(place, "added, and required"),
            Some(before) if *before != Value::Bool(false) && !self.covers(before, now) => {
                self.narrowed(place, "could be anything, and has a schema now");
            }
            _ => self.widened(place, "added, optional"),
        }
    }

    fn required(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, place: &str) {
        for name in required(new).filter(|name| !requires(old, name)) {
            // One that is new itself was judged as a property.
            if property(old, name).is_some() || property(new, name).is_none() {
                self.narrowed(&below(place, name), "is required now");
            }
        }
        for name in required(old).filter(|name| !requires(new, name)) {
            if property(new, name).is_some() {
                self.widened(&below(place, name), "is optional now");
            }
        }
    }

    /// What names without a property may be; unsaid, anything.
    fn additional(&mut self, old: Option<&'a Value>, new: Option<&'a Value>, place: &str) {
        if old.is_some() || new.is_some() {
            let place = below(place, "*");
            self.judge(old.unwrap_or(&ANYTHING), new.unwrap_or(&ANYTHING), &place);
        }
    }
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

pub(in crate::snapshot::diff) fn properties(
    schema: &Map<String, Value>,
) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

pub(in crate::snapshot::diff) fn property<'a>(
    schema: &'a Map<String, Value>,
    name: &str,
) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

pub(super) fn requires(schema: &Map<String, Value>, name: &str) -> bool {
    required(schema).any(|required| required == name)
}
