mod proof;

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::{
    allowlist,
    config::{Limits, Policy},
    openapi::{self, text::Text},
    registry::{self, Settings, plan::Upstream},
    snapshot::{Served, Snapshot},
};

/// Each change as `!` or nothing, its words, and one a line.
fn shown(changes: &[Change]) -> String {
    let line = |change: &Change| {
        let mark = if change.effect == Effect::Breaking { "! " } else { "" };
        format!("{mark}{:?} {}", change.aspect, change.words)
    };
    changes.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn saved(part: &str, schema: &Value) -> Seen {
    let mut tool = json!({
        "name": "t", "inputSchema": {"type": "object", "properties": {}},
        "_meta": {"method": "GET", "path": "/t", "toolset": "s"},
    });
    tool[part] = schema.clone();
    Seen::saved(&tool).unwrap()
}

/// What a saved list says when the tool's input schema changes.
fn root(old: &Value, new: &Value, expected: &str) {
    let changes = tool::changes(&saved("inputSchema", old), &saved("inputSchema", new));
    assert_eq!(shown(&changes), expected, "{old} → {new}");
}

/// What happens to an optional argument `a` when its schema changes, in both directions.
fn argument(old: &Value, new: &Value, expected: &str, back: &str) {
    let with = |schema: &Value| json!({"type": "object", "properties": {"a": schema}});
    root(&with(old), &with(new), expected);
    root(&with(new), &with(old), back);
}

#[test]
fn arguments_come_and_go() {
    let tool = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let (one, none) =
        (tool(json!({"a": {"type": "string"}}), json!([])), tool(json!({}), json!([])));
    let needed = tool(json!({"a": {"type": "string"}}), json!(["a"]));
    root(&none, &one, "InputWidened `a`: added, optional");
    root(&one, &none, "! InputNarrowed `a`: removed");
    root(&none, &needed, "! InputNarrowed `a`: added, and required");
    root(&one, &needed, "! InputNarrowed `a`: is required now");
    root(&needed, &one, "InputWidened `a`: is optional now");
    let renamed = tool(json!({"b": {"type": "string"}}), json!([]));
    root(&one, &renamed, "! InputNarrowed `a`: removed\nInputWidened `b`: added, optional");
    root(&one, &one, "");
}

#[test]
fn other_names_at_the_root_are_refused_unless_it_says_so() {
    let tool =
        |more: Value| json!({"type": "object", "properties": {}, "additionalProperties": more});
    let closed = json!({"type": "object", "properties": {}});
    root(&closed, &tool(json!(true)), "InputWidened `*`: takes more now");
    root(&tool(json!(true)), &closed, "! InputNarrowed `*`: takes less now");
    root(&closed, &tool(json!(false)), "");
    let (text, number) = (tool(json!({"type": "string"})), tool(json!({"type": "integer"})));
    root(&text, &number, "! InputNarrowed `*`: takes integer instead of string");
    root(
        &number,
        &tool(json!({"type": "number"})),
        "InputWidened `*`: takes number instead of integer",
    );
    let named = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
    root(
        &tool(json!(true)),
        &named,
        "! InputNarrowed `a`: could be anything, and has a schema now",
    );
    let named = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}});
    root(&text, &named, "InputWidened `a`: added, optional");
}

#[test]
fn types_are_wider_or_narrower() {
    let text = json!({"type": "string"});
    argument(
        &json!({"type": "integer"}),
        &json!({"type": "number"}),
        "InputWidened `a`: takes number instead of integer",
        "! InputNarrowed `a`: takes integer instead of number",
    );
    argument(
        &text,
        &json!({"type": "boolean"}),
        "! InputNarrowed `a`: takes boolean instead of string",
        "! InputNarrowed `a`: takes string instead of boolean",
    );
}

