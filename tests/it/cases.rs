use serde_json::{Value, json};
use toolgate::{
    config::{Limits, Policy},
    registry::Toolset,
    upstream::{Answer, Caller, CallerAuth, Service},
};

use crate::support::{
    Recorder,
    compile::{compile, read, shown, target},
};

/// A document of these paths.
fn document(paths: &str) -> String {
    format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}{COMPONENTS}")
}

const OK: &str = "responses: {200: {description: ok}}";

const COMPONENTS: &str = "
x-base: &base {type: string}
components:
  schemas:
    Comment: {type: object, properties: {text: {type: string}, parent: {$ref: '#/components/schemas/Comment'}}}
    Tree: {type: object, properties: {children: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
    Merged: {<<: *base, maxLength: 5}
    State: {type: string, enum: [A, B]}
    Names: {type: array, items: {type: string}}
    Base: {type: object, required: [id], properties: {id: {type: integer}}}
    Named: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {name: {type: string, description: null}}}]}
    Own: {$id: 'http://x.invalid/s', type: object, properties: {a: {$ref: '#/components/schemas/State'}}}
";

/// `get /a` with this parameter's schema.
fn query(schema: &str) -> String {
    document(&format!(
        "  /a: {{get: {{parameters: [{{name: q, in: query, schema: {schema}}}], {OK}}}}}\n"
    ))
}

/// `post /a` with a body of this schema.
fn body(schema: &str) -> String {
    let content = format!(
        "requestBody: {{required: true, content: {{application/json: {{schema: {schema}}}}}}}"
    );
    document(&format!("  /a: {{post: {{{content}, {OK}}}}}\n"))
}

/// `get /a` that answers with this schema.
fn reply(schema: &str) -> String {
    let content = format!("content: {{application/json: {{schema: {schema}}}}}");
    document(&format!("  /a: {{get: {{responses: {{200: {{description: ok, {content}}}}}}}}}\n"))
}

const ALL: &str = "tools: ['* /*']";

#[track_caller]
fn tools(document: &str, allowlist: &str) -> Toolset {
    let api = read(document).unwrap_or_else(|faults| panic!("{}", shown(&faults)));
    compile(&api, allowlist, Policy::Strict).unwrap_or_else(|faults| panic!("{}", shown(&faults)))
}

/// The one tool as listed.
#[track_caller]
fn listed(document: &str) -> Value {
    let toolset = tools(document, ALL);
    assert_eq!(toolset.tools.len(), 1, "{}", shown(&toolset.warnings));
    Value::Object(toolset.tools[0].listed.clone())
}

/// What one property is published as.
#[track_caller]
#[allow(
    clippy::needless_pass_by_value,
    reason = "a table reads better without `&` before each value"
)]
fn published(document: &str, property: &str, expected: Value) {
    let listed = listed(document);
    assert_eq!(listed["inputSchema"]["properties"][property], expected, "{listed:#}");
    let text = listed.to_string();
    for word in [
        "$ref",
        "$defs",
        "$schema",
        "#/components",
        "anyOf",
        "oneOf",
        "allOf",
        "nullable",
        "pattern\"",
    ] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// Names in list order.
#[track_caller]
fn names(document: &str, allowlist: &str, expected: &str) {
    let toolset = tools(document, allowlist);
    let names: Vec<_> = toolset.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.join(" "), expected, "{}", shown(&toolset.warnings));
}

/// What is said, each word of it, of a document or an allowlist that is refused.
#[track_caller]
fn refused(document: &str, allowlist: &str, words: &[&str]) {
    let built = read(document).and_then(|api| compile(&api, allowlist, Policy::Strict));
    let said = shown(&built.expect_err("refused"));
    words.iter().for_each(|words| assert!(said.contains(words), "{words}\n--\n{said}"));
}

/// What is said of what is left out, when the rest serves.
#[track_caller]
fn warned(document: &str, allowlist: &str, n_tools: usize, words: &[&str]) {
    let toolset = tools(document, allowlist);
    let said = shown(&toolset.warnings);
    assert_eq!(toolset.tools.len(), n_tools, "{said}");
    words.iter().for_each(|words| assert!(said.contains(words), "{words}\n--\n{said}"));
}

