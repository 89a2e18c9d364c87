//! The arguments of a tool: which calls are accepted now that were not, and the other way round.

use serde_json::{Map, Value};

use super::{
    Aspect, Change, Effect, Seen, binding, other_words,
    schema::{Defs, Found, Judge, Way, properties, property},
};
use crate::{diagnostic::quote, registry::check::Accepts};

static NOTHING: Value = Value::Bool(false);

/// What a side accepts at its root.
struct Side<'a> {
    root: &'a Map<String, Value>,
    defs: Defs<'a>,
    required: Vec<&'a str>,
}

impl<'a> Side<'a> {
    /// As the check of a call has it.
    fn checked(accepts: &Accepts<'a>) -> Option<Self> {
        let root = accepts.arguments.as_object()?;
        Some(Self { root, defs: Some(accepts.defs), required: accepts.required.clone() })
    }

    /// As the list shows it.
    fn listed(seen: &'a Seen) -> Option<Self> {
        let root = seen.object("inputSchema")?;
        let required = root.get("required").and_then(Value::as_array).into_iter().flatten();
        Some(Self { root, defs: None, required: required.filter_map(Value::as_str).collect() })
    }

    fn requires(&self, name: &str) -> bool {
        self.required.contains(&name)
    }

    /// What names that are no argument may be; at the root nothing when it is unsaid.
    fn additional(&self) -> &'a Value {
        self.root.get("additionalProperties").unwrap_or(&NOTHING)
    }
}

/// Everything that changed about the arguments.
pub(super) fn changes(old: &Seen, new: &Seen) -> Vec<Change> {
    let mut found = Vec::new();
    let mut renames = Vec::new();
    if let (Some(old_tool), Some(new_tool)) = (old.built(), new.built()) {
        renames = binding::renamed_arguments(old_tool, new_tool);
        let (before, now) = (old_tool.checker.accepts(), new_tool.checker.accepts());
        if let (Some(old), Some(new)) = (Side::checked(&before), Side::checked(&now)) {
            found = arguments(&old, &new, &renames);
            found.extend(together(&before, &now, (&old, &new)));
        }
    } else if let (Some(old), Some(new)) = (Side::listed(old), Side::listed(new)) {
        found = arguments(&old, &new, &renames);
    }
    found.extend(shown(old, new, &renames, &found));
    found.into_iter().map(|(_, change)| change).collect()
}

/// A change and the argument it is about.
type About = (String, Change);

fn about(argument: &str, found: Found) -> About {
    let (aspect, effect) = match found.way {
        Way::Widened => (Aspect::InputWidened, Effect::Safe),
        Way::Narrowed => (Aspect::InputNarrowed, Effect::Breaking),
    };
    (argument.to_owned(), Change { aspect, effect, words: found.words })
}

/// Old and new name of arguments that are the same place of the request.
type Renames = [(String, String)];

fn arguments<'a>(old: &Side<'a>, new: &Side<'a>, renames: &Renames) -> Vec<About> {
    let mut judge = Judge::new(old.defs, new.defs);
    let mut changes = Vec::new();
    for (name, before) in properties(old.root) {
        let renamed = renames.iter().find(|(from, _)| from == name).map(|(_, to)| to.as_str());
        let to = renamed.unwrap_or(name);
        match (property(new.root, to), renamed) {
            (None, _) => judge.narrowed(name, "removed"),
            (Some(now), renamed) => {
                if let Some(to) = renamed {
                    judge.narrowed(name, &format!("is called {} now", quote(to)));
                }
                if !judge.alike(before, now) {
                    judge.judge(before, now, to);
                }
                demand(&mut judge, to, (old.requires(name), new.requires(to)));
            }
        }
        changes.extend(judge.take().into_iter().map(|found| about(to, found)));
    }
    let is_renamed = |name: &str| renames.iter().any(|(_, to)| to == name);
    let is_old = |name: &str| property(old.root, name).is_some();
    for (name, now) in properties(new.root) {
        let is_other = is_old(name) && !renames.iter().any(|(from, _)| from == name);
        if !is_renamed(name) && !is_other {
            judge.added(now, (Some(old.additional()), new.requires(name)), name);
        }
        changes.extend(judge.take().into_iter().map(|found| about(name, found)));
    }
    judge.judge(old.additional(), new.additional(), "*");
    changes.extend(judge.take().into_iter().map(|found| about("", found)));
    changes
}

fn demand(judge: &mut Judge<'_>, name: &str, required: (bool, bool)) {
    match required {
        (false, true) => judge.narrowed(name, "is required now"),
        (true, false) => judge.widened(name, "is optional now"),
        _ => {}
    }
}

/// Rules that speak of several arguments.
fn together<'a>(
    before: &Accepts<'a>,
    now: &Accepts<'a>,
    (old, new): (&Side<'a>, &Side<'a>),
) -> Vec<About> {
    let mut judge = Judge::new(old.defs, new.defs);
    let all = "all arguments";
    match (before.rules, now.rules) {
        (None, None) => {}
        (Some(old), Some(new)) => judge.judge(old, new, all),
        (Some(_), None) => judge.widened(all, "have no rule together any more"),
        (None, Some(_)) => judge.narrowed(all, "have a rule together now"),
    }
    let asks =
        |name: &&String| !before.together.contains(name) && property(old.root, name).is_some();
    for name in now.together.iter().filter(asks) {
        judge.narrowed(name, "is required now once another field of the body is given");
    }
    let lacks = |name: &String| !now.one_of.contains(name) && property(new.root, name).is_some();
    if !now.one_of.is_empty() && (before.one_of.is_empty() || before.one_of.iter().any(lacks)) {
        judge.narrowed(all, "some must be given that could all be left out");
    }
    judge.take().into_iter().map(|found| about("", found)).collect()
}

/// What a caller sees of the arguments that stayed: another default changes what a call without it
/// means; anything else is a text, or the same rules shown in another way.
fn shown(old: &Seen, new: &Seen, renames: &Renames, found: &[About]) -> Vec<About> {
    let schema = |seen: &'_ Seen| seen.object("inputSchema").cloned().unwrap_or_default();
    let (old, new) = (schema(old), schema(new));
    let mut changes = Vec::new();
    let mut texts = Vec::new();
    for (name, now) in properties(&new) {
        let from = renames.iter().find(|(_, to)| to == name).map_or(name, |(from, _)| from);
        let Some(before) = property(&old, from).filter(|before| *before != now) else { continue };
        defaults(before, now, name, &mut |words| {
            changes.push((name.clone(), Change::breaking(Aspect::InputNarrowed, words)));
        });
        let is_told = found.iter().chain(&changes).any(|(about, _)| about == name);
        let other_words = before.get("description") != now.get("description");
        if other_words || !is_told {
            texts.push(quote(name));
        }
    }
    changes.extend(other_words(&texts).map(|change| (String::new(), change)));
    changes
}

/// Each `default` that is not what it was.
fn defaults(old: &Value, new: &Value, place: &str, tell: &mut dyn FnMut(String)) {
    let (before, now) = (old.get("default"), new.get("default"));
    if before != now {
        let shown = |value: Option<&Value>| {
            value.map_or("unsaid".to_owned(), |value| quote(&value.to_string()))
        };
        tell(format!("{}: `default` is {} instead of {}", quote(place), shown(now), shown(before)));
    }
    if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
        defaults(old, new, &format!("{place}[]"), tell);
    }
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return };
    for (name, now) in properties(new) {
        if let Some(before) = property(old, name) {
            defaults(before, now, &format!("{place}.{name}"), tell);
        }
    }
}
