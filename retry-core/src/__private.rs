//! What expanded code names. Nothing here is public in any other sense: it may change with every release.

pub use crate::operation::{Operation, Wait};
pub use crate::wait_field::{RetryAfterField, RetryAfterNumber};

use crate::operation::Settled;
use crate::policy::RetryPolicy;
use crate::strategy::{RetryStrategy, SharedStrategy};
use crate::time::{Clock, Timer};

/// The clock and sleeper of an attribute that names none.
pub use crate::time::DEFAULT_TIMER as TIMER;

/// Takes a strategy that an expression made.
#[inline]
pub fn shared<S: SharedStrategy>(strategy: S) -> S {
    strategy
}

/// Takes a strategy that a path names: a static. A `const` would be a fresh strategy wherever it is named.
#[inline]
pub const fn named<S: RetryStrategy>(strategy: &'static S) -> &'static S {
    strategy
}

/// Gives an expression the type of an outcome. It is never called.
#[cold]
pub fn unreached<R>() -> R {
    unreachable!("expanded code names the type of its outcome, and never asks for one")
}

/// Begins an operation.
#[inline]
pub fn begin<S: RetryStrategy>(strategy: &S, clock: &dyn Clock, name: &'static str) -> Operation<S::Token> {
    Operation::begin(strategy, clock, name)
}

/// Waits for the next attempt.
#[inline]
pub fn wait<'a, S: RetryStrategy, T: Timer>(
    operation: &'a mut Operation<S::Token>,
    strategy: &'a S,
    timer: &'a T,
) -> Wait<'a, S, T> {
    Wait::new(operation, strategy, timer)
}

/// Judges an outcome; `true` if it is final.
#[inline]
pub fn settle<S: RetryStrategy, P: RetryPolicy<R>, R>(
    operation: &mut Operation<S::Token>,
    strategy: &S,
    policy: &P,
    clock: &dyn Clock,
    name: &'static str,
    outcome: &R,
) -> bool {
    matches!(operation.settle(strategy, policy, clock, name, outcome), Settled::Done { .. })
}
