//! Real documents cut at many places: whatever stands there, only whole versions are served.
//!
//! Everything is allowed by a pattern and forgiven, so that a cut that is sound by itself is caught by
//! nothing but what toolgate knows of the version before.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use toolgate::{Gateway, config::Policy};

use super::{
    many,
    scene::{CEILING, sleep},
};
use crate::support::{Recorder, specs};

/// Long enough to be read while it stands.
const STANDS: u64 = 300;

/// The memo document, and two real ones where they are, else two of this repository.
fn documents() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = vec![own.join("spec/openapi.yaml")];
    match specs::real() {
        Some(folder) => {
            documents.extend(["memos.yaml", "museum.yaml"].map(|name| folder.join(name)))
        }
        None => documents.extend(
            specs::files()
                .into_iter()
                .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
                .take(2),
        ),
    }
    documents
}

/// The same document with every operation called differently.
fn renamed(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("operationId: ") {
        Some((before, id)) => {
            format!("{before}operationId: Other{}\n", id.trim_matches(['\'', '"']))
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A place a cut, spread evenly, each at the beginning of a character.
fn places(text: &str, cuts: usize) -> impl Iterator<Item = usize> + '_ {
    (0..cuts).map(move |n| boundary(text, text.len() * (2 * n + 1) / (2 * cuts)))
}

/// The last beginning of a character up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap()
}

/// What came of the cuts, in words.
type Tally = BTreeMap<&'static str, usize>;

fn sweep(document: &Path, cuts: usize) -> Tally {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.yaml");
    let first = fs::read_to_string(document).unwrap();
    let versions = [first.clone(), renamed(&first)];
    fs::write(folder.path().join("all.yaml"), "tools: ['* /*']\n").unwrap();
    let gateway = |path: &Path| {
        let builder = Gateway::builder().allowlists(folder.path().join("all.yaml")).document(path);
        let builder = builder.service(Recorder::json("{}").router()).policy(Policy::Forgiving);
        builder.quiet(Duration::from_millis(50)).start().unwrap()
    };
    let whole = [1, 0].map(|version: usize| {
        fs::write(&path, &versions[version]).unwrap();
        *gateway(&path).snapshot().unwrap().fingerprint()
    });
    assert_ne!(whole[0], whole[1]);
    let gateway = Arc::new(gateway(&path));
    let witness = Witness::new(&gateway);
    let mut tally = Tally::new();
    for (n, place) in places(&first, cuts).enumerate() {
        let next = &versions[(n + 1) % 2];
        let place = boundary(next, place);
        *tally.entry(stand(&gateway, &path, &next[..place])).or_default() += 1;
        fs::write(&path, next).unwrap();
        // Version 0 is the second of `whole`.
        let expected = whole[n % 2];
        until(&gateway, |gateway| *gateway.snapshot().unwrap().fingerprint() == expected);
    }
    let seen = witness.seen();
    assert!(
        seen.iter().all(|seen| whole.contains(seen)),
        "{}: a part was served",
        document.display()
    );
    // The status comes a moment after the snapshot.
    until(&gateway, |gateway| gateway.status().counts.swaps == cuts as u64);
    tally
}

/// Lets a cut stand, and says what was made of it.
fn stand(gateway: &Gateway, path: &Path, cut: &str) -> &'static str {
    let passes = gateway.status().counts.passes;
    fs::write(path, cut).unwrap();
    sleep(STANDS);
    let status = gateway.status();
    if status.counts.passes == passes {
        "not read in time"
    } else if status.waiting.is_some() {
        "waited for"
    } else if status.failure.is_some() {
        "refused"
    } else {
        "under way"
    }
}

fn until(gateway: &Gateway, reached: impl Fn(&Gateway) -> bool) {
    let start = Instant::now();
    while !reached(gateway) {
        assert!(start.elapsed() < CEILING, "{:#?}", gateway.status());
        sleep(5);
    }
}

/// Fingerprints of everything that was live.
struct Witness {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Vec<[u8; 32]>>,
}

impl Witness {
    fn new(gateway: &Arc<Gateway>) -> Self {
        let (gateway, stop) = (Arc::clone(gateway), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut seen = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                seen.push(*gateway.snapshot().unwrap().fingerprint());
                seen.dedup();
                sleep(2);
            }
            seen
        });
        Self { stop, thread }
    }

    fn seen(self) -> Vec<[u8; 32]> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// `TOOLGATE_CUTS` is how many places.
#[test]
fn no_cut_of_a_real_document_is_ever_served() {
    let cuts = many("TOOLGATE_CUTS", 40);
    let sweeps: Vec<_> = documents()
        .into_iter()
        .map(|path| thread::spawn(move || (path.clone(), sweep(&path, cuts))))
        .collect();
    for sweep in sweeps {
        let (path, tally) = sweep.join().unwrap();
        println!("{}: {tally:?}", path.file_name().unwrap().display());
        let judged = cuts - tally.get("not read in time").copied().unwrap_or(0);
        assert!(judged * 2 > cuts, "most cuts are read while they stand");
    }
}
