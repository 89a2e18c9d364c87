//! notify → ticks; the only user of the watcher. Carries no contents.
//!
//! Events are hints: a [`Tick`] says that reading may be worth while, never what happened. What is
//! watched follows from what was read ([`Watch::arm`], `set`); which events matter is decided on
//! the watcher's own thread (`filter`), so that a log written beside a document wakes nobody.
//!
//! When events cannot be had (no descriptors, no watches, a mount that raises none), the scan that
//! runs beside is all there is, and [`Watch::backend`] says so; the watcher is tried again by itself.

mod filter;
mod set;

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::Scan;
use filter::Filter;
use set::{Identity, Set};

/// Pause before a watcher that could not be had is asked for again; the scan covers the meantime.
const AGAIN: Duration = Duration::from_secs(30);

/// Something happened that may concern the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// When.
    pub at: Instant,
    /// Someone wrote and has not closed the file yet.
    pub writer_open: bool,
    /// Events were lost, so that the watcher must be made anew.
    pub rescan: bool,
}

/// Where news of changes comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// From the kernel, with a scan beside.
    Events,
    /// From the scan alone; in words, why.
    Polling(String),
    /// From nowhere: only a request to reload reads.
    #[default]
    Off,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events => f.write_str("events"),
            Self::Polling(why) => write!(f, "polling: {why}"),
            Self::Off => f.write_str("off"),
        }
    }
}

/// Which watcher is made; anything but the native one is for tests of what happens without events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The system's own.
    #[default]
    Native,
    /// One that never says anything, like a network mount.
    Silent,
    /// None can be made, like with no instances left.
    Broken,
}

type Handler = Box<dyn FnMut(notify::Result<Event>) + Send>;

/// Watches what a [`Scan`] names.
pub struct Watch {
    kind: Kind,
    sink: Arc<dyn Fn(Tick) + Send + Sync>,
    filter: Arc<Mutex<Filter>>,
    watcher: Option<Box<dyn Watcher + Send>>,
    /// When a watcher was asked for last and could not be had, and why.
    failed: Option<(Instant, String)>,
    armed: BTreeMap<PathBuf, Identity>,
    trouble: Option<String>,
    /// Troubles that were logged.
    logged: HashSet<String>,
}

impl Watch {
    /// Watches nothing yet; `sink` is called on the watcher's thread and must not wait.
    pub fn new(kind: Kind, sink: impl Fn(Tick) + Send + Sync + 'static) -> Self {
        Self {
            kind,
            sink: Arc::new(sink),
            filter: Arc::default(),
            watcher: None,
            failed: None,
            armed: BTreeMap::new(),
            trouble: None,
            logged: HashSet::new(),
        }
    }

    /// Watches whatever the paths of `scan` depend on by now, and says whether anything was added:
    /// then something may have changed before it was watched.
    pub fn arm(&mut self, scan: &Scan) -> bool {
        let Set { watched, components, lists } = Set::of(scan);
        let disturbed = self.filter().expect(components, lists);
        self.trouble = None;
        self.make();
        let stale: Vec<_> = self
            .armed
            .iter()
            .filter(|(path, identity)| {
                watched.get(*path) != Some(*identity)
                    || disturbed.iter().any(|moved| path.starts_with(moved))
            })
            .map(|(path, _)| path.clone())
            .collect();
        stale.iter().for_each(|path| self.release(path));
        let mut added = false;
        for (path, identity) in watched {
            added |= !self.armed.contains_key(&path) && self.watch(path, identity);
        }
        self.log_trouble();
        added
    }

    /// Where news comes from at the moment.
    pub fn backend(&self) -> Backend {
        let silent = || "changes here raise no events".to_owned();
        match &self.trouble {
            Some(trouble) => Backend::Polling(trouble.clone()),
            None if self.filter().silent => Backend::Polling(silent()),
            None => Backend::Events,
        }
    }

    /// The scan found what no event told of.
    pub fn missed(&mut self) {
        let mut filter = self.filter();
        let again = filter.silent;
        filter.silent = true;
        drop(filter);
        // Once is enough: on a mount without events a new watcher would hear no more.
        if !again {
            self.renew();
        }
    }

    /// Drops the watcher, to be made anew by the next [`Watch::arm`]; events may have been lost.
    pub fn renew(&mut self) {
        self.watcher = None;
        self.failed = None;
        self.armed.clear();
        self.forget_writers();
    }

