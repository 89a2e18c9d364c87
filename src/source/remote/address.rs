//! URLs of documents: what to ask for, what to show, and where a redirect may lead. Pure.

use url::{Host, Url};

use super::page::PAGES;

/// What a base URL is asked for, in this order.
const NAMES: [&str; 2] = ["openapi.json", "openapi.yaml"];

/// A document's URL.
#[derive(Clone, Debug)]
pub(super) struct Address {
    url: Url,
}

impl Address {
    /// # Errors
    /// When it is no URL of a host, or carries a password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("is no URL: {error}"))?;
        if has_credentials(&url) {
            let way_out = "leave them out, or save the document as a file";
            return Err(format!("a user or password in a URL is not supported; {way_out}"));
        }
        Ok(Self { url })
    }

    /// What to ask for until something answers: the URL itself, or the usual names below a base URL and
    /// then the pages that show a document.
    pub(super) fn candidates(&self) -> Vec<Url> {
        if !self.is_base() {
            return vec![self.url.clone()];
        }
        NAMES.iter().chain(&PAGES).filter_map(|name| self.url.join(name).ok()).collect()
    }

    /// Whether it names a place that has a document, rather than the document.
    pub(super) fn is_base(&self) -> bool {
        self.url.path().ends_with('/') && self.url.query().is_none()
    }

    /// Whether it is of this machine.
    pub(super) fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

/// A URL as people are shown it: without the user and password that it should not have.
pub(in crate::source) fn shown(text: &str) -> String {
    match Url::parse(text) {
        Ok(mut url) if has_credentials(&url) => {
            // Neither fails for a URL that has them.
            let _ = url.set_username("…").and_then(|()| url.set_password(None));
            url.to_string().replace("%E2%80%A6", "…")
        }
        _ => text.to_owned(),
    }
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Where a redirect leads.
///
/// # Errors
/// When that is another origin: whoever answers there was not named by the user.
pub(super) fn redirected(from: &Url, location: &str) -> Result<Url, String> {
    let to = from.join(location).map_err(|error| format!("redirects to no URL: {error}"))?;
    if to.origin() != from.origin() || has_credentials(&to) {
        let origin = to.origin().ascii_serialization();
        return Err(format!("redirects to another origin, `{origin}`; name that URL instead"));
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_asked_for_the_usual_names() {
        let check = |url: &str, expected: &[&str]| {
            let candidates = Address::parse(url).unwrap().candidates();
            assert_eq!(candidates.iter().map(Url::as_str).collect::<Vec<_>>(), expected);
        };
        let below = |base: &str| {
            let names = [
                "openapi.json",
                "openapi.yaml",
                "",
                "docs",
                "redoc",
                "swagger-ui/index.html",
                "scalar",
            ];
            names.map(|name| format!("{base}{name}"))
        };
        let names = below("http://localhost:8000/");
        check("http://localhost:8000", &names.each_ref().map(String::as_str));
        check("http://localhost:8000/", &names.each_ref().map(String::as_str));
        check("http://h/api/", &below("http://h/api/").each_ref().map(String::as_str));
        check("http://h/v3/api-docs", &["http://h/v3/api-docs"]);
        check("http://h/?spec=1", &["http://h/?spec=1"]);
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        let check = |url: &str, expected: bool| {
            assert_eq!(Address::parse(url).unwrap().is_loopback(), expected, "{url}");
        };
        check("http://localhost:8000", true);
        check("http://api.localhost", true);
        check("http://127.8.8.8/", true);
        check("http://[::1]:80/", true);
        check("http://localhost.example.com/", false);
        check("http://10.0.0.1/", false);
    }

    #[test]
    fn credentials_are_refused_and_not_shown() {
        let check = |url: &str, expected: &str| {
            assert!(Address::parse(url).is_err_and(|words| !words.contains("hunter2")));
            assert_eq!(shown(url), expected);
        };
        check("https://me:hunter2@h/a.json", "https://…@h/a.json");
        check("https://hunter2@h/a.json", "https://…@h/a.json");
        assert_eq!(shown("http://h"), "http://h");
    }

    #[test]
    fn redirects_stay_within_their_origin() {
        let from = Url::parse("http://h:80/docs/a").unwrap();
        let to = |location: &str| redirected(&from, location).map(String::from);
        assert_eq!(to("b").unwrap(), "http://h/docs/b");
        assert_eq!(to("//h/c").unwrap(), "http://h/c");
        let other = "redirects to another origin, `https://h`; name that URL instead";
        assert_eq!(to("https://h/docs/a").unwrap_err(), other);
        assert!(to("http://h:81/").is_err());
        assert!(to("http://me@h/").is_err());
        assert!(to("file:///etc/passwd").is_err());
    }
}
