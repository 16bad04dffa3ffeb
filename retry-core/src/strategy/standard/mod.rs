//! The standard strategy: a maximum number of attempts, exponential backoff with jitter, and a retry quota.

mod costs;
mod hint_delay;
mod hint_jitter;
mod hint_limit;
mod parts;
mod settings;
mod token;

pub use costs::{Refund, RetryCosts};
pub(crate) use hint_delay::hinted_wait;
pub use hint_jitter::HintJitter;
pub use hint_limit::HintLimit;
pub use settings::StandardRetrySettings;
pub use token::StandardRetryToken;

use crate::backoff::{ExponentialBackoff, Jitter};
use crate::quota::TokenBucket;
use crate::strategy::Switch;
use crate::support::InvalidSetting;
use std::time::Duration;

/// A strategy with a maximum number of attempts, exponential backoff with jitter, and a retry quota.
///
/// AWS calls it the standard retry mode. If you need not behave like the AWS SDKs, use a
/// [`PatientRetryStrategy`](crate::PatientRetryStrategy) instead: its quota needs no number, and what the quota can't pay for waits
/// for the service instead of failing.
///
/// Create one static for each resource that can fail separately. All calls with this strategy share its quota. While
/// the resource is healthy, a call costs one relaxed load more than without retries. When the resource is in trouble,
/// the quota soon stops the retries that would make it worse.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::StandardRetryStrategy;
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new()
///     .max_attempts(4)
///     .backoff(Duration::from_secs(1), Duration::from_secs(5));
/// ```
///
/// | | [`new()`](StandardRetryStrategy::new) | [`aws_2_0()`](StandardRetryStrategy::aws_2_0) | [`aws_2_1()`](StandardRetryStrategy::aws_2_1) |
/// |---|---|---|---|
/// | [attempts](StandardRetryStrategy::max_attempts) in total, at most | 5 | 3 | 3 |
/// | [backoff](StandardRetryStrategy::backoff) before retry i = 0, 1, 2, ... | random in `[0, min(base * 2^i, 20 s))` | the same | the same |
/// | base after throttling | 1 s | 1 s | 1 s |
/// | base after a [conflict](crate::RetryInfo::is_conflict) | 20 ms | 20 ms | 20 ms |
/// | base after any other failure | 1 s | 1 s | 50 ms |
/// | [quota](StandardRetryStrategy::quota_capacity), full at the start | 500 | 500 | 500 |
/// | [cost](StandardRetryStrategy::retry_costs) of a retry after throttling / timeout / conflict / other | 5 / 10 / 0 / 5 | 5 / 10 / 0 / 5 | 5 / 14 / 0 / 14 |
/// | [refund](StandardRetryStrategy::refunds) for a success at the first attempt | 1 | 1 | 1 |
/// | refund for a success after a retry | 1 | the cost of the last retry | the cost of the last retry |
/// | [minimum delay](StandardRetryStrategy::hint_limit) if the server asks for a wait | that wait | that wait, at most 20 s | that wait, at most the backoff plus 5 s |
/// | that wait [replaces](StandardRetryStrategy::hint_replaces_backoff) a longer backoff | no | no | no |
/// | [jitter](StandardRetryStrategy::hint_jitter) above that wait | up to a tenth of it, at most 5 s | none | none |
/// | [longest wait](StandardRetryStrategy::max_retry_after) that the server can ask for; a longer one ends the operation | 5 min | no limit | no limit |
/// | [refill](StandardRetryStrategy::quota_refill) of the quota over time | none | none | none |
///
/// The numbers of `new()` come from the sample strategy in the Smithy guide. The numbers of `aws_2_0()` come from the
/// standard mode of the AWS SDKs before November 2026, and those of `aws_2_1()` from the standard mode since then.
/// Their base and cost for conflicts are an addition of this library.
///
/// The backoff can be any [`BackoffStrategy`](crate::BackoffStrategy) and the quota any
/// [`RetryQuota`](crate::RetryQuota); see [`with_backoff`](StandardRetryStrategy::with_backoff),
/// [`with_quota`](StandardRetryStrategy::with_quota) and [`from_parts`](StandardRetryStrategy::from_parts).
///
/// With the quota of the patient strategy, a retry that it can't pay for still ends its operation:
///
/// ```
/// use retry_core::quota::EvidenceQuota;
/// use retry_core::{ExponentialBackoff, StandardRetryStrategy};
///
/// static STORE: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
///     StandardRetryStrategy::new().with_quota(EvidenceQuota::new());
/// ```
#[derive(Debug)]
pub struct StandardRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    settings: StandardRetrySettings,
    backoff: B,
    quota: Q,
    name: Option<&'static str>,
    switch: Switch,
}

