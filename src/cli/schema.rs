//! `toolgate schema`: the JSON Schema of allowlist files, for editors.

use clap::Args;

use super::{Exit, Failure, out};
use crate::allowlist;

/// Print the JSON Schema of allowlist files, for editors
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Schema {}

const EXAMPLE: &str = "\
Example:
  toolgate schema > allowlists/schema.json

and as the first line of an allowlist:
  # yaml-language-server: $schema=./schema.json";

impl Schema {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        out::print(&format!("{:#}\n", allowlist::schema()))
    }
}
