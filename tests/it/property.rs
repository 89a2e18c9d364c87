use std::{collections::BTreeSet, fs, process::Command, sync::Arc};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate::{
    config::Policy,
    registry::{
        Tool,
        plan::{BodyPlan, PathPiece, Source},
        portable,
    },
};

use crate::support::{
    Workspace,
    compile::{compile, read, shown},
    instance::Accepted,
};

/// One operation as random choices make it.
#[derive(Clone, Debug)]
struct Choice {
    method: &'static str,
    placeholders: usize,
    queries: Vec<(&'static str, Value)>,
    body: Option<Value>,
    reply: Value,
}

const NAMES: [&str; 6] = ["a", "ids[]", "p0", "body", "a b", "X-A"];

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "integer", "nullable": true}),
        json!({"type": "boolean"}),
        json!({"enum": ["A", "B"]}),
        json!({"$ref": "#/components/schemas/Node"}),
    ]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let fields =
            prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..4);
        let object = fields.prop_map(|fields| {
            let required: Vec<_> = fields.first().iter().map(|(name, _)| *name).collect();
            let properties: Map<_, _> =
                fields.iter().map(|(name, part)| ((*name).to_owned(), part.clone())).collect();
            json!({"type": "object", "properties": properties, "required": required})
        });
        prop_oneof![
            2 => object,
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => prop::collection::vec(inner, 1..3).prop_map(|any| json!({"anyOf": any})),
        ]
    })
}

fn choice() -> impl Strategy<Value = Choice> {
    let method = prop::sample::select(vec!["get", "post", "put", "patch", "delete"]);
    let queries = prop::collection::vec((prop::sample::select(NAMES.to_vec()), schema()), 0..4);
    (method, 0..3_usize, queries, prop::option::of(schema()), schema()).prop_map(
        |(method, placeholders, mut queries, body, reply)| {
            let mut seen = BTreeSet::new();
            queries.retain(|(name, _)| seen.insert(*name));
            Choice { method, placeholders, queries, body, reply }
        },
    )
}

/// The document of these operations; one of them below `/extra`, and before all others, when asked for.
fn document(choices: &[Choice], extra: Option<&Choice>) -> String {
    let mut paths = Map::new();
    let extra = extra.map(|choice| ("/extra".to_owned(), choices.len(), choice));
    let each = choices.iter().enumerate().map(|(n, choice)| (format!("/r{n}"), n, choice));
    for (start, n, choice) in extra.into_iter().chain(each) {
        let names: Vec<_> = (0..choice.placeholders).map(|n| format!("p{n}")).collect();
        let placeholders: String = names.iter().map(|name| format!("/{{{name}}}")).collect();
        let in_path = names.iter().map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
        let in_query = choice
            .queries
            .iter()
            .map(|(name, schema)| json!({"name": name, "in": "query", "schema": schema}));
        let parameters: Vec<_> = in_path.chain(in_query).collect();
        let content = |schema: &Value| json!({"application/json": {"schema": schema}});
        let mut operation = json!({"operationId": format!("op{n}"), "parameters": parameters,
            "responses": {"200": {"description": "ok", "content": content(&choice.reply)}}});
        if let Some(body) = &choice.body {
            operation["requestBody"] = json!({"required": n % 2 == 0, "content": content(body)});
        }
        paths.insert(format!("{start}{placeholders}"), json!({choice.method: operation}));
    }
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "id": {"type": "string", "readOnly": true}}});
    json!({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths, "components": {"schemas": {"Node": node}}}).to_string()
}

/// All tools, but the one of `/extra`.
fn tools(document: &str) -> Vec<(String, Arc<Tool>)> {
    let api = read(document).unwrap();
    let toolset = compile(&api, "tools: ['* /*']", Policy::Strict);
    let toolset = toolset.unwrap_or_else(|faults| panic!("{document}\n{}", shown(&faults)));
    let all = toolset.tools.iter().filter(|tool| !tool.key.path.starts_with("/extra"));
    let bytes = |tool: &Tool| format!("{}{:?}", Value::Object(tool.listed.clone()), tool.plan);
    all.map(|tool| (bytes(tool), tool.clone())).collect()
}

