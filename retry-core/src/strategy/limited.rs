//! Strategies that limit sends: the standard strategy and a limiter.

use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use crate::policy::{Success, Usage};
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::standard::{StandardRetrySettings, StandardRetryStrategy, StandardRetryToken, hinted_wait};
use crate::strategy::{
    DelaySource, Failure, ForeignToken, RetryError, RetryStrategy, RetryToken, StrategyName, forward_strategy,
};
use crate::support::limit_events;
use crate::time::Clock;
use std::time::Duration;

/// The [standard strategy](StandardRetryStrategy) with a [limiter](SendLimiter) of sends.
///
/// [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy), [`PacedRetryStrategy`](crate::PacedRetryStrategy) and
/// [`ConcurrencyRetryStrategy`](crate::ConcurrencyRetryStrategy) are this strategy with one limiter each, and their pages
/// describe the limiters. Use this type directly for [your own limiter, or for two](LimitedRetryStrategy::with_limiter).
///
/// A limiter can be over a strategy with any quota, such as one that needs no number:
///
/// ```
/// use retry_core::quota::EvidenceQuota;
/// use retry_core::{ConcurrencyRetryStrategy, ExponentialBackoff, StandardRetryStrategy};
///
/// static REPORTS: ConcurrencyRetryStrategy<ExponentialBackoff, EvidenceQuota> =
///     ConcurrencyRetryStrategy::over(
///         StandardRetryStrategy::new().with_quota(EvidenceQuota::new()),
///     );
/// ```
///
/// # Driving it by hand
///
/// When driving the strategy by hand, end each operation with one of the methods that take its token. Otherwise the
/// operation keeps its place in the queue for a while, and the operations behind it wait longer.
#[derive(Debug)]
pub struct LimitedRetryStrategy<L, B = ExponentialBackoff, Q = TokenBucket> {
    standard: StandardRetryStrategy<B, Q>,
    limiter: L,
}

impl<L, B, Q> LimitedRetryStrategy<L, B, Q> {
    /// Creates a strategy with your own limiter, with one that it shares with other strategies, or with two.
    ///
    /// ```
    /// use retry_core::strategy::LimitedRetryStrategy;
    /// use retry_core::{PacedRetryStrategy, StandardRetryStrategy, limit::PacedLimiter};
    ///
    /// static READS: PacedRetryStrategy = PacedRetryStrategy::new();
    /// // Writes use the same limit, and have their own quota.
    /// static WRITES: LimitedRetryStrategy<&PacedLimiter> =
    ///     LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), READS.limiter());
    /// ```
    ///
    /// # Two limits together
    ///
    /// An attempt of a strategy with a pair of limiters is sent when both permit it:
    ///
    /// ```
    /// use retry_core::StandardRetryStrategy;
    /// use retry_core::limit::PacedLimiter;
    /// use retry_core::strategy::LimitedRetryStrategy;
    ///
    /// // All calls of an account share a limit, and a table has a separate one.
    /// static ACCOUNT: PacedLimiter = PacedLimiter::new();
    /// static TABLE: LimitedRetryStrategy<(PacedLimiter, &PacedLimiter)> =
    ///     LimitedRetryStrategy::with_limiter(
    ///         StandardRetryStrategy::new(),
    ///         (PacedLimiter::new(), &ACCOUNT),
    ///     );
    /// ```
    ///
    /// The first limiter is asked first. If the second one makes the attempt wait, the permission of the first one is [put
    /// back](SendLimiter::put_back). So an operation that waits holds no permission, and pairs of the same limiters in
    /// another order don't block each other. Both learn from each outcome. If one of them grants a retry without backoff and
    /// cost, the retry has none. If both set a delay, the longer one is used.
    pub const fn with_limiter(standard: StandardRetryStrategy<B, Q>, limiter: L) -> Self {
        Self { standard, limiter }
    }

    /// Replaces the quota by one that is made from it.
    pub(crate) fn map_quota<R>(self, map: impl FnOnce(Q) -> R) -> LimitedRetryStrategy<L, B, R> {
        LimitedRetryStrategy { standard: self.standard.map_quota(map), limiter: self.limiter }
    }

    /// Returns the standard strategy below the limiter.
    pub const fn standard(&self) -> &StandardRetryStrategy<B, Q> {
        &self.standard
    }

    /// Returns the limiter.
    pub const fn limiter(&self) -> &L {
        &self.limiter
    }

    pub(crate) const fn limiter_mut(&mut self) -> &mut L {
        &mut self.limiter
    }

    pub(crate) const fn standard_mut(&mut self) -> &mut StandardRetryStrategy<B, Q> {
        &mut self.standard
    }

