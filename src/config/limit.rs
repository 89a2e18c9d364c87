//! Every bound of the program: its name, its default, and what a client sees when it is reached.
//!
//! One table gives `--limit NAME=VALUE`, `--limit help` and the documentation the same names, units and
//! words. A value of 0 is refused but where keeping nothing makes sense, and the depth of arguments has
//! a ceiling, since walking deeper could end the process.

use std::{fmt::Write, time::Duration};

use super::unit;
use crate::diagnostic::{Diagnostic, nearest, quote};

/// Every bound, with its default; `--limit NAME=VALUE` sets one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one request body.
    pub request_body: usize,
    /// Time until a request's headers are complete.
    pub header_time: Duration,
    /// Time until a request's body is complete.
    pub body_time: Duration,
    /// Connections at once; `None` derives it from the descriptor limit.
    pub connections: Option<usize>,
    /// Legacy sessions at once.
    pub sessions: usize,
    /// Listen streams at once.
    pub streams: usize,
    /// Listen streams of one session.
    pub session_streams: usize,
    /// Calls in flight over all upstreams.
    pub calls: usize,
    /// Calls in flight to one upstream, when the allowlist does not say.
    pub upstream_calls: usize,
    /// Bytes of one page of `tools/list`.
    pub list_page: usize,
    /// Nesting of one call's arguments.
    pub argument_depth: usize,
    /// Bytes of one string in the arguments.
    pub argument_string: usize,
    /// Bytes of a request's path and query.
    pub url: usize,
    /// Decoded bytes of one reply, when the allowlist does not say.
    pub reply: usize,
    /// Time of one call, when the allowlist does not say.
    pub call_time: Duration,
    /// Time until an upstream is connected to; a call may allow less.
    pub connect_time: Duration,
    /// Time from sending a request to the head of its reply; `None` is what the call has left.
    pub first_byte_time: Option<Duration>,
    /// Swaps kept in the history.
    pub history: usize,
    /// Swaps for which the names of removed tools are remembered.
    pub removed_names: usize,
    /// Bytes of a document.
    pub document: usize,
    /// Bytes of an allowlist file.
    pub allowlist: usize,
    /// Allowlist files in the folder.
    pub allowlist_files: usize,
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_body: 4 * MIB,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            connections: None,
            sessions: 1_000,
            streams: 2_000,
            session_streams: 8,
            calls: 256,
            upstream_calls: 64,
            list_page: 4 * MIB,
            argument_depth: 64,
            argument_string: MIB,
            url: 8 * KIB,
            reply: 128 * KIB,
            call_time: Duration::from_secs(30),
            connect_time: Duration::from_secs(10),
            first_byte_time: None,
            history: 50,
            removed_names: 10,
            document: 32_000_000,
            allowlist: 1_000_000,
            allowlist_files: 256,
        }
    }
}

/// One bound by name.
struct Limit {
    name: &'static str,
    slot: Slot,
    /// What happens at the bound.
    reached: &'static str,
}

/// Where a bound stands, and so how its value is written.
enum Slot {
    Bytes(fn(&mut Limits) -> &mut usize),
    Time(fn(&mut Limits) -> &mut Duration),
    /// At least and at most.
    Count(fn(&mut Limits) -> &mut usize, usize, usize),
    Connections,
    FirstByte,
}

/// JSON readers stop at this depth as well.
const DEEPEST: usize = 128;

/// No ceiling.
const ANY: usize = usize::MAX;

