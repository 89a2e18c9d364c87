//! Allowlists that come, move and go; and documents that change together with them.

use super::{Refuses, Row, nothing, row};
use crate::reload::{
    scene::{Files, sleep},
    versions::{ALL, document, sized},
};

const SPEC: &str = "spec/api.yaml";
const LIST: &str = "allowlists/api.yaml";
const MORE: &str = "prefix: more_\ntools: [op0]\n";

pub(super) fn rows() -> Vec<Row> {
    [single(), last(), folder(), together(), beside()].into_iter().flatten().collect()
}

fn two(files: &Files) {
    files.write("allowlists/more.yaml", MORE);
}

fn single() -> Vec<Row> {
    vec![
        Row {
            ends: "api=1*12 more=more/1*1",
            ..row("a new allowlist", |scene| scene.files.write("allowlists/more.yaml", MORE))
        },
        Row {
            prepare: two,
            ends: "api=1*12 zoo=more/1*1",
            ..row("an allowlist renamed", |scene| {
                scene.files.rename("allowlists/more.yaml", "allowlists/zoo.yml");
            })
        },
        Row {
            prepare: two,
            ends: "api=1*12",
            ..row("an allowlist removed", |scene| {
                scene.files.remove("allowlists/more.yaml");
                scene.until("waiting", |scene| scene.status().waiting.is_some());
            })
        },
        Row {
            prepare: two,
            ends: "api=1*12",
            ..row("an allowlist made and removed at once, then another removed", |scene| {
                scene.files.write("allowlists/tmp.yaml", "prefix: tmp_\ntools: [op1]\n");
                scene.files.remove("allowlists/tmp.yaml");
                sleep(400);
                scene.files.remove("allowlists/more.yaml");
            })
        },
        Row {
            prepare: two,
            ends: "api=1*12 more=more/1*1",
            swaps: 0..=0,
            ..row("an allowlist removed and made again after 700 ms", |scene| {
                scene.files.remove("allowlists/more.yaml");
                sleep(700);
                scene.files.write("allowlists/more.yaml", MORE);
            })
        },
    ]
}

fn last() -> Vec<Row> {
    vec![
        Row {
            refuses: Refuses::Surely { stays: true },
            ..nothing("the last allowlist removed", |scene| {
                scene.files.remove(LIST);
                scene.until_refused("holds no allowlist");
            })
        },
        Row {
            builder: |files| files.builder().keep_going(true),
            ends: "",
            ..row("the last allowlist removed, keeping going", |scene| {
                scene.files.remove(LIST);
            })
        },
        Row {
            ends: "api=1*12",
            via: |shown| shown == "api=*0",
            swaps: 2..=2,
            ..row("an allowlist emptied, then filled", |scene| {
                scene.files.write(LIST, "# a remark\ntools: []\n");
                scene.until_live("api=*0");
                scene.files.write(LIST, ALL);
            })
        },
        Row {
            files: || {
                let files = Files::new();
                files.write(LIST, "tools:\n  - op0\n  - op1\n");
                files
            },
            ends: "api=1*3",
            ..row("an allowlist cut to its beginning, then completed", |scene| {
                scene.files.write(LIST, "tools:\n  - op0\n");
                scene.until("waiting", |scene| scene.status().waiting.is_some());
                scene.files.write(LIST, "tools:\n  - op0\n  - op1\n  - op2\n");
            })
        },
    ]
}

fn folder() -> Vec<Row> {
    vec![
        Row {
            prepare: two,
            ends: "api=1*12 more=more/1*2",
            refuses: Refuses::Surely { stays: false },
            ..row("a folder of allowlists removed and written anew over 1 s", |scene| {
                scene.files.remove("allowlists");
                scene.until_refused("the folder does not exist");
                scene.files.make("allowlists");
                scene.files.write(LIST, ALL);
                sleep(900);
                scene.files.write("allowlists/more.yaml", "prefix: more_\ntools: [op0, op1]\n");
            })
        },
        Row {
            refuses: Refuses::Perhaps,
            ..row("a folder of documents removed and written anew over 1 s", |scene| {
                scene.files.remove("spec");
                sleep(900);
                scene.files.make("spec");
                sleep(100);
                scene.files.write(SPEC, document(2));
            })
        },
    ]
}

/// The allowlist first names what only the next document has.
fn together() -> Vec<Row> {
    vec![
        Row {
            ends: "api=2*1",
            ..row("allowlist and document 50 ms apart", |scene| {
                scene.files.write(LIST, "tools: [op12]\n");
                sleep(50);
                scene.files.replace(SPEC, sized(2, 13));
            })
        },
        Row {
            ends: "api=2*1",
            refuses: Refuses::Surely { stays: false },
            ..row("allowlist and document further apart than the wait", |scene| {
                scene.files.write(LIST, "tools: [op12]\n");
                scene.until_refused("op12");
                scene.files.replace(SPEC, sized(2, 13));
            })
        },
        Row {
            prepare: two,
            ends: "api=2*12 more=more/1*1",
            refuses: Refuses::Surely { stays: true },
            ..row("one toolset refused while another moves on", |scene| {
                scene.files.write("allowlists/more.yaml", "prefix: more_\ntools: [op77]\n");
                scene.until_refused("op77");
                scene.files.replace(SPEC, document(2));
            })
        },
    ]
}

fn beside() -> Vec<Row> {
    vec![nothing("what editors leave beside", |scene| {
        let passes = scene.status().counts.passes;
        let names = [
            ".api.yaml.swp",
            "4913",
            "api.yaml~",
            "#api.yaml#",
            ".#api.yaml",
            "api.yaml.tmp",
            "api.yaml.bak",
            ".api.yaml.kate-swp",
        ];
        for name in names {
            scene.files.write(&format!("allowlists/{name}"), "tools: [op77]\n");
            sleep(10);
            scene.files.remove(&format!("allowlists/{name}"));
        }
        scene.settle();
        assert_eq!(scene.status().counts.passes, passes, "nobody woke");
    })]
}
