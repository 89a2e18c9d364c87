//! The operations on memos and their comments.

use axum::Json;
use axum::extract::State;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde::Serialize;
use serde_json::json;

use super::table::{self, LANGUAGE, ORDER, Record};
use super::{Changes, Draft, FIELDS, Memo, State as MemoState};
use crate::auth::{Caller, Owner};
use crate::choice::Choice;
use crate::error::{Error, Faults};
use crate::filter::Conditions;
use crate::id;
use crate::order::Order;
use crate::page::Page;
use crate::request::{Body, Named, Params};
use crate::store::Store;

/// A page of memos or comments.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memos {
    memos: Vec<Memo>,
    next_page_token: String,
}

pub(crate) async fn list(
    State(store): State<Store>,
    caller: Caller,
    params: Params,
) -> Result<Json<Memos>, Error> {
    let mut faults = Faults::default();
    let mut conditions = Conditions::default();
    conditions.and("parent IS NULL", Vec::new());
    let state = MemoState::parse(params.text("state").unwrap_or(MemoState::UNSPECIFIED));
    let state = state.unwrap_or_else(|description| {
        faults.add("state", description);
        None
    });
    conditions.and("state = ?", vec![Value::from(state.unwrap_or_default().word().to_owned())]);
    conditions.asked(params.text("filter"), &LANGUAGE, &mut faults);
    let order = Order::parse(params.text("orderBy"), &ORDER, "create_time desc", &mut faults);
    let page = Page::of(&params, &mut faults);
    faults.check()?;
    store.read(move |db| answer(db, conditions, &order, &page, caller)).await.map(Json)
}

pub(crate) async fn list_comments(
    State(store): State<Store>,
    caller: Caller,
    Named(memo): Named<String>,
    params: Params,
) -> Result<Json<Memos>, Error> {
    let mut faults = Faults::default();
    let order = Order::parse(params.text("orderBy"), &ORDER, "create_time asc", &mut faults);
    let page = Page::of(&params, &mut faults);
    faults.check()?;
    let comments = store.read(move |db| {
        let mut conditions = Conditions::default();
        conditions.and("parent = ?", vec![Value::from(table::readable(db, &memo, caller)?.id)]);
        answer(db, conditions, &order, &page, caller)
    });
    comments.await.map(Json)
}

fn answer(
    db: &Connection,
    mut conditions: Conditions,
    order: &Order,
    page: &Page,
    caller: Caller,
) -> Result<Memos, Error> {
    table::open_to(caller, &mut conditions);
    let (records, next_page_token) = page.cut(table::list(db, &conditions, order, page)?);
    let memos = records.into_iter().map(|record| table::whole(db, record, caller));
    Ok(Memos { memos: memos.collect::<Result<_, _>>()?, next_page_token })
}

pub(crate) async fn create(
    State(store): State<Store>,
    _: Owner,
    params: Params,
    Body(draft): Body<Draft>,
) -> Result<Json<Memo>, Error> {
    let changes = new(draft)?;
    let id = id::chosen(params.text("memoId"), "memoId")?;
    let memo = store.write(move |db| owned(db, table::insert(db, &id, None, &changes)?));
    memo.await.map(Json)
}

pub(crate) async fn create_comment(
    State(store): State<Store>,
    _: Owner,
    Named(memo): Named<String>,
    params: Params,
    Body(draft): Body<Draft>,
) -> Result<Json<Memo>, Error> {
    let changes = new(draft)?;
    let id = id::chosen(params.text("commentId"), "commentId")?;
    let comment = store.write(move |db| {
        let parent = table::find(db, &memo)?;
        owned(db, table::insert(db, &id, Some(&parent), &changes)?)
    });
    comment.await.map(Json)
}

/// A draft that can become a memo: it has content.
fn new(draft: Draft) -> Result<Changes, Error> {
    let mut faults = Faults::default();
    if draft.content.is_none() {
        faults.add("content", "is needed");
    }
    let changes = draft.checked(&mut faults);
    faults.check()?;
    Ok(changes)
}

pub(crate) async fn get(
    State(store): State<Store>,
    caller: Caller,
    Named(memo): Named<String>,
) -> Result<Json<Memo>, Error> {
    store
        .read(move |db| table::whole(db, table::readable(db, &memo, caller)?, caller))
        .await
        .map(Json)
}

pub(crate) async fn update(
    State(store): State<Store>,
    _: Owner,
    Named(memo): Named<String>,
    params: Params,
    Body(draft): Body<Draft>,
) -> Result<Json<Memo>, Error> {
    let mut faults = Faults::default();
    let draft = match params.text("updateMask") {
        Some(mask) => draft.masked(mask, &mut faults),
        None => draft,
    };
    let changes = draft.checked(&mut faults);
    faults.check()?;
    if changes.is_empty() {
        let text = format!("nothing to change; give at least one of `{}`", FIELDS.join("`, `"));
        return Err(Error::Malformed(text));
    }
    store.write(move |db| owned(db, table::update(db, &memo, &changes)?)).await.map(Json)
}

pub(crate) async fn delete(
    State(store): State<Store>,
    _: Owner,
    Named(memo): Named<String>,
    params: Params,
) -> Result<Json<serde_json::Value>, Error> {
    let mut faults = Faults::default();
    let force = params.flag("force", &mut faults);
    faults.check()?;
    store.write(move |db| table::delete(db, &memo, force)).await?;
    Ok(Json(json!({})))
}

fn owned(db: &Connection, record: Record) -> Result<Memo, Error> {
    table::whole(db, record, Caller::Owner)
}
