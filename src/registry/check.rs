//! Arguments against the checking schema: as given, then with lossless repair at the failing nodes.
//!
//! A model that reads one schema and a server that checks another would talk past each other, so
//! what a caller sent is taken as it is first. Only where a node fails is it read the way it was
//! meant (`repair`); what then still fails is said all at once, in a model's words (`words`).

mod accepted;
mod bounds;
mod cost;
mod repair;
mod texts;
mod whole;
mod words;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::{
    bundle::Sealed,
    input::{Form, Input, Place, Slot},
    plan::{ArgumentFault, Arguments, Source},
    view::View,
};
use crate::{
    config::Limits,
    diagnostic::{Diagnostic, Position, suggestion},
};
use texts::Text;
use whole::Whole;

pub use accepted::Accepted;

/// Names that some clients add to every call; dropped where the tool has no such argument.
const CLIENT_EXTRAS: [&str; 6] =
    ["toolCallId", "tool_call_id", "sessionId", "chatInput", "action", "_meta"];

/// The compiled checking schema of one tool.
#[derive(Debug)]
pub struct Checker {
    validator: Validator,
    schema: cost::Schema,
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
    required: bool,
    /// Where it is shown as text and means any JSON value.
    text: Option<Text>,
}

/// What a checker is made of, before the shared schemas are complete.
#[derive(Clone, Debug)]
pub(super) struct Checking {
    /// The object schema of the arguments, as the bundle made it.
    pub(super) root: Value,
    /// The schema of the whole body, as the bundle made it.
    pub(super) rules: Option<Value>,
    /// Values of the allowlist.
    pub(super) stand_ins: Vec<StandIn>,
}

/// What a [`Checker`] accepts, to be held against what another one does. Nothing in it only describes.
#[derive(Clone, Debug)]
pub struct Accepts<'a> {
    /// The object schema of the arguments, in JSON Schema 2020-12; it does not say which are required.
    pub arguments: &'a Value,
    /// What its references lead to, by their last part.
    pub defs: &'a Map<String, Value>,
    /// The arguments that every call must give.
    pub required: Vec<&'a str>,
    /// What all fields of a body together must obey.
    pub rules: Option<&'a Value>,
    /// Arguments that must be given as soon as one field of an optional body is.
    pub together: &'a [String],
    /// Arguments of which at least one must be given; empty means none.
    pub one_of: &'a [String],
}

/// A value of the allowlist that is sent when the caller gives none.
#[derive(Clone, Debug)]
pub(super) struct StandIn {
    /// For which argument.
    pub(super) argument: String,
    /// The argument's schema, as the bundle made it.
    pub(super) schema: Value,
    /// The value.
    pub(super) value: Value,
    /// Where the allowlist says it.
    pub(super) position: Position,
}

