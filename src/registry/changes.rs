//! What an allowlist entry changes about the arguments of its operation.
//!
//! A change names an argument, or the wire's name of one. Whatever names nothing, or asks for what
//! cannot be, is an error at its own place in the allowlist.

use super::{
    alias,
    input::{Place, Slot},
    plan::Source,
    text,
};
use crate::{
    allowlist::{ArgumentChange, Changes, Located},
    diagnostic::{Diagnostic, quote, suggestion},
};

/// Whether the allowlist speaks of a header or cookie, which it must do for it to be offered.
pub(super) fn speak_of(changes: &Changes, wire: &str) -> bool {
    let plain = alias::plain(wire);
    let named =
        |name: &Located<String>| name.value == plain || name.value.eq_ignore_ascii_case(wire);
    changes.arguments.iter().any(|change| named(&change.argument))
        || changes.required.iter().flatten().any(named)
}

/// Changes the slots: `arguments`, `hide`, `required`, in this order.
///
/// # Errors
/// Every fault at once.
pub(super) fn apply(slots: &mut Vec<Slot>, changes: &Changes) -> Result<(), Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut renames = Vec::new();
    for change in &changes.arguments {
        match find(slots, &change.argument).and_then(|at| slots.get_mut(at).ok_or_else(lost)) {
            Ok(slot) => {
                faults.extend(one(slot, change).err());
                renames.extend(change.name.as_ref().map(|name| (slot.argument.clone(), name)));
            }
            Err(fault) => faults.push(fault),
        }
    }
    let hidden: Vec<usize> = changes
        .hide
        .iter()
        .filter_map(|name| {
            find(slots, name)
                .and_then(|at| hidable(slots, at, name))
                .map_err(|f| faults.push(f))
                .ok()
        })
        .collect();
    if let Some(required) = &changes.required {
        faults.extend(require(slots, required));
    }
    hide(slots, &hidden);
    faults.extend(rename(slots, &renames));
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn lost() -> Diagnostic {
    Diagnostic::error("an argument went missing while it was changed")
}

/// The slot a change names: by argument name, else by wire name, the path last.
fn find(slots: &[Slot], name: &Located<String>) -> Result<usize, Diagnostic> {
    let wanted = name.value.as_str();
    let by_argument = slots.iter().position(|slot| slot.argument == wanted);
    let by_wire = || {
        let fits = |slot: &Slot| slot.wire == wanted;
        let elsewhere = slots.iter().position(|slot| fits(slot) && slot.place != Place::Path);
        elsewhere.or_else(|| slots.iter().position(fits))
    };
    by_argument.or_else(by_wire).ok_or_else(|| {
        let near = suggestion(wanted, slots.iter().map(|slot| slot.argument.as_str()));
        let words = format!("the operation has no argument {}{near}", quote(wanted));
        let fault = Diagnostic::error(words).at(name.position.clone());
        if near.is_empty() { fault.help(known(slots)) } else { fault }
    })
}

/// Arguments that a message lists before it only counts them.
const SHOWN: usize = 12;

/// What there is, when nothing comes near.
fn known(slots: &[Slot]) -> String {
    let shown: Vec<_> = slots.iter().take(SHOWN).map(|slot| quote(&slot.argument)).collect();
    match slots.len().checked_sub(SHOWN + 1) {
        _ if slots.is_empty() => "it takes none".to_owned(),
        None => format!("it has {}", shown.join(", ")),
        Some(more) => format!("it has {} and {} more", shown.join(", "), more + 1),
    }
}

/// All of a change but its name: renaming comes last, so that every change names what the document has.
fn one(slot: &mut Slot, change: &ArgumentChange) -> Result<(), Diagnostic> {
    if let Some(words) = &change.description {
        slot.description = text::argument(words, false);
    }
    if let Some(value) = &change.default {
        slot.source = Source::ArgumentOr(slot.argument.clone(), value.clone());
    }
    if let Some(value) = &change.fixed {
        slot.source = Source::Fixed(value.clone());
    }
    if change.default.is_some() || change.fixed.is_some() {
        slot.stand_in_at = Some(change.argument.position.clone());
    }
    slot.slashes = change.slashes;
    if change.slashes && slot.place != Place::Path {
        let words = format!("`{}` is not in the path, so `slashes` means nothing", slot.argument);
        return Err(Diagnostic::error(words).at(change.argument.position.clone()));
    }
    Ok(())
}

/// A path value must come from somewhere.
fn hidable(slots: &[Slot], at: usize, name: &Located<String>) -> Result<usize, Diagnostic> {
    let Some(slot) = slots.get(at).filter(|slot| slot.place == Place::Path) else {
        return Ok(at);
    };
    if !matches!(slot.source, Source::Argument(_)) {
        return Ok(at);
    }
    let twin = slots.iter().find(|other| other.wire == slot.wire && other.place != Place::Path);
    let help = twin.map_or_else(
        || format!("give it a value: `arguments: {{ {}: {{ fixed: … }} }}`", slot.argument),
        |twin| format!("the other argument of that name is `{}`", twin.argument),
    );
    let words = format!("`{}` fills the path and cannot be hidden", name.value);
    Err(Diagnostic::error(words).at(name.position.clone()).help(help))
}

