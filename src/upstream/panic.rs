//! Where a panic happened, for the log.
//!
//! Whoever catches a panic gets its message, but only the process's hook is told its place. A program of
//! toolgate's own asks for places to be remembered; a service that embeds the gateway has a hook of
//! its own and need not. The place is one of the source, so it says nothing of what a call was about.

use std::{
    cell::RefCell,
    panic::{set_hook, take_hook},
    sync::Once,
};

thread_local! {
    /// Of the last panic on this thread; a future that panics is caught on the thread that ran it.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on remembers where each panic of this process happens, then does what was done before.
/// Asking twice is asking once.
pub fn remember_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string);
            // A panic while a thread ends has no place to be remembered at.
            let _ = PLACE.try_with(|last| last.replace(place));
            before(panic);
        }));
    });
}

/// The place of the panic that was just caught on this thread, when places are remembered.
pub(super) fn place() -> Option<String> {
    PLACE.take()
}
