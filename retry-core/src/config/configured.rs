//! A strategy whose settings can change while it runs.

use super::resolved::Resolved;
use super::{RetryConfig, RetryMode};
use crate::backoff::ExponentialBackoff;
use crate::policy::{RetryErrorType, Success};
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::{
    AdaptiveRetryStrategy, AdaptiveRetryToken, DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError,
    RetryStrategy, RetryToken, StandardRetrySettings, StandardRetryStrategy, StandardRetryToken, StrategyName,
};
use crate::support::Shared;
use crate::support::sync::{AtomicU8, AtomicU32, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::Clock;
use std::sync::Arc;
use std::time::Duration;

/// A standard or adaptive strategy with the settings of a [`RetryConfig`], which can change while it runs.
///
/// [`RetryConfig::build`] creates it, and [`apply`](ConfiguredStrategy::apply) gives it other settings. A success at the
/// first attempt costs one relaxed load more than with the strategy of its mode.
#[derive(Debug)]
pub struct ConfiguredStrategy {
    /// The quota, the limiter and the switch, which are the same for all settings and modes. Its address identifies
    /// tokens, so they stay valid, too. Its own settings are not used.
    strategy: AdaptiveRetryStrategy,
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
    /// 1 if sends are limited.
    is_limiting: AtomicU8,
    first_refund: AtomicU32,
    /// Locked to read the settings on the way to a retry, and while they change. No user code runs while it is locked, so
    /// it is never poisoned.
    settings: Mutex<Arc<Resolved>>,
}

impl Live {
    fn new(settings: &Arc<Resolved>) -> Self {
        Self {
            is_limiting: AtomicU8::new(u8::from(settings.mode == RetryMode::Adaptive)),
            first_refund: AtomicU32::new(settings.settings.first_refund),
            settings: Mutex::new(Arc::clone(settings)),
        }
    }

    fn settings(&self) -> MutexGuard<'_, Arc<Resolved>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        Self { strategy: AdaptiveRetryStrategy::over(standard), base, start, live }
    }

    /// Gives the strategy other settings while it runs. A value that is not set in the configuration is that of the
    /// strategy that this one was built on.
    ///
    /// - **Operations** go on with their tokens, in any mode. From its next failure on, an operation is judged by the new
    ///   settings. A delay that has begun does not change.
    /// - **The quota** goes on. Its balance keeps its proportion to the capacity, rounded down. An empty quota that had a
    ///   capacity stays empty. Payments and refunds of other threads are not lost.
    /// - **The limiter** goes on, too. With the mode `adaptive`, new attempts are limited. With `standard`, an operation
    ///   that waits for the limiter is sent within 100 ms, and what happens in that mode is not learned.
    /// - **The mode `off`** turns the switch of [`set_enabled`](ConfiguredStrategy::set_enabled) off, and otherwise keeps
    ///   the mode. A later configuration with another mode turns it on. A change between other modes does not touch
    ///   the switch, so that a reload does not undo what an operator did.
    ///
    /// ```
    /// use retry_core::config::RetryMode;
    /// use retry_core::{RetryConfig, RetryQuota};
    ///
    /// let store = RetryConfig::new().quota_capacity(100).build();
    /// store.apply(&RetryConfig::new().quota_capacity(50).mode(RetryMode::Off));
    /// assert_eq!((store.quota().available(), store.is_enabled()), (50, false));
    /// store.apply(&RetryConfig::new());
    /// assert_eq!((store.quota().available(), store.is_enabled()), (500, true));
    /// ```
    pub fn apply(&self, config: &RetryConfig) {
        let next = Arc::new(self.base.configured_by(config));
        self.with_live(|live| {
            // The lock makes two changes follow each other, so that the parts of one are not mixed with the other's.
            let mut settings = live.settings();
            self.quota().reconfigure(next.capacity, next.refill);
            live.first_refund.store(next.settings.first_refund, Ordering::Relaxed);
            let (was_off, is_off) = (settings.mode == RetryMode::Off, next.mode == RetryMode::Off);
            if was_off != is_off {
                self.set_enabled(!is_off);
            }
            if !is_off {
                live.is_limiting.store(u8::from(next.mode == RetryMode::Adaptive), Ordering::Relaxed);
            }
            *settings = next;
        });
        self.quota().note_change();
    }

    /// Returns the mode, which is [`RetryMode::Off`] while the retries of this strategy are off, for whatever reason.
    pub fn mode(&self) -> RetryMode {
        match (self.is_enabled(), self.is_limiting()) {
            (false, _) => RetryMode::Off,
            (true, true) => RetryMode::Adaptive,
            (true, false) => RetryMode::Standard,
        }
    }

    /// Returns the settings in effect, except those of the backoff and the quota.
    pub fn settings(&self) -> StandardRetrySettings {
        self.resolved().settings
    }

    /// Returns a backoff with the settings in effect.
    pub fn backoff_strategy(&self) -> ExponentialBackoff {
        self.resolved().backoff.copy()
    }

    /// Returns the quota that retries are paid from.
    pub fn quota(&self) -> &TokenBucket {
        self.standard().quota()
    }

    /// Returns the current limit on sends per second, or `None` if sends are not limited: before the first throttling, and
    /// in the mode `standard`.
    pub fn send_rate(&self) -> Option<f64> {
        if self.is_limiting() { self.strategy.send_rate() } else { None }
    }

    /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`].
    pub fn set_enabled(&self, enabled: bool) {
        self.strategy.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](ConfiguredStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.strategy.is_enabled()
    }

    #[inline]
    fn with_live<R>(&self, using: impl FnOnce(&Live) -> R) -> R {
        self.live.with(|| Live::new(&self.start), using)
    }

    #[inline]
    fn is_limiting(&self) -> bool {
        self.with_live(|live| live.is_limiting.load(Ordering::Relaxed)) != 0
    }

    fn resolved(&self) -> Arc<Resolved> {
        self.with_live(|live| Arc::clone(&live.settings()))
    }

    #[inline]
    fn standard(&self) -> &StandardRetryStrategy {
        self.strategy.standard()
    }

    #[cold]
    fn refund(&self, token: &StandardRetryToken) {
        if token.retry_count() == 0 {
            self.quota().refund(self.with_live(|live| live.first_refund.load(Ordering::Relaxed)));
        } else {
            self.standard().refund_retry(&self.resolved().settings, token);
        }
    }
}

/// The token of a [`ConfiguredStrategy`].
#[derive(Debug)]
pub struct ConfiguredToken(Issued);

/// A token, as the mode was when it was issued.
#[derive(Debug)]
enum Issued {
    Standard(StandardRetryToken),
    Adaptive(AdaptiveRetryToken),
}

impl RetryToken for ConfiguredToken {
    fn attempt(&self) -> u32 {
        match &self.0 {
            Issued::Standard(token) => token.attempt(),
            Issued::Adaptive(token) => token.attempt(),
        }
    }

    fn delay(&self) -> Duration {
        match &self.0 {
            Issued::Standard(token) => token.delay(),
            Issued::Adaptive(token) => token.delay(),
        }
    }

    fn delay_source(&self) -> DelaySource {
        match &self.0 {
            Issued::Standard(token) => token.delay_source(),
            Issued::Adaptive(token) => token.delay_source(),
        }
    }
}

impl RetryStrategy for ConfiguredStrategy {
    type Token = ConfiguredToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ConfiguredToken, RetryError> {
        let token = if self.is_limiting() {
            Issued::Adaptive(self.strategy.acquire_initial_token(clock)?)
        } else {
            Issued::Standard(self.standard().acquire_initial_token(clock)?)
        };
        Ok(ConfiguredToken(token))
    }

    fn refresh_retry_token(
        &self,
        token: ConfiguredToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<ConfiguredToken, RetryError> {
        let is_limiting = self.is_limiting();
        let throttled = failure.error_type() == Some(RetryErrorType::Throttling);
        let token = match token.0 {
            Issued::Adaptive(token) => self.strategy.learn(token, throttled, clock),
            // The mode changed to adaptive during the attempt.
            Issued::Standard(token) if is_limiting => {
                self.strategy.begin(clock);
                self.strategy.learn(AdaptiveRetryToken::new(token), throttled, clock)
            }
            Issued::Standard(token) => token,
        };
        let Resolved { settings, backoff, .. } = &*self.resolved();
        let token = self.standard().judge(settings, backoff, token, failure, clock, 0)?;
        Ok(ConfiguredToken(if is_limiting {
            Issued::Adaptive(AdaptiveRetryToken::new(token))
        } else {
            Issued::Standard(token)
        }))
    }

    #[inline]
    fn record_success(&self, token: ConfiguredToken, _: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        let token = match token.0 {
            Issued::Adaptive(token) => self.strategy.learn(token, false, clock),
            Issued::Standard(token) => token,
        };
        if !self.standard().issued(&token) {
            return Err(ForeignToken);
        }
        // With a full quota, the amount of the refund makes no difference, so it is not read.
        if !self.quota().is_full() {
            self.refund(&token);
        }
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut ConfiguredToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let Issued::Adaptive(token) = &mut token.0 else { return Ready::Now };
        if !self.is_limiting() {
            self.strategy.leave(token);
            return Ready::Now;
        }
        self.strategy.ready(token, clock, waker)
    }

    fn release(&self, token: ConfiguredToken) {
        match token.0 {
            Issued::Standard(token) => self.standard().release(token),
            Issued::Adaptive(token) => self.strategy.release(token),
        }
    }

    fn quota_level(&self) -> Option<u32> {
        Some(self.quota().available())
    }

    fn send_rate(&self) -> Option<f64> {
        if self.is_limiting() { Self::send_rate(self) } else { None }
    }

    fn name(&self) -> Option<StrategyName> {
        self.standard().name()
    }
}
