//! Which operations: one grammar for `tools`, `deny`, `--allow`, `toolgate allow` and `diff`.
//!
//! - `MemoService_ListMemos`: an operationId
//! - `GET /api/v1/memos/{memo}`: a method, in any case, and a path exactly as in the document
//! - either with `*`, which stands for any text, `/` too; `*` as the method is every method
//! - `tag:MemoService`: every operation of a tag
//!
//! A `*` always makes a pattern, and nothing else does: `{ } [ ] ? \` stand for themselves. Whether
//! a selector matches anything is not known here.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

use crate::diagnostic::{Diagnostic, quote};

/// A choice of operations, as described in the [module](self).
#[derive(Clone, Debug)]
pub enum Selector {
    /// An operationId.
    Id(String),
    /// `METHOD /path`, the method in upper case.
    Key {
        /// The method.
        method: String,
        /// The path as in the document.
        path: String,
    },
    /// Anything with a `*`: over operationIds or over keys.
    Pattern(Pattern),
    /// Every operation of a tag.
    Tag(String),
}

/// A compiled pattern; `*` crosses `/`, `{ } [ ] ? \` are literal.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it is shown: the method in upper case, one blank before the path.
    text: String,
    over: Over,
    /// Over the path, or over the operationId.
    rest: GlobMatcher,
}

/// What a pattern goes over.
#[derive(Clone, Debug)]
enum Over {
    /// OperationIds.
    Ids,
    /// Paths, of every method.
    Paths,
    /// Paths of one method, in upper case.
    PathsOf(String),
}

/// Methods whose name followed by a blank is taken for a key with a broken path; in capitals only,
/// since some documents have operationIds of several words (`Get users`).
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// When the text is empty, or a path without a method or the reverse.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let text = text.trim();
        if let Some(tag) = text.strip_prefix("tag:") {
            return Self::tag(tag);
        }
        let key = text
            .split_once(char::is_whitespace)
            .map(|(method, path)| (method, path.trim_start()))
            .filter(|(method, path)| is_method(method) && path.starts_with(['/', '*']));
        if let Some((method, path)) = key {
            return Self::key(method, path);
        }
        refuse_half_keys(text)?;
        if text.contains('*') {
            let pattern = Pattern { text: text.to_owned(), over: Over::Ids, rest: glob(text)? };
            return Ok(Self::Pattern(pattern));
        }
        Ok(Self::Id(text.to_owned()))
    }

    /// Every operation of a tag.
    ///
    /// # Errors
    /// When the name is empty, or has a `*`: patterns go over operationIds and keys.
    pub fn tag(name: &str) -> Result<Self, Diagnostic> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Diagnostic::error("`tag` names no tag").help("write `tag:NAME`"));
        }
        if name.contains('*') {
            return Err(Diagnostic::error(format!("the tag {} has a `*`", quote(name)))
                .help("name the tag in full, or use a pattern over operationIds or paths"));
        }
        Ok(Self::Tag(name.to_owned()))
    }

    fn key(method: &str, path: &str) -> Result<Self, Diagnostic> {
        let method = method.to_ascii_uppercase();
        let text = format!("{method} {path}");
        let over = match method.as_str() {
            "*" => Over::Paths,
            _ if path.contains('*') => Over::PathsOf(method),
            _ => return Ok(Self::Key { method, path: path.to_owned() }),
        };
        Ok(Self::Pattern(Pattern { text, over, rest: glob(path)? }))
    }

    /// Whether it picks the operation with this key, operationId and tags. An operationId that several
    /// operations share is matched all the same; an absent one counts as empty, so that `*` is everything.
    pub fn matches(&self, method: &str, path: &str, id: Option<&str>, tags: &[String]) -> bool {
        match self {
            Self::Id(wanted) => id == Some(wanted),
            Self::Key { method: wanted, path: exact } => {
                wanted.eq_ignore_ascii_case(method) && exact == path
            }
            Self::Pattern(pattern) => pattern.matches(method, path, id.unwrap_or_default()),
            Self::Tag(tag) => tags.contains(tag),
        }
    }

    /// Whether it names one operation, so that an entry may change it.
    pub fn names_one(&self) -> bool {
        matches!(self, Self::Id(_) | Self::Key { .. })
    }
}

