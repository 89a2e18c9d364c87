//! What an argument is called: the wire's name where it can be, else a stable alias of it.
//!
//! Flat arguments come from several places of a request. On equal names the first place keeps the
//! name (path, query, header, cookie, body, in this order) and the later one says where it stands.

use super::{input::Place, name};

/// Longest argument name.
const LONGEST: usize = 64;

/// Whether a text is an argument name: `^[A-Za-z_][A-Za-z0-9_]{0,63}$`.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The wire's name when it is an argument name, else its words: `page[size]` → `page_size`.
pub(super) fn plain(wire: &str) -> String {
    if is_name(wire) {
        return wire.to_owned();
    }
    let words: Vec<&str> =
        wire.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let text = words.join("_");
    match text.chars().next() {
        None => format!("arg_{}", name::hash(wire)),
        Some(c) if c.is_ascii_digit() => name::cut(&format!("_{text}"), LONGEST),
        Some(_) => name::cut(&text, LONGEST),
    }
}

/// The argument name of a place, given those already taken.
pub(super) fn assign(wire: &str, place: Place, taken: &[String]) -> String {
    let plain = plain(wire);
    let free = |name: &String| !taken.contains(name);
    if free(&plain) {
        return plain;
    }
    let placed = name::cut(&format!("{}_{plain}", place.word()), LONGEST);
    if free(&placed) {
        return placed;
    }
    // Two wire names of one place can have the same words (`a.b` and `a[b]`): the wire name decides.
    name::cut(&format!("{}_{}", name::cut(&placed, LONGEST - 7), name::hash(wire)), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_become_argument_names() {
        let check = |wire, expected: &str| {
            assert_eq!(plain(wire), expected);
            assert!(is_name(expected));
        };
        check("pageSize", "pageSize");
        check("_id", "_id");
        check("ids[]", "ids");
        check("page[size]", "page_size");
        check("address:contains", "address_contains");
        check("X-Request-Id", "X_Request_Id");
        check("$filter", "filter");
        check("@type", "type");
        check("with space", "with_space");
        check("2fa", "_2fa");
        let long = "a".repeat(70);
        check(&long, &format!("{}_{}", "a".repeat(57), name::hash(&long)));
        check("名前", &format!("arg_{}", name::hash("名前")));
    }

    #[test]
    fn equal_names_say_where_they_stand() {
        let taken = ["name".to_owned(), "body_x".to_owned(), "x".to_owned()];
        assert_eq!(assign("name", Place::Body, &taken), "body_name");
        assert_eq!(assign("name", Place::Query, &taken), "query_name");
        assert_eq!(assign("other", Place::Query, &taken), "other");
        assert_eq!(assign("x", Place::Body, &taken), format!("body_x_{}", name::hash("x")));
    }
}
