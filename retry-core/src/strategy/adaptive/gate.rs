//! The state that all operations of an adaptive strategy share.

use super::limiter::Limiter;
use super::queue::{SendQueue, Ticket};
use crate::support::sync::{AtomicU8, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::Clock;
use std::time::Duration;

/// What every send passes.
#[derive(Debug)]
pub(super) struct Gate {
    /// One of the constants below. It says no more than what is worth doing: all that is counted on lies behind the
    /// lock. So relaxed order suffices: whoever reads an old phase does what was right a moment ago.
    phase: AtomicU8,
    /// None until the first operation begins, because a `const` knows no time. Nothing of the user's runs while it is
    /// locked, the clock included, so it is never poisoned.
    queue: Mutex<Option<SendQueue>>,
}

/// No operation has begun.
const IDLE: u8 = 0;
/// Responses are measured.
const MEASURING: u8 = 1;
/// Sends are limited, for good.
const LIMITING: u8 = 2;

impl Gate {
    pub(super) const fn new() -> Self {
        Self { phase: AtomicU8::new(IDLE), queue: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<SendQueue>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rate that sends are limited to now, per second; `None` as long as nothing was throttled.
    pub(super) fn send_rate(&self) -> Option<f64> {
        self.lock().as_ref().map(SendQueue::limiter).filter(|limiter| limiter.is_enabled()).map(Limiter::rate)
    }

    /// Begins an operation. The limiter counts time from the first one.
    #[inline]
    pub(super) fn begin(&self, clock: &dyn Clock) {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.create(clock);
        }
    }

    #[cold]
    fn create(&self, clock: &dyn Clock) {
        let now = clock.now();
        self.lock().get_or_insert_with(|| SendQueue::new(now));
        // If another thread was faster, and limits already, that stays.
        let _ = self.phase.compare_exchange(IDLE, MEASURING, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether sends are limited.
    #[inline]
    pub(super) fn is_limiting(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == LIMITING
    }

    /// Asks for a send. Returns how long to wait before the next question; `None` if it is granted.
    pub(super) fn ask(&self, clock: &dyn Clock, ticket: &mut Option<Ticket>) -> Option<Duration> {
        let now = clock.now();
        self.lock().as_mut().and_then(|queue| queue.ask(now, ticket))
    }

    /// Learns from a response. Its operation no longer waits, if it did.
    pub(super) fn learn(&self, clock: &dyn Clock, throttled: bool, ticket: Option<Ticket>) {
        let now = clock.now();
        if let Some(queue) = &mut *self.lock() {
            if ticket.is_some() {
                queue.leave(ticket);
            }
            queue.response(now, throttled);
        }
        if throttled {
            self.phase.store(LIMITING, Ordering::Relaxed);
        }
    }

    /// Gives up a place, and a send that was granted and not made.
    pub(super) fn give_up(&self, ticket: Option<Ticket>, is_granted: bool) {
        if let Some(queue) = &mut *self.lock() {
            queue.leave(ticket);
            if is_granted {
                queue.give_back();
            }
        }
    }
}
