//! What can be told from the Markdown of a memo: tags, a snippet and a few properties.
//!
//! It looks at lines and words and does not parse Markdown, which is enough to say what a memo is about.

use serde::Serialize;

const SNIPPET: usize = 64;

/// What `Memo.property` says.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Property {
    has_link: bool,
    has_task_list: bool,
    has_code: bool,
    has_incomplete_tasks: bool,
    title: String,
}

pub(crate) fn property(content: &str) -> Property {
    let open = content.lines().any(|line| task(line) == Some(false));
    let done = content.lines().any(|line| task(line) == Some(true));
    Property {
        has_link: content.contains("http://")
            || content.contains("https://")
            || content.contains("]("),
        has_task_list: open || done,
        has_code: content.contains('`'),
        has_incomplete_tasks: open,
        title: content
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# "))
            .unwrap_or_default()
            .trim()
            .to_owned(),
    }
}

/// Whether the line is a task, and whether the task is done.
fn task(line: &str) -> Option<bool> {
    let rest = line.trim_start().strip_prefix(['-', '*'])?.trim_start();
    let done = rest.strip_prefix("[x] ").or_else(|| rest.strip_prefix("[X] ")).is_some();
    (done || rest.starts_with("[ ] ")).then_some(done)
}

/// The words after `#`, each once, in the order they come. Blocks of code have none.
pub(crate) fn tags(content: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in content.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let found = line.split_whitespace().filter_map(tag);
            found.for_each(|tag| {
                if !tags.iter().any(|seen| seen == tag) {
                    tags.push(tag.to_owned())
                }
            });
        }
    }
    tags
}

fn tag(word: &str) -> Option<&str> {
    let rest = word.trim_start_matches('(').strip_prefix('#')?;
    let end = rest
        .find(|letter: char| !letter.is_alphanumeric() && !"_-/".contains(letter))
        .unwrap_or(rest.len());
    let tag = rest.get(..end)?.trim_end_matches(['-', '/']);
    (!tag.is_empty()).then_some(tag)
}

/// The beginning of the content, without the signs of headings, lists and code.
pub(crate) fn snippet(content: &str) -> String {
    let lines = content.lines().filter(|line| !line.trim_start().starts_with("```")).map(plain);
    let words: Vec<_> = lines.flat_map(str::split_whitespace).collect();
    let text = words.join(" ").replace(['`', '*'], "");
    match text.char_indices().nth(SNIPPET) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(&text).trim_end()),
    }
}

fn plain(line: &str) -> &str {
    let line = line.trim_start();
    let line = if line.trim_start_matches('#').starts_with(' ') {
        line.trim_start_matches('#')
    } else {
        line
    };
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("> ")).unwrap_or(line);
    line.strip_prefix("[ ] ").or_else(|| line.strip_prefix("[x] ")).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_tags(content: &str, expected: &[&str]) {
        assert_eq!(tags(content), expected, "{content}");
    }

    #[test]
    fn tags_are_words_after_a_hash() {
        check_tags("#tea and (#milk), #tea!", &["tea", "milk"]);
        check_tags("#work/home #a-b #c_d #grün", &["work/home", "a-b", "c_d", "grün"]);
        check_tags("# Heading\n## Another", &[]);
        check_tags("a#b https://x.example/#y", &[]);
        check_tags("```\n#code\n```\n#text", &["text"]);
        check_tags("#", &[]);
    }

    #[test]
    fn a_snippet_is_plain_and_short() {
        assert_eq!(snippet("# Tea\n\n- [ ] buy `green` *tea*"), "Tea buy green tea");
        assert_eq!(snippet(&"ä".repeat(70)), format!("{}…", "ä".repeat(64)));
        assert_eq!(snippet(""), "");
    }

    #[test]
    fn properties_are_found_in_the_text() {
        let found = property("# Tea\n- [x] buy\n- [ ] drink `it` at https://tea.example");
        assert!(
            found.has_link && found.has_task_list && found.has_code && found.has_incomplete_tasks
        );
        assert_eq!(found.title, "Tea");
        assert_eq!(property("plain"), Property::default());
        assert!(!property("* [x] done").has_incomplete_tasks);
    }
}
