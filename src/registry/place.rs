//! The plan of an operation: every slot of its input gets its one place.
//!
//! The last step holds the plan to what the call path relies on: each argument has exactly one
//! place, each placeholder is filled. A plan that breaks this is never made.

use std::time::Duration;

use http::{HeaderName, Method};

use super::{
    input::{Form, Input, Place, Slot},
    path::{self, Filling, Template},
    plan::{BodyPlan, Field, Parameter, Part, PathPiece, Plan, Segment, Shape, Source},
};

/// Words of argument names that narrow a reply.
const NARROWING: [&str; 22] = [
    "count",
    "cursor",
    "expand",
    "fields",
    "filter",
    "first",
    "from",
    "include",
    "limit",
    "max",
    "maxresults",
    "pagesize",
    "perpage",
    "q",
    "query",
    "search",
    "select",
    "since",
    "size",
    "take",
    "top",
    "until",
];

/// What a plan holds besides its places.
#[derive(Clone, Debug)]
pub(super) struct Make {
    /// The method.
    pub(super) method: Method,
    /// Before the path; percent-encoded.
    pub(super) base_path: String,
    /// The whole body is shown as a string that holds JSON.
    pub(super) body_as_text: bool,
    /// The shape of the result.
    pub(super) shape: Shape,
    /// Lifted into the answer.
    pub(super) response_headers: Vec<HeaderName>,
    /// Whether the operation only reads.
    pub(super) reads: bool,
    /// Time of one call.
    pub(super) timeout: Duration,
    /// Decoded bytes of one reply.
    pub(super) max_response: usize,
}

impl Make {
    /// The plan.
    ///
    /// # Errors
    /// In words, when an argument has no place or two, or a placeholder no value.
    pub(super) fn plan(
        self,
        input: &Input,
        template: &Template,
        resource_names: bool,
    ) -> Result<Plan, String> {
        let filling = |name: &str| {
            let slot = at(input, Place::Path).find(|slot| slot.wire == name)?;
            let (source, encoding) = (slot.source.clone(), slot.encoding.clone());
            Some(Filling { source, encoding, slashes: slot.slashes })
        };
        let path = template.plan(&filling, resource_names)?;
        let plan = Plan {
            method: self.method,
            base_path: self.base_path,
            body: body(input, &path, (self.body_as_text, resource_names)),
            path,
            query: parameters(input, Place::Query),
            headers: parameters(input, Place::Header),
            cookies: parameters(input, Place::Cookie),
            shape: self.shape,
            response_headers: self.response_headers,
            reads: self.reads,
            timeout: self.timeout,
            max_response: self.max_response,
            narrowing: at(input, Place::Query)
                .filter(|s| narrows(s))
                .filter_map(argument)
                .collect(),
        };
        hold(&plan, input)?;
        Ok(plan)
    }
}

fn at(input: &Input, place: Place) -> impl Iterator<Item = &Slot> {
    input.slots.iter().filter(move |slot| slot.place == place)
}

fn argument(slot: &Slot) -> Option<String> {
    slot.source.argument().map(str::to_owned)
}

/// `pageSize`, `page_size`, `filter[name]`: the whole name without its separators, or its first word.
fn narrows(slot: &Slot) -> bool {
    let word = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let first = slot.wire.split(['[', '.', ':']).next().unwrap_or_default();
    let known = |text: String| NARROWING.contains(&text.as_str());
    known(word(&slot.wire))
        || known(word(first))
        || known(word(slot.wire.trim_start_matches("max")))
}

fn parameters(input: &Input, place: Place) -> Vec<Parameter> {
    let parameter = |slot: &Slot| Parameter {
        name: slot.wire.clone(),
        source: slot.source.clone(),
        encoding: slot.encoding.clone(),
    };
    at(input, place).map(parameter).collect()
}

fn body(input: &Input, path: &[Segment], (text, resource_names): (bool, bool)) -> BodyPlan {
    match &input.form {
        Form::None => BodyPlan::None,
        Form::Whole(media) => match at(input, Place::Body).next() {
            Some(slot) => {
                BodyPlan::Whole { source: slot.source.clone(), media: media.clone(), text }
            }
            None => BodyPlan::None,
        },
        Form::Fields { media, required, extra, .. } => {
            let field = |slot: &Slot| Field {
                name: slot.wire.clone(),
                source: slot.source.clone(),
                part: slot.part.clone(),
            };
            let name = Some(path::resource_name(path))
                .filter(|name| resource_names && input.named_by_path && !name.is_empty());
            let name = name.map(|name| Field {
                name: "name".to_owned(),
                source: Source::ResourceName(name),
                part: Part { encoding: path::simple(), content_type: None, binary: false },
            });
            BodyPlan::Fields {
                fields: name.into_iter().chain(at(input, Place::Field).map(field)).collect(),
                media: media.clone(),
                required: *required,
                extra: extra.is_some(),
            }
        }
    }
}

/// Every argument has exactly one place, but for a placeholder that stands twice.
fn hold(plan: &Plan, input: &Input) -> Result<(), String> {
    let places = places(plan);
    for slot in input.arguments() {
        let places = places.iter().filter(|name| **name == slot.argument).count();
        if places != 1 {
            return Err(format!("argument `{}` has {places} places in the request", slot.argument));
        }
    }
    let known = |name: &&&str| !input.arguments().any(|slot| slot.argument == ***name);
    match places.iter().find(known) {
        Some(name) => Err(format!("the request wants `{name}`, which is no argument")),
        None => Ok(()),
    }
}

