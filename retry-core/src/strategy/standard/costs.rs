//! The types of costs and refunds. The numbers of the presets are in `settings.rs`; a quota by evidence has its own, in `quota/evidence`.

use crate::policy::RetryErrorType;
use std::fmt;

/// The cost of a retry, which is taken from the quota. It depends on the class of the failure before the retry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RetryCosts {
    /// In the order of [`index`]. An array, so that the cost is found without a branch.
    by_class: [u32; 4],
}

impl RetryCosts {
    /// Creates costs that are the same for all classes except conflicts, which cost nothing.
    pub const fn new(cost: u32) -> Self {
        Self { by_class: [cost, cost, 0, cost] }
    }

    /// Sets the cost of a retry after throttling.
    #[must_use]
    pub const fn throttling(mut self, cost: u32) -> Self {
        self.by_class[index(RetryErrorType::Throttling)] = cost;
        self
    }

    /// Sets the cost of a retry after a timeout.
    #[must_use]
    pub const fn timeout(mut self, cost: u32) -> Self {
        self.by_class[index(RetryErrorType::Timeout)] = cost;
        self
    }

    /// Sets the cost of a retry after a conflict.
    ///
    /// The default is 0, because a conflict is not a sign of trouble at the server, and the quota should not stop
    /// transactions that only contend with each other. For a database that reports overload as a conflict, set the same
    /// cost as for other failures.
    #[must_use]
    pub const fn conflict(mut self, cost: u32) -> Self {
        self.by_class[index(RetryErrorType::Conflict)] = cost;
        self
    }

    /// Returns the cost of a retry after a failure of this class.
    pub const fn of(&self, error_type: RetryErrorType) -> u32 {
        self.by_class[index(error_type)]
    }
}

impl fmt::Debug for RetryCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [throttling, timeout, conflict, other] = &self.by_class;
        f.debug_struct("RetryCosts")
            .field("throttling", throttling)
            .field("timeout", timeout)
            .field("conflict", conflict)
            .field("other", other)
            .finish()
    }
}

/// The place of the cost of all other classes.
const OTHER: usize = RetryErrorType::Conflict as usize + 1;

/// Returns the place of the cost of this class.
#[inline]
const fn index(error_type: RetryErrorType) -> usize {
    // The classes without a place of their own come after the others.
    let place = error_type as usize;
    if place < OTHER { place } else { OTHER }
}

/// The amount that a success after a retry gives back to the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refund {
    /// A fixed amount.
    Amount(u32),
    /// The cost of the last retry.
    LastCost,
}
