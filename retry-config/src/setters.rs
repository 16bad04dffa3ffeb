//! Settings from code.

use super::max_attempts::MaxAttempts;
use super::value::Refill;
use super::{ConfigError, QuotaKind, RetryConfig, RetryMode, RetryPreset, in_code};
use retry_core::InvalidSetting;
use retry_core::backoff::{ExponentialBackoff, Jitter};
use retry_core::policy::RetryErrorType;
use retry_core::quota;
use retry_core::strategy::{HintJitter, HintLimit, Refund, RetryCosts};
use retry_limits::{Rejections, SendRate};
use std::time::Duration;

/// # Settings from code
impl RetryConfig {
    /// Sets the numbers to start from, in place of those of the strategy that [`build_on`](RetryConfig::build_on) starts
    /// from.
    #[must_use]
    pub const fn preset(mut self, preset: RetryPreset) -> Self {
        self.set.preset = Some(preset);
        self
    }

    /// Sets the kind of strategy, or switches retries off. The default is [`RetryMode::Standard`].
    #[must_use]
    pub fn mode(mut self, mode: RetryMode) -> Self {
        self.origins.forget("mode");
        self.set.mode = Some(mode);
        self
    }

    /// Sets the maximum number of attempts of an operation, the first one included; see
    /// [`StandardRetryStrategy::max_attempts`](retry_core::StandardRetryStrategy::max_attempts).
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_attempts(mut self, max_attempts: u32) -> Result<Self, ConfigError> {
        self.set.max_attempts = Some(MaxAttempts::new(max_attempts).map_err(in_code)?);
        self.origins.forget("max_attempts");
        Ok(self)
    }

