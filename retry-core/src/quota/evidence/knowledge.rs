//! The knowledge of a quota, as a plain value that other processes can use.

use super::millis::Millis;
use super::word::{FLOOR, RETRY};
use crate::quota::QuotaMode;
use crate::support::millis;
use std::time::Duration;

/// The time after which knowledge has half the weight: about as long as traffic is measured.
pub(super) const HALF_LIFE_MILLIS: u64 = 5_000;

/// The time after a timeout in which successes of retries are not evidence. The shorter it is, the more often the
/// retries of independent failures fill the queue of a server without room for them.
pub(super) const DOUBT_MILLIS: u64 = 120_000;

/// The largest amount, which no real number of processes reaches. It keeps sums and products from overflowing.
const MAX_AMOUNT: i64 = 1 << 40;

/// The knowledge of an [`EvidenceQuota`](super::EvidenceQuota), as a plain value that other processes can use.
///
/// Processes that use the same service can exchange the knowledge of their quotas, merge it, and set it in their own quota as
/// the knowledge of its [peers](super::EvidenceQuota::set_peers). Their quotas then decide nearly like one quota for all of
/// them.
///
/// Such reports may be repeated, reordered or lost. A merge is a sum, so its order does not matter, and the quota uses
/// the share of the capacity that is missing. A report that is merged twice only has twice the weight, and a lost one has
/// none. Late reports lose weight with each second, if the caller passes their [age](QuotaKnowledge::aged).
///
/// ```
/// use retry_core::quota::{EvidenceQuota, QuotaKnowledge};
/// use retry_core::time::StdTimer;
/// use std::time::Duration;
///
/// static QUOTA: EvidenceQuota = EvidenceQuota::new();
///
/// /// Sends what this process knows, and uses what the others sent, with the time since then.
/// fn exchange(
///     send: impl FnOnce(QuotaKnowledge),
///     received: impl IntoIterator<Item = (QuotaKnowledge, Duration)>,
/// ) {
///     send(QUOTA.knowledge(&StdTimer));
///     let reports = received.into_iter().map(|(report, age)| report.aged(age));
///     let peers = reports.fold(QuotaKnowledge::default(), QuotaKnowledge::merge);
///     QUOTA.set_peers(peers, &StdTimer);
/// }
///
/// // A peer whose traffic pays for 40 retries has spent all of them.
/// let exhausted = QuotaKnowledge::new(40.0, 40.0, None);
/// exchange(|_| (), [(exhausted, Duration::from_millis(200))]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaKnowledge {
    /// In 1/64 of a retry, as all amounts. Less than zero if successes gave back more than was missing.
    missing: i64,
    capacity: i64,
    timeout_age_millis: Option<u64>,
}

impl QuotaKnowledge {
    /// Creates knowledge from the values that the methods of the same names return. An amount that is not a number
    /// is treated as zero, and so is a negative capacity.
    #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
    pub fn new(missing: f64, capacity: f64, timeout_age: Option<Duration>) -> Self {
        let amount = |retries: f64| (retries * f64::from(RETRY)) as i64;
        Self::of(amount(missing), amount(capacity), timeout_age.map(millis))
    }

    pub(super) fn of(missing: i64, capacity: i64, timeout_age_millis: Option<u64>) -> Self {
        Self {
            missing: missing.clamp(-MAX_AMOUNT, MAX_AMOUNT),
            capacity: capacity.clamp(0, MAX_AMOUNT),
            timeout_age_millis: timeout_age_millis.filter(|age| *age < DOUBT_MILLIS),
        }
    }

    /// Returns how many retries were paid for and not given back, at least in part. It is less than zero if successes gave
    /// back more than was missing, which is evidence that retries of the peers help, too.
    #[expect(clippy::cast_precision_loss, reason = "amounts are below 2^53")]
    pub fn missing(&self) -> f64 {
        self.missing as f64 / f64::from(RETRY)
    }