#[test]
fn values_are_added_and_removed_in_any_order() {
    let text = json!({"type": "string"});
    let listed = |values: Value| json!({"type": "string", "enum": values});
    argument(
        &listed(json!(["A"])),
        &listed(json!(["B", "A"])),
        "InputWidened `a`: takes `B` too",
        "! InputNarrowed `a`: does not take `B` any more",
    );
    argument(
        &listed(json!(["A", "B"])),
        &listed(json!(["B", "A"])),
        "Texts other words for `a`",
        "Texts other words for `a`",
    );
    argument(
        &listed(json!(["A"])),
        &text,
        "InputWidened `a`: takes values that are not listed too",
        "! InputNarrowed `a`: takes only listed values now",
    );
}

#[test]
fn bounds_are_tighter_or_looser() {
    let text = json!({"type": "string"});
    let bounds = |(kind, word, tight, loose): (&str, &str, Value, Value)| {
        let with = |value: &Value| json!({"type": kind, word: value});
        let free = json!({"type": kind});
        let line = |new: &Value, old: &Value| {
            let shown =
                |value: &Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
            format!("InputWidened `a`: `{word}` is {} instead of {}", shown(new), shown(old))
        };
        let narrow = |new: &Value, old: &Value| {
            format!("! {}", line(new, old).replace("InputWidened", "InputNarrowed"))
        };
        argument(&with(&tight), &with(&loose), &line(&loose, &tight), &narrow(&tight, &loose));
        argument(&with(&tight), &free, &line(&Value::Null, &tight), &narrow(&tight, &Value::Null));
    };
    bounds(("integer", "minimum", json!(5), json!(1)));
    bounds(("integer", "maximum", json!(5), json!(9)));
    bounds(("string", "minLength", json!(5), json!(1)));
    bounds(("string", "maxLength", json!(5), json!(9)));
    bounds(("array", "minItems", json!(2), json!(1)));
    bounds(("array", "maxItems", json!(2), json!(3)));
    argument(
        &json!({"type": "number", "exclusiveMinimum": 0}),
        &json!({"type": "number", "minimum": 0}),
        "InputWidened `a`: `minimum` is 0 instead of 0",
        "! InputNarrowed `a`: `minimum` is 0 instead of 0",
    );
    argument(
        &json!({"type": "array", "items": text, "uniqueItems": true}),
        &json!({"type": "array", "items": text}),
        "InputWidened `a`: takes items twice",
        "! InputNarrowed `a`: takes no item twice any more",
    );
    argument(
        &json!({"type": "string", "format": "uuid"}),
        &text,
        "InputWidened `a`: `format` is free now",
        "! InputNarrowed `a`: `format` changed in a way that cannot be proved safe",
    );
}

