//! The settings of the standard strategy, except those of its backoff and its quota.

use super::{HintJitter, HintLimit, Refund, RetryCosts};
use crate::support::{InvalidSetting, assert_attempts};
use std::time::Duration;

/// The settings of a [`StandardRetryStrategy`](crate::StandardRetryStrategy), except those of its backoff and its
/// quota.
///
/// Create a strategy from settings with [`from_parts`](crate::StandardRetryStrategy::from_parts), and read its settings
/// with [`settings`](crate::StandardRetryStrategy::settings).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StandardRetrySettings {
    /// The maximum number of attempts of an operation, including the first one. 0 is treated as 1.
    pub max_attempts: u32,
    /// The costs of retries, which are taken from the quota.
    pub costs: RetryCosts,
    /// The amount that a success at the first attempt gives back to the quota.
    pub first_refund: u32,
    /// The amount that a success after a retry gives back to the quota.
    pub retry_refund: Refund,
    /// The limit to which a wait that the server asks for is cut, before the jitter is added.
    pub hint_limit: HintLimit,
    /// Whether a wait that the server asks for replaces the backoff, also if it is shorter.
    pub hint_replaces_backoff: bool,
    /// The random part that is added to a wait that the server asks for.
    pub hint_jitter: HintJitter,
    /// The longest wait that the server can ask for; `None` means no limit. A longer one ends the operation.
    pub max_retry_after: Option<Duration>,
}

impl StandardRetrySettings {
    /// Returns the settings of [`StandardRetryStrategy::new`](crate::StandardRetryStrategy::new).
    pub const fn new() -> Self {
        Self {
            max_attempts: 5,
            costs: RetryCosts::new(5).timeout(10),
            first_refund: 1,
            retry_refund: Refund::Amount(1),
            hint_limit: HintLimit::Unlimited,
            hint_replaces_backoff: false,
            hint_jitter: HintJitter::new(10, Duration::from_secs(5)),
            max_retry_after: Some(Duration::from_secs(5 * 60)),
        }
    }

    /// Returns the settings of [`StandardRetryStrategy::aws_2_0`](crate::StandardRetryStrategy::aws_2_0).
    pub const fn aws_2_0() -> Self {
        Self {
            max_attempts: 3,
            costs: RetryCosts::new(5).timeout(10),
            first_refund: 1,
            retry_refund: Refund::LastCost,
            hint_limit: HintLimit::MaxBackoff,
            hint_replaces_backoff: false,
            hint_jitter: HintJitter::NONE,
            max_retry_after: None,
        }
    }

    /// Returns the settings of [`StandardRetryStrategy::aws_2_1`](crate::StandardRetryStrategy::aws_2_1).
    pub const fn aws_2_1() -> Self {
        Self::aws_2_0()
            .retry_costs(RetryCosts::new(14).throttling(5))
            .hint_limit(HintLimit::BeyondBackoff(Duration::from_secs(5)))
    }

    /// Sets the maximum number of attempts of an operation, including the first one.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0; in a `static` this is a compile error. For a number that is known only at run time,
    /// use [`try_max_attempts`](StandardRetrySettings::try_max_attempts).
    #[must_use]
    #[track_caller]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        assert_attempts(max_attempts);
        self.max_attempts = max_attempts;
        self
    }

    /// Sets the maximum number of attempts of an operation, including the first one.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_attempts(self, max_attempts: u32) -> Result<Self, InvalidSetting> {
        if max_attempts == 0 {
            return Err(InvalidSetting::of_no_attempts());
        }
        Ok(self.max_attempts(max_attempts))
    }

    /// Sets the costs of retries, which are taken from the quota.
    #[must_use]
    pub const fn retry_costs(mut self, costs: RetryCosts) -> Self {
        self.costs = costs;
        self
    }

    /// Sets the amounts that a success gives back to the quota: at the first attempt, and after a retry.
    #[must_use]
    pub const fn refunds(mut self, first_attempt: u32, after_retry: Refund) -> Self {
        self.first_refund = first_attempt;
        self.retry_refund = after_retry;
        self
    }

    /// Sets the limit to which a wait that the server asks for is cut, before the jitter is added.
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: HintLimit) -> Self {
        self.hint_limit = hint_limit;
        self
    }

    /// Sets whether a wait that the server asks for replaces the backoff; see
    /// [`StandardRetryStrategy::hint_replaces_backoff`](crate::StandardRetryStrategy::hint_replaces_backoff).
    #[must_use]
    pub const fn hint_replaces_backoff(mut self, replaces: bool) -> Self {
        self.hint_replaces_backoff = replaces;
        self
    }

    /// Sets the random part that is added to a wait that the server asks for.
    #[must_use]
    pub const fn hint_jitter(mut self, hint_jitter: HintJitter) -> Self {
        self.hint_jitter = hint_jitter;
        self
    }

    /// Sets the longest wait that the server can ask for; `None` means no limit. A longer one ends the operation.
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.max_retry_after = max_retry_after;
        self
    }
}

impl Default for StandardRetrySettings {
    fn default() -> Self {
        Self::new()
    }
}
