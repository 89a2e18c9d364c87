//! What a media type says about the bytes under it; documents and replies are read alike.
//!
//! Parameters do not count. Unknown types are neither JSON nor text: they are passed on as bytes.

/// A media type without its parameters, in lower case.
pub fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// `application/json`, `text/json` and everything that ends in `+json`; wants an [`essence`].
pub fn is_json(essence: &str) -> bool {
    matches!(essence, "application/json" | "text/json") || essence.ends_with("+json")
}

/// Text types besides `text/…` and `…+xml`.
const TEXTS: [&str; 12] = [
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/graphql",
    "application/x-www-form-urlencoded",
    "application/jsonl",
    "application/x-ndjson",
    "application/ndjson",
    "application/json-seq",
    "application/x-json-stream",
];

/// Whether a type that is not JSON is text; wants an [`essence`].
pub fn is_text(essence: &str) -> bool {
    essence.starts_with("text/") || essence.ends_with("+xml") || TEXTS.contains(&essence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_without_their_parameters() {
        let check = |media_type: &str, json: bool, text: bool| {
            let essence = essence(media_type);
            assert_eq!((is_json(&essence), is_text(&essence)), (json, text), "{media_type}");
        };
        check("Application/JSON; charset=utf-8", true, false);
        check("application/merge-patch+json", true, false);
        check("text/plain", false, true);
        check("image/svg+xml", false, true);
        check(" application/x-ndjson ;a=b", false, true);
        check("application/zip", false, false);
        check("", false, false);
    }
}
