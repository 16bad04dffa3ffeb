//! The numbers of the standard strategy that belong together: what retries cost, what successes give back, and how far
//! a wait that the server asked for is honoured.

use crate::policy::RetryErrorType;
use std::time::Duration;

/// What a retry costs the quota, by the class of the failure before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryCosts {
    throttling: u32,
    timeout: u32,
    other: u32,
}

impl RetryCosts {
    /// The same cost for every retry.
    pub const fn new(cost: u32) -> Self {
        Self { throttling: cost, timeout: cost, other: cost }
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

    /// The cost of a retry after a failure of this class.
    pub const fn of(&self, error_type: RetryErrorType) -> u32 {
        match error_type {
            RetryErrorType::Throttling => self.throttling,
            RetryErrorType::Timeout => self.timeout,
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
    /// Altogether.
    None,
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
            Self::None => hint,
            Self::MaxBackoff => hint.min(max_backoff),
            Self::BeyondBackoff(excess) => hint.min(backoff.saturating_add(excess)),
        })
    }
}
