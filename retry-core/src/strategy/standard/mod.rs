//! The standard strategy: a maximum of attempts, jittered exponential backoff, and a retry quota.

mod costs;
mod hint_limit;
mod max_attempts;
mod settings;
mod token;

pub use costs::{Refund, RetryCosts};
pub use hint_limit::HintLimit;
pub use settings::StandardRetrySettings;
pub use token::StandardRetryToken;

pub(crate) use max_attempts::MaxAttempts;

use crate::backoff::{ExponentialBackoff, Jitter};
use crate::quota::TokenBucket;
use crate::strategy::Switch;
use crate::support::InvalidSetting;
use std::time::Duration;

/// Attempts, backoff and a retry quota: the retry mode that AWS calls standard, and the one to begin with.
///
/// Make one static for each resource that can be in trouble by itself. All calls that name it share its quota: as long
/// as the resource is well a call costs one relaxed load more than without retries, and when it is not, the quota soon
/// stops the retries that would keep it down.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::StandardRetryStrategy;
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new()
///     .max_attempts(4)
///     .backoff(Duration::from_millis(50), Duration::from_secs(5));
/// ```
///
/// | | [`new()`](StandardRetryStrategy::new) | [`aws_2_0()`](StandardRetryStrategy::aws_2_0) | [`aws_2_1()`](StandardRetryStrategy::aws_2_1) |
/// |---|---|---|---|
/// | [attempts](StandardRetryStrategy::max_attempts) in all | 5 | 3 | 3 |
/// | [backoff](StandardRetryStrategy::backoff) before retry i = 0, 1, .. | random in `[0, min(base * 2^i, 20 s))` | the same | the same |
/// | base, after throttling | 1 s | 1 s | 1 s |
/// | base, after a [conflict](crate::RetryInfo::is_conflict) | 20 ms | 20 ms | 20 ms |
/// | base, otherwise | 1 s | 1 s | 50 ms |
/// | [quota](StandardRetryStrategy::quota_capacity), full at the start | 500 | 500 | 500 |
/// | [cost](StandardRetryStrategy::retry_costs) of a retry after throttling / timeout / conflict / other | 5 / 10 / 0 / 5 | 5 / 10 / 0 / 5 | 5 / 14 / 0 / 14 |
/// | [refund](StandardRetryStrategy::refunds) for success at the first attempt | 1 | 1 | 1 |
/// | refund for success after a retry | 1 | what the last retry cost | what the last retry cost |
/// | [wait](StandardRetryStrategy::hint_limit) that the server asked for | a floor | a floor, cut to 20 s | a floor, cut to the backoff and 5 s |
/// | [refill](StandardRetryStrategy::quota_refill) of the quota over time | none | none | none |
/// | [longest](StandardRetryStrategy::max_retry_after) of those | 5 min, else the operation ends | none | none |
///
/// The numbers of `new()` are those of the sample strategy in the Smithy guide, those of `aws_2_0()` the standard mode
/// of the AWS SDKs before November 2026, and those of `aws_2_1()` the one since then.
///
/// Any [`BackoffStrategy`](crate::BackoffStrategy) and any [`RetryQuota`](crate::RetryQuota) can take the places of its
/// parts, see [`with_quota`](StandardRetryStrategy::with_quota), [`with_backoff`](StandardRetryStrategy::with_backoff) and
/// [`from_parts`](StandardRetryStrategy::from_parts).
#[derive(Debug)]
pub struct StandardRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    settings: StandardRetrySettings,
    backoff: B,
    quota: Q,
    name: Option<&'static str>,
    switch: Switch,
}

