//! Reactions: one sign each, at most once per memo and user.

use axum::Json;
use axum::extract::State;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::auth::{Caller, Owner};
use crate::error::{Error, Faults};
use crate::page::Page;
use crate::request::{Body, Named, Params};
use crate::store::Store;
use crate::{CREATOR, id, memo};

/// In bytes; the longest emoji sequences have 35 and are rare enough to do without.
const LONGEST: usize = 32;

/// One reaction to one memo.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reaction {
    name: String,
    creator: String,
    reaction_type: String,
    create_time: String,
}

/// A page of reactions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reactions {
    reactions: Vec<Reaction>,
    next_page_token: String,
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    reaction: Draft,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Draft {
    reaction_type: String,
}

pub(crate) async fn list(
    State(store): State<Store>,
    caller: Caller,
    Named(memo): Named<String>,
    params: Params,
) -> Result<Json<Reactions>, Error> {
    let mut faults = Faults::default();
    let page = Page::of(&params, &mut faults);
    faults.check()?;
    let answer = store.read(move |db| {
        let record = memo::table::readable(db, &memo, caller)?;
        let (reactions, next_page_token) = page.cut_whole(of_memo(db, &record.id)?);
        Ok(Reactions { reactions, next_page_token })
    });
    answer.await.map(Json)
}

pub(crate) async fn upsert(
    State(store): State<Store>,
    _: Owner,
    Named(memo): Named<String>,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Reaction>, Error> {
    let kind = wanted.reaction.reaction_type;
    if kind.trim().is_empty() || kind.len() > LONGEST {
        return Err(Error::field(
            "reaction.reactionType",
            format!("must have 1 to {LONGEST} bytes"),
        ));
    }
    let answer = store.write(move |db| insert(db, &memo::table::find(db, &memo)?.id, &kind));
    answer.await.map(Json)
}

pub(crate) async fn delete(
    State(store): State<Store>,
    _: Owner,
    Named((memo, reaction)): Named<(String, String)>,
) -> Result<Json<Value>, Error> {
    let done = store.write(move |db| {
        memo::table::find(db, &memo)?;
        let n_rows =
            db.execute("DELETE FROM reactions WHERE memo = ? AND id = ?", [&memo, &reaction])?;
        if n_rows == 0 { Err(Error::Missing(name(&memo, &reaction))) } else { Ok(()) }
    });
    done.await?;
    Ok(Json(json!({})))
}

/// The reactions to a memo, oldest first.
pub(crate) fn of_memo(db: &Connection, memo: &str) -> Result<Vec<Reaction>, Error> {
    let mut statement = db.prepare_cached("SELECT * FROM reactions WHERE memo = ? ORDER BY seq")?;
    Ok(statement.query_map([memo], reaction)?.collect::<Result<_, _>>()?)
}

fn insert(db: &Connection, memo: &str, kind: &str) -> Result<Reaction, Error> {
    let sql = "INSERT INTO reactions (id, memo, creator, type) VALUES (?, ?, ?, ?)
        ON CONFLICT (memo, creator, type) DO NOTHING";
    db.execute(sql, params![id::fresh()?, memo, CREATOR, kind])?;
    let sql = "SELECT * FROM reactions WHERE memo = ? AND creator = ? AND type = ?";
    Ok(db.query_row(sql, [memo, CREATOR, kind], reaction)?)
}

fn name(memo: &str, reaction: &str) -> String {
    format!("memos/{memo}/reactions/{reaction}")
}

fn reaction(row: &Row<'_>) -> rusqlite::Result<Reaction> {
    let (memo, id): (String, String) = (row.get("memo")?, row.get("id")?);
    Ok(Reaction {
        name: name(&memo, &id),
        creator: row.get("creator")?,
        reaction_type: row.get("type")?,
        create_time: row.get("create_time")?,
    })
}
