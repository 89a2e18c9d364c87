//! The table of memos: find, list, write and delete, and put together what belongs to one.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::{Changes, Location, Memo, State, Visibility};
use crate::attachment;
use crate::auth::{Caller, NEEDS_TOKEN};
use crate::choice::{self, Choice};
use crate::error::Error;
use crate::filter::{self, Condition, Conditions, Language, Literal, Term};
use crate::order::{self, Order};
use crate::page::Page;
use crate::{CREATOR, reaction, relation, text};

/// One row.
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) visibility: Visibility,
    state: State,
    pinned: bool,
    content: String,
    location: Option<String>,
    create_time: String,
    update_time: String,
}

pub(super) const ORDER: [order::Field; 4] = [
    ("pinned", "pinned"),
    ("create_time", "create_time"),
    ("update_time", "update_time"),
    ("name", "id"),
];

pub(super) const LANGUAGE: Language = Language {
    help: "`content.contains(\"x\")`, `tag in [\"a\", \"b\"]`, `\"a\" in tags`, `visibility == \"PUBLIC\"` and `pinned == true`",
    condition,
};

fn condition(term: &Term) -> Option<Condition> {
    match term {
        Term::Contains { field, text } if field == "content" => {
            Some(filter::contains("content", text))
        }
        Term::AnyOf { field, values } if field == "tag" || field == "tags" => Some(tagged(values)),
        Term::Is { field, value: Literal::Flag(flag), negated } if field == "pinned" => {
            Some(filter::equals("pinned", Value::from(*flag), *negated))
        }
        Term::Is { field, value: Literal::Text(word), negated } if field == "visibility" => {
            let visibility = Visibility::from_word(word)?;
            Some(filter::equals("visibility", Value::from(visibility.word().to_owned()), *negated))
        }
        _ => None,
    }
}

fn tagged(values: &[String]) -> Condition {
    let places = vec!["?"; values.len()].join(", ");
    let clause =
        format!("EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value IN ({places}))");
    Condition { clause, values: values.iter().cloned().map(Value::from).collect() }
}

/// Finds a memo or comment.
pub(crate) fn find(db: &Connection, id: &str) -> Result<Record, Error> {
    let found = db
        .prepare_cached("SELECT * FROM memos WHERE id = ?")?
        .query_row([id], record)
        .optional()?;
    found.ok_or_else(|| Error::Missing(name(id)))
}

/// Finds a memo or comment that the caller may read.
pub(crate) fn readable(db: &Connection, id: &str, caller: Caller) -> Result<Record, Error> {
    let record = find(db, id)?;
    if record.is_open_to(caller) { Ok(record) } else { Err(NEEDS_TOKEN) }
}

/// Which memos a caller may read, as a condition.
pub(super) fn open_to(caller: Caller, conditions: &mut Conditions) {
    if caller == Caller::Anyone {
        conditions.and("visibility = ?", vec![Value::from(Visibility::Public.word().to_owned())]);
    }
}

pub(super) fn list(
    db: &Connection,
    conditions: &Conditions,
    order: &Order,
    page: &Page,
) -> Result<Vec<Record>, Error> {
    let sql = format!(
        "SELECT * FROM memos WHERE {} ORDER BY {} {}",
        conditions.sql(),
        order.sql(),
        page.limit()
    );
    let mut statement = db.prepare(&sql)?;
    let records = statement.query_map(params_from_iter(conditions.values()), record)?;
    Ok(records.collect::<Result<_, _>>()?)
}

/// Makes a memo, or a comment when there is a parent.
pub(super) fn insert(
    db: &Connection,
    id: &str,
    parent: Option<&Record>,
    changes: &Changes,
) -> Result<Record, Error> {
    let visibility = parent.map_or(Visibility::default(), |parent| parent.visibility);
    let sql =
        "INSERT INTO memos (id, parent, visibility) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING";
    let n_rows =
        db.execute(sql, params![id, parent.map(|parent| &parent.id), visibility.word()])?;
    if n_rows == 0 {
        return Err(Error::Taken(name(id)));
    }
    apply(db, id, changes)?;
    find(db, id)
}

