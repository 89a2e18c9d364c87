//! The name of a tool, from one operation alone.
//!
//! A name comes from the operationId, read the way its generator wrote it, or from the words of the
//! method and the path. Nothing else of the document is looked at, so that an edit elsewhere never
//! renames a tool. Whether two tools of a toolset end up with one name is for the registry to say.

use heck::ToSnakeCase;

use super::ToolName;
use crate::openapi::OperationKey;

/// Clients put a prefix of their own before a name and cut the whole at 60 or 64.
pub(super) const DERIVED: usize = 48;
/// Hexadecimal characters of the hash that keep two cut names apart.
const HASH: usize = 6;

/// The derived name of an operation; `id` is its operationId when no other operation shares it.
pub(super) fn derived(prefix: &str, id: Option<&str>, key: &OperationKey) -> ToolName {
    let words = id.map(|id| from_id(id, key)).filter(|words| !words.is_empty());
    let words = words.unwrap_or_else(|| from_key(key));
    ToolName(cut(&format!("{prefix}{words}"), DERIVED).into())
}

/// `MemoService_ListMemos` → `memo_list_memos`.
fn from_id(id: &str, key: &OperationKey) -> String {
    snake(&without_service(without_route(id, key)))
}

/// `GET /api/v1/memos/{memo}` → `get_api_v1_memos_memo`.
pub(super) fn from_key(key: &OperationKey) -> String {
    snake(&format!("{} {}", key.method.as_str().to_lowercase(), key.path))
}

/// An operationId that ends in its own path and method, every other character as `_`, loses that ending.
fn without_route<'a>(id: &'a str, key: &OperationKey) -> &'a str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let route: String = key.path.chars().map(|c| if is_word(c) { c } else { '_' }).collect();
    let ending = format!("{route}_{}", key.method.as_str().to_lowercase());
    id.strip_suffix(&ending).filter(|rest| !rest.is_empty()).unwrap_or(id)
}

/// `MemoService_ListMemos` → `Memo_ListMemos`.
fn without_service(id: &str) -> String {
    match id.split_once('_') {
        Some((left, right)) if left.ends_with("Service") && !right.is_empty() => {
            format!("{}_{right}", left.trim_end_matches("Service"))
        }
        _ => id.to_owned(),
    }
}

/// Snake case in ASCII, acronyms and their plurals kept together.
fn snake(text: &str) -> String {
    let ascii: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    with_plurals(&ascii).to_snake_case()
}

/// `ListURLs` → `ListURLS`: the `s` after two or more capitals belongs to them.
fn with_plurals(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let capital = |i: usize| characters.get(i).is_some_and(char::is_ascii_uppercase);
    let lower = |i: usize| characters.get(i).is_some_and(char::is_ascii_lowercase);
    let plural = |i: usize| i >= 2 && capital(i - 1) && capital(i - 2) && !lower(i + 1);
    let keep = |(i, &c): (usize, &char)| if c == 's' && plural(i) { 'S' } else { c };
    characters.iter().enumerate().map(keep).collect()
}

/// At most `longest` bytes of an ASCII name; a cut one ends in a hash of the whole.
pub(super) fn cut(name: &str, longest: usize) -> String {
    if name.len() <= longest {
        return name.to_owned();
    }
    let hash = hash(name);
    let head: String = name.chars().take(longest - HASH - 1).collect();
    format!("{}_{hash}", head.trim_end_matches('_'))
}

/// A few characters that stand for a text, the same in every process.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(HASH).collect()
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn check(id: &str, method: &str, path: &str, expected: &str) {
        let key = OperationKey { method: method.parse::<Method>().unwrap(), path: path.into() };
        let id = Some(id).filter(|id| !id.is_empty());
        assert_eq!(derived("", id, &key).as_str(), expected);
    }

    #[test]
    fn operation_ids_become_words() {
        check("MemoService_ListMemos", "GET", "/m", "memo_list_memos");
        check("Service_List", "GET", "/m", "list");
        check("MemoService_", "GET", "/m", "memo_service");
        check("acme.v1.LibraryService_CreateBook", "POST", "/b", "acme_v1_library_create_book");
        check("GetURLFor", "GET", "/m", "get_url_for");
        check("listURLs", "GET", "/m", "list_urls");
        check("getUserIDs", "GET", "/m", "get_user_ids");
        check("ListIDsOfAS", "GET", "/m", "list_ids_of_as");
        check("repos/list-for-user", "GET", "/m", "repos_list_for_user");
        check("pets.find by.status", "GET", "/m", "pets_find_by_status");
        check("GetV2Thing", "GET", "/m", "get_v2_thing");
    }

    #[test]
    fn a_route_at_the_end_of_an_id_is_dropped() {
        let id = "read_flow_runs_flow_runs_filter_post";
        check(id, "POST", "/flow_runs/filter", "read_flow_runs");
        check("read_flow_run_flow_runs__id__get", "GET", "/flow_runs/{id}", "read_flow_run");
        check("_flow_runs_get", "GET", "/flow_runs", "flow_runs_get");
        check(id, "GET", "/flow_runs/filter", id);
    }

    #[test]
    fn without_an_id_method_and_path_are_the_words() {
        check("", "GET", "/api/v1/memos/{memo}", "get_api_v1_memos_memo");
        check("", "POST", "/v1/{name=memos/*}:archive", "post_v1_name_memos_archive");
        check("", "GET", "/", "get");
        check("取得", "GET", "/memos", "get_memos");
    }

    #[test]
    fn long_names_are_cut_with_a_stable_hash() {
        let path = format!("/{}", "a/".repeat(40));
        check(
            "",
            "GET",
            &path,
            "get_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_HASH"
                .replace("HASH", &hash(&format!("get{}", "_a".repeat(40))))
                .as_str(),
        );
        let key = OperationKey { method: Method::GET, path };
        assert!(derived("memo_", None, &key).as_str().len() <= DERIVED);
    }

    #[test]
    fn the_prefix_stands_before_a_derived_name() {
        let key = OperationKey { method: Method::GET, path: "/memos".into() };
        assert_eq!(derived("my_", Some("ListMemos"), &key).as_str(), "my_list_memos");
    }
}
