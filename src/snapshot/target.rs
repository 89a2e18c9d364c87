//! Where a toolset's calls go and what goes along, from flags, file and document, in this order.
//!
//! The document never decides the origin, except that a document given as a URL on the command line
//! makes that URL's origin the default: the user typed it. Header values and the values of variables
//! stay out of every text.

use http::{HeaderName, HeaderValue, header};

use crate::{
    allowlist::{Allowlist, Header, HeaderPiece},
    config::{Inputs, Limits, Override, url},
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
    let flag = chosen(&inputs.upstreams, &source.name);
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
    let document = chosen(&inputs.documents, &source.name).filter(|flag| is_url(&flag.value));
    if let Some(document) = document {
        return parsed(&document_origin(&document.value), "the document's URL".to_owned());
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

/// The override for a toolset: the one that names it, else the bare one.
fn chosen<'a>(overrides: &'a [Override], toolset: &str) -> Option<&'a Override> {
    let named = overrides.iter().rfind(|one| one.toolset.as_deref() == Some(toolset));
    named.or_else(|| overrides.iter().rfind(|one| one.toolset.is_none()))
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

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
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
    origin: Origin,
    allowlist: &Allowlist,
    source: &ToolsetSource,
    shared: bool,
    limits: &Limits,
) -> Result<Target, Vec<Diagnostic>> {
    let base_path = base_path(&origin, allowlist);
    let forward = forward(allowlist, shared);
    let (headers, header_faults) =
        split(allowlist.headers.iter().map(|header| resolved(header, source)));
    let (forward, forward_faults) = split(forward.into_iter());
    let faults: Vec<_> = header_faults.into_iter().chain(forward_faults).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let max_in_flight = allowlist.max_in_flight.unwrap_or(limits.upstream_calls);
    Ok(Target {
        upstream: origin.upstream,
        base_path,
        from: origin.from,
        headers,
        forward,
        max_in_flight,
    })
}

fn base_path(origin: &Origin, allowlist: &Allowlist) -> Option<String> {
    let stated =
        allowlist.base_path.as_ref().map(|path| path.value.trim_end_matches('/').to_owned());
    stated.or_else(|| origin.path.clone())
}

fn forward(allowlist: &Allowlist, shared: bool) -> Vec<Result<HeaderName, Diagnostic>> {
    let Some(names) = &allowlist.forward else {
        return if shared { vec![Ok(header::AUTHORIZATION)] } else { Vec::new() };
    };
    let name = |name: &crate::allowlist::Located<String>| {
        let fault = || {
            Diagnostic::error(format!("`{}` is no header name", name.value))
                .at(name.position.clone())
        };
        HeaderName::try_from(name.value.as_str()).map_err(|_| fault())
    };
    names.iter().map(name).collect()
}

fn split<T>(results: impl Iterator<Item = Result<T, Diagnostic>>) -> (Vec<T>, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let good =
        results.filter_map(|result| result.map_err(|fault| faults.push(fault)).ok()).collect();
    (good, faults)
}

fn resolved(
    header: &Header,
    source: &ToolsetSource,
) -> Result<(HeaderName, HeaderValue), Diagnostic> {
    let at = |fault: Diagnostic| fault.at(header.name.position.clone());
    let name = &header.name.value;
    let parts = header.value.iter().map(|piece| resolved_piece(piece, source));
    let text = parts.collect::<Result<String, Diagnostic>>().map_err(at)?;
    let wrong = || {
        at(Diagnostic::error(format!(
            "the value of header `{name}` has characters a header cannot carry"
        )))
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| wrong())?;
    value.set_sensitive(true);
    let name = HeaderName::try_from(name.as_str())
        .map_err(|_| at(Diagnostic::error(format!("`{name}` is no header name"))))?;
    Ok((name, value))
}

fn resolved_piece(piece: &HeaderPiece, source: &ToolsetSource) -> Result<String, Diagnostic> {
    match piece {
        HeaderPiece::Text(text) => Ok(text.clone()),
        HeaderPiece::Variable(name) => {
            let value = source
                .variables
                .iter()
                .find(|(known, _)| known == name)
                .and_then(|(_, value)| value.clone());
            let fault =
                || Diagnostic::error(format!("`${{{name}}}` is not set in the environment"));
            value.ok_or_else(|| {
                fault().help(format!("set `{name}` before the start, or remove the header"))
            })
        }
        HeaderPiece::File(path) => secret(path, source),
    }
}

fn secret(path: &str, source: &ToolsetSource) -> Result<String, Diagnostic> {
    let unread = || Diagnostic::error(format!("`{path}` was not read"));
    let (_, input) = source.files.iter().find(|(written, _)| written == path).ok_or_else(unread)?;
    let fault = |why: &Diagnostic| Diagnostic::error(format!("`{path}` {}", why.message));
    let bytes = input.content.as_ref().map_err(fault)?;
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Diagnostic::error(format!("`{path}` is not UTF-8")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