/// Writes changes to a memo that exists.
pub(super) fn update(db: &Connection, id: &str, changes: &Changes) -> Result<Record, Error> {
    find(db, id)?;
    apply(db, id, changes)?;
    let sql = "UPDATE memos SET update_time = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = ?";
    db.execute(sql, [id])?;
    find(db, id)
}

fn apply(db: &Connection, id: &str, changes: &Changes) -> Result<(), Error> {
    let sql = "UPDATE memos SET content = coalesce(?2, content), tags = coalesce(?3, tags),
        visibility = coalesce(?4, visibility), state = coalesce(?5, state), pinned = coalesce(?6, pinned),
        location = iif(?7, ?8, location) WHERE id = ?1";
    let tags = changes
        .content
        .as_deref()
        .map(|content| serde_json::Value::from(text::tags(content)).to_string());
    let location = changes.location.as_ref().and_then(Option::as_ref).map(serde_json::to_string);
    let values = params![
        id,
        changes.content,
        tags,
        changes.visibility.map(Choice::word),
        changes.state.map(Choice::word),
        changes.pinned,
        changes.location.is_some(),
        location.transpose().map_err(Error::internal)?,
    ];
    db.execute(sql, values)?;
    if let Some(attachments) = &changes.attachments {
        attachment::table::replace(db, id, attachments)?;
    }
    if let Some(relations) = &changes.relations {
        relation::replace(db, &find(db, id)?, relations)?;
    }
    Ok(())
}

/// Deletes a memo; its comments too, but only by force.
pub(super) fn delete(db: &Connection, id: &str, force: bool) -> Result<(), Error> {
    find(db, id)?;
    let n_comments: i64 =
        db.query_row("SELECT count(*) FROM memos WHERE parent = ?", [id], |row| row.get(0))?;
    if n_comments > 0 && !force {
        let text =
            format!("`memos/{id}` has comments ({n_comments}); `force=true` deletes them too");
        return Err(Error::Precondition(text));
    }
    db.execute("DELETE FROM memos WHERE id = ?", [id])?;
    Ok(())
}

/// The memo with all that belongs to it, as far as the caller may read it.
pub(super) fn whole(db: &Connection, record: Record, caller: Caller) -> Result<Memo, Error> {
    let attachments = attachment::table::of_memo(db, &record.id)?;
    let relations = relation::of_memo(db, &record, caller)?;
    let reactions = reaction::of_memo(db, &record.id)?;
    Ok(Memo {
        name: name(&record.id),
        state: record.state,
        creator: CREATOR,
        create_time: record.create_time,
        update_time: record.update_time,
        visibility: record.visibility,
        tags: text::tags(&record.content),
        pinned: record.pinned,
        attachments,
        relations,
        reactions,
        property: text::property(&record.content),
        parent: record.parent.as_deref().map(name).unwrap_or_default(),
        snippet: text::snippet(&record.content),
        location: location(record.location.as_deref())?,
        content: record.content,
    })
}

pub(crate) fn name(id: &str) -> String {
    format!("memos/{id}")
}

impl Record {
    pub(crate) fn is_open_to(&self, caller: Caller) -> bool {
        caller == Caller::Owner || self.visibility == Visibility::Public
    }

    pub(crate) fn snippet(&self) -> String {
        text::snippet(&self.content)
    }
}

fn location(kept: Option<&str>) -> Result<Option<Location>, Error> {
    kept.map(serde_json::from_str).transpose().map_err(Error::internal)
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        id: row.get("id")?,
        parent: row.get("parent")?,
        visibility: choice::column(row, "visibility")?,
        state: choice::column(row, "state")?,
        pinned: row.get("pinned")?,
        content: row.get("content")?,
        location: row.get("location")?,
        create_time: row.get("create_time")?,
        update_time: row.get("update_time")?,
    })
}
