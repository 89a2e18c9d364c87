//! Ways of writing one file.

use std::{
    fs::{self, File, Permissions},
    io::{Seek, Write},
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant, SystemTime},
};

use super::{Refuses, Row, nothing, row};
use crate::reload::{
    scene::{Files, Scene, sleep},
    versions::{document, sized},
};

const SPEC: &str = "spec/api.yaml";

pub(super) fn rows() -> Vec<Row> {
    let rows = [whole(), elsewhere(), unchanged(), bursts(), gone(), refused(), delayed()];
    rows.into_iter().flatten().collect()
}

fn whole() -> Vec<Row> {
    vec![
        row("in place", |scene| scene.files.write(SPEC, document(2))),
        row("in place, 30 ms chunks", |scene| scene.files.write_slowly(SPEC, &document(2), 8, 30)),
        row("in place, 400 ms chunks", |scene| {
            scene.files.write_slowly(SPEC, &document(2), 6, 400)
        }),
        row("emptied, written 120 ms later", |scene| {
            let mut file = File::create(scene.files.path(SPEC)).unwrap();
            sleep(120);
            file.write_all(document(2).as_bytes()).unwrap();
        }),
        row("appended by one writer after another", |scene| append_parts(scene, 300)),
        row("appended over the old one's end", |scene| {
            scene.files.append_slowly(SPEC, &document(2), 40, 10);
        }),
        row("renamed over", |scene| scene.files.replace(SPEC, document(2))),
        Row {
            ends: "api=3*12",
            via: |shown| shown == "api=2*12",
            swaps: 1..=2,
            ..row("renamed over twice", |scene| {
                scene.files.replace(SPEC, document(2));
                sleep(600);
                scene.files.replace(SPEC, document(3));
            })
        },
        Row {
            ends: "api=4*12",
            via: |shown| ["api=2*12", "api=3*12"].contains(&shown),
            swaps: 3..=3,
            ..row("renamed over, again and again", |scene| {
                for version in 2..=4 {
                    scene.files.replace(SPEC, document(version));
                    scene.until_live(&format!("api={version}*12"));
                }
            })
        },
        row("others made, removed and renamed around it at once", |scene| {
            scene.files.write("spec/tmp", "bad");
            scene.files.remove("spec/tmp");
            scene.files.write("spec/tmp2", document(2));
            scene.files.rename("spec/tmp2", SPEC);
        }),
        Row {
            ends: "api=3*12",
            via: |shown| shown == "api=2*12",
            swaps: 2..=2,
            ..row("renamed over, then written in place", |scene| {
                scene.files.replace(SPEC, document(2));
                scene.until_live("api=2*12");
                scene.files.write(SPEC, document(3));
            })
        },
        row("removed, renamed into place", |scene| {
            scene.files.write("next", document(2));
            scene.files.remove(SPEC);
            sleep(20);
            scene.files.rename("next", SPEC);
        }),
    ]
}

fn elsewhere() -> Vec<Row> {
    vec![
        Row {
            files: Files::in_memory,
            ..row("on tmpfs", |scene| scene.files.write(SPEC, document(2)))
        },
        Row {
            prepare: |files| {
                files.make("elsewhere");
                fs::hard_link(files.path(SPEC), files.path("elsewhere/api.yaml")).unwrap();
            },
            ..row("through another hard link", |scene| {
                scene.files.write("elsewhere/api.yaml", document(2));
            })
        },
        row("time set back", |scene| {
            scene.files.write(SPEC, document(2));
            set_modified(scene, SystemTime::UNIX_EPOCH);
        }),
        row("same size, same time", |scene| {
            let before = fs::metadata(scene.files.path(SPEC)).unwrap();
            scene.files.write(SPEC, document(2));
            set_modified(scene, before.modified().unwrap());
            assert_eq!(fs::metadata(scene.files.path(SPEC)).unwrap().len(), before.len());
        }),
    ]
}

/// What refers first, what is referred to last, each by a writer of its own.
fn append_parts(scene: &Scene, pause: u64) {
    let text = document(2);
    let (paths, components) = text.split_at(text.find("components:").unwrap());
    scene.files.write(SPEC, paths);
    for part in components.split_inclusive('\n').collect::<Vec<_>>().chunks(14) {
        sleep(pause);
        let mut file = File::options().append(true).open(scene.files.path(SPEC)).unwrap();
        file.write_all(part.concat().as_bytes()).unwrap();
    }
}

fn set_modified(scene: &Scene, time: SystemTime) {
    let file = File::options().write(true).open(scene.files.path(SPEC)).unwrap();
    file.set_modified(time).unwrap();
}

