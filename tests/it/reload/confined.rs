//! The case table's rows that need a process: signals, what it may not do, and what its log says.
//!
//! Where the machine refuses a namespace or another user, the row is left out aloud; for a watcher that
//! cannot be had an injected one stands in, in the crate's own tests of the loop.

use std::{
    fs::{self, File, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    process::Command,
    time::{Duration, Instant},
};

use super::{
    process::Process,
    scene::{Files, sleep},
    versions::document,
};

const SPEC: &str = "spec/api.yaml";

/// Whether `command` may be used, told aloud when not.
fn allowed(row: &str, command: &[&str]) -> bool {
    let ran = Command::new(command[0]).args(&command[1..]).arg("true").status();
    let allowed = ran.is_ok_and(|status| status.success());
    if !allowed {
        println!("LEFT OUT {row}: `{}` is refused here", command.join(" "));
    }
    allowed
}

/// Everybody may read, so that another user can.
fn open(files: &Files) {
    for name in ["", "spec", "allowlists"] {
        fs::set_permissions(files.path(name), Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn an_unreadable_document_is_refused_and_heals() {
    let files = Files::new();
    open(&files);
    // Permissions do not bind root.
    let nobody = ["setpriv", "--reuid", "65534", "--clear-groups"];
    let user = Command::new("id").arg("-u").output().unwrap().stdout;
    let command = if user == b"0\n" { &nobody[..] } else { &[] };
    if !command.is_empty() && !allowed("unreadable", command) {
        return;
    }
    let process = Process::start_within(command, &files, &[]);
    for (name, words) in [(SPEC, "permission denied"), ("allowlists", "permission denied")] {
        let mode = fs::metadata(files.path(name)).unwrap().permissions();
        fs::set_permissions(files.path(name), Permissions::from_mode(0o000)).unwrap();
        process.until(words, |process| process.warnings(words) > 0);
        assert_eq!(process.live(), "1*12");
        fs::set_permissions(files.path(name), mode).unwrap();
        process.until_logged("back at what is served");
    }
    files.write(SPEC, document(2));
    process.until_live("2*12");
}

#[test]
fn events_that_overflow_while_it_is_stopped_cost_nothing() {
    let files = Files::new();
    let process = Process::start(&files, &[]);
    process.signal("-STOP");
    for n in 0..20_000 {
        fs::write(files.path(&format!("spec/{}", n % 2)), "").unwrap();
    }
    files.write(SPEC, document(2));
    process.signal("-CONT");
    process.until_live("2*12");
    files.replace(SPEC, document(3));
    process.until_live("3*12");
    assert_eq!(process.warnings(""), 0, "{}", process.log());
}

#[test]
fn without_instances_or_watches_polling_takes_over() {
    for (what, amount) in [("instances", 0), ("watches", 1)] {
        let set = format!("echo {amount} > /proc/sys/user/max_inotify_{what} && exec \"$@\"");
        let command = ["unshare", "-Ur", "sh", "-c", &set, "sh"];
        if !allowed(what, &command) {
            continue;
        }
        let files = Files::new();
        let process = Process::start_within(&command, &files, &[]);
        process.until("the reason", |process| {
            process.warnings("cannot watch, polling instead: ") == 1 && process.log().contains(what)
        });
        for version in 2..=3 {
            files.replace(SPEC, document(version));
            process.until_live(&format!("{version}*12"));
        }
        assert_eq!(process.warnings("cannot watch"), 1, "{}", process.log());
    }
}

#[test]
fn a_file_or_folder_mounted_alone_is_followed() {
    let mount = |what: &str| format!("mount --bind real/{what} {what} && exec \"$@\"");
    for (mounted, version) in [("spec", "2"), (SPEC, "2")] {
        let files = Files::new();
        files.make("real/spec");
        files.write("real/spec/api.yaml", document(1));
        let script = mount(mounted);
        let command = ["unshare", "-Urm", "sh", "-c", &script, "sh"];
        let there = files.shell("unshare -Urm true");
        if !there {
            println!("LEFT OUT mounts: a namespace is refused here");
            return;
        }
        let process = Process::start_within(&command, &files, &[]);
        files.write("real/spec/api.yaml", document(2));
        process.until_live(&format!("{version}*12"));
        if mounted == SPEC {
            // Where it is mounted the old file stays.
            files.replace("real/spec/api.yaml", document(3));
            process.until("a warning", |process| {
                process.warnings("was replaced where it is mounted from") == 1
            });
            assert_eq!(process.live(), "2*12");
        } else {
            files.replace("real/spec/api.yaml", document(3));
            process.until_live("3*12");
        }
    }
}

#[test]
fn a_hangup_reads_also_without_watching() {
    let files = Files::new();
    let process = Process::start(&files, &["--no-watch"]);
    process.signal("-HUP");
    process.until_logged("asked to reload: nothing changed");
    files.write(SPEC, document(2));
    sleep(3_000);
    assert_eq!(process.live(), "1*12");
    (0..5).for_each(|_| process.signal("-HUP"));
    process.until_live("2*12");
    assert_eq!(process.log().matches("generation 2").count(), 1);
}

#[test]
fn what_stays_bad_is_warned_of_once() {
    let files = Files::new();
    let process = Process::start(&files, &[]);
    files.write(SPEC, "paths: [");
    process.until("a warning", |process| process.warnings("") > 0);
    // Scans, passes that were asked for, and the same bytes again.
    sleep(2_500);
    process.signal("-HUP");
    files.replace(SPEC, "paths: [");
    sleep(1_500);
    assert_eq!(process.warnings(""), 1, "{}", process.log());
    assert_eq!(process.live(), "1*12");
}

#[test]
fn what_is_too_large_is_warned_of_once_however_it_grows() {
    let files = Files::new();
    let process = Process::start(&files, &[]);
    let mut file = File::create(files.path(SPEC)).unwrap();
    for _ in 0..60 {
        file.write_all(&vec![b'#'; 1_000_000]).unwrap();
        sleep(50);
    }
    drop(file);
    process.until("a warning", |process| process.warnings("is over") > 0);
    sleep(2_500);
    assert_eq!(process.warnings(""), 1, "{}", process.log());
    files.replace(SPEC, document(2));
    process.until_live("2*12");
}

#[test]
fn a_log_written_beside_the_document_costs_next_to_nothing() {
    let files = Files::new();
    let process = Process::start(&files, &[]);
    sleep(500);
    let (before, start) = (process.used(), Instant::now());
    let mut log = File::create(files.path("spec/server.log")).unwrap();
    while start.elapsed() < Duration::from_secs(4) {
        writeln!(log, "a line").unwrap();
        sleep(1);
    }
    let (used, time) = (process.used() - before, start.elapsed());
    println!("{used:?} of processor time in {time:?}");
    assert!(used < time.mul_f64(0.15), "{used:?} of {time:?}");
    assert_eq!(process.log().matches("generation").count(), 0);
}