impl Pattern {
    /// The pattern as written, the method in upper case.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn matches(&self, method: &str, path: &str, id: &str) -> bool {
        match &self.over {
            Over::Ids => self.rest.is_match(id),
            Over::Paths => self.rest.is_match(path),
            Over::PathsOf(wanted) => {
                wanted.eq_ignore_ascii_case(method) && self.rest.is_match(path)
            }
        }
    }
}

/// The selector as a person would write it; equal texts are equal selectors.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => f.write_str(id),
            Self::Key { method, path } => write!(f, "{method} {path}"),
            Self::Pattern(pattern) => f.write_str(&pattern.text),
            Self::Tag(tag) => write!(f, "tag:{tag}"),
        }
    }
}

fn is_method(word: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || b"-_".contains(&byte);
    word == "*" || (!word.is_empty() && word.bytes().all(letter))
}

/// What is neither an operationId nor a whole key, with the key that was probably meant.
fn refuse_half_keys(text: &str) -> Result<(), Diagnostic> {
    let fault = |message: String, help: String| Err(Diagnostic::error(message).help(help));
    if text.is_empty() {
        return Err(Diagnostic::error("a selector is empty")
            .help("write an operationId, `METHOD /path`, `tag:NAME`, or one of these with `*`"));
    }
    if text.starts_with('/') {
        let help = format!("write {}, or `*` for every method", quote(&format!("GET {text}")));
        return fault(format!("{} has no method", quote(text)), help);
    }
    let Some((method, path)) = text.split_once(char::is_whitespace) else { return Ok(()) };
    let path = path.trim_start();
    if method.contains('*') && path.starts_with('/') {
        let help = format!("write {} for every method", quote(&format!("* {path}")));
        return fault(format!("{} stands for several methods", quote(method)), help);
    }
    if METHODS.contains(&method) {
        let help =
            format!("write {}", quote(&format!("{method} /{}", path.trim_start_matches("./"))));
        return fault(format!("the path of {} does not start with `/`", quote(text)), help);
    }
    Ok(())
}

