//! Moves of outcomes.

use std::convert::identity;

/// Returns the same outcome, moved by its value or its error.
///
/// A plain move copies all bytes of an outcome, with the padding, so it needs the outcome in memory, even if its parts are in registers.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn by_parts<T, E>(outcome: Result<T, E>) -> Result<T, E> {
    mapped(outcome, identity, identity)
}

/// Separate from [`by_parts`], because the compiler turns a `match` that rebuilds the same outcome into a plain move.
#[cfg_attr(not(debug_assertions), inline(always))]
fn mapped<T, E>(outcome: Result<T, E>, value: impl FnOnce(T) -> T, error: impl FnOnce(E) -> E) -> Result<T, E> {
    match outcome {
        Ok(part) => Ok(value(part)),
        Err(part) => Err(error(part)),
    }
}
