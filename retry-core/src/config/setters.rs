//! Settings from code.

use super::value::Refill;
use super::{ConfigError, QuotaKind, RetryConfig, RetryMode, RetryPreset, in_code};
use crate::backoff::Jitter;
use crate::limit::{Rejections, SendRate};
use crate::policy::RetryErrorType;
use crate::quota::TokenBucket;
use crate::strategy::{HintJitter, HintLimit, MaxAttempts, Refund, RetryCosts};
use crate::support::InvalidSetting;
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
    /// [`StandardRetryStrategy::max_attempts`](crate::StandardRetryStrategy::max_attempts).
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
    /// [`StandardRetryStrategy::max_retry_after`](crate::StandardRetryStrategy::max_retry_after).
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.set.max_retry_after = Some(max_retry_after);
        self
    }

    /// Sets the limit to which a wait that the server asks for is cut, before the jitter is added; see
    /// [`StandardRetryStrategy::hint_limit`](crate::StandardRetryStrategy::hint_limit).
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: HintLimit) -> Self {
        self.set.hint_limit = Some(hint_limit);
        self
    }

    /// Sets the random part that is added to a wait that the server asks for; see
    /// [`StandardRetryStrategy::hint_jitter`](crate::StandardRetryStrategy::hint_jitter).
    #[must_use]
    pub const fn hint_jitter(mut self, hint_jitter: HintJitter) -> Self {
        self.set.hint_jitter_percent = Some(hint_jitter.percent());
        self.set.hint_jitter_at_most = Some(hint_jitter.at_most());
        self
    }

    /// Sets the longest delay before the first retry and the longest delay before any retry; see
    /// [`StandardRetryStrategy::backoff`](crate::StandardRetryStrategy::backoff).
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
    /// [`StandardRetryStrategy::throttling_base`](crate::StandardRetryStrategy::throttling_base).
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.set.throttling_base = Some(base);
        self
    }

    /// Sets the longest delay before the first retry if it follows a conflict; see
    /// [`StandardRetryStrategy::conflict_base`](crate::StandardRetryStrategy::conflict_base).
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
        self.set.jitter = Some(jitter.checked().map_err(in_code)?);
        Ok(self)
    }

    /// Sets the kind of the quota: a bucket, or a quota [by evidence](crate::quota::EvidenceQuota), which has no other settings
    /// than the cost of a retry after a conflict. The default is [`QuotaKind::Bucket`].
    ///
    /// A quota that code chose stays. The kind of a running strategy can't change.
    #[must_use]
    pub const fn quota_kind(mut self, kind: QuotaKind) -> Self {
        self.set.quota_kind = Some(kind);
        self
    }

    /// Sets the capacity of the quota; see
    /// [`StandardRetryStrategy::quota_capacity`](crate::StandardRetryStrategy::quota_capacity).
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.set.quota_capacity = Some(capacity);
        self
    }

    /// Sets a refill of the quota over time; see
    /// [`StandardRetryStrategy::quota_refill`](crate::StandardRetryStrategy::quota_refill).
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_quota_refill(mut self, amount: u32, every: Duration) -> Result<Self, ConfigError> {
        TokenBucket::check_period(every).map_err(in_code)?;
        self.set.quota_refill = Some(Refill::new(amount, every));
        Ok(self)
    }

    /// Sets the costs of retries; see [`StandardRetryStrategy::retry_costs`](crate::StandardRetryStrategy::retry_costs).
    #[must_use]
    pub const fn retry_costs(mut self, costs: RetryCosts) -> Self {
        self.set.throttling_cost = Some(costs.of(RetryErrorType::Throttling));
        self.set.timeout_cost = Some(costs.of(RetryErrorType::Timeout));
        self.set.conflict_cost = Some(costs.of(RetryErrorType::Conflict));
        self.set.other_cost = Some(costs.of(RetryErrorType::Other));
        self
    }

    /// Sets the amounts that a success gives back to the quota; see
    /// [`StandardRetryStrategy::refunds`](crate::StandardRetryStrategy::refunds).
    #[must_use]
    pub const fn refunds(mut self, first_attempt: u32, after_retry: Refund) -> Self {
        self.set.first_refund = Some(first_attempt);
        self.set.retry_refund = Some(after_retry);
        self
    }

    /// Sets whether the mode [`Paced`](RetryMode::Paced) begins with a ramp; see
    /// [`PacedRetryStrategy::ramp`](crate::PacedRetryStrategy::ramp). The default is `true`.
    #[must_use]
    pub const fn paced_ramp(mut self, has_ramp: bool) -> Self {
        self.set.paced_ramp = Some(has_ramp);
        self
    }

    /// Sets the time after which an operation that is throttled gives up in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::max_throttled_time`](crate::PacedRetryStrategy::max_throttled_time). The default is 5 minutes.
    #[must_use]
    pub const fn paced_max_throttled_time(mut self, time: Duration) -> Self {
        self.set.paced_max_throttled_time = Some(time);
        self
    }

    /// Sets which failures are rejections in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::rejections`](crate::PacedRetryStrategy::rejections). The default is throttling.
    #[must_use]
    pub const fn paced_rejections(mut self, rejections: Rejections) -> Self {
        self.set.paced_rejections = Some(rejections);
        self
    }

    /// Sets a limit on sends per second in the mode [`Paced`](RetryMode::Paced); see
    /// [`PacedRetryStrategy::max_rate`](crate::PacedRetryStrategy::max_rate). There is none unless it is set.
    ///
    /// # Errors
    ///
    /// Returns an error if the rate is not a finite number of at least 0.001.
    pub fn try_paced_max_rate(mut self, rate: f64) -> Result<Self, ConfigError> {
        self.set.paced_max_rate = Some(send_rate("paced.max_rate", rate)?);
        Ok(self)
    }

    /// Sets the rate at which the ramp of the mode [`Paced`](RetryMode::Paced) begins, in sends per second; see
    /// [`PacedRetryStrategy::initial_rate`](crate::PacedRetryStrategy::initial_rate). The default is 100.
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
