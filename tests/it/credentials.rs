use futures_util::future::join_all;
use http::StatusCode;
use serde_json::json;

use crate::support::{Client, Era, Recorder, Server, Workspace, upstream};

const ONE_GET: &str = r#"{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/x":{"get":{"operationId":"NAME",
    "parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}"#;

#[tokio::test]
async fn the_tokens_of_interleaved_callers_reach_the_upstream_unmixed() {
    let echo = Recorder::new(|seen| {
        let token = seen.header("authorization").unwrap_or("none");
        upstream::json(json!({"sent": token, "query": seen.uri.query()}).to_string())
    });
    let workspace = Workspace::new(&ONE_GET.replace("NAME", "echo"), "tools: [echo]\n");
    let server = workspace.serve(&echo).await;
    for era in Era::ALL {
        let mut clients = Vec::new();
        for caller in 0..4 {
            let token = format!("Bearer secret-{caller}");
            clients.push(
                Client::connect_with(server.address, era, &[("authorization", &token)]).await,
            );
        }
        let calls = (0..40).map(|n| {
            let client = clients[n % 4].clone();
            async move { (n, client.call("echo", json!({"q": n.to_string()})).await) }
        });
        for (n, result) in join_all(calls).await {
            assert_eq!(result["structuredContent"]["query"], format!("q={n}"), "{result}");
        }
    }
    for seen in echo.seen() {
        let n: usize = seen.uri.query().unwrap().strip_prefix("q=").unwrap().parse().unwrap();
        assert_eq!(seen.header("authorization"), Some(format!("Bearer secret-{}", n % 4).as_str()));
        assert_eq!(seen.header("cookie"), None);
    }
}

#[tokio::test]
async fn with_two_origins_neither_upstream_gets_the_token() {
    let (one, two) = (Recorder::json("{}"), Recorder::json("{}"));
    let workspace = Workspace::new(&ONE_GET.replace("NAME", "one"), "");
    workspace.write("two.yaml", &ONE_GET.replace("NAME", "two"));
    let allowlist = |document: &str, origin, tool: &str| {
        format!("document: ../{document}\nupstream: http://{origin}\ntools: [{tool}]\n")
    };
    workspace.write("allowlists/api.yaml", &allowlist("openapi.yaml", one.listen().await, "one"));
    workspace.write("allowlists/two.yaml", &allowlist("two.yaml", two.listen().await, "two"));
    let gateway =
        toolgate::Gateway::builder().allowlists(workspace.path("allowlists")).start().unwrap();
    let server = Server::start(gateway).await;
    let client =
        Client::connect_with(server.address, Era::Modern, &[("authorization", "Bearer x")]).await;
    client.call("one", json!({})).await;
    client.call("two", json!({})).await;
    assert_eq!(one.take().header("authorization"), None);
    assert_eq!(two.take().header("authorization"), None);

    workspace.replace(
        "allowlists/two.yaml",
        &format!("forward: [authorization]\n{}", workspace.read("allowlists/two.yaml")),
    );
    crate::support::eventually("the second toolset to forward", || async {
        client.call("two", json!({})).await;
        (two.take().header("authorization") == Some("Bearer x")).then_some(())
    })
    .await;
    client.call("one", json!({})).await;
    assert_eq!(one.take().header("authorization"), None);
}

#[tokio::test]
async fn only_forwarded_headers_go_along_and_configured_ones_stay_hidden() {
    let recorder = Recorder::json("{}");
    let workspace = Workspace::new(
        &ONE_GET.replace("NAME", "echo"),
        "headers: { X-Api-Key: configured-secret }\nforward: [authorization, x-tenant]\ntools: [echo]\n",
    );
    let server = workspace.serve(&recorder).await;
    let headers =
        [("authorization", "Bearer a"), ("x-tenant", "t1"), ("x-other", "no"), ("cookie", "a=b")];
    let client = Client::connect_with(server.address, Era::Modern, &headers).await;
    client.call("echo", json!({})).await;
    let seen = recorder.take();
    assert_eq!(seen.header("x-api-key"), Some("configured-secret"));
    assert_eq!(seen.header("x-tenant"), Some("t1"));
    assert_eq!((seen.header("x-other"), seen.header("cookie")), (None, None));
    assert!(!format!("{:?}", client.list().await).contains("configured-secret"));
}

#[tokio::test]
async fn what_an_upstream_echoes_of_a_credential_is_blanked() {
    let recorder = Recorder::new(|seen| {
        let token = seen.header("authorization").unwrap();
        upstream::reply(
            403,
            "application/json",
            json!({"message": format!("bad credential {token}")}).to_string(),
        )
    });
    let server =
        Workspace::new(&ONE_GET.replace("NAME", "echo"), "tools: [echo]\n").serve(&recorder).await;
    let client = Client::connect_with(
        server.address,
        Era::Modern,
        &[("authorization", "Bearer planted-4711")],
    )
    .await;
    let result = client.call("echo", json!({})).await;
    assert!(!result.to_string().contains("planted-4711"), "{result}");
    assert!(result.to_string().contains("bad credential"), "{result}");
}

#[tokio::test]
async fn a_foreign_origin_is_refused_and_a_local_or_absent_one_passes() {
    let server = Workspace::new(&ONE_GET.replace("NAME", "echo"), "tools: [echo]\n")
        .serve(&Recorder::json("{}"))
        .await;
    let local = format!("http://{}", server.address);
    let foreign = ["https://evil.test", "null", "http://127.0.0.1:1", "http://localhost.evil.test"];
    for (origin, status) in
        foreign.into_iter().map(|origin| (origin, 403)).chain([(local.as_str(), 200), ("", 200)])
    {
        let reply = Client::discover(server.address, origin).await;
        assert_eq!(reply.0, StatusCode::from_u16(status).unwrap(), "{origin:?}: {}", reply.1);
        assert_eq!(reply.1.contains("--public-url"), status == 403, "{}", reply.1);
    }
}
