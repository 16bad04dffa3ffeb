//! Expansions trigger no lint that users may turn on.

pub mod derive;
pub mod retryable;