#[test]
fn nested_parts_are_judged_where_they_stand() {
    let list = |item: Value| json!({"type": "array", "items": item});
    argument(
        &list(json!({"type": "string", "enum": ["A"]})),
        &list(json!({"type": "string", "enum": ["A", "B"]})),
        "InputWidened `a[]`: takes `B` too",
        "! InputNarrowed `a[]`: does not take `B` any more",
    );
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    argument(
        &object(json!({"b": {"type": "string"}})),
        &object(json!({"b": {"type": "string"}, "c": {"type": "string"}})),
        "InputWidened `a.c`: added, optional",
        "! InputNarrowed `a.c`: removed",
    );
    argument(
        &json!({"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}),
        &json!({"type": "object", "properties": {}, "additionalProperties": {"type": "number"}}),
        "InputWidened `a.*`: takes number instead of integer",
        "! InputNarrowed `a.*`: takes integer instead of number",
    );
}

#[test]
fn what_has_no_rule_is_not_safe_and_words_are() {
    argument(
        &json!({"type": "string", "pattern": "^a"}),
        &json!({"type": "string", "pattern": "^[ab]"}),
        "! InputNarrowed `a`: `pattern` changed in a way that cannot be proved safe",
        "! InputNarrowed `a`: `pattern` changed in a way that cannot be proved safe",
    );
    argument(
        &json!({"type": "string", "description": "one"}),
        &json!({"type": "string", "description": "two"}),
        "Texts other words for `a`",
        "Texts other words for `a`",
    );
    argument(
        &json!({"type": "integer", "default": 5}),
        &json!({"type": "integer", "default": 6}),
        "! InputNarrowed `a`: `default` is `6` instead of `5`",
        "! InputNarrowed `a`: `default` is `5` instead of `6`",
    );
}

/// Of the checking schemas, which say more than published ones.
#[expect(clippy::needless_pass_by_value, reason = "cases are written as values")]
fn judged(old: Value, new: Value, expected: &str) {
    let defs = |schema: &Value| schema.get("$defs").and_then(Value::as_object).cloned();
    let (old_defs, new_defs) = (defs(&old), defs(&new));
    let part = |schema: &Value| schema.get("a").cloned().unwrap_or(Value::Null);
    let (old, new) = (part(&old), part(&new));
    let mut judge = schema::Judge::new(old_defs.as_ref(), new_defs.as_ref());
    judge.judge(&old, &new, "a");
    let found = judge.take().into_iter().map(|found| format!("{:?} {}", found.way, found.words));
    assert_eq!(found.collect::<Vec<_>>().join("\n"), expected, "{old} → {new}");
}

#[test]
fn unions_widen_by_a_member_that_cannot_be_taken_for_another() {
    let union = |word: &str, members: Value| json!({"a": {word: members}});
    let (text, none) = (json!({"type": "string"}), json!({"type": "null"}));
    judged(
        union("anyOf", json!([text])),
        union("anyOf", json!([none, text])),
        "Widened `a`: takes more now",
    );
    judged(
        union("anyOf", json!([text, none])),
        union("anyOf", json!([text])),
        "Narrowed `a`: `anyOf` changed in a way that cannot be proved safe",
    );
    judged(
        union("anyOf", json!([{"type": "string", "maxLength": 3}, none])),
        union("anyOf", json!([text, none])),
        "Widened `a`: takes more now",
    );
    judged(
        union("oneOf", json!([text])),
        union("oneOf", json!([text, none])),
        "Widened `a`: takes more now",
    );
    let overlapping = json!([text, {"type": "string", "maxLength": 3}]);
    judged(
        union("oneOf", json!([text])),
        union("oneOf", overlapping),
        "Narrowed `a`: `oneOf` changed in a way that cannot be proved safe",
    );
    let told = |kind: &str| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind}}});
    judged(
        union("oneOf", json!([told("a")])),
        union("oneOf", json!([told("a"), told("b")])),
        "Widened `a`: takes more now",
    );
    judged(
        json!({"a": {"allOf": [text, {"maxLength": 3}]}}),
        json!({"a": {"allOf": [{"maxLength": 3}]}}),
        "Widened `a`: takes more now",
    );
    judged(
        json!({"a": {"allOf": [text]}}),
        json!({"a": {"allOf": [text, {"maxLength": 3}]}}),
        "Narrowed `a`: `allOf` changed in a way that cannot be proved safe",
    );
}

#[test]
fn references_are_followed_also_where_they_lead_back() {
    let node = |name: &str, size: u64| {
        let child = json!({"$ref": format!("x#/$defs/{name}")});
        let node = json!({"type": "object", "properties": {
            "child": {"anyOf": [child, {"type": "null"}]},
            "name": {"type": "string", "maxLength": size},
        }});
        json!({"a": child, "$defs": {name: node}})
    };
    judged(node("n", 3), node("m", 3), "");
    judged(
        node("n", 3),
        node("m", 4),
        "Widened `a.child`: takes more now\nWidened `a.name`: `maxLength` is 4 instead of 3",
    );
    judged(node("n", 3), node("m", 2), "Narrowed `a.name`: `maxLength` is 2 instead of 3");
}

#[test]
fn overlapping_alternatives_that_lead_back_are_equal_to_themselves() {
    let node = |name: &str, size: u64| {
        let child = json!({"$ref": format!("x#/$defs/{name}")});
        let text = json!({"type": "string", "maxLength": size});
        let node = json!({"oneOf": [text, {"type": "string"}, {"type": "array", "items": child}]});
        json!({"a": {"type": "array", "items": child}, "$defs": {name: node}})
    };
    judged(node("n", 3), node("m", 3), "");
    let words = "Narrowed `a[]`: `oneOf` changed in a way that cannot be proved safe";
    judged(node("n", 3), node("m", 4), words);
}

