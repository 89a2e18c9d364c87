//! A folder that is served in this process, and a witness of everything that was ever live in it.

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use toolgate::{Gateway, gateway::Builder, snapshot::live::Status};

use super::versions::{ALL, document, shown};
use crate::support::Recorder;

/// What every test here waits for without a change.
pub const QUIET: Duration = Duration::from_millis(300);

/// The longest anything is waited for.
pub const CEILING: Duration = Duration::from_secs(20);

/// Long enough for whatever might still happen by mistake: a wait for quiet, and the build after it.
const AFTER: Duration = Duration::from_millis(900);

/// A folder with `spec/api.yaml` and `allowlists/api.yaml`, unless told otherwise.
pub struct Files {
    folder: TempDir,
}

impl Files {
    /// Version 1 of the document, all of it allowed.
    pub fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// The same in memory where there is such a file system: on a disk, a truncation may wait for the
    /// journal with the file empty already and its event not sent yet.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::within(memory) } else { Self::new() }
    }

    /// The same below another folder.
    fn within(folder: &Path) -> Self {
        let files = Self { folder: tempfile::tempdir_in(folder).unwrap() };
        files.make("spec");
        files.make("allowlists");
        files.write("spec/api.yaml", document(1));
        files.write("allowlists/api.yaml", ALL);
        files
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn make(&self, folder: &str) {
        fs::create_dir_all(self.path(folder)).unwrap();
    }

    /// In place: truncated, then written.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    /// In place by one writer that takes its time.
    pub fn write_slowly(&self, name: &str, text: &str, chunks: usize, pause: u64) {
        let mut file = File::create(self.path(name)).unwrap();
        for chunk in text.as_bytes().chunks(text.len().div_ceil(chunks)) {
            file.write_all(chunk).unwrap();
            sleep(pause);
        }
    }

    /// By one writer after another.
    pub fn append_slowly(&self, name: &str, text: &str, chunks: usize, pause: u64) {
        self.write(name, "");
        for chunk in text.as_bytes().chunks(text.len().div_ceil(chunks)) {
            let mut file = File::options().append(true).open(self.path(name)).unwrap();
            file.write_all(chunk).unwrap();
            drop(file);
            sleep(pause);
        }
    }

    /// Written beside and renamed over.
    pub fn replace(&self, name: &str, text: impl AsRef<[u8]>) {
        self.write("beside", text);
        self.rename("beside", name);
    }

    pub fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub fn remove(&self, name: &str) {
        let path = self.path(name);
        let removed = match path.symlink_metadata().unwrap().is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
        removed.unwrap();
    }

    /// A link that takes the place of whatever is there.
    pub fn link(&self, target: &str, name: &str) {
        symlink(target, self.path("new-link")).unwrap();
        self.rename("new-link", name);
    }

    /// Whether the shell could run all of `script` in the folder.
    pub fn shell(&self, script: &str) -> bool {
        let mut shell = Command::new("sh");
        shell.args(["-ec", script]).current_dir(self.folder.path()).env("HOME", self.folder.path());
        shell.env("TERM", "xterm").env("LC_ALL", "C");
        let output = shell.output().unwrap();
        if !output.status.success() {
            println!("{script}: {}", String::from_utf8_lossy(&output.stderr));
        }
        output.status.success()
    }

    /// A gateway that reads the documents its allowlists name, or else `spec/api.yaml`.
    pub fn builder(&self) -> Builder {
        Gateway::builder()
            .allowlists(self.path("allowlists"))
            .document(self.path("spec/api.yaml"))
            .service(Recorder::json("{}").router())
            .quiet(QUIET)
    }
}

pub fn sleep(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

/// Files, served.
pub struct Scene {
    pub files: Files,
    pub gateway: Arc<Gateway>,
    seen: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    witness: Option<JoinHandle<()>>,
}

impl Scene {
    /// Serves `files` as `builder` says, and waits until the loop has looked at them once more.
    pub fn start(files: Files, builder: Builder) -> Self {
        let gateway = Arc::new(builder.start().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let witness = thread::spawn({
            let (gateway, seen, stop) =
                (Arc::clone(&gateway), Arc::clone(&seen), Arc::clone(&stop));
            move || witness(&gateway, &seen, &stop)
        });
        let scene = Self { files, gateway, seen, stop, witness: Some(witness) };
        scene.until("the first pass", |scene| scene.status().counts.passes > 0);
        scene
    }

    pub fn status(&self) -> Arc<Status> {
        self.gateway.status()
    }

    /// What is live.
    pub fn live(&self) -> String {
        self.gateway.snapshot().map(|snapshot| shown(&snapshot)).unwrap_or_default()
    }

    /// Everything that was ever live, in order.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub fn until(&self, what: &str, reached: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !reached(self) {
            let (live, status) = (self.live(), self.status());
            assert!(start.elapsed() < CEILING, "waited for {what}; live is {live}; {status:#?}");
            sleep(5);
        }
    }

    pub fn until_live(&self, expected: &str) {
        self.until(expected, |scene| scene.live() == expected);
    }

    /// Everything that is refused, one a line.
    pub fn refused(&self) -> String {
        let status = self.status();
        let all = status.refusals().iter().flat_map(|refusal| &refusal.diagnostics);
        all.map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    pub fn until_refused(&self, words: &str) {
        self.until(words, |scene| scene.refused().contains(words));
    }

    pub fn until_healed(&self) {
        self.until("nothing refused", |scene| scene.status().failure.is_none());
    }

    /// Waits until nothing goes on any more.
    pub fn settle(&self) {
        let passes = |scene: &Self| scene.status().counts.passes;
        loop {
            let before = passes(self);
            thread::sleep(AFTER);
            if passes(self) == before && self.status().waiting.is_none() {
                return;
            }
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.witness.take().map(JoinHandle::join);
    }
}

fn witness(gateway: &Gateway, seen: &Mutex<Vec<String>>, stop: &AtomicBool) {
    let mut known = 0;
    while !stop.load(Ordering::Relaxed) {
        let snapshot = gateway.snapshot().filter(|snapshot| snapshot.generation() != known);
        if let Some(snapshot) = snapshot {
            known = snapshot.generation();
            seen.lock().unwrap().push(shown(&snapshot));
        }
        // Far shorter than the shortest time between two swaps here.
        sleep(5);
    }
}