impl StandardRetryStrategy {
    /// Creates a strategy with the default numbers; see the [table](StandardRetryStrategy).
    pub const fn new() -> Self {
        let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));
        Self::from_parts(StandardRetrySettings::new(), backoff, TokenBucket::new(500))
    }

    /// Creates a strategy with the numbers of the AWS SDKs' standard mode before November 2026; see the
    /// [table](StandardRetryStrategy).
    pub const fn aws_2_0() -> Self {
        let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));
        Self::from_parts(StandardRetrySettings::aws_2_0(), backoff, TokenBucket::new(500))
    }

    /// Creates a strategy with the numbers of the AWS SDKs' standard mode since November 2026; see the
    /// [table](StandardRetryStrategy).
    pub const fn aws_2_1() -> Self {
        let backoff = ExponentialBackoff::new(Duration::from_millis(50), Duration::from_secs(20))
            .throttling_base(Duration::from_secs(1));
        Self::from_parts(StandardRetrySettings::aws_2_1(), backoff, TokenBucket::new(500))
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
    /// static STORE: StandardRetryStrategy<LinearBackoff, &TokenBucket> =
    ///     StandardRetryStrategy::from_parts(
    ///         StandardRetrySettings::aws_2_1().max_attempts(5),
    ///         LinearBackoff::new(Duration::from_secs(1), Duration::from_secs(10)),
    ///         &QUOTA,
    ///     );
    /// ```
    pub const fn from_parts(settings: StandardRetrySettings, backoff: B, quota: Q) -> Self {
        Self { settings, backoff, quota, name: None, switch: Switch::new() }
    }

    /// Sets the name of the strategy, which events show. By default, there is no name.
    ///
    /// ```
    /// use retry_core::StandardRetryStrategy;
    ///
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new().name("store");
    /// ```
    #[must_use]
    pub const fn name(mut self, name: &'static str) -> Self {
        self.set_name(name);
        self
    }

    /// Sets the name in a standard strategy that is part of another one. A `const fn` can't take a type with a destructor apart.
    pub(in crate::strategy) const fn set_name(&mut self, name: &'static str) {
        self.name = Some(name);
    }

    /// Returns the name, see [`name`](StandardRetryStrategy::name).
    pub const fn name_setting(&self) -> Option<&'static str> {
        self.name
    }

    /// Sets the maximum number of attempts of an operation, including the first one: 1 means no retries.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0; in a `static` this is a compile error. For a number that is known only at run time,
    /// use [`try_max_attempts`](StandardRetryStrategy::try_max_attempts).
    #[must_use]
    #[track_caller]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.set_max_attempts(max_attempts);
        self
    }

    /// Sets the maximum number of attempts in a standard strategy that is part of another one.
    #[track_caller]
    pub(in crate::strategy) const fn set_max_attempts(&mut self, max_attempts: u32) {
        self.settings = self.settings.max_attempts(max_attempts);
    }

    /// Sets the maximum number of attempts of an operation, including the first one.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_attempts(mut self, max_attempts: u32) -> Result<Self, InvalidSetting> {
        self.settings = self.settings.try_max_attempts(max_attempts)?;
        Ok(self)
    }

    /// Sets the costs of retries, which are taken from the quota.
    #[must_use]
    pub const fn retry_costs(mut self, costs: RetryCosts) -> Self {
        self.settings = self.settings.retry_costs(costs);
        self
    }

    /// Sets the amounts that a success gives back to the quota: at the first attempt, and after a retry.
    ///
    /// An operation within an attempt of another one gives back, too. If both share a quota, one request gives back twice. To avoid
    /// that, let the outer one use a separate strategy over the same quota ([`with_quota`](StandardRetryStrategy::with_quota)),
    /// with refunds of 0.
    #[must_use]
    pub const fn refunds(mut self, first_attempt: u32, after_retry: Refund) -> Self {
        self.settings = self.settings.refunds(first_attempt, after_retry);
        self
    }

    /// Sets the limit to which a wait that the server asks for is cut, before the
    /// [jitter](StandardRetryStrategy::hint_jitter) is added.
    ///
    /// To end the operation instead of cutting the wait, use
    /// [`max_retry_after`](StandardRetryStrategy::max_retry_after).
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: HintLimit) -> Self {
        self.settings = self.settings.hint_limit(hint_limit);
        self
    }

    /// Sets whether a wait that the server asks for replaces the backoff, also if it is shorter. By default it does not, and the delay is the
    /// longer one of both.
    ///
    /// Use it for a service that knows when it is ready. A short wait then makes the retry earlier than the backoff would, and a wait of zero
    /// makes it immediate. Only the quota and `max_attempts` then bound the retries.
    ///
    /// The wait is cut to the [limit](StandardRetryStrategy::hint_limit), as without this setting, and the
    /// [random part](StandardRetryStrategy::hint_jitter) is added. A wait above [`max_retry_after`](StandardRetryStrategy::max_retry_after)
    /// ends the operation. A failure without a wait has its backoff.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, StandardRetryStrategy};
    ///
    /// static QUEUE: StandardRetryStrategy = StandardRetryStrategy::new().hint_replaces_backoff(true);
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new().hint_replaces_backoff(true);
    /// ```
    #[must_use]
    pub const fn hint_replaces_backoff(mut self, replaces: bool) -> Self {
        self.settings = self.settings.hint_replaces_backoff(replaces);
        self
    }

    /// Sets the random part that is added to a wait that the server asks for, after it is cut to the
    /// [limit](StandardRetryStrategy::hint_limit). [`max_retry_after`](StandardRetryStrategy::max_retry_after) applies to
    /// the wait without it.
    #[must_use]
    pub const fn hint_jitter(mut self, hint_jitter: HintJitter) -> Self {
        self.settings = self.settings.hint_jitter(hint_jitter);
        self
    }

    /// Sets the longest wait that the server can ask for; `None` means no limit.
    ///
    /// If the server asks for a longer wait, the operation ends immediately with
    /// [`RetryError::RetryAfterTooLong`](crate::RetryError::RetryAfterTooLong).
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.settings = self.settings.max_retry_after(max_retry_after);
        self
    }

    /// Turns the retries of this strategy on or off, for example during an incident. They are on by default.
    ///
    /// While retries are off, a failure that would be retried ends its operation with
    /// [`RetryError::Disabled`](crate::RetryError::Disabled). Nothing is taken from the quota, and scheduled retries
    /// are still sent. To turn off the retries of the whole process, use
    /// [`set_retries_enabled`](crate::set_retries_enabled).
    pub fn set_enabled(&self, enabled: bool) {
        self.switch.set(enabled);
    }

    /// Sets whether the retries of this strategy are on at first, as [`set_enabled`](StandardRetryStrategy::set_enabled) does later.
    /// Under a test guard, they are also on or off at first.
    #[must_use]
    pub const fn enabled(mut self, enabled: bool) -> Self {
        self.switch = Switch::starting(enabled);
        self
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](StandardRetryStrategy::set_enabled).
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

    /// Replaces the quota by one that is made from it, such as one that wraps it. To replace it by another one, use
    /// [`with_quota`](StandardRetryStrategy::with_quota).
    pub fn map_quota<R>(self, map: impl FnOnce(Q) -> R) -> StandardRetryStrategy<B, R> {
        let Self { settings, backoff, quota, name, switch } = self;
        StandardRetryStrategy { settings, backoff, quota: map(quota), name, switch }
    }

    /// Returns the parts of the strategy, for [`from_parts`](StandardRetryStrategy::from_parts): the settings, the backoff and the quota, without
    /// the name and the switch.
    pub fn into_parts(self) -> (StandardRetrySettings, B, Q) {
        (self.settings, self.backoff, self.quota)
    }

    /// Returns the quota that retries are paid from.
    pub fn quota(&self) -> &Q {
        &self.quota
    }
}

