//! Flags that several subcommands share, and what they come to.
//!
//! Values are checked here, once, and with every name the user may know them by; what they come to
//! ([`Inputs`], [`Serving`]) holds nothing that could contradict itself. The only look at the disk is
//! whether `./allowlists` exists.

use std::{
    collections::HashSet,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Args, builder::FalseyValueParser};

use super::given::{Flag, Given, Origin};
use crate::{
    config::{self, Http, Inputs, Limits, Override, Policy, Serving, url},
    diagnostic::{Diagnostic, quote},
};

/// The folder that is read when it exists and no flag says otherwise.
const ALLOWLISTS_FOLDER: &str = "allowlists";

const POSITIONAL: Flag = Flag { id: "positional", long: "DOCUMENT", variable: "TOOLGATE_DOCUMENT" };
const DOCUMENT: Flag = Flag { id: "document", long: "--document", variable: "TOOLGATE_DOCUMENT" };
const ALLOWLISTS: Flag =
    Flag { id: "allowlists", long: "--allowlists", variable: "TOOLGATE_ALLOWLISTS" };
const ALLOW: Flag = Flag { id: "allow", long: "--allow", variable: "TOOLGATE_ALLOW" };
const UPSTREAM: Flag = Flag { id: "upstream", long: "--upstream", variable: "TOOLGATE_UPSTREAM" };
const CA_FILE: Flag = Flag { id: "ca_file", long: "--ca-file", variable: "TOOLGATE_CA_FILE" };
const LIMIT: Flag = Flag { id: "limit", long: "--limit", variable: "TOOLGATE_LIMIT" };
const LISTEN: Flag = Flag { id: "listen", long: "--listen", variable: "TOOLGATE_LISTEN" };
const STDIO: Flag = Flag { id: "stdio", long: "--stdio", variable: "TOOLGATE_STDIO" };
const PUBLIC_URL: Flag =
    Flag { id: "public_url", long: "--public-url", variable: "TOOLGATE_PUBLIC_URL" };
const INBOUND_TOKEN_FILE: Flag = Flag {
    id: "inbound_token_file",
    long: "--inbound-token-file",
    variable: "TOOLGATE_INBOUND_TOKEN_FILE",
};

/// `DOCUMENT`, the same as `--document`.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct DocumentArgs {
    /// OpenAPI document: a file or a URL
    #[arg(id = "positional", value_name = "DOCUMENT")]
    pub(super) document: Option<String>,
}

/// What decides the tools.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Inputs")]
pub(super) struct InputArgs {
    /// The same as DOCUMENT; NAME is a toolset
    #[arg(long, env = "TOOLGATE_DOCUMENT", hide_env = true, value_name = "[NAME=]FILE|URL")]
    document: Vec<String>,

    /// Allowlist files [default: ./allowlists when it exists]
    #[arg(long, env = "TOOLGATE_ALLOWLISTS", hide_env = true, value_name = "DIR|FILE")]
    allowlists: Option<PathBuf>,

    /// Instead of files: operationId, 'METHOD /path', tag:NAME, with *
    #[arg(long, env = "TOOLGATE_ALLOW", hide_env = true, value_name = "SELECTOR")]
    allow: Vec<String>,

    /// Where calls go, instead of what files say
    #[arg(long, env = "TOOLGATE_UPSTREAM", hide_env = true, value_name = "[NAME=]URL")]
    upstream: Vec<String>,

    /// Trust its certificates too, for HTTPS [PEM]
    #[arg(long, env = "TOOLGATE_CA_FILE", hide_env = true, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// Change a bound; `--limit help` lists them
    #[arg(long, env = "TOOLGATE_LIMIT", hide_env = true, value_name = "NAME=VALUE")]
    limit: Vec<String>,
}

/// What decides the tools where allowlist files are written, not served.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Inputs")]
pub(super) struct FileArgs {
    /// OpenAPI document, instead of what files say
    #[arg(long, env = "TOOLGATE_DOCUMENT", hide_env = true, value_name = "[NAME=]FILE|URL")]
    document: Vec<String>,

    /// Where allowlist files are [default: ./allowlists]
    #[arg(long, env = "TOOLGATE_ALLOWLISTS", hide_env = true, value_name = "DIR|FILE")]
    allowlists: Option<PathBuf>,

    /// Where calls go, instead of what files say
    #[arg(long, env = "TOOLGATE_UPSTREAM", hide_env = true, value_name = "[NAME=]URL")]
    upstream: Vec<String>,

