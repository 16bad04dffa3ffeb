//! How much retrying: the quota that protects a struggling server.

use crate::support::sync::{AtomicU32, Mutex, Ordering, PoisonError};
use crate::support::{InvalidSetting, Shared};
use crate::time::{Clock, Latest, Observed, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// What retries are paid from. When it is empty, nobody retries.
///
/// One quota is shared by all operations on a resource. First attempts never touch it, so it takes nothing from a
/// healthy service; during an outage it is empty soon, and the load falls back to what first attempts make.
pub trait RetryQuota {
    /// Takes `cost` if there is that much, and nothing otherwise. Says whether it was taken.
    ///
    /// The clock is for quotas that depend on time; others don't read it.
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool;

    /// Gives back `amount`; what exceeds the capacity is lost.
    fn refund(&self, amount: u32);

    /// What is left.
    fn available(&self) -> u32;
}

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

/// A quota of whole tokens, full at the start.
///
/// Safe to share among threads: the balance is one atomic number, changed by compare-and-swap only, so it is never
/// below zero, never above the capacity, and no change is lost. The number stands for nothing but itself (no other
/// memory is published through it), so relaxed order suffices. A refund to a full bucket is one load and no write, which
/// leaves the cache line shared: that is the whole cost of a healthy service. The shortcut loses nothing: whoever paid
/// sees at least its own payment, so if it finds the bucket full, others have filled it since; and a first attempt's 1
/// that finds it full is as if it had come before the payment that it did not see.
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

/// What a bucket holds.
#[derive(Debug)]
struct Balance {
    available: AtomicU32,
    /// None before the first refill. It is locked only where there are refills, by calls that ask for a retry's cost.
    /// Nothing of the user's runs meanwhile, the clock included, so the lock is never poisoned.
    refilled: Mutex<Option<Refilled>>,
}

/// An amount and a period.
#[derive(Clone, Copy, Debug)]
struct Refill {
    amount: u32,
    every: Duration,
}

/// How far refills were made.
#[derive(Clone, Copy, Debug)]
struct Refilled {
    latest: Latest,
    /// The number of the period that the latest refill was made in.
    period: u128,
}

impl TokenBucket {
    /// A full bucket. With a capacity of 0 there are no retries, unless they cost nothing.
    pub const fn new(capacity: u32) -> Self {
        Self { capacity, refill: None, balance: Shared::new(Balance::full(capacity)) }
    }

    /// Refills the bucket over time, whatever becomes of calls: `amount` at the end of each period. Without it, only
    /// successes do.
    ///
    /// A refill becomes visible with the next retry that asks for its cost; nothing else reads the clock. Each period is
    /// refilled once, however late a thread hands its reading in.
    ///
    /// # Panics
    ///
    /// If the period is zero; in a `static` that is a compile error. For a period that comes in at run time, there is
    /// [`try_refill`](TokenBucket::try_refill).
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

    /// Refills the bucket over time, see [`refill`](TokenBucket::refill).
    ///
    /// # Errors
    ///
    /// If the period is zero.
    pub fn try_refill(self, amount: u32, every: Duration) -> Result<Self, InvalidSetting> {
        if every.is_zero() {
            return Err(InvalidSetting::new("refill period", "0s", "a duration longer than zero"));
        }
        Ok(self.refill(amount, every))
    }

    /// A full bucket of another capacity, refilled as this one is.
    pub(crate) const fn with_capacity(self, capacity: u32) -> Self {
        let mut bucket = Self::new(capacity);
        bucket.refill = self.refill;
        bucket
    }

    /// What is refilled, and how often; `None` if nothing is.
    pub const fn refill_setting(&self) -> Option<(u32, Duration)> {
        match self.refill {
            Some(Refill { amount, every }) => Some((amount, every)),
            None => None,
        }
    }

    /// What it holds at most.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The capacity, or the one that a test sets.
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
    /// The lock makes the observation of a reading and the move to its period one step, so each period is refilled once.
    #[cold]
    fn refill_until(&self, balance: &Balance, now: Timestamp) {
        let Some(Refill { amount, every }) = self.refill else { return };
        let period = |at: Timestamp| at.since_origin().as_nanos() / every.as_nanos();
        let mut refilled = balance.refilled.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = refilled.get_or_insert_with(|| Refilled { latest: Latest::new(now), period: period(now) });
        let Observed { now, went_back_to } = refilled.latest.observe(now);
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
        // The closure never declines.
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

/// No quota: every retry is granted, up to the maximum of attempts.
///
/// It protects nothing during an outage. It is for callers whose retries are bounded elsewhere.
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
            if balance.available.load(Ordering::Relaxed) < self.limit() {
                self.add(balance, amount);
            }
        });
    }

    fn available(&self) -> u32 {
        self.with_balance(|balance| balance.available.load(Ordering::Relaxed))
    }
}
