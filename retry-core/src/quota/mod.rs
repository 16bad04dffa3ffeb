//! Quotas: the limit on the retries of all calls together, which protects an overloaded server.
//!
//! ```
//! use retry_core::{PatientRetryStrategy, RetryQuota, StandardRetryStrategy};
//!
//! // A quota that learns whether retries help, and needs no number.
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//! // A quota of a fixed size: up to 40 retries at a cost of 5, until successes refill it.
//! static SEARCH: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(200);
//!
//! assert_eq!(SEARCH.quota().available(), 200);
//! ```

mod balance;
mod bucket;
mod evidence;
mod level;
mod mode;
mod refill;
mod section;

pub use bucket::TokenBucket;
pub use evidence::{EvidenceQuota, QuotaKnowledge};
pub use mode::QuotaMode;
pub use refill::Refill;
pub use section::ConfigSection;

use crate::policy::RetryErrorType;
use crate::time::Clock;
use std::sync::Arc;

/// A budget that retries are paid from.
///
/// All operations on one resource share a quota. Each retry has a cost, and a retry that the quota can't pay for is not
/// made. First attempts cost nothing. During an outage the quota is soon empty, and the load falls back to first
/// attempts.
///
/// # Your own quota
///
/// The methods without a default are enough for a quota that counts amounts: [`try_acquire`](RetryQuota::try_acquire),
/// [`refund`](RetryQuota::refund) and [`available`](RetryQuota::available). A strategy calls four others, which report
/// what happened and by default call these: [`pay`](RetryQuota::pay) after a failure,
/// [`give_back`](RetryQuota::give_back) for a retry that was not sent, [`first_succeeded`](RetryQuota::first_succeeded)
/// and [`retry_succeeded`](RetryQuota::retry_succeeded). Implement them for a quota that learns from what happened,
/// such as whether retries help:
///
/// ```
/// use retry_core::time::StdTimer;
/// use retry_core::{Clock, RetryErrorType, RetryQuota, StandardRetryStrategy, TokenBucket};
///
/// /// Twice the cost for the retry of a timeout, whatever the settings say.
/// struct DearTimeouts(TokenBucket);
///
/// impl RetryQuota for DearTimeouts {
///     fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
///         let price = if error_type == RetryErrorType::Timeout { 2 * cost } else { cost };
///         self.try_acquire(price, clock).then_some(price)
///     }
///     fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
///         self.0.try_acquire(cost, clock)
///     }
///     fn refund(&self, amount: u32) {
///         self.0.refund(amount);
///     }
///     fn available(&self) -> u32 {
///         self.0.available()
///     }
/// }
///
/// let quota = DearTimeouts(TokenBucket::new(100));
/// let paid = quota.pay(10, RetryErrorType::Timeout, &StdTimer);
/// assert_eq!(paid, Some(20));
/// quota.give_back(20);
/// assert_eq!(quota.available(), 100);
/// let strategy = StandardRetryStrategy::new().with_quota(quota);
/// ```
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

    /// Pays for a retry after a failure of this class. Returns what was taken, which the token of the retry keeps, or
    /// `None` if the retry must not be made. Then nothing was taken.
    ///
    /// `cost` is the cost in the settings of the strategy for this class. The default takes it with
    /// [`try_acquire`](RetryQuota::try_acquire).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
        let _ = error_type;
        self.try_acquire(cost, clock).then_some(cost)
    }

    /// Gives back the payment for a retry that was not sent. The quota must learn nothing from it. The default calls
    /// [`refund`](RetryQuota::refund).
    #[inline]
    fn give_back(&self, paid: u32) {
        self.refund(paid);
    }

    /// Records that an operation succeeded at its first attempt. `refund` is the refund in the settings of the strategy.
    /// The default calls [`refund`](RetryQuota::refund).
    #[inline]
    fn first_succeeded(&self, refund: u32) {
        self.refund(refund);
    }

    /// Records that a retry succeeded. `paid` is the amount that was paid for it: 0 if the quota was not asked, as for an
    /// attempt that a limiter repeats [without a cost](crate::limit::Unpaid). `refund` is the refund in the settings of
    /// the strategy. The default calls [`refund`](RetryQuota::refund).
    #[inline]
    fn retry_succeeded(&self, paid: u32, refund: u32) {
        let _ = paid;
        self.refund(refund);
    }

    /// Returns whether the quota is low, so that what is left should be kept for retries. The default is `false`.
    ///
    /// A [`TokenBucket`] is low while less than half of its capacity is available.
    fn is_low(&self) -> bool {
        false
    }

    /// Pays for a [hedge](crate#features), a second attempt beside one that has not failed. Returns what was taken, or `None` if
    /// there must be no hedge. Then nothing was taken.
    ///
    /// `cost` is the cost of an ordinary retry in the settings of the strategy. The default takes it with
    /// [`try_acquire`](RetryQuota::try_acquire), unless the quota [is low](RetryQuota::is_low).
    ///
    /// If the hedge succeeds before the first attempt, [`retry_succeeded`](RetryQuota::retry_succeeded) gets what this returned, and
    /// if it was not sent, [`give_back`](RetryQuota::give_back) does. A quota that must tell hedges from retries returns an amount
    /// that retries do not have.
    fn pay_hedge(&self, cost: u32, clock: &dyn Clock) -> Option<u32> {
        (!self.is_low() && self.try_acquire(cost, clock)).then_some(cost)
    }

    /// Returns whether a success at the first attempt would change nothing now. Then a strategy need not record it. The
    /// default is `false`.
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Returns the level of the quota for events and metrics; `None` means no level. The default is the amount that is
    /// [`available`](RetryQuota::available).
    fn level(&self) -> Option<u32> {
        Some(self.available())
    }

    /// Returns the level of the full quota, which is its capacity at present, for events and metrics. The default is `None`, which
    /// means that it is not known.
    fn full_level(&self) -> Option<u32> {
        None
    }

    /// Returns the state of the quota at present, for events and metrics. The default is `None`, which means that only
    /// the [`level`](RetryQuota::level) is known.
    fn mode(&self) -> Option<QuotaMode> {
        None
    }

    /// Records that a retry of the named strategy was refused, because this quota could not pay `cost`.
    ///
    /// A strategy calls it directly after the refusal, with the cost in its settings. A [`TokenBucket`] then warns that it ran
    /// dry. The default does nothing. A [`PatientRetryStrategy`](crate::PatientRetryStrategy) warns itself, and calls it only if no
    /// operation may wait.
    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        let _ = (cost, strategy);
    }

    /// Returns the bucket whose capacity and refill a configuration can set, such as one of the crate `retry-config`. The default is
    /// `None`, which means that the settings of this quota are those of the code.
    fn as_bucket(&self) -> Option<&TokenBucket> {
        None
    }

    /// Returns the hook for the quota's own section in the file of a configuration. The default is `None`, which means no
    /// section.
    fn section(&self) -> Option<&dyn ConfigSection> {
        None
    }

    /// Returns the same bucket as [`as_bucket`](RetryQuota::as_bucket) if the quota owns it, so that a configuration can set its initial
    /// values and replace it. The default is `None`: a bucket behind a pointer may be shared, and is changed while it is in use.
    fn as_own_bucket(&mut self) -> Option<&mut TokenBucket> {
        None
    }
}

