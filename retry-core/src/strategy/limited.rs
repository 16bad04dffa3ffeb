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
/// [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy) is this strategy with one limiter, and so are `PacedRetryStrategy` and
/// `ConcurrencyRetryStrategy` of the crate [`retry-limits`](https://docs.rs/retry-limits). Use this type directly for [your own
/// limiter, or for one that strategies share](LimitedRetryStrategy::with_limiter).
///
/// A limiter can be over a strategy with any quota, such as one that needs no number:
///
/// ```
/// use retry_core::quota::EvidenceQuota;
/// use retry_core::{AdaptiveRetryStrategy, ExponentialBackoff, StandardRetryStrategy};
///
/// static REPORTS: AdaptiveRetryStrategy<ExponentialBackoff, EvidenceQuota> =
///     AdaptiveRetryStrategy::over(
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
    /// Creates a strategy with your own limiter, or with one that it shares with other strategies.
    ///
    /// ```
    /// use retry_core::limit::AdaptiveLimiter;
    /// use retry_core::strategy::LimitedRetryStrategy;
    /// use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
    ///
    /// static READS: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
    /// // Writes use the same limit, and have their own quota.
    /// static WRITES: LimitedRetryStrategy<&AdaptiveLimiter> =
    ///     LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), READS.limiter());
    /// ```
    ///
    /// The crate [`retry-limits`](https://docs.rs/retry-limits) has a limiter that is a pair of limiters.
    pub const fn with_limiter(standard: StandardRetryStrategy<B, Q>, limiter: L) -> Self {
        Self { standard, limiter }
    }

    /// Returns the standard strategy and the limiter, for a strategy that is made from them.
    pub fn into_parts(self) -> (StandardRetryStrategy<B, Q>, L) {
        (self.standard, self.limiter)
    }

    /// Returns the standard strategy below the limiter.
    pub const fn standard(&self) -> &StandardRetryStrategy<B, Q> {
        &self.standard
    }

    /// Returns the limiter.
    pub const fn limiter(&self) -> &L {
        &self.limiter
    }

    /// Returns the limiter, to change its settings before the strategy is used.
    pub const fn limiter_mut(&mut self) -> &mut L {
        &mut self.limiter
    }

    /// Sets the name of the strategy, which events show; see [`StandardRetryStrategy::name`].
    #[must_use]
    pub const fn name(mut self, name: &'static str) -> Self {
        self.standard.set_name(name);
        self
    }

    /// Sets the maximum number of attempts of an operation, including the first one: 1 means no retries.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0; in a `static` this is a compile error. For a number that is known only at run time, use
    /// [`StandardRetryStrategy::try_max_attempts`] below the limiter.
    #[must_use]
    #[track_caller]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.standard.set_max_attempts(max_attempts);
        self
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
    fn has_delay(&self) -> bool {
        self.standard.has_delay()
    }

    #[inline]
    fn delay_source(&self) -> DelaySource {
        self.standard.delay_source()
    }
}

