//! Every document of the folder named by `TOOLGATE_SPECS`, else `../shared/specs` when it is there: all
//! of them parse, and each operation has its details or faults that name a construct.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use super::{Api, Fault, parse, text::Text};

/// The folder with real documents, when there is one.
fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/specs");
    let folder = env::var_os("TOOLGATE_SPECS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The documents below a folder, by name.
fn documents(folder: &Path) -> Vec<(String, Text)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
        .retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "json"));
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name.clone(), Text::new(name, &fs::read(path).unwrap()).unwrap())
    };
    paths.into_iter().map(read).collect()
}

fn api(text: &Text) -> Api {
    parse(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// What a fault says, its own names taken out.
fn construct(fault: &Fault) -> String {
    fault
        .words
        .split('`')
        .enumerate()
        .map(|(n, part)| if n % 2 == 0 { part } else { "…" })
        .collect()
}

#[test]
fn every_real_document_is_read() {
    let Some(folder) = folder() else { return };
    for (name, text) in documents(&folder) {
        let api = api(&text);
        let mut constructs: BTreeMap<String, usize> = BTreeMap::new();
        let mut failed = 0;
        for operation in api.operations() {
            let Err(faults) = api.details(operation, None) else { continue };
            failed += 1;
            assert!(!faults.is_empty());
            for fault in faults {
                *constructs.entry(construct(&fault)).or_default() += 1;
            }
        }
        let total = api.operations().len();
        let dangling = api.dangling().map(|fault| fault.words.as_str()).unwrap_or_default();
        println!("{name:32} {:?} {total:5} {failed:5} {dangling} {constructs:?}", api.version());
    }
}
