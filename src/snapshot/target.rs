//! Where a toolset's calls go and what goes along, from flags, file and document, in this order.
//!
//! The document never decides the origin, except that a document given as a URL on the command line
//! makes that URL's origin the default: the user typed it. Header values and the values of variables
//! stay out of every text.

use http::{HeaderName, HeaderValue, header};

use super::credential;
use crate::{
    allowlist::{Allowlist, Header, HeaderPiece},
    config::{Audience, Inputs, Override, url},
    diagnostic::{Diagnostic, Position},
    registry::plan::{Target, Upstream},
    source::ToolsetSource,
};

/// The upstream as far as flags and files decide it.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// Where.
    pub(super) upstream: Upstream,
    /// The upstream's own path, when it has one.
    path: Option<String>,
    /// Where it came from.
    from: String,
}

/// Decides the origin of one toolset.
pub(super) fn origin(
    allowlist: &Allowlist,
    source: &ToolsetSource,
    inputs: &Inputs,
) -> Result<Origin, Diagnostic> {
    let flag = Override::of(&inputs.upstreams, &source.name);
    if inputs.in_process {
        return in_process(allowlist, flag);
    }
    if let Some(flag) = flag {
        let at = |fault: Diagnostic| fault.at(Position::whole("--upstream"));
        return parsed(&flag.value, "--upstream".to_owned()).map_err(at);
    }
    if let Some(upstream) = &allowlist.upstream {
        let at = |fault: Diagnostic| fault.at(upstream.position.clone());
        return parsed(&upstream.value, allowlist.file.to_string()).map_err(at);
    }
    let document = Override::of(&inputs.documents, &source.name);
    if let Some(document) = document.filter(|flag| url::is_url(&flag.value)) {
        return parsed(&document_origin(&document.value), "the document's URL".to_owned());
    }
    if source.allowlist.is_none() {
        let fault = Diagnostic::error("there is no upstream: nothing says where calls go");
        return Err(fault.help("pass `--upstream http://HOST:PORT`"));
    }
    let fault = Diagnostic::error(format!(
        "`{}` has no upstream: nothing says where its calls go",
        allowlist.file
    ));
    Err(fault.help("add `upstream: http://HOST:PORT` to it, or pass `--upstream http://HOST:PORT`"))
}

/// Why a bare `--upstream` cannot stand for all of these: their files name different origins.
pub(super) fn ambiguous<'a>(
    allowlists: impl Iterator<Item = &'a Allowlist>,
    inputs: &Inputs,
) -> Option<Diagnostic> {
    let bare = inputs.upstreams.iter().find(|flag| flag.toolset.is_none())?;
    let is_named =
        |name: &str| inputs.upstreams.iter().any(|flag| flag.toolset.as_deref() == Some(name));
    let stated = allowlists.filter(|allowlist| !is_named(&allowlist.name));
    let stated = stated.filter_map(|allowlist| {
        Some((&allowlist.name, url::origin(&allowlist.upstream.as_ref()?.value).ok()?))
    });
    let stated: Vec<_> = stated.collect();
    let (first, origin) = stated.first()?;
    let (other, _) = stated.iter().find(|(_, other)| other.origin() != origin.origin())?;
    let words =
        format!("`{}` would replace the different origins of `{first}` and `{other}`", bare.value);
    let help = format!("say which: `--upstream {first}={}`", bare.value);
    Some(Diagnostic::error(words).help(help).at(Position::whole("--upstream")))
}

fn in_process(allowlist: &Allowlist, flag: Option<&Override>) -> Result<Origin, Diagnostic> {
    let help = "remove it: calls go to the service in this process";
    if let Some(upstream) = &allowlist.upstream {
        let fault = Diagnostic::error("`upstream` has no effect with a service in this process");
        return Err(fault.at(upstream.position.clone()).help(help));
    }
    if let Some(flag) = flag {
        let message =
            format!("the upstream `{}` has no effect with a service in this process", flag.value);
        return Err(Diagnostic::error(message).help(help));
    }
    Ok(Origin { upstream: Upstream::Service, path: None, from: "this process".to_owned() })
}

/// The origin of a document's URL; its path and query say nothing about calls.
fn document_origin(text: &str) -> String {
    url::http(text).map_or_else(|_| text.to_owned(), |url| url.origin().ascii_serialization())
}

