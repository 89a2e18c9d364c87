//! Why a call came to no response, in words for a model.
//!
//! Each kind says whether the request can have been carried out: a model that does not know writes
//! twice. No text here holds an argument, a header or a path.

use std::{error::Error, io, time::Duration};

use super::response::time;

/// A call without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// As many calls as allowed are in flight.
    Busy(Bound),
    /// The request was never sent.
    Unsent(Unsent),
    /// The request was sent and nothing came back in time.
    TimedOut,
    /// The request was sent and no reply began within this time.
    Silent(Duration),
    /// The request was sent and the connection ended before a response.
    Broke,
    /// What came back is not HTTP.
    NotHttp,
    /// The service in this process failed without a response.
    Service,
}

/// What bounds the calls in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// `max_in_flight` of the upstream.
    Upstream(usize),
    /// The limit over all upstreams.
    All(usize),
}

/// Why a request was never sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unsent {
    /// Nothing listens there.
    Refused,
    /// The host name has no address.
    Name,
    /// No connection in time.
    TimedOut,
    /// The other side has no certificate that is trusted here, or speaks no TLS.
    Tls(String),
    /// Anything else, in the system's words.
    Other(String),
    /// Calls go to a service in this process and there is none.
    NoService,
}

impl Failure {
    /// The failure in words. `place` is the upstream as people know it, `reads` whether the operation
    /// only reads, `limit` the time of the call.
    pub(super) fn words(&self, place: &str, reads: bool, limit: Duration) -> String {
        let words = match self {
            Self::Busy(Bound::Upstream(n)) => {
                return format!(
                    "busy: the limit of {n} calls at once to this upstream is reached; try again in a moment"
                );
            }
            Self::Busy(Bound::All(n)) => {
                return format!(
                    "busy: the limit of {n} calls at once is reached; try again in a moment"
                );
            }
            Self::Unsent(why) => {
                return format!(
                    "cannot connect to {place}: {}; the call was not made",
                    why.words()
                );
            }
            Self::TimedOut => {
                let limit = time(limit);
                format!("the upstream did not answer within {limit}, the time limit of this tool")
            }
            Self::Silent(limit) => {
                let limit = time(*limit);
                format!(
                    "the upstream did not begin to answer within {limit}, the `first-byte-time` limit"
                )
            }
            Self::Broke => "the connection to the upstream broke before its reply".to_owned(),
            Self::NotHttp => "the upstream's reply is not valid HTTP".to_owned(),
            Self::Service => "the service failed without a reply".to_owned(),
        };
        if reads { words } else { format!("{words}; {UNSURE}") }
    }
}

/// What a write says that was sent and not answered.
pub(super) const UNSURE: &str = "it may have been carried out, so check before you repeat it";

impl Unsent {
    fn words(&self) -> String {
        match self {
            Self::Refused => "connection refused".to_owned(),
            Self::Name => "the host name cannot be resolved".to_owned(),
            Self::TimedOut => "no connection in time".to_owned(),
            Self::Tls(words) => format!("TLS failed ({words}{})", way_out(words)),
            Self::Other(words) => words.clone(),
            Self::NoService => "there is no service in this process".to_owned(),
        }
    }

    /// Why a connector failed, told from its chain of causes.
    pub(super) fn of(error: &(dyn Error + 'static), tls: bool) -> Self {
        let mut causes: Vec<&(dyn Error + 'static)> = vec![error];
        let mut next = error.source();
        while let Some(cause) = next {
            causes.push(cause);
            next = cause.source();
        }
        let kinds = causes.iter().filter_map(|cause| cause.downcast_ref::<io::Error>());
        for kind in kinds.map(io::Error::kind) {
            match kind {
                io::ErrorKind::ConnectionRefused => return Self::Refused,
                io::ErrorKind::TimedOut => return Self::TimedOut,
                _ => {}
            }
        }
        // The resolver's error has no kind of its own; its text is the connector's.
        if causes.iter().any(|cause| cause.to_string().starts_with("dns error")) {
            return Self::Name;
        }
        let last = causes.last().map_or_else(String::new, |cause| cause.to_string());
        if tls { Self::Tls(last) } else { Self::Other(last) }
    }
}

/// What whoever runs toolgate or the upstream can do about a certificate that is refused.
fn way_out(words: &str) -> &'static str {
    if words.contains("UnknownIssuer") {
        ": `--ca-file FILE` makes toolgate trust an issuer"
    } else if words.contains("CaUsedAsEndEntity") {
        ": it is an authority's own; make the server's with `basicConstraints=CA:FALSE`"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(failure: &Failure, reads: bool, expected: &str) {
        assert_eq!(failure.words("`http://api.test`", reads, Duration::from_secs(30)), expected);
    }

    #[test]
    fn a_write_says_whether_it_can_have_been_carried_out() {
        check(
            &Failure::TimedOut,
            true,
            "the upstream did not answer within 30 s, the time limit of this tool",
        );
        check(
            &Failure::TimedOut,
            false,
            "the upstream did not answer within 30 s, the time limit of this tool; it may have been carried out, so check before you repeat it",
        );
        check(
            &Failure::Broke,
            false,
            "the connection to the upstream broke before its reply; it may have been carried out, so check before you repeat it",
        );
        check(
            &Failure::Unsent(Unsent::Refused),
            false,
            "cannot connect to `http://api.test`: connection refused; the call was not made",
        );
        check(
            &Failure::Busy(Bound::Upstream(64)),
            false,
            "busy: the limit of 64 calls at once to this upstream is reached; try again in a moment",
        );
    }

    #[test]
    fn a_certificate_that_is_refused_says_the_way_out() {
        let check = |words: &str, expected: &str| {
            let failure = Failure::Unsent(Unsent::Tls(words.to_owned()));
            check(
                &failure,
                true,
                &format!(
                    "cannot connect to `http://api.test`: TLS failed ({expected}); the call was not made"
                ),
            );
        };
        check("UnknownIssuer", "UnknownIssuer: `--ca-file FILE` makes toolgate trust an issuer");
        check(
            "CaUsedAsEndEntity",
            "CaUsedAsEndEntity: it is an authority's own; make the server's with `basicConstraints=CA:FALSE`",
        );
        check("Expired", "Expired");
    }

    #[test]
    fn causes_are_told_apart() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(Unsent::of(&refused, false), Unsent::Refused);
        let late = io::Error::from(io::ErrorKind::TimedOut);
        assert_eq!(Unsent::of(&late, true), Unsent::TimedOut);
        let dns = io::Error::other("dns error: no such host");
        assert_eq!(Unsent::of(&dns, true), Unsent::Name);
        let other = io::Error::other("bad certificate");
        assert_eq!(Unsent::of(&other, true), Unsent::Tls("bad certificate".into()));
        assert_eq!(Unsent::of(&other, false), Unsent::Other("bad certificate".into()));
    }
}