fn unchanged() -> Vec<Row> {
    vec![
        nothing("chmod", |scene| {
            let mode = Permissions::from_mode(0o600);
            fs::set_permissions(scene.files.path(SPEC), mode).unwrap();
        }),
        nothing("touch", |scene| set_modified(scene, SystemTime::now())),
        nothing("same content in place", |scene| scene.files.write(SPEC, document(1))),
        nothing("same content renamed over", |scene| scene.files.replace(SPEC, document(1))),
        nothing("a revert before it is quiet", |scene| {
            let mut file = File::create(scene.files.path(SPEC)).unwrap();
            file.write_all(document(2).as_bytes()).unwrap();
            sleep(100);
            file.set_len(0).unwrap();
            file.rewind().unwrap();
            file.write_all(document(1).as_bytes()).unwrap();
        }),
        nothing("asked to reload what is live", |scene| {
            let passes = scene.status().counts.passes;
            (0..5).for_each(|_| scene.gateway.reload_now());
            scene.until("a pass", |scene| scene.status().counts.passes > passes);
            scene.settle();
            assert!(scene.status().counts.passes < passes + 5, "requests are coalesced");
        }),
    ]
}

fn bursts() -> Vec<Row> {
    vec![
        Row {
            files: Files::in_memory,
            ends: "api=1000*12",
            via: |_| true,
            swaps: 1..=3,
            ..row("1,000 writes in 2 s", |scene| {
                let start = Instant::now();
                for version in (2..1_000).take_while(|_| start.elapsed() < Duration::from_secs(2)) {
                    scene.files.write(SPEC, document(version));
                    sleep(1);
                }
                scene.files.write(SPEC, document(1_000));
            })
        },
        Row {
            swaps: 1..=1,
            ..row("bad, then good", |scene| {
                scene.files.write(SPEC, "paths: [");
                scene.files.write(SPEC, document(2));
            })
        },
        Row {
            ends: "api=3*12",
            via: |shown| shown == "api=2*12",
            swaps: 1..=2,
            ..row("good, bad, good", |scene| {
                scene.files.write(SPEC, document(2));
                scene.files.write(SPEC, "<html></html>");
                scene.files.write(SPEC, document(3));
            })
        },
        row("asked to reload during a save", |scene| {
            scene.files.replace(SPEC, document(2));
            (0..5).for_each(|_| scene.gateway.reload_now());
        }),
    ]
}

fn gone() -> Vec<Row> {
    vec![
        row("removed, made again after 50 ms", |scene| {
            scene.files.remove(SPEC);
            sleep(50);
            scene.files.write(SPEC, document(2));
        }),
        Row {
            refuses: Refuses::Surely { stays: false },
            ..row("removed, made again after 5 s", |scene| {
                scene.files.remove(SPEC);
                scene.until_refused("does not exist");
                sleep(5_000);
                assert_eq!(scene.live(), "api=1*12");
                scene.files.write(SPEC, document(2));
            })
        },
    ]
}

fn refused() -> Vec<Row> {
    vec![
        Row {
            refuses: Refuses::Surely { stays: false },
            ..row("bad for a while, then good", |scene| {
                scene.files.write(SPEC, "paths: [");
                scene.until_refused("api.yaml");
                sleep(1_000);
                assert_eq!(scene.live(), "api=1*12");
                scene.files.write(SPEC, document(2));
            })
        },
        Row {
            refuses: Refuses::Surely { stays: true },
            ..nothing("bad, and stays", |scene| {
                scene.files.write(SPEC, "paths: [");
                scene.until_refused("api.yaml");
                sleep(5_000);
                let counts = scene.status().counts;
                assert_eq!((counts.builds, counts.refused), (1, 1), "{counts:?}");
            })
        },
        Row {
            refuses: Refuses::Surely { stays: true },
            ..nothing("no path left", |scene| {
                scene.files.replace(SPEC, sized(2, 0));
                scene.until_refused("`paths` is empty");
            })
        },
        Row {
            refuses: Refuses::Surely { stays: true },
            ..nothing("lost references, and stays", |scene| {
                let text = document(2);
                scene.files.write(SPEC, text.split("components:").next().unwrap());
                scene.until("waiting", |scene| scene.status().waiting.is_some());
                assert_eq!(scene.status().counts.refused, 0);
                scene.until_refused("#/components/schemas");
            })
        },
    ]
}

fn delayed() -> Vec<Row> {
    vec![
        Row {
            ends: "api=2*5",
            ..row("shrunk in place", |scene| {
                scene.files.write(SPEC, sized(2, 5));
                scene.until("waiting", |scene| {
                    let status = scene.status();
                    let words = "12 → 5 operations, waiting 1 s for the writer";
                    status.waiting.as_deref().is_some_and(|waiting| waiting.ends_with(words))
                });
            })
        },
        Row {
            ends: "api=2*12",
            ..row("shrunk in place, then completed", |scene| {
                scene.files.write(SPEC, sized(2, 5));
                sleep(700);
                scene.files.write(SPEC, document(2));
            })
        },
        Row {
            refuses: Refuses::Surely { stays: false },
            ..row("over the limit, then not", |scene| {
                let path = scene.files.path(SPEC);
                let mut file = File::create(path).unwrap();
                for _ in 0..6 {
                    file.write_all(&vec![b'#'; 10_000_000]).unwrap();
                    sleep(500);
                }
                drop(file);
                scene.until_refused("is over");
                assert_eq!(scene.status().counts.refused, 1);
                scene.files.replace(SPEC, document(2));
            })
        },
    ]
}