/// Calls the first tool; the answer, and what was sent.
fn call(
    document: &str,
    allowlist: &str,
    arguments: &Value,
    reply: &'static str,
) -> (Answer, Vec<String>) {
    let toolset = tools(document, allowlist);
    let tool = &toolset.tools[0];
    let checked = match tool.checker.check(arguments.as_object().unwrap().clone()) {
        Ok(checked) => checked,
        Err(faults) => return (Answer::refused(&faults), Vec::new()),
    };
    let recorder = Recorder::json(reply);
    let caller = Caller::new(&Limits::default(), Some(Service::new(recorder.router())));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (target, auth) = (target(), CallerAuth::default());
    let answer = runtime.block_on(caller.call(&target, &tool.plan, &checked, &auth, |_| ()));
    let line = |seen: &crate::support::upstream::Seen| {
        format!("{} {}", seen.line(), String::from_utf8_lossy(&seen.body)).trim_end().to_owned()
    };
    (answer, recorder.seen().iter().map(line).collect())
}

/// The request of one call: `METHOD path?query body`.
#[track_caller]
fn sent(document: &str, arguments: &Value, expected: &str) {
    let (answer, sent) = call(document, ALL, arguments, "{}");
    assert_eq!(sent, [expected], "{answer:?}");
}

#[test]
fn k07_yaml_that_strict_or_careless_parsers_trip_over() {
    let content =
        "content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}";
    let codes = format!(
        "  /a: {{get: {{responses: {{200: {{description: ok, {content}}}, 4XX: {{description: bad}}, default: {{description: d}}}}}}}}\n"
    );
    assert!(listed(&document(&codes))["outputSchema"]["properties"]["a"].is_object());
    let twice = document(&format!("  /a: {{get: {{{OK}}}}}\n  /a: {{post: {{{OK}}}}}\n"));
    refused(&twice, ALL, &["api.yaml:5:3: error: ", "`/a`", "4"]);
    published(
        &query("{$ref: '#/components/schemas/Merged'}"),
        "q",
        json!({ "type": "string", "maxLength": 5 }),
    );
}

#[test]
fn k08_versions_nulls_and_addresses() {
    let newer = query("{enum: [1, 2]}").replace("3.0.3", "3.1.0");
    published(&newer, "q", json!({ "type": "integer", "enum": [1, 2] }));
    let fixed = query("{const: 1}").replace("3.0.3", "3.1.0");
    published(&fixed, "q", json!({ "type": "integer", "enum": [1] }));
    refused(&query("{}").replace("3.0.3", "4.0.0"), ALL, &["4.0.0"]);
    published(&query("{type: string, description: null}"), "q", json!({ "type": "string" }));
    let vendor = "{type: array, x-a: {b: 1}, items: {x-c: 2, anyOf: [{$ref: '#/components/schemas/State'}, {type: string, x-d: 3}]}}";
    assert_eq!(listed(&query(vendor))["inputSchema"]["properties"]["q"]["items"]["type"], "string");
    let relative = query("{type: string}").replace("paths:", "servers: [{url: /api/v3}]\npaths:");
    sent(&relative, &json!({ "q": "x" }), "GET /api/v3/a?q=x");
}

#[test]
fn k09_one_bad_operation_hurts_no_other() {
    let bad = "  /bad: {get: {operationId: bad, parameters: [{name: q, in: query, schema: {$ref: '#/components/schemas/No'}}]}}\n";
    let none = "  /none: {get: {operationId: none}}\n";
    let good = format!("  /good: {{get: {{operationId: good, {OK}}}}}\n");
    names(&document(&format!("{bad}{good}{none}")), "tools: [good]", "good");
    names(&document(&format!("{bad}{good}{none}")), "tools: [good, none]", "good none");
    refused(
        &document(&format!("{bad}{good}")),
        "tools: [good, bad]",
        &["api.yaml:4:77: ", "`GET /bad`", "`#/components/schemas/No`"],
    );
    let xml = format!(
        "  /xml: {{post: {{requestBody: {{content: {{application/xml: {{}}}}}}, {OK}}}}}\n"
    );
    warned(
        &document(&format!("{xml}{good}")),
        ALL,
        1,
        &["`POST /xml` is left out", "application/xml"],
    );
    for pattern in ["^(?!a)b", "\\p{L}", "\\cA", "^(?!\\.)[^@]+@[^@]+$"] {
        let schema = query(&format!("{{type: string, pattern: '{pattern}'}}"));
        let words = format!("Matches `{pattern}`");
        published(&schema, "q", json!({ "type": "string", "description": words }));
    }
    let odd = query("{type: integer, example: no, x-y: 1}").replace("info:", "extra: 1\ninfo:");
    published(&odd, "q", json!({ "type": "integer" }));
    let (answer, sent) = call(&query("{type: integer}"), ALL, &json!({ "q": "x" }), "{}");
    assert!(sent.is_empty() && answer.is_error);
    let said = format!("{:?}", answer.content);
    ["`q`", "integer", "x"].iter().for_each(|words| assert!(said.contains(words), "{said}"));
}

