//! Values out of a fixed set of words, as protocol buffers' JSON writes its enums.
//!
//! Each set has one more word, `…_UNSPECIFIED`, which means "not given" in a request and never stands in an answer.

use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type};
use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// A type with one word for each of its values.
pub(crate) trait Choice: Copy + Sized + 'static {
    const UNSPECIFIED: &'static str;
    const ALL: &'static [Self];

    fn word(self) -> &'static str;

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.word() == word)
    }

    /// Reads a word of a request. The error says which words there are.
    fn parse(word: &str) -> Result<Option<Self>, String> {
        if word == Self::UNSPECIFIED {
            return Ok(None);
        }
        let words: Vec<_> = Self::ALL.iter().map(|choice| format!("`{}`", choice.word())).collect();
        Self::from_word(word)
            .map(Some)
            .ok_or_else(|| format!("is `{word}`, but must be one of {}", words.join(", ")))
    }
}

/// For `#[serde(deserialize_with)]`.
pub(crate) fn read<'de, D: Deserializer<'de>, T: Choice>(from: D) -> Result<Option<T>, D::Error> {
    match Option::<String>::deserialize(from)? {
        None => Ok(None),
        Some(word) => T::parse(&word).map_err(D::Error::custom),
    }
}

/// For `#[serde(serialize_with)]`.
pub(crate) fn write<S: Serializer, T: Choice>(choice: &T, into: S) -> Result<S::Ok, S::Error> {
    into.serialize_str(choice.word())
}

/// Reads a column that holds a word.
pub(crate) fn column<T: Choice>(row: &Row<'_>, name: &str) -> rusqlite::Result<T> {
    let word: String = row.get(name)?;
    T::from_word(&word).ok_or_else(|| {
        let cause = FromSqlError::Other(format!("`{word}` is no word for `{name}`").into());
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(cause))
    })
}
