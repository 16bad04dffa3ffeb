//! A refill of a bucket over time.

use crate::support::InvalidSetting;
use crate::time::Timestamp;
use std::time::Duration;

/// A refill of a [`TokenBucket`](super::TokenBucket) over time: an amount at the end of each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refill {
    amount: u32,
    /// Never zero.
    every: Duration,
}

impl Refill {
    pub(super) const fn new(amount: u32, every: Duration) -> Self {
        assert!(!every.is_zero(), "invalid refill period: expected a duration longer than zero");
        Self { amount, every }
    }

    /// Creates a refill of `amount` at the end of each period `every`.
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_new(amount: u32, every: Duration) -> Result<Self, InvalidSetting> {
        if every.is_zero() {
            return Err(InvalidSetting::new("refill period", "0s", "a duration longer than zero"));
        }
        Ok(Self { amount, every })
    }

    /// Returns the amount.
    pub const fn amount(self) -> u32 {
        self.amount
    }

    /// Returns the period.
    pub const fn every(self) -> Duration {
        self.every
    }

    /// Returns the number of the period that contains a point in time. Periods are counted from the origin of the clock.
    pub(super) const fn period(self, at: Timestamp) -> u128 {
        at.since_origin().as_nanos() / self.every.as_nanos()
    }
}
