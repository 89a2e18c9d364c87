//! Places in JSON: a scan over the bytes, exact where the parser's own places are not.
//!
//! The text has usually been parsed before; a text that is broken somewhere ends the scan there, with
//! every place found until then.

use std::borrow::Cow;

use super::place::{ROOT, Targets};

/// Finds the targets.
pub(super) fn scan(text: &str, targets: &mut Targets) {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0, targets };
    // A broken text ends early; what was found until then stands.
    let _ = scan.value(ROOT);
}

/// Where the string starts whose closing quote stands just before `end`.
pub(super) fn string_start(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let quote = |at: usize| {
        let before = bytes.get(..at).unwrap_or_default();
        let escapes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        bytes.get(at) == Some(&b'"') && escapes % 2 == 0
    };
    let mut quotes = (0..=end.min(bytes.len())).rev().filter(|at| quote(*at));
    quotes.nth(1).unwrap_or(end)
}

/// The text of a string, escapes resolved.
fn decoded(string: &[u8]) -> Option<Cow<'_, str>> {
    if string.contains(&b'\\') {
        return serde_json::from_slice(string).ok().map(Cow::Owned);
    }
    let inner = string.get(1..string.len().checked_sub(1)?)?;
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

struct Scan<'t, 'p> {
    bytes: &'t [u8],
    at: usize,
    targets: &'p mut Targets,
}

impl<'t> Scan<'t, '_> {
    fn value(&mut self, node: usize) -> Option<()> {
        let first = self.peek()?;
        self.targets.set(node, self.at, false);
        match first {
            b'{' if self.targets.has_children(node) => self.object(node),
            b'[' if self.targets.has_children(node) => self.array(node),
            _ => self.skip(),
        }
    }

    fn object(&mut self, node: usize) -> Option<()> {
        self.at += 1;
        while self.peek()? != b'}' {
            let offset = self.at;
            let key = decoded(self.string()?)?;
            (self.peek()? == b':').then_some(())?;
            self.at += 1;
            match self.targets.child(node, &key) {
                Some(child) if !self.targets.is_placed(child) => {
                    self.targets.set(child, offset, false);
                    self.value(child)?;
                }
                _ => self.skip()?,
            }
            self.comma()?;
        }
        self.at += 1;
        Some(())
    }

    fn array(&mut self, node: usize) -> Option<()> {
        self.at += 1;
        for index in 0_usize.. {
            if self.peek()? == b']' {
                break;
            }
            match self.targets.child(node, &index.to_string()) {
                Some(child) => self.value(child)?,
                None => self.skip()?,
            }
            self.comma()?;
        }
        self.at += 1;
        Some(())
    }

    /// Past a value, whatever is in it.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                _ => self.word()?,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Past a number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then_some(())
    }

    /// Past a string; its bytes with the quotes.
    fn string(&mut self) -> Option<&'t [u8]> {
        let start = self.at;
        (*self.bytes.get(start)? == b'"').then_some(())?;
        self.at += 1;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.bytes.get(start..self.at)
    }

    fn comma(&mut self) -> Option<()> {
        match self.peek()? {
            b',' => self.at += 1,
            b'}' | b']' => {}
            _ => return None,
        }
        Some(())
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.bytes.get(self.at).copied()
    }
}
