//! Every key of the allowlist file in one table: its name, the kind of its value, what it means.
//!
//! The parser's check for unknown keys and wrong kinds, and the JSON Schema that editors use, are both
//! made from here, so neither can know a key that the other does not. What a value means beyond its
//! kind (a valid header name, a path that starts with `/`) is the reader's to say.

use serde_json::Value;

/// One key of a mapping.
#[derive(Debug)]
pub(super) struct Key {
    /// Its name in the file.
    pub(super) name: &'static str,
    /// Another spelling that means the same.
    pub(super) also: Option<&'static str>,
    /// What its value must be.
    pub(super) kind: Kind,
    /// What an editor shows; Markdown, whole sentences.
    pub(super) about: &'static str,
}

/// What a value must be before its meaning is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The number of the format.
    Version,
    /// A string.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number of bytes, or a string with a unit.
    Size,
    /// A string with a unit.
    Duration,
    /// A whole number from 1.
    Count,
    /// `true`, `false` or `all`.
    Docs,
    /// A list of strings.
    Names,
    /// A list of selectors: strings or mappings with `operation` or `tag`.
    Selectors,
    /// A list of entries: selectors, with changes.
    Tools,
    /// A mapping from header names to strings.
    Headers,
    /// A mapping of [`ANNOTATIONS`].
    Annotations,
    /// A mapping from arguments to mappings of [`ARGUMENT`].
    Arguments,
    /// Any value at all.
    Any,
}

impl Kind {
    /// Whether `value` is of this kind; lists and mappings may be empty by having nothing below them.
    pub(super) fn admits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Text | Self::Duration => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Size => value.is_string() || value.is_u64(),
            Self::Version | Self::Count => value.is_u64(),
            Self::Docs => value.is_boolean() || value == "all",
            Self::Names | Self::Selectors | Self::Tools => value.is_array() || value.is_null(),
            Self::Headers | Self::Annotations | Self::Arguments => {
                value.is_object() || value.is_null()
            }
        }
    }

    /// What was expected, in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Version | Self::Count => "a whole number",
            Self::Text => "a string",
            Self::Flag => "`true` or `false`",
            Self::Size => "a size like `128KiB`",
            Self::Duration => "a duration like `30s`",
            Self::Docs => "`true`, `false` or `all`",
            Self::Names => "a list of strings",
            Self::Selectors => "a list of selectors",
            Self::Tools => "a list of selectors",
            Self::Headers => "a mapping of header names to strings",
            Self::Annotations => "a mapping of hints",
            Self::Arguments => "a mapping of arguments to their changes",
            Self::Any => "any value",
        }
    }

    /// Whether it is, or may be, `true` or `false`.
    pub(super) fn takes_flags(self) -> bool {
        matches!(self, Self::Flag | Self::Docs)
    }

    /// Whether it is a list, so that a lone string only lacks its brackets.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Names | Self::Selectors | Self::Tools)
    }
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, also: None, kind, about }
}

const fn hint(name: &'static str, also: &'static str, about: &'static str) -> Key {
    Key { name, also: Some(also), kind: Kind::Flag, about }
}

/// Keys of the file.
pub(super) const FILE: &[Key] = &[
    key("version", Kind::Version, "Version of this format. Absent means 1."),
    key(
        "document",
        Kind::Text,
        "The OpenAPI document: a path relative to this file's folder, or an http(s) URL. `--document` replaces it.",
    ),
    key(
        "upstream",
        Kind::Text,
        "Where calls go: an http(s) origin, optionally with a path (`https://api.example.com/v2`). `--upstream` replaces it.",
    ),
    key(
        "base_path",
        Kind::Text,
        "Path before every operation's path, instead of the one the document's servers have; `/` for none.",
    ),
    key(
        "deny",
        Kind::Selectors,
        "Operations that never become tools, whatever `tools` says. Keep it above `tools`, so that a file cut short never allows more.",
    ),
    key(
        "instructions",
        Kind::Text,
        "What a model is told about this server when it connects, instead of the text made from the document.",
    ),
    key(
        "headers",
        Kind::Headers,
        "Headers sent on every call and never shown. `${VAR}` is read from the environment, `${file:/run/secrets/key}` from a file that is read again when it changes; `$${` is a literal `${`.",
    ),
    key(
        "forward",
        Kind::Names,
        "The caller's headers that go upstream. Default: `authorization`, where all toolsets share one origin; else none.",
    ),
    key(
        "resource_names",
        Kind::Flag,
        "A path value may come as a canonical resource name: `memos/abc` for `/memos/{memo}`. Default: `false`.",
    ),
    key(
        "prefix",
        Kind::Text,
        "Put before every derived tool name, not before a `name` given here. Letters, digits and `_`.",
    ),
    key(
        "docs",
        Kind::Docs,
        "Documentation tools: `true` for the listed operations, `all` for the whole document. Default: `false`.",
    ),
    key("docs_prefix", Kind::Text, "Put before the names of the documentation tools."),
    key("output", Kind::Flag, "Whether output schemas are published. Default: `true`."),
    key("timeout", Kind::Duration, "Time of one call, like `30s` (default), `500ms` or `2m`."),
    key(
        "max_response",
        Kind::Size,
        "Decoded bytes of one reply, like `128KiB` (default) or `1MB`; a plain number is bytes.",
    ),
    key("max_in_flight", Kind::Count, "Calls at once to this upstream. Default: 64."),
    key(
        "tools",
        Kind::Tools,
        "What agents may call, in list order: operationIds, `METHOD /path`, either with `*`, tags, or mappings with changes. Empty means no tools.",
    ),
];