#[test]
fn types_are_sets() {
    let typed = |kinds: Value| json!({"a": {"type": kinds}});
    judged(
        typed(json!("string")),
        typed(json!(["string", "null"])),
        "Widened `a`: takes string or null instead of string",
    );
    judged(
        typed(json!(["string", "null"])),
        typed(json!("string")),
        "Narrowed `a`: takes string instead of string or null",
    );
    judged(
        json!({"a": {}}),
        typed(json!("string")),
        "Narrowed `a`: takes string instead of anything",
    );
    judged(json!({"a": true}), json!({"a": false}), "Narrowed `a`: takes less now");
    judged(json!({"a": {"not": {"type": "null"}}}), json!({"a": {"not": {"type": "null"}}}), "");
}

#[test]
fn an_endless_pair_of_schemas_is_given_up_and_not_safe() {
    // Each level has its own reference, so that no pair comes twice.
    let deep = |size: u64| {
        let below = |at: u64| json!({"type": "object", "properties": {"x": {"$ref": format!("#/{}", at + 1)}}});
        let mut defs: serde_json::Map<String, Value> =
            (0..200).map(|at| (at.to_string(), below(at))).collect();
        defs.insert("200".into(), json!({"type": "string", "maxLength": size}));
        json!({"a": {"$ref": "#/0"}, "$defs": defs})
    };
    let mut place = "a".to_owned();
    (0..100).for_each(|_| place.push_str(".x"));
    let words = "something changed in a way that cannot be proved safe";
    judged(deep(1), deep(2), &format!("Narrowed {}: {words}", crate::diagnostic::quote(&place)));
}

fn output(old: &Value, new: &Value, expected: &str) {
    let with = |properties: &Value| json!({"type": "object", "properties": properties});
    let changes =
        tool::changes(&saved("outputSchema", &with(old)), &saved("outputSchema", &with(new)));
    assert_eq!(shown(&changes), expected, "{old} → {new}");
}

#[test]
fn a_reply_may_say_more_and_never_less() {
    let field = |words: &str| json!({"a": {"description": words}});
    output(&json!({}), &field("string"), "Output `a`: added");
    output(&field("string"), &json!({}), "! Output `a`: removed");
    output(
        &field("string. Its name"),
        &field("string or null. Its name"),
        "! Output `a`: holds `string or null` instead of `string`",
    );
    output(
        &field("string or null"),
        &field("string"),
        "Output `a`: holds `string` instead of `string or null`",
    );
    output(
        &field("integer"),
        &field("string"),
        "! Output `a`: holds `string` instead of `integer`",
    );
    output(&field("string. One"), &field("string. Two"), "Texts other words for `a`");
    let items =
        |words: &str| json!({"a": {"description": "array", "items": {"description": words}}});
    output(
        &items("string"),
        &items("integer"),
        "! Output `a[]`: holds `integer` instead of `string`",
    );
    let below =
        |properties: Value| json!({"a": {"description": "object", "properties": properties}});
    output(
        &below(json!({"b": {"description": "string"}})),
        &below(json!({})),
        "! Output `a.b`: removed",
    );
}

#[test]
fn a_result_that_is_not_described_any_more_is_not_safe() {
    let (with, without) =
        (saved("outputSchema", &json!({"type": "object"})), saved("x", &json!(1)));
    let said = |old, new| shown(&tool::changes(old, new));
    assert_eq!(said(&with, &without), "! Output the result is not described any more");
    assert_eq!(said(&without, &with), "Output the result is described now");
}

