//! The arguments of one operation: where each value of a request comes from.
//!
//! One walk over parameters and body makes a list of [`Slot`]s; the allowlist changes it; then three
//! things are read off the same list and so agree: the object schema that is published, the one
//! arguments are checked against, and the places of the plan. A slot is one place of a request that
//! a value can fill; an argument is a slot that the caller fills.

mod nonempty;

use http::Method;
use serde_json::{Map, Value, json};

use super::{
    alias, changes,
    findings::Refusal,
    media::{self, choose},
    object::{self, Extra, Object},
    path::Template,
    plan::{BodyMedia, Part, Source},
    text,
    view::View,
};
use crate::{
    allowlist::{Changes, header::is_protected},
    diagnostic::Position,
    openapi::{Body, Details, Encoding, Fault, Location, Parameter},
};

/// One place of a request that a value can fill.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Its name on the wire.
    pub(super) wire: String,
    /// Where it stands.
    pub(super) place: Place,
    /// What the argument is called; unique among the slots.
    pub(super) argument: String,
    /// Its schema as a request sees it, references kept.
    pub(super) schema: Value,
    /// What the model reads of it; may be empty.
    pub(super) description: String,
    /// Whether every call must give it.
    pub(super) required: bool,
    /// Where its value comes from.
    pub(super) source: Source,
    /// Where the allowlist says a value that is sent when the caller gives none.
    pub(super) stand_in_at: Option<Position>,
    /// How a parameter's value is written.
    pub(super) encoding: Encoding,
    /// How a form writes a field's value.
    pub(super) part: Part,
    /// A path value that keeps its slashes.
    pub(super) slashes: bool,
}

/// Where a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A field of the body.
    Field,
    /// The whole body.
    Body,
}

impl Place {
    /// What goes before a name that another place has too.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Field | Self::Body => "body",
        }
    }

    fn of(location: Location) -> Self {
        match location {
            Location::Path => Self::Path,
            Location::Query => Self::Query,
            Location::Header => Self::Header,
            Location::Cookie => Self::Cookie,
        }
    }

    /// Whether it is part of the body.
    pub(super) fn in_body(self) -> bool {
        matches!(self, Self::Field | Self::Body)
    }
}

/// How the body is made.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// There is none.
    None,
    /// The slot at [`Place::Body`] is all of it.
    Whole(BodyMedia),
    /// The slots at [`Place::Field`] are its fields.
    Fields {
        /// How it is written.
        media: BodyMedia,
        /// Whether one must be sent.
        required: bool,
        /// What names that are no argument must be; `None` when they are refused.
        extra: Option<Value>,
        /// What else the whole body must obey, each a schema of its own.
        rules: Vec<Value>,
    },
}

/// The arguments of one operation.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// Path, query, headers, cookies, body; document order within each.
    pub(super) slots: Vec<Slot>,
    /// How the body is made.
    pub(super) form: Form,
    /// Arguments that must be given as soon as one field of an optional body is.
    pub(super) together: Vec<String>,
    /// The body needs a `name` that the allowlist hides: what the path says, as a resource's name.
    pub(super) named_by_path: bool,
    /// Arguments of which at least one must be given; empty when none need be.
    pub(super) one_of: Vec<String>,
}

/// Reads the arguments off an operation's parts and changes them as the allowlist says.
///
/// # Errors
/// What the document or the allowlist has wrong, all at once.
pub(super) fn build(
    (details, method, template): (&Details, &Method, &Template),
    view: &View<'_>,
    changes: &Changes,
) -> Result<Input, Refusal> {
    let mut slots = parameters(details, template, view, changes);
    let (fields, form, wanted) = match &details.body {
        Some(body) => read_body(body, view).map_err(|fault| Refusal::Uncallable(vec![fault]))?,
        None => (Vec::new(), Form::None, Vec::new()),
    };
    slots.extend(fields);
    name_all(&mut slots);
    let is_name = |slot: &Slot| slot.place == Place::Field && slot.wire == "name";
    let needs_name = wanted.iter().any(|wire| wire == "name") && slots.iter().any(is_name);
    changes::apply(&mut slots, changes).map_err(Refusal::Allowlist)?;
    let named_by_path = needs_name && !slots.iter().any(is_name);
    let mut input = Input { slots, form, named_by_path, together: Vec::new(), one_of: Vec::new() };
    input.require(method, &wanted, changes.required.is_some());
    input.slots.iter_mut().for_each(|slot| slot.hold_something(view));
    Ok(input)
}