    /// Trust its certificates too, for HTTPS [PEM]
    #[arg(long, env = "TOOLGATE_CA_FILE", hide_env = true, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// Change a bound; `--limit help` lists them
    #[arg(long, env = "TOOLGATE_LIMIT", hide_env = true, value_name = "NAME=VALUE")]
    limit: Vec<String>,
}

impl FileArgs {
    /// What they come to, without anything that is allowed; the folder is set whether it exists or not.
    ///
    /// # Errors
    /// The first flag that is wrong.
    pub(super) fn inputs(
        &self,
        positional: &DocumentArgs,
        matches: &ArgMatches,
    ) -> Result<Inputs, Diagnostic> {
        let Self { document, allowlists, upstream, ca_file, limit } = self.clone();
        let allow = Vec::new();
        let args = InputArgs { document, allowlists, allow, upstream, ca_file, limit };
        let mut inputs = unallowed(positional, &args, Given(matches), Policy::Strict)?;
        inputs.allowlists = Some(args.allowlists.unwrap_or_else(|| ALLOWLISTS_FOLDER.into()));
        Ok(inputs)
    }
}

/// The selectors of an `--allow` flag.
pub(super) fn selectors(allow: &[String], matches: &ArgMatches) -> Vec<String> {
    Given(matches).values(ALLOW, allow, '\n')
}

/// How clients reach the tools.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Serving")]
pub(super) struct ServingArgs {
    /// Address [default: 127.0.0.1:7676]
    #[arg(
        long,
        env = "TOOLGATE_LISTEN",
        hide_env = true,
        value_name = "ADDR",
        value_parser = |text: &str| config::listen(text).map_err(words)
    )]
    listen: Option<SocketAddr>,

    /// One client over stdin and stdout, no address
    #[arg(long, env = "TOOLGATE_STDIO", hide_env = true, value_parser = FalseyValueParser::new())]
    stdio: bool,

    /// URL that browsers and proxies reach it by
    #[arg(long, env = "TOOLGATE_PUBLIC_URL", hide_env = true, value_name = "URL")]
    public_url: Vec<String>,

    /// Callers must show the token in it: `Authorization: Bearer …`
    #[arg(long, env = "TOOLGATE_INBOUND_TOKEN_FILE", hide_env = true, value_name = "FILE")]
    inbound_token_file: Option<PathBuf>,
}

/// What happens when inputs change or are wrong.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Behaviour")]
pub(super) struct BehaviourArgs {
    /// Serve whatever is good, even nothing yet (always in `dev`)
    #[arg(
        long,
        env = "TOOLGATE_KEEP_GOING",
        hide_env = true,
        value_parser = FalseyValueParser::new()
    )]
    pub(super) keep_going: bool,

    /// Do not follow changes; SIGHUP still reads
    #[arg(
        long,
        env = "TOOLGATE_NO_WATCH",
        hide_env = true,
        value_parser = FalseyValueParser::new()
    )]
    pub(super) no_watch: bool,

    /// Milliseconds without a change before files are read; for tests of slow writers
    #[arg(long, env = "TOOLGATE_QUIET", hide = true, value_name = "MS", default_value_t = 100)]
    pub(super) quiet: u64,
}

/// Whether `--limit help` asks what can be limited.
pub(super) fn asks_for_limits(matches: &ArgMatches) -> bool {
    let limits = matches.try_get_many::<String>(LIMIT.id).ok().flatten();
    limits.into_iter().flatten().any(|limit| limit == "help")
}

/// What decides the tools, from flags, environment and whether `./allowlists` exists.
///
/// # Errors
/// The first flag that is wrong, contradicts another or has no effect; and when nothing is allowed.
pub(super) fn inputs(
    document: &DocumentArgs,
    args: &InputArgs,
    matches: &ArgMatches,
    policy: Policy,
) -> Result<Inputs, Diagnostic> {
    let given = Given(matches);
    let mut inputs = unallowed(document, args, given, policy)?;
    let folder = Path::new(ALLOWLISTS_FOLDER);
    allowed(args, given, folder, &mut inputs)?;
    Ok(inputs)
}

/// The same with what the allowlists at `path` allow, whatever flags say of that.
///
/// # Errors
/// The first flag that is wrong.
pub(super) fn inputs_of_allowlists(
    path: &Path,
    args: &InputArgs,
    matches: &ArgMatches,
    policy: Policy,
) -> Result<Inputs, Diagnostic> {
    let mut inputs = unallowed(&DocumentArgs::default(), args, Given(matches), policy)?;
    inputs.allowlists = Some(path.to_owned());
    Ok(inputs)
}

