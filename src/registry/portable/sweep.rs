//! Every schema of the real documents, reached by an operation or not, when the folder with them is
//! there: the folder named by `TOOLGATE_SPECS`, else `../shared/specs`.

use std::{
    env, fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::json;

use super::*;
use crate::openapi::{self, Api, text::Text};

fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/specs"));
    let folder = env::var_os("TOOLGATE_SPECS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn documents() -> Vec<Api> {
    let files = folder().into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths
        .retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        openapi::parse(&Text::new(name, &fs::read(path).unwrap()).ok()?).ok()
    };
    paths.into_iter().filter_map(read).collect()
}

/// What one kind of schema came to.
#[derive(Debug, Default)]
struct Sum {
    count: usize,
    bytes: usize,
    largest: usize,
    cut: usize,
    time: Duration,
}

impl Sum {
    /// Projects, adds up, and holds the result against the profile.
    fn project(&mut self, name: &str, side: Side, of: impl Fn() -> Published) -> Value {
        let started = Instant::now();
        let Published { schema, cut } = of();
        self.time += started.elapsed();
        let schema = Value::Object(schema);
        let bytes = schema.to_string().len();
        self.count += 1;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
        self.cut += usize::from(cut > 0);
        let faults = if side == Side::Input { lint(&schema) } else { lint_output(&schema) };
        assert_eq!(faults, Vec::<String>::new(), "{name}");
        schema
    }
}

#[test]
#[ignore = "takes a minute, and operations reach most schemas"]
fn every_schema_of_the_real_documents_is_portable() {
    let (mut inputs, mut results) = (Sum::default(), Sum::default());
    for api in documents() {
        let resolve = |reference: &str| api.schema(reference);
        for list in ["/components/schemas", "/definitions"] {
            let names = api.raw().pointer(list).and_then(Value::as_object);
            for name in names.into_iter().flat_map(Map::keys) {
                let root = json!({ "$ref": format!("#{list}/{}", openapi::escape(name)) });
                let name = format!("{} {name}", api.file());
                inputs.project(&name, Side::Input, || input(&root, &resolve));
                results.project(&name, Side::Output, || output(&root, &resolve));
            }
        }
    }
    println!("inputs {inputs:?}\noutputs {results:?}");
    assert!(folder().is_none() || inputs.count > 5_000);
}
