//! Ids and resource names: `welcome`, and `memos/welcome`.

use crate::error::{Error, Faults};

/// 32 letters and digits, so that five bits of a random byte pick one evenly; without those that look alike.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const LENGTH: usize = 12;
const LONGEST: usize = 36;

/// A new id out of the randomness of the operating system: 60 bits, so two never meet.
pub(crate) fn fresh() -> Result<String, Error> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(bytes
        .iter()
        .filter_map(|byte| LETTERS.get(usize::from(byte & 31)))
        .map(|letter| char::from(*letter))
        .collect())
}

/// The id a caller asked for, or a new one.
pub(crate) fn chosen(asked: Option<&str>, field: &str) -> Result<String, Error> {
    match asked {
        None => fresh(),
        Some(id) if is_valid(id) => Ok(id.to_owned()),
        Some(_) => Err(Error::field(field, "must be 1 to 36 letters, digits and inner dashes")),
    }
}

/// The id in a resource name such as `memos/welcome`.
pub(crate) fn of_name(
    name: &str,
    collection: &str,
    field: &str,
    faults: &mut Faults,
) -> Option<String> {
    let id = name
        .strip_prefix(collection)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|id| is_valid(id));
    if id.is_none() {
        faults.add(field, format!("is `{name}`, but must be a name like `{collection}/…`"));
    }
    id.map(str::to_owned)
}

fn is_valid(id: &str) -> bool {
    let inner = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    !id.is_empty() && id.len() <= LONGEST && inner && !id.starts_with('-') && !id.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, expected: bool) {
        assert_eq!(is_valid(id), expected, "{id}");
    }

    #[test]
    fn ids_are_letters_digits_and_inner_dashes() {
        check("a", true);
        check("A-1", true);
        check(&"a".repeat(36), true);
        check(&"a".repeat(37), false);
        check("", false);
        check("-a", false);
        check("a-", false);
        check("a/b", false);
        check("ä", false);
    }

    #[test]
    fn fresh_ids_are_valid_and_differ() {
        let (one, two) = (fresh().unwrap(), fresh().unwrap());
        assert_eq!(one.len(), LENGTH);
        assert!(is_valid(&one));
        assert_ne!(one, two);
    }

    #[test]
    fn a_name_must_be_of_its_collection() {
        let mut faults = Faults::default();
        assert_eq!(of_name("memos/a", "memos", "name", &mut faults).as_deref(), Some("a"));
        assert!(faults.check().is_ok());
        for name in ["a", "memos/", "memosa", "users/a", "memos/a/b"] {
            let mut faults = Faults::default();
            assert_eq!(of_name(name, "memos", "name", &mut faults), None);
            assert!(faults.check().is_err(), "{name}");
        }
    }
}
