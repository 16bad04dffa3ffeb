//! The slots of a gate that is open: one word, by which slots are taken and returned without the lock.

use super::window::{Sent, Window};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::num::NonZeroU32;

/// The slots of a window, while it has nothing to learn and no operation waits. Then the gate is *open*, and the word has the number of
/// requests in flight in its lower half, and the size of the window in its upper half. A word of zero is a *closed* gate, whose number
/// is that of the window, behind the lock.
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

const fn word(in_flight: u32, size: u32) -> u64 {
    (size as u64) << 32 | in_flight as u64
}

#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
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
        let taken = self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, |current| {
            let (in_flight, size) = halves(current);
            (in_flight < size).then(|| word(in_flight + 1, size))
        });
        taken.ok().map(|former| Sent::new(halves(former).0, cuts))
    }

    /// Returns a slot from whose outcome the window learns nothing unless it is used up. Returns `false` if the lock is needed: the gate
    /// is closed, or all slots are taken.
    #[inline]
    pub(super) fn put(&self) -> bool {
        let put = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, |current| {
            let (in_flight, size) = halves(current);
            (in_flight < size).then(|| word(in_flight.saturating_sub(1), size))
        });
        put.is_ok()
    }

    /// Closes the gate, and gives the window its number of requests in flight.
    pub(super) fn close(&self, window: &mut Window) {
        let (in_flight, size) = halves(self.word.swap(0, Ordering::AcqRel));
        // The size of a closed gate is 0, and that of a window at least 1.
        if size > 0 {
            window.set_in_flight(in_flight);
        }
    }

    /// Opens the gate to the slots of this window.
    pub(super) fn open(&self, window: &Window) {
        self.cuts.store(window.cuts().get(), Ordering::Release);
        self.word.store(word(window.in_flight(), window.size()), Ordering::Release);
    }
}
