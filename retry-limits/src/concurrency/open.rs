//! The slots of a gate that is open: one word, by which slots are taken and returned without the lock.

use super::window::{Sent, Window};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::num::NonZeroU32;

/// The slots of a window, while it has nothing to learn and no operation waits. Then the gate is *open*, and the word has the number of
/// free slots in its upper half, and the number of requests in flight in its lower half. A window has at least one slot, which is free or
/// taken. So a word of zero is a *closed* gate, whose number is that of the window, behind the lock.
///
/// The gate is opened and closed with the lock held only. It is closed while the window is changed, while an operation waits, during a
/// pause, and after a rejection until a request is accepted.
///
/// # Orderings
///
/// Each slot is taken and returned by a read-modify-write of the one word, which reads the latest value in the word's modification order.
/// So no slot is lost or given twice, whatever the orderings are. A refusal reads the word with a relaxed load, which may be stale. It
/// leads to the lock, which decides.
///
/// The thread that closes the gate gets the number of all slots that were taken and not returned, and the waiter uses it to decide
/// whether to wait. A return that finds the gate closed takes the lock, and then sees that waiter. A return that came before is in its
/// number. So no wake is lost.
///
/// A request that reads the number of a cut takes its slot after that cut: the number is released after the gate was closed for it, and acquired before
/// the slot is taken.
///
/// Taking acquires what returning releases, as the lock does: a request that gets a slot comes after the one that returned it. The word
/// guards no other memory: the window and the queue are behind the lock.
#[derive(Debug)]
pub(super) struct Open {
    word: AtomicU64,
    /// The number of the window's last cut. It is read before a slot is taken. If there is a cut in between, the request is
    /// treated as sent before the cut, so its rejection is ignored.
    cuts: AtomicU32,
}

/// A free slot in a word.
const FREE: u64 = 1 << 32;
/// The change of a word by a slot that is returned. A slot that is taken is the opposite.
const RETURNED: u64 = FREE - 1;

const fn word(free: u32, in_flight: u32) -> u64 {
    (free as u64) << 32 | in_flight as u64
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
const fn in_flight(word: u64) -> u32 {
    word as u32
}

impl Open {
    /// Creates a gate that is closed.
    pub(super) const fn new() -> Self {
        Self { word: AtomicU64::new(0), cuts: AtomicU32::new(1) }
    }

    /// Takes a slot. Returns `None` if the lock is needed: the gate is closed, or no slot is free.
    #[inline]
    pub(super) fn take(&self) -> Option<Sent> {
        let cuts = NonZeroU32::new(self.cuts.load(Ordering::Acquire))?;
        let less = |current| if current < FREE { None } else { Some(current - RETURNED) };
        let taken = self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, less);
        taken.ok().map(|former| Sent::new(in_flight(former), cuts))
    }

    /// Returns a slot from whose outcome the window learns nothing unless it is used up. Returns `false` if the lock is needed: the gate
    /// is closed, or all slots are taken.
    #[inline]
    pub(super) fn put(&self) -> bool {
        let more = |current| if current < FREE { None } else { Some(current + RETURNED) };
        self.word.fetch_update(Ordering::Release, Ordering::Relaxed, more).is_ok()
    }

    /// Closes the gate, and gives the window its number of requests in flight.
    pub(super) fn close(&self, window: &mut Window) {
        let former = self.word.swap(0, Ordering::AcqRel);
        if former > 0 {
            window.set_in_flight(in_flight(former));
        }
    }

    /// Opens the gate to the slots of this window.
    pub(super) fn open(&self, window: &Window) {
        self.cuts.store(window.cuts().get(), Ordering::Release);
        self.word.store(word(window.free(), window.in_flight()), Ordering::Release);
    }
}
