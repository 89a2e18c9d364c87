//! One tool against what it became: texts, hints, and the aspects that have a file of their own.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Aspect, Change, Seen, binding, input, output};

/// Everything that changed, aspect by aspect.
pub(super) fn changes(old: &Seen, new: &Seen) -> Vec<Change> {
    let mut changes = aliases(old, new);
    changes.extend(texts(old, new));
    changes.extend(input::changes(old, new));
    changes.extend(output::changes(old.object("outputSchema"), new.object("outputSchema")));
    changes.extend(annotations(old.object("annotations"), new.object("annotations")));
    changes.extend(binding::changes(old, new));
    changes
}

/// A saved list does not know the aliases, so that nothing is said of them.
fn aliases(old: &Seen, new: &Seen) -> Vec<Change> {
    if old.built().is_none() || new.built().is_none() {
        return Vec::new();
    }
    let now: HashSet<&str> = new.names().collect();
    let before: HashSet<&str> = old.names().collect();
    let gone = old.names().skip(1).filter(|name| !now.contains(name));
    let gone = gone.map(|name| {
        Change::breaking(Aspect::Aliases, format!("does not answer to `{name}` any more"))
    });
    let more = new.names().skip(1).filter(|name| !before.contains(name));
    let more = more.map(|name| Change::safe(Aspect::Aliases, format!("answers to `{name}` too")));
    gone.chain(more).collect()
}

fn texts(old: &Seen, new: &Seen) -> Option<Change> {
    let is_other = |key: &&str| old.text(key) != new.text(key);
    let other: Vec<_> = ["title", "description"].into_iter().filter(is_other).collect();
    let words = match (other.as_slice(), old.meta("toolset") == new.meta("toolset")) {
        ([], true) => return None,
        ([], false) => format!("belongs to `{}` now", new.meta("toolset")),
        (other, _) => format!("another {}", other.join(" and ")),
    };
    Some(Change::safe(Aspect::Texts, words))
}

/// The hints, and the value of each that lets a client do more on its own.
const HINTS: [(&str, bool); 4] = [
    ("readOnlyHint", true),
    ("destructiveHint", false),
    ("idempotentHint", true),
    ("openWorldHint", false),
];

/// A client that ran a tool without asking, or twice, must not be wrong to have done so.
fn annotations(old: Option<&Map<String, Value>>, new: Option<&Map<String, Value>>) -> Vec<Change> {
    let hint = |all: Option<&Map<String, Value>>, name: &str| {
        all.and_then(|all| all.get(name)).and_then(Value::as_bool)
    };
    let mut changes = Vec::new();
    for (name, harmless) in HINTS {
        let (before, now) = (hint(old, name), hint(new, name));
        if before == now {
            continue;
        }
        let shown = |value: Option<bool>| value.map_or("unsaid".to_owned(), |on| on.to_string());
        let words = format!("`{name}` is {} instead of {}", shown(now), shown(before));
        // Unsaid means the worst to a client.
        changes.push(match (before == Some(harmless), now == Some(harmless)) {
            (true, false) => Change::breaking(Aspect::Annotations, words),
            _ => Change::safe(Aspect::Annotations, words),
        });
    }
    changes
}
