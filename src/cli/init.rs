//! `toolgate init`: a first allowlist for a document, with every operation in it commented out.
//!
//! The document is read as a start reads it. Nothing is written but standard output: where the file
//! goes is the shell's business, so a relative document is named from the folder of allowlists.

mod page;

use std::{
    path::{Component, Path},
    sync::Arc,
};

use clap::{ArgMatches, Args};

use super::{
    Exit, Failure,
    args::{self, DocumentArgs, FileArgs},
    out,
};
use crate::{
    allowlist::Allowlist,
    config::{Inputs, url},
    diagnostic::{Diagnostic, Position},
    gateway,
    openapi::Api,
    registry,
    source::Sources,
};
use page::{Head, Page};

/// Print an allowlist for a document: every operation, commented out
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Init {
    #[command(flatten)]
    document: DocumentArgs,

    /// Not commented out: operationId, 'METHOD /path', tag:NAME, with *
    #[arg(long, env = "TOOLGATE_ALLOW", hide_env = true, value_name = "SELECTOR")]
    allow: Vec<String>,

    #[command(flatten)]
    files: FileArgs,
}

const EXAMPLES: &str = "\
Examples:
  mkdir -p allowlists
  toolgate init http://localhost:8000 > allowlists/api.yaml
  toolgate init gen/openapi.yaml --allow 'GET *' > allowlists/memos.yaml

Then take the `# ` from the operations that agents may call, or run `toolgate allow SELECTOR`.
A relative document is named as seen from the folder of allowlists.";

impl Init {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let inputs = self.files.inputs(&self.document, matches)?;
        let allow = args::selectors(&self.allow, matches);
        let (text, warnings) = init(inputs, allow)?;
        warnings.iter().for_each(|warning| eprintln!("{}", warning.snippet()));
        out::print(&text)
    }
}

fn init(mut inputs: Inputs, allow: Vec<String>) -> Result<(String, Vec<Diagnostic>), Failure> {
    let folder = inputs.allowlists.take().unwrap_or_default();
    let [document] = inputs.documents.as_slice() else {
        return Err(Diagnostic::error("which document is it for?")
            .help("name one: `toolgate init DOCUMENT`, a file or a URL")
            .into());
    };
    let document = document.value.clone();
    let upstream = inputs.upstreams.first().map(|upstream| upstream.value.clone());
    let head = Head {
        upstream: upstream.or_else(|| origin(&document)),
        document: from(&folder, &document),
    };
    // Whatever is allowed here, it is read and not built.
    inputs.allow = vec!["* *".to_owned()];
    let limits = inputs.limits.clone();
    let work = move |sources: &Sources| -> Result<_, Vec<Diagnostic>> {
        let allowlist = Allowlist::from_selectors("all", &allow)?;
        let api = api(sources)?;
        let survey = registry::survey(&api, &limits);
        Page { api: &api, head: &head, allowlist: &allowlist, survey: &survey }.write()
    };
    gateway::inspect(inputs, work)?.map_err(Failure::Inputs)
}

fn api(sources: &Sources) -> Result<Arc<Api>, Vec<Diagnostic>> {
    let document = sources.toolsets.iter().find_map(|toolset| toolset.document.as_ref());
    let missing = || vec![Diagnostic::error("the document was not read")];
    gateway::api(document.ok_or_else(missing)?)
}

/// The origin of a document that is a URL: the user typed it.
fn origin(document: &str) -> Option<String> {
    let url = url::http(document).ok()?;
    Some(url.origin().ascii_serialization())
}

/// The document as a file in `folder` names it. A folder that is no plain way down from here gets the
/// whole path.
fn from(folder: &Path, document: &str) -> String {
    let is_file = folder.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let folder = if is_file { folder.parent().unwrap_or(Path::new("")) } else { folder };
    let path = Path::new(document);
    if document.contains("://") || path.is_absolute() {
        return document.to_owned();
    }
    let mut ups = String::new();
    for component in folder.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(_) => ups.push_str("../"),
            _ => {
                let current = std::env::current_dir().unwrap_or_default();
                return current.join(path).display().to_string();
            }
        }
    }
    let plain = path.strip_prefix(".").unwrap_or(path).display();
    format!("{ups}{plain}")
}

/// At `--allow`, where its selectors stand.
fn at_allow(fault: Diagnostic) -> Diagnostic {
    fault.at(Position::whole("--allow"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_document_is_named_from_the_folder() {
        let check = |folder: &str, document: &str, expected: &str| {
            assert_eq!(from(Path::new(folder), document), expected);
        };
        check("allowlists", "openapi.yaml", "../openapi.yaml");
        check("./allowlists/", "./gen/openapi.yaml", "../gen/openapi.yaml");
        check("a/b", "../x.yaml", "../../../x.yaml");
        check("allowlists/api.yaml", "openapi.yaml", "../openapi.yaml");
        check("api.yaml", "openapi.yaml", "openapi.yaml");
        check(".", "openapi.yaml", "openapi.yaml");
        check("allowlists", "/spec/openapi.yaml", "/spec/openapi.yaml");
        check("allowlists", "http://localhost:8000", "http://localhost:8000");
        assert!(Path::new(&from(Path::new("/etc/x"), "a.yaml")).is_absolute());
    }

    #[test]
    fn only_a_url_has_an_origin() {
        assert_eq!(origin("http://h:8000/openapi.json?x=1").as_deref(), Some("http://h:8000"));
        assert_eq!(origin("spec/openapi.yaml"), None);
    }
}
