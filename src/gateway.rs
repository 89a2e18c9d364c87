//! The pieces put together: for the command line and for a service that embeds toolgate.

/// A running gateway; dropping it ends its reload thread.
#[derive(Debug)]
pub struct Gateway {}
