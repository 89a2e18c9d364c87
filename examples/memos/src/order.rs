//! The order of a list, such as `pinned desc, create_time desc`.

use crate::error::Faults;

/// A field that a list may be ordered by, and its column.
pub(crate) type Field = (&'static str, &'static str);

/// The text after `ORDER BY`. Built only of the columns in the code, never of what a caller wrote.
pub(crate) struct Order(String);

impl Order {
    /// Reads what was asked, or else `usual`. Rows that are equal keep the order they were written in.
    pub(crate) fn parse(
        asked: Option<&str>,
        fields: &[Field],
        usual: &str,
        faults: &mut Faults,
    ) -> Self {
        let terms: Option<Vec<_>> =
            asked.unwrap_or(usual).split(',').map(|term| parse_term(term, fields)).collect();
        let Some(terms) = terms else {
            let names: Vec<_> = fields.iter().map(|(name, _)| format!("`{name}`")).collect();
            let expected = format!(
                "must be fields out of {}, each with `asc` or `desc` after it if wanted",
                names.join(", ")
            );
            faults.add("orderBy", expected);
            return Self(String::from("seq"));
        };
        let last = terms.last().map_or("ASC", |(_, direction)| *direction);
        let mut columns: Vec<_> =
            terms.iter().map(|(column, direction)| format!("{column} {direction}")).collect();
        columns.push(format!("seq {last}"));
        Self(columns.join(", "))
    }

    pub(crate) fn sql(&self) -> &str {
        &self.0
    }
}

fn parse_term(term: &str, fields: &[Field]) -> Option<(&'static str, &'static str)> {
    let mut words = term.split_whitespace();
    let name = words.next()?;
    let (_, column) = fields.iter().find(|(field, _)| *field == name)?;
    let direction = match words.next() {
        None => "ASC",
        Some(word) if word.eq_ignore_ascii_case("asc") => "ASC",
        Some(word) if word.eq_ignore_ascii_case("desc") => "DESC",
        Some(_) => return None,
    };
    words.next().is_none().then_some((column, direction))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, expected: Option<&str>) {
        let mut faults = Faults::default();
        let order = Order::parse(
            Some(asked),
            &[("pinned", "pinned"), ("name", "id")],
            "pinned",
            &mut faults,
        );
        let sql = faults.check().is_ok().then(|| order.sql().to_owned());
        assert_eq!(sql.as_deref(), expected, "{asked}");
    }

    #[test]
    fn only_known_fields_reach_the_database() {
        check("pinned", Some("pinned ASC, seq ASC"));
        check("pinned desc", Some("pinned DESC, seq DESC"));
        check("pinned DESC,name asc", Some("pinned DESC, id ASC, seq ASC"));
        check("", None);
        check("id", None);
        check("pinned down", None);
        check("pinned desc name", None);
        check("pinned; drop table memos", None);
        check("pinned,", None);
    }
}
