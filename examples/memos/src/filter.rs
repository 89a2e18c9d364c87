//! The filter language: a few conditions joined by `&&`, in the words of CEL.
//!
//! `parse` knows the form only; which fields there are, and what they mean in SQL, each list says itself. A text
//! that is not understood in full is an error that says what is understood: a filter half understood would return
//! memos nobody asked for. There is no `||`, no negation and no nesting.

use rusqlite::types::Value;

use crate::error::Faults;

/// One condition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// `field == value`, or `!=`.
    Is { field: String, value: Literal, negated: bool },
    /// `field.contains("text")`.
    Contains { field: String, text: String },
    /// `field in ["a", "b"]`, or `"a" in field`.
    AnyOf { field: String, values: Vec<String> },
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Flag(bool),
}

/// What a list understands: its words for a caller, and what each condition is in SQL, if anything.
pub(crate) struct Language {
    pub(crate) help: &'static str,
    pub(crate) condition: fn(&Term) -> Option<Condition>,
}

/// One condition in SQL, and the values that fill its `?`.
pub(crate) struct Condition {
    pub(crate) clause: String,
    pub(crate) values: Vec<Value>,
}

/// The text after `WHERE`, and the values that fill its `?`.
#[derive(Default)]
pub(crate) struct Conditions {
    clauses: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    /// Adds what was asked in `filter`.
    pub(crate) fn asked(&mut self, filter: Option<&str>, language: &Language, faults: &mut Faults) {
        let Some(text) = filter else { return };
        let conditions = parse(text)
            .and_then(|terms| terms.iter().map(language.condition).collect::<Option<Vec<_>>>());
        let Some(conditions) = conditions else {
            faults.add(
                "filter",
                format!("is `{text}`, but understood are only {}, joined by `&&`", language.help),
            );
            return;
        };
        conditions.into_iter().for_each(|condition| self.and(condition.clause, condition.values));
    }

    pub(crate) fn and(&mut self, clause: impl Into<String>, values: Vec<Value>) {
        self.clauses.push(clause.into());
        self.values.extend(values);
    }

    pub(crate) fn sql(&self) -> String {
        if self.clauses.is_empty() { String::from("TRUE") } else { self.clauses.join(" AND ") }
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }
}

/// `column = ?`, or `column <> ?`. A column without value differs from every value.
pub(crate) fn equals(column: &str, value: Value, negated: bool) -> Condition {
    let operator = if negated { "IS NOT" } else { "IS" };
    Condition { clause: format!("{column} {operator} ?"), values: vec![value] }
}

/// `column` has `text` in it, ASCII letters in either case.
pub(crate) fn contains(column: &str, text: &str) -> Condition {
    Condition {
        clause: format!("instr(lower({column}), lower(?)) > 0"),
        values: vec![Value::from(text.to_owned())],
    }
}

fn parse(text: &str) -> Option<Vec<Term>> {
    let tokens = tokens(text)?;
    tokens.split(|token| *token == Token::Sign("&&")).map(term).collect()
}

fn term(tokens: &[Token]) -> Option<Term> {
    use Token::{Sign, Text, Word};
    match tokens {
        [Word(field), Sign(sign @ ("==" | "!=")), value] => {
            Some(Term::Is { field: field.clone(), value: literal(value)?, negated: *sign == "!=" })
        }
        [Word(field), Sign("."), Word(method), Sign("("), Text(text), Sign(")")]
            if method == "contains" =>
        {
            Some(Term::Contains { field: field.clone(), text: text.clone() })
        }
        [Text(value), Word(within), Word(field)] if within == "in" => {
            Some(Term::AnyOf { field: field.clone(), values: vec![value.clone()] })
        }
        [Word(field), Word(within), Sign("["), values @ .., Sign("]")] if within == "in" => {
            Some(Term::AnyOf { field: field.clone(), values: list(values)? })
        }
        _ => None,
    }
}

fn literal(token: &Token) -> Option<Literal> {
    match token {
        Token::Text(text) => Some(Literal::Text(text.clone())),
        Token::Word(word) => word.parse().ok().map(Literal::Flag),
        Token::Sign(_) => None,
    }
}

fn list(tokens: &[Token]) -> Option<Vec<String>> {
    let texts = tokens.split(|token| *token == Token::Sign(","));
    texts
        .map(|tokens| if let [Token::Text(text)] = tokens { Some(text.clone()) } else { None })
        .collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: [&str; 9] = ["==", "!=", "&&", ".", "(", ")", "[", "]", ","];

fn tokens(mut rest: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Some(tokens) };
        let (token, after) = match first {
            '"' | '\'' => quoted(rest, first)?,
            'a'..='z' | 'A'..='Z' | '_' => word(rest),
            _ => sign(rest)?,
        };
        tokens.push(token);
        rest = after;
    }
}

fn word(rest: &str) -> (Token, &str) {
    let end = rest
        .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    (Token::Word(word.to_owned()), after)
}

fn sign(rest: &str) -> Option<(Token, &str)> {
    SIGNS.iter().find_map(|sign| rest.strip_prefix(sign).map(|after| (Token::Sign(sign), after)))
}

/// A text in quotes, in which a backslash stands before a quote or a backslash.
fn quoted(rest: &str, quote: char) -> Option<(Token, &str)> {
    let mut text = String::new();
    let mut letters = rest.chars();
    letters.next();
    loop {
        match letters.next()? {
            '\\' => text.push(letters.next()?),
            letter if letter == quote => return Some((Token::Text(text), letters.as_str())),
            letter => text.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let terms = parse(text).unwrap_or_else(|| panic!("not understood: {text}"));
        let words: Vec<_> = terms.iter().map(|term| format!("{term:?}")).collect();
        assert_eq!(words.join(" & "), expected, "{text}");
    }

    #[test]
    fn each_form_is_understood() {
        check("pinned == true", r#"Is { field: "pinned", value: Flag(true), negated: false }"#);
        check(r#"a!="b""#, r#"Is { field: "a", value: Text("b"), negated: true }"#);
        check("a == 'b'", r#"Is { field: "a", value: Text("b"), negated: false }"#);
        check(r#"content.contains("x && y")"#, r#"Contains { field: "content", text: "x && y" }"#);
        check(
            r#"a.contains("say \"hi\" \\")"#,
            r#"Contains { field: "a", text: "say \"hi\" \\" }"#,
        );
        check(r#"tag in ["a", 'b']"#, r#"AnyOf { field: "tag", values: ["a", "b"] }"#);
        check(r#""a" in tags"#, r#"AnyOf { field: "tags", values: ["a"] }"#);
    }

    #[test]
    fn conditions_are_joined_by_and() {
        check(
            r#"pinned==false&&"a" in tags"#,
            r#"Is { field: "pinned", value: Flag(false), negated: false } & AnyOf { field: "tags", values: ["a"] }"#,
        );
    }

    #[test]
    fn anything_else_is_not_understood() {
        let texts = [
            "",
            "pinned",
            "pinned = true",
            "pinned == 1",
            "a == b",
            "a && ",
            "&& a == 'b'",
            "a == 'b' || c == 'd'",
            "!(a == 'b')",
            "(a == 'b')",
            "a.contains('b",
            "a.startsWith('b')",
            "a in []",
            "a in ['b',]",
            "a in ['b'",
            "a == 'b' c == 'd'",
            "a == 'b'; drop table memos",
            "a == 'b\\",
        ];
        for text in texts {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