/// The first flag of [`InputArgs`] that was typed, of those that say what is allowed or of all.
pub(super) fn typed_input(matches: &ArgMatches, only_allowing: bool) -> Option<&'static str> {
    let flags = [ALLOW, ALLOWLISTS, DOCUMENT, UPSTREAM, CA_FILE, LIMIT];
    let asked = flags.iter().take(if only_allowing { 2 } else { flags.len() });
    let is_typed = |flag: &&Flag| Given(matches).origin(**flag) == Some(Origin::Typed);
    asked.into_iter().find(is_typed).map(|flag| flag.long)
}

/// Everything but what is allowed.
fn unallowed(
    document: &DocumentArgs,
    args: &InputArgs,
    given: Given<'_>,
    policy: Policy,
) -> Result<Inputs, Diagnostic> {
    let mut inputs = Inputs::new(policy);
    inputs.limits = limits(args, given)?;
    inputs.ca_file.clone_from(&args.ca_file);
    inputs.documents = documents(document, args, given)?;
    let upstreams = given.values(UPSTREAM, &args.upstream, '\n');
    let is_origin = |text: &str| url::origin(text).map(drop);
    inputs.upstreams = overrides(UPSTREAM, given, &upstreams, is_origin)?;
    Ok(inputs)
}

fn limits(args: &InputArgs, given: Given<'_>) -> Result<Limits, Diagnostic> {
    let mut limits = Limits::default();
    for limit in given.values(LIMIT, &args.limit, ',') {
        limits.set(&limit).map_err(|fault| fault.at(given.position(LIMIT)))?;
    }
    Ok(limits)
}

/// `DOCUMENT` and `--document` together; what is typed replaces what is set.
fn documents(
    document: &DocumentArgs,
    args: &InputArgs,
    given: Given<'_>,
) -> Result<Vec<Override>, Diagnostic> {
    let set_only = given.origin(DOCUMENT) == Some(Origin::Environment);
    let mut values = match &document.document {
        Some(_) if set_only => Vec::new(),
        _ => given.values(DOCUMENT, &args.document, '\n'),
    };
    values.extend(document.document.clone());
    let flag = if document.document.is_some() && values.len() == 1 { POSITIONAL } else { DOCUMENT };
    overrides(flag, given, &values, |text| url::document(text).map(drop))
}

/// One value a toolset, and at most one for all.
fn overrides(
    flag: Flag,
    given: Given<'_>,
    values: &[String],
    check: impl Fn(&str) -> Result<(), Diagnostic>,
) -> Result<Vec<Override>, Diagnostic> {
    let mut seen = HashSet::new();
    let mut overrides = Vec::new();
    for value in values {
        let parsed = Override::parse(value);
        let sound = parsed.and_then(|parsed| check(&parsed.value).map(|()| parsed));
        let parsed = sound.map_err(|fault| fault.at(given.position(flag)))?;
        if !seen.insert(parsed.toolset.clone()) {
            let all = "every toolset".to_owned();
            let whose = parsed.toolset.as_deref().map_or(all, quote);
            return Err(Diagnostic::error(format!("given twice for {whose}"))
                .help("write NAME=VALUE for one toolset")
                .at(given.position(flag)));
        }
        overrides.push(parsed);
    }
    Ok(overrides)
}

/// Either files or selectors decide what is allowed; something must.
fn allowed(
    args: &InputArgs,
    given: Given<'_>,
    folder: &Path,
    inputs: &mut Inputs,
) -> Result<(), Diagnostic> {
    let allow = given.values(ALLOW, &args.allow, '\n');
    let files_win = given.is_beaten(ALLOW, ALLOWLISTS)?;
    if !allow.is_empty() && !files_win {
        if inputs.documents.is_empty() {
            return Err(Diagnostic::error("selectors need a document to select from")
                .help("name it: `toolgate dev http://localhost:8000 --allow 'GET *'`")
                .at(given.position(ALLOW)));
        }
        inputs.allow = allow;
        return Ok(());
    }
    inputs.allowlists = match &args.allowlists {
        Some(path) => Some(path.clone()),
        None if folder.exists() => Some(folder.to_owned()),
        None => return Err(nothing_allowed(inputs)),
    };
    Ok(())
}

