//! Where and how the server is reached.
//!
//! Over stdio there is one client and no address, so nothing that only HTTP knows can be set beside it:
//! [`Serving`] has no room for it.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use url::Url;

use crate::diagnostic::{Diagnostic, quote};

/// How clients reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serving {
    /// One client, over standard input and output.
    Stdio,
    /// Streamable HTTP at `/mcp`.
    Http(Http),
}

/// Serving over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// The address to listen on; port 0 is any free one.
    pub listen: SocketAddr,
    /// The URLs under which browsers and proxies reach it; only their origins count.
    pub public_urls: Vec<Url>,
    /// The file with the token that every caller must show; `None` lets in whoever reaches the address.
    pub token_file: Option<PathBuf>,
}

/// Who can make calls, as far as the address and the flags tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Whoever uses this machine, the one client over stdio, or whom the embedding service lets in.
    Known,
    /// Whoever has the token of `--inbound-token-file`.
    TokenHolders,
    /// Whoever reaches the address.
    Anyone,
}

impl Serving {
    /// Who can make calls.
    pub fn audience(&self) -> Audience {
        match self {
            Self::Stdio => Audience::Known,
            Self::Http(http) if http.token_file.is_some() => Audience::TokenHolders,
            Self::Http(http) if http.listen.ip().to_canonical().is_loopback() => Audience::Known,
            Self::Http(_) => Audience::Anyone,
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The default address; loopback, so that nothing is open to the network unasked.
pub const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7676);

impl Default for Http {
    fn default() -> Self {
        Self { listen: LISTEN, public_urls: Vec::new(), token_file: None }
    }
}

impl Default for Serving {
    fn default() -> Self {
        Self::Http(Http::default())
    }
}

/// Reads an address to listen on: `127.0.0.1:7676`, `[::1]:7676`, `0.0.0.0:7676` or `localhost:7676`.
/// Other names are left out: what they resolve to can change.
///
/// # Errors
/// When the text is anything else.
pub fn listen(text: &str) -> Result<SocketAddr, Diagnostic> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    if let Some(port) = local {
        return Ok(SocketAddr::new(LISTEN.ip(), port));
    }
    text.parse().map_err(|_| {
        let fault = Diagnostic::error(format!("{} is no address to listen on", quote(text)));
        match text.trim_start_matches(':').parse::<u16>() {
            Ok(port) => fault.help(format!("write `127.0.0.1:{port}`")),
            Err(_) => fault.help("write an IP address and a port, like `127.0.0.1:7676`"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_literal_or_localhost() {
        let check = |text: &str, expected: &str| {
            assert_eq!(listen(text).map(|address| address.to_string()), Ok(expected.to_owned()));
        };
        check("127.0.0.1:7676", "127.0.0.1:7676");
        check("0.0.0.0:80", "0.0.0.0:80");
        check("[::1]:0", "[::1]:0");
        check("localhost:8080", "127.0.0.1:8080");
    }

    #[test]
    fn other_addresses_are_refused_with_the_way_out() {
        let check = |text: &str, help: &str| {
            let fault = listen(text).unwrap_err();
            assert_eq!(fault.message, format!("`{text}` is no address to listen on"));
            assert_eq!(fault.help.as_deref(), Some(help));
        };
        check("7676", "write `127.0.0.1:7676`");
        check(":7676", "write `127.0.0.1:7676`");
        check("example.com:80", "write an IP address and a port, like `127.0.0.1:7676`");
        check("127.0.0.1", "write an IP address and a port, like `127.0.0.1:7676`");
        check("localhost:99999", "write an IP address and a port, like `127.0.0.1:7676`");
        check("", "write an IP address and a port, like `127.0.0.1:7676`");
    }

    #[test]
    fn an_open_address_without_a_token_is_for_anyone() {
        let check = |listen: &str, token_file: Option<&str>, expected: Audience| {
            let token_file = token_file.map(PathBuf::from);
            let http = Http { listen: listen.parse().unwrap(), token_file, ..Http::default() };
            assert_eq!(Serving::Http(http).audience(), expected, "{listen}");
        };
        check("127.0.0.1:1", None, Audience::Known);
        check("[::1]:1", None, Audience::Known);
        check("[::ffff:127.0.0.1]:1", None, Audience::Known);
        check("0.0.0.0:1", None, Audience::Anyone);
        check("[::]:1", None, Audience::Anyone);
        check("192.0.2.1:1", None, Audience::Anyone);
        check("0.0.0.0:1", Some("token"), Audience::TokenHolders);
        check("127.0.0.1:1", Some("token"), Audience::TokenHolders);
        assert_eq!(Serving::Stdio.audience(), Audience::Known);
    }

    #[test]
    fn the_default_is_loopback() {
        let Serving::Http(http) = Serving::default() else { panic!("not HTTP") };
        assert_eq!(http.listen.to_string(), "127.0.0.1:7676");
    }
}
