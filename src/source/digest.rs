//! Digests over names and bytes: equal ones mean that nothing needs to be built.

use super::{Digest, ToolsetSource};
use crate::diagnostic::Diagnostic;

/// Over a name and its bytes, or the words of its fault.
pub(super) fn input<B: AsRef<[u8]>>(name: &str, content: &Result<B, String>) -> Digest {
    let mut hash = Hash::default();
    hash.part(name.as_bytes());
    match content {
        Ok(bytes) => hash.part(b"bytes").part(bytes.as_ref()),
        Err(words) => hash.part(b"fault").part(words.as_bytes()),
    };
    hash.digest()
}

/// Over everything a toolset is made of; `allow` counts where there is no file.
pub(super) fn toolset(toolset: &ToolsetSource, allow: &[String]) -> Digest {
    let mut hash = Hash::default();
    hash.part(toolset.name.as_bytes());
    let parts = [&toolset.allowlist, &toolset.document];
    for input in parts {
        hash.part(input.as_ref().map_or(&[][..], |input| &input.digest));
    }
    if toolset.allowlist.is_none() {
        allow.iter().for_each(|selector| _ = hash.part(selector.as_bytes()));
    }
    for (name, value) in &toolset.variables {
        hash.part(name.as_bytes()).part(if value.is_some() { b"set" } else { b"unset" });
        hash.part(value.as_deref().unwrap_or_default().as_bytes());
    }
    toolset.files.iter().for_each(|(_, input)| _ = hash.part(&input.digest));
    hash.digest()
}

/// Over a whole pass.
pub(super) fn whole(toolsets: &[ToolsetSource], faults: &[Diagnostic]) -> Digest {
    let mut hash = Hash::default();
    toolsets.iter().for_each(|toolset| _ = hash.part(&toolset.digest));
    faults.iter().for_each(|fault| _ = hash.part(fault.to_string().as_bytes()));
    hash.digest()
}

/// BLAKE3 over parts, each with its length before it, so that no two lists of parts hash alike.
#[derive(Default)]
struct Hash(blake3::Hasher);

impl Hash {
    fn part(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    fn digest(&self) -> Digest {
        self.0.finalize().into()
    }
}
