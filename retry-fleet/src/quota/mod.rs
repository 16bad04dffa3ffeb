//! The quota of a fleet, as one process sees it.

mod part;
mod section;
mod stock;

pub(crate) use part::QuotaPart;

use crate::wake::Wake;
#[cfg(feature = "test")]
use retry_core::TokenBucket;
use retry_core::config::ConfigSection;
use retry_core::{Clock, RetryQuota};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use stock::Stock;

/// The cost of a retry unless set: that of the dearest retry of the presets.
const COST: u32 = 14;

/// A retry quota that all processes of a fleet share.
///
/// Each process holds a part of the quota and pays its retries from it, without waiting for the store. It fetches more when
/// it needs more, and gives back what it does not need. Processes of a [`Fleet`](crate::Fleet) that has been joined share;
/// a quota that was not joined has its pocket only.
///
/// Choose a **capacity** of at least two retries' cost for each process. With less, a process may have to fetch its first
/// retry from the store, and so goes without it. The capacity has no default, because it depends on the size of the fleet.
///
/// ```
/// use retry_core::{ExponentialBackoff, StandardRetryStrategy};
/// use retry_fleet::FleetQuota;
///
/// static QUOTA: FleetQuota = FleetQuota::new(5_000);
/// static STORE: StandardRetryStrategy<ExponentialBackoff, &FleetQuota> =
///     StandardRetryStrategy::new().with_quota(&QUOTA);
/// ```
///
/// # Settings in a file
///
/// A [`ConfiguredStrategy`](retry_core::config::ConfiguredStrategy) with this quota sets it from the section `fleet`, which
/// `RetryConfig::from_file_section_with` reads. The processes tell a new capacity to the store with their next calls, which
/// uses it when no process has asked for the former one for 30 s.
///
/// ```toml
/// [store]
/// max_attempts = 4
///
/// [store.fleet]
/// capacity = 8000
/// cost = 14
/// ```
///
/// # What it guarantees
///
/// What all processes have spent and hold is never more than the capacity and the refunds, whatever happens to processes
/// and clocks. What a process holds when it crashes counts as spent. The exceptions are at most one capacity more for each
/// time that the store loses its memory, and one pocket for each process that has not reached the store, or that spent its
/// pocket before it joined a fleet that had nothing left.
///
/// # Costs
///
/// While the fleet is healthy, a refund is one relaxed load. A retry is two atomic updates, and wakes the task of the fleet if
/// little is left.
///
/// Under a test guard of `retry_core::test` (feature `test`), each test has a quota of its own with the whole capacity, and
/// no store.
#[derive(Debug)]
pub struct FleetQuota {
    /// The capacity and the cost of the code.
    capacity: u32,
    cost: u32,
    live: Live,
    /// `None` for one cost.
    pocket: Option<u32>,
    stock: Stock,
    /// Whether the quota has not joined a fleet yet, so that its pocket was not charged.
    is_first: AtomicBool,
    /// The cost of the retries that were asked for since the task last looked. Relaxed, because it publishes nothing.
    asked: AtomicU32,
    /// A payment that leaves less than this wakes the task.
    low: AtomicU32,
    /// Whether a retry was refused since the fleet last had enough.
    is_dry: AtomicBool,
    pub(crate) wake: Wake,
    #[cfg(feature = "test")]
    alone: TokenBucket,
}

/// The settings in effect. They publish nothing, so relaxed ordering suffices.
#[derive(Debug)]
struct Live {
    capacity: AtomicU32,
    cost: AtomicU32,
}

impl Live {
    const fn new(capacity: u32, cost: u32) -> Self {
        Self { capacity: AtomicU32::new(capacity), cost: AtomicU32::new(cost) }
    }
}

impl FleetQuota {
    /// Creates the quota of a fleet. All processes should have the same capacity; if they differ, that of the store
    /// counts, until no process has asked for it for 30 s.
    pub const fn new(capacity: u32) -> Self {
        Self {
            capacity,
            cost: COST,
            live: Live::new(capacity, COST),
            pocket: None,
            stock: Stock::new(if capacity < COST { capacity } else { COST }),
            is_first: AtomicBool::new(true),
            asked: AtomicU32::new(0),
            low: AtomicU32::new(0),
            is_dry: AtomicBool::new(false),
            wake: Wake::new(),
            #[cfg(feature = "test")]
            alone: TokenBucket::new(capacity),
        }
    }