/// Each argument with the place it goes to.
fn places(tool: &Tool) -> BTreeSet<(String, &'static str)> {
    let mut places = BTreeSet::new();
    let mut add = |source: &Source, place| {
        places.extend(source.argument().map(|name| (name.to_owned(), place)));
    };
    let plan = &tool.plan;
    for piece in plan.path.iter().flat_map(|segment| &segment.0) {
        if let PathPiece::Value(value) = piece {
            add(&value.source, "path");
        }
    }
    plan.query.iter().for_each(|one| add(&one.source, "query"));
    plan.headers.iter().for_each(|one| add(&one.source, "header"));
    plan.cookies.iter().for_each(|one| add(&one.source, "cookie"));
    match &plan.body {
        BodyPlan::None => {}
        BodyPlan::Whole { source, .. } => add(source, "body"),
        BodyPlan::Fields { fields, .. } => fields.iter().for_each(|one| add(&one.source, "body")),
    }
    places
}

/// Every property of the published input has exactly one place, every placeholder is filled, and what
/// fits the checking schema is accepted.
fn whole(tool: &Tool) {
    let places = places(tool);
    let names: BTreeSet<_> = places.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), places.len(), "{places:?}");
    let published = tool.listed["inputSchema"]["properties"].as_object().unwrap();
    assert_eq!(names, published.keys().collect(), "{}", tool.key);
    let values = |piece: &&PathPiece| matches!(piece, PathPiece::Value(_));
    let filled = tool.plan.path.iter().flat_map(|segment| &segment.0).filter(values).count();
    assert_eq!(filled, tool.key.path.matches('{').count());
    assert_eq!(portable::lint(&tool.listed["inputSchema"]), Vec::<String>::new());
    assert_eq!(portable::lint_output(&tool.listed["outputSchema"]), Vec::<String>::new());
    let accepted = Accepted::new(tool);
    for arguments in [true, false].into_iter().filter_map(|full| accepted.instance(full)) {
        tool.checker.check(arguments).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tools_are_whole_the_same_twice_and_do_not_touch_each_other(
        choices in prop::collection::vec(choice(), 1..5),
        extra in choice(),
    ) {
        let text = document(&choices, None);
        let (first, second) = (tools(&text), tools(&text));
        prop_assert_eq!(first.len(), choices.len());
        for (((bytes, tool), (again, _)), (beside, _)) in first.iter().zip(&second).zip(tools(&document(&choices, Some(&extra)))) {
            whole(tool);
            prop_assert_eq!(bytes, again);
            prop_assert_eq!(bytes, &beside);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_process_lists_the_same_bytes(choices in prop::collection::vec(choice(), 1..8)) {
        let document = document(&choices, None);
        let workspace = Workspace::new(&document, "");
        fs::remove_file(workspace.path("allowlists/api.yaml")).unwrap();
        // The name that the toolset has in this process too.
        workspace.write("allowlists/a.yaml", "tools: ['* /*']");
        let list = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
            let arguments = ["tools", "openapi.yaml", "--upstream", "http://127.0.0.1:9", "--json"];
            command.current_dir(workspace.path("")).env_clear().args(arguments).output().unwrap()
        };
        let (first, second) = (list(), list());
        prop_assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
        prop_assert!(first.stdout == second.stdout);
        let listed: Value = serde_json::from_slice(&first.stdout).unwrap();
        let here = compile(&read(&document).unwrap(), "tools: ['* /*']", Policy::Strict).unwrap();
        let here: Value = here.tools.iter().map(|tool| tool.listed.clone()).collect();
        prop_assert_eq!(listed["tools"].to_string(), here.to_string());
    }
}
