//! The URLs a person may give: where calls go, what the server is called from outside, and where a
//! document is.
//!
//! They are `http` or `https`, name a host and carry no user name or password, and only a document's has
//! a query. What the standard parser would mend without a word (spaces, tabs, backslashes) is refused,
//! so that a configured URL is the one that is used.

use url::Url;

use crate::diagnostic::{Diagnostic, quote};

/// An origin, optionally with a path: `http://127.0.0.1:5230`, `https://api.example.com/v2`.
///
/// # Errors
/// When the text is anything else. A password in it is not repeated in the message.
pub fn origin(text: &str) -> Result<Url, Diagnostic> {
    let url = http(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Diagnostic::error(format!("{} has a query or a fragment", quote(text)))
            .help("give the origin, and a path if the API stands below one"));
    }
    Ok(url)
}

/// Any `http` or `https` URL with a host and without a user name or password.
///
/// # Errors
/// When the text is anything else. A password in it is not repeated in the message.
pub fn http(text: &str) -> Result<Url, Diagnostic> {
    // Before anything that repeats the text.
    let (_, rest) = text.split_once("://").unwrap_or(("", text));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(Diagnostic::error("a URL here must not hold a user name or a password")
            .help("send them as a header instead: `headers: { Authorization: \"${NAME}\" }`"));
    }
    // The parser takes `${` in a host, and adding a scheme would not mend it.
    if authority.contains("${") {
        return Err(Diagnostic::error(format!("{} is no http or https URL", quote(text))).help(
            "`${NAME}` is filled in only in `headers:` of an allowlist; write the URL itself",
        ));
    }
    // The parser drops or rewrites these.
    let mended = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    let url = Url::parse(text).ok().filter(|_| !text.contains(mended));
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| no_url(text))
}

/// A document: an `http` or `https` URL, or a path, which is anything else without a scheme.
///
/// # Errors
/// When the text is empty, has a control character, or is a URL that is not read.
pub fn document(text: &str) -> Result<&str, Diagnostic> {
    if text.trim().is_empty() || text.contains(char::is_control) {
        return Err(Diagnostic::error(format!("{} is no document", quote(text)))
            .help("give a path or an http(s) URL"));
    }
    // A colon and two slashes are in no sensible path, but in every URL.
    match text.split_once("://") {
        Some(_) if is_url(text) => http(text).map(|_| text),
        Some((scheme, _)) => {
            let words = format!("documents are not read over {}", quote(scheme));
            Err(Diagnostic::error(words).help("give a path or an http(s) URL"))
        }
        None => Ok(text),
    }
}

/// Whether what [`document`] took is a URL rather than a path.
pub fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

fn no_url(text: &str) -> Diagnostic {
    let fault = Diagnostic::error(format!("{} is no http or https URL", quote(text)));
    // `localhost:8000` is what people type first.
    let bare = !text.contains("://") && !text.starts_with('/') && !text.contains([' ', '\\']);
    match Url::parse(&format!("http://{text}")) {
        Ok(url) if bare && url.has_host() => fault.help(format!("write `http://{text}`")),
        _ => fault.help("write it like `http://127.0.0.1:5230`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_with_and_without_a_path_are_taken() {
        for text in [
            "http://127.0.0.1:5230",
            "https://api.example.com",
            "https://api.example.com/v2/",
            "http://[::1]:80",
            "http://localhost/a@b",
        ] {
            assert!(origin(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_way_out() {
        let check = |text: &str, words: &str| {
            let fault = origin(text).unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        };
        check("localhost:8000", "write `http://localhost:8000`");
        check("api.example.com/v1", "write `http://api.example.com/v1`");
        check("${API_URL}", "filled in only in `headers:`");
        check("http://${API_HOST}/v1", "filled in only in `headers:`");
        check("", "`http://127.0.0.1:5230`");
        check("/api", "`http://127.0.0.1:5230`");
        check("ftp://host", "is no http or https URL");
        check("file:///etc/passwd", "is no http or https URL");
        check("http://", "is no http or https URL");
        check("http://host/a?b=c", "has a query");
        check("http://host/#a", "has a query or a fragment");
        check("http://ho st", "is no http or https URL");
        check("http://host/a\n", "is no http or https URL");
        check("http:\\\\host", "is no http or https URL");
    }

    #[test]
    fn documents_are_paths_or_urls() {
        for text in ["a.yaml", "../spec/a b.yaml", "C:\\spec.yaml", "http://localhost:8000/a?b=c#d"]
        {
            assert_eq!(document(text), Ok(text));
        }
        for text in ["", " ", "a\nb", "ftp://host/a", "file:///a", "https://me:secret@host/a"] {
            let fault = document(text).unwrap_err().to_string();
            assert!(!fault.contains("secret"), "{fault}");
        }
    }

    #[test]
    fn urls_are_told_from_paths() {
        let check = |text: &str, expected: bool| assert_eq!(is_url(text), expected, "{text}");
        check("http://localhost:8000", true);
        check("HTTPS://example.com/openapi.json", true);
        check("spec/openapi.yaml", false);
        check("ftp://example.com/a", false);
        check("http", false);
    }

    #[test]
    fn passwords_are_refused_and_not_repeated() {
        for text in [
            "http://me:secret@host",
            "http://secret@host/",
            "https://@host",
            "me:secret@host",
            "http:secret@host/a",
        ] {
            let fault = origin(text).unwrap_err().to_string();
            assert!(fault.contains("must not hold a user name or a password"), "{fault}");
            assert!(!fault.contains("secret"), "{fault}");
        }
    }
}
