//! The quota that learns from the outcomes of attempts whether retries help.

#[cfg(test)]
mod exchange;
mod judgement;
mod knowledge;
mod ledger;
mod millis;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
mod word;

use super::balance::Balance;
use super::{QuotaMode, RetryQuota};
use crate::policy::RetryErrorType;
use crate::support::Shared;
use crate::time::Clock;
pub use knowledge::QuotaKnowledge;
use ledger::Ledger;
use millis::Millis;
use word::RETRY;

/// A quota without settings, which learns from the outcomes of attempts whether retries help.
///
/// It measures the caller's own traffic from the first failure on, and limits the retries of a failure that lasts to those
/// of about two seconds of that traffic. So the quotas of many processes allow no more retries together than one quota for
/// all of them, whatever their number, without a capacity to set.
///
/// - Each retry costs the same, whatever the settings of the strategy say.
/// - **A retry that succeeds shows that retries help**, and gives back twice what it cost. So failures that are independent
///   of each other are retried for as long as more than half of all attempts succeed. If a server fails *because* of too many
///   requests, more retries let fewer of them succeed, which stops the retries.
/// - **A timeout shows congestion.** It is retried only if more than five attempts succeeded for each recent failure, and
///   costs a retry even if it is not. For two minutes after a timeout, successes of retries are not evidence, and it takes
///   about three successful first attempts to pay for a retry.
///
/// It has three weaknesses:
///
/// - **The first timeouts of a new quota are not retried**, until an attempt has succeeded. Otherwise short-lived processes
///   would keep a slow server slow.
/// - **When failures begin, traffic is measured over a short time**, to which half a second is added. So 300 operations of a new
///   process that fail at the same moment make about 700 retries.
/// - **Independent failures of a server without room for retries**: if 30 % of the requests fail and the server has 11 % to
///   spare, 54 to 62 % of the operations succeed, and 70 % without retries. Switch them off there.
///
/// It is the quota of the [`PatientRetryStrategy`](crate::PatientRetryStrategy), in which a retry that it can't pay for waits. In a
/// [`StandardRetryStrategy`](crate::StandardRetryStrategy), also under a limiter of sends, such a retry ends its operation:
///
/// ```
/// use retry_core::quota::EvidenceQuota;
/// use retry_core::{AdaptiveRetryStrategy, ExponentialBackoff, StandardRetryStrategy};
///
/// static STORE: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
///     StandardRetryStrategy::new().with_quota(EvidenceQuota::new());
/// static TABLE: AdaptiveRetryStrategy<ExponentialBackoff, EvidenceQuota> =
///     AdaptiveRetryStrategy::over(StandardRetryStrategy::new().with_quota(EvidenceQuota::new()));
/// ```
#[derive(Debug)]
pub struct EvidenceQuota {
    ledger: Shared<Ledger>,
}

impl EvidenceQuota {
    /// Creates a quota that knows nothing yet.
    pub const fn new() -> Self {
        Self { ledger: Shared::new(Ledger::new()) }
    }

    /// Returns the knowledge that this quota has learned itself, without its peers.
    pub fn knowledge(&self, clock: &dyn Clock) -> QuotaKnowledge {
        let now = Millis::of(clock.now());
        self.with_ledger(|ledger| ledger.knowledge(now))
    }

    /// Sets the knowledge of the quotas of other processes that use the same service. It replaces the former one. The
    /// default [`QuotaKnowledge`] means no peers.
    ///
    /// From then on, a retry is paid for if all of these quotas together, as one, would pay for it. A quota can then spend up
    /// to twice its own capacity, and must not spend all of it if the others have spent theirs. After a timeout of a peer,
    /// successes of retries are not evidence, as after its own timeouts. The weight of the knowledge halves every five
    /// seconds, so set it every second or two.
    pub fn set_peers(&self, peers: QuotaKnowledge, clock: &dyn Clock) {
        let now = Millis::of(clock.now());
        self.with_ledger(|ledger| ledger.set_peers(peers, now));
    }

    #[inline]
    fn with_ledger<R>(&self, using: impl FnOnce(&Ledger) -> R) -> R {
        self.ledger.with(Ledger::fresh, using)
    }

    /// Calls `using` with the quota of a fixed size that a test guard sets in place of this one, if it does.
    #[cfg(feature = "test")]
    fn with_fixed<R>(&self, using: impl FnOnce(&Balance) -> R) -> Option<R> {
        self.with_ledger(|ledger| ledger.fixed.as_ref().map(using))
    }