#[test]
fn hints_break_where_a_client_did_on_its_own_what_it_must_not_now() {
    let hints = |read: bool, twice: bool| {
        saved("annotations", &json!({"readOnlyHint": read, "idempotentHint": twice}))
    };
    let said = |old, new| shown(&tool::changes(&old, &new));
    assert_eq!(
        said(hints(true, true), hints(false, true)),
        "! Annotations `readOnlyHint` is false instead of true"
    );
    assert_eq!(
        said(hints(false, false), hints(true, true)),
        "Annotations `readOnlyHint` is true instead of false\nAnnotations `idempotentHint` is true instead of false"
    );
}

/// A snapshot of one toolset `api`.
fn snapshot(document: &str, allowlist: &str, upstream: &str) -> Snapshot {
    let text = |name: &str, text: &str| Text::new(name, text.as_bytes()).unwrap();
    let api = Arc::new(openapi::parse(&text("api.yaml", document)).unwrap());
    let allowlist = allowlist::parse("api", &text("a.yaml", allowlist)).unwrap();
    let target = registry::plan::Target {
        upstream: Upstream::Origin(upstream.parse().unwrap()),
        ..registry::nowhere()
    };
    let settings =
        Settings { policy: Policy::Strict, limits: Limits::default(), target: Arc::new(target) };
    let toolset = Arc::new(registry::compile(&api, &allowlist, &settings).unwrap());
    let served = Served { toolset, digest: [0; 32], document: [0; 32], refused: Vec::new() };
    Snapshot::new(1, vec![served], "".into())
}

/// `GET /memos/{memo}` with these further parameters.
fn document(parameters: &str) -> String {
    format!(
        "openapi: 3.0.3
info: {{ title: t, version: '1' }}
paths:
  /memos/{{memo}}:
    get:
      operationId: get_memo
      summary: One memo
      parameters:
        - {{ name: memo, in: path, required: true, schema: {{ type: string }} }}
        {parameters}
      responses: {{ '204': {{ description: ok }} }}
  /other:
    get: {{ operationId: other, responses: {{ '204': {{ description: ok }} }} }}
"
    )
}

const QUERY: &str = "- { name: size, in: query, schema: { type: integer } }";
const LIST: &str = "tools: [get_memo]";

/// From one built toolset to another: the line of the log, then every change.
fn built(old: (&str, &str), new: (&str, &str), expected: &str) {
    let side = |(document, allowlist): (&str, &str)| snapshot(document, allowlist, "http://h");
    let diff = Diff::of(Some(&side(old)), &side(new));
    let lines = diff.changed.iter().map(|changed| shown(&changed.changes));
    let text = std::iter::once(diff.to_string()).chain(lines).collect::<Vec<_>>().join("\n");
    assert_eq!(text, expected, "{old:?} → {new:?}");
}

#[test]
fn tools_are_added_removed_and_renamed() {
    let plain = document(QUERY);
    let of = |allowlist| (plain.as_str(), allowlist);
    built(of(LIST), of(LIST), "no tool is different");
    built(of(LIST), of("tools: [get_memo, other]"), "1 added, 0 removed, 0 changed: +other");
    built(
        of("tools: [get_memo, other]"),
        of(LIST),
        "0 added, 1 removed, 0 changed, 1 breaking: -other!",
    );
    let named = "tools: [{ operation: get_memo, name: read_memo }]";
    built(
        of(LIST),
        of(named),
        "0 added, 0 removed, 1 renamed, 0 changed, 1 breaking: get_memo→read_memo!",
    );
    let kept = "tools: [{ operation: get_memo, name: read_memo, aliases: [get_memo] }]";
    built(of(LIST), of(kept), "0 added, 0 removed, 1 renamed, 0 changed: get_memo→read_memo");
    built(
        of(kept),
        of(named),
        "0 added, 0 removed, 1 changed, 1 breaking: ~read_memo!
! Aliases does not answer to `get_memo` any more",
    );
}

#[test]
fn a_rule_that_the_list_does_not_show_is_judged_all_the_same() {
    let of = |pattern: &str| {
        document(&format!(
            "- {{ name: size, in: query, schema: {{ type: string, maxLength: {pattern} }} }}"
        ))
    };
    built(
        (&of("4000"), LIST),
        (&of("3000"), LIST),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! InputNarrowed `size`: `maxLength` is 3000 instead of 4000
Texts other words for `size`",
    );
}

