//! The loop on real files: what is live in the end, what was live on the way, and how often it swapped.
//!
//! The build is a fake that keeps every document's text, so that each snapshot shows what it was made
//! of. States are waited for, with a ceiling; no test asserts how long something took.

use std::{
    collections::BTreeMap,
    fs,
    io::{Seek, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    Facts, First, Options, Pipeline, Reloader, first,
    fixture::{inputs, refer, refusal},
};
use crate::{
    config::Inputs,
    snapshot::{
        Abandoned, Built, GoOn, Refusal, Snapshot,
        live::{Live, Stage, Status},
    },
    source::{
        Sources, ToolsetSource,
        remote::{Remote, server::Server},
        watch::{Backend, Kind},
    },
};

const CEILING: Duration = Duration::from_secs(20);

/// Long enough for whatever might still happen by mistake.
const AFTER: Duration = Duration::from_millis(500);

/// A line a toolset: its name, and the document's text or, without one, the allowlist's.
///
/// `bad` in a text refuses it, `panic` panics, `tired` takes a while, `slow` says `PATH.building` and takes
/// until its file changes.
fn build(
    sources: &Sources,
    previous: Option<&Snapshot>,
    go_on: &mut GoOn<'_>,
) -> Result<Built, Abandoned> {
    let mut kept = previous.map(lines).unwrap_or_default();
    let mut refusals = Vec::new();
    let mut next = BTreeMap::new();
    for toolset in &sources.toolsets {
        if !go_on() {
            return Err(Abandoned);
        }
        match text(toolset) {
            Ok(text) => _ = next.insert(toolset.name.clone(), text),
            Err(refusal) => {
                refusals.push(refusal);
                next.extend(kept.remove_entry(&toolset.name));
            }
        }
    }
    let generation = previous.map_or(1, |previous| previous.generation() + 1);
    let instructions: Vec<_> = next.iter().map(|(name, text)| format!("{name}={text}")).collect();
    let snapshot = Snapshot::new(generation, Vec::new(), instructions.join("\n").into());
    let nothing = next.is_empty() && !refusals.is_empty();
    Ok(Built { snapshot: (!nothing).then_some(snapshot), refusals, drafts: Vec::new() })
}

fn text(toolset: &ToolsetSource) -> Result<String, Refusal> {
    let mut text = String::new();
    for input in toolset.allowlist.iter().chain(&toolset.document) {
        let bytes =
            input.content.as_ref().map_err(|fault| refusal(&toolset.name, &fault.message))?;
        text = String::from_utf8_lossy(bytes).trim_end().to_owned();
        assert!(!text.contains("panic"), "in the build");
        if text.contains("bad") || text.is_empty() {
            return Err(refusal(&toolset.name, &text));
        }
        if text.contains("tired") {
            thread::sleep(Duration::from_millis(300));
        }
        if text.contains("slow") {
            fs::write(format!("{}.building", input.name), "").unwrap();
            while fs::read(&*input.name).is_ok_and(|now| now == text.as_bytes()) {
                thread::sleep(Duration::from_millis(5));
            }
            // Until the event of that change is here too.
            thread::sleep(Duration::from_millis(200));
        }
    }
    Ok(text)
}

fn lines(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let lines = snapshot.instructions().lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// Each word of a text is an operation; `lost` is a reference that leads nowhere.
fn facts(snapshot: &Snapshot) -> Vec<Facts> {
    let facts = |(toolset, text): (String, String)| Facts {
        toolset,
        operations: text.split_whitespace().map(ToOwned::to_owned).collect(),
        fields: BTreeMap::new(),
        dangling: text.contains("lost"),
    };
    lines(snapshot).into_iter().map(facts).collect()
}

/// Everything that was ever live, in order, seen from outside.
struct Witness {
    seen: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Witness {
    fn new(live: Arc<Live>) -> Self {
        let (seen, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (seen_there, stop_there) = (Arc::clone(&seen), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            while !stop_there.load(Ordering::Relaxed) {
                let now = live.load().map(|snapshot| snapshot.instructions().to_string());
                let mut seen = seen_there.lock().unwrap();
                if now.is_some() && seen.last() != now.as_ref() {
                    seen.extend(now);
                }
                drop(seen);
                thread::sleep(Duration::from_millis(1));
            }
        });
        Self { seen, stop, thread: Some(thread) }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(thread::JoinHandle::join);
    }
}

/// A folder, served.
struct Case {
    reloader: Option<Reloader>,
    witness: Witness,
    live: Arc<Live>,
    folder: tempfile::TempDir,
}

/// `allowlists/a.yaml` with `spec/a.txt`, which holds `one`, unless told otherwise.
fn case() -> Case {
    case_with(|_| {}, Options::default())
}

fn case_with(prepare: impl FnOnce(&Path), options: Options) -> Case {
    case_of(prepare, options, |_| {})
}

fn case_of(prepare: impl FnOnce(&Path), options: Options, flags: impl FnOnce(&mut Inputs)) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("allowlists")).unwrap();
    fs::create_dir(root.join("spec")).unwrap();
    fs::write(root.join("allowlists/a.yaml"), "document: ../spec/a.txt").unwrap();
    fs::write(root.join("spec/a.txt"), "one").unwrap();
    prepare(root);
    let mut inputs = inputs(&root.join("allowlists"));
    flags(&mut inputs);
    let pipeline = Pipeline {
        inputs: Arc::new(inputs),
        remote: Remote::default(),
        refer,
        build: Box::new(build),
        facts,
    };
    let mut first = first(&pipeline);
    let live = Arc::new(Live::new(first.snapshot.take().map(Arc::new), 10));
    let witness = Witness::new(Arc::clone(&live));
    let quiet = options.quiet.max(Duration::from_millis(150));
    let options = Options { quiet, ..options };
    let reloader = Reloader::start(pipeline, first, Arc::clone(&live), options).unwrap();
    let case = Case { reloader: Some(reloader), witness, live, folder };
    case.until("the first pass", |status| status.counts.passes > 0);
    case
}

impl Case {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Like an editor that saves beside and renames over.
    fn replace(&self, name: &str, text: &str) {
        self.write(&format!("{name}~"), text);
        fs::rename(self.path(&format!("{name}~")), self.path(name)).unwrap();
    }

    fn link(&self, target: &str, name: &str) {
        symlink(target, self.path("new-link")).unwrap();
        fs::rename(self.path("new-link"), self.path(name)).unwrap();
    }

    fn text(&self) -> String {
        self.live.load().map(|snapshot| snapshot.instructions().to_string()).unwrap_or_default()
    }

    fn until(&self, what: &str, reached: impl Fn(&Status) -> bool) {
        let start = Instant::now();
        while !reached(&self.live.status()) {
            let status = self.live.status();
            assert!(start.elapsed() < CEILING, "{what}: {} / {status:#?}", self.text());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn until_live(&self, text: &str) {
        self.until(text, |_| self.text() == text);
    }

    fn until_refused(&self, words: &str) {
        self.until(words, |status| {
            let refusals = status.failure.iter().flat_map(|failure| failure.refusals.iter());
            let mut diagnostics = refusals.flat_map(|refusal| &refusal.diagnostics);
            diagnostics.any(|diagnostic| diagnostic.message.contains(words))
        });
    }

    /// Copied, so that no failing assertion holds the lock.
    fn seen(&self) -> Vec<String> {
        self.witness.seen.lock().unwrap().clone()
    }

    fn swaps(&self) -> u64 {
        self.live.status().counts.swaps
    }

    /// What was ever live, and nothing since.
    fn check(&self, seen: &[&str]) {
        thread::sleep(AFTER);
        assert_eq!(self.seen(), seen);
        let status = self.live.status();
        assert_eq!(status.counts.swaps, seen.len() as u64 - 1, "{status:#?}");
        assert!(status.failure.is_none(), "{status:#?}");
    }

    /// `change` never becomes visible.
    fn check_nothing(&self, change: impl FnOnce(&Self)) {
        let before = self.live.status().counts.swaps;
        change(self);
        thread::sleep(AFTER);
        let status = self.live.status();
        assert_eq!(status.counts.swaps, before);
        assert!(status.failure.is_none(), "{status:#?}");
    }
}

#[test]
fn a_file_renamed_over_is_served_time_after_time() {
    let case = case();
    for text in ["two", "three", "four"] {
        case.replace("spec/a.txt", text);
        case.until_live(&format!("a={text}"));
    }
    case.check(&["a=one", "a=two", "a=three", "a=four"]);
}

#[test]
fn a_file_written_in_place_is_served() {
    let case = case();
    case.write("spec/a.txt", "one two");
    case.until_live("a=one two");
    case.check(&["a=one", "a=one two"]);
}

#[test]
fn a_file_written_in_slow_chunks_is_served_whole_only() {
    let case = case();
    let mut file = fs::File::create(case.path("spec/a.txt")).unwrap();
    for chunk in ["one ", "two ", "three ", "four"] {
        file.write_all(chunk.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(400));
    }
    drop(file);
    case.until_live("a=one two three four");
    case.check(&["a=one", "a=one two three four"]);
}

#[test]
fn an_unchanged_save_or_a_revert_swaps_nothing() {
    let case = case();
    case.check_nothing(|case| case.write("spec/a.txt", "one"));
    case.check_nothing(|case| case.replace("spec/a.txt", "one"));
    case.check_nothing(|case| {
        // Held open, so that no pause between the two lets the loop read.
        let mut file = fs::File::create(case.path("spec/a.txt")).unwrap();
        file.write_all(b"two").unwrap();
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(b"one").unwrap();
    });
    case.check_nothing(|case| {
        let file = fs::File::options().write(true).open(case.path("spec/a.txt")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    });
    let counts = case.live.status().counts;
    assert!(counts.passes > 1, "they were looked at");
    assert_eq!(counts.builds, 0);
}

#[test]
fn the_own_reads_wake_nobody() {
    let case = case();
    case.write("spec/a.txt", "two");
    case.until_live("a=two");
    thread::sleep(AFTER);
    let passes = case.live.status().counts.passes;
    thread::sleep(Duration::from_secs(3));
    assert_eq!(case.live.status().counts.passes, passes);
}

#[test]
fn what_editors_leave_beside_and_logs_wake_nobody() {
    let case = case();
    thread::sleep(AFTER);
    let passes = case.live.status().counts.passes;
    let names = [".a.yaml.swp", "4913", "a.yaml~", "#a.yaml#", ".#a.yaml", "a.yaml.tmp", "a.bak"];
    for name in names {
        case.write(&format!("allowlists/{name}"), "bad");
        fs::remove_file(case.path(&format!("allowlists/{name}"))).unwrap();
    }
    for line in 0..1_000 {
        case.write("spec/server.log", &line.to_string());
    }
    thread::sleep(AFTER);
    assert_eq!(case.live.status().counts.passes, passes);
}

#[test]
fn a_bad_save_changes_nothing_and_heals() {
    let case = case();
    case.write("spec/a.txt", "bad");
    case.until_refused("bad");
    assert_eq!(case.text(), "a=one");
    let failure = case.live.status().failure.clone().unwrap();
    assert_eq!((failure.stage, failure.refusals.len()), (Stage::Build, 1));
    thread::sleep(Duration::from_secs(3));
    assert_eq!(case.live.status().counts.builds, 1, "what was refused is not built again");
    case.write("spec/a.txt", "one two");
    case.until_live("a=one two");
    case.check(&["a=one", "a=one two"]);
}

#[test]
fn a_bad_save_that_is_reverted_clears_the_failure_without_a_swap() {
    let case = case();
    case.write("spec/a.txt", "bad");
    case.until_refused("bad");
    case.write("spec/a.txt", "one");
    case.until("healed", |status| status.failure.is_none());
    case.check(&["a=one"]);
}

#[test]
fn an_empty_file_is_refused() {
    let case = case();
    case.write("spec/a.txt", "");
    case.until("refused", |status| status.failure.is_some());
    assert_eq!(case.text(), "a=one");
}

#[test]
fn the_last_change_of_a_burst_wins() {
    let case = case();
    for number in 0..200 {
        case.write("spec/a.txt", if number % 2 == 0 { "bad" } else { "one burst" });
        thread::sleep(Duration::from_millis(2));
    }
    case.replace("spec/a.txt", "last");
    case.until_live("a=last");
    assert!(case.swaps() <= 2, "{:?}", case.seen());
}

#[test]
fn document_and_allowlist_a_moment_apart_swap_once() {
    let case = case();
    case.write("spec/b.txt", "b");
    case.write("spec/a.txt", "bad");
    thread::sleep(Duration::from_millis(50));
    case.write("allowlists/a.yaml", "document: ../spec/b.txt");
    case.until_live("a=b");
    case.check(&["a=one", "a=b"]);
}

#[test]
fn a_file_deleted_and_made_again_at_once_is_one_swap() {
    let case = case();
    fs::remove_file(case.path("spec/a.txt")).unwrap();
    thread::sleep(Duration::from_millis(50));
    case.write("spec/a.txt", "one two");
    case.until_live("a=one two");
    case.check(&["a=one", "a=one two"]);
}

#[test]
fn a_file_missing_for_long_is_refused_and_heals() {
    let case = case();
    fs::remove_file(case.path("spec/a.txt")).unwrap();
    case.until_refused("does not exist");
    assert_eq!(case.live.status().failure.as_ref().unwrap().stage, Stage::Read);
    assert_eq!(case.text(), "a=one");
    case.write("spec/a.txt", "one two");
    case.until_live("a=one two");
    case.check(&["a=one", "a=one two"]);
}

#[test]
fn a_folder_deleted_and_made_again_heals_and_is_watched_again() {
    let case = case();
    let mut seen = vec!["a=one".to_owned()];
    for cycle in 0..3 {
        fs::remove_dir_all(case.path("spec")).unwrap();
        case.until_refused("does not exist");
        fs::create_dir(case.path("spec")).unwrap();
        thread::sleep(Duration::from_millis(200));
        for step in ["made", "edited"] {
            let text = format!("one {step}{cycle}");
            case.replace("spec/a.txt", &text);
            seen.push(format!("a={text}"));
            case.until_live(seen.last().unwrap());
        }
    }
    case.check(&seen.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(case.live.status().counts.missed, 0);
}

#[test]
fn a_folder_swapped_for_another_is_served() {
    let case = case();
    fs::create_dir(case.path("next")).unwrap();
    case.write("next/a.txt", "two");
    fs::rename(case.path("spec"), case.path("old")).unwrap();
    fs::rename(case.path("next"), case.path("spec")).unwrap();
    case.until_live("a=two");
    case.replace("spec/a.txt", "three");
    case.until_live("a=three");
    case.check(&["a=one", "a=two", "a=three"]);
}

#[test]
fn a_grandparent_moved_away_and_back_heals() {
    let case = case_with(
        |root| {
            fs::create_dir_all(root.join("deep/er/est")).unwrap();
            fs::write(root.join("deep/er/est/d.txt"), "d").unwrap();
            fs::write(root.join("allowlists/a.yaml"), "document: ../deep/er/est/d.txt").unwrap();
        },
        Options::default(),
    );
    fs::rename(case.path("deep"), case.path("away")).unwrap();
    case.until_refused("does not exist");
    fs::rename(case.path("away"), case.path("deep")).unwrap();
    case.until("healed", |status| status.failure.is_none());
    case.replace("deep/er/est/d.txt", "dd");
    case.until_live("a=dd");
    case.check(&["a=d", "a=dd"]);
}

#[test]
fn a_link_swapped_to_another_release_is_one_swap() {
    let release = |root: &Path, name: &str, text: &str| {
        fs::create_dir_all(root.join(name).join("allowlists")).unwrap();
        fs::write(root.join(name).join("allowlists/a.yaml"), "document: ../a.txt").unwrap();
        fs::write(root.join(name).join("a.txt"), text).unwrap();
    };
    let case = case_of(
        |root| {
            release(root, "1", "first");
            release(root, "2", "second");
            symlink("1", root.join("current")).unwrap();
        },
        Options::default(),
        |inputs| {
            inputs.allowlists = inputs
                .allowlists
                .take()
                .map(|path| path.with_file_name("current").join("allowlists"))
        },
    );
    case.link("2", "current");
    case.until_live("a=second");
    case.replace("2/a.txt", "third");
    case.until_live("a=third");
    case.check(&["a=first", "a=second", "a=third"]);
}

#[test]
fn mounted_configuration_is_served_after_each_swap_of_its_link() {
    let case = case_with(
        |root| {
            for (version, text) in [("..1", "first"), ("..2", "second"), ("..3", "third")] {
                fs::create_dir(root.join("allowlists").join(version)).unwrap();
                fs::write(root.join("allowlists").join(version).join("a.yaml"), text).unwrap();
            }
            fs::remove_file(root.join("allowlists/a.yaml")).unwrap();
            symlink("..1", root.join("allowlists/..data")).unwrap();
            symlink("..data/a.yaml", root.join("allowlists/a.yaml")).unwrap();
        },
        Options::default(),
    );
    for (version, text) in [("..2", "a=second"), ("..3", "a=third")] {
        case.link(version, "allowlists/..data");
        case.until_live(text);
    }
    case.check(&["a=first", "a=second", "a=third"]);
}

#[test]
fn the_target_of_a_link_is_watched_too() {
    let case = case();
    case.write("real.txt", "real");
    case.link("../real.txt", "spec/a.txt");
    case.until_live("a=real");
    case.write("real.txt", "real edited");
    case.until_live("a=real edited");
    case.check(&["a=one", "a=real", "a=real edited"]);
}

#[test]
fn what_is_no_file_is_refused_by_name_and_heals() {
    let case = case();
    let path = case.path("spec/a.txt");
    fn fifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    type Make = fn(&Path);
    let makes: [(&str, Make); 4] = [
        ("is a folder, not a file", |path| fs::create_dir(path).unwrap()),
        ("is a pipe, not a file", fifo),
        ("is a link that leads back to itself", |path| symlink("a.txt", path).unwrap()),
        ("is a device, not a file", |path| symlink("/dev/zero", path).unwrap()),
    ];
    for (words, make) in makes {
        fs::rename(&path, case.path("aside")).unwrap();
        make(&path);
        case.until_refused(words);
        assert_eq!(case.text(), "a=one");
        let removed = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        removed.unwrap();
        fs::rename(case.path("aside"), &path).unwrap();
        case.until("healed", |status| status.failure.is_none());
    }
    case.check(&["a=one"]);
}

#[test]
fn a_file_over_the_limit_is_refused_once_however_it_grows() {
    let case = case_of(|_| {}, Options::default(), |inputs| inputs.limits.document = 1_000);
    for size in [2_000, 3_000, 4_000] {
        case.write("spec/a.txt", &"x".repeat(size));
        case.until_refused("is over 1000 bytes");
        thread::sleep(AFTER);
    }
    assert_eq!(case.live.status().counts.refused, 1);
    case.replace("spec/a.txt", "two");
    case.until_live("a=two");
}

#[test]
fn one_toolset_is_refused_while_another_moves_on() {
    let case = case_with(
        |root| fs::write(root.join("allowlists/b.yaml"), "b").unwrap(),
        Options::default(),
    );
    case.write("spec/a.txt", "bad");
    case.write("allowlists/b.yaml", "b2");
    case.until_live("a=one\nb=b2");
    case.until_refused("bad");
    let failure = case.live.status().failure.clone().unwrap();
    assert_eq!(failure.refusals[0].toolset, "a");
    case.write("spec/a.txt", "one");
    case.until("healed", |status| status.failure.is_none());
    case.check(&["a=one\nb=b", "a=one\nb=b2"]);
}

#[test]
fn a_broken_link_beside_good_allowlists_hurts_nobody() {
    let case = case();
    symlink("/nowhere", case.path("allowlists/old.yaml")).unwrap();
    case.until_refused("is a link to `/nowhere`");
    case.replace("spec/a.txt", "two");
    case.until_live("a=two");
    fs::remove_file(case.path("allowlists/old.yaml")).unwrap();
    case.until("healed", |status| status.failure.is_none());
    case.check(&["a=one", "a=two"]);
}

#[test]
fn allowlists_come_move_and_go() {
    let case = case();
    case.write("allowlists/b.yaml", "b");
    case.until_live("a=one\nb=b");
    fs::rename(case.path("allowlists/b.yaml"), case.path("allowlists/c.yml")).unwrap();
    case.until_live("a=one\nc=b");
    fs::remove_file(case.path("allowlists/c.yml")).unwrap();
    case.until("waiting", |status| status.waiting.is_some());
    case.until_live("a=one");
    case.check(&["a=one", "a=one\nb=b", "a=one\nc=b", "a=one"]);
    assert!(case.live.status().waiting.is_none());
}

#[test]
fn an_allowlist_that_came_back_is_waited_for_again() {
    let case = case_with(
        |root| fs::write(root.join("allowlists/b.yaml"), "b").unwrap(),
        Options::default(),
    );
    for _ in 0..2 {
        fs::remove_file(case.path("allowlists/b.yaml")).unwrap();
        case.until("waiting", |status| status.waiting.is_some());
        case.write("allowlists/b.yaml", "b");
        case.until("back", |status| status.waiting.is_none());
        thread::sleep(Duration::from_millis(1_200));
    }
    case.check(&["a=one\nb=b"]);
}

#[test]
fn an_edit_through_another_name_of_the_file_is_heard() {
    let case = case_with(
        |root| {
            fs::create_dir(root.join("elsewhere")).unwrap();
            fs::hard_link(root.join("spec/a.txt"), root.join("elsewhere/a.txt")).unwrap();
        },
        Options::default(),
    );
    case.write("elsewhere/a.txt", "one two");
    case.until_live("a=one two");
    case.check(&["a=one", "a=one two"]);
    assert_eq!(case.live.status().counts.missed, 0);
}

#[test]
fn a_folder_of_allowlists_written_anew_loses_nothing_on_the_way() {
    let case = case_with(
        |root| {
            for name in ["b", "c"] {
                fs::write(root.join(format!("allowlists/{name}.yaml")), name).unwrap();
            }
        },
        Options::default(),
    );
    fs::remove_dir_all(case.path("allowlists")).unwrap();
    case.until_refused("the folder does not exist");
    fs::create_dir(case.path("allowlists")).unwrap();
    for (name, text) in [("a", "new"), ("b", "b"), ("c", "c")] {
        thread::sleep(Duration::from_millis(400));
        case.replace(&format!("allowlists/{name}.yaml"), text);
    }
    case.until_live("a=new\nb=b\nc=c");
    case.check(&["a=one\nb=b\nc=c", "a=new\nb=b\nc=c"]);
}

#[test]
fn the_last_allowlist_gone_is_refused() {
    let case = case();
    fs::remove_file(case.path("allowlists/a.yaml")).unwrap();
    case.until_refused("holds no allowlist");
    thread::sleep(Duration::from_millis(1_500));
    assert_eq!(case.text(), "a=one");
    case.write("allowlists/a.yaml", "document: ../spec/a.txt");
    case.until("healed", |status| status.failure.is_none());
    case.check(&["a=one"]);
}

#[test]
fn the_last_allowlist_gone_serves_nothing_when_told_to_keep_going() {
    let case = case_of(|_| {}, Options::default(), |inputs| inputs.keep_going = true);
    fs::remove_file(case.path("allowlists/a.yaml")).unwrap();
    case.until_live("");
    case.check(&["a=one", ""]);
}

#[test]
fn a_start_with_nothing_good_is_mended_while_running() {
    let case =
        case_with(|root| fs::remove_dir_all(root.join("allowlists")).unwrap(), Options::default());
    assert!(case.live.load().is_none());
    case.until_refused("the folder does not exist");
    for _ in 0..2 {
        fs::create_dir(case.path("allowlists")).unwrap();
        case.until_refused("holds no allowlist");
        fs::remove_dir(case.path("allowlists")).unwrap();
        case.until_refused("the folder does not exist");
    }
    fs::create_dir(case.path("allowlists")).unwrap();
    case.write("allowlists/a.yaml", "document: ../spec/a.txt");
    case.until_live("a=one");
    case.until("healed", |status| status.failure.is_none());
}

#[test]
fn a_panic_in_the_build_is_a_refused_reload_and_is_tried_again() {
    let case = case();
    case.write("spec/a.txt", "panic");
    case.until_refused("in the build");
    assert_eq!(case.text(), "a=one");
    case.until("a second try", |status| status.counts.panics >= 2);
    case.write("spec/a.txt", "one two");
    case.until_live("a=one two");
    case.check(&["a=one", "a=one two"]);
}

#[test]
fn a_change_during_a_build_wins_over_it() {
    let case = case();
    case.replace("spec/a.txt", "slow");
    case.until("building", |_| case.path("spec/a.txt.building").exists());
    case.replace("spec/a.txt", "quick");
    case.until_live("a=quick");
    assert_eq!(case.live.status().counts.abandoned, 1);
    case.check(&["a=one", "a=quick"]);
}

#[test]
fn a_change_during_a_build_ends_it_before_the_next_stage() {
    let case = case_with(
        |root| fs::write(root.join("allowlists/b.yaml"), "b").unwrap(),
        Options::default(),
    );
    // Held open, so that both are read in one pass.
    let mut file = fs::File::create(case.path("spec/a.txt")).unwrap();
    case.replace("allowlists/b.yaml", "slow");
    file.write_all(b"slow").unwrap();
    drop(file);
    case.until("building", |_| case.path("spec/a.txt.building").exists());
    case.replace("allowlists/b.yaml", "b2");
    case.replace("spec/a.txt", "quick");
    case.until_live("a=quick\nb=b2");
    assert_eq!(case.live.status().counts.abandoned, 1);
    assert!(!case.path("allowlists/b.yaml.building").exists(), "`b` was not begun");
    case.check(&["a=one\nb=b", "a=quick\nb=b2"]);
}

#[test]
fn a_burst_without_end_is_built_and_served_all_the_same() {
    let case = case();
    let start = Instant::now();
    let mut number = 0;
    while case.swaps() < 2 {
        assert!(start.elapsed() < CEILING, "{:#?}", case.live.status());
        case.replace("spec/a.txt", &format!("tired {number}"));
        number += 1;
        thread::sleep(Duration::from_millis(20));
    }
    case.until_live(&format!("a=tired {}", number - 1));
}

#[test]
fn a_burst_of_saves_that_are_empty_for_a_moment_is_no_failure() {
    let case = case();
    for number in 0..25 {
        case.write("spec/a.txt", "");
        thread::sleep(Duration::from_millis(100));
        case.write("spec/a.txt", &format!("one {number}"));
        thread::sleep(Duration::from_millis(10));
    }
    case.until_live("a=one 24");
    assert_eq!(case.live.status().counts.refused, 0);
}

#[test]
fn a_burst_of_bad_saves_is_refused_although_it_does_not_end() {
    let case = case();
    let start = Instant::now();
    let mut number = 0;
    while case.live.status().failure.is_none() {
        assert!(start.elapsed() < 2 * CEILING);
        case.write("spec/a.txt", &format!("bad {number}"));
        number += 1;
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_document_that_shrank_in_place_waits_a_second_and_then_passes() {
    let case = case_with(
        |root| fs::write(root.join("spec/a.txt"), "one two three").unwrap(),
        Options::default(),
    );
    case.write("spec/a.txt", "one two");
    case.until("waiting", |status| {
        status.waiting.as_deref().is_some_and(|words| {
            words.ends_with("a.txt: 3 → 2 operations, waiting 1 s for the writer")
        })
    });
    assert_eq!(case.text(), "a=one two three");
    case.until_live("a=one two");
    case.check(&["a=one two three", "a=one two"]);
}

#[test]
fn a_document_that_shrank_and_is_completed_is_never_served_cut() {
    let case = case_with(
        |root| fs::write(root.join("spec/a.txt"), "one two three").unwrap(),
        Options::default(),
    );
    case.write("spec/a.txt", "one");
    case.until("waiting", |status| status.waiting.is_some());
    case.write("spec/a.txt", "one two three four");
    case.until_live("a=one two three four");
    case.check(&["a=one two three", "a=one two three four"]);
}

#[test]
fn a_document_that_shrank_by_rename_is_served_at_once() {
    let case = case_with(
        |root| fs::write(root.join("spec/a.txt"), "one two three").unwrap(),
        Options::default(),
    );
    case.replace("spec/a.txt", "one");
    case.until_live("a=one");
    case.check(&["a=one two three", "a=one"]);
    assert_eq!(case.live.status().counts.builds, 1);
}

#[test]
fn tools_that_people_save_with_each_swap_once() {
    let saves = [
        ("sed", "sed -i s/one/two/ spec/a.txt"),
        ("cp", "echo two > new && cp new spec/a.txt"),
        ("mv", "echo two > new && mv new spec/a.txt"),
        ("install", "echo two > new && install new spec/a.txt"),
        ("ln", "echo two > spec/b.txt && ln -sfn b.txt spec/a.txt"),
        ("tee", "echo two | tee spec/a.txt"),
        ("vim", "vim -N -u NONE -i NONE -es -c %s/one/two/ -c wq spec/a.txt"),
        (
            "vim",
            "vim -N -u NONE -i NONE -es --cmd 'set backup backupcopy=no' -c %s/one/two/ -c wq spec/a.txt",
        ),
        ("rsync", "echo two > new && rsync new spec/a.txt"),
        ("rsync", "echo two > new && rsync --inplace new spec/a.txt"),
        (
            "git",
            "git init -q . && git add -A && git -c user.name=a -c user.email=a commit -qm 1 && \
             echo two > spec/a.txt && git stash -q && git stash pop -q",
        ),
    ];
    for (tool, save) in saves {
        if !Command::new("which").arg(tool).output().unwrap().status.success() {
            println!("`{tool}` is not here, left out");
            continue;
        }
        let case = case();
        let status = Command::new("sh").args(["-c", save]).current_dir(case.folder.path()).status();
        assert!(status.unwrap().success(), "{save}");
        case.until_live("a=two");
        case.check(&["a=one", "a=two"]);
    }
}

#[test]
fn a_document_from_a_url_is_served_and_outlives_its_server() {
    let server = Server::new();
    server.on("/a", "200 OK\r\n\r\none");
    let url = server.url("/a");
    let case = case_with(
        |root| fs::write(root.join("allowlists/a.yaml"), format!("document: {url}")).unwrap(),
        Options::default(),
    );
    assert_eq!(case.text(), "a=one", "the start waits for the first fetch");
    server.on("/a", "200 OK\r\n\r\ntwo");
    case.until_live("a=two");
    server.on("/a", "503 Service Unavailable\r\n\r\n");
    case.until_refused("answered 503 Service Unavailable");
    assert_eq!(case.text(), "a=two");
    case.write("allowlists/a.yaml", "document: ../spec/a.txt");
    case.until_live("a=one");
    case.check(&["a=one", "a=two", "a=one"]);
    let requests = server.requests().len();
    thread::sleep(Duration::from_secs(3));
    assert!(server.requests().len() <= requests + 1, "nobody looks after it any more");
}

#[test]
fn a_url_named_while_running_is_fetched_before_anything_is_refused() {
    let server = Server::new();
    server.on("/a", "200 OK\r\n\r\nfetched");
    let case = case();
    case.write("allowlists/a.yaml", &format!("document: {}", server.url("/a")));
    case.until_live("a=fetched");
    case.check(&["a=one", "a=fetched"]);
    assert_eq!(case.live.status().counts.refused, 0);
}

#[test]
fn a_request_reads_without_watching_and_knows_no_suspicion() {
    let options = Options { watch: false, ..Options::default() };
    let case = case_with(|root| fs::write(root.join("spec/a.txt"), "one two").unwrap(), options);
    let reload = || case.reloader.as_ref().unwrap().reload_now();
    assert_eq!(case.live.status().backend, Backend::Off);
    case.write("spec/a.txt", "one");
    thread::sleep(Duration::from_secs(3));
    assert_eq!(case.text(), "a=one two");
    (0..5).for_each(|_| reload());
    case.until_live("a=one");
    assert!(case.live.status().waiting.is_none());
    case.write("spec/a.txt", "bad");
    reload();
    case.until_refused("bad");
    let builds = case.live.status().counts.builds;
    reload();
    case.until("built again", |status| status.counts.builds > builds);
}

#[test]
fn without_events_the_scan_finds_the_change_and_the_backend_says_so() {
    for watcher in [Kind::Silent, Kind::Broken] {
        let case = case_with(|_| {}, Options { watcher, ..Options::default() });
        for text in ["two", "three"] {
            case.replace("spec/a.txt", text);
            case.until_live(&format!("a={text}"));
        }
        case.check(&["a=one", "a=two", "a=three"]);
        let status = case.live.status();
        assert!(matches!(status.backend, Backend::Polling(_)), "{status:#?}");
        assert!(status.counts.missed >= 2);
    }
}

/// Where the stopped process of the next test serves; it shows in `live` what it serves.
const STOPPED: &str = "TOOLGATE_TEST_STOPPED";

#[test]
fn events_lost_while_the_process_was_stopped_cost_nothing() {
    if let Some(shown) = std::env::var_os(STOPPED) {
        return serve_until_stopped(Path::new(&shown));
    }
    let folder = tempfile::tempdir().unwrap();
    let this = "snapshot::reload::tests::events_lost_while_the_process_was_stopped_cost_nothing";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", this])
        .env(STOPPED, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let show = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let until = |text: &str| {
        let start = Instant::now();
        while show("live") != text {
            assert!(start.elapsed() < CEILING, "{} is not {text}", show("live"));
            thread::sleep(Duration::from_millis(10));
        }
    };
    let signal = |name: &str| {
        let id = child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    until("a=one");
    let root = PathBuf::from(show("root"));
    signal("-STOP");
    for number in 0..20_000 {
        fs::write(root.join(format!("spec/{}", number % 2)), "").unwrap();
    }
    fs::write(root.join("spec/a.txt"), "one last").unwrap();
    signal("-CONT");
    until("a=one last");
    fs::write(root.join("spec/a.txt"), "one last of all").unwrap();
    until("a=one last of all");
    fs::write(folder.path().join("stop"), "").unwrap();
    assert!(child.wait().unwrap().success());
}

fn serve_until_stopped(shown: &Path) {
    let case = case();
    fs::write(shown.join("root"), case.folder.path().to_str().unwrap()).unwrap();
    let start = Instant::now();
    while !shown.join("stop").exists() && start.elapsed() < 3 * CEILING {
        fs::write(shown.join("live"), case.text()).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
    let status = case.live.status();
    assert_eq!(status.backend, Backend::Events, "{status:#?}");
}

#[test]
fn old_snapshots_are_dropped_when_the_last_request_lets_go() {
    let case = case();
    let held = case.live.load();
    for text in ["two", "three"] {
        case.replace("spec/a.txt", text);
        case.until_live(&format!("a={text}"));
    }
    case.until("one old one", |_| case.live.alive() == 2);
    drop(held);
    case.until("none", |_| case.live.alive() == 1);
}

#[test]
fn dropping_the_reloader_ends_its_thread() {
    let mut case = case();
    case.reloader = None;
    case.write("spec/a.txt", "two");
    thread::sleep(AFTER);
    assert_eq!(case.text(), "a=one");
    assert_eq!(Arc::strong_count(&case.live), 2, "the case and its witness");
}

#[test]
fn the_first_attempt_waits_for_files_to_hold_still_but_not_for_ever() {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    fn disturb(text: &str) -> crate::source::References {
        let path = text.strip_prefix("path: ").unwrap().lines().next().unwrap();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        fs::write(path, format!("path: {path}\n{number}")).unwrap();
        crate::source::References::default()
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    fs::write(&path, format!("path: {}", path.display())).unwrap();
    let pipeline = Pipeline {
        inputs: Arc::new(inputs(folder.path())),
        remote: Remote::default(),
        refer: disturb,
        build: Box::new(build),
        facts,
    };
    let First { sources, snapshot, refusals, .. } = first(&pipeline);
    assert!(sources.is_none() && snapshot.is_none());
    let words = format!("`{}` keeps changing while it is read", path.display());
    assert_eq!(refusals[0].diagnostics[0].message, words);
}