/// Parameters that are offered, by place: headers and cookies only when they must be given or the
/// allowlist speaks of them.
fn parameters(
    details: &Details,
    template: &Template,
    view: &View<'_>,
    changes: &Changes,
) -> Vec<Slot> {
    let offered = |parameter: &&Parameter| match parameter.location {
        Location::Path | Location::Query => true,
        Location::Header => {
            !is_kept_back(&parameter.name)
                && (parameter.required || changes::speak_of(changes, &parameter.name))
        }
        Location::Cookie => changes::speak_of(changes, &parameter.name),
    };
    let order = [Location::Path, Location::Query, Location::Header, Location::Cookie];
    order
        .into_iter()
        .flat_map(|at| details.parameters.iter().filter(move |p| p.location == at))
        .filter(offered)
        .map(|parameter| parameter_slot(parameter, template, view))
        .collect()
}

/// Headers that no argument may set: the request makes them, or the caller's own go along.
fn is_kept_back(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let own = ["authorization", "cookie", "set-cookie", "origin", "forwarded", "via"];
    let families = ["proxy-", "x-forwarded-", "sec-"];
    is_protected(&name)
        || own.contains(&name.as_str())
        || families.iter().any(|family| name.starts_with(family))
}

fn parameter_slot(parameter: &Parameter, template: &Template, view: &View<'_>) -> Slot {
    let place = Place::of(parameter.location);
    let mut schema = view.of(&parameter.schema);
    let shape = template.placeholders().find(|p| p.name == parameter.name);
    let mut words = parameter.description.clone();
    if let Some((pattern, shape)) = shape.filter(|_| place == Place::Path).and_then(shaped) {
        schema = json!({ "allOf": [schema, { "type": "string", "pattern": pattern }] });
        words = format!("{words} Has the form `{shape}`.");
    }
    if words.trim().is_empty() {
        words = schema_words(&schema).to_owned();
    }
    Slot {
        wire: parameter.name.clone(),
        place,
        argument: String::new(),
        schema,
        description: text::argument(&words, parameter.deprecated),
        required: parameter.required || place == Place::Path,
        source: Source::Argument(String::new()),
        stand_in_at: None,
        encoding: parameter.encoding.clone(),
        part: Part { encoding: parameter.encoding.clone(), content_type: None, binary: false },
        slashes: false,
    }
}

fn shaped(placeholder: &super::path::Placeholder) -> Option<(String, String)> {
    Some((placeholder.pattern()?, placeholder.shape.clone()?))
}

