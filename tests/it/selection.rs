use serde_json::Value;
use toolgate::{Gateway, config::Policy};

use crate::support::{Client, Era, Recorder, Workspace};

/// What the memo allowlist lists, in its order.
const LISTED: [(&str, &str); 17] = [
    ("memo_list_memos", "MemoService_ListMemos"),
    ("memo_create_memo", "MemoService_CreateMemo"),
    ("memo_get_memo", "MemoService_GetMemo"),
    ("memo_update_memo", "MemoService_UpdateMemo"),
    ("memo_delete_memo", "MemoService_DeleteMemo"),
    ("memo_list_memo_comments", "MemoService_ListMemoComments"),
    ("memo_create_memo_comment", "MemoService_CreateMemoComment"),
    ("memo_list_memo_attachments", "MemoService_ListMemoAttachments"),
    ("memo_set_memo_attachments", "MemoService_SetMemoAttachments"),
    ("memo_list_memo_reactions", "MemoService_ListMemoReactions"),
    ("memo_upsert_memo_reaction", "MemoService_UpsertMemoReaction"),
    ("memo_delete_memo_reaction", "MemoService_DeleteMemoReaction"),
    ("memo_list_memo_relations", "MemoService_ListMemoRelations"),
    ("memo_set_memo_relations", "MemoService_SetMemoRelations"),
    ("attachment_list_attachments", "AttachmentService_ListAttachments"),
    ("attachment_get_attachment", "AttachmentService_GetAttachment"),
    ("attachment_delete_attachment", "AttachmentService_DeleteAttachment"),
];

async fn memo_tools() -> Vec<Value> {
    let server = Workspace::memos().serve_in_process(&Recorder::json("{}")).await;
    Client::connect(server.address, Era::Modern).await.list().await
}

#[tokio::test]
async fn every_listed_operation_is_a_tool_and_nothing_else_is() {
    let tools = memo_tools().await;
    let mut found: Vec<_> = tools
        .iter()
        .map(|tool| {
            (tool["name"].as_str().unwrap(), tool["_meta"]["operationId"].as_str().unwrap())
        })
        .collect();
    let mut expected = LISTED.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn every_tool_has_object_schemas_and_explicit_hints() {
    for tool in memo_tools().await {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool:#}");
            assert!(tool[schema]["properties"].is_object(), "{tool:#}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool:#}");
        }
        for key in ["operationId", "method", "path", "toolset"] {
            assert!(tool["_meta"][key].is_string(), "{tool:#}");
        }
    }
}

#[tokio::test]
async fn excluded_families_are_never_selected_even_by_a_pattern() {
    let workspace = Workspace::memos();
    let listed = workspace.read("allowlists/api.yaml");
    let (head, _) = listed.split_once("\ntools:").unwrap();
    workspace.write("allowlists/api.yaml", &format!("{head}\ntools: [\"* /*\"]\n"));
    let server = workspace.serve_in_process(&Recorder::json("{}")).await;
    let tools = Client::connect(server.address, Era::Modern).await.list().await;
    assert!(tools.len() >= LISTED.len());
    for tool in tools {
        let path = tool["_meta"]["path"].as_str().unwrap();
        let id = tool["_meta"]["operationId"].as_str().unwrap();
        let excluded = [
            "auth",
            "users",
            "identity-providers",
            "instance",
            "shares",
            "ai:",
            "webhooks",
            "batchDelete",
        ];
        assert!(!excluded.iter().any(|word| path.contains(word)), "{id} {path}");
    }
}

#[tokio::test]
async fn overrides_of_the_memo_allowlist_hold() {
    let tools = memo_tools().await;
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    for name in ["memo_set_memo_attachments", "memo_set_memo_relations"] {
        assert_eq!(tool(name)["annotations"]["destructiveHint"], true);
        assert_eq!(tool(name)["annotations"]["idempotentHint"], true);
        assert!(tool(name)["inputSchema"]["properties"].get("name").is_none(), "the path binds it");
    }
    assert_eq!(tool("memo_create_memo")["inputSchema"]["required"], serde_json::json!(["content"]));
}

#[tokio::test]
async fn the_list_is_the_same_in_two_gateways() {
    let lists = [memo_tools().await, memo_tools().await];
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn a_missing_operation_refuses_to_start_in_serve_and_drops_out_in_dev() {
    let workspace = Workspace::memos();
    let listed = workspace.read("allowlists/api.yaml");
    workspace.write(
        "allowlists/api.yaml",
        &listed.replace("MemoService_GetMemo\n", "MemoService_GetMemory\n"),
    );
    let builder = || workspace.builder().service(Recorder::json("{}").router());
    let error = builder().start().unwrap_err().to_string();
    assert!(
        error.contains("MemoService_GetMemory") && error.contains("MemoService_GetMemo`"),
        "{error}"
    );
    assert!(error.contains("api.yaml:"), "{error}");
    let gateway: Gateway = builder().policy(Policy::Forgiving).start().unwrap();
    assert_eq!(gateway.snapshot().unwrap().tools().count(), LISTED.len() - 1);
}