/// The values of the allowlist that their own arguments would refuse.
///
/// # Errors
/// In words, when a schema does not compile.
pub(super) fn unfit(stand_ins: &[StandIn], sealed: &Sealed) -> Result<Vec<Diagnostic>, String> {
    let mut unfit = Vec::new();
    for StandIn { argument, schema, value, position } in stand_ins {
        let faults = words::faults(&sealed.validator(schema)?, value);
        if let Some(ArgumentFault { path, words }) = faults.into_iter().next() {
            let path = if path.is_empty() { path } else { format!("`{path}`: ") };
            let words = format!("the value for `{argument}` does not fit: {path}{words}");
            unfit.push(Diagnostic::error(words).at(position.clone()));
        }
    }
    Ok(unfit)
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
        let whole = match (&checking.rules, &input.form) {
            (Some(rules), Form::Fields { required, .. }) => Some(Whole {
                validator: sealed.validator(rules)?,
                rules: rules.clone(),
                fields: fields(input),
                required: *required,
            }),
            _ => None,
        };
        let argument = |slot: &Slot| Argument {
            name: slot.argument.clone(),
            place: slot.place,
            required: slot.required,
            text: texts::of_slot(slot, input, published, view)
                .filter(|text| slot.place != Place::Body || *text != Text::Any),
        };
        Ok(Self {
            validator: sealed.validator(&checking.root)?,
            schema: cost::Schema { root: checking.root.clone(), defs: sealed.defs() },
            arguments: input.arguments().map(argument).collect(),
            extra: input.extra().is_some(),
            together: input.together.clone(),
            one_of: input.one_of.clone(),
            whole,
            bounds: bounds::Bounds { depth: limits.argument_depth, string: limits.argument_string },
        })
    }

    /// What it accepts, in parts; [`Checker::accepted`] puts them together.
    pub fn accepts(&self) -> Accepts<'_> {
        let required = self.arguments.iter().filter(|argument| argument.required);
        Accepts {
            arguments: &self.schema.root,
            defs: &self.schema.defs,
            required: required.map(|argument| argument.name.as_str()).collect(),
            rules: self.whole.as_ref().map(|whole| &whole.rules),
            together: &self.together,
            one_of: &self.one_of,
        }
    }

    /// Whether a call may name this argument.
    pub fn takes(&self, name: &str) -> bool {
        self.extra || self.arguments.iter().any(|argument| argument.name == name)
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
        let mut kept = Map::new();
        for (name, value) in arguments {
            let (value, found) = repair::check(&self.validator, &self.schema, &name, value);
            faults.extend(found);
            kept.extend(value.map(|value| (name, value)));
        }
        let arguments = kept;
        faults.extend(self.missing(&arguments));
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

    /// What every call must give.
    fn missing(&self, arguments: &Map<String, Value>) -> Vec<ArgumentFault> {
        let is_missing =
            |argument: &&Argument| argument.required && !arguments.contains_key(&argument.name);
        let missing = self.arguments.iter().filter(is_missing);
        missing.map(|argument| fault(argument.name.clone(), words::MISSING)).collect()
    }

    /// What must be given because of what was given.
    fn companions(&self, arguments: &Map<String, Value>) -> Vec<ArgumentFault> {
        let Some(first) = arguments.keys().find(|name| self.is_in_fields(name)) else {
            if self.one_of.is_empty() {
                return Vec::new();
            }
            let choices = words::list(self.one_of.iter().map(String::as_str));
            let words = format!("nothing to change was given; give at least one of {choices}");
            return vec![fault("", words)];
        };
        let missing = self.together.iter().filter(|name| !arguments.contains_key(*name));
        let words =
            |name: &String| fault(name.clone(), format!("required once `{first}` is given"));
        missing.map(words).collect()
    }

    /// Whether a name is a field of the body: a known one, or one that is no argument.
    fn is_in_fields(&self, name: &str) -> bool {
        let known = self.arguments.iter().find(|argument| argument.name == name);
        known.is_none_or(|argument| argument.place == Place::Field)
    }

    /// The rules of the whole body, on the body as it will be built.
    fn check_whole(&self, arguments: &Map<String, Value>) -> Vec<ArgumentFault> {
        let Some(whole) = &self.whole else {
            return Vec::new();
        };
        let is_extra = |(name, _): &(&String, &Value)| {
            !self.arguments.iter().any(|argument| argument.name == **name)
        };
        whole.faults(arguments, arguments.iter().filter(is_extra))
    }
}

/// Whether the whole body is shown as a string that holds any JSON. It is sent digit by digit, so
/// the check leaves it as it is.
pub(super) fn shows_body_as_text(
    input: &Input,
    published: &Map<String, Value>,
    view: &View<'_>,
) -> bool {
    let mut bodies = input.arguments().filter(|slot| slot.place == Place::Body);
    bodies.any(|slot| texts::of_slot(slot, input, published, view) == Some(Text::Any))
}

/// The fields of the body with their wire names.
fn fields(input: &Input) -> Vec<(String, Source)> {
    let fields = input.slots.iter().filter(|slot| slot.place == Place::Field);
    fields.map(|slot| (slot.wire.clone(), slot.source.clone())).collect()
}