const LIMITS: [Limit; 22] = [
    Limit {
        name: "request-body",
        slot: Slot::Bytes(|limits| &mut limits.request_body),
        reached: "413",
    },
    Limit {
        name: "header-time",
        slot: Slot::Time(|limits| &mut limits.header_time),
        reached: "the connection is closed",
    },
    Limit { name: "body-time", slot: Slot::Time(|limits| &mut limits.body_time), reached: "408" },
    Limit { name: "connections", slot: Slot::Connections, reached: "new connections wait" },
    Limit {
        name: "sessions",
        slot: Slot::Count(|limits| &mut limits.sessions, 1, ANY),
        reached: "503 to a new session",
    },
    Limit {
        name: "streams",
        slot: Slot::Count(|limits| &mut limits.streams, 1, ANY),
        reached: "503 to a new listen stream",
    },
    Limit {
        name: "session-streams",
        slot: Slot::Count(|limits| &mut limits.session_streams, 1, ANY),
        reached: "503 to a new listen stream of the session",
    },
    Limit {
        name: "calls",
        slot: Slot::Count(|limits| &mut limits.calls, 1, ANY),
        reached: "a tool error: too many calls, try again",
    },
    Limit {
        name: "upstream-calls",
        slot: Slot::Count(|limits| &mut limits.upstream_calls, 1, ANY),
        reached: "the same; `max_in_flight` in a file",
    },
    Limit {
        name: "list-page",
        slot: Slot::Bytes(|limits| &mut limits.list_page),
        reached: "the list goes on at a cursor",
    },
    Limit {
        name: "argument-depth",
        slot: Slot::Count(|limits| &mut limits.argument_depth, 1, DEEPEST),
        reached: "400, error -32600 (at most 128)",
    },
    Limit {
        name: "argument-string",
        slot: Slot::Bytes(|limits| &mut limits.argument_string),
        reached: "a tool error that names the argument",
    },
    Limit {
        name: "url",
        slot: Slot::Bytes(|limits| &mut limits.url),
        reached: "a tool error, nothing is sent",
    },
    Limit {
        name: "reply",
        slot: Slot::Bytes(|limits| &mut limits.reply),
        reached: "a tool error that says how to narrow; `max_response` in a file",
    },
    Limit {
        name: "call-time",
        slot: Slot::Time(|limits| &mut limits.call_time),
        reached: "a tool error; `timeout` in a file",
    },
    Limit {
        name: "connect-time",
        slot: Slot::Time(|limits| &mut limits.connect_time),
        reached: "a tool error, nothing is sent",
    },
    Limit {
        name: "first-byte-time",
        slot: Slot::FirstByte,
        reached: "a tool error; a call's own time ends it all the same",
    },
    Limit {
        name: "history",
        slot: Slot::Count(|limits| &mut limits.history, 0, ANY),
        reached: "nothing; older swaps are forgotten",
    },
    Limit {
        name: "removed-names",
        slot: Slot::Count(|limits| &mut limits.removed_names, 0, ANY),
        reached: "a tool gone for longer is just unknown",
    },
    Limit {
        name: "document",
        slot: Slot::Bytes(|limits| &mut limits.document),
        reached: "nothing changes; the log says why",
    },
    Limit {
        name: "allowlist",
        slot: Slot::Bytes(|limits| &mut limits.allowlist),
        reached: "nothing changes; the log says why",
    },
    Limit {
        name: "allowlist-files",
        slot: Slot::Count(|limits| &mut limits.allowlist_files, 1, ANY),
        reached: "nothing changes; the log says why",
    },
];

impl Limits {
    /// Sets one bound from `NAME=VALUE`; `_` in a name is as good as `-`.
    ///
    /// # Errors
    /// When there is no such name, or the value is not one of its kind; the bound stays as it was.
    pub fn set(&mut self, text: &str) -> Result<(), Diagnostic> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Diagnostic::error(format!("{} sets no limit", quote(text)))
                .help("write NAME=VALUE; `--limit help` lists the names"));
        };
        let (name, value) = (name.trim().replace('_', "-"), value.trim());
        let Some(limit) = LIMITS.iter().find(|limit| limit.name == name) else {
            let help = match nearest(&name, LIMITS.iter().map(|limit| limit.name)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "`--limit help` lists the names".to_owned(),
            };
            return Err(Diagnostic::error(format!("unknown limit {}", quote(&name))).help(help));
        };
        limit.set(self, value).map_err(|mut fault| {
            fault.message = format!("the limit `{name}`: {}", fault.message);
            fault
        })
    }
}

impl Limit {
    fn set(&self, limits: &mut Limits, value: &str) -> Result<(), Diagnostic> {
        match self.slot {
            Slot::Bytes(slot) => *slot(limits) = unit::size(value)?,
            Slot::Time(slot) => *slot(limits) = unit::duration(value)?,
            Slot::Count(slot, least, most) => *slot(limits) = count(value, least, most)?,
            Slot::Connections => limits.connections = Some(count(value, 1, ANY)?),
            Slot::FirstByte => limits.first_byte_time = Some(unit::duration(value)?),
        }
        Ok(())
    }

    /// The value in `limits` as [`Limits::set`] reads it.
    fn show(&self, limits: &mut Limits) -> String {
        match self.slot {
            Slot::Bytes(slot) => unit::show_size(*slot(limits)),
            Slot::Time(slot) => unit::show_duration(*slot(limits)),
            Slot::Count(slot, ..) => slot(limits).to_string(),
            Slot::Connections => {
                limits.connections.map_or_else(|| "derived".to_owned(), |count| count.to_string())
            }
            Slot::FirstByte => {
                limits.first_byte_time.map_or_else(|| "none".to_owned(), unit::show_duration)
            }
        }
    }
}