#[test]
fn k10_references_and_cycles_end() {
    let comment = body("{$ref: '#/components/schemas/Comment'}");
    sent(
        &comment,
        &json!({ "text": "a", "parent": { "parent": { "text": "b" } } }),
        r#"POST /a {"text":"a","parent":{"parent":{"text":"b"}}}"#,
    );
    assert!(listed(&comment).to_string().len() < 4_000);
    assert!(listed(&reply("{$ref: '#/components/schemas/Tree'}")).to_string().len() < 4_000);
    assert_eq!(
        listed(&body("{$ref: '#/components/schemas/Own'}"))["inputSchema"]["properties"]["a"]["enum"],
        json!(["A", "B"])
    );
    refused(
        &query("{$ref: './common.yaml#/components/schemas/A'}"),
        "tools: [GET /a]",
        &["./common.yaml", "outside this document"],
    );
    warned(
        &query("{$ref: 'http://x.invalid/a'}"),
        ALL,
        0,
        &["http://x.invalid/a", "outside this document"],
    );
}

#[test]
fn k11_path_level_parts_count() {
    let shared = "parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: X-Tenant, in: header, required: true, schema: {type: string}}]";
    let path = document(&format!(
        "  /a/{{id}}: {{{shared}, delete: {{parameters: [{{name: x-tenant, in: header, required: true, schema: {{type: integer}}}}], {OK}}}}}\n"
    ));
    let listed = listed(&path);
    let properties = listed["inputSchema"]["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 2, "{listed:#}");
    assert!(properties.values().any(|one| one["type"] == "integer"));
    let missing = document(&format!("  /a/{{accountID}}: {{delete: {{{OK}}}}}\n"));
    refused(&missing, "tools: ['DELETE /a/{accountID}']", &["accountID"]);
    let twice = document(&format!(
        "  /{{t}}/{{t}}/device: {{get: {{parameters: [{{name: t, in: path, required: true, schema: {{type: string}}}}], {OK}}}}}\n"
    ));
    sent(&twice, &json!({ "t": "x" }), "GET /x/x/device");
    let variable = query("{type: string}").replace("paths:", "servers: [{url: 'https://{region}.x.test/{v}', variables: {region: {default: eu}, v: {default: v1}}}]\npaths:");
    sent(&variable, &json!({}), "GET /v1/a");
}

#[test]
fn k12_numbers_keep_their_digits() {
    sent(&query("{type: string}"), &json!({ "q": 42 }), "GET /a?q=42");
    let (answer, _) = call(
        &reply("{type: object, properties: {id: {type: string}}}"),
        ALL,
        &json!({}),
        r#"{"id":"9007199254740993","n":9007199254740993}"#,
    );
    assert_eq!(
        answer.structured.as_deref(),
        Some(r#"{"id":"9007199254740993","n":9007199254740993}"#)
    );
}

#[test]
fn k13_paths_and_ids_of_generators() {
    let id = |name: &str| {
        format!(
            "parameters: [{{name: {name}, in: path, required: true, schema: {{type: string}}}}]"
        )
    };
    let folders =
        document(&format!("  '/v1/{{name=folders/*}}/roles': {{get: {{{}, {OK}}}}}\n", id("name")));
    sent(&folders, &json!({ "name": "folders/f 1" }), "GET /v1/folders/f%201/roles");
    let both = document(&format!(
        "  /v1/a/{{id}}: {{get: {{operationId: Svc_Get, {}, {OK}}}}}\n  /v1/b/{{locator.drn}}: {{get: {{operationId: Svc_Get, {}, {OK}}}}}\n",
        id("id"),
        id("locator.drn")
    ));
    refused(
        &both,
        "tools: [Svc_Get]",
        &["`Svc_Get`", "`GET /v1/a/{id}`", "`GET /v1/b/{locator.drn}`"],
    );
    names(
        &both,
        "tools: ['GET /v1/b/{locator.drn}', 'GET /v1/a/{id}']",
        "get_v1_b_locator_drn get_v1_a_id",
    );
    warned(&both, ALL, 2, &["several operations have the operationId `Svc_Get`"]);
    let (_, sent) =
        call(&both, "tools: ['GET /v1/b/{locator.drn}']", &json!({ "locator_drn": "x" }), "{}");
    assert_eq!(sent, ["GET /v1/b/x"]);
    let star = document(&format!("  /v1/{{instance}}/*: {{get: {{{}, {OK}}}}}\n", id("instance")));
    warned(&star, ALL, 0, &["`GET /v1/{instance}/*` is left out", "literal `*`"]);
}

#[test]
fn k14_names_that_every_client_takes() {
    let check = |id: &str, expected: &str| {
        names(
            &document(&format!(
                "  /people/{{id}}/events: {{post: {{{id}parameters: [{{name: id, in: path, required: true, schema: {{}}}}], {OK}}}}}\n"
            )),
            ALL,
            expected,
        );
    };
    check("operationId: list-memos, ", "list_memos");
    check("operationId: restartNode.jsAppV1, ", "restart_node_js_app_v1");
    check("operationId: memos.v1.MemoService.ListMemos, ", "memos_v1_memo_service_list_memos");
    check("", "post_people_id_events");
    let long = format!("  /a: {{get: {{operationId: {}, {OK}}}}}\n", "abcdefghi_".repeat(7));
    assert_eq!(tools(&document(&long), ALL).tools[0].name.as_str().len(), 48);
    let dull = document(&format!(
        "  /navigate: {{post: {{operationId: navigate_post_navigate_post, {OK}}}}}\n"
    ));
    names(
        &dull,
        "tools: [{operation: navigate_post_navigate_post, name: go, description: Goes.}]",
        "go",
    );
}

#[test]
fn k15_one_name_in_two_places_is_two_arguments() {
    let content = |properties: &str| {
        format!(
            "requestBody: {{required: true, content: {{application/json: {{schema: {{type: object, properties: {properties}}}}}}}}}"
        )
    };
    let id = |more: &str| {
        format!(
            "parameters: [{{name: id, in: path, required: true, schema: {{type: string}}}}{more}]"
        )
    };
    let put = document(&format!(
        "  /u/{{id}}: {{put: {{{}, {}, {OK}}}}}\n",
        id(""),
        content("{id: {type: string}, name: {type: string}}")
    ));
    sent(
        &put,
        &json!({ "id": "1", "body_id": "2", "name": "n" }),
        r#"PUT /u/1 {"id":"2","name":"n"}"#,
    );
    sent(&put, &json!({ "id": "1", "name": "n" }), r#"PUT /u/1 {"name":"n"}"#);
    let patch = document(&format!(
        "  /u/{{id}}: {{patch: {{{}, {}, {OK}}}}}\n",
        id(""),
        content("{id: {type: string}}")
    ));
    sent(&patch, &json!({ "id": "old", "body_id": "new" }), r#"PATCH /u/old {"id":"new"}"#);
    let header = document(&format!(
        "  /u/{{id}}: {{get: {{{}, {OK}}}}}\n",
        id(", {name: id, in: header, required: true, schema: {type: string}}")
    ));
    assert_eq!(listed(&header)["inputSchema"]["required"].as_array().unwrap().len(), 2);
}

#[test]
fn k16_keys_outside_the_pattern_get_an_alias() {
    let odd = |name: &str, schema: &str| {
        query(schema).replace("name: q", &format!("name: '{name}', required: true"))
    };
    sent(
        &odd("ids[]", "{type: array, items: {type: integer}}"),
        &json!({ "ids": [1, 2] }),
        "GET /a?ids%5B%5D=1&ids%5B%5D=2",
    );
    for name in ["StartTime<", "a b"] {
        let listed = listed(&odd(name, "{type: string}"));
        let (alias, _) =
            listed["inputSchema"]["properties"].as_object().unwrap().iter().next().unwrap();
        assert!(alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{alias}");
        assert_eq!(listed["inputSchema"]["required"], json!([alias]));
    }
}

#[test]
fn k17_to_k19_the_root_is_an_object_and_every_part_has_a_type() {
    let empty = document(&format!("  /health: {{get: {{{OK}}}}}\n"));
    assert_eq!(listed(&empty)["inputSchema"], json!({ "type": "object", "properties": {} }));
    published(&body("{$ref: '#/components/schemas/Named'}"), "name", json!({ "type": "string" }));
    let lists = body(
        "{type: object, properties: {paths: {type: string}, scopes: {type: string}}, anyOf: [{required: [paths]}, {required: [scopes]}]}",
    );
    published(&lists, "paths", json!({ "type": "string" }));
    for root in [
        "{anyOf: [{type: object, properties: {a: {type: string}}}, {type: string}]}",
        "{type: array}",
        "{}",
        "{type: object, additionalProperties: {}}",
    ] {
        let schema = &listed(&body(root))["inputSchema"];
        assert!(schema["type"] == "object" && schema["properties"].is_object(), "{schema}");
    }
    published(
        &query("{anyOf: [{type: string}, {type: 'null'}]}").replace("3.0.3", "3.1.0"),
        "q",
        json!({ "type": "string" }),
    );
    published(
        &query("{$ref: '#/components/schemas/State'}"),
        "q",
        json!({ "type": "string", "enum": ["A", "B"] }),
    );
    published(
        &query("{$ref: '#/components/schemas/Names'}"),
        "q",
        json!({ "type": "array", "items": { "type": "string" } }),
    );
    assert!(
        listed(&query("{type: array}"))["inputSchema"]["properties"]["q"]["items"]["type"]
            .is_string()
    );
    assert!(
        listed(&query("{type: array, oneOf: [{items: {type: integer}}, {items: {type: string}}]}"))
            ["inputSchema"]["properties"]["q"]["items"]["type"]
            .is_string()
    );
    sent(
        &body("{type: array, items: {type: integer}}"),
        &json!({ "body": [1, 2] }),
        "POST /a [1,2]",
    );
}

#[test]
fn k20_nothing_that_one_client_refuses_is_published() {
    let newer = |schema: &str| query(schema).replace("3.0.3", "3.1.0");
    published(&query("{type: string, nullable: true}"), "q", json!({ "type": "string" }));
    published(
        &newer("{type: [array, 'null'], items: {type: string}}"),
        "q",
        json!({ "type": "array", "items": { "type": "string" } }),
    );
    published(&newer("{type: ['null', string]}"), "q", json!({ "type": "string" }));
    published(
        &query("{type: integer, format: uint32, minimum: 0}"),
        "q",
        json!({ "type": "integer", "minimum": 0 }),
    );
    for format in ["int64", "double", "enum", "idn-email", "hostname"] {
        assert!(listed(&query(&format!("{{type: string, format: {format}}}")))["inputSchema"]["properties"]["q"].get("format").is_none(), "{format}");
    }
    assert!(listed(&query("{}"))["inputSchema"]["properties"]["q"]["type"].is_string());
    assert!(listed(&query("{type: string}"))["inputSchema"].get("additionalProperties").is_none());
}

#[test]
fn k20_large_bounds_are_said_and_not_published() {
    let most = json!({ "type": "string", "description": "At most 10000 characters" });
    published(&query("{type: string, maxLength: 10000}"), "q", most.clone());
    let nested = "{type: object, properties: {a: {type: object, properties: {b: {type: array, maxItems: 5000, items: {type: string, maxLength: 10000}}}}}}";
    let listed = listed(&body(nested));
    let list = &listed["inputSchema"]["properties"]["a"]["properties"]["b"];
    assert_eq!((&list["items"], &list["description"]), (&most, &json!("At most 5000 items")));
    let text = listed.to_string();
    assert!(!text.contains("maxLength") && !text.contains("maxItems"), "{text}");
    let (answer, sent) = call(
        &query("{type: string, maxLength: 10000}"),
        ALL,
        &json!({ "q": "x".repeat(10_001) }),
        "{}",
    );
    assert!(answer.is_error && sent.is_empty(), "the server still holds the bound");
}

#[test]
fn k21_descriptions_are_short() {
    let long = format!("description: '{}', responses", "A sentence of some length. ".repeat(400));
    let listed = listed(&query("{type: string}").replace("responses", &long));
    let text = listed["description"].as_str().unwrap();
    assert!(text.len() <= 1_000 && text.ends_with('.'), "{text}");
}

#[test]
fn k23_published_replies_are_objects_without_references() {
    for (schema, property) in [
        ("{$ref: '#/components/schemas/Tree'}", "children"),
        ("{type: array, items: {$ref: '#/components/schemas/Tree'}}", "result"),
        ("{type: string}", "result"),
        ("{type: object, additionalProperties: false, properties: {a: {type: string}}}", "a"),
    ] {
        let schema = &listed(&reply(schema))["outputSchema"];
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"][property].is_object(), "{schema}");
        for word in ["$ref", "additionalProperties\":false", "required\":["] {
            assert!(!schema.to_string().contains(word), "{schema}");
        }
    }
}

#[test]
fn k26_the_reply_is_chosen_by_its_status() {
    let codes = |codes: &str| {
        let of = |part: &str| {
            let (code, property) = part.split_once(' ').unwrap();
            format!(
                "{code}: {{description: d, content: {{application/json: {{schema: {{type: object, properties: {{{property}: {{type: string}}}}}}}}}}}}"
            )
        };
        let all: Vec<_> = codes.split(", ").map(of).collect();
        let listed =
            listed(&document(&format!("  /a: {{get: {{responses: {{{}}}}}}}\n", all.join(", "))));
        let properties =
            listed["outputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        properties.keys().next().cloned().unwrap_or_default()
    };
    assert_eq!(codes("default error, 200 memo"), "memo");
    assert_eq!(codes("2XX memo, default error"), "memo");
    assert_eq!(codes("204 none, 201 memo, 400 error").as_str(), "memo");
    assert_eq!(codes("default memo"), "memo");
}

#[test]
fn k37_only_what_is_listed_is_a_tool() {
    let two = document(&format!(
        "  /a: {{get: {{operationId: A, deprecated: true, {OK}}}, post: {{operationId: B, tags: [t], {OK}}}}}\n"
    ));
    names(&two, "tools: []", "");
    names(&two, "tools:", "");
    names(&two, "tools: [A, 'tag:t']", "a b");
    names(&two, "tools: ['GET *']", "a");
    names(&two, "deny: [A]\ntools: ['* /*']", "b");
    assert!(
        tools(&two, "tools: [A]").tools[0].listed["description"]
            .as_str()
            .unwrap()
            .starts_with("Deprecated")
    );
}

#[test]
fn k38_every_hint_is_explicit_and_the_allowlist_wins() {
    let hints = |method: &str, expected: [bool; 3]| {
        let listed = listed(&document(&format!("  /a: {{{method}: {{{OK}}}}}\n")));
        let all = ["readOnlyHint", "destructiveHint", "idempotentHint"]
            .map(|hint| listed["annotations"][hint].as_bool().unwrap());
        assert_eq!(
            (all, &listed["annotations"]["openWorldHint"]),
            (expected, &json!(true)),
            "{method}"
        );
    };
    hints("get", [true, false, true]);
    hints("post", [false, false, false]);
    hints("put", [false, true, true]);
    hints("patch", [false, true, false]);
    hints("delete", [false, true, true]);
    let post = document(&format!("  /a: {{post: {{{OK}}}}}\n"));
    let toolset = tools(
        &post,
        "tools: [{operation: POST /a, annotations: {idempotent: true, destructive: true}}]",
    );
    assert_eq!(toolset.tools[0].listed["annotations"]["idempotentHint"], true);
    refused(
        &post,
        "tools: [{operation: POST /a, annotations: {idempotnt: true}}]",
        &["idempotnt", "idempotent"],
    );
}
