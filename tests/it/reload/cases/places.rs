//! What happens to folders, links and kinds of files on the way to an input.

use std::os::unix::fs::symlink;

use toolgate::{Gateway, gateway::Builder};

use super::{Refuses, Row, nothing, row};
use crate::{
    reload::{
        scene::{Files, QUIET, Scene, sleep},
        versions::{ALL, allowlist, document},
    },
    support::Recorder,
};

const SPEC: &str = "spec/api.yaml";
const LOST: Refuses = Refuses::Surely { stays: false };

pub(super) fn rows() -> Vec<Row> {
    [folders(), kinds(), links()].into_iter().flatten().collect()
}

fn folders() -> Vec<Row> {
    vec![
        Row {
            refuses: LOST,
            swaps: 2..=2,
            ends: "api=3*12",
            via: |shown| shown == "api=2*12",
            ..row("folder removed and made again, then edited", |scene| {
                scene.files.remove("spec");
                scene.until_refused("does not exist");
                scene.files.make("spec");
                sleep(200);
                scene.files.write(SPEC, document(2));
                scene.until_live("api=2*12");
                scene.files.replace(SPEC, document(3));
            })
        },
        Row {
            refuses: Refuses::Perhaps,
            ..row("folder removed and made again at once, three times", |scene| {
                for _ in 0..3 {
                    scene.files.remove("spec");
                    scene.files.make("spec");
                    scene.files.write(SPEC, document(1));
                    sleep(500);
                }
                scene.files.write(SPEC, document(2));
            })
        },
        row("folder swapped", swap_folder),
        Row {
            swaps: 2..=2,
            ends: "api=3*12",
            via: |shown| shown == "api=2*12",
            ..row("folder swapped, then edited", |scene| {
                swap_folder(scene);
                scene.until_live("api=2*12");
                scene.files.write(SPEC, document(3));
            })
        },
        Row {
            refuses: LOST,
            prepare: |files| {
                files.make("deep/er/est");
                files.write("deep/er/est/api.yaml", document(1));
            },
            builder: |files| served(files, "allowlists", "deep/er/est/api.yaml"),
            ..row("grandparent moved away and back, then edited", |scene| {
                scene.files.rename("deep", "away");
                scene.until_refused("does not exist");
                scene.files.rename("away", "deep");
                scene.until_healed();
                scene.files.write("deep/er/est/api.yaml", document(2));
            })
        },
    ]
}

fn served(files: &Files, allowlists: &str, document: &str) -> Builder {
    Gateway::builder()
        .allowlists(files.path(allowlists))
        .document(files.path(document))
        .service(Recorder::json("{}").router())
        .quiet(QUIET)
}

fn swap_folder(scene: &Scene) {
    scene.files.make("next");
    scene.files.write("next/api.yaml", document(2));
    scene.files.rename("spec", "old");
    scene.files.rename("next", "spec");
}

/// The document gives way to something that is none, and comes back as another.
fn way(scene: &Scene, words: &str, make: &str) {
    scene.files.rename(SPEC, "aside");
    assert!(scene.files.shell(make), "{make}");
    scene.until_refused(words);
    assert_eq!(scene.live(), "api=1*12");
    scene.files.remove(SPEC);
    scene.files.write(SPEC, document(2));
}

fn kinds() -> Vec<Row> {
    let kind = |name, act| Row { refuses: LOST, ..row(name, act) };
    vec![
        kind("a folder in its place", |scene| way(scene, "is a folder", "mkdir spec/api.yaml")),
        kind("a pipe in its place", |scene| way(scene, "is a pipe", "mkfifo spec/api.yaml")),
        kind("a device in its place", |scene| {
            way(scene, "is a device", "ln -s /dev/zero spec/api.yaml");
        }),
        kind("a link loop in its place", |scene| {
            way(scene, "leads back to itself", "ln -s api.yaml spec/api.yaml");
        }),
        kind("a dangling link in its place", |scene| {
            way(scene, "which does not exist", "ln -s nowhere spec/api.yaml");
        }),
        Row {
            refuses: LOST,
            ..row("a dangling link beside the allowlists", |scene| {
                symlink("/nowhere", scene.files.path("allowlists/old.yaml")).unwrap();
                scene.until_refused("is a link to `/nowhere`");
                scene.files.write(SPEC, document(2));
                scene.until_live("api=2*12");
                scene.files.remove("allowlists/old.yaml");
            })
        },
        Row {
            refuses: Refuses::Surely { stays: true },
            ..nothing("a pipe among the allowlists", |scene| {
                assert!(scene.files.shell("mkfifo allowlists/pipe.yaml"));
                scene.until_refused("is a pipe");
            })
        },
    ]
}

/// A mounted configuration: names lead through `..data` to the folder of one version.
fn mounted(files: &Files) {
    files.remove("allowlists/api.yaml");
    for version in 1..=3 {
        files.make(&format!("allowlists/..{version}"));
        files.write(&format!("allowlists/..{version}/api.yaml"), allowlist(version));
    }
    files.write("allowlists/..3/more.yaml", "prefix: more_\ntools: [op0]\n");
    files.link("..1", "allowlists/..data");
    files.link("..data/api.yaml", "allowlists/api.yaml");
}

/// Document and allowlists of one version below one folder.
fn release(files: &Files, version: u32) {
    let folder = format!("releases/{version}");
    files.make(&format!("{folder}/allowlists"));
    files.write(&format!("{folder}/api.yaml"), document(version));
    files.write(&format!("{folder}/allowlists/api.yaml"), allowlist(version));
}

fn links() -> Vec<Row> {
    vec![
        Row {
            prepare: mounted,
            ends: "api=p3/1*12",
            via: |shown| shown == "api=p2/1*12",
            swaps: 2..=2,
            ..row("mounted configuration changed twice", |scene| {
                scene.files.link("..2", "allowlists/..data");
                scene.until_live("api=p2/1*12");
                scene.files.link("..3", "allowlists/..data");
            })
        },
        Row {
            prepare: |files| {
                mounted(files);
                files.write("allowlists/..3/api.yaml", allowlist(1));
            },
            ends: "api=p1/1*12 more=more/1*1",
            ..row("a key added to mounted configuration", |scene| {
                scene.files.link("..3", "allowlists/..data");
                scene.files.link("..data/more.yaml", "allowlists/more.yaml");
            })
        },
        Row {
            prepare: |files| {
                (1..=2).for_each(|version| release(files, version));
                files.link("releases/1", "current");
            },
            builder: |files| served(files, "current/allowlists", "current/api.yaml"),
            ends: "api=p2/2*12",
            ..row("a link to a release swapped", |scene| {
                scene.files.link("releases/2", "current");
            })
        },
        Row {
            prepare: |files| {
                files.write("first", document(1));
                files.write("second", document(2));
                files.link("../current", SPEC);
                files.link("first", "current");
            },
            ..row("a link behind a link swapped", |scene| scene.files.link("second", "current"))
        },
        Row {
            prepare: |files| {
                files.make("shared");
                files.write("shared/list", ALL);
                files.link("../shared/list", "allowlists/api.yaml");
            },
            ends: "api=p2/1*12",
            ..row("the target of a link edited", |scene| {
                scene.files.write("shared/list", allowlist(2));
            })
        },
    ]
}