    /// Returns `None`: there is no test guard.
    #[cfg(not(feature = "test"))]
    #[inline]
    #[expect(clippy::unused_self, reason = "the version for tests uses it")]
    fn with_fixed<R>(&self, _using: impl FnOnce(&Balance) -> R) -> Option<R> {
        None
    }
}

/// What was paid for a hedge, which costs one retry. Retries have paid 1 or 0.
const HEDGE: u32 = u32::MAX;

impl Default for EvidenceQuota {
    fn default() -> Self {
        Self::new()
    }
}

impl RetryQuota for EvidenceQuota {
    /// Pays for one retry after a failure without a known class. The cost is ignored.
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        let cost = if self.with_fixed(|_| ()).is_some() { cost } else { 1 };
        self.pay(cost, RetryErrorType::Other, clock).is_some()
    }

    /// Gives back this number of retries.
    fn refund(&self, amount: u32) {
        if self.with_fixed(|fixed| fixed.refund(amount)).is_some() {
            return;
        }
        self.with_ledger(|ledger| ledger.give_back(amount.saturating_mul(RETRY)));
    }

    /// Returns the number of retries that the quota could pay for now. It is small for a healthy quota, because the caller's
    /// own traffic is measured only while attempts fail.
    fn available(&self) -> u32 {
        if let Some(available) = self.with_fixed(|fixed| fixed.level().available()) {
            return available;
        }
        self.with_ledger(Ledger::available)
    }

    /// Pays for one retry, whatever the settings say. Only a retry that costs nothing stays free: by default, a retry
    /// after a conflict, because contention is not a sign of trouble at the server.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
        if cost == 0 {
            return Some(0);
        }
        if let Some(is_paid) = self.with_fixed(|fixed| fixed.pay(cost, || clock.now())) {
            return is_paid.then_some(cost);
        }
        let is_timeout = error_type == RetryErrorType::Timeout;
        let is_paid = match self.ledger.without_guard() {
            Some(ledger) => ledger.pay(is_timeout, clock),
            None => self.with_ledger(|ledger| ledger.pay(is_timeout, clock)),
        };
        is_paid.then_some(1)
    }

    #[inline]
    fn first_succeeded(&self, refund: u32) {
        if self.with_fixed(|fixed| fixed.refund(refund)).is_some() {
            return;
        }
        self.with_ledger(|ledger| ledger.succeed(true));
    }

    #[inline]
    fn retry_succeeded(&self, paid: u32, refund: u32) {
        if self.with_fixed(|fixed| fixed.refund(refund)).is_some() {
            return;
        }
        // A retry that was not paid for was granted without this quota, so it is not evidence about its retries. A hedge did not
        // follow a failure, so its success does not show that retries help.
        self.with_ledger(|ledger| ledger.succeed(paid != 1));
    }

    fn give_back(&self, paid: u32) {
        self.refund(if paid == HEDGE { 1 } else { paid });
    }

    /// Returns whether the quota would be left with less than half of its capacity after a hedge, has refused the latest retry,
    /// or no attempt has succeeded yet, and for two minutes after a timeout, unless successes outweigh the failures.
    fn is_low(&self) -> bool {
        if let Some(is_low) = self.with_fixed(|fixed| fixed.level().is_low()) {
            return is_low;
        }
        self.with_ledger(Ledger::is_low)
    }

    /// Pays for one hedge from the upper half of the capacity, whatever the settings say. A hedge is not a failure, so the quota
    /// learns nothing from it about failures.
    fn pay_hedge(&self, cost: u32, clock: &dyn Clock) -> Option<u32> {
        if let Some(is_paid) = self.with_fixed(|fixed| !fixed.level().is_low() && fixed.pay(cost, || clock.now())) {
            return is_paid.then_some(cost);
        }
        self.with_ledger(|ledger| ledger.pay_hedge(clock)).then_some(HEDGE)
    }

    #[inline]
    fn is_full(&self) -> bool {
        if let Some(is_full) = self.with_fixed(Balance::is_full) {
            return is_full;
        }
        self.with_ledger(Ledger::is_settled)
    }

    /// Returns the number of retries that the full quota could pay for, as measured at the latest failure.
    fn full_level(&self) -> Option<u32> {
        if let Some(capacity) = self.with_fixed(|fixed| fixed.level().capacity()) {
            return Some(capacity);
        }
        Some(self.with_ledger(Ledger::full))
    }

    fn mode(&self) -> Option<QuotaMode> {
        if self.with_fixed(|_| ()).is_some() {
            return None;
        }
        Some(self.with_ledger(Ledger::mode))
    }

    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        if self.with_fixed(|fixed| fixed.note_refusal(cost, strategy)).is_some() {
            return;
        }
        self.with_ledger(|ledger| ledger.note_refusal(strategy));
    }
}