fn schema_words(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// The body's slots, how it is made, and the wire names its schema requires.
fn read_body(body: &Body, view: &View<'_>) -> Result<(Vec<Slot>, Form, Vec<String>), Fault> {
    let fault = |words| Fault { pointer: body.pointer.clone(), words };
    let (media, how) = choose(body).map_err(fault)?;
    let schema = media.schema.as_ref().map_or(Value::Bool(true), |schema| view.of(schema));
    let object = match how {
        BodyMedia::Text(_) | BodyMedia::Binary(_) => None,
        _ => object::read(view, &schema)?,
    };
    let Some(object) = object else {
        if how == BodyMedia::Multipart {
            return Err(fault("the body is `multipart/form-data` without known fields".to_owned()));
        }
        return Ok((vec![whole(body, schema, &how)], Form::Whole(how), Vec::new()));
    };
    let field = |(name, schema): &(String, Value)| {
        let part = media::part(media, &how, name, schema);
        let required = object.required.contains(name);
        field_slot(name, schema, part, required)
    };
    let slots = object.fields.iter().map(field).collect();
    let Object { extra, rules, required: wanted, .. } = object;
    let extra = match extra {
        Extra::Unsaid | Extra::Refused => None,
        Extra::Schema(schema) => Some(schema),
    };
    Ok((slots, Form::Fields { media: how, required: body.required, extra, rules }, wanted))
}

fn whole(body: &Body, schema: Value, how: &BodyMedia) -> Slot {
    let (schema, words) = match how {
        BodyMedia::Binary(_) => {
            (json!({ "type": "string" }), format!("{} Base64 of the bytes.", body.description))
        }
        BodyMedia::Text(_) => (json!({ "type": "string" }), body.description.clone()),
        _ => (schema, body.description.clone()),
    };
    let words = if words.trim().is_empty() { schema_words(&schema).to_owned() } else { words };
    let part = Part { encoding: super::path::simple(), content_type: None, binary: false };
    Slot {
        place: Place::Body,
        description: text::argument(&words, false),
        ..field_slot("body", &schema, part, body.required)
    }
}

fn field_slot(name: &str, schema: &Value, part: Part, required: bool) -> Slot {
    let deprecated = schema.get("deprecated") == Some(&Value::Bool(true));
    let binary = if part.binary { " Base64 of the bytes." } else { "" };
    Slot {
        wire: name.to_owned(),
        place: Place::Field,
        argument: String::new(),
        schema: schema.clone(),
        description: text::argument(&format!("{}{binary}", schema_words(schema)), deprecated),
        required,
        source: Source::Argument(String::new()),
        stand_in_at: None,
        encoding: part.encoding.clone(),
        part,
        slashes: false,
    }
}

fn name_all(slots: &mut [Slot]) {
    let mut taken = Vec::new();
    for slot in slots {
        slot.argument = alias::assign(&slot.wire, slot.place, &taken);
        slot.source = Source::Argument(slot.argument.clone());
        taken.push(slot.argument.clone());
    }
}

impl Slot {
    /// Whether the caller can fill it.
    pub(super) fn is_argument(&self) -> bool {
        self.source.argument().is_some()
    }

    /// Whether nothing stands in for it when the caller gives none.
    fn is_open(&self) -> bool {
        matches!(self.source, Source::Argument(_))
    }

    /// Its schema with the model's words and the value that stands in for it.
    fn published(&self) -> Value {
        let mut schema = self.schema.as_object().cloned().unwrap_or_default();
        if self.description.is_empty() {
            schema.shift_remove("description");
        } else {
            schema.insert("description".into(), self.description.as_str().into());
        }
        if let Source::ArgumentOr(_, value) = &self.source {
            schema.insert("default".into(), value.clone());
        }
        Value::Object(schema)
    }
}

impl Input {
    /// The slots that the caller can fill.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.is_argument())
    }

    /// Decides what must be given. `fixed` says that the allowlist has decided it already.
    fn require(&mut self, method: &Method, wanted: &[String], fixed: bool) {
        let patch = *method == Method::PATCH;
        // A value that is always there makes a body of its own.
        let is_sent = |slot: &Slot| slot.place == Place::Field && !slot.is_open();
        let body_required = matches!(self.form, Form::Fields { required: true, .. })
            || self.slots.iter().any(is_sent);
        for slot in &mut self.slots {
            let loose = slot.place == Place::Field && !fixed && (patch || !body_required);
            slot.required &= slot.is_open() && !loose;
        }
        let fields = || self.slots.iter().filter(|slot| slot.place == Place::Field);
        let names = |slot: &Slot| slot.argument.clone();
        if !fixed && !patch && !body_required {
            let open = fields().filter(|slot| slot.is_open() && wanted.contains(&slot.wire));
            self.together = open.map(names).collect();
        }
        if patch && fields().all(Slot::is_open) {
            self.one_of = fields().map(names).collect();
        }
    }

    /// What names that are no argument must be; `None` when they are refused.
    pub(super) fn extra(&self) -> Option<&Value> {
        match &self.form {
            Form::Fields { extra, .. } => extra.as_ref(),
            Form::None | Form::Whole(_) => None,
        }
    }

    /// The object schema that is made portable and published.
    pub(super) fn published(&self) -> Value {
        let mut root = self.root(&Slot::published);
        let required: Vec<&str> =
            self.arguments().filter(|s| s.required).map(|s| s.argument.as_str()).collect();
        if let Some(map) = root.as_object_mut().filter(|_| !required.is_empty()) {
            map.insert("required".into(), required.into());
        }
        root
    }

    /// The object schema that each argument is checked against, alone; which ones must be given is
    /// for the checker.
    pub(super) fn checking(&self) -> Value {
        self.root(&|slot| slot.schema.clone())
    }

    fn root(&self, schema: &dyn Fn(&Slot) -> Value) -> Value {
        let properties: Map<String, Value> =
            self.arguments().map(|slot| (slot.argument.clone(), schema(slot))).collect();
        let extra = self.extra().cloned().unwrap_or(Value::Bool(false));
        json!({ "type": "object", "properties": properties, "additionalProperties": extra })
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "cases are written as values")]
mod tests {
    use super::*;
    use crate::registry::sample::Sample;

    fn string() -> Value {
        json!({"type": "string"})
    }

    fn memo() -> Value {
        json!({"$ref": "#/components/schemas/Memo"})
    }

    /// Arguments by name, `!` after those that must be given.
    fn names(sample: &Sample) -> String {
        let input = sample.input().unwrap_or_else(|refusal| panic!("{refusal:?}"));
        let name =
            |slot: &Slot| format!("{}{}", slot.argument, if slot.required { "!" } else { "" });
        input.arguments().map(name).collect::<Vec<_>>().join(" ")
    }

    fn check(sample: Sample, expected: &str) {
        assert_eq!(names(&sample), expected);
    }

