//! What a value is: the six kinds a published schema knows, and lists of values.

use serde_json::Value;

/// Enum values read; a longer list is told in words.
const VALUES: usize = 256;

/// What a value is. `null` is left out on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Kind {
    /// The word of JSON Schema.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// The kind of this name.
    pub(super) fn named(word: &str) -> Option<Self> {
        [Self::Object, Self::Array, Self::String, Self::Integer, Self::Number, Self::Boolean]
            .into_iter()
            .find(|kind| kind.word() == word)
    }

    /// The kind of a value; `None` for `null`.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(number) if number.is_f64() => Some(Self::Number),
            Value::Number(_) => Some(Self::Integer),
            Value::String(_) => Some(Self::String),
            Value::Array(_) => Some(Self::Array),
            Value::Object(_) => Some(Self::Object),
        }
    }

    /// Whether a value of this kind has no parts.
    pub(super) fn is_scalar(self) -> bool {
        !matches!(self, Self::Object | Self::Array)
    }

    /// Whether a value is of this kind.
    pub(super) fn holds(self, value: &Value) -> bool {
        let kind = Self::of(value);
        kind == Some(self) || self == Self::Number && kind == Some(Self::Integer)
    }
}

/// The values of an `enum` or `const`, without `null`; `total` counts those not listed too.
#[derive(Clone, Debug, Default)]
pub(super) struct Values<'a> {
    pub(super) list: Vec<&'a Value>,
    pub(super) total: usize,
}

impl<'a> Values<'a> {
    /// Adds a value once.
    pub(super) fn add(&mut self, value: &'a Value) {
        if self.list.len() >= VALUES {
            self.total += 1;
        } else if !self.list.contains(&value) {
            self.total += 1;
            self.list.push(value);
        }
    }

    /// Adds the values of an alternative.
    pub(super) fn extend(&mut self, other: &Self) {
        self.total += other.total - other.list.len();
        other.list.iter().for_each(|value| self.add(value));
    }

    /// Whether every value is listed.
    pub(super) fn whole(&self) -> bool {
        self.total == self.list.len()
    }
}

/// Formats that every known client knows: these are published and enforced.
pub(in crate::registry) fn is_portable_format(format: &str) -> bool {
    matches!(format, "date-time" | "date" | "time" | "email" | "uri" | "uuid" | "ipv4" | "ipv6")
}

/// The kinds both allow; the first's when they exclude each other.
pub(super) fn narrowed(one: Option<Vec<Kind>>, two: Option<Vec<Kind>>) -> Option<Vec<Kind>> {
    let (Some(one), Some(two)) = (one.clone(), two.clone()) else { return one.or(two) };
    let within = |kind: &Kind, kinds: &[Kind]| {
        kinds.contains(kind) || *kind == Kind::Integer && kinds.contains(&Kind::Number)
    };
    let mut both: Vec<_> = one.iter().filter(|kind| within(kind, &two)).copied().collect();
    both.extend(two.iter().filter(|kind| within(kind, &one) && !one.contains(kind)));
    Some(if both.is_empty() { one } else { both })
}

/// The values both allow; the first's when they exclude each other.
pub(super) fn common<'a>(one: Option<Values<'a>>, two: Option<Values<'a>>) -> Option<Values<'a>> {
    let (Some(one), Some(two)) = (one.clone(), two.clone()) else { return one.or(two) };
    let list: Vec<_> = one.list.iter().filter(|value| two.list.contains(value)).copied().collect();
    let listed = one.whole() && two.whole() && !list.is_empty();
    Some(if listed { Values { total: list.len(), list } } else { one })
}
