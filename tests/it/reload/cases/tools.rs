//! Programs that people save and deploy with.

use super::{Row, row};
use crate::reload::{
    scene::{Files, Scene},
    versions::document,
};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(editors());
    rows.extend(copies());
    rows.extend(git());
    rows
}

fn run(scene: &Scene, script: &str) {
    assert!(scene.files.shell(script), "{script}");
}

fn editors() -> Vec<Row> {
    vec![
        Row {
            needs: &["vim"],
            ..row("vim", |scene| {
                run(
                    scene,
                    "vim -N -u NONE -i NONE -es -c '%s/version 1/version 2/' -c wq spec/api.yaml",
                );
            })
        },
        Row {
            needs: &["vim"],
            ..row("vim with a backup renamed", |scene| {
                run(
                    scene,
                    "vim -N -u NONE -i NONE -es --cmd 'set backup backupcopy=no' -c '%s/version 1/version 2/' -c wq spec/api.yaml",
                );
            })
        },
        Row {
            needs: &["nano", "script"],
            ..row("nano", |scene| {
                // Replace (all), write out, leave.
                run(
                    scene,
                    r"(sleep 0.5; printf '\034'; sleep 0.2; printf 'version 1\r'; sleep 0.2; printf 'version 2\r'; sleep 0.2; printf 'a'; sleep 0.3; printf '\017\r'; sleep 0.3; printf '\030') | script -qec 'nano --ignorercfiles spec/api.yaml' /dev/null >/dev/null",
                );
            })
        },
        Row {
            needs: &["sed"],
            ..row("sed -i", |scene| run(scene, "sed -i 's/version 1/version 2/' spec/api.yaml"))
        },
        Row {
            needs: &["python3"],
            ..row("mmap", |scene| {
                scene.files.write("next", document(2));
                run(
                    scene,
                    "python3 -c \"import mmap; new = open('next', 'rb').read(); file = open('spec/api.yaml', 'r+b'); map = mmap.mmap(file.fileno(), 0); map[:] = new; map.flush()\"",
                );
            })
        },
    ]
}

/// With the next version in the file `next`.
fn copied(scene: &Scene, script: &str) {
    scene.files.write("next", document(2));
    run(scene, script);
}

fn copies() -> Vec<Row> {
    vec![
        row("cp", |scene| copied(scene, "cp next spec/api.yaml")),
        row("mv", |scene| copied(scene, "mv next spec/api.yaml")),
        row("install", |scene| copied(scene, "install next spec/api.yaml")),
        row("tee", |scene| copied(scene, "cat next | tee spec/api.yaml >/dev/null")),
        row("dd", |scene| copied(scene, "dd if=next of=spec/api.yaml bs=512 status=none")),
        row("ln -sfn", |scene| copied(scene, "ln -sfn ../next spec/api.yaml")),
        Row {
            needs: &["rsync"],
            ..row("rsync", |scene| copied(scene, "rsync -I next spec/api.yaml"))
        },
        Row {
            needs: &["rsync"],
            ..row("rsync --inplace", |scene| copied(scene, "rsync -I --inplace next spec/api.yaml"))
        },
        row("only what changed is generated, over 300 ms", |scene| {
            copied(
                scene,
                "for file in a b c; do echo $file > spec/$file.txt; sleep 0.1; done; cat next > spec/api.yaml",
            );
        }),
    ]
}

/// Version 1 is committed on `main`, version 2 with 300 other files on `next`.
fn repository(files: &Files) {
    let git = "git -c user.name=a -c user.email=a@a -c init.defaultBranch=main";
    let fill = "for n in $(seq 300); do echo $V > spec/f$n.txt; done";
    assert!(
        files.shell(&format!("{git} init -q . && V=1; {fill}; git add -A && {git} commit -qm 1"))
    );
    files.write("spec/api.yaml", document(2));
    assert!(files.shell(&format!(
        "git checkout -qb next; V=2; {fill}; git add -A && {git} commit -qm 2 && git checkout -q main"
    )));
}

fn git() -> Vec<Row> {
    vec![
        Row {
            needs: &["git"],
            prepare: repository,
            ..row("git checkout of 300 files", |scene| run(scene, "git checkout -q next"))
        },
        Row {
            needs: &["git"],
            prepare: repository,
            ..row("git stash and pop", |scene| {
                scene.files.write("spec/api.yaml", document(2));
                run(scene, "git -c user.name=a -c user.email=a@a stash -q && git stash pop -q");
            })
        },
    ]
}
