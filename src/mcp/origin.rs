//! Who may call, judged by `Host` and `Origin` before anything of a request is read.
//!
//! A web page can make a browser send requests anywhere, also to a name that it has pointed at this
//! machine. So a request with an `Origin` is served only when that is the origin of a public URL, or
//! equals `Host` where `Host` is a loopback name or an IP literal, which no foreign page can own. And
//! on a loopback bind, or embedded in a router whose bind is not known, `Host` must itself be a
//! loopback name or a public URL's. Requests without `Origin` come from no browser: no Origin rule.
//! Pure: values in, verdict out.

use std::{net::IpAddr, str::FromStr};

use http::{HeaderMap, HeaderName, StatusCode, Uri, header, uri::Authority};
use rmcp::model::ErrorCode;

use super::refusal::Refusal;

/// Where the server listens, as far as the rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// On a loopback address: only this machine, so `Host` must be one of its names.
    Loopback,
    /// Anywhere else.
    Public,
    /// In another service's router: the strict rule holds, as on loopback.
    Embedded,
}

impl From<IpAddr> for Bind {
    fn from(address: IpAddr) -> Self {
        if address.to_canonical().is_loopback() { Self::Loopback } else { Self::Public }
    }
}

/// The rules of one server.
#[derive(Clone, Debug)]
pub struct Origins {
    bind: Bind,
    public: Vec<Origin>,
}

impl Origins {
    /// Rules for a bind and the values of `--public-url`, of which the origin counts.
    ///
    /// # Errors
    /// When a value is no `http` or `https` URL.
    pub fn new<'a>(
        bind: Bind,
        public_urls: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let public = public_urls.into_iter().map(|url| {
            Origin::of_url(url).ok_or_else(|| {
                format!("`{url}` is no public URL; give one like `https://mcp.example.com`")
            })
        });
        Ok(Self { bind, public: public.collect::<Result<_, _>>()? })
    }

    /// Whether a request with these headers may go on.
    pub(super) fn judge(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
        let host = host(headers, uri);
        if self.bind != Bind::Public && !host.as_ref().is_some_and(|host| self.knows(host)) {
            return Err(self.refuse("Host", &shown(headers, &header::HOST)));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let origin = origin.to_str().ok().and_then(|text| text.parse::<Origin>().ok());
        let allowed = origins.next().is_none()
            && origin.is_some_and(|origin| {
                self.public.contains(&origin) || host.is_some_and(|host| host.is_safe_for(&origin))
            });
        if allowed { Ok(()) } else { Err(self.refuse("Origin", &shown(headers, &header::ORIGIN))) }
    }

    fn knows(&self, host: &Host) -> bool {
        let is_its = |public: &Origin| {
            public.name == host.name && host.port.is_none_or(|port| port == public.port)
        };
        is_loopback(&host.name) || self.public.iter().any(is_its)
    }

    fn refuse(&self, what: &str, value: &str) -> Refusal {
        let way = match self.bind {
            Bind::Embedded => {
                "give the builder the URL that clients use as a public URL (as `--public-url` does)"
            }
            Bind::Loopback | Bind::Public => {
                "start with `--public-url` and the URL that clients use"
            }
        };
        let words = format!("{what} `{value}` is not allowed; if it should be, {way}");
        Refusal::new(StatusCode::FORBIDDEN, ErrorCode::INVALID_REQUEST, words)
    }
}

/// A web origin; the port is explicit, names are lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: Scheme,
    name: Name,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn of(uri: &Uri) -> Option<Self> {
        match uri.scheme_str()?.to_ascii_lowercase().as_str() {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    fn of_url(url: &str) -> Option<Self> {
        let uri = Uri::from_str(url).ok()?;
        let scheme = Scheme::of(&uri)?;
        let Host { name, port } = Host::of(uri.authority()?)?;
        Some(Self { scheme, name, port: port.unwrap_or(scheme.port()) })
    }
}

/// As a browser sends it: scheme, host and port, nothing after; `null` is none.
impl FromStr for Origin {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (_, rest) = text.split_once("://").ok_or(())?;
        if rest.contains(['/', '?', '#', ' ']) {
            return Err(());
        }
        Self::of_url(text).ok_or(())
    }
}

