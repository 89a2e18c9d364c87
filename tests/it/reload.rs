//! Saving files while they are served: the case table, cut files, random operations, load, memory.
//!
//! Every gateway here waits 300 ms for quiet, so that what a machine under load does within one save
//! stays within one save; what must happen is waited for with a ceiling of seconds. How long it takes is
//! for `benches/reload.rs` to print.

use std::{env, str::FromStr};

/// A folder that is served, and everything that was ever live.
mod scene;

/// The versions of the fixture, and which of them a snapshot shows.
mod versions;

/// The binary in a process of its own, also where it may do less.
mod process;

/// One save by each client-visible way.
mod saves;

/// The case table: each way of changing files, and what must come of it.
mod cases;

/// The same with the binary: signals, permissions, limits, mounts.
mod confined;

/// What no writer means: broken, hostile and huge documents.
mod hostile;

/// Real documents cut at many places.
mod cuts;

/// Random operations against the model "the last valid set".
mod random;

/// Many clients during many swaps.
mod history;

/// The long mix of everything.
mod soak;

/// A number that the environment raises for the long forms.
fn many<T: FromStr>(variable: &str, default: T) -> T {
    env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
