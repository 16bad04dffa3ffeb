//! A strategy whose settings can change while it runs.

use super::parts::ConfigLimiter;
use super::quota_kind::KindQuota;
use super::resolved::{BucketSettings, Resolved};
use super::{ConfigError, ModeLimiter, QuotaKind, RetryConfig, RetryMode};
use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::quota::{EvidenceQuota, RetryQuota, TokenBucket};
use crate::strategy::{LimitedRetryStrategy, LimitedRetryToken, StandardRetrySettings};
use crate::support::sync::{AtomicU32, Mutex, MutexGuard, Ordering, PoisonError};
use crate::support::{ConfigSection, Shared};
use crate::time::{Clock, Timestamp};
use std::sync::Arc;

/// A standard, adaptive or paced strategy with the settings of a [`RetryConfig`], which can change while it runs.
///
/// [`RetryConfig::build`] creates it, and [`apply`](ConfiguredStrategy::apply) gives it other settings. A success at the
/// first attempt costs one relaxed load more than with the strategy of its mode.
///
/// [`RetryConfig::build_on`] keeps the backoff `B`, the quota `Q` and the limiter `L` that code chose. With [`ModeLimiter`],
/// the limit is that of the mode.
#[derive(Debug)]
pub struct ConfiguredStrategy<B = ExponentialBackoff, Q = TokenBucket, L = ModeLimiter> {
    /// The quota, the switch and the limiters, which all changes keep. The address of the standard strategy in it
    /// identifies tokens, so they stay valid, too. Its own settings are not used.
    pub(super) limited: LimitedRetryStrategy<L, B, KindQuota<Q>>,
    /// The values of settings that a configuration does not set.
    base: Resolved,
    /// The initial settings, also used for a test's copy.
    start: Arc<Resolved>,
    live: Shared<Live>,
}

/// The settings in effect.
///
/// Settings that are needed without a retry are in atomics. They publish no other data, so relaxed ordering suffices: a
/// thread that reads an old value does what was correct a moment before.
#[derive(Debug)]
struct Live {
    first_refund: AtomicU32,
    /// Locked to read the settings on the way to a retry, and while they change. No user code runs while it is locked, so
    /// it is never poisoned.
    settings: Mutex<Arc<Resolved>>,
}

/// The token of a [`ConfiguredStrategy`].
pub type ConfiguredToken<L = ModeLimiter> = LimitedRetryToken<L>;

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

/// Returns the current time of this clock as strategies see it: under a test guard, it includes skipped waits.
fn now(clock: &dyn Clock) -> Timestamp {
    #[cfg(feature = "test")]
    return clock.now().saturating_add(crate::support::session::time_ahead());
    #[cfg(not(feature = "test"))]
    clock.now()
}

impl<B: BackoffStrategy, Q: RetryQuota, L: ConfigLimiter> ConfiguredStrategy<B, Q, L> {
    /// Creates the strategy. Settings that its parts do not have are ignored.
    pub(super) fn new(config: &RetryConfig, mut limited: LimitedRetryStrategy<L, B, Q>) -> Self {
        let mut base = Resolved::of(&mut limited);
        let start = Arc::new(base.configured_by(config));
        base.run_with(start.kind);
        if let Some(settings) = start.bucket.filter(|bucket| base.bucket != Some(*bucket)) {
            let BucketSettings { capacity, refill, .. } = settings;
            match limited.standard_mut().quota_mut().as_own_bucket() {
                Some(bucket) => *bucket = TokenBucket::configured(capacity, refill),
                None => reconfigure(limited.standard().quota(), settings, None, true),
            }
        }
        let evidence = (start.kind == Some(QuotaKind::Evidence)).then(EvidenceQuota::new);
        let mut limited = limited.map_quota(|of_code| KindQuota { of_code, evidence });
        if start.mode == RetryMode::Off {
            limited.standard_mut().disable_at_start();
        }
        limited.limiter_mut().start_with(start.mode, start.pace());
        if let Some(section) = limited.standard().quota().section().filter(|_| !start.values.is_empty()) {
            section.set(&start.values);
        }
        let live = Shared::new(Live::new(&start));
        Self { limited, base, start, live }
    }

    /// Checks that each setting belongs to a part of this strategy.
    pub(super) fn check(&self, config: &RetryConfig) -> Result<(), ConfigError> {
        config.check(&self.base)
    }

