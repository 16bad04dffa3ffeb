//! The paced strategy: the standard strategy with a limiter that sends at the rate that the server accepts.

use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::limit::{PacedAnswers, PacedLimiter, PacedPlace};
use crate::policy::Success;
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::standard::{StandardRetryStrategy, StandardRetryToken};
use crate::strategy::{
    DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken, StrategyName,
};
use crate::support::random::RandomNumbers;
use crate::time::Clock;
use std::time::Duration;

/// The default of the maximum number of attempts that may be throttled.
pub(crate) const MAX_THROTTLED: u32 = 20;

/// The [standard strategy](StandardRetryStrategy) with a limiter that finds the rate that the server accepts, and sends at
/// that rate.
///
/// Use it for jobs against a rate limit: it loses nothing, wastes few requests, and takes little longer than the limit
/// allows. [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy) does the same with the arithmetic of the AWS SDKs, which
/// is slower to find the limit. `docs/choosing.md` in the repository compares them.
///
/// Create one static for each limit: if reads and writes are limited apart, one for each of them.
///
/// ```
/// use retry_core::{PacedRetryStrategy, RetryInfo, retryable};
///
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();
///
/// #[retryable(strategy = TABLE)]
/// async fn write(row: &str) -> Result<(), SlowDown> {
///     // One attempt.
/// #   Ok(())
/// }
/// ```
///
/// # What it does differently
///
/// - The limit is measured instead of searched: between two rejections, what the server accepted over the time *is* its
///   limit. [`GoodputEstimator`](crate::limit::GoodputEstimator) describes the rate.
/// - Sends are spaced evenly, without bursts, and served in the order in which they came.
/// - A throttled attempt is repeated when its turn comes, without backoff. It takes nothing from the quota, and counts
///   against a [limit of its own](PacedRetryStrategy::max_throttled). The quota protects a server that is in trouble, and a
///   server that throttles protects itself.
/// - A wait that the server asks for is a floor for its operation, and is stretched by up to 10 %. If it is longer than
///   1.5 s, it holds back the whole strategy, so that the other operations need not get the same answer.
/// - It begins with a [ramp](PacedRetryStrategy::ramp): at first at 100 sends per second, doubling every 0.4 s until the
///   first rejection.
///
/// # What the server reports
///
/// If the server reports how many requests remain, the strategy can slow down before a request is rejected. A
/// [policy](crate::RetryPolicy) passes the report on, by [`RetryDirective::with_rate_limit`](crate::RetryDirective::with_rate_limit).
/// When less than a third of the most of the last seconds remains, the rate is cut as after a rejection.
/// 100 clients that share a limit of 500 requests per second get 8 % of their requests rejected without it, and none with it.
///
/// - Let all clients of a limit read the reports, or none. Those that do give way to those that don't.
/// - A server that counts the requests of each second should report the time until the reset as well. Otherwise the end of
///   each second looks like a warning, and a part of the limit stays unused.
///
/// # Costs
///
/// Without the ramp, each attempt costs one reading of the clock more than with the standard strategy until the first
/// rejection, and threads share nothing. Then, and with the ramp from the start, an attempt costs a reading of the clock and
/// a lock, and one more of each for every wait. A single wait is at most 100 ms.
///
/// # Driving it by hand
///
/// When driving the strategy by hand, end each operation with one of the methods that take its token. Otherwise the
/// operation keeps its place in the queue for a while, and the operations behind it wait longer.
#[derive(Debug)]
pub struct PacedRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    standard: StandardRetryStrategy<B, Q>,
    max_throttled: u32,
    has_ramp: bool,
    limiter: PacedLimiter,
}

impl PacedRetryStrategy {
    /// Creates a limiter over [`StandardRetryStrategy::new()`].
    pub const fn new() -> Self {
        Self::over(StandardRetryStrategy::new())
    }
}

