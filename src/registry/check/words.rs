//! What is wrong with an argument, in words a model can act on.
//!
//! Each fault says what was expected and what came; values are cut, so that a refusal is never
//! larger than what was refused.

use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::{Location, LocationSegment},
};
use serde_json::Value;

use super::{fault, repair};
use crate::{
    diagnostic::{counted, suggestion},
    registry::{plan::ArgumentFault, text},
};

/// Faults that are said; more help nobody.
const MOST: usize = 20;
/// Said of what is not there.
pub(super) const MISSING: &str = "required, but not given";
/// Bytes of a value or a name that are repeated.
const VALUE: usize = 80;
/// Allowed values that are listed.
const CHOICES: usize = 30;

/// Everything that fails, in the order of the schema.
pub(super) fn faults(validator: &Validator, value: &Value) -> Vec<ArgumentFault> {
    let mut faults: Vec<ArgumentFault> = Vec::new();
    for error in validator.iter_errors(value).take(MOST) {
        repair::each(&error, &mut |error| {
            for fault in of(error) {
                if !faults.contains(&fault) && faults.len() < MOST {
                    faults.push(fault);
                }
            }
        });
    }
    faults
}

fn of(error: &ValidationError<'_>) -> Vec<ArgumentFault> {
    let at = path(error.instance_path());
    match error.kind() {
        // The engine gave up: the API will say.
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => Vec::new(),
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![fault(below(&at, name), MISSING)]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().map(|name| fault(below(&at, &cut(name)), "unknown here")).collect()
        }
        _ => vec![fault(cut_path(&at), sentence(error))],
    }
}

fn sentence(error: &ValidationError<'_>) -> String {
    let got = shown(error.instance());
    match error.kind() {
        Kind::Type { kind } => format!("expected {}, got {got}", kinds(kind)),
        Kind::Enum { options } => choices(options.as_array().map_or(&[], Vec::as_slice), error),
        Kind::Constant { expected_value } => {
            format!("expected {}, got {got}", shown(expected_value))
        }
        Kind::Format { format } => format!("expected a `{format}`{}, got {got}", example(format)),
        Kind::Pattern { pattern } => format!("expected a match of `{}`, got {got}", cut(pattern)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            format!("fits none of its forms: {}; got {got}", forms(context))
        }
        Kind::OneOfMultipleValid { context } => {
            let fits = context.iter().filter(|errors| errors.is_empty()).count();
            let of = context.len();
            format!("expected to fit one of its {of} forms, fits {fits} of them, got {got}")
        }
        kind => bound(kind).map_or_else(
            || cut(&error.masked().to_string()),
            |bound| format!("expected {bound}, got {got}"),
        ),
    }
}

/// What a bound expects.
fn bound(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MinLength { limit } => format!("at least {}", counted(limit, "character")),
        Kind::MaxLength { limit } => format!("at most {}", counted(limit, "character")),
        Kind::MinItems { limit } => format!("at least {}", counted(limit, "item")),
        Kind::MaxItems { limit } => format!("at most {}", counted(limit, "item")),
        Kind::AdditionalItems { limit } => format!("at most {}", counted(limit, "item")),
        Kind::MinProperties { limit } => format!("at least {}", counted(limit, "field")),
        Kind::MaxProperties { limit } => format!("at most {}", counted(limit, "field")),
        Kind::UniqueItems => "items that differ".to_owned(),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        _ => return None,
    })
}

/// The first thing each form of a union says, for the first few.
fn forms(context: &[Vec<ValidationError<'static>>]) -> String {
    let form = |errors: &Vec<ValidationError<'static>>| {
        let error = errors.first()?;
        Some(match error.kind() {
            Kind::Type { kind } => format!("{}{}", within(error), kinds(kind)),
            Kind::Required { property } => format!("{}with {property}", within(error)),
            Kind::Constant { expected_value } => {
                format!("{}{}", within(error), shown(expected_value))
            }
            kind => format!("{}{} as documented", within(error), kind.keyword()),
        })
    };
    let mut forms: Vec<String> = Vec::new();
    for form in context.iter().filter_map(form).take(CHOICES) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms.truncate(4);
    forms.join(", or ")
}

fn within(error: &ValidationError<'_>) -> String {
    let at = path(error.instance_path());
    if at.is_empty() { at } else { format!("`{}`: ", cut_path(&at)) }
}

fn choices(options: &[Value], error: &ValidationError<'_>) -> String {
    let list: Vec<String> = options.iter().take(CHOICES).map(shown).collect();
    let more = options.len().saturating_sub(CHOICES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let near = error.instance().as_str().map_or_else(String::new, |text| {
        suggestion(text, options.iter().filter_map(Value::as_str))
    });
    format!("expected one of {}{more}, got {}{near}", list.join(", "), shown(error.instance()))
}

fn kinds(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn example(format: &str) -> &'static str {
    match format {
        "date-time" => " like `2025-01-31T12:00:00Z`",
        "date" => " like `2025-01-31`",
        "time" => " like `12:00:00Z`",
        _ => "",
    }
}

/// A value as JSON in backticks, cut.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 3 => format!("an array of {} items", items.len()),
        Value::Object(map) if map.len() > 3 => format!("an object of {} fields", map.len()),
        Value::String(text) => format!("`{}`", cut(&Value::from(cut(text)).to_string())),
        value => format!("`{}`", cut(&value.to_string())),
    }
}

/// The beginning of a text of the caller's.
pub(super) fn cut(text: &str) -> String {
    let head = text::floor(text, VALUE);
    if head.len() < text.len() { format!("{head}…") } else { head.to_owned() }
}

/// The end of a path says more than its beginning, but the argument is its beginning.
fn cut_path(path: &str) -> String {
    if path.len() <= 3 * VALUE {
        path.to_owned()
    } else {
        format!("{}…", text::floor(path, 3 * VALUE))
    }
}

/// Some names as a caller would write them.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(CHOICES);
    let head: Vec<&str> = names.iter().take(CHOICES).map(String::as_str).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", head.join(", "))
}

/// `relations[0].type`
fn path(location: &Location) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Property(name) => path = below(&path, &name),
            LocationSegment::Index(i) => path.push_str(&format!("[{i}]")),
        }
    }
    path
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
