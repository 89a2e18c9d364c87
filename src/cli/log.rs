//! The log, on standard error: text for people on a terminal, JSON for everything else.
//!
//! Standard output belongs to answers, and over stdio to the protocol.

use std::io::IsTerminal;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tracing_subscriber::EnvFilter;

use crate::{
    config::LogFormat,
    diagnostic::{Diagnostic, Position, quote},
};

/// The MCP library logs three lines a request, and each client that goes away as an error.
const FILTER: &str = "info,rmcp=warn,rmcp::service=off";
/// Before every filter, which may overrule it by name. A log file in a watched folder is an event of
/// its own: told of in the log, it would be the cause of the next one, for ever.
const QUIET: &str = "notify=off";

/// Reads `text` or `json`.
pub(super) fn format_parser() -> impl TypedValueParser<Value = LogFormat> {
    PossibleValuesParser::new(["text", "json"]).map(|word| match word.as_str() {
        "json" => LogFormat::Json,
        _ => LogFormat::Text,
    })
}

/// Starts the log of this process; a second start has no effect.
///
/// # Errors
/// When `RUST_LOG` is no filter.
pub(super) fn start(format: Option<LogFormat>) -> Result<(), Diagnostic> {
    let terminal = std::io::stderr().is_terminal();
    let colours = terminal && std::env::var_os("NO_COLOR").is_none();
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter(std::env::var("RUST_LOG").ok().as_deref())?)
        .with_writer(std::io::stderr);
    // Only a host that started a log of its own makes these fail, and then its log is the right one.
    let _ = match chosen(format, terminal) {
        LogFormat::Text => log.with_target(false).with_ansi(colours).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    Ok(())
}

fn chosen(format: Option<LogFormat>, terminal: bool) -> LogFormat {
    format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json })
}

fn filter(rust_log: Option<&str>) -> Result<EnvFilter, Diagnostic> {
    let text = rust_log.filter(|text| !text.trim().is_empty()).unwrap_or(FILTER);
    EnvFilter::try_new(format!("{QUIET},{text}")).map_err(|error| {
        Diagnostic::error(format!("{} is no log filter: {error}", quote(text)))
            .help("write it like `info,toolgate=debug`")
            .at(Position::whole("RUST_LOG"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_get_text_and_programs_json_unless_told() {
        assert_eq!(chosen(None, true), LogFormat::Text);
        assert_eq!(chosen(None, false), LogFormat::Json);
        assert_eq!(chosen(Some(LogFormat::Json), true), LogFormat::Json);
        assert_eq!(chosen(Some(LogFormat::Text), false), LogFormat::Text);
    }

    #[test]
    fn the_environment_replaces_the_filter() {
        let check = |rust_log: Option<&str>, parts: &[&str]| {
            let shown = filter(rust_log).unwrap().to_string();
            let mut actual: Vec<_> = shown.split(',').collect();
            actual.sort_unstable();
            assert_eq!(actual, parts);
        };
        check(None, &["info", "notify=off", "rmcp::service=off", "rmcp=warn"]);
        check(Some(""), &["info", "notify=off", "rmcp::service=off", "rmcp=warn"]);
        check(Some("debug"), &["debug", "notify=off"]);
        check(Some("notify=warn"), &["notify=warn"]);
    }

    #[test]
    fn a_broken_filter_is_said() {
        let fault = filter(Some("a=b=c")).unwrap_err().to_string();
        assert!(fault.starts_with("RUST_LOG: error: `a=b=c` is no log filter"), "{fault}");
    }
}
