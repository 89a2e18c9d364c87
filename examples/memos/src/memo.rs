//! Memos and comments, as they are sent and as they are asked for.
//!
//! A comment is a memo with a parent, so both share everything here. What a caller sends is a [`Draft`], in which
//! anything may be missing or wrong; [`Draft::checked`] makes it [`Changes`], which the table below can write as it is.

pub(crate) mod handler;
pub(crate) mod table;

use serde::{Deserialize, Deserializer, Serialize};

use crate::attachment::{Attachment, Entry, Placed};
use crate::choice::{self, Choice};
use crate::error::Faults;
use crate::reaction::Reaction;
use crate::relation::{self, Reference, Relation};
use crate::text::Property;

const LONGEST: usize = 65_536;

/// The fields that an update may name.
const FIELDS: [&str; 7] =
    ["content", "visibility", "pinned", "state", "location", "attachments", "relations"];

/// One memo with all that belongs to it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memo {
    name: String,
    #[serde(serialize_with = "choice::write")]
    state: State,
    creator: &'static str,
    create_time: String,
    update_time: String,
    content: String,
    #[serde(serialize_with = "choice::write")]
    visibility: Visibility,
    tags: Vec<String>,
    pinned: bool,
    attachments: Vec<Attachment>,
    relations: Vec<Relation>,
    reactions: Vec<Reaction>,
    property: Property,
    parent: String,
    snippet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Normal,
    Archived,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Visibility {
    #[default]
    Private,
    Protected,
    Public,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Location {
    placeholder: String,
    latitude: f64,
    longitude: f64,
}

/// A memo as a caller sends it. `None` is a field that was left out.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Draft {
    content: Option<String>,
    #[serde(deserialize_with = "choice::read")]
    visibility: Option<Visibility>,
    #[serde(deserialize_with = "choice::read")]
    state: Option<State>,
    pinned: Option<bool>,
    /// `Some(None)` is a `null`: the memo shall have no location.
    #[serde(deserialize_with = "given")]
    location: Option<Option<Location>>,
    attachments: Option<Vec<Entry>>,
    relations: Option<Vec<relation::Entry>>,
}

/// What to write. `None` is a field that stays as it is; every value has been checked.
pub(crate) struct Changes {
    content: Option<String>,
    visibility: Option<Visibility>,
    state: Option<State>,
    pinned: Option<bool>,
    location: Option<Option<Location>>,
    attachments: Option<Vec<Placed>>,
    relations: Option<Vec<Reference>>,
}

impl Draft {
    /// The fields in an update mask, and only they: one that the mask names and the draft lacks is emptied.
    fn masked(self, mask: &str, faults: &mut Faults) -> Self {
        let names: Vec<_> = mask.split(',').map(str::trim).collect();
        if let Some(name) = names.iter().find(|name| !FIELDS.contains(name)) {
            faults.add(
                "updateMask",
                format!("names `{name}`, but may name only `{}`", FIELDS.join("`, `")),
            );
        }
        Self {
            content: kept(&names, "content", self.content),
            visibility: kept(&names, "visibility", self.visibility),
            state: kept(&names, "state", self.state),
            pinned: kept(&names, "pinned", self.pinned),
            location: kept(&names, "location", self.location),
            attachments: kept(&names, "attachments", self.attachments),
            relations: kept(&names, "relations", self.relations),
        }
    }

    fn checked(self, faults: &mut Faults) -> Changes {
        if let Some(content) = &self.content {
            check_content(content, faults);
        }
        if let Some(Some(location)) = &self.location {
            location.check(faults);
        }
        Changes {
            content: self.content,
            visibility: self.visibility,
            state: self.state,
            pinned: self.pinned,
            location: self.location,
            attachments: self.attachments.map(|entries| Entry::checked(entries, faults)),
            relations: self.relations.map(|entries| relation::Entry::checked(entries, faults)),
        }
    }
}

impl Changes {
    fn is_empty(&self) -> bool {
        let texts = self.content.is_none() && self.visibility.is_none() && self.state.is_none();
        let lists = self.attachments.is_none() && self.relations.is_none();
        texts && lists && self.pinned.is_none() && self.location.is_none()
    }
}

impl Location {
    fn check(&self, faults: &mut Faults) {
        if !(-90.0..=90.0).contains(&self.latitude) {
            faults.add("location.latitude", "must be between -90 and 90");
        }
        if !(-180.0..=180.0).contains(&self.longitude) {
            faults.add("location.longitude", "must be between -180 and 180");
        }
    }
}

impl Choice for State {
    const UNSPECIFIED: &'static str = "STATE_UNSPECIFIED";
    const ALL: &'static [Self] = &[Self::Normal, Self::Archived];

