//! The table of attachments.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::{Attachment, File, Placed, field};
use crate::auth::{Caller, NEEDS_TOKEN};
use crate::error::Error;
use crate::filter::{self, Condition, Conditions, Language, Literal, Term};
use crate::order::{self, Order};
use crate::page::Page;
use crate::{id, memo};

/// Everything but the bytes.
const COLUMNS: &str =
    "id, memo, filename, type, external_link, length(content) AS size, create_time";

pub(super) const ORDER: [order::Field; 2] =
    [("create_time", "create_time"), ("filename", "filename")];

pub(super) const LANGUAGE: Language = Language {
    help: "`filename.contains(\"x\")`, `filename == \"a.txt\"`, `mime_type == \"image/png\"` and `memo == \"memos/welcome\"`",
    condition,
};

fn condition(term: &Term) -> Option<Condition> {
    match term {
        Term::Contains { field, text } if field == "filename" => {
            Some(filter::contains("filename", text))
        }
        Term::Is { field, value: Literal::Text(text), negated } => {
            let (column, value) = match field.as_str() {
                "filename" => ("filename", text.as_str()),
                "mime_type" => ("type", text.as_str()),
                "memo" => ("memo", text.strip_prefix("memos/")?),
                _ => return None,
            };
            Some(filter::equals(column, Value::from(value.to_owned()), *negated))
        }
        _ => None,
    }
}

/// The attachments of a memo, in order.
pub(crate) fn of_memo(db: &Connection, memo: &str) -> Result<Vec<Attachment>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM attachments WHERE memo = ? ORDER BY position, seq");
    let mut statement = db.prepare_cached(&sql)?;
    Ok(statement.query_map([memo], attachment)?.collect::<Result<_, _>>()?)
}

/// Makes the list the attachments of a memo. Those it had before and that are not in it stay, without a memo.
pub(crate) fn replace(db: &Connection, memo: &str, list: &[Placed]) -> Result<(), Error> {
    db.execute("UPDATE attachments SET memo = NULL, position = 0 WHERE memo = ?", [memo])?;
    for (position, placed) in list.iter().enumerate() {
        match placed {
            Placed::Kept(id) => keep(db, memo, position, id)?,
            Placed::New(file) => add(db, memo, position, file)?,
        }
    }
    Ok(())
}

fn keep(db: &Connection, memo: &str, position: usize, id: &str) -> Result<(), Error> {
    let n_rows = db.execute(
        "UPDATE attachments SET memo = ?, position = ? WHERE id = ?",
        params![memo, position, id],
    )?;
    if n_rows == 0 {
        return Err(Error::field(
            format!("{}.name", field(position)),
            format!("`attachments/{id}` does not exist"),
        ));
    }
    Ok(())
}

fn add(db: &Connection, memo: &str, position: usize, file: &File) -> Result<(), Error> {
    let sql = "INSERT INTO attachments (id, memo, position, filename, type, external_link, content)
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    let File { filename, kind, content, external_link } = file;
    db.execute(sql, params![id::fresh()?, memo, position, filename, kind, external_link, content])?;
    Ok(())
}

pub(super) fn list(
    db: &Connection,
    conditions: &Conditions,
    order: &Order,
    page: &Page,
) -> Result<Vec<Attachment>, Error> {
    let (wanted, order, part) = (conditions.sql(), order.sql(), page.limit());
    let mut statement = db.prepare(&format!(
        "SELECT {COLUMNS} FROM attachments WHERE {wanted} ORDER BY {order} {part}"
    ))?;
    let attachments = statement.query_map(params_from_iter(conditions.values()), attachment)?;
    Ok(attachments.collect::<Result<_, _>>()?)
}

/// Which attachments a caller may read, as a condition: those of memos it may read.
pub(super) fn open_to(caller: Caller, conditions: &mut Conditions) {
    if caller == Caller::Anyone {
        conditions.and("memo IN (SELECT id FROM memos WHERE visibility = 'PUBLIC')", Vec::new());
    }
}

pub(super) fn readable(db: &Connection, id: &str, caller: Caller) -> Result<Attachment, Error> {
    let sql = format!("SELECT {COLUMNS} FROM attachments WHERE id = ?");
    let found = db.prepare_cached(&sql)?.query_row([id], attachment).optional()?;
    let attachment = found.ok_or_else(|| missing(id))?;
    match attachment.memo.strip_prefix("memos/") {
        Some(memo) => memo::table::readable(db, memo, caller).map(|_| attachment),
        None if caller == Caller::Owner => Ok(attachment),
        None => Err(NEEDS_TOKEN),
    }
}

pub(super) fn bytes(db: &Connection, id: &str) -> Result<Vec<u8>, Error> {
    Ok(db.query_row("SELECT content FROM attachments WHERE id = ?", [id], |row| row.get(0))?)
}

pub(super) fn delete(db: &Connection, id: &str) -> Result<(), Error> {
    let n_rows = db.execute("DELETE FROM attachments WHERE id = ?", [id])?;
    if n_rows == 0 { Err(missing(id)) } else { Ok(()) }
}

fn missing(id: &str) -> Error {
    Error::Missing(format!("attachments/{id}"))
}

fn attachment(row: &Row<'_>) -> rusqlite::Result<Attachment> {
    let id: String = row.get("id")?;
    let memo: Option<String> = row.get("memo")?;
    let size: i64 = row.get("size")?;
    Ok(Attachment {
        name: format!("attachments/{id}"),
        create_time: row.get("create_time")?,
        filename: row.get("filename")?,
        external_link: row.get("external_link")?,
        kind: row.get("type")?,
        size: size.to_string(),
        memo: memo.as_deref().map(memo::table::name).unwrap_or_default(),
    })
}
