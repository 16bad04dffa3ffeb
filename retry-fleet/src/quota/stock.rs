//! What one process holds of the quota of its fleet.

use crate::sync::{AtomicU64, Ordering};

/// What a process holds, and what refunds can still fill, in one atomic number, so that both change in one step.
///
/// The number publishes no other data, so relaxed ordering suffices. It is only changed by compare-and-swap, so no change
/// is lost. A refund while nothing can be filled, which is every refund of a healthy fleet, is one relaxed load.
#[derive(Debug)]
pub(crate) struct Stock(AtomicU64);

/// The two halves of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// What the process can spend.
    pub(crate) available: u32,
    /// What refunds can still fill.
    pub(crate) room: u32,
}

impl Level {
    const fn bits(self) -> u64 {
        (self.available as u64) << 32 | self.room as u64
    }

    #[expect(clippy::cast_possible_truncation, reason = "they are halves")]
    const fn from_bits(bits: u64) -> Self {
        Self { available: (bits >> 32) as u32, room: bits as u32 }
    }
}

impl Stock {
    #[cfg(not(loom))]
    pub(crate) const fn new(available: u32) -> Self {
        Self(AtomicU64::new(Level { available, room: 0 }.bits()))
    }

    /// Loom's atomics can't be created in a constant.
    #[cfg(loom)]
    pub(crate) fn new(available: u32) -> Self {
        Self(AtomicU64::new(Level { available, room: 0 }.bits()))
    }

    #[inline]
    pub(crate) fn level(&self) -> Level {
        Level::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Changes the level in one step, unless `change` returns `None`. Returns the level before.
    fn change(&self, change: impl Fn(Level) -> Option<Level>) -> Result<Level, Level> {
        let change = |bits| Some(change(Level::from_bits(bits))?.bits());
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change)
            .map(Level::from_bits)
            .map_err(Level::from_bits)
    }

    /// Takes the cost, if there is enough. What was spent can be filled again. Returns what is left, or `None` if nothing
    /// was taken.
    pub(crate) fn pay(&self, cost: u32) -> Option<u32> {
        let pay = |Level { available, room }| {
            Some(Level { available: available.checked_sub(cost)?, room: room.saturating_add(cost) })
        };
        self.change(pay).ok().map(|before| before.available - cost)
    }

    /// Adds an amount, as far as there is room. The rest is lost.
    #[inline]
    pub(crate) fn refund(&self, amount: u32) {
        if self.level().room > 0 {
            self.fill(amount);
        }
    }

    #[cold]
    fn fill(&self, amount: u32) {
        let _ = self.change(|Level { available, room }| {
            let filled = amount.min(room).min(u32::MAX - available);
            (filled > 0).then_some(Level { available: available + filled, room: room - filled })
        });
    }

    /// Takes what is above `keep`, and returns it.
    pub(crate) fn take_above(&self, keep: u32) -> u32 {
        let taken = self.change(|level| (level.available > keep).then_some(Level { available: keep, ..level }));
        taken.map_or(0, |before| before.available - keep)
    }

    /// Adds a grant, and sets the room.
    pub(crate) fn grant(&self, amount: u32, room: u32) {
        let _ = self.change(|level| Some(Level { available: level.available.saturating_add(amount), room }));
    }

    /// Sets the room to what is missing to this amount.
    pub(crate) fn fill_up_to(&self, amount: u32) {
        let _ = self.change(|level| Some(Level { room: amount.saturating_sub(level.available), ..level }));
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn nothing_is_spent_twice_or_lost() {
        loom::model(|| {
            let stock = Arc::new(Stock::new(10));
            let threads: Vec<_> = [6, 5]
                .into_iter()
                .map(|cost| {
                    let stock = Arc::clone(&stock);
                    thread::spawn(move || {
                        let paid = stock.pay(cost).map_or(0, |_| cost);
                        stock.refund(1);
                        paid
                    })
                })
                .collect();
            let back = stock.take_above(8);
            let paid: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
            let Level { available, room } = stock.level();
            // What was there is held, spent or given back. Each refund filled 1, or found no room.
            let refunded = available + paid + back - 10;
            assert!(refunded <= 2);
            assert_eq!(room, paid - refunded);
        });
    }

    #[test]
    fn a_grant_and_a_payment_meet_at_any_time() {
        loom::model(|| {
            let stock = Arc::new(Stock::new(0));
            let other = Arc::clone(&stock);
            let thread = thread::spawn(move || other.pay(3).is_some());
            stock.grant(3, 0);
            let paid = thread.join().unwrap();
            let expected = if paid { Level { available: 0, room: 3 } } else { Level { available: 3, room: 0 } };
            assert_eq!(stock.level(), expected);
        });
    }
}
