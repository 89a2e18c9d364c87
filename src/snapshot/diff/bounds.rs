//! Bounds of numbers, lengths and counts, `format` and `uniqueItems`: tighter or looser.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::schema::Judge;

/// A keyword that counts, and whether it is an upper bound.
const COUNTS: [(&str, bool); 6] = [
    ("minLength", false),
    ("maxLength", true),
    ("minItems", false),
    ("maxItems", true),
    ("minProperties", false),
    ("maxProperties", true),
];

const NUMBERS: [[&str; 2]; 2] = [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]];

pub(super) fn is_known(keyword: &str) -> bool {
    COUNTS.iter().any(|(word, _)| *word == keyword)
        || NUMBERS.iter().flatten().any(|word| *word == keyword)
        || ["format", "uniqueItems"].contains(&keyword)
}

type Schema = Map<String, Value>;

/// Notes every bound that moved.
pub(super) fn judge(judge: &mut Judge<'_>, old: &Schema, new: &Schema, place: &str) {
    for (word, upper) in COUNTS {
        count(judge, (old.get(word), new.get(word)), (word, upper), place);
    }
    for (words, upper) in NUMBERS.iter().zip([false, true]) {
        number(judge, old, new, (words, upper), place);
    }
    match (old.get("format"), new.get("format")) {
        (old, new) if old == new => {}
        (Some(_), None) => judge.widened(place, "`format` is free now"),
        _ => judge.unproved(place, "`format`"),
    }
    let unique = |schema: &Schema| schema.get("uniqueItems") == Some(&Value::Bool(true));
    match (unique(old), unique(new)) {
        (false, true) => judge.narrowed(place, "takes no item twice any more"),
        (true, false) => judge.widened(place, "takes items twice"),
        _ => {}
    }
}

fn count(
    judge: &mut Judge<'_>,
    (old, new): (Option<&Value>, Option<&Value>),
    (word, upper): (&str, bool),
    place: &str,
) {
    if old == new {
        return;
    }
    let least = if upper { u64::MAX } else { 0 };
    let read = |bound: Option<&Value>| bound.map_or(Some(least), Value::as_u64);
    let (Some(before), Some(now)) = (read(old), read(new)) else {
        return judge.unproved(place, &format!("`{word}`"));
    };
    let order = if upper { now.cmp(&before) } else { before.cmp(&now) };
    moved(judge, order, &moved_words(word, old, new), place);
}

/// A bound of a number, inclusive or not.
fn number(
    judge: &mut Judge<'_>,
    old: &Schema,
    new: &Schema,
    (words, upper): (&[&str; 2], bool),
    place: &str,
) {
    if words.iter().all(|word| old.get(*word) == new.get(*word)) {
        return;
    }
    let (Some(before), Some(now)) = (bound(old, words, upper), bound(new, words, upper)) else {
        return judge.unproved(place, &format!("`{}`", words[0]));
    };
    let order = if upper { now.looseness(&before) } else { before.negated(&now) };
    let shown = |schema: &Schema| words.iter().find_map(|word| schema.get(*word)).cloned();
    let words = moved_words(words[0], shown(old).as_ref(), shown(new).as_ref());
    moved(judge, order, &words, place);
}

/// Looser is greater.
fn moved(judge: &mut Judge<'_>, order: Ordering, words: &str, place: &str) {
    match order {
        Ordering::Less => judge.narrowed(place, words),
        Ordering::Greater => judge.widened(place, words),
        Ordering::Equal => {}
    }
}

fn moved_words(word: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let shown = |bound: Option<&Value>| bound.map_or("none".to_owned(), Value::to_string);
    format!("`{word}` is {} instead of {}", shown(new), shown(old))
}

/// Doubles are exact up to here; beyond, two bounds may only seem equal.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Copy)]
struct Bound {
    at: f64,
    exclusive: bool,
}

impl Bound {
    /// How loose this upper bound is against another.
    fn looseness(&self, other: &Self) -> Ordering {
        let exclusive = other.exclusive.cmp(&self.exclusive);
        self.at.total_cmp(&other.at).then(exclusive)
    }

    /// The same for lower bounds, seen from the old one.
    fn negated(&self, new: &Self) -> Ordering {
        self.at.total_cmp(&new.at).then(self.exclusive.cmp(&new.exclusive))
    }
}

/// The tighter of an inclusive and an exclusive bound; `None` when one cannot be compared.
fn bound(schema: &Schema, words: &[&str; 2], upper: bool) -> Option<Bound> {
    let mut tightest =
        Bound { at: if upper { f64::INFINITY } else { f64::NEG_INFINITY }, exclusive: false };
    for (word, exclusive) in words.iter().zip([false, true]) {
        let Some(value) = schema.get(*word) else { continue };
        let at = value.as_f64().filter(|at| at.abs() < EXACT)?;
        let next = Bound { at, exclusive };
        let tighter = if upper {
            next.looseness(&tightest) == Ordering::Less
        } else {
            tightest.negated(&next) == Ordering::Less
        };
        if tighter {
            tightest = next;
        }
    }
    Some(tightest)
}