/// Keys of a selector written as a mapping.
pub(super) const SELECTOR: &[Key] = &[
    key(
        "operation",
        Kind::Text,
        "An operationId or `METHOD /path`; with `*` a pattern, to which no changes apply.",
    ),
    key("tag", Kind::Text, "Every operation of this tag."),
];

/// Keys of an entry of `tools` that change its operation.
pub(super) const CHANGES: &[Key] = &[
    key(
        "name",
        Kind::Text,
        "The tool's name, final: no prefix. Letters, digits and `_`, up to 64.",
    ),
    key("aliases", Kind::Names, "Old names that still answer but are not listed."),
    key("title", Kind::Text, "The tool's title, for people."),
    key(
        "description",
        Kind::Text,
        "What a model reads about the tool, instead of the document's text.",
    ),
    key("annotations", Kind::Annotations, "Hints that differ from those the method gives."),
    key(
        "hide",
        Kind::Names,
        "Arguments that are not offered. With `resource_names`, a hidden body field `name` that the document requires is filled with the name that the path says, like `memos/abc`.",
    ),
    key("required", Kind::Names, "Exactly these arguments are required, besides path parameters."),
    key("path", Kind::Text, "Replaces a path the document got wrong; starts with `/`."),
    key("arguments", Kind::Arguments, "Changes of single arguments, by their name."),
    key("response_headers", Kind::Names, "Response headers lifted into the answer."),
    key("output", Kind::Flag, "Whether this tool's output schema is published."),
    key("timeout", Kind::Duration, "Time of one call of this tool, like `30s`."),
    key("max_response", Kind::Size, "Decoded bytes of one reply of this tool, like `128KiB`."),
];

/// Keys of `annotations`, in short and in MCP's own words.
pub(super) const ANNOTATIONS: &[Key] = &[
    hint("read_only", "readOnlyHint", "The tool changes nothing."),
    hint("destructive", "destructiveHint", "The tool may overwrite or delete."),
    hint(
        "idempotent",
        "idempotentHint",
        "Calling twice with the same arguments does no more than once.",
    ),
    hint("open_world", "openWorldHint", "The tool reaches beyond this server."),
];

/// Keys of one argument's changes.
pub(super) const ARGUMENT: &[Key] = &[
    key(
        "name",
        Kind::Text,
        "What the argument is called. A letter or `_`, then letters, digits and `_`, up to 64.",
    ),
    key("description", Kind::Text, "What a model reads about the argument."),
    key("default", Kind::Any, "Sent when the caller gives none."),
    key("fixed", Kind::Any, "Always sent; the argument is not offered."),
    key("slashes", Kind::Flag, "A path value that keeps its slashes."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there_once_and_explained() {
        let entry = || SELECTOR.iter().chain(CHANGES);
        let tables: [Vec<&Key>; 4] = [
            FILE.iter().collect(),
            entry().collect(),
            ANNOTATIONS.iter().collect(),
            ARGUMENT.iter().collect(),
        ];
        for table in tables {
            let names = table.iter().flat_map(|key| [Some(key.name), key.also]).flatten();
            let mut names: Vec<_> = names.collect();
            let n_names = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), n_names);
            for key in table {
                assert!(key.about.len() > 15 && key.about.ends_with('.'), "{}", key.name);
            }
        }
    }
}
