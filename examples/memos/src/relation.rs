//! Relations: which memos a memo refers to, and which one a comment is about.
//!
//! References are written here, as a whole list. What a comment is about is kept with the comment and only shown here,
//! so that a list which was read can be sent back as it is.

use axum::Json;
use axum::extract::State;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::auth::{Caller, Owner};
use crate::choice::{self, Choice};
use crate::error::{Error, Faults};
use crate::id;
use crate::memo::table::{self, Record};
use crate::page::Page;
use crate::request::{Body, Named, Params};
use crate::store::Store;

/// One relation, seen from the memo that refers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Relation {
    memo: End,
    related_memo: End,
    #[serde(rename = "type", serialize_with = "choice::write")]
    kind: Kind,
}

#[derive(Serialize)]
struct End {
    name: String,
    snippet: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Reference,
    Comment,
}

/// A page of relations.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Relations {
    relations: Vec<Relation>,
    next_page_token: String,
}

/// One entry of a list to set, as a caller sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    #[serde(default)]
    memo: Option<EndName>,
    related_memo: EndName,
    #[serde(default, rename = "type", deserialize_with = "choice::read")]
    kind: Option<Kind>,
}

#[derive(Deserialize)]
struct EndName {
    name: String,
}

/// One entry, checked as far as that goes without the database.
pub(crate) struct Reference {
    from: Option<String>,
    to: String,
    kind: Kind,
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    relations: Vec<Entry>,
}

impl Choice for Kind {
    const UNSPECIFIED: &'static str = "TYPE_UNSPECIFIED";
    const ALL: &'static [Self] = &[Self::Reference, Self::Comment];

    fn word(self) -> &'static str {
        match self {
            Self::Reference => "REFERENCE",
            Self::Comment => "COMMENT",
        }
    }
}

impl Entry {
    /// Checks a whole list. What is wrong is left out of the result, and in `faults`.
    pub(crate) fn checked(entries: Vec<Self>, faults: &mut Faults) -> Vec<Reference> {
        let numbered = entries.into_iter().enumerate();
        numbered.filter_map(|(at, entry)| entry.reference(&field(at), faults)).collect()
    }

    fn reference(self, field: &str, faults: &mut Faults) -> Option<Reference> {
        let Some(kind) = self.kind else {
            faults.add(format!("{field}.type"), "is needed, usually `REFERENCE`");
            return None;
        };
        let to = id::of_name(
            &self.related_memo.name,
            "memos",
            &format!("{field}.relatedMemo.name"),
            faults,
        )?;
        let from = match self.memo {
            Some(memo) => {
                Some(id::of_name(&memo.name, "memos", &format!("{field}.memo.name"), faults)?)
            }
            None => None,
        };
        Some(Reference { from, to, kind })
    }
}

fn field(at: usize) -> String {
    format!("relations[{at}]")
}

pub(crate) async fn list(
    State(store): State<Store>,
    caller: Caller,
    Named(memo): Named<String>,
    params: Params,
) -> Result<Json<Relations>, Error> {
    let mut faults = Faults::default();
    let page = Page::of(&params, &mut faults);
    faults.check()?;
    let answer = store.read(move |db| {
        let record = table::readable(db, &memo, caller)?;
        let (relations, next_page_token) = page.cut_whole(of_memo(db, &record, caller)?);
        Ok(Relations { relations, next_page_token })
    });
    answer.await.map(Json)
}

pub(crate) async fn set(
    State(store): State<Store>,
    _: Owner,
    Named(memo): Named<String>,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Value>, Error> {
    let mut faults = Faults::default();
    let list = Entry::checked(wanted.relations, &mut faults);
    faults.check()?;
    store.write(move |db| replace(db, &table::find(db, &memo)?, &list)).await?;
    Ok(Json(json!({})))
}

/// The relations that start at a memo, as far as the caller may read where they lead.
pub(crate) fn of_memo(
    db: &Connection,
    memo: &Record,
    caller: Caller,
) -> Result<Vec<Relation>, Error> {
    let mut statement =
        db.prepare_cached("SELECT related FROM relations WHERE memo = ? ORDER BY position")?;
    let related =
        statement.query_map([&memo.id], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let parent = memo.parent.iter().map(|parent| (parent, Kind::Comment));
    let targets = parent.chain(related.iter().map(|related| (related, Kind::Reference)));
    let mut relations = Vec::new();
    for (id, kind) in targets {
        let target = table::find(db, id)?;
        if target.is_open_to(caller) {
            relations.push(Relation { memo: End::of(memo), related_memo: End::of(&target), kind });
        }
    }
    Ok(relations)
}

/// Makes the list the references of a memo.
pub(crate) fn replace(db: &Connection, memo: &Record, list: &[Reference]) -> Result<(), Error> {
    let mut faults = Faults::default();
    db.execute("DELETE FROM relations WHERE memo = ?", [&memo.id])?;
    for (at, reference) in list.iter().enumerate() {
        match reference.fault(db, memo)? {
            Some((part, description)) => faults.add(format!("{}.{part}", field(at)), description),
            None if reference.kind == Kind::Comment => {}
            None => {
                let sql = "INSERT INTO relations (memo, related, position) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
                db.execute(sql, params![memo.id, reference.to, at])?;
            }
        }
    }
    faults.check()
}

impl Reference {
    /// What is wrong with it as a relation of this memo.
    fn fault(
        &self,
        db: &Connection,
        memo: &Record,
    ) -> Result<Option<(&'static str, String)>, Error> {
        if self.from.as_ref().is_some_and(|from| *from != memo.id) {
            return Ok(Some((
                "memo.name",
                format!("must be `{}`, or be left out", table::name(&memo.id)),
            )));
        }
        if self.kind == Kind::Comment && memo.parent.as_ref() != Some(&self.to) {
            let text = "cannot be `COMMENT`: comments are written with CreateMemoComment";
            return Ok(Some(("type", text.to_owned())));
        }
        if self.to == memo.id {
            return Ok(Some(("relatedMemo.name", String::from("must be another memo"))));
        }
        match table::find(db, &self.to) {
            Ok(_) => Ok(None),
            Err(Error::Missing(name)) => {
                Ok(Some(("relatedMemo.name", format!("is `{name}`, which does not exist"))))
            }
            Err(error) => Err(error),
        }
    }
}

impl End {
    fn of(memo: &Record) -> Self {
        Self { name: table::name(&memo.id), snippet: memo.snippet() }
    }
}
