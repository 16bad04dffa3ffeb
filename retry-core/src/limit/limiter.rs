//! The interface between a strategy and its limiter.

use super::{LazyWaker, Ready};
use crate::policy::{RetryErrorType, Success};
use crate::time::Clock;
use std::fmt::Debug;
use std::time::Duration;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// The part of a strategy that decides when an attempt may be sent, and learns from what the server answers.
///
/// [`AdaptiveLimiter`](super::AdaptiveLimiter) and [`PacedLimiter`](super::PacedLimiter) implement it, and a
/// [`LimitedRetryStrategy`](crate::strategy::LimitedRetryStrategy) combines one of them with the other parts. The trait is
/// sealed.
///
/// # Places
///
/// An operation has one *place*, which holds its position in the queue and its permission to send. The limiter sees the place
/// when an attempt succeeds, fails or is given up before it is sent. Otherwise the outcome of the attempt is unknown, because its
/// future was dropped, its body panicked, or its time was up; then the place is only dropped. A limiter that has to notice this
/// keeps a guard in its places.
///
/// # Examples
///
/// ```
/// use retry_core::limit::SendLimiter;
/// use retry_core::strategy::LimitedRetryStrategy;
/// use retry_core::{AdaptiveRetryStrategy, ExponentialBackoff, PacedRetryStrategy, TokenBucket};
///
/// type Limited<L> = LimitedRetryStrategy<L, ExponentialBackoff, TokenBucket>;
///
/// /// Takes a strategy with any limiter.
/// fn describe<L: SendLimiter>(strategy: &Limited<L>) -> String {
///     format!("{strategy:?}")
/// }
///
/// describe(&AdaptiveRetryStrategy::new());
/// describe(&PacedRetryStrategy::new());
/// ```
pub trait SendLimiter: Sealed + Debug {
    /// What an operation holds of the limiter.
    #[doc(hidden)]
    type Place: Debug;

    /// Returns the place of an operation that begins now.
    #[doc(hidden)]
    fn begin(&self, clock: &dyn Clock) -> Self::Place;

    /// Returns whether an attempt needs a permission that it does not have yet. This is asked before each attempt, so it takes
    /// no lock.
    #[doc(hidden)]
    fn must_ask(&self, place: &Self::Place) -> bool;

    /// Asks for a permission to send.
    #[doc(hidden)]
    fn ask(&self, place: &mut Self::Place, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready;

    /// Returns whether a failure of this class is a rejection, by which the limiter learns that too much was sent.
    #[doc(hidden)]
    fn rejects(&self, error_type: RetryErrorType) -> bool {
        error_type == RetryErrorType::Throttling
    }

    /// Learns from a success.
    #[doc(hidden)]
    fn succeeded(&self, place: &mut Self::Place, success: &Success, clock: &dyn Clock);

    /// Learns from a failure. The place is then that of the next attempt. Returns the terms of a retry, which the limiter does
    /// not grant itself, or `None` for those of the strategy: its backoff, and a cost.
    #[doc(hidden)]
    fn failed(&self, place: &mut Self::Place, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid>;

    /// Returns the number of attempts of the operation up to now that do not count against its maximum.
    #[doc(hidden)]
    fn uncounted(&self, place: &Self::Place) -> u32;

    /// Gives back what was taken for an attempt that was not sent.
    #[doc(hidden)]
    fn release(&self, place: &mut Self::Place);

    /// Returns the current limit on sends per second, or `None` while sends are not limited.
    #[doc(hidden)]
    fn send_rate(&self) -> Option<f64>;
}

/// A failed attempt, as far as a limiter learns from it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum FailedSend {
    /// The server rejected the attempt, and asks for this wait, which is zero if it asks for none.
    Rejected {
        wait: Duration,
        /// Whether the wait is longer than the strategy allows.
        is_too_long: bool,
    },
    /// The attempt failed in another way, so the server had accepted it.
    Otherwise,
    /// The attempt was not sent, so there is nothing to learn, and what was taken for it is given back.
    NotSent,
}

/// The terms of a retry without backoff and without a cost.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Unpaid {
    /// The delay, or `None` if the server asks for a longer wait than the strategy allows.
    pub delay: Option<Duration>,
    /// Whether the time for throttled attempts is over.
    pub is_over: bool,
    /// Whether other operations wait longer than the strategy allows, for the first time.
    pub holds_too_long: bool,
}
