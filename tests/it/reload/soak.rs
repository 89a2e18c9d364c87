//! The long mix: random saves, calls, sessions and listeners at once, for as long as one likes.
//!
//! What must hold: nothing grows, every listener that stays hears of every rest, nothing is answered that
//! is not a whole version, and the last content is live in the end.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{sync::mpsc::UnboundedReceiver, task::JoinHandle, time};

use super::{
    many,
    random::Random,
    scene::Files,
    versions::{OPERATIONS, document, shown_list},
};
use crate::support::{Client, Era, Lines, Server, eventually};

/// What all tasks share.
#[derive(Default)]
struct Mix {
    done: AtomicBool,
    calls: AtomicU64,
    sessions: AtomicU64,
    listeners: AtomicU64,
}

impl Mix {
    fn goes_on(&self) -> bool {
        !self.done.load(Ordering::Relaxed)
    }
}

/// Descriptors and threads of this process, and its resident kilobytes.
fn used() -> (usize, usize, usize) {
    let count = |folder: &str| fs::read_dir(folder).unwrap().count();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes = resident.split_whitespace().next().unwrap().parse().unwrap();
    (count("/proc/self/fd"), count("/proc/self/task"), kilobytes)
}

/// Lists and calls; each list is whole.
async fn call(server: std::net::SocketAddr, era: Era, mix: Arc<Mix>) {
    let client = Client::connect(server, era).await;
    while mix.goes_on() {
        let shown = shown_list(&client.list().await);
        assert!(!shown.contains('+') && shown.ends_with(&format!("*{OPERATIONS}")), "{shown}");
        client.request("tools/call", json!({"name": "op3", "arguments": {}})).await;
        mix.calls.fetch_add(1, Ordering::Relaxed);
        time::sleep(Duration::from_millis(20)).await;
    }
}

/// Sessions and listeners that come and go, some in the middle of what they hear.
async fn visit(server: std::net::SocketAddr, mut random: Random, mix: Arc<Mix>) {
    while mix.goes_on() {
        let era = Era::ALL[random.below(3) as usize];
        let client = Client::connect(server, era).await;
        mix.sessions.fetch_add(1, Ordering::Relaxed);
        if random.below(2) == 0 {
            let mut notices = client.listen().await;
            mix.listeners.fetch_add(1, Ordering::Relaxed);
            let patience = Duration::from_millis(random.below(2_000));
            let _ = time::timeout(patience, notices.recv()).await;
        }
        client.list().await;
        // Most say goodbye; who does not stays until it is idle for too long.
        if random.below(20) > 0 {
            client.end().await;
        }
        time::sleep(Duration::from_millis(100 + random.below(400))).await;
    }
}

/// Listeners that stay until the end.
struct Stayers {
    clients: Vec<(Client, UnboundedReceiver<Value>)>,
    lines: Vec<(Lines, UnboundedReceiver<Value>)>,
}

impl Stayers {
    async fn new(server: &Server) -> Self {
        let mut stayers = Self { clients: Vec::new(), lines: Vec::new() };
        for era in Era::ALL {
            let client = Client::connect(server.address, era).await;
            let notices = client.listen().await;
            stayers.clients.push((client, notices));
        }
        for era in [Era::Legacy("2025-11-25"), Era::Modern] {
            stayers.lines.push(Lines::connect(&server.gateway, era).await);
        }
        stayers
    }

    /// Each has heard something since the last time, and lists what is live.
    async fn heard(&mut self, live: &str) {
        let clients = self.clients.iter_mut().map(|(_, notices)| notices);
        for notices in clients.chain(self.lines.iter_mut().map(|(_, notices)| notices)) {
            let first = time::timeout(Duration::from_secs(20), notices.recv()).await;
            first.expect("a listener is stuck").expect("a listener was dropped");
            while notices.try_recv().is_ok() {}
        }
        for (client, _) in &self.clients {
            assert_eq!(shown_list(&client.list().await), live);
        }
        for (lines, _) in &self.lines {
            let message = lines.request("tools/list", json!({})).await;
            assert_eq!(shown_list(message["result"]["tools"].as_array().unwrap()), live);
        }
    }
}

/// Ten random saves, the last of them sound; what is live after them.
async fn save(files: &Files, random: &mut Random, version: &mut u32) -> String {
    for left in (0..10).rev() {
        *version += 1;
        let text = document(*version);
        let text = match random.below(4) {
            0 if left > 0 => format!("{}\n[", &text[..text.len() / 3]),
            _ => text,
        };
        if random.below(2) == 0 {
            files.write("spec/api.yaml", text);
        } else {
            files.replace("spec/api.yaml", text);
        }
        time::sleep(Duration::from_millis(random.below(200))).await;
    }
    format!("{version}*{OPERATIONS}")
}

fn busy(server: &Server, mix: &Arc<Mix>) -> Vec<JoinHandle<()>> {
    let callers = Era::ALL.map(|era| tokio::spawn(call(server.address, era, Arc::clone(mix))));
    let visitors =
        (0..4).map(|seed| tokio::spawn(visit(server.address, Random::new(seed), Arc::clone(mix))));
    callers.into_iter().chain(visitors).collect()
}

/// `TOOLGATE_SOAK` is for how many seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_mix_of_everything_grows_nothing_and_ends_at_the_last_save() {
    let (seconds, start) = (many("TOOLGATE_SOAK", 6), Instant::now());
    let files = Files::new();
    let gateway = files.builder().quiet(Duration::from_millis(20)).start().unwrap();
    let server = Server::start(gateway).await;
    let mix = Arc::new(Mix::default());
    let tasks = busy(&server, &mix);
    let mut stayers = Stayers::new(&server).await;
    let (mut random, mut version, mut early) = (Random::new(many("TOOLGATE_SEED", 1)), 1, None);
    while start.elapsed() < Duration::from_secs(seconds) {
        let live = save(&files, &mut random, &mut version).await;
        eventually("the last save", || async {
            let snapshot = server.gateway.snapshot().unwrap();
            let tools: Vec<_> =
                snapshot.tools().map(|(_, tool)| Value::Object(tool.listed.clone())).collect();
            (shown_list(&tools) == live).then_some(())
        })
        .await;
        stayers.heard(&live).await;
        if early.is_none() && start.elapsed() * 4 > Duration::from_secs(seconds) {
            early = Some(used());
        }
        assert!(tasks.iter().all(|task| !task.is_finished()), "a task failed");
    }
    let late = used();
    mix.done.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    let [calls, sessions, listeners] =
        [&mix.calls, &mix.sessions, &mix.listeners].map(|counter| counter.load(Ordering::Relaxed));
    let swaps = server.gateway.status().counts.swaps;
    println!("{swaps} swaps, {calls} calls, {sessions} sessions, {listeners} listeners");
    let early = early.unwrap();
    println!("descriptors, threads, resident kilobytes: {early:?} early, {late:?} in the end");
    assert!(late.0 < early.0 + 100 && late.1 < early.1 + 20, "{early:?} {late:?}");
    // The allocator keeps what it had at the busiest moment; a leak of a snapshot a swap is far more.
    assert!(late.2 < early.2 + early.2 / 2 + 64_000, "{early:?} {late:?}");
    eventually("no old snapshot", || async {
        (server.gateway.snapshots_alive() == 1).then_some(())
    })
    .await;
}
