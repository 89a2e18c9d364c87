//! `toolgate call`: one call through the whole path, without an agent.

use clap::{ArgMatches, Args};
use http::{HeaderMap, header::AUTHORIZATION};
use serde_json::{Map, Value};

use super::{
    Exit, Failure,
    args::{self, DocumentArgs, InputArgs},
    out, serve,
};
use crate::{
    config::{Inputs, Policy},
    diagnostic::{Diagnostic, Position, nearest, quote},
    gateway,
    openapi::text::Text,
    snapshot::Snapshot,
    tls::Roots,
    upstream::{Answer, Caller, CallerAuth, Content},
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

TOOLGATE_AUTHORIZATION holds the credential: a token, or a whole Authorization value.
Values of name=value are read as the tool's schema wants them: 5 is a number where one is due.";

impl Call {
    pub(super) fn run(self, matches: &ArgMatches) -> Result<Exit, Failure> {
        let document = DocumentArgs::default();
        let inputs = args::inputs(&document, &self.inputs, matches, Policy::Strict)?;
        call(inputs, &self.tool, arguments(&self.arguments)?)
    }
}

fn call(inputs: Inputs, name: &str, arguments: Map<String, Value>) -> Result<Exit, Failure> {
    let limits = inputs.limits.clone();
    let roots = Roots::read(inputs.ca_file.as_deref())?;
    let snapshot = gateway::build(inputs)?;
    let Some((toolset, tool)) = snapshot.tool(name) else {
        return Err(unknown(name, &snapshot).into());
    };
    let answer = match tool.checker.check(arguments) {
        Err(faults) => Answer::refused(&faults),
        Ok(arguments) => {
            let target = &toolset.target;
            let headers = serve::credential()?.map(|value| (AUTHORIZATION, value));
            let auth = CallerAuth::of(&HeaderMap::from_iter(headers), target);
            let caller = Caller::trusting(&limits, None, &roots);
            let call = caller.call(target, &tool.plan, &arguments, &auth, |_| {});
            serve::runtime()?.block_on(call)
        }
    };
    answer.content.iter().try_for_each(show)?;
    Ok(if answer.is_error { Exit::No } else { Exit::Good })
}

fn unknown(name: &str, snapshot: &Snapshot) -> Diagnostic {
    let fault = Diagnostic::error(format!("there is no tool {}", quote(name)));
    match nearest(name, snapshot.tools().map(|(_, tool)| tool.name.as_str())) {
        Some(near) => fault.help(format!("did you mean {}?", quote(near))),
        None => fault.help("`toolgate tools` lists them"),
    }
}

/// What a model would see: texts as they are, bytes by what they are.
fn show(content: &Content) -> Result<(), Failure> {
    let text = match content {
        Content::Text(text) => format!("{text}\n"),
        Content::Image { data, media_type }
        | Content::Audio { data, media_type }
        | Content::Blob { data, media_type } => {
            format!("[{media_type}, {} characters of base64]\n", data.len())
        }
    };
    out::print(&text).map(drop)
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
