//! The harness: a folder with a document and allowlists, an upstream that records, a gateway that
//! serves them on loopback, and a client for every way in.

pub mod client;
pub mod compile;
pub mod instance;
pub mod lines;
pub mod raw;
pub mod specs;
pub mod tls;
pub mod upstream;
pub mod workspace;

pub use client::{Client, Era};
pub use lines::Lines;
pub use upstream::Recorder;
pub use workspace::{Server, Workspace};

use std::time::{Duration, Instant};

/// The longest any test waits for something that must happen.
const CEILING: Duration = Duration::from_secs(20);

/// Asks again until `ask` has an answer.
pub async fn eventually<T, F>(what: &str, mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let start = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(start.elapsed() < CEILING, "waited {CEILING:?} for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
