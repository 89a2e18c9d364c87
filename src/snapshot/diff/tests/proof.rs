//! "Nothing narrowed" is a proof: random schemas and an outside validator look for a value that the old
//! one takes and the new one does not.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::snapshot::diff::schema::{Judge, Way};

type Pair = (Value, Value);

fn leaf() -> impl Strategy<Value = Value> {
    let kinds = json!([
        "string",
        "integer",
        "number",
        "boolean",
        "null",
        ["string", "null"],
        ["integer", "null"],
        ["number", "string"],
    ]);
    let kinds = kinds.as_array().cloned().unwrap();
    let words = json!([
        {}, {}, {}, {"enum": ["A", 1, null]}, {"enum": ["A", 1]}, {"const": "A"}, {"minimum": 1},
        {"minimum": 0}, {"exclusiveMinimum": 0}, {"maximum": 1}, {"exclusiveMaximum": 1},
        {"minLength": 1}, {"maxLength": 1}, {"not": {"const": 1}}, {"multipleOf": 2},
    ]);
    let words = words.as_array().cloned().unwrap();
    (prop::option::of(select(kinds)), select(words)).prop_map(|(kind, mut words)| {
        if let Some(kind) = kind {
            words["type"] = kind;
        }
        words
    })
}

/// One leaf twice, or two.
fn leaves() -> impl Strategy<Value = Pair> {
    prop_oneof![leaf().prop_map(|leaf| (leaf.clone(), leaf)), (leaf(), leaf())]
}

/// Two schemas that are more or less alike.
fn pair() -> impl Strategy<Value = Pair> {
    leaves().prop_recursive(3, 24, 3, |inner| {
        let free = || prop_oneof![Just(json!(true)), Just(json!(false))];
        let required = || select(vec![json!([]), json!(["a"]), json!(["a", "b"])]);
        let properties =
            prop::collection::vec((select(vec!["a", "b"]), 0..5_u8, inner.clone()), 0..3);
        let rest = prop::option::of(inner.clone());
        let objects = (properties, (required(), required()), (free(), free()), rest);
        let counts = || select(vec![json!({}), json!({"minItems": 1}), json!({"maxItems": 1})]);
        let members = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            objects.prop_map(object),
            (inner, counts(), counts())
                .prop_map(|((old, new), a, b)| (list(&old, a), list(&new, b))),
            (select(vec!["anyOf", "oneOf", "allOf"]), members, 0..4_u8).prop_map(union),
        ]
    })
}

type Parts = (Vec<(&'static str, u8, Pair)>, Pair, Pair, Option<Pair>);

/// Some properties are there on one side only; other names are always spoken of.
fn object((properties, required, free, rest): Parts) -> Pair {
    let (mut old, mut new) = (Map::new(), Map::new());
    for (name, sides, (before, now)) in properties {
        if sides != 0 {
            old.insert(name.to_owned(), before);
        }
        if sides != 1 {
            new.insert(name.to_owned(), now);
        }
    }
    let rest = rest.unwrap_or(free);
    let side = |properties, required, rest| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": rest});
    (side(old, required.0, rest.0), side(new, required.1, rest.1))
}

fn list(items: &Value, mut schema: Value) -> Value {
    schema["type"] = "array".into();
    schema["items"] = items.clone();
    schema
}

fn union((word, members, edit): (&str, Vec<Pair>, u8)) -> Pair {
    let (mut old, mut new): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    match edit {
        0 if old.len() > 1 => drop(old.pop()),
        1 if new.len() > 1 => drop(new.pop()),
        2 => new.reverse(),
        _ => {}
    }
    (json!({ word: old }), json!({ word: new }))
}

fn value() -> impl Strategy<Value = Value> {
    let scalars = json!([null, true, 0, 1, 2, -1, 0.5, 1.5, "", "A", "AB"]);
    let scalar = select(scalars.as_array().cloned().unwrap());
    scalar.prop_recursive(2, 8, 3, |inner| {
        let object = prop::collection::vec((select(vec!["a", "b", "c"]), inner.clone()), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
            object.prop_map(|all| all
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

fn narrows(old: &Value, new: &Value) -> bool {
    let mut judge = Judge::new(None, None);
    judge.judge(old, new, "a");
    judge.take().iter().any(|found| found.way == Way::Narrowed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_not_narrowed_takes_whatever_was_taken(
        (old, new) in pair(),
        values in prop::collection::vec(value(), 20),
    ) {
        if narrows(&old, &new) {
            return Ok(());
        }
        let before = jsonschema::validator_for(&old).unwrap();
        let now = jsonschema::validator_for(&new).unwrap();
        for value in values {
            prop_assert!(!before.is_valid(&value) || now.is_valid(&value), "{value}: {old} → {new}");
        }
    }

    #[test]
    fn a_schema_does_not_narrow_itself((old, _) in pair()) {
        // Alternatives that overlap are equal all the same.
        prop_assert!(!narrows(&old, &old), "{old}");
    }
}
