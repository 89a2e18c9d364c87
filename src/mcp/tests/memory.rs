//! Memory over many swaps: what is alive, and what is allocated.

use std::{
    alloc::System,
    env,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use cap::Cap;
use serde_json::json;

use super::support::{Bench, Way, snapshot};
use crate::{
    config::Limits,
    snapshot::live::{Live, Status},
};

/// Counts what is allocated in the whole process, which is why the test that asks runs alone in one.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Set in the process of its own.
const ALONE: &str = "TOOLGATE_TEST_ALONE";

#[test]
fn ten_thousand_swaps_leave_one_snapshot_and_no_growth() {
    if env::var_os(ALONE).is_some() {
        return swap_ten_thousand_times();
    }
    let this = "mcp::tests::memory::ten_thousand_swaps_leave_one_snapshot_and_no_growth";
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", this, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    println!("{said}");
    assert!(child.status.success() && said.contains("bytes"), "{child:?}");
}

fn swap_ten_thousand_times() {
    let live = Live::new(Some(Arc::new(snapshot(0, &["t0"]))), 10);
    let mut changes = live.changes();
    let mut half = 0;
    for generation in 1..=10_000 {
        // Each has a tool of its own, and the one before it is removed.
        let next = snapshot(generation, &[&format!("t{generation:05}")]);
        live.publish(Arc::new(next), |_| Status::default());
        assert_eq!(*changes.borrow_and_update(), generation);
        if generation == 5_000 {
            half = ALLOCATOR.allocated();
        }
    }
    let whole = ALLOCATOR.allocated();
    println!("{half} bytes after 5,000 swaps, {whole} after 10,000");
    assert_eq!(live.alive(), 1);
    assert!(whole.abs_diff(half) * 10 < half, "{half} and {whole} bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_pinned_to_two_hundred_versions_keep_those_and_no_more() {
    let bench = Arc::new(Bench::with(Some(snapshot(1, &["t1"])), Limits::default(), &[]).await);
    let mut calls = Vec::new();
    for generation in 1..=200_u64 {
        let current = Arc::downgrade(&bench.live.load().unwrap());
        let caller = Arc::clone(&bench);
        calls.push(tokio::spawn(async move {
            let params = json!({"name": format!("t{generation}"), "arguments": {"sleep": 3_000}});
            caller.ask(Way::Modern, "tools/call", params).await
        }));
        let start = Instant::now();
        while current.strong_count() < 2 {
            assert!(start.elapsed() < Duration::from_secs(20), "the call did not begin");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        bench.publish(generation + 1, &[&format!("t{}", generation + 1)]);
        assert!(bench.live.alive() <= 202, "{}", bench.live.alive());
    }
    println!("{} alive at the most", bench.live.alive());
    assert!(bench.live.alive() > 50, "the calls did not overlap");
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    // An answer may be here a moment before its call has let go.
    let start = Instant::now();
    while bench.live.alive() > 1 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} are alive", bench.live.alive());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
