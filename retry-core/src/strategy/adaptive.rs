//! The adaptive strategy: the standard strategy with a limiter on sends that learns from throttling.

use crate::backoff::ExponentialBackoff;
use crate::limit::AdaptiveLimiter;
use crate::quota::TokenBucket;
use crate::strategy::{LimitedRetryStrategy, LimitedRetryToken, StandardRetryStrategy};

/// The [standard strategy](StandardRetryStrategy) with a limit on the rate of sends, which it learns from throttling.
///
/// AWS calls this the adaptive retry mode. Use it for jobs that should slow down rather than fail.
///
/// Until a request is throttled, the strategy behaves like the standard strategy and measures the rate of responses.
/// After that, it limits the rate of all sends, including first attempts. Each throttling cuts the limit below the
/// measured rate, and between throttlings the limit grows along a curve. Waiting operations are served first come,
/// first served.
///
/// Create one static for each resource that is throttled separately. If two resources shared a strategy, the throttling
/// of one would slow down the other.
///
/// ```
/// use retry_core::{AdaptiveRetryStrategy, RetryInfo, retryable};
///
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
///
/// #[retryable(strategy = TABLE)]
/// async fn write(row: &str) -> Result<(), SlowDown> {
///     // One attempt.
/// #   Ok(())
/// }
/// ```
///
/// # Numbers
///
/// The numbers are those of the AWS SDKs:
///
/// - The measured rate is a moving average over half-second intervals. The newest interval has the weight 0.8.
/// - A throttling cuts the limit to 0.7 times the measured rate, or to 0.7 times the former limit if that was lower.
/// - Between throttlings, the limit follows the curve of TCP CUBIC (RFC 9438) with a scale of 0.4.
/// - The limit is at most twice the measured rate and at least 0.5 sends per second.
/// - Unused sends accumulate up to the limit of one second, or up to one send if the limit is lower.
///
/// # Costs
///
/// Before the first throttling, each attempt costs one reading of the clock and one lock more than with the standard
/// strategy. After it, each attempt costs two of each, and one more of each for every wait. A single wait is at most
/// 100 ms; an operation that has to wait longer asks again after it. The cost of a question does not depend on the
/// number of operations that wait, except for a binary search.
///
/// All clocks that serve one strategy should agree. If they do not, such as the paused clocks of two tests, the
/// strategy uses the clock that is ahead.
pub type AdaptiveRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> = LimitedRetryStrategy<AdaptiveLimiter, B, Q>;

/// The token of an [`AdaptiveRetryStrategy`].
pub type AdaptiveRetryToken = LimitedRetryToken<AdaptiveLimiter>;

impl AdaptiveRetryStrategy {
    /// Creates a limiter over [`StandardRetryStrategy::new()`].
    pub const fn new() -> Self {
        Self::over(StandardRetryStrategy::new())
    }
}

impl Default for AdaptiveRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> AdaptiveRetryStrategy<B, Q> {
    /// Creates a limiter over a standard strategy with your settings.
    ///
    /// ```
    /// use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
    ///
    /// static TABLE: AdaptiveRetryStrategy =
    ///     AdaptiveRetryStrategy::over(StandardRetryStrategy::aws_2_0());
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self::with_limiter(standard, AdaptiveLimiter::new())
    }
}