impl<L: SendLimiter, B: BackoffStrategy, Q: RetryQuota> LimitedRetryStrategy<L, B, Q> {
    /// Returns this strategy with other settings and another backoff, for a strategy whose settings change while it runs.
    ///
    /// The quota, the limiter and the switch are those of this strategy, and so are the tokens: an operation can begin with one
    /// and continue with the other. A success needs the settings only for its refunds.
    ///
    /// ```
    /// use retry_core::backoff::NoBackoff;
    /// use retry_core::strategy::StandardRetrySettings;
    /// use retry_core::time::StdTimer;
    /// use retry_core::{AdaptiveRetryStrategy, Failure, RetryError, RetryInfo, RetryStrategy};
    ///
    /// #[derive(RetryInfo)]
    /// #[retry(timeout)]
    /// struct TooLate;
    ///
    /// let store = AdaptiveRetryStrategy::new();
    /// let token = store.acquire_initial_token(&StdTimer)?;
    /// let settings = StandardRetrySettings::new().max_attempts(1);
    /// let once = store.deciding_by(&settings, &NoBackoff);
    /// let decision = once.refresh_retry_token(token, &Failure::of(&TooLate), &StdTimer);
    /// assert_eq!(decision.unwrap_err(), RetryError::MaxAttempts);
    /// # Ok::<(), RetryError>(())
    /// ```
    #[inline]
    pub const fn deciding_by<'a, C: BackoffStrategy>(
        &'a self,
        settings: &'a StandardRetrySettings,
        backoff: &'a C,
    ) -> impl RetryStrategy<Token = LimitedRetryToken<L>> + use<'a, L, B, Q, C> {
        DecidingBy { strategy: self, settings, backoff }
    }

    /// Decides on the retry of a failure by these settings and this backoff.
    #[inline]
    fn decide(
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
    fn sell_hedge(
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
        let error_type = failure.error_type();
        let Some(error_type) = error_type.filter(|error_type| self.limiter.rejects(*error_type)) else {
            return FailedSend::Otherwise { error_type };
        };
        let hint = failure.retry_after().unwrap_or_default();
        let wait = hinted_wait(settings, backoff, hint);
        FailedSend::Rejected { error_type, wait: wait.unwrap_or(hint), is_too_long: wait.is_none() }
    }

    /// Returns the delay of the retry after a failure, by these settings and this backoff; see
    /// [`RetryStrategy::refused_delay`].
    fn delay_of(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        token: &LimitedRetryToken<L>,
        failure: &Failure,
    ) -> Duration {
        let uncounted = self.limiter.uncounted(&token.place);
        self.standard.delay_of(settings, backoff, &token.standard, failure, uncounted)
    }
}

impl<L: SendLimiter, B: BackoffStrategy, Q: RetryQuota> RetryStrategy for LimitedRetryStrategy<L, B, Q> {
    type Token = LimitedRetryToken<L>;

    // A first token has a place in the limiter, so it is never empty, and the methods for empty tokens keep their defaults.
    forward_strategy! {
        self => self.standard;
        except acquire_initial_token, refresh_retry_token, record_success, record_progress, weigh, used, ready, acquire_hedge,
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

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn record_success(&self, mut token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        // A copy, because the token would be moved to take it apart.
        self.standard.record_success(token.standard.copy(), success, clock)?;
        self.limiter.succeeded(&mut token.place, success, clock);
        Ok(())
    }

    /// The limiter learns from the failure that follows.
    fn record_progress(&self, token: Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        let LimitedRetryToken { standard, mut place } = token;
        let standard = self.standard.record_progress(standard, clock)?;
        self.limiter.progressed(&mut place);
        Ok(LimitedRetryToken { standard, place })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
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

/// A strategy with other settings and another backoff; see [`LimitedRetryStrategy::deciding_by`].
#[derive(Debug)]
struct DecidingBy<'a, L, B, Q, C> {
    strategy: &'a LimitedRetryStrategy<L, B, Q>,
    settings: &'a StandardRetrySettings,
    backoff: &'a C,
}

impl<L, B, Q, C> RetryStrategy for DecidingBy<'_, L, B, Q, C>
where
    L: SendLimiter,
    B: BackoffStrategy,
    Q: RetryQuota,
    C: BackoffStrategy,
{
    type Token = LimitedRetryToken<L>;

    // A first token is never empty, as that of the limited strategy.
    forward_strategy! {
        self => *self.strategy;
        except refresh_retry_token, record_success, acquire_hedge, refused_delay, record_first_success, max_attempts
    }

    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError> {
        self.strategy.decide(self.settings, self.backoff, token, failure, clock)
    }

    fn record_success(&self, token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        let LimitedRetryToken { standard, mut place } = token;
        self.strategy.standard.succeed(self.settings, &standard)?;
        self.strategy.limiter.succeeded(&mut place, success, clock);
        Ok(())
    }

    fn acquire_hedge(&self, token: &Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.strategy.sell_hedge(self.settings, token, clock)
    }

    fn refused_delay(&self, token: &Self::Token, failure: &Failure) -> Duration {
        self.strategy.delay_of(self.settings, self.backoff, token, failure)
    }

    fn max_attempts(&self) -> Option<u32> {
        Some(self.settings.max_attempts)
    }
}