/// The value of a `Host` header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: Name,
    port: Option<u16>,
}

impl Host {
    fn of(authority: &Authority) -> Option<Self> {
        let text = authority.as_str();
        if text.contains('@') {
            return None;
        }
        let rest = text.strip_prefix(authority.host())?;
        let port = match rest.strip_prefix(':') {
            None => None,
            Some(port) => Some(port.parse().ok()?),
        };
        Some(Self { name: Name::of(authority.host()), port })
    }

    /// Whether a page of this origin can only have come from this host itself.
    fn is_safe_for(&self, origin: &Origin) -> bool {
        let own = is_loopback(&self.name) || matches!(self.name, Name::Address(_));
        own && self.name == origin.name && self.port.unwrap_or(origin.scheme.port()) == origin.port
    }
}

/// A host's name; an address in whatever spelling is one value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Address(IpAddr),
    Domain(String),
}

impl Name {
    fn of(host: &str) -> Self {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match bare.unwrap_or(host).parse::<IpAddr>() {
            Ok(address) => Self::Address(address.to_canonical()),
            Err(_) => Self::Domain(host.to_ascii_lowercase()),
        }
    }
}

fn is_loopback(name: &Name) -> bool {
    match name {
        Name::Address(address) => address.is_loopback(),
        Name::Domain(name) => name == "localhost",
    }
}

fn host(headers: &HeaderMap, uri: &Uri) -> Option<Host> {
    let mut values = headers.get_all(header::HOST).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Host::of(&value.to_str().ok()?.parse::<Authority>().ok()?),
        (None, None) => Host::of(uri.authority()?),
        _ => None,
    }
}