    /// Sets the longest wait that the server can ask for; `None` means no limit. See
    /// [`StandardRetryStrategy::max_retry_after`](retry_core::StandardRetryStrategy::max_retry_after).
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.set.max_retry_after = Some(max_retry_after);
        self
    }

    /// Sets the limit to which a wait that the server asks for is cut, before the jitter is added; see
    /// [`StandardRetryStrategy::hint_limit`](retry_core::StandardRetryStrategy::hint_limit).
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: HintLimit) -> Self {
        self.set.hint_limit = Some(hint_limit);
        self
    }

    /// Sets whether a wait that the server asks for replaces the backoff; see
    /// [`StandardRetryStrategy::hint_replaces_backoff`](retry_core::StandardRetryStrategy::hint_replaces_backoff).
    #[must_use]
    pub const fn hint_replaces_backoff(mut self, replaces: bool) -> Self {
        self.set.hint_replaces_backoff = Some(replaces);
        self
    }

    /// Sets the random part that is added to a wait that the server asks for; see
    /// [`StandardRetryStrategy::hint_jitter`](retry_core::StandardRetryStrategy::hint_jitter).
    #[must_use]
    pub const fn hint_jitter(mut self, hint_jitter: HintJitter) -> Self {
        self.set.hint_jitter_percent = Some(hint_jitter.percent());
        self.set.hint_jitter_at_most = Some(hint_jitter.at_most());
        self
    }

    /// Sets the longest delay before the first retry and the longest delay before any retry; see
    /// [`StandardRetryStrategy::backoff`](retry_core::StandardRetryStrategy::backoff).
    ///
    /// The base applies after throttling too, unless [`throttling_base`](RetryConfig::throttling_base) is set or the
    /// strategy passed to [`build_on`](RetryConfig::build_on) has a separate base for throttling.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.set.base = Some(base);
        self.set.cap = Some(cap);
        self
    }

    /// Sets the longest delay before the first retry if it follows throttling; see
    /// [`StandardRetryStrategy::throttling_base`](retry_core::StandardRetryStrategy::throttling_base).
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.set.throttling_base = Some(base);
        self
    }

    /// Sets the longest delay before the first retry if it follows a conflict; see
    /// [`StandardRetryStrategy::conflict_base`](retry_core::StandardRetryStrategy::conflict_base).
    #[must_use]
    pub const fn conflict_base(mut self, base: Duration) -> Self {
        self.set.conflict_base = Some(base);
        self
    }

    /// Sets the jitter.
    ///
    /// # Errors
    ///
    /// Returns an error if a [fixed factor](Jitter::Fixed) is not from 0 to 1.
    pub fn try_jitter(mut self, jitter: Jitter) -> Result<Self, ConfigError> {
        let backoff = ExponentialBackoff::new(Duration::ZERO, Duration::ZERO).try_jitter(jitter).map_err(in_code)?;
        self.set.jitter = Some(backoff.jitter_setting());
        Ok(self)
    }

    /// Sets the kind of the quota: a bucket, or a quota [by evidence](retry_core::quota::EvidenceQuota), which has no other settings
    /// than the cost of a retry after a conflict. The default is [`QuotaKind::Bucket`].
    ///
    /// A quota that code chose stays. The kind of a running strategy can't change.
    #[must_use]
    pub const fn quota_kind(mut self, kind: QuotaKind) -> Self {
        self.set.quota_kind = Some(kind);
        self
    }

    /// Sets the capacity of the quota; see
    /// [`StandardRetryStrategy::quota_capacity`](retry_core::StandardRetryStrategy::quota_capacity).
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.set.quota_capacity = Some(capacity);
        self
    }

    /// Sets a refill of the quota over time; see
    /// [`StandardRetryStrategy::quota_refill`](retry_core::StandardRetryStrategy::quota_refill).
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_quota_refill(mut self, amount: u32, every: Duration) -> Result<Self, ConfigError> {
        let refill = quota::Refill::try_new(amount, every).map_err(in_code)?;
        self.set.quota_refill = Some(Refill::new(refill));
        Ok(self)
    }

    /// Sets the costs of retries; see [`StandardRetryStrategy::retry_costs`](retry_core::StandardRetryStrategy::retry_costs).
    #[must_use]
    pub const fn retry_costs(mut self, costs: RetryCosts) -> Self {
        self.set.throttling_cost = Some(costs.of(RetryErrorType::Throttling));
        self.set.timeout_cost = Some(costs.of(RetryErrorType::Timeout));
        self.set.conflict_cost = Some(costs.of(RetryErrorType::Conflict));
        self.set.other_cost = Some(costs.of(RetryErrorType::Other));
        self
    }

    /// Sets the amounts that a success gives back to the quota; see
    /// [`StandardRetryStrategy::refunds`](retry_core::StandardRetryStrategy::refunds).
    #[must_use]
    pub const fn refunds(mut self, first_attempt: u32, after_retry: Refund) -> Self {
        self.set.first_refund = Some(first_attempt);
        self.set.retry_refund = Some(after_retry);
        self
    }

    /// Sets whether the mode [`Paced`](RetryMode::Paced) begins with a ramp; see
    /// [`PacedRetryStrategy::ramp`](retry_limits::PacedRetryStrategy::ramp). The default is `true`.
    #[must_use]
    pub const fn paced_ramp(mut self, has_ramp: bool) -> Self {
        self.set.paced_ramp = Some(has_ramp);
        self
    }

    /// Sets the time after which an operation that is throttled gives up in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::max_throttled_time`](retry_limits::PacedRetryStrategy::max_throttled_time). The default is 5 minutes.
    #[must_use]
    pub const fn paced_max_throttled_time(mut self, time: Duration) -> Self {
        self.set.paced_max_throttled_time = Some(time);
        self
    }

    /// Sets which failures are rejections in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::rejections`](retry_limits::PacedRetryStrategy::rejections). The default is throttling.
    #[must_use]
    pub const fn paced_rejections(mut self, rejections: Rejections) -> Self {
        self.set.paced_rejections = Some(rejections);
        self
    }

    /// Sets a limit on sends per second in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::max_rate`](retry_limits::PacedRetryStrategy::max_rate). There is none unless it is set.
    ///
    /// # Errors
    ///
    /// Returns an error if the rate is not a finite number of at least 0.001.
    pub fn try_paced_max_rate(mut self, rate: f64) -> Result<Self, ConfigError> {
        self.set.paced_max_rate = Some(send_rate("paced.max_rate", rate)?);
        Ok(self)
    }

    /// Sets the burst of the [limit](RetryConfig::try_paced_max_rate) in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::burst`](retry_limits::PacedRetryStrategy::burst). The default is 1: no burst.
    #[must_use]
    pub const fn paced_burst(mut self, burst: u32) -> Self {
        self.set.paced_burst = Some(burst);
        self
    }

    /// Sets the rate at which the ramp of the mode [`Paced`](RetryMode::Paced) begins, in sends per second; see
    /// [`PacedRetryStrategy::initial_rate`](retry_limits::PacedRetryStrategy::initial_rate). The default is 100.
    ///
    /// # Errors
    ///
    /// Returns an error if the rate is not a finite number of at least 0.001.
    pub fn try_paced_initial_rate(mut self, rate: f64) -> Result<Self, ConfigError> {
        self.set.paced_initial_rate = Some(send_rate("paced.initial_rate", rate)?);
        Ok(self)
    }
}

fn send_rate(key: &'static str, rate: f64) -> Result<SendRate, ConfigError> {
    SendRate::new(rate).ok_or_else(|| in_code(InvalidSetting::new(key, rate, SendRate::EXPECTED)))
}
