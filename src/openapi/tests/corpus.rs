//! Every document of the folder named by `TOOLGATE_SPECS`, else `../shared/specs` when it is there: all
//! of them parse, and each operation has its details or faults that name a construct.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use super::super::{Api, Fault, parse, text::Text};

/// What real operations are refused for, by document: how many operations.
const REFUSED: [(&str, usize, &str); 6] = [
    ("digitalocean-multifile.yaml", 659, "is outside this document"),
    ("oai-petstore-separate-v2.json", 4, "is outside this document"),
    ("intercom.yaml", 2, "has no path parameter"),
    ("memos.yaml", 2, "it has a literal `*`"),
    ("readme-params-30.json", 2, "in it; give the real one as `path`"),
    ("readme-params-31.json", 2, "in it; give the real one as `path`"),
];

/// The folder with real documents, when there is one.
pub(super) fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/specs");
    let folder = env::var_os("TOOLGATE_SPECS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The documents of a folder, by name.
pub(super) fn documents(folder: &Path) -> Vec<(String, Text)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|end| end == "yaml" || end == "json"));
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name.clone(), Text::new(name, &fs::read(path).unwrap()).unwrap())
    };
    paths.into_iter().map(read).collect()
}

/// The faults of each operation that has some.
fn faults(api: &Api) -> Vec<Vec<Fault>> {
    let details = api.operations().iter().map(|operation| api.details(operation, None));
    details.filter_map(Result::err).collect()
}

#[test]
fn every_real_document_is_read() {
    let Some(folder) = folder() else { return };
    let mut expected: BTreeMap<&str, (usize, &str)> =
        REFUSED.iter().map(|(name, count, words)| (*name, (*count, *words))).collect();
    for (name, text) in documents(&folder) {
        let api = parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let faults = faults(&api);
        let (count, words) = expected.remove(name.as_str()).unwrap_or((0, ""));
        println!("{name:32} {:?} {:5} {:5} {words}", api.version(), api.operations().len(), count);
        assert_eq!(faults.len(), count, "{name}: {faults:?}");
        assert!(faults.iter().flatten().all(|fault| fault.words.contains(words)), "{faults:?}");
        assert_eq!(api.dangling(), None, "{name}");
        let places = api.diagnostics(&faults.concat()).into_iter().take(50);
        assert!(places.flat_map(|one| one.position).all(|position| position.place.is_some()));
    }
    assert!(expected.is_empty(), "{expected:?}");
}

/// The names of the documents of a folder that are no documents to us, each with its operations.
fn read(folder: &Path) -> (usize, Vec<String>) {
    let (mut operations, mut refused) = (0, Vec::new());
    for (name, text) in documents(folder) {
        let Ok(api) = parse(&text) else {
            refused.push(name);
            continue;
        };
        operations += api.operations().len();
        for fault in faults(&api).concat() {
            println!("{name}: {} {}", fault.pointer, fault.words);
        }
    }
    (operations, refused)
}

#[test]
fn older_states_of_a_document_are_read() {
    let Some(folder) = folder().map(|folder| folder.join("history")).filter(|one| one.is_dir())
    else {
        return;
    };
    assert_eq!(read(&folder), (141, vec![]));
}

/// What the specification's own schema refuses is mostly of no matter to a call.
#[test]
fn the_specifications_own_documents_are_read() {
    let Some(folder) = folder().map(|folder| folder.join("oai-schema-tests/3.1")) else { return };
    if folder.is_dir() {
        assert_eq!(read(&folder.join("pass")), (17, vec![]));
        let refused = ["no_containers.yaml", "unknown_container.yaml"].map(String::from);
        assert_eq!(read(&folder.join("fail")), (0, refused.into()));
    }
}