    /// Takes every file as closed, after waiting long enough for a writer.
    pub fn forget_writers(&self) {
        self.filter().writers.clear();
    }

    fn filter(&self) -> MutexGuard<'_, Filter> {
        lock(&self.filter)
    }

    fn make(&mut self) {
        if self.watcher.is_some() {
            return;
        }
        let early = self.failed.as_ref().is_some_and(|(asked, _)| asked.elapsed() < AGAIN);
        if !early {
            match made(self.kind, self.handler()) {
                Ok(watcher) => (self.watcher, self.failed) = (Some(watcher), None),
                Err(error) => self.failed = Some((Instant::now(), words(&error))),
            }
        }
        self.trouble = self.failed.as_ref().map(|(_, why)| why.clone());
    }

    /// Runs on the watcher's thread: nothing in it waits.
    fn handler(&self) -> Handler {
        let (filter, sink) = (Arc::clone(&self.filter), Arc::clone(&self.sink));
        Box::new(move |event| {
            let judged = lock(&filter).judge(&event);
            if let Some(tick) = judged {
                sink(tick);
            }
        })
    }

    fn watch(&mut self, path: PathBuf, identity: Identity) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        match watcher.watch(&path, RecursiveMode::NonRecursive) {
            Ok(()) => self.armed.insert(path, identity).is_none(),
            // Gone since it was looked at; the pass that follows sees that too.
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => false,
            Err(error) => {
                self.trouble = Some(format!("`{}`: {}", path.display(), words(&error)));
                false
            }
        }
    }

    /// An error only says that the watch had ended by itself.
    fn release(&mut self, path: &Path) {
        self.armed.remove(path);
        if let Some(watcher) = &mut self.watcher {
            let _ = watcher.unwatch(path);
        }
    }

    fn log_trouble(&mut self) {
        if let Some(trouble) = &self.trouble
            && self.logged.insert(trouble.clone())
        {
            tracing::warn!("cannot watch, polling instead: {trouble}");
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("kind", &self.kind)
            .field("armed", &self.armed)
            .field("trouble", &self.trouble)
            .finish_non_exhaustive()
    }
}

/// A filter is a plain value: whoever panicked while holding it left it usable.
fn lock(filter: &Mutex<Filter>) -> MutexGuard<'_, Filter> {
    filter.lock().unwrap_or_else(PoisonError::into_inner)
}

fn made(kind: Kind, handler: Handler) -> notify::Result<Box<dyn Watcher + Send>> {
    Ok(match kind {
        Kind::Native => Box::new(RecommendedWatcher::new(handler, Config::default())?),
        Kind::Silent => Box::new(notify::NullWatcher::new(handler, Config::default())?),
        Kind::Broken => {
            return Err(notify::Error::io(std::io::Error::from_raw_os_error(libc::EMFILE)));
        }
    })
}