impl Default for PacedRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> PacedRetryStrategy<B, Q> {
    /// Creates a limiter over a standard strategy with settings of your own.
    ///
    /// ```
    /// use retry_core::{PacedRetryStrategy, StandardRetryStrategy};
    ///
    /// static TABLE: PacedRetryStrategy = PacedRetryStrategy::over(StandardRetryStrategy::new().max_attempts(3));
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self {
            standard,
            max_throttled: MAX_THROTTLED,
            has_ramp: true,
            limiter: PacedLimiter::new(RandomNumbers::new()),
        }
    }

    /// Sets the maximum number of attempts of an operation that may be throttled. The default is 20. The attempts that fail
    /// in other ways are limited by [`max_attempts`](StandardRetryStrategy::max_attempts). With 1, an operation ends with
    /// [`RetryError::MaxAttempts`](crate::RetryError::MaxAttempts) when it is throttled.
    #[must_use]
    pub const fn max_throttled(mut self, attempts: u32) -> Self {
        self.max_throttled = attempts;
        self
    }

    /// Sets whether the strategy begins with a ramp. The default is `true`.
    ///
    /// Without it, nothing is limited before the first rejection. Turn it off if a burst of rejections does no harm, or if
    /// the first requests must not wait.
    #[must_use]
    pub const fn ramp(mut self, has_ramp: bool) -> Self {
        self.has_ramp = has_ramp;
        self
    }

    /// Sets the seed by which waits that the server asks for are stretched, so that they are the same in every run. For
    /// tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.limiter.stretch = RandomNumbers::seeded(seed);
        self
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

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](PacedRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard.is_enabled()
    }

    /// Returns the current limit on sends per second, or `None` while sends are not limited.
    pub fn send_rate(&self) -> Option<f64> {
        self.limiter.send_rate()
    }
}

impl<B, Q> PacedRetryStrategy<B, Q> {
    /// Sends at a rate that comes from elsewhere, in sends per second, such as a share of the limit of many processes.
    /// Returns what the server answered so far, for those who determine the rate. `None` returns to the strategy's own
    /// estimate, which goes on meanwhile. Without the ramp, and before the first rejection, sends are not limited then.
    ///
    /// Operations that wait keep their places, also if the limit ends and another rate comes before they ask again.
    ///
    /// If the new rate `is_cut`, because requests were rejected, the rejections of requests that were sent before do not
    /// count any more.
    ///
    /// A rate that is not a positive number counts as 0.001 sends per second.
    pub fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        // NaN is not greater, either.
        let rate = rate.map(|rate| if rate > LOWEST_PACE { rate } else { LOWEST_PACE });
        self.limiter.impose(clock, rate, is_cut, self.has_ramp)
    }
}

/// The lowest rate from elsewhere, in sends per second.
const LOWEST_PACE: f64 = 0.001;

/// The token of a [`PacedRetryStrategy`].
#[derive(Debug)]
pub struct PacedRetryToken {
    standard: StandardRetryToken,
    /// The number of attempts that were throttled.
    throttled: u32,
    place: PacedPlace,
}

impl PacedRetryToken {
    fn new(standard: StandardRetryToken, throttled: u32) -> Self {
        Self { standard, throttled, place: PacedPlace::default() }
    }
}

impl RetryToken for PacedRetryToken {
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

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for PacedRetryStrategy<B, Q> {
    type Token = PacedRetryToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<PacedRetryToken, RetryError> {
        self.limiter.begin(clock, || self.has_ramp);
        self.standard.acquire_initial_token(clock).map(|standard| PacedRetryToken::new(standard, 0))
    }

    fn refresh_retry_token(
        &self,
        token: PacedRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<PacedRetryToken, RetryError> {
        let PacedRetryToken { standard: token, throttled, place } = token;
        let standard = &self.standard;
        if !standard.issued(&token) {
            return Err(RetryError::ForeignToken);
        }
        let (settings, backoff) = (standard.settings(), standard.backoff_strategy());
        let delay = if failure.was_sent() {
            self.limiter.learn(&settings, backoff, &place, failure, clock)
        } else {
            self.limiter.release(&place);
            standard.give_back(&token);
            None
        };
        let Some(delay) = delay else {
            let next = standard.judge(&settings, backoff, token, failure, clock, throttled)?;
            return Ok(PacedRetryToken::new(next, throttled));
        };
        let throttled = throttled.saturating_add(1);
        let next = standard.grant_unpaid(token, failure, (throttled, self.max_throttled), delay)?;
        Ok(PacedRetryToken::new(next, throttled))
    }

    #[inline]
    fn record_success(&self, token: PacedRetryToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.standard.record_success(token.standard, success, clock)?;
        self.limiter.accept(&token.place, *success, clock);
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut PacedRetryToken, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        let PacedRetryToken { standard, place, .. } = token;
        self.limiter.ready(place, || self.standard.issued(standard), clock)
    }

    fn release(&self, token: PacedRetryToken) {
        if self.standard.issued(&token.standard) {
            self.limiter.release(&token.place);
        }
        self.standard.release(token.standard);
    }

    fn refused_delay(&self, token: &PacedRetryToken, failure: &Failure) -> Duration {
        let PacedRetryToken { standard: token, throttled, .. } = token;
        let standard = &self.standard;
        standard.delay_of(&standard.settings(), standard.backoff_strategy(), token, failure, *throttled)
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