fn shown(headers: &HeaderMap, name: &HeaderName) -> String {
    let value = headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    value.map_or_else(|| "(none)".into(), |value| value.chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &[&str] = &["https://mcp.example.com/mcp", "http://Other.example:8080"];

    fn judge(bind: Bind, host: &str, origin: &str) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if !value.is_empty() {
                headers.insert(name, value.parse().unwrap());
            }
        }
        let rules = Origins::new(bind, PUBLIC.iter().copied()).unwrap();
        rules.judge(&headers, &Uri::from_static("/mcp"))
    }

    fn check(bind: Bind, host: &str, origin: &str, allowed: bool) {
        let verdict = judge(bind, host, origin);
        assert_eq!(verdict.is_ok(), allowed, "{bind:?}: host `{host}`, origin `{origin}`");
        if let Err(refusal) = verdict {
            assert_eq!(refusal.status, 403);
            assert!(String::from_utf8(refusal.json()).unwrap().contains("--public-url"));
        }
    }

    #[test]
    fn loopback_bind_wants_a_loopback_or_public_host() {
        for host in [
            "localhost",
            "localhost:7676",
            "LOCALHOST:7676",
            "127.0.0.1:7676",
            "127.8.9.1",
            "[::1]:7676",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            check(Bind::Loopback, host, "", true);
            check(Bind::Embedded, host, "", true);
            check(Bind::Public, host, "", true);
        }
        for host in [
            "mcp.example.com",
            "mcp.example.com:443",
            "MCP.example.com",
            "other.example:8080",
            "other.example",
        ] {
            check(Bind::Loopback, host, "", true);
            check(Bind::Embedded, host, "", true);
        }
        for host in [
            "evil.test",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "mcp.example.com:444",
            "mcp.example.com.",
            "localhost.",
            "10.0.0.5:7676",
            "[2001:db8::1]",
            "",
            "user@localhost",
            "localhost:x",
        ] {
            check(Bind::Loopback, host, "", false);
            check(Bind::Embedded, host, "", false);
            check(Bind::Public, host, "", true);
        }
    }

    #[test]
    fn an_origin_must_be_public_or_equal_a_safe_host() {
        for bind in [Bind::Loopback, Bind::Public, Bind::Embedded] {
            check(bind, "localhost:7676", "http://localhost:7676", true);
            check(bind, "localhost:7676", "https://localhost:7676", true);
            check(bind, "localhost:7676", "HTTP://LocalHost:7676", true);
            check(bind, "127.0.0.1:7676", "http://127.0.0.1:7676", true);
            check(bind, "[::1]:7676", "http://[::1]:7676", true);
            check(bind, "[0:0::1]:7676", "http://[::1]:7676", true);
            check(bind, "localhost", "http://localhost", true);
            check(bind, "localhost:80", "http://localhost", true);
            check(bind, "localhost", "http://localhost:80", true);
            check(bind, "localhost:443", "https://localhost", true);
            check(bind, "localhost:7676", "https://mcp.example.com", true);
            check(bind, "mcp.example.com", "https://mcp.example.com:443", true);
            check(bind, "localhost:7676", "http://other.example:8080", true);

            check(bind, "localhost:7676", "http://localhost:3000", false);
            check(bind, "localhost:7676", "http://127.0.0.1:7676", false);
            check(bind, "localhost:7676", "http://evil.test", false);
            check(bind, "localhost:7676", "http://evil.test:7676", false);
            check(bind, "localhost:7676", "null", false);
            check(bind, "localhost:7676", "http://localhost:7676/", false);
            check(bind, "localhost:7676", "localhost:7676", false);
            check(bind, "localhost:7676", "file://localhost:7676", false);
            check(bind, "localhost:7676", "chrome-extension://abcdef", false);
            check(bind, "localhost:7676", "http://mcp.example.com", false);
            check(bind, "localhost:7676", "http://user@localhost:7676", false);
            check(bind, "localhost:443", "http://localhost", false);
        }
    }

    #[test]
    fn a_name_that_can_be_pointed_anywhere_is_no_proof() {
        check(Bind::Public, "evil.test:7676", "http://evil.test:7676", false);
        check(Bind::Public, "10.0.0.5:7676", "http://10.0.0.5:7676", true);
        check(Bind::Public, "[2001:db8::1]:7676", "http://[2001:DB8::1]:7676", true);
        check(Bind::Public, "10.0.0.5:7676", "http://10.0.0.6:7676", false);
        check(Bind::Public, "mcp.example.com", "https://mcp.example.com", true);
    }

    #[test]
    fn two_values_are_none() {
        let rules = Origins::new(Bind::Public, []).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "localhost".parse().unwrap());
        headers.append(header::ORIGIN, "http://localhost".parse().unwrap());
        assert!(rules.judge(&headers, &Uri::from_static("/mcp")).is_ok());
        headers.append(header::ORIGIN, "http://localhost".parse().unwrap());
        assert!(rules.judge(&headers, &Uri::from_static("/mcp")).is_err());
        headers.remove(header::ORIGIN);
        headers.append(header::HOST, "localhost".parse().unwrap());
        let strict = Origins::new(Bind::Loopback, []).unwrap();
        assert!(strict.judge(&headers, &Uri::from_static("/mcp")).is_err());
    }

    #[test]
    fn a_public_url_must_be_one() {
        for url in ["mcp.example.com", "ftp://mcp.example.com", "", "/mcp"] {
            assert!(
                Origins::new(Bind::Public, [url]).unwrap_err().contains("no public URL"),
                "{url}"
            );
        }
    }

    #[test]
    fn the_bind_follows_the_address() {
        for (address, bind) in [
            ("127.0.0.1", Bind::Loopback),
            ("::1", Bind::Loopback),
            ("::ffff:127.0.0.1", Bind::Loopback),
            ("0.0.0.0", Bind::Public),
            ("::", Bind::Public),
            ("192.168.1.4", Bind::Public),
        ] {
            assert_eq!(Bind::from(address.parse::<IpAddr>().unwrap()), bind, "{address}");
        }
    }
}
