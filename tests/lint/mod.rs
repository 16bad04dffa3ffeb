//! Whatever lints users turn on, an expansion triggers none of them.

pub mod derive;
pub mod retryable;