    /// Returns how many retries the measured traffic pays for. It is zero for a quota that remembers no failure, because
    /// it measures no traffic then.
    #[expect(clippy::cast_precision_loss, reason = "amounts are below 2^53")]
    pub fn capacity(&self) -> f64 {
        self.capacity as f64 / f64::from(RETRY)
    }

    /// Returns the time since the latest timeout, if it was less than two minutes.
    pub fn timeout_age(&self) -> Option<Duration> {
        self.timeout_age_millis.map(Duration::from_millis)
    }

    /// Returns the mode of a single quota with this knowledge.
    pub fn mode(&self) -> QuotaMode {
        match *self {
            Self { missing: 0, capacity: 0, .. } => QuotaMode::Full,
            Self { missing, capacity, .. } if missing + i64::from(RETRY) > capacity.max(FLOOR.into()) => {
                QuotaMode::Exhausted
            }
            Self { timeout_age_millis: Some(_), .. } => QuotaMode::Congested,
            _ => QuotaMode::Spending,
        }
    }

    /// Returns the knowledge of both: the sums of their amounts, and the later timeout.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let age = match (self.timeout_age_millis, other.timeout_age_millis) {
            (Some(age), Some(others)) => Some(age.min(others)),
            (age, others) => age.or(others),
        };
        Self::of(self.missing + other.missing, self.capacity + other.capacity, age)
    }

    /// Returns the knowledge after this time: its amounts are halved after five seconds. The timeout is older by that
    /// time.
    #[must_use]
    pub fn aged(self, by: Duration) -> Self {
        self.after(millis(by))
    }

    /// Returns this quota's part, by its traffic, of the amount that all quotas gave back beyond what was missing in all of
    /// them. A single quota for all would not have kept it.
    pub(super) fn part_of_surplus(self, peers: Self) -> i64 {
        let surplus = (-(self.missing + peers.missing)).max(0);
        let capacity = (self.capacity + peers.capacity).max(1);
        i64::try_from(i128::from(surplus) * i128::from(self.capacity) / i128::from(capacity)).unwrap_or(surplus)
    }

    /// Returns the knowledge after this number of milliseconds.
    fn after(self, millis: u64) -> Self {
        let age = self.timeout_age_millis.map(|age| age.saturating_add(millis));
        Self::of(faded(self.missing, millis), faded(self.capacity, millis), age)
    }
}

/// Returns the rest of an amount after this number of milliseconds.
fn faded(amount: i64, millis: u64) -> i64 {
    let halved = u32::try_from(millis / HALF_LIFE_MILLIS).map_or(0, |halves| amount / (1 << halves.min(62)));
    // Between two halvings it decreases linearly.
    let rest = i64::try_from(millis % HALF_LIFE_MILLIS).unwrap_or_default();
    halved - halved * rest / (2 * HALF_LIFE_MILLIS.cast_signed())
}

/// The knowledge of the peers of a quota, and the time when it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peers {
    pub(super) known: QuotaKnowledge,
    /// The amount that successes of this quota had given back beyond what was missing.
    pub(super) surplus: i64,
    /// What was missing in this quota.
    pub(super) reported: u32,
    pub(super) at: Millis,
}

/// The effect of the peers of a quota on one decision. Without peers, all of it is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) missing: i64,
    pub(super) capacity: i64,
    pub(super) is_congested: bool,
    /// What was missing in this quota when it heard of them.
    pub(super) reported: u32,
}

impl Peers {
    /// Returns the effect of the peers now, or `None` if it is over. The surplus is that of the quota itself.
    pub(super) fn pool(&mut self, surplus: i64, now: Millis) -> Option<Pool> {
        self.at = self.at.min(now);
        let known = self.known.after(now.since(self.at));
        (known != QuotaKnowledge::default()).then_some(Pool {
            missing: known.missing - surplus,
            capacity: known.capacity,
            is_congested: known.timeout_age_millis.is_some(),
            reported: self.reported,
        })
    }
}
