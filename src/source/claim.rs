//! Which toolsets there are, before anything of them is read: one a file name, one for `--allow`.

use std::path::{Path, PathBuf};

use super::{ALLOW_TOOLSET, file::unreadable, folder::Listing, path::shown};
use crate::{
    config::Inputs,
    diagnostic::{Diagnostic, Position},
};

/// A toolset's name and who claims it: exactly one file or flag when all is well.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) name: String,
    /// As the user named them.
    pub(super) files: Vec<PathBuf>,
    /// Whether `--allow` claims it too.
    pub(super) flag: bool,
}

/// Everyone who wants to be a toolset.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Names are unique; ordered by file name, the command line last.
    pub(super) claims: Vec<Claim>,
    /// The allowlist folder, absolute.
    pub(super) folder: Option<(PathBuf, Listing)>,
    /// Why these are not all there should be.
    pub(super) faults: Vec<Diagnostic>,
}

impl Claims {
    /// The claims of the flags as the folder looks now.
    pub(super) fn of(inputs: &Inputs, current: &Path) -> Self {
        let mut claims = Self::default();
        match claims.files(inputs, current) {
            Ok(files) => files.into_iter().for_each(|file| claims.file(file)),
            Err(fault) => claims.faults.push(fault),
        }
        if !inputs.allow.is_empty() {
            claims.claim(ALLOW_TOOLSET.to_owned()).flag = true;
        }
        if claims.claims.is_empty() && claims.faults.is_empty() && !inputs.keep_going {
            claims.faults.push(nothing_allowed(inputs, current));
        }
        claims
    }

    fn file(&mut self, file: PathBuf) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.claim(name).files.push(file);
    }

    fn claim(&mut self, name: String) -> &mut Claim {
        let known = self.claims.iter().position(|claim| claim.name == name);
        let place = known.unwrap_or(self.claims.len());
        if known.is_none() {
            self.claims.push(Claim { name, files: Vec::new(), flag: false });
        }
        self.claims.get_mut(place).expect("it was found there or pushed there")
    }

    /// The allowlist files as the user named them.
    fn files(&mut self, inputs: &Inputs, current: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
        let Some(path) = &inputs.allowlists else { return Ok(Vec::new()) };
        let absolute = current.join(path);
        if !is_folder(&absolute) {
            return Ok(vec![path.clone()]);
        }
        let listing = Listing::of(&absolute);
        self.folder = Some((absolute, listing.clone()));
        let at = |fault: Diagnostic| fault.at(Position::whole(shown(path, current)));
        if let Some(kind) = listing.fault() {
            return Err(at(Diagnostic::error(format!("the folder {}", unreadable(&kind.into())))));
        }
        let names = listing.names().unwrap_or_default();
        let most = inputs.limits.allowlist_files;
        if names.len() > most {
            let fault = Diagnostic::error(format!("holds over {most} allowlists"));
            return Err(at(fault.help("raise it with `--limit allowlist_files=NUMBER`")));
        }
        Ok(names.iter().map(|name| path.join(name)).collect())
    }
}

/// A path that is missing is a folder unless it is named like an allowlist.
fn is_folder(path: &Path) -> bool {
    let named_like_a_file = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    path.metadata().map_or(!named_like_a_file, |metadata| metadata.is_dir())
}

fn nothing_allowed(inputs: &Inputs, current: &Path) -> Diagnostic {
    let Some(path) = &inputs.allowlists else {
        return Diagnostic::error("nothing is allowed")
            .help("name operations with `--allow`, or allowlists with `--allowlists`");
    };
    Diagnostic::error("holds no allowlist")
        .help("add a `.yaml` file, or pass `--keep-going` to serve nothing meanwhile")
        .at(Position::whole(shown(path, current)))
}

/// Only asked at start: a toolset that is removed later takes its override with it in silence.
pub(super) fn unmatched_overrides(inputs: &Inputs, claims: &[Claim]) -> Vec<Diagnostic> {
    let flags = [("--document", &inputs.documents), ("--upstream", &inputs.upstreams)];
    let named = flags.into_iter().flat_map(|(flag, values)| {
        values.iter().filter_map(move |value| Some((flag, value.toolset.as_deref()?, &value.value)))
    });
    let unknown = named.filter(|(_, toolset, _)| claims.iter().all(|claim| claim.name != *toolset));
    let names =
        claims.iter().map(|claim| format!("`{}`", claim.name)).collect::<Vec<_>>().join(", ");
    let fault = |(flag, toolset, value): (&str, &str, &String)| {
        Diagnostic::error(format!("`{flag} {toolset}={value}` names no toolset")).help(
            if names.is_empty() { "there is none".into() } else { format!("there is {names}") },
        )
    };
    unknown.map(fault).collect()
}