// What wrappers forward: every method of the trait, except `as_own_bucket`. A bucket behind a pointer is treated as shared.
crate::support::forwarding! {
    $ forward_quota: RetryQuota {
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn try_acquire(&self, cost: u32, clock: &dyn crate::time::Clock) -> bool;
        #[inline]
        fn refund(&self, amount: u32);
        #[inline]
        fn available(&self) -> u32;
        #[inline]
        fn pay(&self, cost: u32, error_type: crate::policy::RetryErrorType, clock: &dyn crate::time::Clock) -> Option<u32>;
        #[inline]
        fn give_back(&self, paid: u32);
        #[inline]
        fn first_succeeded(&self, refund: u32);
        #[inline]
        fn retry_succeeded(&self, paid: u32, refund: u32);
        fn is_low(&self) -> bool;
        fn pay_hedge(&self, cost: u32, clock: &dyn crate::time::Clock) -> Option<u32>;
        #[inline]
        fn is_full(&self) -> bool;
        fn level(&self) -> Option<u32>;
        fn full_level(&self) -> Option<u32>;
        fn mode(&self) -> Option<crate::quota::QuotaMode>;
        fn note_refusal(&self, cost: u32, strategy: Option<&str>);
        fn as_bucket(&self) -> Option<&crate::quota::TokenBucket>;
        fn section(&self) -> Option<&dyn crate::quota::ConfigSection>;
    }
}
impl<Q: RetryQuota + ?Sized> RetryQuota for &Q {
    forward_quota! { self => **self }
}

impl<Q: RetryQuota + ?Sized> RetryQuota for Box<Q> {
    forward_quota! { self => **self }
}

impl<Q: RetryQuota + ?Sized> RetryQuota for Arc<Q> {
    forward_quota! { self => **self }
}

/// The absence of a quota: every retry is granted, up to the maximum number of attempts.
///
/// It does not protect the server during an outage. Use it only if another mechanism limits the retries. Events and metrics have
/// no level of it.
///
/// ```
/// use retry_core::quota::NoQuota;
/// use retry_core::{ExponentialBackoff, StandardRetryStrategy};
///
/// static STORE: StandardRetryStrategy<ExponentialBackoff, NoQuota> =
///     StandardRetryStrategy::new().with_quota(NoQuota);
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

    fn level(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn is_full(&self) -> bool {
        true
    }
}
