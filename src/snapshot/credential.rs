//! Whether a toolset may send a credential of its own, judged by who can call.
//!
//! A header with `${…}` is one, and so is an `Authorization` or a cookie that is written out: every
//! call sends it, whoever makes the call. On an address that anyone may reach it would lend the
//! operator's rights to everyone. Start and reload ask here alike, so an edit that adds such a header
//! is refused like one at the start. Values never stand in a message.

use http::header::{AUTHORIZATION, COOKIE};

use crate::{
    allowlist::{Allowlist, Header, HeaderPiece},
    config::Audience,
    diagnostic::Diagnostic,
};

/// Why a toolset cannot be served to this audience; empty when it can.
pub(super) fn faults(allowlist: &Allowlist, audience: Audience) -> Vec<Diagnostic> {
    match audience {
        Audience::Known => Vec::new(),
        Audience::TokenHolders => useless(allowlist).into_iter().collect(),
        Audience::Anyone => {
            allowlist.headers.iter().filter(|header| is_credential(header)).map(open).collect()
        }
    }
}

fn is_credential(header: &Header) -> bool {
    let is_written = [AUTHORIZATION, COOKIE].contains(&header.name.value);
    is_written || header.value.iter().any(|piece| !matches!(piece, HeaderPiece::Text(_)))
}

fn open(header: &Header) -> Diagnostic {
    let name = &header.name.value;
    Diagnostic::error(format!(
        "every call sends the credential in `{name}`, and anyone who reaches this address can call"
    ))
    .help("let callers show a token (`--inbound-token-file FILE`), or listen on this machine only (`--listen 127.0.0.1:7676`)")
    .at(header.name.position.clone())
}

/// The caller's `Authorization` is the token for this server, which is not passed on.
fn useless(allowlist: &Allowlist) -> Option<Diagnostic> {
    let forward = allowlist.forward.as_ref()?;
    let name = forward.iter().find(|name| name.value == AUTHORIZATION)?;
    Some(
        Diagnostic::error("`authorization` cannot be forwarded: with `--inbound-token-file` it is the token for toolgate itself")
            .help("give the upstream its credential in `headers:`, or leave the flag out")
            .at(name.position.clone()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{allowlist::parse, openapi::text::Text};

    #[track_caller]
    fn check(allowlist: &str, audience: Audience, expected: &[&str]) {
        let text = format!("document: a.yaml\nupstream: http://a\n{allowlist}\ntools: []\n");
        let text = Text::new("a.yaml", text.as_bytes()).unwrap();
        let faults = faults(&parse("a", &text).unwrap(), audience);
        assert_eq!(faults.len(), expected.len(), "{faults:?}");
        for (fault, words) in faults.iter().zip(expected) {
            let fault = fault.to_string();
            assert!(fault.starts_with("a.yaml:3:") && fault.contains(words), "{fault}");
            assert!(!fault.contains("s3cret"), "{fault}");
        }
    }

    #[test]
    fn a_credential_of_the_operator_is_not_lent_to_everyone() {
        for header in [
            "x-key: '${KEY}'",
            "x-key: 'a ${file:/k}'",
            "Authorization: s3cret",
            "cookie: s=s3cret",
        ] {
            let headers = format!("headers: {{ {header} }}");
            check(&headers, Audience::Anyone, &["`--inbound-token-file FILE`"]);
            check(&headers, Audience::Anyone, &["`--listen 127.0.0.1:7676`"]);
            check(&headers, Audience::TokenHolders, &[]);
            check(&headers, Audience::Known, &[]);
        }
        check("headers: { x-tenant: a, x-dollar: '$${A}' }", Audience::Anyone, &[]);
        check("forward: [authorization]", Audience::Anyone, &[]);
    }

    #[test]
    fn a_token_for_this_server_is_not_forwarded() {
        check(
            "forward: [X-A, Authorization]",
            Audience::TokenHolders,
            &["`authorization` cannot be forwarded"],
        );
        check("forward: [x-a]", Audience::TokenHolders, &[]);
    }
}
