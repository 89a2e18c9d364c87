//! The document that a documentation page shows: what Swagger UI, Redoc, Scalar and their kin are told.
//!
//! A page names its document in an attribute (`spec-url="…"`, `data-url="…"`) or in its script
//! (`url: '…'`, `"url":"…"`, `Redoc.init('…')`). The texts are searched for these; nothing is run, and
//! scripts of their own files are not looked into. Pure.

/// Where such pages usually are, below a base URL; the base itself first.
pub(super) const PAGES: [&str; 5] = ["", "docs", "redoc", "swagger-ui/index.html", "scalar"];

/// Bytes of a page that are looked at; the names stand in the page itself, not in a program it holds.
const LARGEST: usize = 1024 * 1024;

/// Links of one page that are followed.
const MOST: usize = 4;

/// What a document's link is called; longer names first where one ends in another.
const NAMES: [&str; 6] =
    ["apiDescriptionUrl", "specUrl", "spec-url", "data-url", "url", "Redoc.init"];

/// The links to documents that a page holds, in its order, each once.
pub(super) fn links(page: &[u8]) -> Vec<String> {
    let page = page.get(..LARGEST).unwrap_or(page);
    let page = decoded(&String::from_utf8_lossy(page));
    let mut found: Vec<(usize, String)> = Vec::new();
    for name in NAMES {
        let places = page.match_indices(name).map(|(at, _)| at);
        found.extend(places.filter_map(|at| Some((at, link(&page, at, name)?))));
    }
    found.sort();
    let mut links: Vec<String> = Vec::new();
    for (_, link) in found {
        if !links.contains(&link) && links.len() < MOST {
            links.push(link);
        }
    }
    links
}

/// The quoted text that a name at this place is given.
fn link(page: &str, at: usize, name: &str) -> Option<String> {
    let before = page.get(..at)?.chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || "-_.:".contains(c)) {
        return None;
    }
    let after = page.get(at + name.len()..)?.trim_start_matches(['"', '\'']).trim_start();
    // A style's `url('…')` is a call too.
    let given = if name == "Redoc.init" { &['('][..] } else { &[':', '='] };
    let value = after.strip_prefix(given)?.trim_start();
    let quote = value.chars().next().filter(|c| ['"', '\'', '`'].contains(c))?;
    let (text, _) = value.get(1..)?.split_once(quote)?;
    let text = text.replace("\\/", "/").replace("\\u002F", "/").replace("\\u002f", "/");
    let is_link = !text.is_empty()
        && text.len() < 2_048
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "{}<>\\".contains(c));
    is_link.then_some(text)
}

/// Without the entities that attributes need.
fn decoded(page: &str) -> String {
    let entities = [
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2F;", "/"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(page.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expected: &[&str]) {
        assert_eq!(links(page.as_bytes()), expected, "{page}");
    }

    #[test]
    fn every_kind_of_page_leads_to_its_document() {
        check(
            "const ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui' })",
            &["/openapi.json"],
        );
        check("SwaggerUIBundle({\"urls\":[{\"url\":\"v1.json\",\"name\":\"a\"}]})", &["v1.json"]);
        check("<redoc spec-url='../api.yaml'></redoc>", &["../api.yaml"]);
        check("Redoc.init( \"/api.json\", {})", &["/api.json"]);
        check(
            "<script id=\"api-reference\" data-url=\"/openapi.json\"></script>",
            &["/openapi.json"],
        );
        check(
            "<script data-configuration=\"{&quot;spec&quot;:{&quot;url&quot;:&quot;\\/o.json?a=1&amp;b=2&quot;}}\">",
            &["/o.json?a=1&b=2"],
        );
        check("Scalar.createApiReference('#app', { url: `/o.json` })", &["/o.json"]);
        check("<elements-api apiDescriptionUrl=\"o.yaml\"/>", &["o.yaml"]);
    }

    #[test]
    fn other_uses_of_the_word_lead_nowhere() {
        check("<style>a { background: url('x.png') }</style>", &[]);
        check("<meta property=\"og:url\" content=\"https://h\">", &[]);
        check("const baseurl = '/x'; curl: '/y'; my-url='/z'", &[]);
        check("url: `${base}/x`, url: window.location, url: ''", &[]);
    }

    #[test]
    fn links_are_few_and_each_once() {
        check("url:'a' url:'b' url:'a' url:'c' url:'d' url:'e'", &["a", "b", "c", "d"]);
    }
}
