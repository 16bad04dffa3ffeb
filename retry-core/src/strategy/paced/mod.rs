//! The paced strategy: the standard strategy with a limiter that sends at the rate that the server accepts.

mod accepted;
mod estimator;
mod pace;
mod pacer;

pub use estimator::GoodputEstimator;

use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::policy::{RetryErrorType, Success};
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::send_queue::Ticket;
use crate::strategy::standard::{StandardRetryStrategy, StandardRetryToken};
use crate::strategy::{
    DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken, StrategyName,
};
use crate::support::Shared;
use crate::support::random::RandomNumbers;
use crate::time::Clock;
use pacer::Pacer;
use std::time::Duration;

/// The longest part by which a wait that the server asks for is stretched, so that not all come back at once.
const STRETCH: f64 = 0.1;

/// The [standard strategy](StandardRetryStrategy) with a limiter that finds the rate that the server accepts, and sends at
/// that rate.
///
/// Use it for jobs against a rate limit: it loses nothing, wastes few requests, and takes little longer than the limit
/// allows. [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy) does the same with the arithmetic of the AWS SDKs, which
/// is slower to find the limit. `docs/choosing.md` in the repository compares them.
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
///   limit. [`GoodputEstimator`] describes the rate.
/// - Sends are spaced evenly, without bursts, and served in the order in which they came.
/// - A throttled attempt is repeated when its turn comes, without backoff. It takes nothing from the quota, and counts
///   against a [limit of its own](PacedRetryStrategy::max_throttled). The quota protects a server that is in trouble, and a
///   server that throttles protects itself.
/// - A wait that the server asks for is a floor for its operation, and is stretched by up to 10 %. If it is longer than
///   1.5 s, it holds back the whole strategy, so that the other operations need not get the same answer.
/// - It begins with a [ramp](PacedRetryStrategy::ramp): at first at 50 sends per second, doubling every 0.4 s until the
///   first rejection.
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
    stretch: RandomNumbers,
    pacer: Shared<Pacer>,
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
            max_throttled: 20,
            has_ramp: true,
            stretch: RandomNumbers::new(),
            pacer: Shared::new(Pacer::new()),
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
        self.stretch = RandomNumbers::seeded(seed);
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
        self.pacer.with(Pacer::new, Pacer::send_rate)
    }
}

/// Returns the factor that belongs to a random number, from 1 up to 1 + [`STRETCH`].
fn stretch(random: u64) -> f64 {
    let part = f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX);
    STRETCH.mul_add(part, 1.0)
}

/// Returns a wait times a factor of at least 1. It saturates.
fn stretched(wait: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX).max(wait)
}

/// The token of a [`PacedRetryStrategy`].
#[derive(Debug)]
pub struct PacedRetryToken {
    standard: StandardRetryToken,
    /// The number of attempts that were throttled.
    throttled: u32,
    /// The place in the queue, while the operation waits for a send.
    ticket: Option<Ticket>,
    /// The number of rejections that were known when the send was granted. `None` if sends were not limited then.
    granted: Option<u32>,
}

impl PacedRetryToken {
    const fn new(standard: StandardRetryToken, throttled: u32) -> Self {
        Self { standard, throttled, ticket: None, granted: None }
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
        self.pacer.with(Pacer::new, |pacer| pacer.begin(clock, self.has_ramp));
        self.standard.acquire_initial_token(clock).map(|standard| PacedRetryToken::new(standard, 0))
    }

    fn refresh_retry_token(
        &self,
        token: PacedRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<PacedRetryToken, RetryError> {
        let PacedRetryToken { standard, throttled, ticket, granted } = token;
        if !self.standard.issued(&standard) {
            return Err(RetryError::ForeignToken);
        }
        let is_throttled = failure.error_type() == Some(RetryErrorType::Throttling);
        let stretch = failure.retry_after().map_or(1.0, |_| stretch(self.stretch.next()));
        self.pacer.with(Pacer::new, |pacer| {
            pacer.give_up(ticket, false);
            if is_throttled {
                let wait = failure.retry_after().and_then(|hint| self.standard.hinted_wait(hint));
                pacer.reject(clock, granted, wait.map(|wait| stretched(wait, stretch)));
            } else {
                pacer.accept(clock);
            }
        });
        if is_throttled {
            let throttled = throttled.saturating_add(1);
            let standard = self
                .standard
                .grant_unpaid(standard, failure, (throttled, self.max_throttled), |hint| stretched(hint, stretch))?;
            Ok(PacedRetryToken::new(standard, throttled))
        } else {
            let (settings, backoff) = (self.standard.settings(), self.standard.backoff_strategy());
            let standard = self.standard.judge(&settings, backoff, standard, failure, clock, throttled)?;
            Ok(PacedRetryToken::new(standard, throttled))
        }
    }

    #[inline]
    fn record_success(&self, token: PacedRetryToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.standard.record_success(token.standard, success, clock)?;
        self.pacer.with(Pacer::new, |pacer| {
            pacer.give_up(token.ticket, false);
            pacer.accept(clock);
        });
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut PacedRetryToken, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.pacer.with(Pacer::new, |pacer| {
            if !pacer.is_pacing() || token.granted.is_some() || !self.standard.issued(&token.standard) {
                return Ready::Now;
            }
            match pacer.ask(clock, &mut token.ticket) {
                Ok(rejections) => {
                    token.granted = Some(rejections);
                    Ready::Now
                }
                Err(wait) => Ready::After(wait),
            }
        })
    }

    fn release(&self, token: PacedRetryToken) {
        if self.standard.issued(&token.standard) {
            self.pacer.with(Pacer::new, |pacer| pacer.give_up(token.ticket, token.granted.is_some()));
        }
        self.standard.release(token.standard);
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
