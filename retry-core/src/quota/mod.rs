//! Quotas: the limit on the retries of all calls together, which protects a server that is in trouble.

mod balance;
mod bucket;
mod level;

pub use bucket::TokenBucket;

use crate::support::ConfigSection;
use crate::time::Clock;
use std::sync::Arc;

/// A budget that retries are paid from.
///
/// All operations on one resource share a quota. Each retry has a cost, and a retry that the quota can't pay for is not
/// made. First attempts cost nothing. During an outage the quota is soon empty, and the load falls back to first
/// attempts.
pub trait RetryQuota {
    /// Takes `cost` from the quota, and returns whether it was taken. If less than `cost` is available, it takes
    /// nothing.
    ///
    /// The clock is for quotas that depend on the time. Other quotas don't read it.
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool;

    /// Gives `amount` back to the quota. An amount that exceeds the capacity is lost.
    fn refund(&self, amount: u32);

    /// Returns the amount that is available.
    fn available(&self) -> u32;

    /// Notes that a retry of the named strategy was refused, because this quota could not pay `cost`.
    ///
    /// A strategy calls it directly after the refusal. [`TokenBucket`] warns by it that it ran dry. The default does
    /// nothing.
    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        let _ = (cost, strategy);
    }

    /// Returns the bucket whose capacity and refill a [`RetryConfig`](crate::RetryConfig) can set. The default is `None`,
    /// which means that the settings of this quota are those of the code.
    fn as_bucket(&self) -> Option<&TokenBucket> {
        None
    }

    /// Returns the hook for a section of its own in the file of a configuration. The default is `None`, which means no section.
    fn section(&self) -> Option<&dyn ConfigSection> {
        None
    }

    /// Returns the bucket if the quota owns it, to set what it begins with.
    #[doc(hidden)]
    fn as_own_bucket(&mut self) -> Option<&mut TokenBucket> {
        None
    }
}

/// Pointers to quotas forward to them.
macro_rules! forward_quota {
    ($($pointer:ty),+) => {$(
        impl<Q: RetryQuota + ?Sized> RetryQuota for $pointer {
            #[inline]
            fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
                (**self).try_acquire(cost, clock)
            }

            #[inline]
            fn refund(&self, amount: u32) {
                (**self).refund(amount);
            }

            #[inline]
            fn available(&self) -> u32 {
                (**self).available()
            }

            fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
                (**self).note_refusal(cost, strategy);
            }

            fn as_bucket(&self) -> Option<&TokenBucket> {
                (**self).as_bucket()
            }

            fn section(&self) -> Option<&dyn ConfigSection> {
                (**self).section()
            }
        }
    )+};
}

forward_quota!(&Q, Box<Q>, Arc<Q>);

/// The absence of a quota: every retry is granted, up to the maximum number of attempts.
///
/// It does not protect the server during an outage. Use it only if another mechanism limits the retries.
///
/// ```
/// use retry_core::quota::NoQuota;
/// use retry_core::{ExponentialBackoff, StandardRetryStrategy};
///
/// static STORE: StandardRetryStrategy<ExponentialBackoff, NoQuota> = StandardRetryStrategy::new().with_quota(NoQuota);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoQuota;

impl RetryQuota for NoQuota {
    #[inline]
    fn try_acquire(&self, _cost: u32, _clock: &dyn Clock) -> bool {
        true
    }

    #[inline]
    fn refund(&self, _amount: u32) {}

    fn available(&self) -> u32 {
        u32::MAX
    }
}