fn parsed(text: &str, from: String) -> Result<Origin, Diagnostic> {
    let url = url::origin(text)?;
    let origin = url.origin().ascii_serialization();
    let no_origin = |_| Diagnostic::error(format!("`{text}` is no upstream"));
    let upstream = Upstream::Origin(origin.parse().map_err(no_origin)?);
    let path = url.path().trim_end_matches('/');
    Ok(Origin { upstream, path: (!path.is_empty()).then(|| path.to_owned()), from })
}

/// Adds what goes along: headers, forwarded names, the base path, the calls in flight.
pub(super) fn complete(
    origin: Result<Origin, Diagnostic>,
    allowlist: &Allowlist,
    source: &ToolsetSource,
    shared: bool,
    inputs: &Inputs,
) -> Result<Target, Vec<Diagnostic>> {
    let (origin, headers) = match (origin, headers(allowlist, source, inputs.audience)) {
        (Ok(origin), Ok(headers)) => (origin, headers),
        (Ok(_), Err(faults)) => return Err(faults),
        (Err(fault), headers) => {
            return Err([vec![fault], headers.err().unwrap_or_default()].concat());
        }
    };
    Ok(Target {
        base_path: base_path(&origin, allowlist),
        upstream: origin.upstream,
        from: origin.from,
        // What the operator sets, the caller's own does not go beside.
        forward: forward(allowlist, shared && inputs.audience != Audience::TokenHolders)
            .into_iter()
            .filter(|name| headers.iter().all(|(set, _)| set != name))
            .collect(),
        headers,
        max_in_flight: allowlist.max_in_flight.unwrap_or(inputs.limits.upstream_calls),
    })
}

/// The headers of every call with their values, or every one that has none or may not be sent for
/// this audience.
pub(super) fn headers(
    allowlist: &Allowlist,
    source: &ToolsetSource,
    audience: Audience,
) -> Result<Vec<(HeaderName, HeaderValue)>, Vec<Diagnostic>> {
    let (mut headers, mut faults) = (Vec::new(), credential::faults(allowlist, audience));
    for header in &allowlist.headers {
        match value(header, source) {
            Ok(value) => headers.push((header.name.value.clone(), value)),
            Err(fault) => faults.push(fault.at(header.name.position.clone())),
        }
    }
    if faults.is_empty() { Ok(headers) } else { Err(faults) }
}

fn base_path(origin: &Origin, allowlist: &Allowlist) -> Option<String> {
    let stated =
        allowlist.base_path.as_ref().map(|path| path.value.trim_end_matches('/').to_owned());
    stated.or_else(|| origin.path.clone())
}

/// The names to forward; the default is the caller's credential where it can be meant for this origin only.
fn forward(allowlist: &Allowlist, safe: bool) -> Vec<HeaderName> {
    match &allowlist.forward {
        Some(names) => names.iter().map(|name| name.value.clone()).collect(),
        None if safe => vec![header::AUTHORIZATION],
        None => Vec::new(),
    }
}

/// The value of a header, its references put in.
fn value(header: &Header, source: &ToolsetSource) -> Result<HeaderValue, Diagnostic> {
    let pieces = header.value.iter().map(|piece| resolved(piece, source));
    let text = pieces.collect::<Result<String, Diagnostic>>()?;
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        let name = &header.name.value;
        Diagnostic::error(format!(
            "the value of header `{name}` has characters a header cannot carry"
        ))
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn resolved(piece: &HeaderPiece, source: &ToolsetSource) -> Result<String, Diagnostic> {
    match piece {
        HeaderPiece::Text(text) => Ok(text.clone()),
        HeaderPiece::Variable(name) => {
            let known = source.variables.iter().find(|(known, _)| known == name);
            known.and_then(|(_, value)| value.clone()).ok_or_else(|| {
                Diagnostic::error(format!("`${{{name}}}` is not set in the environment"))
                    .help(format!("set `{name}` before the start, or remove the header"))
            })
        }
        HeaderPiece::File(path) => secret(path, source),
    }
}

fn secret(path: &str, source: &ToolsetSource) -> Result<String, Diagnostic> {
    let unread = || Diagnostic::error(format!("`{path}` was not read"));
    let (_, input) = source.files.iter().find(|(written, _)| written == path).ok_or_else(unread)?;
    let fault = |why: &Diagnostic| {
        Diagnostic::error(format!("`{path}` {}", why.message))
            .help("put the value there, or remove the header")
    };
    let bytes = input.content.as_ref().map_err(fault)?;
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Diagnostic::error(format!("`{path}` is not UTF-8")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