fn nothing_allowed(inputs: &Inputs) -> Diagnostic {
    let document = inputs.documents.first().map_or("DOCUMENT", |document| document.value.as_str());
    let message =
        "nothing is allowed: there is no folder `allowlists` here and no `--allow`".to_owned();
    Diagnostic::error(message).help(format!(
        "to allow every GET, write {}; to choose in a file, write `allowlists/api.yaml`",
        quote(&format!("toolgate dev {document} --allow 'GET *'"))
    ))
}

/// How clients reach the tools.
///
/// # Errors
/// When a flag is wrong or has no effect beside another.
pub(super) fn serving(args: &ServingArgs, matches: &ArgMatches) -> Result<Serving, Diagnostic> {
    let given = Given(matches);
    if args.stdio {
        let mut http_wins = false;
        for flag in [LISTEN, PUBLIC_URL, INBOUND_TOKEN_FILE] {
            http_wins |= is_stdio_beaten(given, flag)?;
        }
        if !http_wins {
            return Ok(Serving::Stdio);
        }
    }
    let mut public_urls = Vec::new();
    for text in given.values(PUBLIC_URL, &args.public_url, ',') {
        let url = url::origin(&text).map_err(|fault| fault.at(given.position(PUBLIC_URL)))?;
        public_urls.push(url);
    }
    let listen = args.listen.unwrap_or(config::LISTEN);
    let token_file = args.inbound_token_file.clone();
    Ok(Serving::Http(Http { listen, public_urls, token_file }))
}

/// Whether a flag of HTTP was typed where `--stdio` was only set; an error where both were alike.
fn is_stdio_beaten(given: Given<'_>, other: Flag) -> Result<bool, Diagnostic> {
    match given.origin(other) {
        None => Ok(false),
        Some(_) if given.is_beaten(other, STDIO)? => Ok(false),
        Some(_) => given.is_beaten(STDIO, other),
    }
}