/// Exactly these, besides the path.
fn require(slots: &mut [Slot], required: &[Located<String>]) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let found: Vec<usize> = required
        .iter()
        .filter_map(|name| find(slots, name).map_err(|f| faults.push(f)).ok())
        .collect();
    for (at, slot) in slots.iter_mut().enumerate() {
        slot.required = slot.place == Place::Path || found.contains(&at);
    }
    faults
}

/// What is hidden keeps its default as a fixed value, and has no place without one.
fn hide(slots: &mut Vec<Slot>, hidden: &[usize]) {
    let mut at = 0;
    slots.retain_mut(|slot| {
        let is_hidden = hidden.contains(&at);
        at += 1;
        match &slot.source {
            Source::ArgumentOr(_, value) if is_hidden => slot.source = Source::Fixed(value.clone()),
            Source::Argument(_) => return !is_hidden,
            Source::ArgumentOr(..) | Source::Fixed(_) | Source::ResourceName(_) => {}
        }
        true
    });
}

/// All at once, so that two arguments can change names with each other.
fn rename(slots: &mut [Slot], renames: &[(String, &Located<String>)]) -> Vec<Diagnostic> {
    for slot in slots.iter_mut() {
        let Some((_, new)) = renames.iter().find(|(old, _)| *old == slot.argument) else {
            continue;
        };
        slot.argument.clone_from(&new.value);
        match &mut slot.source {
            Source::Argument(name) | Source::ArgumentOr(name, _) => name.clone_from(&new.value),
            Source::Fixed(_) | Source::ResourceName(_) => {}
        }
    }
    let is_twice = |(_, new): &&(String, &Located<String>)| {
        slots.iter().filter(|slot| slot.argument == new.value).count() > 1
    };
    let twice = renames.iter().filter(is_twice);
    let fault = |(_, new): &(String, &Located<String>)| {
        Diagnostic::error(format!("the operation has another argument `{}`", new.value))
            .at(new.position.clone())
    };
    twice.map(fault).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::sample::Sample;

    fn sample() -> Sample {
        let fields =
            json!({"properties": {"name": {}, "title": {}, "kind": {}}, "required": ["title"]});
        Sample::new("PUT /v1/{name}").query("mask", json!({})).body("application/json!", fields)
    }

    /// Arguments by name, `!` after those that must be given, `wire=value` for fixed ones.
    fn check(yaml: &str, expected: &str) {
        let input = sample().changes(yaml).input().unwrap_or_else(|refusal| panic!("{refusal:?}"));
        let slot = |slot: &Slot| match &slot.source {
            Source::Argument(name) => format!("{name}{}", if slot.required { "!" } else { "" }),
            Source::ArgumentOr(name, value) => format!("{name}|{value}"),
            Source::Fixed(value) => format!("{}={value}", slot.wire),
            Source::ResourceName(_) => panic!("no slot has one"),
        };
        assert_eq!(input.slots.iter().map(slot).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn slots_are_changed() {
        check("hide: []", "name! mask body_name title! kind");
        check("hide: [body_name, mask]", "name! title! kind");
        check("arguments: { title: { default: a } }", "name! mask body_name title|\"a\" kind");
        check("arguments: { title: { fixed: 1 } }", "name! mask body_name title=1 kind");
        check(
            "hide: [title]\narguments: { title: { default: a } }",
            "name! mask body_name title=\"a\" kind",
        );
        check("arguments: { body_name: { name: label } }", "name! mask label title! kind");
        check(
            "arguments: { kind: { name: title }, title: { name: kind } }",
            "name! mask body_name kind! title",
        );
    }

    #[test]
    fn required_is_exactly_what_is_listed_and_the_path() {
        check("required: [kind, mask]", "name! mask! body_name title kind!");
        check("required: []", "name! mask body_name title kind");
    }

    #[test]
    fn a_hidden_path_value_needs_a_value() {
        check(
            "hide: [name]\narguments: { name: { default: me } }",
            "name=\"me\" mask body_name title! kind",
        );
        let refusal = sample().changes("hide: [name]").refusal();
        assert!(refusal.contains("`name` fills the path and cannot be hidden"), "{refusal}");
        assert!(refusal.contains("the other argument of that name is `body_name`"), "{refusal}");
    }

    #[test]
    fn every_fault_has_its_place() {
        let refusal = sample()
            .changes("hide: [kindd]\nrequired: [zzzzzz]\narguments: { mask: { slashes: true }, kind: { name: title } }")
            .refusal();
        let lines: Vec<&str> = refusal.lines().collect();
        assert_eq!(lines.len(), 4, "{refusal}");
        for (line, words) in lines.iter().zip([
            "`mask` is not in the path",
            "did you mean `kind`?",
            "no argument `zzzzzz`",
            "another argument `title`",
        ]) {
            assert!(line.contains(words) && line.starts_with("a.yaml:"), "{line}");
        }
    }

    #[test]
    fn slashes_stay_in_a_path_value_that_asks_for_it() {
        let input = sample().changes("arguments: { name: { slashes: true } }").input().unwrap();
        assert!(input.slots[0].slashes);
        let words =
            sample().changes("arguments: { name: { description: \"Whose?\" } }").input().unwrap();
        assert_eq!(words.slots[0].description, "Whose?");
    }
}