fn words(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "no watches left; raise `fs.inotify.max_user_watches`".to_owned()
        }
        ErrorKind::Io(error) if error.raw_os_error() == Some(libc::EMFILE) => {
            "no instances left; raise `fs.inotify.max_user_instances`".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, sync::mpsc};

    use super::*;
    use crate::source::scan::Stamp;

    const CEILING: Duration = Duration::from_secs(20);

    fn scan(paths: &[PathBuf]) -> Scan {
        let mut scan = Scan::default();
        paths.iter().for_each(|path| scan.insert(path.clone(), Stamp::at(path)));
        scan
    }

    struct Case {
        folder: tempfile::TempDir,
        watch: Watch,
        ticks: mpsc::Receiver<Tick>,
    }

    impl Case {
        fn new() -> Self {
            let (sender, ticks) = mpsc::channel();
            let watch = Watch::new(Kind::Native, move |tick| {
                let _ = sender.send(tick);
            });
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("spec")).unwrap();
            let case = Self { folder, watch, ticks };
            fs::write(case.path("spec/a.yaml"), "old").unwrap();
            case
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn arm(&mut self, name: &str) -> bool {
            self.watch.arm(&scan(&[self.path(name)]))
        }

        /// Waits for a tick, then for the events of the same cause to pass.
        fn heard(&self) -> Tick {
            let tick = self.ticks.recv_timeout(CEILING).expect("a tick");
            self.settle(tick)
        }

        fn settle(&self, tick: Tick) -> Tick {
            let wait = Duration::from_millis(50);
            std::iter::from_fn(|| self.ticks.recv_timeout(wait).ok()).last().unwrap_or(tick)
        }

        fn silent(&self) -> bool {
            self.ticks.recv_timeout(Duration::from_millis(150)).is_err()
        }
    }

    #[test]
    fn renames_over_the_file_are_heard_time_after_time() {
        let mut case = Case::new();
        assert!(case.arm("spec/a.yaml"));
        for content in ["1", "2", "3"] {
            fs::write(case.path("spec/tmp"), content).unwrap();
            fs::rename(case.path("spec/tmp"), case.path("spec/a.yaml")).unwrap();
            assert!(!case.heard().writer_open);
            assert!(case.arm("spec/a.yaml"), "the new file is watched in place of the old");
            assert!(!case.arm("spec/a.yaml"));
        }
    }

    #[test]
    fn reading_and_files_beside_are_not_heard() {
        let mut case = Case::new();
        case.arm("spec/a.yaml");
        fs::read(case.path("spec/a.yaml")).unwrap();
        fs::read_dir(case.path("spec")).unwrap().for_each(drop);
        fs::write(case.path("spec/server.log"), "line").unwrap();
        fs::write(case.path("spec/.a.yaml.swp"), "").unwrap();
        fs::write(case.path("log"), "line").unwrap();
        assert!(case.silent());
    }

    #[test]
    fn an_open_writer_is_told_from_a_closed_one() {
        use std::io::Write;
        let mut case = Case::new();
        case.arm("spec/a.yaml");
        let mut file = fs::File::create(case.path("spec/a.yaml")).unwrap();
        file.write_all(b"half").unwrap();
        assert!(case.heard().writer_open);
        drop(file);
        assert!(!case.heard().writer_open);
    }

    #[test]
    fn a_folder_that_is_deleted_and_made_again_is_heard_below() {
        let mut case = Case::new();
        case.arm("spec/a.yaml");
        for _ in 0..3 {
            fs::remove_dir_all(case.path("spec")).unwrap();
            case.heard();
            case.arm("spec/a.yaml");
            fs::create_dir(case.path("spec")).unwrap();
            case.heard();
            assert!(case.arm("spec/a.yaml"));
            fs::write(case.path("spec/a.yaml"), "new").unwrap();
            case.heard();
            case.arm("spec/a.yaml");
        }
    }

    #[test]
    fn a_link_swapped_above_the_file_is_heard() {
        let mut case = Case::new();
        symlink("spec", case.path("current")).unwrap();
        case.arm("current/a.yaml");
        fs::create_dir(case.path("next")).unwrap();
        fs::write(case.path("next/a.yaml"), "new").unwrap();
        assert!(case.silent());
        symlink("next", case.path("link")).unwrap();
        fs::rename(case.path("link"), case.path("current")).unwrap();
        case.heard();
        assert!(case.arm("current/a.yaml"));
        fs::write(case.path("next/a.yaml"), "newer").unwrap();
        case.heard();
    }

    #[test]
    fn without_a_watcher_polling_is_reported_with_its_cause() {
        let mut watch = Watch::new(Kind::Broken, |_| {});
        assert!(!watch.arm(&scan(&["/etc/hosts".into()])));
        let cause = "no instances left; raise `fs.inotify.max_user_instances`";
        assert_eq!(watch.backend(), Backend::Polling(cause.to_owned()));
        watch.arm(&scan(&["/etc/hosts".into()]));
        assert_eq!(watch.backend(), Backend::Polling(cause.to_owned()), "and still");
    }

    #[test]
    fn a_watcher_that_missed_a_change_is_reported_until_it_speaks() {
        let mut case = Case::new();
        case.arm("spec/a.yaml");
        assert_eq!(case.watch.backend(), Backend::Events);
        case.watch.missed();
        case.arm("spec/a.yaml");
        assert_eq!(case.watch.backend().to_string(), "polling: changes here raise no events");
        fs::write(case.path("spec/a.yaml"), "new").unwrap();
        case.heard();
        assert_eq!(case.watch.backend(), Backend::Events);
    }
}
