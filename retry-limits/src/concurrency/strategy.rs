//! The concurrency strategy: the standard strategy with a limit on the requests in flight.

use super::ConcurrencyLimiter;
use crate::limited::limited_strategy;
use retry_core::strategy::{LimitedRetryStrategy, LimitedRetryToken};
use retry_core::{
    BackoffStrategy, ExponentialBackoff, RetryQuota, RetryStrategy, StandardRetryStrategy, TokenBucket,
    forward_strategy,
};
use std::mem::{self, ManuallyDrop};

/// The [standard strategy](StandardRetryStrategy) with a limit on the number of requests in flight, which it learns from
/// rejections.
///
/// Use it for jobs on a server that handles a fixed number of requests at a time, however long each one takes: a pool of
/// workers, a limit on concurrent executions. Against a limit on requests per second, use the [paced
/// strategy](crate::PacedRetryStrategy). For a server with both limits, or if more clients share a limit than it allows
/// requests, use [both limiters](LimitedRetryStrategy::with_limiter).
///
/// Create one static for each limit.
///
/// ```
/// use retry_core::{RetryInfo, retryable};
/// use retry_limits::ConcurrencyRetryStrategy;
///
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct TooManyRequests;
///
/// static REPORTS: ConcurrencyRetryStrategy = ConcurrencyRetryStrategy::new();
///
/// #[retryable(strategy = REPORTS)]
/// async fn render(report: &str) -> Result<(), TooManyRequests> {
///     // One attempt.
/// #   Ok(())
/// }
/// ```
///
/// # The window
///
/// The number of requests that may be in flight is a window, as in TCP. It begins at 10.
///
/// - While it is used up, each success adds one, so it doubles in the time of a request. After the first rejection, a whole
///   window of successes adds one.
/// - A rejection sets it to 0.95 of the number of the other requests in flight, which the server had accepted. Rejections of
///   requests that were sent before the last rejection was known are ignored. If nothing was accepted between two
///   rejections, the second one halves the window.
/// - At a window of one, all sends pause after a rejection, for up to 50 ms, and twice as long after each further one in a row, up
///   to 5 s, or as long as the server asks for.
///
/// A rejected attempt is repeated when its turn comes, without backoff. It takes nothing from the quota, and has a
/// [separate time limit](ConcurrencyLimiter::max_throttled_time).
///
/// A slot is returned when its attempt ends, even if its future is dropped, it panics, or its time is up. Then the operation
/// that has waited longest is woken.
///
/// # Costs
///
/// While the window is not used up, an attempt costs two atomic operations, otherwise three locks. Each attempt clones and drops
/// an `Arc`. An operation that had to wait costs a waker and a timer, too.
#[derive(Debug)]
pub struct ConcurrencyRetryStrategy<B = ExponentialBackoff, Q = TokenBucket>(
    LimitedRetryStrategy<ConcurrencyLimiter, B, Q>,
);

limited_strategy! { ConcurrencyRetryStrategy, ConcurrencyLimiter }

/// The token of a [`ConcurrencyRetryStrategy`].
pub type ConcurrencyRetryToken = LimitedRetryToken<ConcurrencyLimiter>;

impl ConcurrencyRetryStrategy {
    /// Creates a limiter over [`StandardRetryStrategy::new()`].
    pub const fn new() -> Self {
        Self::over(StandardRetryStrategy::new())
    }
}

impl Default for ConcurrencyRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> ConcurrencyRetryStrategy<B, Q> {
    /// Creates a limiter over a standard strategy with your settings. For settings of the limiter, use
    /// [`with_limiter`](LimitedRetryStrategy::with_limiter):
    ///
    /// ```
    /// use retry_core::StandardRetryStrategy;
    /// use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy};
    ///
    /// static REPORTS: ConcurrencyRetryStrategy = ConcurrencyRetryStrategy::with_limiter(
    ///     StandardRetryStrategy::new().max_attempts(3),
    ///     ConcurrencyLimiter::new().max_in_flight(20),
    /// );
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self::with_limiter(standard, ConcurrencyLimiter::new())
    }
}