/// The arguments a plan reads, each placeholder once.
fn places(plan: &Plan) -> Vec<&str> {
    let mut path: Vec<&str> = Vec::new();
    for piece in plan.path.iter().flat_map(|segment| &segment.0) {
        if let PathPiece::Value(value) = piece
            && let Some(name) = value.source.argument()
            && !path.contains(&name)
        {
            path.push(name);
        }
    }
    let parameters = plan.query.iter().chain(&plan.headers).chain(&plan.cookies);
    let body: Vec<&Source> = match &plan.body {
        BodyPlan::None => Vec::new(),
        BodyPlan::Whole { source, .. } => vec![source],
        BodyPlan::Fields { fields, .. } => fields.iter().map(|field| &field.source).collect(),
    };
    let sources = parameters.map(|parameter| &parameter.source).chain(body);
    path.into_iter().chain(sources.filter_map(Source::argument)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::{
        openapi::Location,
        registry::{path, sample::Sample},
    };

    fn plan(sample: &Sample) -> Plan {
        let make = Make {
            method: sample.method.clone(),
            base_path: String::new(),
            body_as_text: false,
            shape: Shape::Empty,
            response_headers: Vec::new(),
            reads: true,
            timeout: Duration::ZERO,
            max_response: 0,
        };
        let template = path::parse(&sample.path).unwrap();
        make.plan(&sample.input().unwrap(), &template, true).unwrap()
    }

    #[test]
    fn every_slot_has_its_place() {
        let body =
            json!({"properties": {"a": {}, "b": {}, "id": {}}, "additionalProperties": true});
        let sample = Sample::new("POST /x/{id}/y/{id}")
            .query("ids[]", json!({}))
            .parameter(Location::Header, "X-Trace!", json!({}))
            .body("application/json!", body)
            .changes("hide: [b]\narguments: { a: { fixed: 1 } }");
        let plan = plan(&sample);
        assert_eq!(places(&plan), ["id", "ids", "X_Trace", "body_id"]);
        let BodyPlan::Fields { fields, required: true, extra: true, .. } = plan.body else {
            panic!()
        };
        assert_eq!(fields[0].source, Source::Fixed(json!(1)));
        assert_eq!(fields[1].name, "id");
        assert_eq!(plan.query[0].name, "ids[]");
    }

    #[test]
    fn arguments_that_narrow_a_reply_are_known() {
        let check = |name: &str, expected: bool| {
            let sample = Sample::new("GET /x").query(name, json!({}));
            assert_eq!(plan(&sample).narrowing.len(), usize::from(expected), "{name}");
        };
        for name in ["pageSize", "page_size", "per-page", "limit", "maxResults", "filter", "q"] {
            check(name, true);
        }
        check("filter[state]", true);
        check("fields", true);
        check("pageToken", false);
        check("memo", false);
    }

    /// A few names that meet each other in every place.
    fn name() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "id",
            "name",
            "a.b",
            "a[b]",
            "a_b",
            "body_name",
            "query_id",
            "ü",
            "2",
        ])
        .prop_map(str::to_owned)
    }

    fn names() -> impl Strategy<Value = Vec<String>> {
        prop::collection::btree_set(name(), 0..5).prop_map(|names| names.into_iter().collect())
    }

    proptest! {
        #[test]
        fn every_argument_has_exactly_one_place(
            (path, query, headers, fields) in (names(), names(), names(), names()),
            whole in any::<bool>(),
            hidden in 0_usize..4,
        ) {
            let route: String = path.iter().map(|name| format!("/{{{name}}}")).collect();
            let mut sample = Sample::new(&format!("POST /x{route}"));
            for name in query {
                sample = sample.query(&name, json!({}));
            }
            for name in headers {
                sample = sample.parameter(Location::Header, &format!("{name}!"), json!({}));
            }
            let properties: Map<String, Value> =
                fields.into_iter().map(|name| (name, json!({}))).collect();
            let body = if whole { json!([]) } else { json!({ "properties": properties }) };
            sample = sample.body("application/json", body);
            let input = sample.input().unwrap();
            let free = input.slots.iter().filter(|slot| slot.place != Place::Path);
            let hide: Vec<String> =
                free.take(hidden).map(|slot| format!("{:?}", slot.argument)).collect();
            let sample = sample.changes(&format!("hide: [{}]", hide.join(", ")));
            let published = sample.input().unwrap().published();
            let mut shown: Vec<&str> =
                published["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            let plan = plan(&sample);
            let mut placed = places(&plan);
            shown.sort_unstable();
            placed.sort_unstable();
            prop_assert_eq!(&shown, &placed);
            shown.dedup();
            prop_assert_eq!(shown.len(), placed.len());
            let filled = |piece: &PathPiece| matches!(piece, PathPiece::Value(_));
            let n_filled = plan.path.iter().flat_map(|segment| &segment.0).filter(|p| filled(p)).count();
            prop_assert_eq!(n_filled, path.len());
        }
    }
}
