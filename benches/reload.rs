//! What a save costs: from the last byte written to list_changed in a client's hands, taken apart.
//!
//! One run prints all of it, so that the parts can be compared: the wait for quiet (a setting), the build
//! (measured alone, on the same inputs), and the rest, which is what toolgate adds: hearing of the save,
//! reading, judging, swapping, telling. Then what calls take with nothing else going on, and while
//! versions are swapped. Run with `cargo bench --bench reload`; under `cargo test` it is short.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench that panics says what went wrong"
)]

use std::{
    convert::Infallible,
    env, fs,
    hint::black_box,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use toolgate::{
    Gateway,
    config::{Inputs, Override, Policy},
    gateway, snapshot,
};
use tower::service_fn;

/// What the command line waits for without a change.
const QUIET: Duration = Duration::from_millis(100);

type Http = Client<HttpConnector, Full<Bytes>>;

/// The memo document and allowlist, in a folder of their own.
struct Files {
    folder: tempfile::TempDir,
    document: String,
}

impl Files {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let document = fs::read_to_string(root.join("spec/openapi.yaml")).unwrap();
        fs::write(folder.path().join("openapi.yaml"), &document).unwrap();
        fs::create_dir(folder.path().join("allowlists")).unwrap();
        let allowlist = fs::read_to_string(root.join("allowlists/memos.yaml")).unwrap();
        fs::write(folder.path().join("allowlists/memos.yaml"), allowlist).unwrap();
        Self { folder, document }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Renames over a version that shows in a tool's text.
    fn save(&self, version: usize) {
        let text = self.document.replace(SHOWN, &format!("Version {version}. {SHOWN}"));
        assert_ne!(text, self.document);
        fs::write(self.path("next"), text).unwrap();
        fs::rename(self.path("next"), self.path("openapi.yaml")).unwrap();
    }

    fn inputs(&self) -> Inputs {
        let document = self.path("openapi.yaml").display().to_string();
        Inputs {
            allowlists: Some(self.path("allowlists")),
            documents: vec![Override { toolset: None, value: document }],
            in_process: true,
            ..Inputs::new(Policy::Strict)
        }
    }

    /// What a build of what stands there takes.
    fn build(&self) -> Duration {
        let timed = |sources: &_| {
            let start = Instant::now();
            black_box(snapshot::build(sources, None));
            start.elapsed()
        };
        gateway::inspect(self.inputs(), timed).unwrap()
    }
}

/// Stands in the description of a tool.
const SHOWN: &str = "Lists attachments of all memos";

/// A modern client, which needs no session.
#[derive(Clone)]
struct Peer {
    http: Http,
    address: SocketAddr,
}

impl Peer {
    fn new(address: SocketAddr) -> Self {
        Self { http: Client::builder(TokioExecutor::new()).build_http(), address }
    }

    async fn ask(&self, method: &str, name: &str, mut params: Value) -> Response<Incoming> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = Request::post(format!("http://{}/mcp", self.address))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if !name.is_empty() {
            request = request.header("mcp-name", name);
        }
        let request = request.body(Full::new(message.to_string().into())).unwrap();
        self.http.request(request).await.unwrap()
    }

    async fn call(&self) -> Duration {
        let start = Instant::now();
        let reply = self.ask("tools/call", CALLED, json!({"name": CALLED, "arguments": {}})).await;
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("structuredContent"), "{body:?}");
        start.elapsed()
    }

    /// Hears list_changed.
    async fn listen(&self) -> Incoming {
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        let mut body = self.ask("subscriptions/listen", "", wanted).await.into_body();
        heard(&mut body, "acknowledged").await;
        body
    }
}

/// A tool without required arguments.
const CALLED: &str = "memo_list_memos";

/// Waits for an event that holds `words`.
async fn heard(body: &mut Incoming, words: &str) {
    loop {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap_or_default();
        if String::from_utf8_lossy(&frame).contains(words) {
            return;
        }
    }
}

fn at(times: &mut [Duration], hundredth: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * hundredth / 100).min(times.len() - 1)]
}

fn print(what: &str, mut times: Vec<Duration>) {
    let [half, most] = [50, 99].map(|hundredth| at(&mut times, hundredth).as_secs_f64() * 1e3);
    println!("{what:42} p50 {half:8.2} ms   p99 {most:8.2} ms   ({} times)", times.len());
}

/// Saves, and takes apart what each took.
async fn saves(files: &Files, peer: &Peer, many: usize) {
    let mut body = peer.listen().await;
    let (mut whole, mut builds, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for version in 1..=many {
        let start = Instant::now();
        files.save(version);
        heard(&mut body, "list_changed").await;
        whole.push(start.elapsed());
        let build = files.build();
        builds.push(build);
        rest.push(whole[version - 1].saturating_sub(QUIET + build));
    }
    print("save to list_changed received", whole);
    print("  the wait for quiet (a setting)", vec![QUIET]);
    print("  the build, alone", builds);
    print("  the rest", rest);
}

/// What calls take until told to stop.
async fn calls(peer: Peer, done: Arc<AtomicBool>) -> Vec<Duration> {
    let mut times = Vec::new();
    while !done.load(Ordering::Relaxed) {
        times.push(peer.call().await);
    }
    times
}

/// Four clients call for a while; `meanwhile` makes the while.
async fn load(peer: &Peer, meanwhile: impl Future<Output = ()>) -> Vec<Duration> {
    let done = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> =
        (0..4).map(|_| tokio::spawn(calls(Peer::new(peer.address), Arc::clone(&done)))).collect();
    meanwhile.await;
    done.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await.unwrap());
    }
    times
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let many = if env::args().any(|word| word == "--bench") { 100 } else { 3 };
    let files = Files::new();
    let service = service_fn(|_: Request<Full<Bytes>>| async {
        let reply = Response::builder().header("content-type", "application/json");
        Ok::<_, Infallible>(reply.body(Full::new(Bytes::from_static(b"{}"))).unwrap())
    });
    let gateway = Gateway::builder()
        .document(files.path("openapi.yaml"))
        .allowlists(files.path("allowlists"))
        .service(service)
        .quiet(QUIET)
        .start()
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let peer = Peer::new(listener.local_addr().unwrap());
    tokio::spawn(gateway.serve(listener, std::future::pending()));
    saves(&files, &peer, many).await;
    let while_idle = tokio::time::sleep(QUIET * many as u32);
    print("a call, nothing else going on", load(&peer, while_idle).await);
    let mut body = peer.listen().await;
    let swaps = async {
        for version in 1..=many {
            files.save(1_000 + version);
            heard(&mut body, "list_changed").await;
        }
    };
    print("a call, while versions are swapped", load(&peer, swaps).await);
}
