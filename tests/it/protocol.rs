use serde_json::{Value, json};

use crate::support::{Client, Era, Recorder, Server, Workspace};

async fn server() -> Server {
    Workspace::memos().serve_in_process(&Recorder::json(r#"{"memos": []}"#)).await
}

#[tokio::test]
async fn only_the_tools_capability_is_advertised() {
    let server = server().await;
    for era in Era::ALL {
        let client = Client::connect(server.address, era).await;
        let capabilities = match era {
            Era::Modern => {
                client.request("server/discover", json!({})).await["result"]["capabilities"].clone()
            }
            Era::Legacy(version) => {
                let params = json!({
                    "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "0"},
                });
                client.initialize_result(params).await["capabilities"].clone()
            }
        };
        assert_eq!(capabilities, json!({"tools": {"listChanged": true}}), "{era:?}");
    }
}

#[tokio::test]
async fn prompts_and_resources_are_unknown_methods() {
    let server = server().await;
    for era in Era::ALL {
        let client = Client::connect(server.address, era).await;
        for method in ["prompts/list", "resources/list"] {
            let message = client.request(method, json!({})).await;
            assert_eq!(message["error"]["code"], -32601, "{era:?} {method} {message}");
        }
    }
}

#[tokio::test]
async fn every_era_lists_the_same_tools() {
    let server = server().await;
    let mut lists = Vec::new();
    for era in Era::ALL {
        lists.push(Client::connect(server.address, era).await.list().await);
    }
    assert_eq!(lists[0].len(), 17);
    assert!(lists.iter().all(|list| *list == lists[0]));
}

#[tokio::test]
async fn collection_calls_return_objects_in_every_era() {
    let server = server().await;
    for era in Era::ALL {
        let client = Client::connect(server.address, era).await;
        let result = client.call("memo_list_memos", json!({})).await;
        assert_eq!(result["structuredContent"], json!({"memos": []}), "{era:?}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_and_a_bad_argument_is_not() {
    let server = server().await;
    for era in Era::ALL {
        let client = Client::connect(server.address, era).await;
        let unknown =
            client.request("tools/call", json!({"name": "memo_nothing", "arguments": {}})).await;
        assert_eq!(unknown["error"]["code"], -32602, "{era:?} {unknown}");
        let bad = client.call("memo_get_memo", json!({"mem": "a"})).await;
        assert_eq!(bad["isError"], true, "{era:?} {bad}");
        assert!(bad.get("structuredContent").is_none(), "{bad}");
        let text = bad["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("`mem`") && text.contains("`memo`"), "{text}");
    }
}

#[tokio::test]
async fn no_other_path_answers() {
    let server = server().await;
    for path in ["/", "/mcp/", "/mcp/tools", "/sse", "/.well-known/oauth-protected-resource"] {
        assert_eq!(Client::get(server.address, path).await.status(), 404, "{path}");
    }
    assert_eq!(Client::get(server.address, "/mcp").await.status(), 405);
}
