//! What a wrong name was probably meant to be, as the end of a message.

use crate::diagnostic::nearest;

/// ``; did you mean `x`?``, or nothing when nothing is near.
pub(super) fn suggestion<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
) -> String {
    nearest(name, candidates).map_or_else(String::new, |found| format!("; did you mean `{found}`?"))
}