#[test]
fn an_argument_of_another_name_in_the_same_place_is_renamed() {
    let plain = document(QUERY);
    built(
        (&plain, LIST),
        (&plain, "tools: [{ operation: get_memo, arguments: { size: { name: limit } } }]"),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! InputNarrowed `size`: is called `limit` now",
    );
    let respelled = document("- { name: Size_, in: query, schema: { type: integer } }");
    built(
        (&plain, LIST),
        (&respelled, LIST),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! InputNarrowed `size`: is called `Size_` now",
    );
    let other = plain.replace("{memo}", "{id}").replace("name: memo,", "name: id,");
    built(
        (&plain, LIST),
        (&other, LIST),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! InputNarrowed `memo`: is called `id` now",
    );
}

#[test]
fn a_name_that_means_another_part_of_the_request_is_no_longer_the_same() {
    let query = document("- { name: key, in: query, schema: { type: string } }");
    let header = document("- { name: key, in: header, required: false, schema: { type: string } }");
    let offered = "tools: [{ operation: get_memo, arguments: { key: { description: k } } }]";
    built(
        (&query, offered),
        (&header, offered),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! Binding `key` is `key` in the headers instead of `key` in the query",
    );
    let renamed = document("- { name: token, in: query, schema: { type: string } }");
    built(
        (&query, LIST),
        (&renamed, "tools: [{ operation: get_memo, arguments: { token: { name: key } } }]"),
        "0 added, 0 removed, 1 changed: ~get_memo
Binding `key` is `token` in the query instead of `key` in the query",
    );
}

#[test]
fn where_a_call_goes_is_never_safe_to_change() {
    let plain = document(QUERY);
    let moved = "tools: [{ operation: get_memo, path: '/v2/memos/{memo}' }]";
    built(
        (&plain, LIST),
        (&plain, moved),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! Binding calls `GET /v2/memos/{}` instead of `GET /memos/{}`",
    );
    let fixed = "tools: [{ operation: get_memo, arguments: { size: { fixed: 5 } } }]";
    built(
        (&plain, LIST),
        (&plain, fixed),
        "0 added, 0 removed, 1 changed, 1 breaking: ~get_memo!
! InputNarrowed `size`: removed
! Binding always sends `5` as `size` in the query",
    );
    let side = |upstream| snapshot(&plain, LIST, upstream);
    let diff = Diff::of(Some(&side("http://a")), &side("http://b"));
    assert_eq!(
        shown(&diff.changed[0].changes),
        "! Binding calls go to `http://b/` instead of `http://a/`"
    );
}

#[test]
fn a_saved_list_is_compared_with_what_is_built() {
    let now = snapshot(&document(QUERY), LIST, "http://h");
    let list: Value = serde_json::from_slice(now.list()).unwrap();
    let saved = || list.as_array().unwrap().iter().filter_map(Seen::saved).collect::<Vec<_>>();
    assert!(between(&saved(), &Seen::all(&now)).is_empty());
    let next = snapshot(&document(""), LIST, "http://elsewhere");
    let diff = between(&saved(), &Seen::all(&next));
    assert_eq!(shown(&diff.changed[0].changes), "! InputNarrowed `size`: removed");
    assert!(diff.breaks());
}

#[test]
fn entries_that_are_no_tools_are_not_taken_for_some() {
    for entry in [json!(1), json!({"name": "a"}), json!({"name": 1, "inputSchema": {}})] {
        assert!(Seen::saved(&entry).is_none(), "{entry}");
    }
}

#[test]
fn a_long_line_is_cut() {
    let names = |n: usize| (0..n).map(|at| format!("t{at}")).collect::<Vec<_>>();
    let diff = Diff { added: names(9), ..Diff::default() };
    assert_eq!(
        diff.to_string(),
        "9 added, 0 removed, 0 changed: +t0 +t1 +t2 +t3 +t4 +t5 +t6 +t7 …"
    );
}
