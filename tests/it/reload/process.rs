//! The binary, serving a folder in a process of its own: what signals, permissions and limits do to it.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    scene::{CEILING, Files, sleep},
    versions::shown_list,
};
use crate::support::{Client, Era};

/// A running `toolgate serve`; ended when dropped.
pub struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
    address: SocketAddr,
    runtime: tokio::runtime::Runtime,
}

impl Process {
    /// Serves `spec/api.yaml` with `flags`.
    pub fn start(files: &Files, flags: &[&str]) -> Self {
        Self::start_within(&[], files, flags)
    }

    /// The same as the last words of another command, which must replace itself by it.
    pub fn start_within(command: &[&str], files: &Files, flags: &[&str]) -> Self {
        let own = [env!("CARGO_BIN_EXE_toolgate"), "serve", "--listen", "127.0.0.1:0"];
        let inputs = [
            "--document",
            "spec/api.yaml",
            "--allowlists",
            "allowlists",
            "--upstream",
            "http://127.0.0.1:9",
        ];
        let words: Vec<_> = command.iter().chain(&own).chain(&inputs).chain(flags).collect();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(files.path(""))
            .env("TOOLGATE_QUIET", "300")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn({
            let log = Arc::clone(&log);
            move || {
                for line in lines.map_while(Result::ok) {
                    log.lock().unwrap().push_str(&format!("{line}\n"));
                }
            }
        });
        let address = address(&log);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { child, log, address, runtime }
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Warnings so far that hold `words`.
    pub fn warnings(&self, words: &str) -> usize {
        let log = self.log();
        let entries = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let warnings = entries.filter(|entry| entry["level"] == "WARN");
        warnings.filter(|entry| entry["message"].as_str().unwrap().contains(words)).count()
    }

    pub fn until_logged(&self, words: &str) {
        self.until(words, |process| process.log().contains(words));
    }

    pub fn until(&self, what: &str, reached: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !reached(self) {
            assert!(start.elapsed() < CEILING, "waited for {what}:\n{}", self.log());
            sleep(20);
        }
    }

    /// What `tools/list` shows.
    pub fn live(&self) -> String {
        self.runtime.block_on(async {
            let client = Client::connect(self.address, Era::Modern).await;
            shown_list(&client.list().await)
        })
    }

    pub fn until_live(&self, expected: &str) {
        self.until(expected, |process| process.live() == expected);
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Processor time so far.
    pub fn used(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // A hundredth of a second each, on every Linux there is.
        Duration::from_millis(ticks * 10)
    }
}

fn address(log: &Mutex<String>) -> SocketAddr {
    let start = Instant::now();
    loop {
        let log = log.lock().unwrap().clone();
        let after = log.split("listening on http://").nth(1);
        if let Some((address, _)) = after.and_then(|rest| rest.split_once("/mcp")) {
            return address.parse().unwrap();
        }
        assert!(start.elapsed() < CEILING, "it did not start:\n{log}");
        sleep(20);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