fn count(text: &str, least: usize, most: usize) -> Result<usize, Diagnostic> {
    let fault = || {
        let range = match most {
            ANY => format!("{least} or more"),
            most => format!("{least} to {most}"),
        };
        Diagnostic::error(format!("{} is no count", quote(text))).help(format!("use {range}"))
    };
    let count = text.parse().ok().filter(|count| (least..=most).contains(count));
    count.ok_or_else(fault)
}

/// What `--limit help` prints: every name with its default and what a client sees at the bound.
pub fn help() -> String {
    let mut defaults = Limits::default();
    let mut text = String::from("--limit NAME=VALUE, as often as needed\n\n");
    let mut line = |name: &str, value: &str, reached: &str| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name:<16} {value:<8} {reached}");
    };
    line("NAME", "DEFAULT", "WHEN IT IS REACHED");
    for limit in &LIMITS {
        line(limit.name, &limit.show(&mut defaults), limit.reached);
    }
    text.push_str(
        "\nSizes: bytes, or kB, KiB, MB, MiB, GB, GiB. Durations: ms, s, m, h. The default of\n\
         `connections` is the smaller of 4096 and half of what the descriptor limit leaves.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_set_by_its_name() {
        let check = |text: &str, set: fn(&mut Limits)| {
            let (mut actual, mut expected) = (Limits::default(), Limits::default());
            actual.set(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
            set(&mut expected);
            assert_ne!(expected, Limits::default(), "{text}");
            assert_eq!(actual, expected, "{text}");
        };
        check("request-body=1MiB", |limits| limits.request_body = MIB);
        check("request_body=1MiB", |limits| limits.request_body = MIB);
        check(" reply = 64KiB ", |limits| limits.reply = 64 * KIB);
        check("call-time=500ms", |limits| limits.call_time = Duration::from_millis(500));
        check("connect-time=1s", |limits| limits.connect_time = Duration::from_secs(1));
        check("first-byte-time=1s", |limits| {
            limits.first_byte_time = Some(Duration::from_secs(1));
        });
        check("connections=100", |limits| limits.connections = Some(100));
        check("history=0", |limits| limits.history = 0);
        check("argument-depth=128", |limits| limits.argument_depth = 128);
    }

    #[test]
    fn every_limit_of_the_table_reads_what_it_shows() {
        for limit in &LIMITS {
            let mut limits = Limits::default();
            let shown = limit.show(&mut limits);
            if shown != "derived" && shown != "none" {
                limit.set(&mut limits, &shown).unwrap();
            }
            assert_eq!(limits, Limits::default(), "{}", limit.name);
        }
    }

    #[test]
    fn no_two_names_set_the_same_limit() {
        let mut seen = Vec::new();
        for limit in &LIMITS {
            let mut limits = Limits::default();
            let is_time = matches!(limit.slot, Slot::Time(_) | Slot::FirstByte);
            let value = if is_time { "77ms" } else { "77" };
            limit.set(&mut limits, value).unwrap();
            assert!(!seen.contains(&limits), "{}", limit.name);
            seen.push(limits);
        }
        assert_eq!(seen.len(), 22);
    }

    #[test]
    fn what_is_no_limit_is_refused_with_the_way_out() {
        let check = |text: &str, expected: &str| {
            let mut limits = Limits::default();
            assert_eq!(limits.set(text).unwrap_err().to_string(), expected);
            assert_eq!(limits, Limits::default());
        };
        check(
            "reply",
            "error: `reply` sets no limit; write NAME=VALUE; `--limit help` lists the names",
        );
        check("replys=1", "error: unknown limit `replys`; did you mean `reply`?");
        check("zzz=1", "error: unknown limit `zzz`; `--limit help` lists the names");
        check("calls=0", "error: the limit `calls`: `0` is no count; use 1 or more");
        check("calls=", "error: the limit `calls`: `` is no count; use 1 or more");
        check(
            "argument-depth=129",
            "error: the limit `argument-depth`: `129` is no count; use 1 to 128",
        );
        check(
            "call-time=30",
            "error: the limit `call-time`: `30` is no duration; write a whole number of ms, s, m or h, like `30s`",
        );
    }

    #[test]
    fn help_lists_every_limit_on_one_screen() {
        let help = help();
        for (name, default) in [("request-body", "4MiB"), ("reply", "128KiB"), ("document", "32MB")]
        {
            let line = help.lines().find(|line| line.starts_with(name)).unwrap();
            assert!(line.split_whitespace().any(|word| word == default), "{line}");
        }
        assert!(help.lines().count() <= 30);
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
