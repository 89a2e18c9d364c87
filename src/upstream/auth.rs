//! The headers that every call carries, and whose they are.
//!
//! Three owners, the later wins: the arguments, the caller (its trace, and what the toolset's `forward`
//! names), the operator (`headers` of the allowlist). Cookies are joined. A caller's credentials belong to one
//! call: nothing here keeps them.

use std::fmt;

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, COOKIE, USER_AGENT},
};

use super::{secret::Secrets, trace::Trace};
use crate::registry::plan::Target;

/// Any reply is welcome, JSON most.
const ANYTHING: HeaderValue = HeaderValue::from_static("application/json, */*;q=0.5");

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("toolgate/", env!("CARGO_PKG_VERSION")));

/// Headers that describe the message or the connection they came on; never passed on.
const FRAMING: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The caller's headers that may go upstream, filtered by the toolset's `forward`, and its trace; not
/// stored past the call.
#[derive(Clone, Default)]
pub struct CallerAuth {
    headers: HeaderMap,
    trace: Trace,
}

/// Redacted.
impl fmt::Debug for CallerAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallerAuth(…)")
    }
}

impl CallerAuth {
    /// Of the caller's headers, those that `target` forwards.
    pub fn of(headers: &HeaderMap, target: &Target) -> Self {
        let mut kept = HeaderMap::new();
        let names = target.forward.iter().filter(|name| !FRAMING.contains(&name.as_str()));
        for name in names {
            if kept.contains_key(name) {
                continue; // named twice
            }
            for value in headers.get_all(name) {
                let mut value = value.clone();
                value.set_sensitive(true);
                kept.append(name, value);
            }
        }
        Self { headers: kept, trace: Trace::default() }
    }

    /// The same within this trace.
    #[must_use]
    pub fn traced(self, trace: Trace) -> Self {
        Self { trace, ..self }
    }
}

