use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use toolgate::Gateway;

use crate::support::{Client, Era, Recorder, Server, eventually};

/// A dev server whose answers can be changed, and which can go away and come back at its address.
struct Api {
    address: SocketAddr,
    answer: Arc<Mutex<Option<String>>>,
}

impl Api {
    fn new(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let api = Self { address, answer: Arc::new(Mutex::new(Some(answer.to_owned()))) };
        let answer = Arc::clone(&api.answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                // While it is down, whoever connects is cut off.
                if let Some(text) = &*answer.lock().unwrap() {
                    reply(stream.unwrap(), text);
                }
            }
        });
        api
    }

    fn says(&self, answer: &str) {
        *self.answer.lock().unwrap() = Some(answer.to_owned());
    }

    fn is_down(&self) {
        *self.answer.lock().unwrap() = None;
    }

    fn url(&self) -> String {
        format!("http://{}/openapi.json", self.address)
    }
}

fn reply(mut stream: TcpStream, text: &str) {
    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    // Whoever had enough closes early.
    let _ = stream.write_all(format!("HTTP/1.1 {text}").as_bytes());
}

fn document(ids: &[&str]) -> String {
    let path = |id: &&str| {
        format!(
            r#""/{id}": {{"get": {{"operationId": "{id}", "responses": {{"204": {{"description": "ok"}}}}}}}}"#
        )
    };
    let paths = ids.iter().map(path).collect::<Vec<_>>().join(",");
    format!(
        "200 OK\r\nConnection: close\r\nETag: \"{}\"\r\n\r\n\
         {{\"openapi\": \"3.1.0\", \"info\": {{\"title\": \"t\", \"version\": \"1\"}}, \"paths\": {{{paths}}}}}",
        ids.join("-")
    )
}

async fn serve(api: &Api) -> Server {
    let builder = Gateway::builder().document(api.url()).allow("GET *");
    Server::start(builder.service(Recorder::json("{}").router()).start().unwrap()).await
}

async fn until(client: &Client, names: &[&str]) {
    eventually("the tools", || async { (client.names().await == names).then_some(()) }).await;
}

#[tokio::test]
async fn a_dev_server_that_restarts_with_another_document_changes_the_tools() {
    let api = Api::new(&document(&["one"]));
    let server = serve(&api).await;
    let client = Client::connect(server.address, Era::Modern).await;
    assert_eq!(client.names().await, ["one"]);
    let mut news = client.listen().await;
    api.is_down();
    let gateway = &server.gateway;
    let fault = eventually("the fault", || async {
        gateway.status().refusals().first().map(|refusal| refusal.diagnostics[0].to_string())
    });
    let fault = fault.await;
    assert!(fault.contains("/openapi.json: error: cannot be fetched"), "{fault}");
    assert_eq!(client.names().await, ["one"], "the last good one serves");
    api.says(&document(&["one", "two"]));
    until(&client, &["one", "two"]).await;
    assert_eq!(news.recv().await.unwrap()["method"], "notifications/tools/list_changed");
    let healed = || async { gateway.status().failure.is_none().then_some(()) };
    eventually("the status", healed).await;
    let status = gateway.status();
    let swap = status.history.swaps().next().unwrap();
    assert_eq!(swap.diff.to_string(), "1 added, 0 removed, 0 changed: +two");
    assert_eq!(swap.files, api.url());
}

#[tokio::test]
async fn answers_that_are_no_document_change_nothing() {
    let api = Api::new(&document(&["one"]));
    let server = serve(&api).await;
    let client = Client::connect(server.address, Era::Modern).await;
    let refused = |words: &'static str| {
        let status = || server.gateway.status();
        eventually(words, move || async move {
            let status = status();
            let all = status.refusals().iter().flat_map(|refusal| &refusal.diagnostics);
            all.map(ToString::to_string).any(|fault| fault.contains(words)).then_some(())
        })
    };
    let huge = format!("200 OK\r\nConnection: close\r\n\r\n{}", "x".repeat(33_000_000));
    for (answer, words) in [
        ("404 Not Found\r\nConnection: close\r\n\r\n", "answered 404 Not Found"),
        ("500 Oops\r\nConnection: close\r\n\r\n{}", "answered 500"),
        ("200 OK\r\nContent-Type: text/html\r\n\r\n<html>login</html>", "leads to no document"),
        ("200 OK\r\nConnection: close\r\n\r\n", "not an OpenAPI document; it is empty"),
        ("200 OK\r\nConnection: close\r\n\r\n{\"openapi\": \"3.1.0\"", "error"),
        ("302 Found\r\nLocation: http://127.0.0.2/\r\n\r\n", "another origin, `http://127.0.0.2`"),
        (&huge, "is over 32"),
    ] {
        api.says(answer);
        refused(words).await;
        assert_eq!(client.names().await, ["one"], "{words}");
    }
    api.says(&document(&["three"]));
    until(&client, &["three"]).await;
}
