//! Quotas: the limit on the retries of all calls together, which protects a server that is in trouble.

use crate::support::sync::{AtomicU32, Mutex, Ordering, PoisonError};
use crate::support::{InvalidSetting, Shared};
use crate::time::{Clock, Latest, Observed, Timestamp};
use std::sync::Arc;
use std::time::Duration;

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
        }
    )+};
}

forward_quota!(&Q, Box<Q>, Arc<Q>);

/// A quota of whole tokens that is full at the start.
///
/// A bucket can be shared among threads. Its balance is one atomic number that is only changed by compare-and-swap, so
/// it is never below zero or above the capacity, and no change is lost. A refund to a full bucket is one relaxed load
/// and no write. This is the whole cost of a call to a healthy service.
///
/// ```
/// use retry_core::{RetryQuota, TokenBucket, TokioTimer};
///
/// let bucket = TokenBucket::new(12);
/// assert!(bucket.try_acquire(10, &TokioTimer));
/// assert!(!bucket.try_acquire(10, &TokioTimer), "2 are left");
/// bucket.refund(50);
/// assert_eq!(bucket.available(), 12);
/// ```
#[derive(Debug)]
pub struct TokenBucket {
    capacity: u32,
    refill: Option<Refill>,
    balance: Shared<Balance>,
}

/// The changing state of a bucket.
#[derive(Debug)]
struct Balance {
    /// The number publishes no other data, so relaxed ordering suffices.
    available: AtomicU32,
    /// `None` before the first retry. Only buckets with a refill use the lock, when a retry asks for its cost. No user
    /// code runs while it is locked, not even the clock, so it is never poisoned.
    refilled: Mutex<Option<Refilled>>,
}

/// An amount and a period.
#[derive(Clone, Copy, Debug)]
struct Refill {
    amount: u32,
    every: Duration,
}

/// The progress of the refills.
#[derive(Clone, Copy, Debug)]
struct Refilled {
    latest: Latest,
    /// The number of the latest period whose refills were made. Periods are counted from the origin of the clock.
    period: u128,
}

impl TokenBucket {
    /// Creates a full bucket. A bucket with a capacity of 0 only pays for retries that cost nothing.
    pub const fn new(capacity: u32) -> Self {
        Self { capacity, refill: None, balance: Shared::new(Balance::full(capacity)) }
    }

    /// Sets a refill over time: `amount` at the end of each period `every`. By default, only refunds fill the bucket.
    ///
    /// Periods are counted from the origin of the clock, so the first one can be shorter. The bucket reads the clock
    /// only when a retry asks for its cost, and makes all due refills then. Until that time,
    /// [`available`](RetryQuota::available) does not include them. Each period is refilled once, even if threads
    /// deliver their readings of the clock late.
    ///
    /// # Panics
    ///
    /// Panics if the period is zero; in a `static` this is a compile error. For a period that is known only at run
    /// time, use [`try_refill`](TokenBucket::try_refill).
    ///
    /// ```
    /// # use std::time::Duration;
    /// use retry_core::StandardRetryStrategy;
    ///
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new().quota_refill(10, Duration::from_secs(1));
    /// ```
    #[must_use]
    pub const fn refill(mut self, amount: u32, every: Duration) -> Self {
        assert!(!every.is_zero(), "invalid refill period: expected a duration longer than zero");
        self.refill = Some(Refill { amount, every });
        self
    }

    /// Sets a refill over time, like [`refill`](TokenBucket::refill).
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_refill(self, amount: u32, every: Duration) -> Result<Self, InvalidSetting> {
        if every.is_zero() {
            return Err(InvalidSetting::new("refill period", "0s", "a duration longer than zero"));
        }
        Ok(self.refill(amount, every))
    }

    /// Returns a full bucket with another capacity and the same refill.
    pub(crate) const fn with_capacity(self, capacity: u32) -> Self {
        let mut bucket = Self::new(capacity);
        bucket.refill = self.refill;
        bucket
    }

    /// Returns the amount and the period of the refill, or `None` if there is none.
    pub const fn refill_setting(&self) -> Option<(u32, Duration)> {
        match self.refill {
            Some(Refill { amount, every }) => Some((amount, every)),
            None => None,
        }
    }

    /// Returns the capacity.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the capacity in effect: the one that a test guard sets, or else the bucket's own.
    #[inline]
    fn limit(&self) -> u32 {
        #[cfg(feature = "test")]
        if let Some(capacity) = crate::support::session::quota() {
            return capacity;
        }
        self.capacity
    }

    #[inline]
    fn with_balance<R>(&self, using: impl FnOnce(&Balance) -> R) -> R {
        self.balance.with(|| Balance::full(self.limit()), using)
    }

    /// Makes the refills of all periods that have ended.
    ///
    /// Under the lock, a thread evaluates its reading of the clock and moves on to its period in one step. So each
    /// period is refilled once.
    #[cold]
    fn refill_until(&self, balance: &Balance, now: Timestamp) {
        let Some(Refill { amount, every }) = self.refill else { return };
        let period = |at: Timestamp| at.since_origin().as_nanos() / every.as_nanos();
        let mut refilled = balance.refilled.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = refilled.get_or_insert_with(|| Refilled { latest: Latest::new(now), period: period(now) });
        let Observed { now, went_back_to } = refilled.latest.observe(now);
        // After the clock was set back, refills go on from there. Otherwise they would stop until it has caught up.
        if let Some(anchor) = went_back_to {
            refilled.period = refilled.period.min(period(anchor));
        }
        let periods = period(now).saturating_sub(refilled.period);
        if periods > 0 {
            refilled.period = period(now);
            self.add(balance, amount.saturating_mul(u32::try_from(periods).unwrap_or(u32::MAX)));
        }
    }

    #[cold]
    fn add(&self, balance: &Balance, amount: u32) {
        let capacity = self.limit();
        // The closure never returns `None`, so the update can't fail.
        let _ = balance.available.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |available| {
            Some(available.saturating_add(amount).min(capacity))
        });
    }
}

impl Balance {
    const fn full(capacity: u32) -> Self {
        Self { available: AtomicU32::new(capacity), refilled: Mutex::new(None) }
    }
}

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

impl RetryQuota for TokenBucket {
    #[inline]
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        self.with_balance(|balance| {
            if self.refill.is_some() {
                self.refill_until(balance, clock.now());
            }
            let pay = |available: u32| available.checked_sub(cost);
            balance.available.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).is_ok()
        })
    }

    #[inline]
    fn refund(&self, amount: u32) {
        self.with_balance(|balance| {
            // A full bucket is not written to, so its cache line stays shared among the cores. No refund is lost. An
            // operation that paid for a retry reads its own payment or a later balance, so if the bucket is full,
            // others have filled it since. An operation that did not pay may read the balance from before a payment
            // that another one made in the meantime. Its refund then counts as made before that payment, to a full
            // bucket.
            if balance.available.load(Ordering::Relaxed) < self.limit() {
                self.add(balance, amount);
            }
        });
    }

    fn available(&self) -> u32 {
        self.with_balance(|balance| balance.available.load(Ordering::Relaxed))
    }
}