    /// Gives the strategy other settings while it runs. Values that the configuration does not set come from the
    /// strategy that this one was built on.
    ///
    /// - **Operations** continue with their tokens, in any mode. The new settings apply from the next failure on. A delay
    ///   that has begun does not change.
    /// - **The quota** continues. Its balance keeps its proportion to the capacity, rounded down. An empty quota that had a
    ///   capacity stays empty, even if the capacity is 0 for a while. Payments and refunds of other threads are not lost.
    /// - **A refill** that begins or changes starts at the change: a period is settled by the settings at its end. Only this
    ///   needs the clock, which is read once. Pass the clock of the operations, such as [`TokioTimer`](crate::TokioTimer).
    /// - **The limiters** continue, too. With the mode `adaptive` or `paced`, new attempts are limited, each by the limiter of
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
    /// store.apply(&RetryConfig::new().quota_capacity(50).mode(RetryMode::Off), &TokioTimer)?;
    /// assert_eq!((store.quota().available(), store.is_enabled()), (50, false));
    /// store.apply(&RetryConfig::new(), &TokioTimer)?;
    /// assert_eq!((store.quota().available(), store.is_enabled()), (500, true));
    /// # Ok::<(), retry_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`RetryConfig::build_on`]. Then nothing changes. A strategy of
    /// [`RetryConfig::build`] has all settings, so there is no error.
    pub fn apply(&self, config: &RetryConfig, clock: &dyn Clock) -> Result<(), ConfigError> {
        self.check(config)?;
        let next = Arc::new(self.base.configured_by(config));
        let (now, bucket) = (now(clock), self.kind_quota().as_bucket());
        let has_other_values = self.with_live(|live| {
            // The lock makes two changes follow each other, so that the parts of one are not mixed with the other's.
            let mut settings = live.settings();
            let costs_change = settings.settings.costs != next.settings.costs;
            if let Some((bucket, of)) = bucket.zip(next.bucket)
                && (of.is_own || settings.bucket != next.bucket)
            {
                bucket.reconfigure(of.capacity, of.refill, Some(now), costs_change);
            }
            live.first_refund.store(next.settings.first_refund, Ordering::Relaxed);
            let (was_off, is_off) = (settings.mode == RetryMode::Off, next.mode == RetryMode::Off);
            if was_off != is_off {
                self.set_enabled(!is_off);
            }
            self.limited.limiter().change(next.mode, next.pace(), now);
            let has_other_values = settings.values != next.values;
            *settings = next;
            has_other_values
        });
        if let Some(bucket) = bucket {
            bucket.note_change();
        }
        if let Some(section) = self.quota().section().filter(|_| has_other_values) {
            self.set_section(section);
        }
        Ok(())
    }

    /// Sets the section of the quota. This runs the user's code, so no lock is held, and the values may change
    /// meanwhile.
    fn set_section(&self, section: &dyn ConfigSection) {
        loop {
            let settings = self.resolved();
            section.set(&settings.values);
            if self.resolved().values == settings.values {
                return;
            }
        }
    }

    /// Returns the mode, which is [`RetryMode::Off`] while the retries of this strategy are off, for whatever reason.
    pub fn mode(&self) -> RetryMode {
        if self.is_enabled() { self.limited.limiter().mode() } else { RetryMode::Off }
    }

    /// Returns the settings in effect, except those of the backoff and the quota.
    pub fn settings(&self) -> StandardRetrySettings {
        self.resolved().settings
    }

    /// Returns the quota that was set in code. Retries are paid from it, unless there is an
    /// [`evidence_quota`](ConfiguredStrategy::evidence_quota).
    pub fn quota(&self) -> &Q {
        &self.kind_quota().of_code
    }

    /// Returns the quota by evidence, if the configuration that the strategy was built with has chosen one.
    pub fn evidence_quota(&self) -> Option<&EvidenceQuota> {
        self.kind_quota().evidence.as_ref()
    }

    /// Returns the quota in use.
    #[inline]
    pub(super) fn kind_quota(&self) -> &KindQuota<Q> {
        self.limited.standard().quota()
    }

    /// Returns the current limit on sends per second, or `None` if sends are not limited: before the first throttling or the
    /// ramp, and in the mode `standard`.
    pub fn send_rate(&self) -> Option<f64> {
        self.limited.send_rate()
    }

    /// Turns the retries of this strategy on or off; see
    /// [`StandardRetryStrategy::set_enabled`](crate::StandardRetryStrategy::set_enabled).
    pub fn set_enabled(&self, enabled: bool) {
        self.limited.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](ConfiguredStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.limited.is_enabled()
    }

    pub(super) fn first_refund(&self) -> u32 {
        self.with_live(|live| live.first_refund.load(Ordering::Relaxed))
    }

    #[inline]
    fn with_live<R>(&self, using: impl FnOnce(&Live) -> R) -> R {
        self.live.with(|| Live::new(&self.start), using)
    }

    pub(super) fn resolved(&self) -> Arc<Resolved> {
        self.with_live(|live| Arc::clone(&live.settings()))
    }
}

impl<Q: RetryQuota, L: ConfigLimiter> ConfiguredStrategy<ExponentialBackoff, Q, L> {
    /// Returns a backoff with the settings in effect.
    pub fn backoff_strategy(&self) -> ExponentialBackoff {
        let settings = self.resolved();
        settings.backoff.as_ref().unwrap_or_else(|| self.limited.standard().backoff_strategy()).copy()
    }
}

/// Changes a bucket while it is in use.
fn reconfigure(quota: &impl RetryQuota, settings: BucketSettings, now: Option<Timestamp>, costs_change: bool) {
    if let Some(bucket) = quota.as_bucket() {
        bucket.reconfigure(settings.capacity, settings.refill, now, costs_change);
        bucket.note_change();
    }
}
