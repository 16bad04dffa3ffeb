//! The places where an exploration lets attempts fail, and the outcomes of attempts there. Without the feature `test`, an
//! attempt is its body, and its outcome is what the body returns.

#[cfg(feature = "test")]
mod exploring;
#[cfg(not(feature = "test"))]
mod silent;

#[cfg(feature = "test")]
pub use exploring::{Explored, Exploring, Outcome, Place};
#[cfg(feature = "test")]
pub(crate) use exploring::{Running, driver, evaluated, kept, last, moved, ran, value};
#[cfg(all(debug_assertions, not(feature = "test")))]
pub use silent::Marked;
#[cfg(not(feature = "test"))]
pub use silent::{Outcome, Place};
#[cfg(not(feature = "test"))]
pub(crate) use silent::{Running, driver, evaluated, kept, last, moved, ran, value};

use super::{RunningLimits, State};
use crate::policy::{NoAnswer, RetryDirective, Unanswered};

/// Returns the error that an exploration was given for a request without an answer.
pub fn no_answer<E: 'static>() -> Option<E> {
    #[cfg(feature = "test")]
    return crate::test::no_answer();
    #[cfg(not(feature = "test"))]
    None
}