impl<Q> StandardRetryStrategy<ExponentialBackoff, Q> {
    /// Sets the base and the cap of the backoff.
    ///
    /// The base is the longest backoff before the first retry. It doubles with each further retry, up to the cap. A base above the
    /// cap is treated as the cap.
    ///
    /// The base after a conflict keeps its value. So does the base after throttling if it was set by
    /// [`throttling_base`](StandardRetryStrategy::throttling_base) or [`aws_2_1`](StandardRetryStrategy::aws_2_1);
    /// otherwise it is this base, too. The cap applies to all of them.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.backoff = self.backoff.delays(base, cap);
        self
    }

    /// Sets the base of the backoff after throttling.
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.backoff = self.backoff.throttling_base(base);
        self
    }

    /// Sets the base of the backoff after a conflict. The default is 20 ms. A base above the ordinary one is cut to the
    /// ordinary one.
    #[must_use]
    pub const fn conflict_base(mut self, base: Duration) -> Self {
        self.backoff = self.backoff.conflict_base(base);
        self
    }

    /// Sets the jitter. The default is [`Jitter::Full`].
    ///
    /// # Panics
    ///
    /// Panics if a [fixed factor](Jitter::Fixed) is not from 0 to 1; in a `static` this is a compile error.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.backoff = self.backoff.jitter(jitter);
        self
    }

    /// Sets the jitter, like [`jitter`](StandardRetryStrategy::jitter).
    ///
    /// # Errors
    ///
    /// Returns an error if a [fixed factor](Jitter::Fixed) is not from 0 to 1.
    pub fn try_jitter(mut self, jitter: Jitter) -> Result<Self, InvalidSetting> {
        self.backoff = self.backoff.try_jitter(jitter)?;
        Ok(self)
    }

    /// Sets the seed of the jitter, so that the delays are the same in every run, on every platform. For tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.backoff = self.backoff.seed(seed);
        self
    }
}

impl<B> StandardRetryStrategy<B, TokenBucket> {
    /// Sets the capacity of the quota. The quota is full at the start.
    ///
    /// The capacity limits the number of operations that can wait for a retry at the same time. With the default
    /// numbers, a capacity of 500 pays for 100 operations that are throttled at the same moment. The next operation
    /// fails immediately. Note that a job that then continues with its next item, without a pause, fails for that item as
    /// well.
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.quota = self.quota.with_capacity(capacity);
        self
    }

    /// Sets a refill of the quota over time; see [`TokenBucket::refill`]. By default, only successes refill it.
    ///
    /// # Panics
    ///
    /// Panics if the period is zero; in a `static` this is a compile error.
    #[must_use]
    pub const fn quota_refill(mut self, amount: u32, every: Duration) -> Self {
        self.quota = self.quota.refill(amount, every);
        self
    }

    /// Sets a refill of the quota over time, like [`quota_refill`](StandardRetryStrategy::quota_refill).
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_quota_refill(mut self, amount: u32, every: Duration) -> Result<Self, InvalidSetting> {
        self.quota = self.quota.try_refill(amount, every)?;
        Ok(self)
    }
}
