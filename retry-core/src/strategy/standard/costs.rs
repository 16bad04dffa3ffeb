//! What retries cost the quota, and what successes give back.

use crate::policy::RetryErrorType;

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
