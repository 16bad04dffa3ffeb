//! A strategy whose settings can change while it runs.

use super::configured_quota::ConfiguredQuota;
use super::live::LiveSettings;
use super::parts::{ConfigLimiter, with_modes};
use super::resolved::Resolved;
use super::{ConfigError, ModeLimiter, QuotaKind, RetryConfig, RetryMode};
use retry_core::backoff::{BackoffStrategy, ExponentialBackoff};
use retry_core::parts::StrategyClock;
use retry_core::quota::{ConfigSection, EvidenceQuota, RetryQuota, TokenBucket};
use retry_core::strategy::{LimitedRetryStrategy, LimitedRetryToken, StandardRetrySettings, StandardRetryStrategy};
use retry_core::time::Clock;
use std::sync::Arc;

/// A standard, adaptive or paced strategy with the settings of a [`RetryConfig`], which can change while it runs.
///
/// [`RetryConfig::build_on`] creates it, and [`apply`](ConfiguredStrategy::apply) gives it other settings. A success at the
/// first attempt costs one relaxed load more than with the strategy of its mode. The default is
/// [`StandardRetryStrategy::new()`](retry_core::StandardRetryStrategy::new) with the mode `standard`.
///
/// [`RetryConfig::build_on`] keeps the backoff `B`, the quota `Q` and the limiter `L` that code chose. With [`ModeLimiter`],
/// the limit is that of the mode.
#[derive(Debug)]
pub struct ConfiguredStrategy<B = ExponentialBackoff, Q = TokenBucket, L = ModeLimiter> {
    /// The quota, the switch and the limiters, which all changes keep. The address of the standard strategy in it
    /// identifies tokens, so they stay valid, too. Its own settings are not used.
    pub(super) limited: LimitedRetryStrategy<L, B, ConfiguredQuota<Q>>,
    /// The values of settings that a configuration does not set.
    base: Resolved,
}

/// The token of a [`ConfiguredStrategy`].
pub type ConfiguredToken<L = ModeLimiter> = LimitedRetryToken<L>;

impl Default for ConfiguredStrategy {
    fn default() -> Self {
        let (limited, base) = Resolved::of(with_modes(StandardRetryStrategy::new()));
        Self::new(&RetryConfig::new(), limited, base)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota, L: ConfigLimiter> ConfiguredStrategy<B, Q, L> {
    /// Creates the strategy from its parts and their settings. Settings that the parts do not have are ignored.
    pub(super) fn new(config: &RetryConfig, strategy: LimitedRetryStrategy<L, B, Q>, mut base: Resolved) -> Self {
        let start = base.configured_by(config);
        base.run_with(start.kind);
        let (mut standard, mut limiter) = strategy.into_parts();
        limiter.start_with(start.mode, start.pace());
        if start.mode == RetryMode::Off {
            standard = standard.enabled(false);
        }
        let standard = standard.map_quota(|mut of_code| {
            start.start_quota(&mut of_code, &base);
            let evidence = (start.kind == Some(QuotaKind::Evidence)).then(EvidenceQuota::new);
            ConfiguredQuota { of_code, evidence, settings: LiveSettings::new(start) }
        });
        Self { limited: LimitedRetryStrategy::with_limiter(standard, limiter), base }
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
    ///   needs the clock, which is read once. Pass the clock of the operations, such as `TokioTimer`.
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
    /// use retry_config::{RetryConfig, RetryMode};
    /// use retry_core::{RetryQuota, StandardRetryStrategy, TokioTimer};
    ///
    /// let store = RetryConfig::new().quota_capacity(100).build_on(StandardRetryStrategy::new())?;
    /// store.apply(&RetryConfig::new().quota_capacity(50).mode(RetryMode::Off), &TokioTimer)?;
    /// assert_eq!((store.quota().available(), store.is_enabled()), (50, false));
    /// store.apply(&RetryConfig::new(), &TokioTimer)?;
    /// assert_eq!((store.quota().available(), store.is_enabled()), (500, true));
    /// # Ok::<(), retry_config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`RetryConfig::build_on`]. Then nothing changes.
    pub fn apply(&self, config: &RetryConfig, clock: &dyn Clock) -> Result<(), ConfigError> {
        self.check(config)?;
        let next = self.base.configured_by(config);
        let (now, quota) = (StrategyClock::new(clock).now(), self.used_quota());
        let bucket = quota.as_bucket();
        let has_other_values = quota.settings.change(next, |before, next| {
            let costs_change = before.settings.costs != next.settings.costs;
            if let Some((bucket, of)) = bucket.zip(next.bucket)
                && (of.is_own || before.bucket != next.bucket)
            {
                bucket.reconfigure(of.capacity, of.refill, Some(now), costs_change);
            }
            let (was_off, is_off) = (before.mode == RetryMode::Off, next.mode == RetryMode::Off);
            if was_off != is_off {
                self.set_enabled(!is_off);
            }
            self.limited.limiter().change(next.mode, next.pace(), now);
            before.values != next.values
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
        &self.used_quota().of_code
    }

    /// Returns the quota by evidence, if the configuration that the strategy was built with has chosen one.
    pub fn evidence_quota(&self) -> Option<&EvidenceQuota> {
        self.used_quota().evidence.as_ref()
    }

    /// Returns the quota in use.
    fn used_quota(&self) -> &ConfiguredQuota<Q> {
        self.limited.standard().quota()
    }

    /// Sets the name of the strategy, which events show; see [`StandardRetryStrategy::name`](retry_core::StandardRetryStrategy::name).
    #[must_use]
    pub fn name(self, name: &'static str) -> Self {
        let Self { limited, base } = self;
        let (standard, limiter) = limited.into_parts();
        Self { limited: LimitedRetryStrategy::with_limiter(standard.name(name), limiter), base }
    }

    /// Returns the current limit on sends per second, or `None` if sends are not limited: before the first throttling or the
    /// ramp, and in the mode `standard`.
    pub fn send_rate(&self) -> Option<f64> {
        self.limited.send_rate()
    }

    /// Turns the retries of this strategy on or off; see
    /// [`StandardRetryStrategy::set_enabled`](retry_core::StandardRetryStrategy::set_enabled).
    pub fn set_enabled(&self, enabled: bool) {
        self.limited.set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](ConfiguredStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.limited.is_enabled()
    }

    pub(super) fn resolved(&self) -> Arc<Resolved> {
        self.used_quota().settings.get()
    }
}

impl<Q: RetryQuota, L: ConfigLimiter> ConfiguredStrategy<ExponentialBackoff, Q, L> {
    /// Returns a backoff with the settings in effect.
    pub fn backoff_strategy(&self) -> ExponentialBackoff {
        let settings = self.resolved();
        settings.backoff.as_ref().unwrap_or_else(|| self.limited.standard().backoff_strategy()).clone()
    }
}
