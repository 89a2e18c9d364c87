//! `toolgate call`: one call through the whole path, without an agent.

use clap::{ArgMatches, Args};
use serde_json::{Map, Value};

use super::{
    Exit, Failure,
    args::{self, DocumentArgs, InputArgs},
};
use crate::{
    config::{Inputs, Policy},
    diagnostic::{Diagnostic, Position, quote},
    openapi::text::Text,
};

/// Call one tool through the whole path
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Call {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    tool: String,

    /// Arguments: name=value, or one JSON object
    #[arg(value_name = "k=v|JSON")]
    arguments: Vec<String>,

    #[command(flatten)]
    inputs: InputArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate call memo_list_memos pageSize=5
  toolgate call memo_create_memo '{\"content\": \"Tea\", \"visibility\": \"PRIVATE\"}'

Values of name=value are read as the tool's schema wants them: 5 is a number where one is due.";

impl Call {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let document = DocumentArgs::default();
        let inputs = args::inputs(&document, &self.inputs, matches, Policy::Strict)?;
        call(inputs, &self.tool, arguments(&self.arguments)?)
    }
}

fn call(inputs: Inputs, tool: &str, arguments: Map<String, Value>) -> Result<Exit, Failure> {
    drop((inputs, arguments));
    Err(Failure::Running(Diagnostic::error(format!("calling {} is not built yet", quote(tool)))))
}

/// The arguments of a call. `name=value` stays text: the checker turns text into what the schema wants,
/// and knows where digits must stay digits.
fn arguments(given: &[String]) -> Result<Map<String, Value>, Diagnostic> {
    let mut arguments = Map::new();
    for text in given {
        let pairs = match text.split_once('=') {
            _ if text.trim_start().starts_with('{') => object(text)?,
            Some((name, value)) if !name.is_empty() => {
                Map::from_iter([(name.to_owned(), Value::from(value))])
            }
            _ => {
                return Err(Diagnostic::error(format!("{} is no argument", quote(text)))
                    .help("write name=value, or one JSON object in quotes"));
            }
        };
        for (name, value) in pairs {
            if arguments.contains_key(&name) {
                let words = format!("the argument {} is given twice", quote(&name));
                return Err(Diagnostic::error(words));
            }
            arguments.insert(name, value);
        }
    }
    Ok(arguments)
}

fn object(text: &str) -> Result<Map<String, Value>, Diagnostic> {
    match Text::new("JSON", text.as_bytes())?.value()? {
        Value::Object(map) => Ok(map),
        _ => Err(Diagnostic::error("expected a JSON object").at(Position::whole("JSON"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: &[&str]) -> Result<Map<String, Value>, Diagnostic> {
        arguments(&given.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn pairs_and_objects_become_arguments() {
        let check = |given: &[&str], expected: Value| {
            assert_eq!(read(given).map(Value::Object), Ok(expected), "{given:?}");
        };
        check(&[], json!({}));
        check(&["name=Tea"], json!({ "name": "Tea" }));
        check(&["a=1", "b=x=y", "c="], json!({ "a": "1", "b": "x=y", "c": "" }));
        check(&[r#"{"a": 1, "b": ["x=y"]}"#], json!({ "a": 1, "b": ["x=y"] }));
        check(&[r#" {"a": 1}"#, "b=2"], json!({ "a": 1, "b": "2" }));
    }

    #[test]
    fn what_is_neither_is_refused() {
        let check = |given: &[&str], words: &str| {
            let fault = read(given).unwrap_err().to_string();
            assert!(fault.contains(words), "{given:?}: {fault}");
        };
        check(&["Tea"], "`Tea` is no argument; write name=value");
        check(&["=Tea"], "`=Tea` is no argument");
        check(&["a=1", "a=2"], "the argument `a` is given twice");
        check(&["a=1", r#"{"a": 1}"#], "the argument `a` is given twice");
        check(&[r#"{"a": 1, "a": 2}"#], "a");
        check(&[r#"{"a": "#], "JSON:1:");
        check(&["[1]"], "is no argument");
    }
}
