//! The caller's trace, passed on so that its spans and the upstream's make one trace.
//!
//! A message may carry it in its `_meta`, a request in its headers; the message wins, because a proxy
//! on the way may have put a header of its own. As the W3C asks, a trace that is not well formed is
//! dropped whole, and a state never goes without its parent. It is no credential and no argument:
//! every upstream gets it.

use http::{HeaderMap, HeaderName, HeaderValue};

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// Longer states may be dropped by whoever passes them on.
const LONGEST_STATE: usize = 512;

/// The headers of the caller's trace: none, a parent, or a parent and a state.
#[derive(Clone, Debug, Default)]
pub struct Trace(HeaderMap);

impl Trace {
    /// The trace of a message with this `_meta`, or else of the request that brought it.
    pub fn of<'a>(meta: impl Fn(&str) -> Option<&'a str>, headers: &HeaderMap) -> Self {
        let joined = |name: &str| {
            let values = headers.get_all(name).iter().map(HeaderValue::to_str);
            values.collect::<Result<Vec<_>, _>>().ok().map(|values| values.join(","))
        };
        let from = |name: &str| meta(name).map(str::to_owned);
        let said = Self::read(from(PARENT), from(STATE));
        said.or_else(|| Self::read(joined(PARENT), joined(STATE))).unwrap_or_default()
    }

    fn read(parent: Option<String>, state: Option<String>) -> Option<Self> {
        let parent = parent.filter(|parent| is_parent(parent))?;
        let state = state.filter(|state| !state.is_empty() && state.len() <= LONGEST_STATE);
        let pairs = [(PARENT, Some(parent)), (STATE, state)];
        let header = |(name, value): (&'static str, Option<String>)| {
            let value = value.filter(|value| value.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            Some((HeaderName::from_static(name), HeaderValue::try_from(value?).ok()?))
        };
        Some(Self(pairs.into_iter().filter_map(header).collect()))
    }

    /// The headers, in lower case.
    pub(super) fn headers(&self) -> &HeaderMap {
        &self.0
    }
}

/// `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`; later versions may say more after it.
fn is_parent(text: &str) -> bool {
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let set = |part: &str| part.bytes().any(|byte| byte != b'0');
    let mut parts = text.splitn(5, '-');
    let (Some(version), Some(trace), Some(span), Some(flags)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let whole = hex(version, 2) && hex(trace, 32) && hex(span, 16) && hex(flags, 2);
    let ends = parts.next().is_none() || version != "00";
    whole && ends && version != "ff" && set(trace) && set(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const B: &str = "00-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-00";

    #[track_caller]
    fn check(meta: &[(&str, &str)], headers: &[(&'static str, &str)], parent: &str, state: &str) {
        let said = |name: &str| meta.iter().find(|(one, _)| *one == name).map(|(_, value)| *value);
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        let trace = Trace::of(said, &headers.collect());
        let value = |name| trace.0.get(name).map_or("", |value| value.to_str().unwrap());
        assert_eq!((value(PARENT), value(STATE)), (parent, state));
    }

    #[test]
    fn the_message_says_it_before_the_request() {
        check(&[], &[], "", "");
        check(&[(PARENT, A)], &[], A, "");
        check(&[], &[(PARENT, B), (STATE, "a=1"), (STATE, "b=2")], B, "a=1,b=2");
        check(&[(PARENT, A), (STATE, "m=1")], &[(PARENT, B), (STATE, "h=1")], A, "m=1");
        check(&[(PARENT, A)], &[(PARENT, B), (STATE, "h=1")], A, "");
        check(&[(STATE, "m=1")], &[(PARENT, B)], B, "");
    }

    #[test]
    fn what_is_not_well_formed_is_dropped() {
        for wrong in [
            "",
            "abc",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx: y",
        ] {
            check(&[(PARENT, wrong), (STATE, "a=1")], &[], "", "");
        }
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more";
        check(&[(PARENT, later), (STATE, "a=1\r\nx: y")], &[], later, "");
        check(&[(PARENT, A), (STATE, &"a".repeat(513))], &[], A, "");
        check(&[], &[(PARENT, A), (PARENT, B)], "", "");
    }
}