    /// Sets the cost of a retry, by which the process decides how much to hold. The default is 14, which is the cost of the
    /// dearest retry of the presets.
    ///
    /// # Panics
    ///
    /// Panics if the cost is 0; in a `static` this is a compile error.
    #[must_use]
    pub const fn cost(mut self, cost: u32) -> Self {
        assert!(cost > 0, "invalid cost: expected a whole number of at least 1");
        self.cost = cost;
        self.live = Live::new(self.capacity, cost);
        self.stock = Stock::new(self.pocket_setting());
        self
    }

    /// Sets what the process may spend before the first answer of the store, which charges it then. The default is the cost
    /// of one retry, so that the first retry of a short-lived process is made. It is at most the capacity. With 0, a process
    /// that never reaches the store adds nothing to the load.
    #[must_use]
    pub const fn pocket(mut self, pocket: u32) -> Self {
        self.pocket = Some(pocket);
        self.stock = Stock::new(self.pocket_setting());
        self
    }

    /// Returns the capacity that was set, in code or in a file.
    pub fn capacity(&self) -> u32 {
        self.live.capacity.load(Ordering::Relaxed)
    }

    /// Returns the cost that was set, in code or in a file.
    pub(crate) fn cost_setting(&self) -> u32 {
        self.live.cost.load(Ordering::Relaxed)
    }

    /// Returns the pocket that was set in code. A file can't change it, because it may be spent before the file is read.
    pub(crate) const fn pocket_setting(&self) -> u32 {
        let pocket = match self.pocket {
            Some(pocket) => pocket,
            None => self.cost,
        };
        if pocket < self.capacity { pocket } else { self.capacity }
    }

    /// Returns whether this is the first membership of the quota.
    pub(crate) fn take_first(&self) -> bool {
        self.is_first.swap(false, Ordering::Relaxed)
    }

    pub(crate) const fn stock(&self) -> &Stock {
        &self.stock
    }

    /// Returns the cost of the retries that were asked for since the last call, granted or not.
    pub(crate) fn take_asked(&self) -> u32 {
        self.asked.swap(0, Ordering::Relaxed)
    }

    /// Sets what wakes the task: a payment that leaves less than this.
    pub(crate) fn set_low(&self, low: u32) {
        self.low.store(low, Ordering::Relaxed);
    }

    /// Notes what the fleet has spent, so that a refusal is told anew after a recovery.
    pub(crate) fn note_spent(&self, spent: u32, capacity: u32) {
        let has_recovered = spent <= capacity / 2;
        if has_recovered && self.is_dry.load(Ordering::Relaxed) {
            self.is_dry.store(false, Ordering::Relaxed);
            crate::events::quota_recovered(capacity);
        }
    }
}

impl RetryQuota for FleetQuota {
    fn try_acquire(&self, cost: u32, clock: &dyn Clock) -> bool {
        #[cfg(feature = "test")]
        if retry_core::test::is_active() {
            return self.alone.try_acquire(cost, clock);
        }
        let _ = clock;
        if cost == 0 {
            return true;
        }
        let _ = self.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |asked| Some(asked.saturating_add(cost)));
        let left = self.stock.pay(cost);
        if left.unwrap_or(0) < self.low.load(Ordering::Relaxed) {
            self.wake.wake();
        }
        left.is_some()
    }

    #[inline]
    fn refund(&self, amount: u32) {
        #[cfg(feature = "test")]
        if retry_core::test::is_active() {
            return self.alone.refund(amount);
        }
        self.stock.refund(amount);
    }

    /// Returns what this process holds.
    fn available(&self) -> u32 {
        #[cfg(feature = "test")]
        if retry_core::test::is_active() {
            return self.alone.available();
        }
        self.stock.level().available
    }

    fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        #[cfg(feature = "test")]
        if retry_core::test::is_active() {
            return self.alone.note_refusal(cost, strategy);
        }
        let _ = cost;
        if !self.is_dry.swap(true, Ordering::Relaxed) {
            crate::events::quota_exhausted(strategy, self.capacity());
        }
    }

    fn section(&self) -> Option<&dyn ConfigSection> {
        Some(self)
    }
}
