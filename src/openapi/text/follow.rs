//! Places in YAML: a second read that looks only where it was asked to.
//!
//! The parser tells places through its errors alone. A key that fails is already behind the parser, so
//! the walk takes the place from that error and goes on; the same holds for a scalar element. A mapping
//! in a list stands at its first key. An empty one tells nothing: its list's place has to do. Aliases
//! are followed, so what came through one has the anchor's place.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::place::{Lines, ROOT, Targets};

/// Finds the targets. A broken text ends the walk; what was found until then stands.
pub(super) fn follow(text: &str, targets: &mut Targets) {
    let root = text.find(|char: char| !char.is_whitespace()).unwrap_or_default();
    targets.set(ROOT, root, false);
    let mut walk = Walk { text, lines: Lines::yaml(text), targets, stopped: false };
    if let Some(document) = serde_yaml::Deserializer::from_str(text).next() {
        let _ = Follow { walk: &mut walk, node: ROOT, way: Way::Own }.deserialize(document);
    }
}

struct Walk<'t, 'p> {
    text: &'t str,
    lines: Lines<'t>,
    targets: &'p mut Targets,
    /// The error under way is our own and tells a place.
    stopped: bool,
}

impl Walk<'_, '_> {
    fn stop<E: Error>(&mut self) -> E {
        self.stopped = true;
        E::custom("place")
    }

    /// The offset that our own error tells; any other error goes on up.
    fn offset<E: Error>(&mut self, error: E) -> Result<usize, E> {
        if !std::mem::take(&mut self.stopped) {
            return Err(error);
        }
        let (line, column) = location(&error.to_string());
        Ok(self.lines.offset_of_chars(line, column))
    }
}

/// Line and column at the end of the parser's message; none are told at the very start of a text.
fn location(message: &str) -> (usize, usize) {
    let tail = message.rsplit_once(" at line ").map(|(_, tail)| tail);
    let (line, column) = tail.and_then(|tail| tail.split_once(" column ")).unwrap_or_default();
    (line.parse().unwrap_or(1), column.parse().unwrap_or(1))
}

/// How a node came into the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is written there.
    Own,
    /// It is the value of `<<`, so its entries belong to the mapping around.
    Source,
    /// Through `<<`.
    Merged,
}

struct Follow<'w, 't, 'p> {
    walk: &'w mut Walk<'t, 'p>,
    node: usize,
    way: Way,
}

impl Follow<'_, '_, '_> {
    /// A scalar: an element is placed by failing, an entry has its key's place.
    fn leaf<E: Error>(self) -> Result<(), E> {
        if self.walk.targets.is_placed(self.node) { Ok(()) } else { Err(self.walk.stop()) }
    }

    /// The value behind a key.
    fn entry<'de, A: MapAccess<'de>>(
        &mut self,
        access: &mut A,
        wanted: Wanted,
    ) -> Result<(), A::Error> {
        let below = if self.way == Way::Own { Way::Own } else { Way::Merged };
        let (node, way) = match wanted {
            Wanted::No => return access.next_value::<IgnoredAny>().map(drop),
            Wanted::Source => (self.node, Way::Source),
            Wanted::Child(child) => (child, below),
        };
        access.next_value_seed(Follow { walk: self.walk, node, way })
    }
}

impl<'de> DeserializeSeed<'de> for Follow<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Follow<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        loop {
            let mut wanted = Wanted::No;
            let seed = Key { walk: self.walk, node: self.node, wanted: &mut wanted };
            match access.next_key_seed(seed) {
                Ok(None) => return Ok(()),
                Ok(Some(())) => {}
                Err(error) => {
                    let offset = self.walk.offset(error)?;
                    self.walk.targets.set(self.node, bracket(self.walk.text, offset), false);
                    if let Wanted::Child(child) = wanted {
                        self.walk.targets.set(child, offset, self.way != Way::Own);
                    }
                }
            }
            self.entry(&mut access, wanted)?;
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let child = match self.way {
                Way::Source => Some(self.node),
                _ => self.walk.targets.child(self.node, &index.to_string()),
            };
            let result = match child {
                Some(node) => {
                    access.next_element_seed(Follow { walk: self.walk, node, way: self.way })
                }
                None => access.next_element::<IgnoredAny>().map(|some| some.map(drop)),
            };
            match (result, child) {
                (Ok(None), _) => break,
                (Err(error), Some(child)) => {
                    let offset = self.walk.offset(error)?;
                    self.walk.targets.set(child, offset, self.way != Way::Own);
                }
                (Err(error), None) => return Err(error),
                (Ok(Some(())), _) => {}
            }
        }
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.leaf()
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.leaf()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.leaf()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.leaf()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.leaf()
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<(), E> {
        self.leaf()
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<(), E> {
        self.leaf()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.leaf()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.leaf()
    }
}

/// A flow mapping stands at its bracket, not at its first key.
fn bracket(text: &str, key: usize) -> usize {
    let before = text.get(..key).unwrap_or_default().trim_end();
    if before.ends_with('{') { before.len() - 1 } else { key }
}

/// What a key is to the walk.
#[derive(Clone, Copy)]
enum Wanted {
    No,
    Source,
    Child(usize),
}

/// Reads one key and fails where its place is wanted.
struct Key<'k, 't, 'p> {
    walk: &'k mut Walk<'t, 'p>,
    node: usize,
    wanted: &'k mut Wanted,
}

impl<'de> DeserializeSeed<'de> for Key<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is plain text")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<(), E> {
        *self.wanted = match self.walk.targets.child(self.node, key) {
            Some(child) => Wanted::Child(child),
            None if key == "<<" => Wanted::Source,
            None => Wanted::No,
        };
        let placed = self.walk.targets.is_placed(self.node);
        match self.wanted {
            Wanted::Child(_) => Err(self.walk.stop()),
            _ if !placed => Err(self.walk.stop()),
            _ => Ok(()),
        }
    }
}
