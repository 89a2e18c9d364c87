//! notify → ticks; the only user of the watcher. Carries no contents.
