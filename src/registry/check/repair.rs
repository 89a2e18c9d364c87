//! Values read the way they were meant, where they fail as they were sent.
//!
//! Only what loses nothing is done, and only at a node that fails: a `null` for what may be absent
//! is dropped; where exactly one type is expected, `"5"` is 5, `"true"` is true, a JSON text is its
//! object or array, and a number is its digits. Every round changes a value that was refused, and
//! their number is bounded.

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Map, Value};

use super::{
    cost::{Means, Schema},
    fault, words,
};
use crate::registry::plan::ArgumentFault;

/// JSON texts within JSON texts; more is no mistake of a client.
const ROUNDS: usize = 6;
/// Said of a value whose faults would take too long to find.
const UNSAID: &str =
    "does not fit its schema; it is too large, or has too many forms within forms, to say where";
/// Nodes repaired in one round.
const MOST: usize = 10_000;

/// Checks the value of one argument: what it was meant to be, and what still fails. `None` means
/// that it was a `null` and counts as not given.
pub(super) fn check(
    validator: &Validator,
    schema: &Schema,
    argument: &str,
    value: Value,
) -> (Option<Value>, Vec<ArgumentFault>) {
    let mut alone = Value::Object(Map::from_iter([(argument.to_owned(), value)]));
    let faults = alone_in(validator, schema, &mut alone, argument);
    (alone.as_object_mut().and_then(|alone| alone.shift_remove(argument)), faults)
}

fn alone_in(
    validator: &Validator,
    schema: &Schema,
    value: &mut Value,
    argument: &str,
) -> Vec<ArgumentFault> {
    for _ in 0..ROUNDS {
        let means = schema.means(value);
        if means == Means::Nothing {
            return vec![fault(words::cut(argument), "nested too deep in forms within forms")];
        }
        if validator.is_valid(value) {
            return Vec::new();
        }
        if means == Means::Verdict {
            return vec![fault(words::cut(argument), UNSAID)];
        }
        let repairs = repairs(validator, value);
        if repairs.is_empty() {
            break;
        }
        for (pointer, repair) in repairs {
            repair.apply(value, &pointer);
        }
    }
    words::faults(validator, value)
}

/// What to do at one node.
#[derive(Clone, Debug, PartialEq)]
enum Repair {
    /// Its key goes.
    Drop,
    /// It becomes this.
    Set(Value),
}

fn repairs(validator: &Validator, value: &Value) -> Vec<(String, Repair)> {
    let mut repairs: Vec<(String, Repair)> = Vec::new();
    for error in validator.iter_errors(value).take(MOST) {
        each(&error, &mut |error| {
            let pointer = error.instance_path().to_string();
            if let Some(repair) = repair(error)
                && repairs.last().is_none_or(|(known, _)| *known != pointer)
            {
                repairs.push((pointer, repair));
            }
        });
    }
    repairs
}

/// The errors that matter of one: of a union with one member beside `null`, that member's.
pub(super) fn each<'e>(
    error: &'e ValidationError<'_>,
    visit: &mut dyn FnMut(&'e ValidationError<'e>),
) {
    match only_member(error) {
        Some(errors) => errors.iter().for_each(|error| each(error, visit)),
        None => visit(error),
    }
}

fn only_member<'e>(error: &'e ValidationError<'_>) -> Option<&'e [ValidationError<'static>]> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return None;
    };
    let at = error.instance_path().as_str();
    let wants_null = |errors: &&Vec<ValidationError<'static>>| {
        errors.iter().any(|error| {
            error.instance_path().as_str() == at
                && matches!(
                    error.kind(),
                    ValidationErrorKind::Type { kind: TypeKind::Single(JsonType::Null) }
                )
        })
    };
    let mut members = context.iter().filter(|errors| !wants_null(errors));
    let first = members.next()?;
    members.next().is_none().then_some(first.as_slice())
}

fn repair(error: &ValidationError<'_>) -> Option<Repair> {
    let value = error.instance().as_ref();
    if value.is_null() {
        return Some(Repair::Drop);
    }
    match error.kind() {
        ValidationErrorKind::Type { kind } => match single(kind) {
            Some(kind) => variant(value, kind).map(Repair::Set),
            None => from_text(value).map(Repair::Set),
        },
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            from_text(value).map(Repair::Set)
        }
        _ => None,
    }
}

/// The one type that is expected, `null` aside.
fn single(kind: &TypeKind) -> Option<JsonType> {
    match kind {
        TypeKind::Single(kind) => Some(*kind),
        TypeKind::Multiple(kinds) => {
            let mut kinds = kinds.iter().filter(|kind| *kind != JsonType::Null);
            let first = kinds.next()?;
            kinds.next().is_none().then_some(first)
        }
    }
}

/// The same value in another type, when it is exactly the same.
fn variant(value: &Value, kind: JsonType) -> Option<Value> {
    match (kind, value) {
        (JsonType::String, Value::Number(number)) => Some(number.to_string().into()),
        (JsonType::Boolean, Value::String(text)) => {
            text.trim().parse::<bool>().ok().map(Value::Bool)
        }
        (JsonType::Integer, Value::String(_)) => from_text(value).filter(is_integer),
        (JsonType::Number, Value::String(text)) if digits(text) <= 17 => {
            from_text(value).filter(Value::is_number)
        }
        (JsonType::Number, Value::String(_)) => from_text(value).filter(is_integer),
        (JsonType::Array, Value::String(_)) => from_text(value).filter(Value::is_array),
        (JsonType::Object, Value::String(_)) => from_text(value).filter(Value::is_object),
        _ => None,
    }
}

/// Digits of a decimal number; a float keeps 17.
fn digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).count()
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

/// What a text says as JSON, when that is no text again; `5.0` is 5.
fn from_text(value: &Value) -> Option<Value> {
    let mut read = serde_json::from_str(value.as_str()?.trim()).ok()?;
    if matches!(read, Value::String(_) | Value::Null) {
        return None;
    }
    let bounds = super::bounds::Bounds { depth: TEXT_DEPTH, string: usize::MAX };
    bounds.hold(&mut read).is_ok().then_some(read)
}

/// Nesting of a JSON text in a string.
const TEXT_DEPTH: usize = 64;

impl Repair {
    fn apply(self, value: &mut Value, pointer: &str) {
        match self {
            Self::Set(new) => {
                if let Some(place) = value.pointer_mut(pointer) {
                    *place = new;
                }
            }
            Self::Drop => {
                let Some((parent, key)) = pointer.rsplit_once('/') else { return };
                if let Some(Value::Object(map)) = value.pointer_mut(parent) {
                    map.shift_remove(crate::openapi::unescape(key).as_ref());
                }
            }
        }
    }
}
