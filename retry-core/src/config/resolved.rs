//! All settings of a strategy: those of a configuration, and below them those of the strategy that it is built on.

use super::{RetryConfig, RetryMode};
use crate::backoff::ExponentialBackoff;
use crate::limit::PaceSettings;
use crate::policy::RetryErrorType;
use crate::strategy::{HintJitter, RetryCosts, StandardRetrySettings, StandardRetryStrategy};
use std::time::Duration;

/// All settings of a strategy.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) mode: RetryMode,
    pub(super) settings: StandardRetrySettings,
    pub(super) backoff: ExponentialBackoff,
    pub(super) capacity: u32,
    pub(super) refill: Option<(u32, Duration)>,
    pub(super) paced: PaceSettings,
}

impl Resolved {
    /// Returns the settings that a strategy was constructed with.
    pub(super) fn of(strategy: &StandardRetryStrategy) -> Self {
        let (capacity, refill) = strategy.quota().at_start();
        Self {
            mode: RetryMode::Standard,
            settings: strategy.settings(),
            backoff: strategy.backoff_strategy().copy(),
            capacity,
            refill,
            paced: PaceSettings::DEFAULT,
        }
    }

    /// Returns these settings, with those of the configuration in place of them.
    pub(super) fn configured_by(&self, config: &RetryConfig) -> Self {
        let preset = config.preset.map(|preset| Self::of(&preset.strategy()));
        let Self { settings, backoff, capacity, refill, .. } = preset.as_ref().unwrap_or(self);
        Self {
            mode: config.mode_setting().unwrap_or(self.mode),
            settings: configured(*settings, config),
            // The seed is no setting, so a preset does not replace it.
            backoff: configured_backoff(backoff.seeded_as(&self.backoff), config),
            capacity: config.quota_capacity.unwrap_or(*capacity),
            refill: config.quota_refill.or(*refill),
            paced: PaceSettings {
                has_ramp: config.ramp.unwrap_or(self.paced.has_ramp),
                max_throttled: config.max_throttled.unwrap_or(self.paced.max_throttled),
            },
        }
    }
}

fn configured(mut settings: StandardRetrySettings, config: &RetryConfig) -> StandardRetrySettings {
    settings.max_attempts = config.max_attempts_setting().unwrap_or(settings.max_attempts);
    settings.max_retry_after = config.max_retry_after.unwrap_or(settings.max_retry_after);
    settings.hint_limit = config.hint_limit.unwrap_or(settings.hint_limit);
    settings.hint_jitter = HintJitter::new(
        config.hint_jitter_percent.unwrap_or(settings.hint_jitter.percent()),
        config.hint_jitter_at_most.unwrap_or(settings.hint_jitter.at_most()),
    );
    settings.first_refund = config.first_refund.unwrap_or(settings.first_refund);
    settings.retry_refund = config.retry_refund.unwrap_or(settings.retry_refund);
    let cost = |set: Option<u32>, of| set.unwrap_or(settings.costs.of(of));
    settings.costs = RetryCosts::new(cost(config.costs.other, RetryErrorType::Other))
        .throttling(cost(config.costs.throttling, RetryErrorType::Throttling))
        .timeout(cost(config.costs.timeout, RetryErrorType::Timeout))
        .conflict(cost(config.costs.conflict, RetryErrorType::Conflict));
    settings
}

fn configured_backoff(backoff: ExponentialBackoff, config: &RetryConfig) -> ExponentialBackoff {
    let (base, cap) = backoff.delays();
    let mut backoff = backoff.with_delays(config.base.unwrap_or(base), config.cap.unwrap_or(cap));
    if let Some(base) = config.throttling_base {
        backoff = backoff.throttling_base(base);
    }
    if let Some(base) = config.conflict_base {
        backoff = backoff.conflict_base(base);
    }
    if let Some(jitter) = config.jitter {
        backoff = backoff.jitter(jitter);
    }
    backoff
}
