//! Where a flag's value came from: what is typed beats what the environment says.
//!
//! Two flags that exclude each other are an error only when both were typed, or both set: a container
//! image that sets one must not stand in the way of a person who types the other.

use clap::{ArgMatches, parser::ValueSource};

use crate::diagnostic::{Diagnostic, Position};

/// A flag by all its names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    /// Its name among the matches.
    pub(super) id: &'static str,
    /// As it is typed.
    pub(super) long: &'static str,
    /// As it is set.
    pub(super) variable: &'static str,
}

/// Which of two places a value came from; the later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// A `TOOLGATE_…` variable.
    Environment,
    /// The command line.
    Typed,
}

/// The matches of one subcommand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'m>(pub(super) &'m ArgMatches);

impl Given<'_> {
    /// Where the value of a flag came from; `None` when there is none.
    pub(super) fn origin(self, flag: Flag) -> Option<Origin> {
        match self.0.value_source(flag.id)? {
            ValueSource::CommandLine => Some(Origin::Typed),
            ValueSource::EnvVariable => Some(Origin::Environment),
            _ => None,
        }
    }

    /// What the user knows the value by.
    pub(super) fn position(self, flag: Flag) -> Position {
        Position::whole(match self.origin(flag) {
            Some(Origin::Environment) => flag.variable,
            _ => flag.long,
        })
    }

    /// The values of a flag that may be repeated. A variable holds several, with `between` between them.
    pub(super) fn values(self, flag: Flag, values: &[String], between: char) -> Vec<String> {
        if self.origin(flag) == Some(Origin::Typed) {
            return values.to_vec();
        }
        let parts = values.iter().flat_map(|value| value.split(between)).map(str::trim);
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    /// Whether `loser` has a value that is of no account beside `winner`'s.
    ///
    /// # Errors
    /// When both came from the same place.
    pub(super) fn is_beaten(self, loser: Flag, winner: Flag) -> Result<bool, Diagnostic> {
        let (Some(lost), Some(won)) = (self.origin(loser), self.origin(winner)) else {
            return Ok(false);
        };
        if lost != won {
            return Ok(lost < won);
        }
        let (loser, winner) = match lost {
            Origin::Typed => (loser.long, winner.long),
            Origin::Environment => (loser.variable, winner.variable),
        };
        Err(Diagnostic::error(format!("`{loser}` has no effect beside `{winner}`"))
            .help("leave one out"))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;

    const RED: Flag = Flag { id: "red", long: "--red", variable: "CARGO_PKG_NAME" };
    const BLUE: Flag = Flag { id: "blue", long: "--blue", variable: "CARGO_PKG_VERSION" };

    /// Two flags; one that `set` names has a variable, one that every test has.
    fn check<T>(set: &[Flag], typed: &[&str], look: impl FnOnce(Given<'_>) -> T) -> T {
        let arg = |flag: Flag| {
            let arg = Arg::new(flag.id).long(flag.id).action(ArgAction::Append);
            let is_set = set.iter().any(|set| set.id == flag.id);
            if is_set { arg.env(flag.variable) } else { arg }
        };
        let command = Command::new("test").arg(arg(RED)).arg(arg(BLUE));
        let matches = command.get_matches_from(std::iter::once(&"test").chain(typed));
        look(Given(&matches))
    }

    #[test]
    fn typed_beats_set() {
        let red_is_beaten = |given: Given<'_>| given.is_beaten(RED, BLUE).unwrap();
        assert!(check(&[RED], &["--blue=1"], red_is_beaten));
        assert!(!check(&[BLUE], &["--red=1"], red_is_beaten));
        assert!(!check(&[], &["--red=1"], red_is_beaten));
        assert!(!check(&[BLUE], &[], red_is_beaten));
    }

    #[test]
    fn two_of_the_same_kind_are_an_error_in_their_own_words() {
        let words = |given: Given<'_>| given.is_beaten(RED, BLUE).unwrap_err().message;
        let typed = check(&[], &["--red=1", "--blue=1"], words);
        assert_eq!(typed, "`--red` has no effect beside `--blue`");
        let set = check(&[RED, BLUE], &[], words);
        assert_eq!(set, "`CARGO_PKG_NAME` has no effect beside `CARGO_PKG_VERSION`");
    }

    #[test]
    fn faults_name_the_flag_or_the_variable() {
        let file = |given: Given<'_>| given.position(RED).file.to_string();
        assert_eq!(check(&[], &["--red=1"], file), "--red");
        assert_eq!(check(&[RED], &["--red=1"], file), "--red");
        assert_eq!(check(&[RED], &[], file), "CARGO_PKG_NAME");
    }

    #[test]
    fn only_a_variable_holds_several_values() {
        let values = ["GET *\n\n x ".to_owned()];
        let split = |given: Given<'_>| given.values(RED, &values, '\n');
        assert_eq!(check(&[RED], &[], split), ["GET *", "x"]);
        assert_eq!(check(&[], &["--red=1"], split), values);
    }
}
