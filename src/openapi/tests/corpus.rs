//! Every document of the folder named by `TOOLGATE_SPECS`, else `../shared/specs` when it is there: all
//! of them parse, and each operation has its details or faults that name a construct.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::super::{Api, Fault, escape, parse, text::Text, unescape};

/// What real operations are refused for, by document: how many operations.
pub(super) const REFUSED: [(&str, usize, &str); 6] = [
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

/// Pointers of entries all over a value, about `count` of them.
fn pointers(value: &Value, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut queue = vec![(String::new(), value)];
    while let Some((at, value)) = queue.pop() {
        if let Value::Array(items) = value {
            let item = |(n, value)| (format!("{at}/{n}"), value);
            queue.extend(items.iter().enumerate().map(item));
        }
        for (key, value) in value.as_object().into_iter().flatten() {
            let pointer = format!("{at}/{}", escape(key));
            all.push(pointer.clone());
            queue.push((pointer, value));
        }
    }
    let step = all.len() / count + 1;
    all.into_iter().step_by(step).collect()
}

#[test]
fn places_in_real_documents_are_exact() {
    let Some(folder) = folder() else { return };
    let (mut found, mut long) = (0, 0);
    for (name, text) in documents(&folder) {
        let pointers = pointers(&text.value().unwrap(), 50);
        let asked: Vec<&str> = pointers.iter().map(String::as_str).collect();
        for (pointer, place) in pointers.iter().zip(text.places(&asked)) {
            let place = place.unwrap();
            assert_eq!(*place.pointer, **pointer, "{name}");
            if place.excerpt.is_empty() {
                long += 1;
                continue;
            }
            let key = unescape(pointer.rsplit('/').next().unwrap()).into_owned();
            let rest: String = place.excerpt.chars().skip(place.column as usize - 1).collect();
            let plain = rest.trim_start_matches(['"', '\'']).starts_with(&key);
            assert!(plain || rest.starts_with('"'), "{name} {pointer}: {rest}");
            found += 1;
        }
    }
    println!("{found} places, {long} more in lines too long to show");
    assert!(found > 0);
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