impl StandardRetryStrategy {
    /// Creates a strategy with the default numbers, see the table above.
    pub const fn new() -> Self {
        let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));
        Self::from_parts(StandardRetrySettings::new(), backoff, TokenBucket::new(500))
    }

    /// Creates a strategy with the numbers of the AWS SDKs' standard mode before November 2026, see the table above.
    pub const fn aws_2_0() -> Self {
        let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));
        Self::from_parts(StandardRetrySettings::aws_2_0(), backoff, TokenBucket::new(500))
    }

    /// Creates a strategy with the numbers of the AWS SDKs' standard mode since November 2026, see the table above.
    pub const fn aws_2_1() -> Self {
        let backoff = ExponentialBackoff::new(Duration::from_millis(50), Duration::from_secs(20))
            .throttling_base(Duration::from_secs(1));
        Self::from_parts(StandardRetrySettings::aws_2_1(), backoff, TokenBucket::new(500))
    }

    /// Exchanges the quota for one of your own, or one that strategies share.
    ///
    /// ```
    /// use retry_core::{ExponentialBackoff, StandardRetryStrategy, TokenBucket};
    ///
    /// static QUOTA: TokenBucket = TokenBucket::new(500);
    /// static READS: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> =
    ///     StandardRetryStrategy::aws_2_1().max_attempts(5).with_quota(&QUOTA);
    /// static WRITES: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> =
    ///     StandardRetryStrategy::aws_2_1().with_quota(&QUOTA);
    /// ```
    pub const fn with_quota<Q>(self, quota: Q) -> StandardRetryStrategy<ExponentialBackoff, Q> {
        let Self { settings, backoff, quota: _, name, switch } = self;
        StandardRetryStrategy { settings, backoff, quota, name, switch }
    }

    /// Exchanges the backoff for one of your own. For another quota besides, see
    /// [`from_parts`](StandardRetryStrategy::from_parts).
    ///
    /// ```
    /// # use std::time::Duration;
    /// use retry_core::backoff::LinearBackoff;
    /// use retry_core::StandardRetryStrategy;
    ///
    /// static STORE: StandardRetryStrategy<LinearBackoff> = StandardRetryStrategy::new()
    ///     .max_attempts(3)
    ///     .with_backoff(LinearBackoff::new(Duration::from_millis(100), Duration::from_secs(2)));
    /// ```
    pub const fn with_backoff<B>(self, backoff: B) -> StandardRetryStrategy<B> {
        let Self { settings, backoff: _, quota, name, switch } = self;
        StandardRetryStrategy { settings, backoff, quota, name, switch }
    }
}

impl Default for StandardRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> StandardRetryStrategy<B, Q> {
    /// Creates a strategy from settings, a backoff and a quota.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use retry_core::backoff::LinearBackoff;
    /// use retry_core::strategy::StandardRetrySettings;
    /// use retry_core::{StandardRetryStrategy, TokenBucket};
    ///
    /// static QUOTA: TokenBucket = TokenBucket::new(100);
    /// static STORE: StandardRetryStrategy<LinearBackoff, &TokenBucket> = StandardRetryStrategy::from_parts(
    ///     StandardRetrySettings::aws_2_1().max_attempts(5),
    ///     LinearBackoff::new(Duration::from_millis(100), Duration::from_secs(2)),
    ///     &QUOTA,
    /// );
    /// ```
    pub const fn from_parts(settings: StandardRetrySettings, backoff: B, quota: Q) -> Self {
        Self { settings, backoff, quota, name: None, switch: Switch::new() }
    }

    /// Sets the name of the strategy, which events carry. There is none unless it is set.
    ///
    /// ```
    /// use retry_core::StandardRetryStrategy;
    ///
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new().name("store");
    /// ```
    #[must_use]
    pub const fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Returns the name, see [`name`](StandardRetryStrategy::name).
    pub const fn name_setting(&self) -> Option<&'static str> {
        self.name
    }

    /// Sets how many attempts an operation makes at most, the first one included: 1 means no retries.
    ///
    /// # Panics
    ///
    /// If it is 0; in a `static` that is a compile error. For a number that comes in at run time, use
    /// [`try_max_attempts`](StandardRetryStrategy::try_max_attempts).
    #[must_use]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.settings = self.settings.max_attempts(max_attempts);
        self
    }

    /// Sets how many attempts an operation makes at most, the first one included.
    ///
    /// # Errors
    ///
    /// If it is 0.
    pub fn try_max_attempts(mut self, max_attempts: u32) -> Result<Self, InvalidSetting> {
        self.settings = self.settings.try_max_attempts(max_attempts)?;
        Ok(self)
    }

    /// Sets what a retry costs.
    #[must_use]
    pub const fn retry_costs(mut self, costs: RetryCosts) -> Self {
        self.settings = self.settings.retry_costs(costs);
        self
    }

    /// Sets what a success gives back to the quota: at the first attempt, and after a retry.
    #[must_use]
    pub const fn refunds(mut self, first_attempt: u32, after_retry: Refund) -> Self {
        self.settings = self.settings.refunds(first_attempt, after_retry);
        self
    }

    /// Sets how far a wait that the server asked for is honoured.
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: HintLimit) -> Self {
        self.settings = self.settings.hint_limit(hint_limit);
        self
    }

    /// Sets the longest wait that the server can ask for: an operation that is asked to wait longer ends at once, with
    /// [`RetryError::RetryAfterTooLong`](crate::RetryError::RetryAfterTooLong). `None` waits however long it is asked to.
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.settings = self.settings.max_retry_after(max_retry_after);
        self
    }

    /// Turns the retries of this strategy on or off while it runs, as in an incident. They are on at first.
    ///
    /// While they are off, a failure that would be retried ends its operation with
    /// [`RetryError::Disabled`](crate::RetryError::Disabled). The quota is left alone, and retries that already wait are still
    /// sent. For the whole process, see [`set_retries_enabled`](crate::set_retries_enabled).
    pub fn set_enabled(&self, enabled: bool) {
        self.switch.set(enabled);
    }

    /// Returns whether retries of this strategy are on, see [`set_enabled`](StandardRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Returns the settings.
    pub const fn settings(&self) -> StandardRetrySettings {
        self.settings
    }

    /// Returns the backoff.
    pub fn backoff_strategy(&self) -> &B {
        &self.backoff
    }

    /// Returns the quota that retries are paid from.
    pub fn quota(&self) -> &Q {
        &self.quota
    }
}

