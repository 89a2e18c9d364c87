//! Arguments against the checking schema: as given, then with lossless repair at the failing nodes.
//!
//! A model that reads one schema and a server that checks another would talk past each other, so
//! what a caller sent is taken as it is first. Only where a node fails is it read the way it was
//! meant ([`repair`]); what then still fails is said all at once, in a model's words ([`words`]).

mod bounds;
mod repair;
mod texts;
mod words;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::{
    bundle::Sealed,
    input::{Form, Input, Place, Slot},
    near::suggestion,
    plan::{ArgumentFault, Arguments, Source},
    view::View,
};
use crate::config::Limits;
use texts::Text;

/// Names that some clients add to every call; dropped where the tool has no such argument.
const CLIENT_EXTRAS: [&str; 6] =
    ["toolCallId", "tool_call_id", "sessionId", "chatInput", "action", "_meta"];

/// The compiled checking schema of one tool.
#[derive(Debug)]
pub struct Checker {
    validator: Validator,
    arguments: Vec<Argument>,
    /// Names that are no argument go into the body.
    extra: bool,
    /// Arguments that must be given as soon as one field of an optional body is.
    together: Vec<String>,
    /// Arguments of which at least one must be given.
    one_of: Vec<String>,
    /// What the whole body must obey.
    whole: Option<Whole>,
    bounds: bounds::Bounds,
}

/// One argument as the check needs it.
#[derive(Debug)]
struct Argument {
    name: String,
    place: Place,
    /// Where it is shown as text and means any JSON value.
    text: Option<Text>,
}

/// Rules that speak of all fields of a body together.
#[derive(Debug)]
struct Whole {
    validator: Validator,
    fields: Vec<(String, Source)>,
}

/// What a checker is made of, before the shared schemas are complete.
#[derive(Clone, Debug)]
pub(super) struct Checking {
    /// The object schema of the arguments, as the bundle made it.
    pub(super) root: Value,
    /// The schema of the whole body, as the bundle made it.
    pub(super) rules: Option<Value>,
}

impl Checker {
    /// Compiles the checker of an operation's arguments.
    ///
    /// # Errors
    /// In words, when the schema does not compile.
    pub(super) fn compile(
        checking: &Checking,
        sealed: &Sealed,
        (input, published, view): (&Input, &Map<String, Value>, &View<'_>),
        limits: &Limits,
    ) -> Result<Self, String> {
        let whole = match &checking.rules {
            Some(rules) => {
                Some(Whole { validator: sealed.validator(rules)?, fields: fields(input) })
            }
            None => None,
        };
        let argument = |slot: &Slot| Argument {
            name: slot.argument.clone(),
            place: slot.place,
            text: texts::of_slot(slot, input, published, view),
        };
        Ok(Self {
            validator: sealed.validator(&checking.root)?,
            arguments: input.arguments().map(argument).collect(),
            extra: input.extra().is_some(),
            together: input.together.clone(),
            one_of: input.one_of.clone(),
            whole,
            bounds: bounds::Bounds { depth: limits.argument_depth, string: limits.argument_string },
        })
    }

    /// Checks the arguments of one call and repairs what can be repaired without loss.
    ///
    /// # Errors
    /// Every fault at once.
    pub fn check(&self, arguments: Map<String, Value>) -> Result<Arguments, Vec<ArgumentFault>> {
        let mut value = Value::Object(arguments);
        self.bounds.hold(&mut value)?;
        let Value::Object(mut arguments) = value else {
            return Err(vec![fault("", "the arguments are no object")]);
        };
        let mut faults = self.names(&mut arguments);
        self.read_texts(&mut arguments);
        let mut value = Value::Object(arguments);
        faults.extend(repair::check(&self.validator, &mut value, ""));
        // Repair changes values and drops nulls; the root stays an object.
        let arguments = match value {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        faults.extend(self.companions(&arguments));
        if faults.is_empty() {
            faults.extend(self.check_whole(&arguments));
        }
        if faults.is_empty() { Ok(Arguments(arguments)) } else { Err(faults) }
    }

    /// Drops what clients add and nulls where a parameter is not sent anyway, and refuses what is no argument.
    fn names(&self, arguments: &mut Map<String, Value>) -> Vec<ArgumentFault> {
        let known = |name: &str| self.arguments.iter().find(|argument| argument.name == name);
        let mut faults = Vec::new();
        arguments.retain(|name, value| match known(name) {
            Some(argument) => argument.place.in_body() || !value.is_null(),
            None if CLIENT_EXTRAS.contains(&name.as_str()) => false,
            None if self.extra => true,
            None => {
                faults.push(self.unknown(name));
                false
            }
        });
        faults
    }

    fn unknown(&self, name: &str) -> ArgumentFault {
        let names = self.arguments.iter().map(|argument| argument.name.as_str());
        let near = suggestion(name, names.clone());
        let words = match near.is_empty() {
            false => format!("unknown argument{near}"),
            true if self.arguments.is_empty() => "unknown argument; the tool takes none".to_owned(),
            true => format!("unknown argument; known are {}", words::list(names)),
        };
        fault(words::cut(name), words)
    }

    /// The values that were shown as text are read.
    fn read_texts(&self, arguments: &mut Map<String, Value>) {
        for argument in &self.arguments {
            let value = arguments.get_mut(&argument.name);
            if let (Some(text), Some(value)) = (&argument.text, value) {
                text.read(value);
            }
        }
    }

    /// What must be given because of what was given.
    fn companions(&self, arguments: &Map<String, Value>) -> Vec<ArgumentFault> {
        let is_field = |argument: &&Argument| argument.place == Place::Field;
        let fields = || self.arguments.iter().filter(is_field);
        let mut given = fields().filter(|field| arguments.contains_key(&field.name));
        let Some(first) = given.next() else {
            if self.one_of.is_empty() || self.extra && !arguments.is_empty() {
                return Vec::new();
            }
            let choices = words::list(self.one_of.iter().map(String::as_str));
            return vec![fault("", format!("nothing to change was given; give at least one of {choices}"))];
        };
        let missing = self.together.iter().filter(|name| !arguments.contains_key(*name));
        let words = |name: &String| {
            fault(name.clone(), format!("required once `{}` is given", first.name))
        };
        missing.map(words).collect()
    }

    /// The rules of the whole body, on the body as it will be built.
    fn check_whole(&self, arguments: &Map<String, Value>) -> Vec<ArgumentFault> {
        let Some(whole) = &self.whole else {
            return Vec::new();
        };
        let mut body = Map::new();
        for (name, source) in &whole.fields {
            if let Some(value) = source.value(arguments) {
                body.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in arguments {
            if !self.arguments.iter().any(|argument| argument.name == *name) {
                body.insert(name.clone(), value.clone());
            }
        }
        words::faults(&whole.validator, &Value::Object(body))
    }
}

fn fields(input: &Input) -> Vec<(String, Source)> {
    let fields = input.slots.iter().filter(|slot| slot.place == Place::Field);
    match input.form {
        Form::Fields { .. } => fields.map(|f| (f.wire.clone(), f.source.clone())).collect(),
        Form::None | Form::Whole(_) => Vec::new(),
    }
}

fn fault(path: impl Into<String>, words: impl Into<String>) -> ArgumentFault {
    ArgumentFault { path: path.into(), words: words.into() }
}
