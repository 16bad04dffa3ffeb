//! The adaptive strategy: the standard strategy with a limiter on sends that learns from throttling.

use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::limit::{AdaptiveLimiter, AdaptivePlace};
use crate::policy::{RetryErrorType, Success};
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::standard::{StandardRetryStrategy, StandardRetryToken};
use crate::strategy::{
    DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken, StrategyName,
};
use crate::time::Clock;
use std::time::Duration;

/// The [standard strategy](StandardRetryStrategy) with a limit on the rate of sends, which it learns from throttling.
///
/// AWS calls this the adaptive retry mode. Use it for jobs that should slow down rather than fail.
///
/// Until a request is throttled, the strategy behaves like the standard strategy and measures the rate of responses.
/// After that, it limits the rate of all sends, including first attempts. Each throttling cuts the limit below the
/// measured rate, and between throttlings the limit grows along a curve. Operations that wait are served in the order
/// in which they came.
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
/// # Driving it by hand
///
/// When driving the strategy by hand, end each operation with one of the methods that take its token. Otherwise the
/// operation keeps its place in the queue for a while, and the operations behind it wait longer.
///
/// All clocks that serve one strategy should agree. If they do not, such as the paused clocks of two tests, the
/// strategy uses the clock that is ahead.
#[derive(Debug)]
pub struct AdaptiveRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    standard: StandardRetryStrategy<B, Q>,
    limiter: AdaptiveLimiter,
}

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
    /// Creates a limiter over a standard strategy with settings of your own.
    ///
    /// ```
    /// use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
    ///
    /// static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::over(StandardRetryStrategy::aws_2_0());
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self { standard, limiter: AdaptiveLimiter::new() }
    }

    /// Returns the standard strategy below the limiter.
    pub fn standard(&self) -> &StandardRetryStrategy<B, Q> {
        &self.standard
    }

    /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`]. While they are off,
    /// the limiter still learns and limits.
    pub fn set_enabled(&self, enabled: bool) {
        self.standard.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](AdaptiveRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard.is_enabled()
    }

    /// Returns the current limit on sends per second, or `None` before the first throttling.
    pub fn send_rate(&self) -> Option<f64> {
        self.limiter.send_rate()
    }
}

/// The token of an [`AdaptiveRetryStrategy`].
#[derive(Debug)]
pub struct AdaptiveRetryToken {
    standard: StandardRetryToken,
    place: AdaptivePlace,
}

impl AdaptiveRetryToken {
    fn new(standard: StandardRetryToken) -> Self {
        Self { standard, place: AdaptivePlace::default() }
    }
}

impl RetryToken for AdaptiveRetryToken {
    #[inline]
    fn attempt(&self) -> u32 {
        self.standard.attempt()
    }

    #[inline]
    fn delay(&self) -> Duration {
        self.standard.delay()
    }

    #[inline]
    fn delay_source(&self) -> DelaySource {
        self.standard.delay_source()
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for AdaptiveRetryStrategy<B, Q> {
    type Token = AdaptiveRetryToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<AdaptiveRetryToken, RetryError> {
        self.limiter.begin(clock);
        self.standard.acquire_initial_token(clock).map(AdaptiveRetryToken::new)
    }

    fn refresh_retry_token(
        &self,
        token: AdaptiveRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<AdaptiveRetryToken, RetryError> {
        if self.standard.issued(&token.standard) {
            if failure.was_sent() {
                let throttled = failure.error_type() == Some(RetryErrorType::Throttling);
                self.limiter.learn(clock, throttled, &token.place);
            } else {
                self.limiter.release(&token.place);
            }
        }
        self.standard.refresh_retry_token(token.standard, failure, clock).map(AdaptiveRetryToken::new)
    }

    fn record_success(
        &self,
        token: AdaptiveRetryToken,
        success: &Success,
        clock: &dyn Clock,
    ) -> Result<(), ForeignToken> {
        self.standard.record_success(token.standard, success, clock)?;
        self.limiter.learn(clock, false, &token.place);
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut AdaptiveRetryToken, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        let AdaptiveRetryToken { standard, place } = token;
        self.limiter.ready(place, || self.standard.issued(standard), clock)
    }

    fn release(&self, token: AdaptiveRetryToken) {
        if self.standard.issued(&token.standard) {
            self.limiter.release(&token.place);
        }
        self.standard.release(token.standard);
    }

    fn refused_delay(&self, token: &AdaptiveRetryToken, failure: &Failure) -> Duration {
        self.standard.refused_delay(&token.standard, failure)
    }

    fn quota_level(&self) -> Option<u32> {
        self.standard.quota_level()
    }

    fn send_rate(&self) -> Option<f64> {
        self.send_rate()
    }

    fn name(&self) -> Option<StrategyName> {
        self.standard.name_setting().map(StrategyName::new)
    }
}
