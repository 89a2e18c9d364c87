//! The inputs of a start, looked at without serving: what `check`, `init` and `allow` stand on.
//!
//! Everything is read and run as a start does it, on a thread with the stack that deep documents need.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use super::{StartError, builder};
use crate::{
    config::Inputs,
    diagnostic::Diagnostic,
    openapi::{self, Api, text::Text},
    snapshot::{
        Built, GoOn,
        reload::{self, Pipeline},
    },
    source::{Input, Sources},
    tls::Roots,
};

/// Reads the inputs and hands them to `work`.
///
/// # Errors
/// What keeps them from being read at all; faults of single inputs are for `work` to find.
pub fn inspect<T, W>(inputs: Inputs, work: W) -> Result<T, StartError>
where
    T: Send + 'static,
    W: Fn(&Sources) -> T + Send + Sync + 'static,
{
    let found = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&found);
    let build = move |sources: &Sources, _: Option<&_>, _: &mut GoOn<'_>| {
        let answer = work(sources);
        *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(Built { snapshot: None, refusals: Vec::new(), drafts: Vec::new() })
    };
    let roots = Roots::read(inputs.ca_file.as_deref())?;
    let pipeline = Pipeline { build: Box::new(build), ..builder::pipeline(inputs, roots, false) };
    let first = reload::first(&pipeline);
    let answer = mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    match answer {
        Some(answer) if first.refusals.is_empty() => Ok(answer),
        _ => Err(builder::refused(&first)),
    }
}

/// Reads a document that was read as an input.
///
/// # Errors
/// Every fault of it, or why there is no text.
pub fn api(input: &Input) -> Result<Arc<Api>, Vec<Diagnostic>> {
    let bytes = input.content.as_ref().map_err(|fault| vec![fault.clone()])?;
    let text = Text::new(Arc::clone(&input.name), bytes).map_err(|fault| vec![fault])?;
    openapi::parse(&text).map(Arc::new)
}
