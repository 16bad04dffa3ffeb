//! A strategy whose settings can change while it runs.

use super::mode_limiter::ModeLimiter;
use super::resolved::Resolved;
use super::{RetryConfig, RetryMode};
use crate::backoff::ExponentialBackoff;
use crate::limit::{LazyWaker, Ready};
use crate::policy::Success;
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::{
    Failure, ForeignToken, LimitedRetryStrategy, LimitedRetryToken, RetryError, RetryStrategy, RetryToken,
    StandardRetrySettings, StandardRetryStrategy, StandardRetryToken, StrategyName,
};
use crate::support::Shared;
use crate::support::sync::{AtomicU32, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::{Clock, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// A standard, adaptive or paced strategy with the settings of a [`RetryConfig`], which can change while it runs.
///
/// [`RetryConfig::build`] creates it, and [`apply`](ConfiguredStrategy::apply) gives it other settings. A success at the
/// first attempt costs one relaxed load more than with the strategy of its mode.
#[derive(Debug)]
pub struct ConfiguredStrategy {
    /// The quota, the switch and the limiters, which live through all changes. The address of the standard strategy in it
    /// identifies tokens, so they stay valid, too. Its own settings are not used.
    limited: LimitedRetryStrategy<ModeLimiter>,
    /// What a setting is that a configuration does not set.
    base: Resolved,
    /// The settings at the start, which are also those of a test's copy.
    start: Arc<Resolved>,
    live: Shared<Live>,
}

/// The settings in effect.
///
/// What is needed without a retry is in atomics. They publish no other data, so relaxed ordering suffices: a thread that
/// reads an old value does what was correct a moment before.
#[derive(Debug)]
struct Live {
    first_refund: AtomicU32,
    /// Locked to read the settings on the way to a retry, and while they change. No user code runs while it is locked, so
    /// it is never poisoned.
    settings: Mutex<Arc<Resolved>>,
}

/// The token of a [`ConfiguredStrategy`].
pub type ConfiguredToken = LimitedRetryToken<ModeLimiter>;

impl Live {
    fn new(settings: &Arc<Resolved>) -> Self {
        Self {
            first_refund: AtomicU32::new(settings.settings.first_refund),
            settings: Mutex::new(Arc::clone(settings)),
        }
    }

    fn settings(&self) -> MutexGuard<'_, Arc<Resolved>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time that strategies see by this clock: under a test guard, skipped waits have passed.
fn now(clock: &dyn Clock) -> Timestamp {
    #[cfg(feature = "test")]
    return clock.now().saturating_add(crate::support::session::time_ahead());
    #[cfg(not(feature = "test"))]
    clock.now()
}

impl ConfiguredStrategy {
    pub(super) fn new(config: &RetryConfig, standard: StandardRetryStrategy) -> Self {
        let base = Resolved::of(&standard);
        let start = Arc::new(base.configured_by(config));
        let mut standard = standard;
        if (start.capacity, start.refill) != (base.capacity, base.refill) {
            standard = standard.with_bucket(start.capacity, start.refill);
        }
        if start.mode == RetryMode::Off {
            standard = standard.disabled();
        }
        let live = Shared::new(Live::new(&start));
        let limiter = ModeLimiter::new(start.mode, start.paced, base.backoff.random_numbers());
        Self { limited: LimitedRetryStrategy::from_parts(standard, limiter), base, start, live }
    }

    /// Gives the strategy other settings while it runs. A value that is not set in the configuration is that of the
    /// strategy that this one was built on.
    ///
    /// - **Operations** go on with their tokens, in any mode. From its next failure on, an operation is judged by the new
    ///   settings. A delay that has begun does not change.
    /// - **The quota** goes on. Its balance keeps its proportion to the capacity, rounded down. An empty quota that had a
    ///   capacity stays empty, also if the capacity is 0 for a while. Payments and refunds of other threads are not lost.
    /// - **A refill** that begins or changes counts from the change on: a period counts by the settings at its end. This is
    ///   what the clock is for, which is the one of the operations, such as [`TokioTimer`](crate::TokioTimer). It is read once.
    /// - **The limiters** go on, too. With the mode `adaptive` or `paced`, new attempts are limited, each by the limiter of
    ///   the mode. An operation that waits for the limiter of another mode leaves it within 100 ms, and is sent or waits for
    ///   the new one. Without its mode, a limiter does not learn. A ramp begins with the first operation in the mode
    ///   `paced`, and there is only one.
    /// - **Throttled attempts** that were made in the mode `paced` do not count against `max_attempts` in other modes either.
    /// - **The mode `off`** turns the switch of [`set_enabled`](ConfiguredStrategy::set_enabled) off, and otherwise keeps
    ///   the mode. A later configuration with another mode turns it on. A change between other modes does not touch
    ///   the switch, so that a reload does not undo what an operator did.
    ///
    /// ```
    /// use retry_core::config::RetryMode;
    /// use retry_core::{RetryConfig, RetryQuota, TokioTimer};
    ///
    /// let store = RetryConfig::new().quota_capacity(100).build();
    /// store.apply(&RetryConfig::new().quota_capacity(50).mode(RetryMode::Off), &TokioTimer);
    /// assert_eq!((store.quota().available(), store.is_enabled()), (50, false));
    /// store.apply(&RetryConfig::new(), &TokioTimer);
    /// assert_eq!((store.quota().available(), store.is_enabled()), (500, true));
    /// ```
    pub fn apply(&self, config: &RetryConfig, clock: &dyn Clock) {
        let next = Arc::new(self.base.configured_by(config));
        let now = now(clock);
        self.with_live(|live| {
            // The lock makes two changes follow each other, so that the parts of one are not mixed with the other's.
            let mut settings = live.settings();
            let costs_change = settings.settings.costs != next.settings.costs;
            self.quota().reconfigure(next.capacity, next.refill, now, costs_change);
            live.first_refund.store(next.settings.first_refund, Ordering::Relaxed);
            let (was_off, is_off) = (settings.mode == RetryMode::Off, next.mode == RetryMode::Off);
            if was_off != is_off {
                self.set_enabled(!is_off);
            }
            self.limited.limiter().change(next.mode, next.paced);
            *settings = next;
        });
        self.quota().note_change();
    }

    /// Returns the mode, which is [`RetryMode::Off`] while the retries of this strategy are off, for whatever reason.
    pub fn mode(&self) -> RetryMode {
        if self.is_enabled() { self.limited.limiter().mode() } else { RetryMode::Off }
    }

    /// Returns the settings in effect, except those of the backoff and the quota.
    pub fn settings(&self) -> StandardRetrySettings {
        self.resolved().settings
    }

    /// Returns a backoff with the settings in effect.
    pub fn backoff_strategy(&self) -> ExponentialBackoff {
        self.resolved().backoff.copy()
    }

    /// Returns whether the mode `paced` begins with a ramp.
    pub fn paced_ramp(&self) -> bool {
        self.resolved().paced.has_ramp
    }

    /// Returns the maximum number of attempts of an operation that may be throttled in the mode `paced`.
    pub fn paced_max_throttled(&self) -> u32 {
        self.resolved().paced.max_throttled
    }

    /// Returns the quota that retries are paid from.
    pub fn quota(&self) -> &TokenBucket {
        self.limited.standard().quota()
    }

    /// Returns the current limit on sends per second, or `None` if sends are not limited: before the first throttling or the
    /// ramp, and in the mode `standard`.
    pub fn send_rate(&self) -> Option<f64> {
        self.limited.send_rate()
    }

    /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`].
    pub fn set_enabled(&self, enabled: bool) {
        self.limited.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](ConfiguredStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.limited.is_enabled()
    }

    #[inline]
    fn with_live<R>(&self, using: impl FnOnce(&Live) -> R) -> R {
        self.live.with(|| Live::new(&self.start), using)
    }

    fn resolved(&self) -> Arc<Resolved> {
        self.with_live(|live| Arc::clone(&live.settings()))
    }

    #[cold]
    fn refund(&self, token: &StandardRetryToken) {
        if token.retry_count() == 0 {
            self.quota().refund(self.with_live(|live| live.first_refund.load(Ordering::Relaxed)));
        } else {
            self.limited.standard().refund_retry(&self.resolved().settings, token);
        }
    }
}

impl RetryStrategy for ConfiguredStrategy {
    type Token = ConfiguredToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ConfiguredToken, RetryError> {
        self.limited.acquire_initial_token(clock)
    }

    fn refresh_retry_token(
        &self,
        token: ConfiguredToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<ConfiguredToken, RetryError> {
        let Resolved { settings, backoff, .. } = &*self.resolved();
        self.limited.judge(settings, backoff, token, failure, clock)
    }

    #[inline]
    fn record_success(&self, token: ConfiguredToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        let token = self.limited.learn_success(token, *success, clock)?;
        // With a full quota, the amount of the refund makes no difference, so it is not read.
        if !self.quota().is_full() {
            self.refund(&token);
        }
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut ConfiguredToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        self.limited.ready(token, clock, waker)
    }

    fn release(&self, token: ConfiguredToken) {
        self.limited.release(token);
    }

    fn refused_delay(&self, token: &ConfiguredToken, failure: &Failure) -> Duration {
        let Resolved { settings, backoff, .. } = &*self.resolved();
        self.limited.delay_of(settings, backoff, token, failure)
    }

    fn quota_level(&self) -> Option<u32> {
        self.limited.quota_level()
    }

    fn send_rate(&self) -> Option<f64> {
        self.limited.send_rate()
    }

    fn name(&self) -> Option<StrategyName> {
        self.limited.name()
    }
}
