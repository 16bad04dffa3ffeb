//! How much retrying: the quota that protects a struggling server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What retries are paid from. When it is empty, nobody retries.
///
/// One quota is shared by all operations on a resource. First attempts never touch it, so it takes nothing from a
/// healthy service; during an outage it is empty soon, and the load falls back to what first attempts make.
pub trait RetryQuota {
    /// Takes `cost` if there is that much, and nothing otherwise. Says whether it was taken.
    fn try_acquire(&self, cost: u32) -> bool;

    /// Gives back `amount`; what exceeds the capacity is lost.
    fn refund(&self, amount: u32);

    /// What is left.
    fn available(&self) -> u32;
}

macro_rules! forward {
    ($($pointer:ty),+) => {$(
        impl<Q: RetryQuota + ?Sized> RetryQuota for $pointer {
            #[inline]
            fn try_acquire(&self, cost: u32) -> bool {
                (**self).try_acquire(cost)
            }

            #[inline]
            fn refund(&self, amount: u32) {
                (**self).refund(amount);
            }

            #[inline]
            fn available(&self) -> u32 {
                (**self).available()
            }
        }
    )+};
}

forward!(&Q, Box<Q>, Arc<Q>);

/// A quota of whole tokens, full at the start.
///
/// Safe to share among threads: the balance is one atomic number, changed by compare-and-swap only, so it is never
/// below zero, never above the capacity, and no change is lost. The number stands for nothing but itself (no other
/// memory is published through it), so relaxed order suffices. A refund to a full bucket is one load and no write, which
/// leaves the cache line shared: that is the whole cost of a healthy service.
///
/// ```
/// use retry_core::{RetryQuota, TokenBucket};
///
/// let bucket = TokenBucket::new(12);
/// assert!(bucket.try_acquire(10));
/// assert!(!bucket.try_acquire(10), "2 are left");
/// bucket.refund(50);
/// assert_eq!(bucket.available(), 12);
/// ```
#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    available: AtomicU32,
}

impl TokenBucket {
    /// A full bucket. With a capacity of 0 there are no retries, unless they cost nothing.
    pub const fn new(capacity: u32) -> Self {
        Self { capacity, available: AtomicU32::new(capacity) }
    }

    /// What it holds at most.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    #[cold]
    fn refill(&self, amount: u32) {
        // The closure never declines.
        let _ = self.available.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |available| {
            Some(available.saturating_add(amount).min(self.capacity))
        });
    }
}

impl RetryQuota for TokenBucket {
    fn try_acquire(&self, cost: u32) -> bool {
        self.available
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |available| available.checked_sub(cost))
            .is_ok()
    }

    #[inline]
    fn refund(&self, amount: u32) {
        if self.available.load(Ordering::Relaxed) < self.capacity {
            self.refill(amount);
        }
    }

    fn available(&self) -> u32 {
        self.available.load(Ordering::Relaxed)
    }
}