/// A fault as clap shows it, which names the flag and the value itself.
fn words(fault: Diagnostic) -> String {
    match fault.help {
        Some(help) => format!("{}; {help}", fault.message),
        None => fault.message,
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches, Parser};

    use super::*;

    /// The shared flags as a command line of their own.
    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        document: DocumentArgs,
        #[command(flatten)]
        inputs: InputArgs,
        #[command(flatten)]
        serving: ServingArgs,
    }

    fn read(arguments: &[&str]) -> (Flags, ArgMatches) {
        let arguments = std::iter::once(&"toolgate").chain(arguments);
        let matches = Flags::command().try_get_matches_from(arguments).unwrap();
        (Flags::from_arg_matches(&matches).unwrap(), matches)
    }

    /// As [`inputs`] does, in a folder with or without allowlists.
    fn inputs_of(arguments: &[&str], folder: &Path) -> Result<Inputs, Diagnostic> {
        let (flags, matches) = read(arguments);
        let mut inputs = Inputs::new(Policy::Strict);
        inputs.documents = documents(&flags.document, &flags.inputs, Given(&matches))?;
        allowed(&flags.inputs, Given(&matches), folder, &mut inputs)?;
        Ok(inputs)
    }

    #[test]
    fn a_folder_that_exists_is_read_when_no_flag_says_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let allowlists =
            |arguments: &[&str], folder: &Path| inputs_of(arguments, folder).unwrap().allowlists;
        let found = Some(folder.path().to_owned());
        assert_eq!(allowlists(&[], folder.path()), found);
        assert_eq!(allowlists(&["--allowlists", "a"], folder.path()), Some("a".into()));
        assert_eq!(allowlists(&["a.yaml", "--allow", "x"], folder.path()), None);
    }

    #[test]
    fn nothing_allowed_says_how_to_allow() {
        let missing = Path::new("no/such/folder");
        let fault = inputs_of(&["http://localhost:8000"], missing).unwrap_err().to_string();
        assert!(fault.contains("`toolgate dev http://localhost:8000 --allow 'GET *'`"), "{fault}");
        let fault = inputs_of(&["--allow", "GET *"], missing).unwrap_err().to_string();
        assert!(fault.starts_with("--allow: error: selectors need a document"), "{fault}");
    }

    #[test]
    fn selectors_and_files_exclude_each_other() {
        let arguments = ["a.yaml", "--allow", "x", "--allowlists", "b"];
        let fault = inputs_of(&arguments, Path::new("x")).unwrap_err().to_string();
        assert_eq!(fault, "error: `--allow` has no effect beside `--allowlists`; leave one out");
    }

    #[test]
    fn selectors_keep_their_commas_and_order() {
        let inputs =
            inputs_of(&["a.yaml", "--allow", "GET /a,b", "--allow", "x"], Path::new("x")).unwrap();
        assert_eq!(inputs.allow, ["GET /a,b", "x"]);
    }

    fn documents_of(arguments: &[&str]) -> Result<Vec<(Option<String>, String)>, String> {
        let (flags, matches) = read(arguments);
        let documents = documents(&flags.document, &flags.inputs, Given(&matches));
        let pair = |document: Override| (document.toolset, document.value);
        documents
            .map(|list| list.into_iter().map(pair).collect())
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_document_is_given_in_either_way() {
        let one = |value: &str| Ok(vec![(None, value.to_owned())]);
        assert_eq!(documents_of(&["a.yaml"]), one("a.yaml"));
        assert_eq!(documents_of(&["--document", "a.yaml"]), one("a.yaml"));
        assert_eq!(documents_of(&["http://h/?a=b"]), one("http://h/?a=b"));
        let named = documents_of(&["a.yaml", "--document", "x=b.yaml"]).unwrap();
        assert_eq!(named, [(Some("x".into()), "b.yaml".into()), (None, "a.yaml".into())]);
        let none: Result<Vec<_>, _> = Ok(Vec::new());
        assert_eq!(documents_of(&[]), none);
    }

    #[test]
    fn two_documents_for_the_same_are_refused() {
        let twice = documents_of(&["a", "--document", "b"]).unwrap_err();
        assert_eq!(
            twice,
            "--document: error: given twice for every toolset; write NAME=VALUE for one toolset"
        );
        let named = documents_of(&["--document", "x=a", "--document", "x=b"]).unwrap_err();
        assert!(named.contains("given twice for `x`"), "{named}");
        let scheme = documents_of(&["ftp://host/a"]).unwrap_err();
        assert_eq!(
            scheme,
            "DOCUMENT: error: documents are not read over `ftp`; give a path or an http(s) URL"
        );
    }

    #[test]
    fn flags_become_inputs() {
        let (flags, matches) = read(&[
            "a.yaml",
            "--allow",
            "x",
            "--upstream",
            "http://a",
            "--upstream",
            "memos=http://b/?x",
        ]);
        let fault = inputs(&flags.document, &flags.inputs, &matches, Policy::Strict).unwrap_err();
        assert!(fault.to_string().starts_with("--upstream: error: `http://b/?x` has a query"));

        let (flags, matches) =
            read(&["a.yaml", "--allow", "x", "--upstream", "m=http://a/b", "--limit", "reply=1kB"]);
        let inputs = inputs(&flags.document, &flags.inputs, &matches, Policy::Forgiving).unwrap();
        assert_eq!(inputs.upstreams[0].toolset.as_deref(), Some("m"));
        assert_eq!(inputs.limits.reply, 1_000);
        assert!(inputs.keep_going && !inputs.in_process);
    }

    fn serving_of(arguments: &[&str]) -> Result<Serving, String> {
        let (flags, matches) = read(arguments);
        serving(&flags.serving, &matches).map_err(|fault| fault.to_string())
    }

    #[test]
    fn http_on_loopback_is_the_default_and_stdio_has_no_address() {
        assert_eq!(serving_of(&[]), Ok(Serving::Http(Http::default())));
        assert_eq!(serving_of(&["--stdio"]), Ok(Serving::Stdio));
        let Ok(Serving::Http(http)) =
            serving_of(&["--listen", "0.0.0.0:80", "--public-url", "https://a.example"])
        else {
            panic!("not HTTP");
        };
        assert_eq!(http.listen.to_string(), "0.0.0.0:80");
        assert_eq!(http.public_urls[0].as_str(), "https://a.example/");
    }

    #[test]
    fn flags_of_http_have_no_effect_beside_stdio() {
        for flag in [
            ["--listen", "127.0.0.1:1"],
            ["--public-url", "http://a"],
            ["--inbound-token-file", "token"],
        ] {
            let fault = serving_of(&["--stdio", flag[0], flag[1]]).unwrap_err();
            let expected =
                format!("error: `{}` has no effect beside `--stdio`; leave one out", flag[0]);
            assert_eq!(fault, expected);
        }
    }

    #[test]
    fn limits_can_be_asked_for() {
        let asks = |arguments: &[&str]| asks_for_limits(&read(arguments).1);
        assert!(asks(&["--limit", "help"]));
        assert!(!asks(&["--limit", "reply=1"]) && !asks(&[]));
    }
}