/// The `Authorization` value of a credential that was given without its header: a token, or a whole
/// value with its scheme. Marked sensitive.
///
/// # Errors
/// In words without the credential, when it cannot be a header.
pub fn authorization(credential: &str) -> Result<HeaderValue, String> {
    let credential = credential.trim();
    let value = match credential.contains(' ') {
        true => credential.to_owned(),
        false => format!("Bearer {credential}"),
    };
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| "has characters that no header may hold".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// All headers of a request.
pub(super) fn headers(arguments: HeaderMap, target: &Target, auth: &CallerAuth) -> HeaderMap {
    let mut headers = arguments;
    headers.insert(ACCEPT, ANYTHING);
    headers.insert(USER_AGENT, AGENT);
    for (name, value) in auth.trace.headers() {
        headers.insert(name, value.clone());
    }
    let forwarded: Vec<_> = auth.headers.iter().collect();
    replace(&mut headers, &forwarded);
    let configured = target.headers.iter().map(|(name, value)| (name, value));
    let configured: Vec<_> = configured.filter(|(name, _)| is_configurable(name)).collect();
    replace(&mut headers, &configured);
    headers
}

/// The operator may name a host and a media type, but not lengths and connections.
fn is_configurable(name: &HeaderName) -> bool {
    matches!(name.as_str(), "host" | "content-type") || !FRAMING.contains(&name.as_str())
}

/// Puts headers in the place of those of the same names; cookies are joined, the newer ones first.
fn replace(headers: &mut HeaderMap, newer: &[(&HeaderName, &HeaderValue)]) {
    let older_cookies = headers.remove(COOKIE);
    for (name, _) in newer {
        headers.remove(*name);
    }
    for (name, value) in newer {
        let mut value = HeaderValue::clone(value);
        value.set_sensitive(true);
        headers.append(*name, value);
    }
    if let Some(older) = older_cookies {
        let mut cookies: Vec<_> =
            headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        cookies.push(older.as_bytes());
        let mut joined = HeaderValue::from_bytes(&cookies.join(&b"; "[..]))
            .expect("header values joined with a blank and a semicolon are one");
        joined.set_sensitive(true);
        headers.insert(COOKIE, joined);
    }
}

/// The credentials of a call, to be kept out of its answer.
pub(super) fn secrets(target: &Target, auth: &CallerAuth) -> Secrets {
    Secrets::of(auth.headers.iter().chain(target.headers.iter().map(|(name, value)| (name, value))))
}

/// Whether a call carries any credential, as far as one can tell.
pub(super) fn has_credential(target: &Target, auth: &CallerAuth) -> bool {
    !auth.headers.is_empty() || !target.headers.is_empty()
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;

    use super::*;
    use crate::upstream::request::tests::target;

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn forwarding(names: &[&'static str]) -> Target {
        let forward = names.iter().map(|name| HeaderName::from_static(name)).collect();
        Target { forward, ..target("http://api.test") }
    }

    #[track_caller]
    fn check(
        target: &Target,
        caller: &[(&'static str, &'static str)],
        name: &str,
        expected: &[&str],
    ) {
        let auth = CallerAuth::of(&map(caller), target);
        let headers = headers(map(&[("cookie", "plan=1"), ("x-trace", "argument")]), target, &auth);
        let values: Vec<_> =
            headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect();
        assert_eq!(values, expected);
    }

    #[test]
    fn only_named_headers_are_forwarded() {
        let caller = [("authorization", "Bearer a"), ("x-tenant", "t"), ("host", "h")];
        check(&forwarding(&["authorization"]), &caller, "authorization", &["Bearer a"]);
        check(&forwarding(&["authorization"]), &caller, "x-tenant", &[]);
        check(&forwarding(&[]), &caller, "authorization", &[]);
        check(&forwarding(&["x-tenant", "x-tenant"]), &caller, "x-tenant", &["t"]);
        check(&forwarding(&["host", "content-length"]), &caller, "host", &[]);
    }

    #[test]
    fn the_operators_headers_win_over_the_callers_and_those_over_arguments() {
        let mut target = forwarding(&["authorization", "x-trace"]);
        check(&target, &[("x-trace", "caller")], "x-trace", &["caller"]);
        check(&target, &[], "x-trace", &["argument"]);
        target.headers = vec![(AUTHORIZATION, HeaderValue::from_static("Key k"))];
        check(&target, &[("authorization", "Bearer a")], "authorization", &["Key k"]);
        target.headers = vec![("content-length".parse().unwrap(), HeaderValue::from_static("9"))];
        check(&target, &[], "content-length", &[]);
    }

    #[test]
    fn cookies_are_joined_the_callers_first() {
        check(&forwarding(&["cookie"]), &[("cookie", "sid=x")], "cookie", &["sid=x; plan=1"]);
        check(&forwarding(&[]), &[("cookie", "sid=x")], "cookie", &["plan=1"]);
    }

    #[test]
    fn toolgate_names_itself_and_what_it_reads() {
        let agent = concat!("toolgate/", env!("CARGO_PKG_VERSION"));
        check(&forwarding(&[]), &[], "user-agent", &[agent]);
        check(&forwarding(&[]), &[], "accept", &["application/json, */*;q=0.5"]);
    }

    #[test]
    fn a_credential_of_the_environment_goes_where_authorization_is_forwarded() {
        let sent = |credential: &str, target: &Target| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization(credential)?)]);
            let auth = CallerAuth::of(&headers, target);
            Ok::<_, String>(
                auth.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned()),
            )
        };
        let open = forwarding(&["authorization"]);
        assert_eq!(sent(" abc\n", &open), Ok(Some("Bearer abc".to_owned())));
        assert_eq!(sent("Basic abc", &open), Ok(Some("Basic abc".to_owned())));
        assert_eq!(sent("abc", &forwarding(&[])), Ok(None));
        let words = sent("a\u{0}bc", &open).unwrap_err();
        assert!(!words.contains("bc"), "{words}");
    }

    #[test]
    fn credentials_are_hidden_when_printed() {
        let auth = CallerAuth::of(
            &map(&[("authorization", "Bearer s3cret")]),
            &forwarding(&["authorization"]),
        );
        assert!(!format!("{auth:?} {:?}", auth.headers).contains("s3cret"));
    }
}
