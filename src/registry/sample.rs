//! Operations for tests, by hand.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use super::{
    bundle::Bundle,
    check::{Checker, Checking},
    findings::Refusal,
    input::{self, Form, Input},
    path, portable,
    view::View,
};
use crate::{
    allowlist::{self, Changes, Selector},
    config::Limits,
    diagnostic::Diagnostic,
    openapi::{Body, Details, Encoding, Fault, Location, Media, Parameter, Style, text::Text},
};

/// One operation: its route and parts, as terse as a test wants them.
pub(super) struct Sample {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) details: Details,
    pub(super) changes: Changes,
}

impl Sample {
    /// `GET /memos/{memo}`, its path parameters filled in as strings.
    pub(super) fn new(route: &str) -> Self {
        let (method, path) = route.split_once(' ').unwrap();
        let mut sample = Self {
            method: method.parse().unwrap(),
            path: path.into(),
            details: Details {
                parameters: Vec::new(),
                body: None,
                replies: Vec::new(),
                server_path: String::new(),
            },
            changes: Changes::default(),
        };
        let template = path::parse(path).unwrap();
        for placeholder in template.placeholders() {
            if sample.details.parameters.iter().any(|known| known.name == placeholder.name) {
                continue;
            }
            sample = sample.parameter(Location::Path, &placeholder.name, json!({"type": "string"}));
        }
        sample
    }

    /// With a parameter; `name!` must be given.
    pub(super) fn parameter(mut self, location: Location, name: &str, schema: Value) -> Self {
        let style = match location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        self.details.parameters.push(Parameter {
            name: name.trim_end_matches('!').into(),
            location,
            required: name.ends_with('!') || location == Location::Path,
            description: String::new(),
            deprecated: false,
            encoding: Encoding::Style {
                style,
                explode: style == Style::Form,
                allow_reserved: false,
            },
            schema,
            mcp_header: None,
            pointer: String::new(),
        });
        self
    }

    /// With a query parameter.
    pub(super) fn query(self, name: &str, schema: Value) -> Self {
        self.parameter(Location::Query, name, schema)
    }

    /// With a body; `application/json!` must be sent.
    pub(super) fn body(mut self, media_type: &str, schema: Value) -> Self {
        let media = Media {
            media_type: media_type.trim_end_matches('!').into(),
            schema: Some(schema),
            encoding: Vec::new(),
        };
        self.details.body = Some(Body {
            required: media_type.ends_with('!'),
            description: String::new(),
            media: vec![media],
            pointer: "/body".into(),
        });
        self
    }

    /// With the changes of an allowlist entry, as it is written.
    pub(super) fn changes(mut self, yaml: &str) -> Self {
        let text = format!("tools:\n- operation: x\n  {}\n", yaml.replace('\n', "\n  "));
        let text = Text::new("a.yaml", text.as_bytes()).unwrap();
        let allowlist = allowlist::parse("a", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let entry = allowlist.entries.into_iter().next().unwrap();
        assert!(matches!(entry.selector, Selector::Id(_)));
        self.changes = entry.changes;
        self
    }

    /// Its arguments.
    pub(super) fn input(&self) -> Result<Input, Refusal> {
        let template = path::parse(&self.path).unwrap();
        let of = (&self.details, &self.method, &template);
        input::build(of, &View::new(&resolve), &self.changes)
    }

    /// What an allowlist that asks for what cannot be is told.
    pub(super) fn refusal(&self) -> String {
        match self.input() {
            Err(Refusal::Allowlist(faults)) => {
                faults.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
            }
            Err(Refusal::Uncallable(faults) | Refusal::Torn(faults)) => {
                faults.into_iter().map(|fault| fault.words).collect()
            }
            Ok(_) => panic!("no refusal"),
        }
    }

    /// Its checker.
    pub(super) fn checker(&self) -> Checker {
        let view = View::new(&resolve);
        let input = self.input().unwrap();
        let mut bundle = Bundle::new(&view);
        let root = bundle.add(&input.checking()).unwrap();
        let rules = match &input.form {
            Form::Fields { rules, .. } if !rules.is_empty() => {
                Some(bundle.add(&json!({ "allOf": rules })).unwrap())
            }
            _ => None,
        };
        let published = portable::input(&input.published(), &resolve).schema;
        let of = (&input, &published, &view);
        let checking = Checking { root, rules, stand_ins: Vec::new() };
        Checker::compile(&checking, &bundle.seal().unwrap(), of, &Limits::default()).unwrap()
    }
}

/// A memo and what it refers to.
pub(super) fn resolve(reference: &str) -> Result<Arc<Value>, Fault> {
    let schema = match reference.trim_start_matches("#/components/schemas/") {
        "Memo" => json!({
            "type": "object",
            "required": ["content", "state", "name"],
            "properties": {
                "name": {"type": "string", "readOnly": true},
                "content": {"type": "string", "description": "Markdown."},
                "state": {"$ref": "#/components/schemas/State"},
                "pinned": {"type": "boolean"},
                "relations": {"type": "array", "items": {"$ref": "#/components/schemas/Relation"}},
            }
        }),
        "State" => json!({"type": "string", "enum": ["NORMAL", "ARCHIVED"]}),
        "Relation" => json!({
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {"type": "string"},
                "weight": {"type": "integer"},
                "memo": {"$ref": "#/components/schemas/Memo"},
            }
        }),
        deep if deep.starts_with("Deep") => {
            let next = deep[4..].parse::<u32>().unwrap() + 1;
            let next = json!({"$ref": format!("#/components/schemas/Deep{next}")});
            let member =
                |name: &str| json!({"properties": {"x": next, name: {}}, "type": "object"});
            if next["$ref"].as_str().unwrap().ends_with("41") {
                json!({"type": "integer"})
            } else {
                json!({"anyOf": [member("a"), member("b")]})
            }
        }
        _ => {
            let words = format!("`{reference}` does not exist");
            return Err(Fault { pointer: reference.into(), words });
        }
    };
    Ok(Arc::new(schema))
}
