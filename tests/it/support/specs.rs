//! Documents to prove things over: those of the folder that `TOOLGATE_SPECS` names, else of
//! `../shared/specs`, else the few of this repository.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use toolgate::{config::Policy, openapi::Api, registry::Toolset};

use super::compile::{compile, shown};

/// Whether the real documents are there.
pub fn real() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/specs");
    let folder = env::var_os("TOOLGATE_SPECS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The files, by name.
pub fn files() -> Vec<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openapi");
    let mut paths: Vec<_> = fs::read_dir(real().unwrap_or_else(own))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "json"))
        .collect();
    paths.sort();
    paths
}

/// All of a document as tools, and what cannot be one.
#[derive(Debug)]
pub struct Whole {
    pub toolset: Toolset,
    /// Operation and reason, for each that is left out.
    pub left_out: Vec<(String, String)>,
    /// Tools that needed another name than their own.
    pub renamed: usize,
}

/// Lists everything, and follows what the diagnostics say until nothing is wrong: another name
/// where two are equal, `deny` where the document is torn.
pub fn whole(api: &Arc<Api>) -> Whole {
    let (mut names, mut denied) = (String::new(), Vec::<(String, String)>::new());
    for _ in 0..3 {
        let keys: Vec<_> = denied.iter().map(|(key, _)| format!("'{key}'")).collect();
        let allowlist = format!("deny: [{}]\ntools:\n  - '* /*'\n{names}", keys.join(", "));
        let faults = match compile(api, &allowlist, Policy::Forgiving) {
            Ok(toolset) => {
                let warned = toolset.warnings.iter().filter_map(|one| left_out(&one.message));
                let left_out = warned.chain(denied).collect();
                return Whole { toolset, left_out, renamed: names.matches("name:").count() };
            }
            Err(faults) => faults,
        };
        for fault in &faults {
            if let Some((_, lines)) = fault.help.as_deref().and_then(|help| help.split_once('\n')) {
                if !names.contains(lines) {
                    names.push_str(&format!("{lines}\n"));
                }
                continue;
            }
            let key = fault.message.split('`').nth(1).unwrap_or_else(|| panic!("{fault}"));
            let reason = fault.message.split_once("`: ").unwrap_or_else(|| panic!("{fault}")).1;
            if denied.iter().all(|(known, _)| known != key) {
                denied.push((key.to_owned(), reason.to_owned()));
            }
        }
    }
    panic!(
        "{}: {}",
        api.file(),
        shown(&compile(api, "tools: ['* /*']", Policy::Forgiving).unwrap_err())
    )
}

fn left_out(warning: &str) -> Option<(String, String)> {
    let (key, reason) = warning.split_once("` is left out: ")?;
    Some((key.trim_start_matches('`').to_owned(), reason.to_owned()))
}
