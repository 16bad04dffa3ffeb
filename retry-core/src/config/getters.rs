//! Settings that are read back, and configurations that are combined.

use super::keys::Costs;
use super::{ConfigSource, RetryConfig, RetryMode, RetryPreset};
use crate::backoff::Jitter;
use crate::policy::RetryErrorType;
use crate::strategy::{HintLimit, Refund};
use std::time::Duration;

/// # Reading settings back
///
/// These methods return `None` for a setting that is not set.
impl RetryConfig {
    /// Returns the preset.
    pub const fn preset_setting(&self) -> Option<RetryPreset> {
        self.preset
    }

    /// Returns the mode.
    pub fn mode_setting(&self) -> Option<RetryMode> {
        self.mode.as_ref().map(|setting| setting.value)
    }

    /// Returns the source of the mode.
    pub fn mode_source(&self) -> Option<&ConfigSource> {
        self.mode.as_ref().map(|setting| &setting.source)
    }

    /// Returns the maximum number of attempts.
    pub fn max_attempts_setting(&self) -> Option<u32> {
        self.max_attempts.as_ref().map(|setting| setting.value.get())
    }

    /// Returns the source of the maximum number of attempts.
    pub fn max_attempts_source(&self) -> Option<&ConfigSource> {
        self.max_attempts.as_ref().map(|setting| &setting.source)
    }

    /// Returns the longest wait that the server can ask for. The inner `None` means no limit.
    pub const fn max_retry_after_setting(&self) -> Option<Option<Duration>> {
        self.max_retry_after
    }

    /// Returns the limit to which a wait that the server asks for is cut.
    pub const fn hint_limit_setting(&self) -> Option<HintLimit> {
        self.hint_limit
    }

    /// Returns the percentage of a wait that the server asks for, up to which a random part is added to it.
    pub const fn hint_jitter_percent_setting(&self) -> Option<u32> {
        self.hint_jitter_percent
    }

    /// Returns the longest time that is added to a wait that the server asks for.
    pub const fn hint_jitter_at_most_setting(&self) -> Option<Duration> {
        self.hint_jitter_at_most
    }

    /// Returns the base of the backoff.
    pub const fn base_setting(&self) -> Option<Duration> {
        self.base
    }

    /// Returns the cap of the backoff.
    pub const fn cap_setting(&self) -> Option<Duration> {
        self.cap
    }

    /// Returns the base after throttling.
    pub const fn throttling_base_setting(&self) -> Option<Duration> {
        self.throttling_base
    }

    /// Returns the base after a conflict.
    pub const fn conflict_base_setting(&self) -> Option<Duration> {
        self.conflict_base
    }

    /// Returns the jitter.
    pub const fn jitter_setting(&self) -> Option<Jitter> {
        self.jitter
    }

    /// Returns the capacity of the quota.
    pub const fn quota_capacity_setting(&self) -> Option<u32> {
        self.quota_capacity
    }

    /// Returns the amount and the period of the refill.
    pub const fn quota_refill_setting(&self) -> Option<(u32, Duration)> {
        self.quota_refill
    }

    /// Returns the cost of a retry after a failure of this class.
    pub const fn retry_cost_setting(&self, error_type: RetryErrorType) -> Option<u32> {
        match error_type {
            RetryErrorType::Throttling => self.costs.throttling,
            RetryErrorType::Timeout => self.costs.timeout,
            RetryErrorType::Conflict => self.costs.conflict,
            _ => self.costs.other,
        }
    }

    /// Returns the amount that a success at the first attempt gives back to the quota.
    pub const fn first_refund_setting(&self) -> Option<u32> {
        self.first_refund
    }

    /// Returns the amount that a success after a retry gives back to the quota.
    pub const fn retry_refund_setting(&self) -> Option<Refund> {
        self.retry_refund
    }

    /// Returns whether the mode `paced` begins with a ramp.
    pub const fn paced_ramp_setting(&self) -> Option<bool> {
        self.ramp
    }

    /// Returns the maximum number of attempts of an operation that may be throttled in the mode `paced`.
    pub const fn paced_max_throttled_setting(&self) -> Option<u32> {
        self.max_throttled
    }

    /// Fills in the settings that are not set yet from another configuration.
    ///
    /// ```
    /// use retry_core::RetryConfig;
    ///
    /// let from_environment = RetryConfig::new().quota_capacity(50);
    /// let from_file = RetryConfig::new().quota_capacity(100).try_max_attempts(4)?;
    /// let config = from_environment.or(from_file);
    /// assert_eq!((config.quota_capacity_setting(), config.max_attempts_setting()), (Some(50), Some(4)));
    /// # Ok::<(), retry_core::ConfigError>(())
    /// ```
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            preset: self.preset.or(other.preset),
            mode: self.mode.or(other.mode),
            max_attempts: self.max_attempts.or(other.max_attempts),
            max_retry_after: self.max_retry_after.or(other.max_retry_after),
            hint_limit: self.hint_limit.or(other.hint_limit),
            hint_jitter_percent: self.hint_jitter_percent.or(other.hint_jitter_percent),
            hint_jitter_at_most: self.hint_jitter_at_most.or(other.hint_jitter_at_most),
            base: self.base.or(other.base),
            cap: self.cap.or(other.cap),
            throttling_base: self.throttling_base.or(other.throttling_base),
            conflict_base: self.conflict_base.or(other.conflict_base),
            jitter: self.jitter.or(other.jitter),
            quota_capacity: self.quota_capacity.or(other.quota_capacity),
            quota_refill: self.quota_refill.or(other.quota_refill),
            costs: Costs {
                throttling: self.costs.throttling.or(other.costs.throttling),
                timeout: self.costs.timeout.or(other.costs.timeout),
                conflict: self.costs.conflict.or(other.costs.conflict),
                other: self.costs.other.or(other.costs.other),
            },
            first_refund: self.first_refund.or(other.first_refund),
            retry_refund: self.retry_refund.or(other.retry_refund),
            ramp: self.ramp.or(other.ramp),
            max_throttled: self.max_throttled.or(other.max_throttled),
            origins: self.origins.or(other.origins),
            sections: self.sections.or(other.sections),
        }
    }
}