    #[test]
    fn arguments_are_flat() {
        let list = Sample::new("GET /memos").query("pageSize", string()).query("filter!", string());
        check(list, "pageSize filter!");
        let create = Sample::new("POST /memos/{memo}/x").body("application/json!", memo());
        check(create, "memo! content! state! pinned relations");
    }

    #[test]
    fn fields_of_an_optional_body_come_together() {
        let sample = Sample::new("POST /memos").body("application/json", memo());
        assert_eq!(sample.input().unwrap().together, ["content", "state"]);
        check(sample, "content state pinned relations");
    }

    #[test]
    fn a_patch_requires_no_field_but_one() {
        let sample = Sample::new("PATCH /memos/{memo}").body("application/json!", memo());
        assert_eq!(sample.input().unwrap().one_of, ["content", "state", "pinned", "relations"]);
        check(sample, "memo! content state pinned relations");
        let sample = Sample::new("PATCH /memos/{memo}").body("application/json!", memo());
        check(sample.changes("required: [content]"), "memo! content! state pinned relations");
    }

    #[test]
    fn equal_names_are_told_apart() {
        let body = json!({"properties": {"name": string(), "x": string()}});
        let sample = Sample::new("PUT /things/{name}").query("name", string());
        check(sample.body("application/json", body), "name! query_name body_name x");
    }

    #[test]
    fn headers_and_cookies_only_when_needed_and_never_protected_ones() {
        let sample = || {
            Sample::new("GET /x")
                .parameter(Location::Header, "X-Needed!", string())
                .parameter(Location::Header, "X-Asked", string())
                .parameter(Location::Header, "X-Other", string())
                .parameter(Location::Header, "Authorization!", string())
                .parameter(Location::Header, "Content-Type!", string())
                .parameter(Location::Cookie, "session!", string())
                .parameter(Location::Cookie, "theme", string())
        };
        check(sample(), "X_Needed!");
        let asked = "arguments: { X-Asked: { description: Mine. }, session: { name: sid } }";
        check(sample().changes(asked), "X_Needed! X_Asked sid!");
        let refusal = sample().changes("arguments: { Authorization: { fixed: x } }").refusal();
        assert!(refusal.contains("no argument `Authorization`"), "{refusal}");
    }

    #[test]
    fn anything_but_a_plain_object_is_one_argument() {
        let body = |schema| Sample::new("POST /x").body("application/json!", schema);
        check(body(json!({"type": "array", "items": string()})), "body!");
        check(body(json!({"type": "object", "additionalProperties": string()})), "body!");
        check(body(json!({})), "body!");
        check(Sample::new("POST /x").body("text/csv", string()), "body");
        check(Sample::new("POST /{body}").body("text/csv", string()), "body! body_body");
    }

    #[test]
    fn extra_names_are_taken_only_when_written_out() {
        let extra = |more: Value| {
            let body = json!({"properties": {"a": string()}, "additionalProperties": more});
            let sample = Sample::new("POST /x").body("application/json", body);
            sample.input().unwrap().extra().cloned()
        };
        assert_eq!(extra(json!(false)), None);
        assert_eq!(extra(json!(true)), Some(json!(true)));
        assert_eq!(extra(string()), Some(string()));
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let refusal = Sample::new("POST /x").body("application/xml", string()).refusal();
        assert_eq!(refusal, "the body is `application/xml`, which cannot be sent");
        let refusal = Sample::new("POST /x").body("multipart/form-data", json!({})).refusal();
        assert!(refusal.contains("without known fields"), "{refusal}");
    }

    #[test]
    fn published_and_checked_have_the_same_arguments() {
        let sample = Sample::new("PUT /things/{id}")
            .query("ids[]", json!({"type": "array", "items": string()}))
            .body("application/json!", memo())
            .changes("arguments: { pinned: { default: true }, state: { fixed: NORMAL } }");
        let input = sample.input().unwrap();
        let (published, checking) = (input.published(), input.checking());
        let keys = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(keys(&published), ["id", "ids", "content", "pinned", "relations"]);
        assert_eq!(keys(&published), keys(&checking));
        assert_eq!(published["required"], json!(["id", "content"]));
        assert_eq!(published["properties"]["pinned"]["default"], json!(true));
        assert_eq!(published["properties"]["content"]["description"], json!("Markdown."));
    }

    #[test]
    fn a_shaped_path_value_says_its_shape() {
        let input = Sample::new("GET /v1/{name=memos/*}").input().unwrap();
        assert_eq!(input.slots[0].description, "Has the form `memos/*`.");
        assert_eq!(input.slots[0].schema["allOf"][1]["pattern"], json!("^memos/[^/]+$"));
    }
}
