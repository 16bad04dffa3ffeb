//! The numbers of the standard strategy that have rules of their own: what retries cost, what successes give back, how
//! far a wait that the server asked for is honoured, and how many attempts there can be.

use crate::policy::RetryErrorType;
use crate::support::InvalidSetting;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// What a retry costs the quota, by the class of the failure before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryCosts {
    throttling: u32,
    timeout: u32,
    conflict: u32,
    other: u32,
}

impl RetryCosts {
    /// The same cost for every retry, except after a conflict, where it costs nothing.
    pub const fn new(cost: u32) -> Self {
        Self { throttling: cost, timeout: cost, conflict: 0, other: cost }
    }

    /// Sets the cost of a retry after a throttling.
    #[must_use]
    pub const fn throttling(mut self, cost: u32) -> Self {
        self.throttling = cost;
        self
    }

    /// Sets the cost of a retry after a timeout.
    #[must_use]
    pub const fn timeout(mut self, cost: u32) -> Self {
        self.timeout = cost;
        self
    }

    /// Sets the cost of a retry after a conflict.
    ///
    /// It is 0 unless set, because a conflict says nothing about the health of the server: the quota must not stop
    /// transactions that merely contend. Where a database reports overload as a conflict, give it the cost of others.
    #[must_use]
    pub const fn conflict(mut self, cost: u32) -> Self {
        self.conflict = cost;
        self
    }

    /// The cost of a retry after a failure of this class.
    pub const fn of(&self, error_type: RetryErrorType) -> u32 {
        match error_type {
            RetryErrorType::Throttling => self.throttling,
            RetryErrorType::Timeout => self.timeout,
            RetryErrorType::Conflict => self.conflict,
            _ => self.other,
        }
    }
}

/// What a success after a retry gives back to the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refund {
    /// This amount.
    Amount(u32),
    /// What the last retry cost.
    LastCost,
}

/// How far a wait that the server asked for is honoured. Whatever the limit, a wait is never shorter than the backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintLimit {
    /// Without limit.
    Unlimited,
    /// Up to the longest backoff that there can be.
    MaxBackoff,
    /// As long as it exceeds the backoff of this retry by no more than this.
    BeyondBackoff(Duration),
}

impl HintLimit {
    /// The wait before a retry, given its backoff and what the server asked for.
    #[inline]
    pub(super) fn wait(self, backoff: Duration, max_backoff: Duration, hint: Option<Duration>) -> Duration {
        let Some(hint) = hint else { return backoff };
        backoff.max(match self {
            Self::Unlimited => hint,
            Self::MaxBackoff => hint.min(max_backoff),
            Self::BeyondBackoff(excess) => hint.min(backoff.saturating_add(excess)),
        })
    }
}

/// A number of attempts that came in at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxAttempts(NonZeroU32);

impl MaxAttempts {
    pub(crate) fn new(max_attempts: u32) -> Result<Self, InvalidSetting> {
        NonZeroU32::new(max_attempts).map(Self).ok_or_else(|| Self::invalid(max_attempts))
    }

    pub(crate) const fn get(self) -> u32 {
        self.0.get()
    }

    fn invalid(value: impl fmt::Display) -> InvalidSetting {
        let allowed = "a whole number from 1 to 4294967295, since it counts the first attempt too";
        InvalidSetting::new("max_attempts", value, allowed)
    }
}

impl FromStr for MaxAttempts {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        text.trim().parse().map(Self).map_err(|_| Self::invalid(text))
    }
}
