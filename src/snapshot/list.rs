//! The era-free tools array, made once per snapshot, and what is derived from it.
//!
//! The bytes depend on the tools alone: no time, no generation, no order of a hash map.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::Value;

use super::Served;
use crate::source::Digest;

/// The tools array as JSON.
pub(super) fn bytes(toolsets: &[Served]) -> Bytes {
    let tools = toolsets.iter().flat_map(|served| &served.toolset.tools);
    let array = tools.map(|tool| Value::Object(tool.listed.clone())).collect();
    Value::Array(array).to_string().into()
}

/// BLAKE3 over the array and the instructions.
pub(super) fn fingerprint(list: &[u8], instructions: &str) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(list.len() as u64).to_le_bytes());
    hasher.update(list);
    hasher.update(instructions.as_bytes());
    hasher.finalize().into()
}

/// Names and aliases to (toolset, tool); a name beats an alias.
pub(super) fn index(toolsets: &[Served]) -> HashMap<Box<str>, (usize, usize)> {
    let mut index = HashMap::new();
    let tools = || {
        toolsets.iter().enumerate().flat_map(|(toolset, served)| {
            served
                .toolset
                .tools
                .iter()
                .enumerate()
                .map(move |(tool, value)| ((toolset, tool), value))
        })
    };
    for (place, tool) in tools() {
        index.entry(tool.name.as_str().into()).or_insert(place);
    }
    for (place, tool) in tools() {
        for alias in &tool.aliases {
            index.entry(alias.as_str().into()).or_insert(place);
        }
    }
    index
}
