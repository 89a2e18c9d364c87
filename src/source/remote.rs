//! URL documents.

use std::sync::Arc;

use super::Sources;

/// Store.
#[derive(Debug, Default)]
pub struct Remote {}

pub(super) enum Fetched {
    Pending,
    Done(Result<Arc<[u8]>, String>),
}

impl Remote {
    pub(super) fn content(&self, _url: &str, _cap: usize) -> Fetched {
        Fetched::Pending
    }
    /// x
    pub fn on_change(&self, _f: impl Fn() + Send + Sync + 'static) {}
    /// x
    pub fn refresh(&self) {}
    /// x
    pub fn retain(&self, _s: &Sources) {}
    /// x
    pub fn wait(&self) {}
}