    /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`]. While they are off,
    /// the limiter still learns and limits.
    pub fn set_enabled(&self, enabled: bool) {
        self.standard.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](LimitedRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard.is_enabled()
    }
}

impl<L: SendLimiter, B, Q> LimitedRetryStrategy<L, B, Q> {
    /// Returns the current limit on sends per second, or `None` while sends are not limited.
    pub fn send_rate(&self) -> Option<f64> {
        self.limiter.send_rate()
    }
}

/// The token of a [`LimitedRetryStrategy`].
#[derive(Debug)]
pub struct LimitedRetryToken<L: SendLimiter> {
    standard: StandardRetryToken,
    place: L::Place,
}

impl<L: SendLimiter> RetryToken for LimitedRetryToken<L> {
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

impl<L: SendLimiter, B: BackoffStrategy, Q: RetryQuota> LimitedRetryStrategy<L, B, Q> {
    /// Decides on the retry of a failure by these settings and this backoff, which are not the strategy's own if they were
    /// changed while it runs.
    #[inline]
    pub(crate) fn decide(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        token: LimitedRetryToken<L>,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<LimitedRetryToken<L>, RetryError> {
        let LimitedRetryToken { standard: token, mut place } = token;
        if !self.standard.issued(&token) {
            return Err(RetryError::ForeignToken);
        }
        if !failure.was_sent() {
            self.standard.give_back(&token);
        }
        let unpaid = self.limiter.failed(&mut place, self.failed_send(settings, backoff, failure), clock);
        let standard = match unpaid {
            None => self.standard.decide::<true>(
                settings,
                backoff,
                token,
                failure,
                clock,
                self.limiter.uncounted(&place),
            )?,
            Some(Unpaid { delay, is_over, holds_too_long }) => {
                if holds_too_long {
                    let name = RetryStrategy::name(&self.standard);
                    limit_events::held(name.as_ref().map(StrategyName::as_str), failure.retry_after());
                }
                self.standard.grant_unpaid(token, failure, is_over, delay)?
            }
        };
        Ok(LimitedRetryToken { standard, place })
    }

    /// Sells a hedge at the price of these settings; see [`RetryStrategy::acquire_hedge`]. Its place in the limiter is a new one.
    pub(crate) fn sell_hedge(
        &self,
        settings: &StandardRetrySettings,
        token: &LimitedRetryToken<L>,
        clock: &dyn Clock,
    ) -> Result<LimitedRetryToken<L>, RetryError> {
        // The place is first, so that a limiter that panics costs the quota nothing.
        let place = self.limiter.begin(clock);
        let standard = self.standard.sell_hedge(settings, &token.standard, clock)?;
        Ok(LimitedRetryToken { standard, place })
    }

    /// Returns what the limiter learns from a failure.
    fn failed_send(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        failure: &Failure,
    ) -> FailedSend {
        if !failure.was_sent() {
            return FailedSend::NotSent;
        }
        let Some(error_type) = failure.error_type().filter(|error_type| self.limiter.rejects(*error_type)) else {
            return FailedSend::Otherwise;
        };
        let hint = failure.retry_after().unwrap_or_default();
        let wait = hinted_wait(settings, backoff, hint);
        FailedSend::Rejected { error_type, wait: wait.unwrap_or(hint), is_too_long: wait.is_none() }
    }

    /// Returns the delay of the retry after a failure, by these settings and this backoff; see
    /// [`RetryStrategy::refused_delay`].
    pub(crate) fn delay_of(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        token: &LimitedRetryToken<L>,
        failure: &Failure,
    ) -> Duration {
        let uncounted = self.limiter.uncounted(&token.place);
        self.standard.delay_of(settings, backoff, &token.standard, failure, uncounted)
    }

    /// Lets the limiter learn from a success. Returns the token for the quota, which is not refunded yet.
    #[inline]
    pub(crate) fn learn_success(
        &self,
        token: LimitedRetryToken<L>,
        success: Success,
        clock: &dyn Clock,
    ) -> Result<StandardRetryToken, ForeignToken> {
        let LimitedRetryToken { standard, mut place } = token;
        if !self.standard.issued(&standard) {
            return Err(ForeignToken);
        }
        self.limiter.succeeded(&mut place, &success, clock);
        Ok(standard)
    }
}

impl<L: SendLimiter, B: BackoffStrategy, Q: RetryQuota> RetryStrategy for LimitedRetryStrategy<L, B, Q> {
    type Token = LimitedRetryToken<L>;

    // A first token has a place in the limiter, so it is never empty, and the methods for empty tokens keep their defaults.
    forward_strategy! {
        self => self.standard;
        except acquire_initial_token, refresh_retry_token, record_success, weigh, used, ready, acquire_hedge,
        release, refused_delay, starts_empty, empty_token, record_first_success, send_rate
    }

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        let place = self.limiter.begin(clock);
        self.standard.acquire_initial_token(clock).map(|standard| LimitedRetryToken { standard, place })
    }

    fn weigh(&self, token: &mut Self::Token, weight: u32) {
        let LimitedRetryToken { standard, place } = token;
        if self.standard.issued(standard) {
            self.limiter.weigh(place, weight);
        }
    }

    fn used(&self, token: &mut Self::Token, usage: Usage) {
        let LimitedRetryToken { standard, place } = token;
        if self.standard.issued(standard) {
            self.limiter.used(place, usage);
        }
    }

    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError> {
        self.decide(&self.standard.settings(), self.standard.backoff_strategy(), token, failure, clock)
    }

    #[inline]
    fn record_success(&self, token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        let LimitedRetryToken { standard, mut place } = token;
        self.standard.record_success(standard, success, clock)?;
        self.limiter.succeeded(&mut place, success, clock);
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut Self::Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let LimitedRetryToken { standard, place } = token;
        if !self.limiter.must_ask(place) || !self.standard.issued(standard) {
            return Ready::Now;
        }
        self.limiter.ask(place, clock, waker)
    }

    fn acquire_hedge(&self, token: &Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.sell_hedge(&self.standard.settings(), token, clock)
    }

    fn release(&self, token: Self::Token) {
        let LimitedRetryToken { standard, mut place } = token;
        if self.standard.issued(&standard) {
            self.limiter.release(&mut place);
        }
        self.standard.release(standard);
    }

    fn refused_delay(&self, token: &Self::Token, failure: &Failure) -> Duration {
        self.delay_of(&self.standard.settings(), self.standard.backoff_strategy(), token, failure)
    }

    fn send_rate(&self) -> Option<f64> {
        self.send_rate()
    }
}
