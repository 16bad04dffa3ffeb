//! The changing state of a bucket, which threads share.

use super::Refill;
use super::level::Level;
use crate::support::outage_events;
use crate::support::sync::{AtomicU8, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::{Latest, Observed, Timestamp};

/// The changing state of a bucket.
#[derive(Debug)]
pub(super) struct Balance {
    /// A [`Level`]. The number publishes no other data, so relaxed ordering suffices, except where `refused` says so.
    level: AtomicU64,
    /// The cost that the bucket refused when it ran dry, or 0 if it is not dry.
    ///
    /// A refusal stores it and then writes the level; a refund writes the level and then loads it. So the second of the
    /// two writes to the level sees what the other thread did before, and a bucket that recovers during a refusal does
    /// not stay dry.
    refused: AtomicU32,
    /// 1 if there is a refill. It only shows whether the lock is needed, so relaxed ordering suffices.
    is_refilled: AtomicU8,
    /// Locked only in a bucket with a refill, when a retry asks for its cost; when the settings are changed; and when
    /// the bucket runs dry or recovers. No user code runs while it is locked, not even the clock or a subscriber, so it
    /// is never poisoned.
    rare: Mutex<Rare>,
}

/// The state of a bucket that most calls do not need.
#[derive(Debug)]
struct Rare {
    refill: Option<Refill>,
    /// The latest reading of the clock, up to which refills are made. `None` before the first one.
    latest: Option<Latest>,
    /// The level before the capacity was set to 0, if it is 0 now.
    before_zero: Option<Level>,
    /// The name of the strategy whose retry was refused when the bucket ran dry.
    strategy: Option<outage_events::KeptName>,
}

impl Rare {
    /// Returns the amount of all periods that have ended since the last call, each period once.
    ///
    /// A thread evaluates its reading of the clock and moves on to its period in one step, because the caller holds the
    /// lock. The first call begins the periods.
    fn due(&mut self, now: Timestamp) -> u32 {
        let latest = self.latest.get_or_insert(Latest::new(now));
        let before = latest.get();
        let Observed { now, went_back_to } = latest.observe(now);
        let Some(refill) = self.refill else { return 0 };
        // After the clock was set back, refills continue from there. Otherwise they would stop until it has caught up.
        let since = went_back_to.unwrap_or(before);
        let ended = refill.period(now) - refill.period(since);
        refill.amount().saturating_mul(u32::try_from(ended).unwrap_or(u32::MAX))
    }
}

impl Balance {
    pub(super) const fn full(capacity: u32, refill: Option<Refill>) -> Self {
        Self {
            level: AtomicU64::new(Level::full(capacity).0),
            refused: AtomicU32::new(0),
            is_refilled: AtomicU8::new(refill.is_some() as u8),
            rare: Mutex::new(Rare { refill, latest: None, before_zero: None, strategy: None }),
        }
    }

    #[inline]
    pub(super) fn level(&self) -> Level {
        Level(self.level.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.level().missing() == 0
    }

    /// Changes the level in one step, and returns the new one.
    #[inline]
    fn change(&self, order: Ordering, change: impl Fn(Level) -> Level) -> Level {
        self.change_from(self.level(), order, change)
    }

    /// Changes the level, which was read before, in one step, and returns the new one.
    #[inline]
    fn change_from(&self, read: Level, order: Ordering, change: impl Fn(Level) -> Level) -> Level {
        let mut bits = read.0;
        loop {
            let level = change(Level(bits));
            match self.level.compare_exchange(bits, level.0, order, Ordering::Relaxed) {
                Ok(_) => return level,
                Err(now) => bits = now,
            }
        }
    }

    /// Changes the capacity and the refill. Periods that have ended are settled by the refill before. The caller reports
    /// the new level after it has released all locks, because a subscriber may receive it.
    ///
    /// A retry that was refused may have another cost after the change, if `costs_change`, or never be paid for, if the
    /// capacity changes. So a full bucket has then recovered from the refusal, and can warn again.
    pub(super) fn reconfigure(
        &self,
        capacity: u32,
        refill: Option<Refill>,
        now: Option<Timestamp>,
        costs_change: bool,
    ) {
        let mut rare = self.rare();
        let due = now.map_or(0, |now| rare.due(now));
        // With a capacity of 0 there is no proportion, so the former level is kept for the next change.
        let kept = rare.before_zero.take();
        let settled = |level: Level| kept.unwrap_or(level.add(due));
        let resized = |bits| Some(settled(Level(bits)).resized(capacity).0);
        let (Ok(bits) | Err(bits)) = self.level.fetch_update(Ordering::Acquire, Ordering::Relaxed, resized);
        let before = Level(bits);
        rare.before_zero = (capacity == 0).then(|| settled(before));
        rare.refill = refill;
        self.is_refilled.store(u8::from(refill.is_some()), Ordering::Relaxed);
        let refused = self.refused.load(Ordering::Relaxed);
        if refused != 0 && (costs_change || before.capacity() != capacity) {
            self.refused.store(refused.min(capacity).max(1), Ordering::Relaxed);
        }
    }

    /// Warns that the bucket has recovered, if it was dry and a change of the capacity gave it enough.
    pub(super) fn note_change(&self) {
        self.note_level(self.level());
    }

    /// Returns the refill.
    pub(super) fn refill(&self) -> Option<Refill> {
        self.rare().refill
    }

    /// Takes the cost if the balance suffices. The clock is read only if there is a refill.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn pay(&self, cost: u32, now: impl FnOnce() -> Timestamp) -> bool {
        if self.is_refilled.load(Ordering::Relaxed) != 0 {
            self.refill_until(now());
        }
        let pay = |bits| Some(Level(bits).pay(cost)?.0);
        self.level.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).is_ok()
    }

    fn rare(&self) -> MutexGuard<'_, Rare> {
        self.rare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the refills of all periods that have ended.
    #[cold]
    fn refill_until(&self, now: Timestamp) {
        let mut rare = self.rare();
        let due = rare.due(now);
        let level = self.change(Ordering::Acquire, |level| level.add(due));
        drop(rare);
        self.note_level(level);
    }

    /// Adds an amount to the level, which was read before, up to the capacity.
    #[cold]
    fn add(&self, read: Level, amount: u32) {
        self.note_level(self.change_from(read, Ordering::Acquire, |level| level.add(amount)));
    }

    /// Adds an amount, up to the capacity.
    #[inline]
    pub(super) fn refund(&self, amount: u32) {
        let level = self.level();
        // A full bucket is not written to, so its cache line stays shared among the cores. No refund is lost. An
        // operation that paid for a retry reads its own payment or a later balance, so if the bucket is full,
        // others have filled it since. An operation that did not pay may read the balance from before a payment
        // that another one made in the meantime. Its refund is then treated as made before that payment, to a full
        // bucket.
        if level.missing() != 0 {
            self.add(level, amount);
        }
    }

    /// Warns that the bucket has recovered, if it was dry and this level is high enough.
    #[inline]
    fn note_level(&self, level: Level) {
        if outage_events::EXIST
            && let refused = self.refused.load(Ordering::Relaxed)
            && refused != 0
            && level.has_recovered_from(refused)
        {
            self.recover(refused);
        }
    }

    /// Warns that the bucket ran dry, unless it has warned already and not recovered since.
    #[cold]
    pub(super) fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
        // Most refusals by a dry bucket don't lock.
        if !outage_events::are_enabled() || self.refused.load(Ordering::Relaxed) != 0 {
            return;
        }
        {
            let mut rare = self.rare();
            let Ok(_) = self.refused.compare_exchange(0, cost, Ordering::Relaxed, Ordering::Relaxed) else { return };
            rare.strategy = strategy.and_then(outage_events::KeptName::keep);
        }
        // The level is written, though not changed, so that a refund sees that the bucket is dry, or is seen here.
        let level = self.change(Ordering::Release, |level| level);
        outage_events::exhausted(strategy, level.capacity());
        self.note_level(level);
    }

    #[cold]
    fn recover(&self, refused: u32) {
        let strategy = {
            let mut rare = self.rare();
            let Ok(_) = self.refused.compare_exchange(refused, 0, Ordering::Relaxed, Ordering::Relaxed) else { return };
            rare.strategy.take()
        };
        let strategy = strategy.and_then(outage_events::KeptName::take);
        outage_events::recovered(strategy.as_deref(), self.level().capacity());
    }
}
