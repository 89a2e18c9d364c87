//! The operations on attachments, and on the list of them that a memo has.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::table::{self, LANGUAGE, ORDER};
use super::{Attachment, Entry};
use crate::auth::{Caller, Owner};
use crate::error::{Error, Faults};
use crate::filter::Conditions;
use crate::memo;
use crate::order::Order;
use crate::page::Page;
use crate::request::{Body, Named, Params};
use crate::store::Store;

/// A page of attachments.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attachments {
    attachments: Vec<Attachment>,
    next_page_token: String,
}

/// The list a memo shall have.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    attachments: Vec<Entry>,
}

pub(crate) async fn list(
    State(store): State<Store>,
    caller: Caller,
    params: Params,
) -> Result<Json<Attachments>, Error> {
    let mut faults = Faults::default();
    let mut conditions = Conditions::default();
    conditions.asked(params.text("filter"), &LANGUAGE, &mut faults);
    table::open_to(caller, &mut conditions);
    let order = Order::parse(params.text("orderBy"), &ORDER, "create_time desc", &mut faults);
    let page = Page::of(&params, &mut faults);
    faults.check()?;
    let answer = store.read(move |db| {
        let (attachments, next_page_token) = page.cut(table::list(db, &conditions, &order, &page)?);
        Ok(Attachments { attachments, next_page_token })
    });
    answer.await.map(Json)
}

pub(crate) async fn get(
    State(store): State<Store>,
    caller: Caller,
    Named(id): Named<String>,
) -> Result<Json<Attachment>, Error> {
    store.read(move |db| table::readable(db, &id, caller)).await.map(Json)
}

/// Sends the bytes. They are never shown inside a page of this origin, whatever type they claim to have.
pub(crate) async fn download(
    State(store): State<Store>,
    caller: Caller,
    Named(id): Named<String>,
) -> Result<impl IntoResponse, Error> {
    let bytes = store.read(move |db| {
        table::readable(db, &id, caller)?;
        table::bytes(db, &id)
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, bytes.await?))
}

pub(crate) async fn delete(
    State(store): State<Store>,
    _: Owner,
    Named(id): Named<String>,
) -> Result<Json<Value>, Error> {
    store.write(move |db| table::delete(db, &id)).await?;
    Ok(Json(json!({})))
}

pub(crate) async fn list_of_memo(
    State(store): State<Store>,
    caller: Caller,
    Named(memo): Named<String>,
    params: Params,
) -> Result<Json<Attachments>, Error> {
    let mut faults = Faults::default();
    let page = Page::of(&params, &mut faults);
    faults.check()?;
    let answer = store.read(move |db| {
        let record = memo::table::readable(db, &memo, caller)?;
        let (attachments, next_page_token) = page.cut_whole(table::of_memo(db, &record.id)?);
        Ok(Attachments { attachments, next_page_token })
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
    let list = Entry::checked(wanted.attachments, &mut faults);
    faults.check()?;
    let done = store.write(move |db| table::replace(db, &memo::table::find(db, &memo)?.id, &list));
    done.await?;
    Ok(Json(json!({})))
}
