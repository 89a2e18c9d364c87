//! The case table, run many rows at once: what changes, and what must come of it.

mod places;
mod sets;
mod tools;
mod writes;

use std::{
    ops::RangeInclusive,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use toolgate::gateway::Builder;

use super::{
    many,
    scene::{Files, Scene},
};

/// Rows at once: each mostly waits, and what it does in a hurry must not be late for that.
const AT_ONCE: usize = 12;

/// Whether anything may be refused on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refuses {
    Never,
    Perhaps,
    /// And is still refused in the end, when told so.
    Surely {
        stays: bool,
    },
}

/// One row of the table.
struct Row {
    name: &'static str,
    /// Programs it needs.
    needs: &'static [&'static str],
    files: fn() -> Files,
    prepare: fn(&Files),
    builder: fn(&Files) -> Builder,
    act: fn(&Scene),
    /// What is live in the end.
    ends: &'static str,
    /// What else may be live on the way, besides where it started and ends.
    via: fn(&str) -> bool,
    swaps: RangeInclusive<u64>,
    refuses: Refuses,
}

/// A save after which version 2 is live, by one swap, with nothing refused.
fn row(name: &'static str, act: fn(&Scene)) -> Row {
    Row {
        name,
        needs: &[],
        files: Files::new,
        prepare: |_| {},
        builder: Files::builder,
        act,
        ends: "api=2*12",
        via: |_| false,
        swaps: 1..=1,
        refuses: Refuses::Never,
    }
}

/// What looks like a save and changes nothing.
fn nothing(name: &'static str, act: fn(&Scene)) -> Row {
    Row { ends: "api=1*12", swaps: 0..=0, ..row(name, act) }
}

impl Row {
    fn check(&self) {
        if let Some(missing) = self.needs.iter().find(|tool| !is_here(tool)) {
            println!("LEFT OUT {}: `{missing}` is not here", self.name);
            return;
        }
        let files = (self.files)();
        (self.prepare)(&files);
        let builder = (self.builder)(&files);
        let scene = Scene::start(files, builder);
        let start = scene.live();
        (self.act)(&scene);
        scene.until_live(self.ends);
        match self.refuses {
            Refuses::Surely { stays: true } => assert!(scene.status().failure.is_some()),
            _ => scene.until_healed(),
        }
        scene.settle();
        self.judge(&scene, &start);
    }

    fn judge(&self, scene: &Scene, start: &str) {
        let (seen, status) = (scene.seen(), scene.status());
        let counts = status.counts;
        assert_eq!(scene.live(), self.ends, "{seen:?}");
        let known = |shown: &String| shown == start || shown == self.ends || (self.via)(shown);
        assert!(seen.iter().all(known), "{seen:?}");
        assert_eq!(seen.len() as u64, counts.swaps + 1, "the witness missed one: {seen:?}");
        assert!(self.swaps.contains(&counts.swaps), "{seen:?} {status:#?}");
        match self.refuses {
            Refuses::Never => assert_eq!(counts.refused, 0, "{status:#?}"),
            Refuses::Perhaps => {}
            Refuses::Surely { stays } => {
                assert!(counts.refused > 0 && status.failure.is_some() == stays, "{status:#?}");
            }
        }
    }
}

pub fn is_here(tool: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {tool} >/dev/null")]).status();
    found.unwrap().success()
}

/// Runs rows, a few at once, and gives back the names of those that failed.
fn run(rows: &[Row]) -> Vec<&'static str> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            let held = catch_unwind(AssertUnwindSafe(|| row.check()));
            failed.lock().unwrap().extend(held.is_err().then_some(row.name));
            println!("{:6.2} s  {}", start.elapsed().as_secs_f64(), row.name);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    failed.into_inner().unwrap()
}

/// `TOOLGATE_CASE` picks rows by a part of their name, `TOOLGATE_CASE_ROUNDS` repeats them.
#[test]
fn every_row_of_the_table_comes_to_what_it_must() {
    let wanted = std::env::var("TOOLGATE_CASE").unwrap_or_default();
    let rows = [writes::rows(), tools::rows(), places::rows(), sets::rows()];
    let rows: Vec<_> =
        rows.into_iter().flatten().filter(|row| row.name.contains(&wanted)).collect();
    for round in 1..=many("TOOLGATE_CASE_ROUNDS", 1) {
        let failed = run(&rows);
        assert!(failed.is_empty(), "round {round}: {failed:#?}");
        println!("round {round}: {} rows", rows.len());
    }
}
