//! Path templates: literals and placeholders in turn.
//!
//! A placeholder may be anywhere in a segment (`{id}:verb`, `{a}-{b}`) and may carry a pattern that the
//! document's language knows (`{name=memos/*}`), which says nothing to a caller: the name is what
//! stands before the `=`.

/// A piece of a path template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it stands in the template; may hold slashes.
    Literal(&'a str),
    /// A placeholder's name.
    Placeholder(&'a str),
}

/// The pieces of a template; literals are never empty.
///
/// # Errors
/// In words, when a brace has no partner or a placeholder no name.
pub fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        literal_of(literal, template, &mut pieces)?;
        let Some((inner, after)) = after.split_once('}') else {
            return Err(format!("`{template}` has a `{{` without its `}}`"));
        };
        let name = inner.split('=').next().unwrap_or(inner);
        if name.is_empty() || name.contains('{') {
            return Err(format!("`{template}` has a placeholder without a name"));
        }
        pieces.push(Piece::Placeholder(name));
        rest = after;
    }
    literal_of(rest, template, &mut pieces)?;
    Ok(pieces)
}

fn literal_of<'a>(
    literal: &'a str,
    template: &str,
    pieces: &mut Vec<Piece<'a>>,
) -> Result<(), String> {
    if literal.contains('}') {
        return Err(format!("`{template}` has a `}}` without its `{{`"));
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(())
}

/// Why a path with these pieces cannot be called whatever its arguments are.
pub(super) fn unfillable(template: &str, pieces: &[Piece<'_>]) -> Option<String> {
    let literals = || {
        pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(*text),
            Piece::Placeholder(_) => None,
        })
    };
    let way_out = "give the real one as `path` in the allowlist";
    if !template.starts_with('/') {
        return Some(format!("path `{template}` does not begin with `/`; {way_out}"));
    }
    if literals().any(|text| text.contains('*')) {
        return Some(format!(
            "path `{template}` cannot be filled: it has a literal `*`; {way_out}"
        ));
    }
    let mark = literals().find_map(|text| text.chars().find(|char| matches!(char, '?' | '#')))?;
    Some(format!("path `{template}` has a `{mark}` in it; {way_out}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces with placeholders in brackets, joined by blanks.
    #[track_caller]
    fn check(template: &str, expected: &str) {
        let shown = pieces(template).map(|pieces| {
            let show = |piece: &Piece<'_>| match piece {
                Piece::Literal(text) => (*text).to_owned(),
                Piece::Placeholder(name) => format!("[{name}]"),
            };
            pieces.iter().map(show).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown.unwrap_or_else(|words| words), expected);
    }

    #[test]
    fn placeholders_stand_anywhere() {
        check("/memos", "/memos");
        check("/memos/{memo}", "/memos/ [memo]");
        check("/{name=memos/*}/x", "/ [name] /x");
        check("/{name=**}:undelete", "/ [name] :undelete");
        check("/{a}-{b}{c}/", "/ [a] - [b] [c] /");
        check("/{memo.id}/{x-y}", "/ [memo.id] / [x-y]");
        check("/{id}/{id}", "/ [id] / [id]");
        check("", "");
    }

    #[test]
    fn lonely_braces_and_empty_names_are_refused() {
        check("/{a", "`/{a` has a `{` without its `}`");
        check("/a}", "`/a}` has a `}` without its `{`");
        check("/{}", "`/{}` has a placeholder without a name");
        check("/{=a}", "`/{=a}` has a placeholder without a name");
        check("/{a{b}}", "`/{a{b}}` has a placeholder without a name");
    }

    #[test]
    fn what_no_argument_can_fill_is_named() {
        let words = |path| unfillable(path, &pieces(path).unwrap()).unwrap_or_default();
        assert!(words("/a/{b}/*").contains("literal `*`"));
        assert!(words("/a?b=1").contains("has a `?`"));
        assert!(words("/a#b").contains("has a `#`"));
        assert!(words("a").contains("does not begin with `/`"));
        assert_eq!(words("/{name=memos/*}/a:b"), "");
    }
}
