//! Which events matter, and what they say about writers.

use std::{
    collections::{BTreeSet, HashSet},
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Instant,
};

use notify::{
    Event, EventKind,
    event::{AccessKind, AccessMode, ModifyKind},
};

use super::Tick;
use crate::source::folder::is_allowlist;

/// What the inputs' paths lead over, and what is known of their writers.
#[derive(Debug, Default)]
pub(super) struct Filter {
    components: BTreeSet<PathBuf>,
    /// Folders in which a component lies.
    holders: HashSet<PathBuf>,
    /// The allowlist folder, links resolved.
    lists: Option<PathBuf>,
    /// Components that were removed, moved or made since the last arming: their watches are stale.
    disturbed: HashSet<PathBuf>,
    /// Files with data written and not closed yet.
    pub(super) writers: HashSet<PathBuf>,
    /// A change was found of which no event told, and none told of anything since.
    pub(super) silent: bool,
}

impl Filter {
    /// Lets these matter from now on, and gives back what was disturbed.
    pub(super) fn expect(
        &mut self,
        components: BTreeSet<PathBuf>,
        lists: Option<PathBuf>,
    ) -> HashSet<PathBuf> {
        let holders = components.iter().filter_map(|path| path.parent());
        self.holders = holders.map(Path::to_path_buf).collect();
        self.components = components;
        self.lists = lists;
        std::mem::take(&mut self.disturbed)
    }

    /// A tick for an event that matters. Lost events, errors and events without a path always do.
    pub(super) fn judge(&mut self, event: &notify::Result<Event>) -> Option<Tick> {
        let Ok(event) = event else { return Some(self.tick(true)) };
        if event.need_rescan() {
            return Some(self.tick(true));
        }
        if is_reading(event.kind) {
            return None;
        }
        let ours: Vec<_> = event.paths.iter().filter(|path| self.concerns(path)).cloned().collect();
        if ours.is_empty() && !event.paths.is_empty() {
            return None;
        }
        ours.into_iter().for_each(|path| self.note(event.kind, path));
        self.silent = false;
        Some(self.tick(false))
    }

    fn tick(&mut self, rescan: bool) -> Tick {
        Tick { at: Instant::now(), writer_open: !self.writers.is_empty(), rescan }
    }

    fn concerns(&self, path: &Path) -> bool {
        if self.components.contains(path) {
            return true;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let swapped = name == OsStr::new("..data") && self.holders.contains(folder);
        swapped || self.lists.as_deref() == Some(folder) && is_allowlist(name)
    }

    fn note(&mut self, kind: EventKind, path: PathBuf) {
        match kind {
            EventKind::Modify(ModifyKind::Data(_)) => {
                self.writers.insert(path);
            }
            EventKind::Access(_) => {
                self.writers.remove(&path);
            }
            EventKind::Create(_)
            | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(_)) => {
                self.writers.remove(&path);
                self.disturbed.insert(path);
            }
            _ => {}
        }
    }
}

/// Opens and reads, the own ones among them: reacting to them would reload for ever.
fn is_reading(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, Flag, RemoveKind, RenameMode};

    use super::*;

    const DATA: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));

    fn filter() -> Filter {
        let mut filter = Filter::default();
        let components = ["/a", "/a/spec.yaml", "/a/lists", "/a/lists/memos.yaml"];
        let components = components.iter().map(PathBuf::from).collect();
        filter.expect(components, Some("/a/lists".into()));
        filter
    }

    fn judge(filter: &mut Filter, kind: EventKind, path: &str) -> Option<Tick> {
        filter.judge(&Ok(Event::new(kind).add_path(path.into())))
    }

    #[test]
    fn only_components_and_accepted_names_matter() {
        let check = |path: &str, expected: bool| {
            assert_eq!(judge(&mut filter(), DATA, path).is_some(), expected, "{path}");
        };
        check("/a/spec.yaml", true);
        check("/a", true);
        check("/a/server.log", false);
        check("/a/spec.yaml~", false);
        check("/a/other.yaml", false);
        check("/a/..data", true);
        check("/a/lists/..data", true);
        check("/b/..data", false);
        check("/a/lists/new.yml", true);
        check("/a/lists/.memos.yaml.swp", false);
        check("/a/lists/4913", false);
        check("/a/lists/below/new.yaml", false);
    }

    #[test]
    fn reading_never_matters_and_everything_else_does() {
        let check = |kind: EventKind, expected: bool| {
            assert_eq!(judge(&mut filter(), kind, "/a/spec.yaml").is_some(), expected, "{kind:?}");
        };
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), false);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), false);
        check(EventKind::Access(AccessKind::Read), false);
        check(CLOSED, true);
        check(DATA, true);
        check(EventKind::Modify(ModifyKind::Name(RenameMode::To)), true);
        check(EventKind::Create(CreateKind::File), true);
        check(EventKind::Remove(RemoveKind::File), true);
        check(EventKind::Any, true);
    }

    #[test]
    fn lost_events_and_errors_ask_for_a_new_watcher() {
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(filter().judge(&Ok(lost)).unwrap().rescan);
        assert!(filter().judge(&Err(notify::Error::generic("gone"))).unwrap().rescan);
        assert!(!filter().judge(&Ok(Event::new(EventKind::Any))).unwrap().rescan);
    }

    #[test]
    fn a_writer_is_open_from_its_data_to_its_close_or_move() {
        let moved = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        for end in [CLOSED, EventKind::Remove(RemoveKind::File), moved] {
            let mut filter = filter();
            assert!(judge(&mut filter, DATA, "/a/spec.yaml").unwrap().writer_open);
            assert!(judge(&mut filter, CLOSED, "/a/lists/memos.yaml").unwrap().writer_open);
            assert!(judge(&mut filter, DATA, "/a/server.log").is_none());
            assert!(!judge(&mut filter, end, "/a/spec.yaml").unwrap().writer_open, "{end:?}");
        }
    }

    #[test]
    fn what_was_moved_is_told_once() {
        let mut filter = filter();
        judge(&mut filter, EventKind::Create(CreateKind::Folder), "/a/lists");
        judge(&mut filter, DATA, "/a/spec.yaml");
        let disturbed = filter.expect(BTreeSet::new(), None);
        assert_eq!(disturbed, HashSet::from(["/a/lists".into()]));
        assert!(filter.expect(BTreeSet::new(), None).is_empty());
    }
}
