//! The subcommands.
//!
//! [`main`] reads the command line, sets up the log and maps what came out to an exit code: 0 good,
//! 1 the answer is no or it failed while running, 2 bad flags or inputs. Every flag is also a
//! `TOOLGATE_…` variable; flags beat the environment, which beats the allowlist files. What a program
//! reads goes to standard output, everything else to standard error.

mod allow;
mod args;
mod call;
mod check;
mod dev;
mod diff;
mod given;
mod init;
mod log;
mod out;
mod schema;
mod serve;
mod tools;

use std::{ffi::OsString, process::ExitCode};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, builder::Resettable};

use crate::{
    config::{LogFormat, limit},
    diagnostic::Diagnostic,
    gateway::StartError,
    upstream,
};

/// Turns a curated part of any OpenAPI document into MCP tools
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// How log lines look: text on a terminal, else json
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_LOG_FORMAT",
        hide_env = true,
        value_name = "text|json",
        hide_possible_values = true,
        value_parser = log::format_parser(),
        display_order = 900
    )]
    log_format: Option<LogFormat>,
}

const EXAMPLES: &str = "\
Examples:
  toolgate dev http://localhost:8000 --allow 'GET *'        every GET of a running API
  toolgate dev gen/openapi.yaml --upstream http://localhost:8080 --allow tag:MemoService
  toolgate check && toolgate serve                          what ./allowlists allows

Clients connect to http://127.0.0.1:7676/mcp. Each flag is also a variable: --public-url is
TOOLGATE_PUBLIC_URL; of --allow, --document and --upstream one a line, of others commas between.";

#[derive(Debug, Subcommand)]
enum Command {
    Dev(dev::Dev),
    Serve(serve::Serve),
    Check(check::Check),
    Tools(tools::Tools),
    Call(call::Call),
    Diff(diff::DiffArgs),
    Init(init::Init),
    Allow(allow::Allow),
    Schema(schema::Schema),
}

/// How a command ended when nothing is left to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Good,
    /// The answer is no.
    No,
    /// Flags or inputs are wrong, and that was said.
    Wrong,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, as clap explains it; `--help` and `--version` come this way too.
    Usage(clap::Error),
    /// Flags or inputs are wrong; never empty.
    Inputs(Vec<Diagnostic>),
    /// It failed while running.
    Running(Diagnostic),
}

impl From<Diagnostic> for Failure {
    fn from(fault: Diagnostic) -> Self {
        Self::Inputs(vec![fault])
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::Inputs(error.diagnostics)
    }
}

impl Failure {
    /// Tells a person, on standard error (help on standard output), and gives the exit code.
    fn report(&self) -> u8 {
        match self {
            Self::Usage(error) => {
                // A closed pipe is no news here.
                let _ = error.print();
                u8::try_from(error.exit_code()).unwrap_or(2)
            }
            Self::Inputs(faults) => {
                faults.iter().for_each(|fault| eprintln!("{}", fault.snippet()));
                2
            }
            Self::Running(fault) => {
                eprintln!("{}", fault.snippet());
                1
            }
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    match run(std::env::args_os()) {
        Ok(Exit::Good) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::FAILURE,
        Ok(Exit::Wrong) => ExitCode::from(2),
        Err(failure) => ExitCode::from(failure.report()),
    }
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<Exit, Failure> {
    let (cli, matches) = read(arguments).map_err(Failure::Usage)?;
    let matches = matches.subcommand().map(|(_, matches)| matches).unwrap_or(&matches);
    if args::asks_for_limits(matches) {
        return out::print(&limit::help());
    }
    log::start(cli.log_format)?;
    upstream::remember_places();
    cli.command.run(matches)
}

fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<(Cli, ArgMatches), clap::Error> {
    let matches = without_empty_variables(Cli::command()).try_get_matches_from(arguments)?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// A variable that is set to nothing counts as not set: that is how container files spell "default".
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        if value.is_some_and(|value| value.is_empty()) { arg.env(Resettable::Reset) } else { arg }
    });
    command.mut_subcommands(without_empty_variables)
}

impl Command {
    fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        match self {
            Self::Dev(dev) => dev.run(matches),
            Self::Serve(serve) => serve.run(matches),
            Self::Check(check) => check.run(matches),
            Self::Tools(tools) => tools.run(matches),
            Self::Call(call) => call.run(matches),
            Self::Diff(diff) => diff.run(matches),
            Self::Init(init) => init.run(matches),
            Self::Allow(allow) => allow.run(matches),
            Self::Schema(schema) => schema.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> impl Iterator<Item = OsString> {
        line.split_whitespace().map(OsString::from)
    }

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_teaches_and_fits_a_screen() {
        for command in
            ["", "dev", "serve", "check", "tools", "call", "diff", "init", "allow", "schema"]
        {
            let line = format!("toolgate {command} --help");
            let help = read(arguments(&line)).unwrap_err().to_string();
            assert!(help.lines().count() <= 44, "{command}: {}", help.lines().count());
            for text in help.lines() {
                assert!(text.chars().count() <= 100, "{command}: {text}");
            }
            assert!(help.contains("Example"), "{help}");
        }
    }

    #[test]
    fn every_flag_has_its_variable() {
        for command in Cli::command().get_subcommands() {
            let flags = command.get_arguments().filter(|flag| flag.get_long().is_some());
            let has_none = ["help", "json", "remove", "yes"];
            for flag in flags.filter(|flag| !has_none.contains(&flag.get_id().as_str())) {
                let long = flag.get_long().unwrap();
                let expected = format!("TOOLGATE_{}", long.to_uppercase().replace('-', "_"));
                let variable = flag.get_env().map(|name| name.to_string_lossy().into_owned());
                assert_eq!(variable, Some(expected), "{} --{long}", command.get_name());
            }
        }
    }

    #[test]
    fn bad_flags_are_exit_code_2_and_help_is_0() {
        let code = |line: &str| match run(arguments(line)) {
            Err(Failure::Usage(error)) => error.exit_code(),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(code("toolgate dev --no-such-flag"), 2);
        assert_eq!(code("toolgate nonsense"), 2);
        assert_eq!(code("toolgate"), 2);
        assert_eq!(code("toolgate dev --listen nowhere"), 2);
        assert_eq!(code("toolgate dev --log-format xml"), 2);
        assert_eq!(code("toolgate --help"), 0);
        assert_eq!(code("toolgate --version"), 0);
    }

    #[test]
    fn failures_map_to_exit_codes() {
        let fault = || Diagnostic::error("no");
        assert_eq!(Failure::from(fault()).report(), 2);
        assert_eq!(Failure::Running(fault()).report(), 1);
    }
}
