//! Values that are shown as text and mean any JSON value.
//!
//! An untyped node is published as a string, since that is all some clients can fill in. The way
//! back is decided when the tool is built: which places of an argument are such texts.

use serde_json::{Map, Value};

use crate::registry::{
    input::{Form, Input, Place, Slot},
    media, object, portable,
    view::View,
};

/// Where in a value texts stand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text {
    /// The value itself.
    Any,
    /// The value itself, when it is an object or an array.
    Structure,
    /// In these fields.
    Fields(Vec<(String, Text)>),
    /// In every item.
    Items(Box<Text>),
}

/// The texts of an argument; parameters and forms have none, since on the wire they are text anyway.
pub(super) fn of_slot(
    slot: &Slot,
    input: &Input,
    published: &Map<String, Value>,
    view: &View<'_>,
) -> Option<Text> {
    let media = match &input.form {
        Form::Fields { media, .. } if slot.place == Place::Field => media,
        Form::Whole(media) if slot.place == Place::Body => media,
        _ => return None,
    };
    let shown = published.get("properties")?.get(&slot.argument)?;
    if media::is_json(media) { find(shown, &slot.schema, view) } else { None }
}

/// Walks what is shown beside what is meant; what is shown ends, so this does.
fn find(shown: &Value, schema: &Value, view: &View<'_>) -> Option<Text> {
    let schema = view.core(schema);
    match shown.get("type")?.as_str()? {
        "string" => here(&schema, view),
        "array" => {
            let text = find(shown.get("items")?, schema.get("items")?, view)?;
            Some(Text::Items(Box::new(text)))
        }
        "object" => {
            let shown = shown.get("properties")?;
            let object = object::read(view, &schema).ok()??;
            let field = |(name, schema): &(String, Value)| {
                Some((name.clone(), find(shown.get(name)?, schema, view)?))
            };
            let fields: Vec<_> = object.fields.iter().filter_map(field).collect();
            (!fields.is_empty()).then_some(Text::Fields(fields))
        }
        _ => None,
    }
}

/// A node that is shown as text; one whose strings stand for themselves is read only as a structure.
fn here(schema: &Value, view: &View<'_>) -> Option<Text> {
    let resolve = |reference: &str| view.get(reference);
    if !portable::shown_as_text(schema, &resolve) {
        return None;
    }
    let reads_all = portable::read_text(schema, &resolve, "0").is_some();
    Some(if reads_all { Text::Any } else { Text::Structure })
}

impl Text {
    /// Reads the texts of a value; one that is no JSON stands for itself.
    pub(super) fn read(&self, value: &mut Value) {
        match (self, value) {
            (Self::Any | Self::Structure, value @ Value::String(_)) => {
                let read = value.as_str().and_then(|text| serde_json::from_str(text).ok());
                let is_meant =
                    |read: &Value| *self == Self::Any || read.is_object() || read.is_array();
                if let Some(read) = read.filter(is_meant) {
                    *value = read;
                }
            }
            (Self::Fields(fields), Value::Object(map)) => {
                for (name, text) in fields {
                    if let Some(value) = map.get_mut(name) {
                        text.read(value);
                    }
                }
            }
            (Self::Items(text), Value::Array(items)) => {
                items.iter_mut().for_each(|item| text.read(item));
            }
            _ => {}
        }
    }
}