impl<Q> StandardRetryStrategy<ExponentialBackoff, Q> {
    /// Sets the longest delay before the first retry, which doubles with each further one, and its cap.
    ///
    /// A base of its own after throttling, set by [`throttling_base`](StandardRetryStrategy::throttling_base) or by
    /// [`aws_2_1`](StandardRetryStrategy::aws_2_1), is kept, and so is the one after a conflict. No delay exceeds the cap.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.backoff = self.backoff.with_delays(base, cap);
        self
    }

    /// Sets the longest delay before the first retry if that comes after throttling.
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.backoff = self.backoff.throttling_base(base);
        self
    }

    /// Sets the longest delay before the first retry if that comes after a conflict: 20 ms unless set, and never above
    /// the ordinary base.
    #[must_use]
    pub const fn conflict_base(mut self, base: Duration) -> Self {
        self.backoff = self.backoff.conflict_base(base);
        self
    }

    /// Sets how chance enters the delays: [`Jitter::Full`] unless you say otherwise.
    ///
    /// # Panics
    ///
    /// If a [fixed factor](Jitter::Fixed) is not from 0 to 1; in a `static` that is a compile error.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.backoff = self.backoff.jitter(jitter);
        self
    }

    /// Sets how chance enters the delays.
    ///
    /// # Errors
    ///
    /// If a [fixed factor](Jitter::Fixed) is not from 0 to 1.
    pub fn try_jitter(mut self, jitter: Jitter) -> Result<Self, InvalidSetting> {
        self.backoff = self.backoff.try_jitter(jitter)?;
        Ok(self)
    }

    /// Makes the random delays the same in every run, for tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.backoff = self.backoff.seed(seed);
        self
    }
}

impl<B> StandardRetryStrategy<B, TokenBucket> {
    /// Sets what the quota holds when it is full, as it is at the start.
    ///
    /// It bounds how many operations can wait for a retry at one time: 500 pay for 100 that were throttled at the same
    /// moment. The 101st fails, and a job that goes on with the next item at once will fail that one too, because a
    /// refusal comes without a wait.
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.quota = self.quota.with_capacity(capacity);
        self
    }

    /// Refills the quota over time, see [`TokenBucket::refill`]: by default only successes do.
    ///
    /// # Panics
    ///
    /// If the period is zero; in a `static` that is a compile error.
    #[must_use]
    pub const fn quota_refill(mut self, amount: u32, every: Duration) -> Self {
        self.quota = self.quota.refill(amount, every);
        self
    }

    /// Refills the quota over time, see [`TokenBucket::refill`].
    ///
    /// # Errors
    ///
    /// If the period is zero.
    pub fn try_quota_refill(mut self, amount: u32, every: Duration) -> Result<Self, InvalidSetting> {
        self.quota = self.quota.try_refill(amount, every)?;
        Ok(self)
    }
}
