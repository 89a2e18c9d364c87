//! How many tools the clients known today take.
//!
//! A client counts the tools of all its servers together, and a list that is too long for it fails in ways
//! that nobody traces back here: requests refused as a whole, or tools silently left out. That is said, and
//! nothing more: whoever uses another client may list as many as they like.

use super::Snapshot;
use crate::diagnostic::{Diagnostic, counted};

/// From how many tools on clients do what; the highest first.
const LEVELS: [(usize, &str); 3] = [
    (128, "more than 128 make some clients refuse every request"),
    (80, "more than 80 are silently left out by some clients"),
    (40, "more than 40 are left out by some clients, and models choose worse among so many"),
];

/// The number that the list has passed, if any.
pub(super) fn level(n_tools: usize) -> Option<usize> {
    LEVELS.iter().map(|(most, _)| *most).find(|most| n_tools > *most)
}

/// What to expect of clients when the list has more tools than all of them take.
pub fn crowd(snapshot: &Snapshot) -> Option<Diagnostic> {
    warning(snapshot.tools().count())
}

fn warning(n_tools: usize) -> Option<Diagnostic> {
    let (_, words) = LEVELS.iter().find(|(most, _)| n_tools > *most)?;
    let words = format!("the list has {}: {words}", counted(n_tools, "tool"));
    let help = "list only what agents need, `deny` the rest, or serve one allowlist a server: `--allowlists FILE`";
    Some(Diagnostic::warning(words).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_comes_with_the_first_tool_too_many_for_some_client() {
        let check = |n_tools: usize, expected: Option<usize>| {
            assert_eq!(level(n_tools), expected, "{n_tools}");
            let said = warning(n_tools).map(|warning| warning.to_string());
            let words =
                expected.map(|most| format!("the list has {n_tools} tools: more than {most} "));
            assert_eq!(said.is_some(), words.is_some());
            assert!(said.zip(words).is_none_or(|(said, words)| said.contains(&words)), "{n_tools}");
        };
        check(0, None);
        check(40, None);
        check(41, Some(40));
        check(80, Some(40));
        check(81, Some(80));
        check(128, Some(80));
        check(129, Some(128));
        check(5_000, Some(128));
    }
}