    fn word(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Archived => "ARCHIVED",
        }
    }
}

impl Choice for Visibility {
    const UNSPECIFIED: &'static str = "VISIBILITY_UNSPECIFIED";
    const ALL: &'static [Self] = &[Self::Private, Self::Protected, Self::Public];

    fn word(self) -> &'static str {
        match self {
            Self::Private => "PRIVATE",
            Self::Protected => "PROTECTED",
            Self::Public => "PUBLIC",
        }
    }
}

fn kept<T: Default>(names: &[&str], name: &str, value: Option<T>) -> Option<T> {
    names.contains(&name).then(|| value.unwrap_or_default())
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

fn check_content(content: &str, faults: &mut Faults) {
    if content.trim().is_empty() {
        faults.add("content", "must not be empty");
    } else if content.len() > LONGEST {
        faults
            .add("content", format!("has {} bytes, but may have at most {LONGEST}", content.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, mask: Option<&str>, expected: Result<&str, &str>) {
        let mut faults = Faults::default();
        let draft: Draft = serde_json::from_str(body).unwrap();
        let draft = match mask {
            Some(mask) => draft.masked(mask, &mut faults),
            None => draft,
        };
        let changes = draft.checked(&mut faults);
        let found = faults.check().map(|()| describe(&changes)).map_err(|error| error.to_string());
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{body} {mask:?}"),
            (Err(found), Err(expected)) => {
                assert!(found.contains(expected), "{body} {mask:?}: {found}")
            }
            _ => panic!("{body} {mask:?}: {found:?}"),
        }
    }

    fn describe(changes: &Changes) -> String {
        let mut parts = Vec::new();
        parts.extend(changes.content.as_ref().map(|content| format!("content={content}")));
        parts.extend(changes.visibility.map(|visibility| visibility.word().to_owned()));
        parts.extend(changes.state.map(|state| state.word().to_owned()));
        parts.extend(changes.pinned.map(|pinned| format!("pinned={pinned}")));
        parts.extend(
            changes.location.as_ref().map(|location| format!("location={}", location.is_some())),
        );
        parts
            .extend(changes.attachments.as_ref().map(|list| format!("attachments={}", list.len())));
        parts.extend(changes.relations.as_ref().map(|list| format!("relations={}", list.len())));
        assert_eq!(changes.is_empty(), parts.is_empty());
        parts.join(" ")
    }

    #[test]
    fn without_a_mask_what_is_given_changes() {
        check("{}", None, Ok(""));
        check(r#"{"pinned": true}"#, None, Ok("pinned=true"));
        check(r#"{"content": "a", "state": "ARCHIVED"}"#, None, Ok("content=a ARCHIVED"));
        check(r#"{"visibility": "VISIBILITY_UNSPECIFIED"}"#, None, Ok(""));
        check(r#"{"pinned": null, "location": null}"#, None, Ok("location=false"));
        check(r#"{"attachments": [], "relations": []}"#, None, Ok("attachments=0 relations=0"));
        check(r#"{"name": "memos/x", "somethingElse": 1}"#, None, Ok(""));
    }

    #[test]
    fn with_a_mask_only_what_it_names_changes() {
        check(r#"{"content": "a", "pinned": true}"#, Some("pinned"), Ok("pinned=true"));
        check(
            r#"{"content": "a", "pinned": true}"#,
            Some("pinned, content"),
            Ok("content=a pinned=true"),
        );
        check("{}", Some("visibility,pinned,location"), Ok("PRIVATE pinned=false location=false"));
        check("{}", Some("content"), Err("`content` must not be empty"));
        check("{}", Some("pinned,createTime"), Err("`updateMask` names `createTime`"));
        check("{}", Some("*"), Err("`updateMask` names `*`"));
    }

    #[test]
    fn values_are_checked() {
        check(r#"{"content": " \n"}"#, None, Err("`content` must not be empty"));
        check(&format!(r#"{{"content": "{}"}}"#, "a".repeat(65_537)), None, Err("has 65537 bytes"));
        check(r#"{"location": {"latitude": 90, "longitude": -180}}"#, None, Ok("location=true"));
        check(r#"{"location": {"latitude": 91}}"#, None, Err("`location.latitude`"));
        check(r#"{"location": {"longitude": -181}}"#, None, Err("`location.longitude`"));
    }

    #[test]
    fn an_unknown_word_is_an_error_that_lists_the_words() {
        let error = serde_json::from_str::<Draft>(r#"{"state": "GONE"}"#).err().unwrap();
        assert!(
            error.to_string().starts_with("is `GONE`, but must be one of `NORMAL`, `ARCHIVED`"),
            "{error}"
        );
    }
}
