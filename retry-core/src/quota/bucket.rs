//! The bucket of tokens.

use super::balance::Balance;
use super::{Refill, RetryQuota};
use crate::support::{InvalidSetting, Shared};
use crate::time::{Clock, Timestamp};
use std::time::Duration;

/// A quota of whole tokens that is full at the start.
///
/// A bucket can be shared among threads. Its balance is one atomic number that is only changed by compare-and-swap, so
/// it is never below zero or above the capacity, and no change is lost. A refund to a full bucket is one relaxed load
/// and no write. This is the whole cost of a call to a healthy service.
///
/// With the feature `tracing`, a bucket that refuses a retry warns once, and once more when it has recovered: its
/// balance is back at half of the capacity, and can pay what it refused. After that, it can warn again.
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
    /// The initial capacity and refill, also used for a test's copy.
    capacity: u32,
    refill: Option<Refill>,
    balance: Shared<Balance>,
}

impl TokenBucket {
    /// Creates a full bucket. A bucket with a capacity of 0 only pays for retries that cost nothing.
    pub const fn new(capacity: u32) -> Self {
        Self::with(capacity, None)
    }

    const fn with(capacity: u32, refill: Option<Refill>) -> Self {
        Self { capacity, refill, balance: Shared::new(Balance::full(capacity, refill)) }
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
    /// static STORE: StandardRetryStrategy =
    ///     StandardRetryStrategy::new().quota_refill(10, Duration::from_secs(1));
    /// ```
    #[must_use]
    pub const fn refill(self, amount: u32, every: Duration) -> Self {
        Self::with(self.capacity, Some(Refill::new(amount, every)))
    }

    /// Sets a refill over time, like [`refill`](TokenBucket::refill).
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_refill(self, amount: u32, every: Duration) -> Result<Self, InvalidSetting> {
        Ok(Self::with(self.capacity, Some(Refill::try_new(amount, every)?)))
    }

    /// Returns a full bucket with another capacity and the same refill.
    pub(crate) const fn with_capacity(self, capacity: u32) -> Self {
        Self::with(capacity, self.refill)
    }

    /// Returns the capacity and the refill that the bucket was created with, whatever [`reconfigure`](TokenBucket::reconfigure)
    /// changed since.
    pub const fn initial_settings(&self) -> (u32, Option<Refill>) {
        (self.capacity, self.refill)
    }

    /// Returns the amount and the period of the refill, or `None` if there is none.
    pub fn refill_setting(&self) -> Option<(u32, Duration)> {
        self.with_balance(|balance| balance.refill().map(|refill| (refill.amount(), refill.every())))
    }

    /// Returns the capacity.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.with_balance(|balance| balance.level().capacity())
    }

    /// Changes the capacity and the refill while the bucket is in use.
    ///
    /// The balance keeps its proportion to the capacity, rounded down, in one step with the change. So a payment or a
    /// refund of another thread is made either before the change, in proportion, or after it, in full. A capacity that a
    /// test guard sets is kept.
    ///
    /// `now` is the current time of the [clock of operations](crate::parts::StrategyClock). A period of the refill is settled by the settings
    /// at its end; without a time, no period is settled. `costs_change` says whether the costs of retries change as well, so that a
    /// warning about a retry that the bucket could not pay for is outdated.
    ///
    /// Call [`note_change`](TokenBucket::note_change) afterwards, without a lock of your own.
    ///
    /// ```
    /// use retry_core::quota::Refill;
    /// use retry_core::{InvalidSetting, RetryQuota, TokenBucket, TokioTimer};
    /// use std::time::Duration;
    ///
    /// let bucket = TokenBucket::new(100);
    /// bucket.try_acquire(50, &TokioTimer);
    /// let refill = Refill::try_new(10, Duration::from_secs(1))?;
    /// bucket.reconfigure(20, Some(refill), None, false);
    /// bucket.note_change();
    /// assert_eq!((bucket.available(), bucket.capacity()), (10, 20));
    /// # Ok::<(), InvalidSetting>(())
    /// ```
    pub fn reconfigure(&self, capacity: u32, refill: Option<Refill>, now: Option<Timestamp>, costs_change: bool) {
        self.with_balance(|balance| balance.reconfigure(Self::limit(capacity), refill, now, costs_change));
    }

    /// Warns that the bucket has recovered, if a [change](TokenBucket::reconfigure) of its settings had this effect. This can call a
    /// subscriber of `tracing`.
    pub fn note_change(&self) {
        self.with_balance(Balance::note_change);
    }

    /// Returns the capacity in effect: the one that a test guard sets, or otherwise this one.
    #[inline]
    fn limit(capacity: u32) -> u32 {
        #[cfg(feature = "test")]
        if let Some(capacity) = crate::support::session::quota() {
            return capacity;
        }
        capacity
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_balance<R>(&self, using: impl FnOnce(&Balance) -> R) -> R {
        self.balance.with(|| Balance::full(Self::limit(self.capacity), self.refill), using)
    }
}

impl RetryQuota for TokenBucket {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        match self.balance.without_guard() {
            Some(balance) => balance.pay(cost, || clock.now()),
            None => self.with_balance(|balance| balance.pay(cost, || clock.now())),
        }
    }

    #[inline]
    fn refund(&self, amount: u32) {
        self.with_balance(|balance| balance.refund(amount));
    }

    #[inline]
    fn available(&self) -> u32 {
        self.with_balance(|balance| balance.level().available())
    }

    #[inline]
    fn full_level(&self) -> Option<u32> {
        Some(self.capacity())
    }

    fn is_low(&self) -> bool {
        self.with_balance(|balance| balance.level().is_low())
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.with_balance(Balance::is_full)
    }

    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        self.with_balance(|balance| balance.note_refusal(cost, strategy));
    }

    #[inline]
    fn as_bucket(&self) -> Option<&TokenBucket> {
        Some(self)
    }

    fn as_own_bucket(&mut self) -> Option<&mut TokenBucket> {
        Some(self)
    }
}