fn fault(path: impl Into<String>, words: impl Into<String>) -> ArgumentFault {
    ArgumentFault { path: path.into(), words: words.into() }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "cases are written as values")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::sample::Sample;

    fn memo() -> Value {
        json!({"$ref": "#/components/schemas/Memo"})
    }

    fn check(sample: &Sample, given: Value) -> Result<String, String> {
        let arguments = given.as_object().unwrap().clone();
        match sample.checker().check(arguments) {
            Ok(arguments) => Ok(Value::Object(arguments.0).to_string()),
            Err(faults) => Err(faults
                .iter()
                .map(|fault| format!("{}: {}", fault.path, fault.words))
                .collect::<Vec<_>>()
                .join("\n")),
        }
    }

    fn passes(sample: &Sample, given: Value, expected: Value) {
        assert_eq!(check(sample, given), Ok(expected.to_string()));
    }

    fn fails(sample: &Sample, given: Value, expected: &str) {
        assert_eq!(check(sample, given), Err(expected.to_owned()));
    }

    fn query(schema: Value) -> Sample {
        Sample::new("GET /x").query("a", schema)
    }

    fn field(schema: Value) -> Sample {
        Sample::new("POST /x").body("application/json!", json!({"properties": {"a": schema}}))
    }

    #[test]
    fn values_that_fit_stay_as_they_are() {
        let create = Sample::new("POST /memos").body("application/json!", memo());
        let given = json!({"content": "5", "state": "NORMAL", "relations": [{"type": "x"}]});
        passes(&create, given.clone(), given);
        passes(
            &query(json!({"type": ["string", "integer"]})),
            json!({"a": "5"}),
            json!({"a": "5"}),
        );
    }

    #[test]
    fn exact_variants_are_repaired() {
        let check = |kind: &str, given: Value, expected: Value| {
            passes(&field(json!({"type": kind})), json!({"a": given}), json!({"a": expected}));
        };
        check("integer", json!("5"), json!(5));
        check("integer", json!("-9223372036854775808"), json!(i64::MIN));
        check("integer", json!(5.0), json!(5));
        check("integer", json!("5.0"), json!(5));
        check("number", json!("5.25"), json!(5.25));
        check("boolean", json!("true"), json!(true));
        check("string", json!(5), json!("5"));
        check("string", json!(5.5), json!("5.5"));
        check("array", json!("[1, 2]"), json!([1, 2]));
        check("object", json!("{\"b\": 1}"), json!({"b": 1}));
    }

    #[test]
    fn inexact_variants_are_refused() {
        let check = |kind: &str, given: Value, expected: &str| {
            fails(&field(json!({"type": kind})), json!({"a": given}), &format!("a: {expected}"));
        };
        check("integer", json!("007"), "expected integer, got `\"007\"`");
        check("integer", json!(5.5), "expected integer, got `5.5`");
        check("integer", json!("5.5"), "expected integer, got `\"5.5\"`");
        check(
            "integer",
            json!("99999999999999999999"),
            "expected integer, got `\"99999999999999999999\"`",
        );
        check(
            "number",
            json!("0.123456789012345678901"),
            "expected number, got `\"0.123456789012345678901\"`",
        );
        check("boolean", json!("yes"), "expected boolean, got `\"yes\"`");
        check("string", json!(true), "expected string, got `true`");
        check("array", json!("a,b"), "expected array, got `\"a,b\"`");
        check("object", json!([1]), "expected object, got `[1]`");
    }

    #[test]
    fn nested_nodes_are_repaired_alike() {
        let create = Sample::new("POST /memos").body("application/json!", memo());
        passes(
            &create,
            json!({"content": "c", "state": "NORMAL", "pinned": "false",
                "relations": "[{\"type\": 1, \"weight\": \"2\", \"memo\": null}]"}),
            json!({"content": "c", "state": "NORMAL", "pinned": false,
                "relations": [{"type": "1", "weight": 2}]}),
        );
    }

    #[test]
    fn a_union_with_null_is_repaired_as_its_one_member() {
        let optional = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        passes(&field(optional.clone()), json!({"a": "5"}), json!({"a": 5}));
        passes(&field(json!({"type": ["integer", "null"]})), json!({"a": "5"}), json!({"a": 5}));
        fails(&field(optional), json!({"a": "x"}), "a: expected integer, got `\"x\"`");
        let scalars = json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]});
        passes(&field(scalars), json!({"a": "5"}), json!({"a": 5}));
    }

    #[test]
    fn null_is_absent_unless_the_body_says_otherwise() {
        passes(&query(json!({"type": "string"})), json!({"a": null}), json!({}));
        passes(&query(json!({"type": ["string", "null"]})), json!({"a": null}), json!({}));
        passes(&field(json!({"type": "string"})), json!({"a": null}), json!({}));
        passes(&field(json!({"type": ["string", "null"]})), json!({"a": null}), json!({"a": null}));
        passes(&field(json!({"enum": ["x"]})), json!({"a": null}), json!({}));
        fails(&Sample::new("GET /{a}"), json!({"a": null}), "a: required, but not given");
    }

    #[test]
    fn what_must_be_given_is_not_empty() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        let needed = |schema| Sample::new("GET /x").query("a!", schema);
        fails(&needed(list.clone()), json!({"a": []}), "a: expected at least 1 item, got `[]`");
        let optional = json!({"anyOf": [list.clone(), {"type": "null"}]});
        fails(&needed(optional), json!({"a": []}), "a: expected at least 1 item, got `[]`");
        let object = json!({"type": "object", "additionalProperties": true});
        fails(&needed(object), json!({"a": {}}), "a: expected at least 1 field, got `{}`");
        passes(&needed(list.clone()), json!({"a": ["b"]}), json!({"a": ["b"]}));
        passes(&query(list.clone()), json!({"a": []}), json!({"a": []}));
        passes(&field(list), json!({"a": []}), json!({"a": []}));
    }

    #[test]
    fn unknown_names_are_refused_and_client_extras_dropped() {
        let list = Sample::new("GET /x").query("pageSize", json!({})).query("filter", json!({}));
        fails(
            &list,
            json!({"pagesize": 1}),
            "pagesize: unknown argument; did you mean `pageSize`?",
        );
        fails(&list, json!({"zzz": 1}), "zzz: unknown argument; known are `pageSize`, `filter`");
        fails(&Sample::new("GET /x"), json!({"z": 1}), "z: unknown argument; the tool takes none");
        passes(&list, json!({"toolCallId": "x", "filter": "f"}), json!({"filter": "f"}));
        let own = Sample::new("GET /x").query("action", json!({"type": "string"}));
        passes(&own, json!({"action": "go"}), json!({"action": "go"}));
    }

    #[test]
    fn extra_names_obey_the_document() {
        let body = json!({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}});
        let sample = Sample::new("POST /x").body("application/json", body);
        passes(&sample, json!({"b": "5"}), json!({"b": 5}));
        fails(&sample, json!({"b": "x"}), "b: expected integer, got `\"x\"`");
    }

    #[test]
    fn all_faults_are_said_at_once() {
        let create = Sample::new("POST /memos/{memo}").body("application/json!", memo());
        let faults =
            check(&create, json!({"state": "normal", "pinnd": 1, "relations": [{"weight": []}]}));
        let faults = faults.unwrap_err();
        for words in [
            "pinnd: unknown argument; did you mean `pinned`?",
            "memo: required, but not given",
            "content: required, but not given",
            "state: expected one of `\"NORMAL\"`, `\"ARCHIVED\"`, got `\"normal\"`; did you mean `NORMAL`?",
            "relations[0].type: required, but not given",
            "relations[0].weight: expected integer, got `[]`",
        ] {
            assert!(faults.lines().any(|line| line == words), "{words}\n--\n{faults}");
        }
        assert_eq!(faults.lines().count(), 6, "{faults}");
    }

    #[test]
    fn an_optional_body_is_whole_or_absent() {
        let sample = Sample::new("POST /memos").body("application/json", memo());
        passes(&sample, json!({}), json!({}));
        fails(&sample, json!({"content": "c"}), "state: required once `content` is given");
        let always = Sample::new("POST /memos").body("application/json", memo());
        let always = always.changes("arguments: { pinned: { fixed: true } }");
        fails(&always, json!({"content": "c"}), "state: required, but not given");
        let open =
            json!({"properties": {"a": {}}, "required": ["a"], "additionalProperties": true});
        let open = Sample::new("POST /{id}").body("application/json", open);
        passes(&open, json!({"id": "1"}), json!({"id": "1"}));
        fails(&open, json!({"id": "1", "b": 1}), "a: required once `b` is given");
    }

    #[test]
    fn a_patch_changes_something() {
        let sample = Sample::new("PATCH /memos/{memo}").body("application/json!", memo());
        passes(&sample, json!({"memo": "m", "pinned": true}), json!({"memo": "m", "pinned": true}));
        fails(
            &sample,
            json!({"memo": "m"}),
            ": nothing to change was given; give at least one of `content`, `state`, `pinned`, `relations`",
        );
    }

    #[test]
    fn rules_of_the_whole_body_hold_on_the_built_body() {
        let body = json!({"properties": {"a": {}, "b": {}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        let sample = Sample::new("POST /x").body("application/json!", body.clone());
        passes(&sample, json!({"b": 1}), json!({"b": 1}));
        fails(&sample, json!({}), ": fits none of its forms: with \"a\", or with \"b\"; got `{}`");
        let optional = Sample::new("POST /x").body("application/json", body.clone());
        passes(&optional, json!({}), json!({}));
        let one = json!({"properties": {"a": {}, "b": {}, "c-d": {}},
            "oneOf": [{"required": ["a"]}, {"required": ["b", "c-d"]}]});
        let one = Sample::new("POST /x").body("application/json!", one);
        passes(&one, json!({"a": 1, "b": 2}), json!({"a": 1, "b": 2}));
        fails(
            &one,
            json!({"a": 1, "b": 2, "c_d": 3}),
            ": expected only one of these together: `a`; or `b`, `c_d`",
        );
        let fixed = Sample::new("POST /x").body("application/json!", body);
        passes(&fixed.changes("arguments: { a: { fixed: 1 } }"), json!({}), json!({}));
    }

    #[test]
    fn values_shown_as_text_are_read() {
        passes(&field(json!({})), json!({"a": "{\"b\": [1]}"}), json!({"a": {"b": [1]}}));
        passes(&field(json!({})), json!({"a": "plain words"}), json!({"a": "plain words"}));
        passes(&field(json!({})), json!({"a": {"b": 1}}), json!({"a": {"b": 1}}));
        passes(&query(json!({})), json!({"a": "5"}), json!({"a": "5"}));
        let nested = json!({"type": "object", "properties": {"b": {"type": "array", "items": {}}}});
        passes(&field(nested), json!({"a": {"b": ["1", "x"]}}), json!({"a": {"b": [1, "x"]}}));
        let whole = Sample::new("POST /x").body("application/json!", json!({}));
        passes(&whole, json!({"body": "[1]"}), json!({"body": "[1]"}));
        let either = json!({"oneOf": [{"type": "array"}, {"type": "object"}]});
        let whole = Sample::new("POST /x").body("application/json!", either);
        passes(&whole, json!({"body": "[1]"}), json!({"body": [1]}));
    }

    #[test]
    fn echoed_values_are_cut() {
        let faults = check(&query(json!({"type": "integer"})), json!({"a": "x".repeat(5_000)}));
        assert!(faults.unwrap_err().len() < 200);
        let many: Vec<Value> = (0..500).map(|_| json!("x")).collect();
        let list = query(json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(check(&list, json!({"a": many})).unwrap_err().lines().count(), 20);
    }

    #[test]
    fn a_pattern_made_to_be_slow_ends() {
        let slow = query(json!({"type": "string", "pattern": "^(a|aa)+(?=b)$"}));
        let started = std::time::Instant::now();
        let _ = check(&slow, json!({"a": "a".repeat(2_000)}));
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn unions_within_unions_end() {
        let deep = |levels: u32| {
            let first = 40 - levels;
            let sample = field(json!({"$ref": format!("#/components/schemas/Deep{first}")}));
            let mut value = json!({"y": 1});
            for _ in 0..=levels {
                value = json!({ "x": value });
            }
            check(&sample, json!({ "a": value })).unwrap_err()
        };
        assert!(deep(4).starts_with("a: fits none of its forms: `a.x`"), "{}", deep(4));
        let started = std::time::Instant::now();
        assert!(deep(14).contains("too many forms"), "{}", deep(14));
        assert!(deep(40).contains("nested too deep"), "{}", deep(40));
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn a_large_wrong_value_is_refused_without_details() {
        let list = query(json!({"type": "array", "items": {"type": "integer"}}));
        let many = |one: &str| json!({"a": vec![json!(one); 120_000]});
        let faults = check(&list, many("x")).unwrap_err();
        assert!(faults.starts_with("a: does not fit its schema; it is too large"), "{faults}");
    }
}
