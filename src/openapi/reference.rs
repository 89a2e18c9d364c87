//! References: what one names, and where a chain of them ends.
//!
//! Only places of the same document are followed; a reference to a file or the network is refused by
//! name, and nothing is opened. Pointer escapes (`~1`) and percent escapes (`%7B`) both count.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{Fault, node::Node};

/// A longer chain of nothing but references is no document's intent, and following it costs time.
const MAX_CHAIN: usize = 64;

/// The pointer that a local reference names.
///
/// # Errors
/// In words, when it names something outside the document or no pointer.
pub(super) fn pointer(reference: &str) -> Result<String, String> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err(format!(
            "`{reference}` is outside this document; bundle it into one file, only references that begin with `#/` are followed"
        ));
    };
    let Ok(decoded) = percent_decode_str(fragment).decode_utf8() else {
        return Err(format!("`{reference}` is no UTF-8"));
    };
    if !decoded.is_empty() && !decoded.starts_with('/') {
        return Err(format!("`{reference}` is a named anchor; write it as `#/…`"));
    }
    Ok(decoded.into_owned())
}

/// A pointer as a reference; [`pointer`] reads it back.
pub(super) fn written(pointer: &str) -> String {
    format!("#{}", pointer.replace('%', "%25"))
}

impl<'a> Node<'a> {
    /// The reference this node is, if it is one.
    pub(super) fn reference(&self) -> Option<&'a str> {
        self.value.get("$ref").and_then(Value::as_str)
    }

    /// Where this node's reference leads, in one step; the fault stands at the `$ref`.
    pub(super) fn target(&self, root: &'a Value, reference: &str) -> Result<Self, Fault> {
        let fault = |words| Fault { pointer: format!("{}/$ref", self.pointer), words };
        let pointer = pointer(reference).map_err(fault)?;
        Self::at(root, pointer).ok_or_else(|| fault(format!("`{reference}` does not exist")))
    }

    /// This node, or what its chain of references ends in.
    pub(super) fn follow(self, root: &'a Value) -> Result<Self, Fault> {
        let mut node = self.clone();
        let mut seen = vec![node.pointer.clone()];
        while let Some(reference) = node.reference() {
            let next = node.target(root, reference)?;
            if seen.contains(&next.pointer) || seen.len() > MAX_CHAIN {
                let words = format!("`{reference}` leads back to itself through references only");
                return Err(Fault { pointer: format!("{}/$ref", self.pointer), words });
            }
            seen.push(next.pointer.clone());
            node = next;
        }
        Ok(node)
    }
}
