//! References: what one names, and where a chain of them ends.
//!
//! Only places of the same document are followed; a reference to a file or the network is refused by
//! name, and nothing is opened. Pointer escapes (`~1`) and percent escapes (`%7B`) both count.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{Fault, node::Node};

/// A longer chain of nothing but references is no document's intent, and following it costs time.
pub(super) const MAX_CHAIN: usize = 64;

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
        let mut seen = vec![self.pointer.clone()];
        let mut node = self;
        while let Some(reference) = node.reference() {
            node = node.target(root, reference)?;
            if seen.contains(&node.pointer) || seen.len() > MAX_CHAIN {
                return Err(circle(seen.swap_remove(0), reference));
            }
            seen.push(node.pointer.clone());
        }
        Ok(node)
    }
}

/// A chain that begins at this node and ends nowhere.
pub(super) fn circle(pointer: String, reference: &str) -> Fault {
    let words = format!("`{reference}` leads back to itself through references only");
    Fault { pointer: pointer + "/$ref", words }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(reference: &str, expected: &str) {
        assert!(pointer(reference).unwrap_or_else(|words| words).starts_with(expected));
    }

    #[test]
    fn escapes_of_both_kinds_count() {
        check("#/paths/~1a~1%7Bb%7D/get", "/paths/~1a~1{b}/get");
        check("#", "");
        check("#/50%25", "/50%");
        assert_eq!(pointer(&written("/50%/%7B")).unwrap(), "/50%/%7B");
    }

    #[test]
    fn what_is_outside_is_refused_by_name() {
        check("https://a.test/b#/c", "`https://a.test/b#/c` is outside this document");
        check("b.yaml", "`b.yaml` is outside this document");
        check("", "`` is outside this document");
        check("#b", "`#b` is a named anchor");
        check("#/%ff", "`#/%ff` is no UTF-8");
    }

    #[test]
    fn chains_end_or_are_refused() {
        let mut root = json!({"end": {"here": true}, "loop": {"$ref": "#/loop"}});
        for n in 0..100 {
            let next = if n == 0 { "#/end".into() } else { format!("#/n{}", n - 1) };
            root[format!("n{n}")] = json!({"$ref": next});
        }
        let follow = |pointer: &str| Node::at(&root, pointer.into()).unwrap().follow(&root);
        assert_eq!(follow("/n20").unwrap().pointer, "/end");
        assert_eq!(follow("/n90").unwrap_err().pointer, "/n90/$ref");
        assert_eq!(follow("/loop").unwrap_err().pointer, "/loop/$ref");
    }
}
