//! The adaptive strategy: the standard one, and a limiter on sends that learns from throttling.

mod gate;
mod limiter;
mod queue;
mod rate;
#[cfg(test)]
mod tests;

use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::policy::{RetryErrorType, Success};
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::standard::{StandardRetryStrategy, StandardRetryToken};
use crate::strategy::{
    DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken, StrategyName,
};
use crate::support::Shared;
use crate::time::Clock;
use gate::Gate;
use queue::Ticket;
use std::time::Duration;

/// The [standard strategy](StandardRetryStrategy), and a limit on the rate of sends that it learns from throttling: the
/// retry mode that AWS calls adaptive.
///
/// Until a request is throttled it is the standard strategy, and measures the rate of responses. From then on it holds
/// back every send, first attempts too, to a rate below the one that was too much; the rate grows again along a curve,
/// and is cut with each further throttling. Those who wait are served in the order in which they came. It is for jobs
/// that would rather be slow than fail.
///
/// Make one for each resource that throttles by itself. If one were shared by two of them, the throttling of one would
/// slow down the other.
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
/// As long as nothing was throttled it adds one reading of the clock and one uncontended lock to a call, afterwards two
/// of each. The numbers are those of the AWS SDKs: a throttling cuts the rate to 0.7 of what was measured, the measured
/// rate is a moving average over half seconds in which the newest weighs 0.8, the rate grows by 0.4 times the cube of
/// the time, stays at or below twice the measured one and at or above 0.5 per second, and sends that were saved up come
/// to one second's worth at most.
///
/// An operation that is driven by hand must end with one of the calls that take its token, or it keeps its place among
/// those who wait. Clocks that disagree, such as the paused ones of two tests, should not meet in one strategy: it keeps to
/// the one that is ahead.
#[derive(Debug)]
pub struct AdaptiveRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    standard: StandardRetryStrategy<B, Q>,
    gate: Shared<Gate>,
}

impl AdaptiveRetryStrategy {
    /// The limiter over [`StandardRetryStrategy::new()`].
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
    /// The limiter over a standard strategy with settings of your own.
    ///
    /// ```
    /// use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
    ///
    /// static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::over(StandardRetryStrategy::aws_2_0());
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self { standard, gate: Shared::new(Gate::new()) }
    }

    /// The standard strategy below the limiter.
    pub fn standard(&self) -> &StandardRetryStrategy<B, Q> {
        &self.standard
    }

    /// Turns the retries of this strategy on or off, see
    /// [`StandardRetryStrategy::set_enabled`]. The limiter goes on learning and limiting.
    pub fn set_enabled(&self, enabled: bool) {
        self.standard.set_enabled(enabled);
    }

    /// Returns whether retries of this strategy are on, see [`set_enabled`](AdaptiveRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard.is_enabled()
    }

    /// The rate that sends are limited to now, per second; `None` as long as nothing was throttled.
    pub fn send_rate(&self) -> Option<f64> {
        self.gate.with(Gate::new, Gate::send_rate)
    }
}

/// The token of an [`AdaptiveRetryStrategy`].
#[derive(Debug)]
pub struct AdaptiveRetryToken {
    standard: StandardRetryToken,
    /// The place among those who wait for a send.
    ticket: Option<Ticket>,
    /// The send was granted.
    granted: bool,
}

impl AdaptiveRetryToken {
    const fn new(standard: StandardRetryToken) -> Self {
        Self { standard, ticket: None, granted: false }
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
        self.gate.with(Gate::new, |gate| gate.begin(clock));
        self.standard.acquire_initial_token(clock).map(AdaptiveRetryToken::new)
    }

    fn refresh_retry_token(
        &self,
        token: AdaptiveRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<AdaptiveRetryToken, RetryError> {
        if self.standard.issued(&token.standard) {
            let throttled = failure.error_type() == Some(RetryErrorType::Throttling);
            self.gate.with(Gate::new, |gate| gate.learn(clock, throttled, token.ticket));
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
        self.gate.with(Gate::new, |gate| gate.learn(clock, false, token.ticket));
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut AdaptiveRetryToken, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.gate.with(Gate::new, |gate| {
            if !gate.is_limiting() || token.granted || !self.standard.issued(&token.standard) {
                return Ready::Now;
            }
            let wait = gate.ask(clock, &mut token.ticket);
            token.granted = wait.is_none();
            wait.map_or(Ready::Now, Ready::After)
        })
    }

    fn release(&self, token: AdaptiveRetryToken) {
        if self.standard.issued(&token.standard) {
            self.gate.with(Gate::new, |gate| gate.give_up(token.ticket, token.granted));
        }
        self.standard.release(token.standard);
    }

    fn quota_level(&self) -> Option<u32> {
        self.standard.quota_level()
    }

    fn name(&self) -> Option<StrategyName> {
        self.standard.name_setting().map(StrategyName::new)
    }
}