/// A glob in which only `*` is special. Runs of `*` become one, since `**` means something else there.
fn glob(text: &str) -> Result<GlobMatcher, Diagnostic> {
    let mut pieces: Vec<String> = text.split('*').map(globset::escape).collect();
    let last = pieces.len().saturating_sub(1);
    let mut number = 0;
    pieces.retain(|piece| {
        number += 1;
        !piece.is_empty() || number == 1 || number == last + 1
    });
    let glob = GlobBuilder::new(&pieces.join("*"))
        .literal_separator(false)
        .backslash_escape(false)
        .build()
        .map_err(|error| Diagnostic::error(format!("{} is no pattern: {error}", quote(text))))?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(text: &str) -> Selector {
        Selector::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
    }

    #[test]
    fn each_form_is_told_apart() {
        let check = |text: &str, form: &str, shown: &str| {
            let selector = selector(text);
            let actual = match &selector {
                Selector::Id(_) => "id",
                Selector::Key { .. } => "key",
                Selector::Pattern(_) => "pattern",
                Selector::Tag(_) => "tag",
            };
            assert_eq!((actual, selector.to_string().as_str()), (form, shown), "{text}");
        };
        check("MemoService_ListMemos", "id", "MemoService_ListMemos");
        check("  ListMemos ", "id", "ListMemos");
        check("find pet by id", "id", "find pet by id");
        check("Get users", "id", "Get users");
        check("GET", "id", "GET");
        check("GET /memos/{memo}", "key", "GET /memos/{memo}");
        check("get   /memos", "key", "GET /memos");
        check("QUERY /memos", "key", "QUERY /memos");
        check("GET /a b", "key", "GET /a b");
        check("AuthService_*", "pattern", "AuthService_*");
        check("*", "pattern", "*");
        check("* /*", "pattern", "* /*");
        check("* /memos", "pattern", "* /memos");
        check("get *", "pattern", "GET *");
        check("tag:MemoService", "tag", "tag:MemoService");
        check("tag: Memo Service ", "tag", "tag:Memo Service");
    }

    #[test]
    fn half_a_selector_is_refused_with_the_whole_one() {
        let check = |text: &str, words: &str| {
            let fault = Selector::parse(text).unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        };
        check("", "a selector is empty");
        check("  ", "a selector is empty");
        check("/api/v1/memos", "write `GET /api/v1/memos`");
        check("/api/*", "write `GET /api/*`");
        check("GET api/v1/memos", "write `GET /api/v1/memos`");
        check("P* /memos", "write `* /memos` for every method");
        check("tag:", "names no tag");
        check("tag:Memo*", "name the tag in full");
    }

    /// Operations as (key, id, tags), and which of them a selector picks.
    fn check(text: &str, picked: &[usize]) {
        let operations: [(&str, &str, Option<&str>, &[&str]); 5] = [
            ("GET", "/api/v1/memos", Some("MemoService_ListMemos"), &["MemoService"]),
            ("POST", "/api/v1/memos", Some("MemoService_CreateMemo"), &["MemoService", "Writes"]),
            ("GET", "/api/v1/memos/{memo}/reports", None, &[]),
            ("DELETE", "/api/v1/users/{user}", Some("UserService_Delete"), &["UserService"]),
            ("GET", "/a[b]?\\c/", Some("odd{id}"), &[]),
        ];
        let selector = selector(text);
        let actual: Vec<usize> = operations
            .iter()
            .enumerate()
            .filter(|(_, (method, path, id, tags))| {
                let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
                selector.matches(method, path, *id, &tags)
            })
            .map(|(number, _)| number)
            .collect();
        assert_eq!(actual, picked, "{text}");
    }

    #[test]
    fn exact_selectors_pick_exactly() {
        check("MemoService_ListMemos", &[0]);
        check("memoservice_listmemos", &[]);
        check("MemoService_List", &[]);
        check("GET /api/v1/memos", &[0]);
        check("get /api/v1/memos", &[0]);
        check("GET /API/v1/memos", &[]);
        check("GET /api/v1/memos/", &[]);
        check("GET /api/v1/memos/{memo}/reports", &[2]);
        check("tag:MemoService", &[0, 1]);
        check("tag:Writes", &[1]);
        check("tag:memoservice", &[]);
    }

    #[test]
    fn a_star_is_any_text_and_crosses_slashes() {
        check("* /*", &[0, 1, 2, 3, 4]);
        check("* *", &[0, 1, 2, 3, 4]);
        check("*", &[0, 1, 2, 3, 4]);
        check("**", &[0, 1, 2, 3, 4]);
        check("GET *", &[0, 2, 4]);
        check("get /api/*", &[0, 2]);
        check("GET /api/*/reports", &[2]);
        check("GET /api/**/reports", &[2]);
        check("GET /api/v1/memos/*", &[2]);
        check("GET /api/v1/memos*", &[0, 2]);
        check("* /api/v1/memos", &[0, 1]);
        check("MemoService_*", &[0, 1]);
        check("*Memo", &[1]);
        check("*Service_*e*", &[0, 1, 3]);
        check("memoservice_*", &[]);
    }

    #[test]
    fn nothing_but_the_star_is_special() {
        check("GET /api/v1/memos/{memo}/*", &[2]);
        check("GET /api/v1/memos/{a,memo}/*", &[]);
        check("GET /api/v1/memo[s]*", &[]);
        check("GET /api/v1/memo?*", &[]);
        check("GET /a[b]?\\c/*", &[4]);
        check("GET /a[b]*/", &[4]);
        check("odd{id}*", &[4]);
        check("odd{*}", &[4]);
        check("!*", &[]);
    }

    proptest::proptest! {
        #[test]
        fn a_selector_reads_back_as_itself(text in "(tag:|[a-zA-Z]{1,5} +)?[*/{}\\[\\]?\\\\a-c _.-]{0,12}") {
            if let Ok(selector) = Selector::parse(&text) {
                let shown = selector.to_string();
                let again = Selector::parse(&shown).unwrap();
                assert_eq!(again.to_string(), shown);
                assert_eq!(again.names_one(), selector.names_one());
            }
        }

        #[test]
        fn a_pattern_picks_what_its_stars_stand_for(
            parts in proptest::collection::vec("[{}\\[\\]?\\\\a-c!,^-]{0,4}", 2..4),
            inside in "[a-z/{}]{0,6}",
        ) {
            let selector = Selector::parse(&format!("GET /{}", parts.join("*"))).unwrap();
            let path = format!("/{}", parts.join(&inside));
            assert!(selector.matches("GET", &path, None, &[]));
            assert!(!selector.matches("GET", &format!("x{path}"), None, &[]));
        }
    }
}
