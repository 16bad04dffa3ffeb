//! The state that all operations of an adaptive strategy share.

use super::limiter::Limiter;
use crate::strategy::send_queue::{SendQueue, Ticket};
use crate::support::sync::{AtomicU8, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::Clock;
use std::time::Duration;

/// The queue of sends behind a lock, and an atomic phase that shows whether the lock is needed.
#[derive(Debug)]
pub(super) struct Gate {
    /// One of the constants below. The phase only shows which steps are needed, and all other state is behind the lock.
    /// So relaxed ordering suffices: a thread that reads an old phase does what was correct a moment before.
    phase: AtomicU8,
    /// `None` until the first operation begins, because a `const` constructor has no clock. No user code runs while the
    /// queue is locked, not even the clock, so the lock is never poisoned.
    queue: Mutex<Option<SendQueue<Limiter>>>,
}

/// The phase before the first operation.
const IDLE: u8 = 0;
/// The phase before the first throttling: the rate of responses is measured.
const MEASURING: u8 = 1;
/// The phase since the first throttling: sends are limited. It never ends.
const LIMITING: u8 = 2;

impl Gate {
    pub(super) const fn new() -> Self {
        Self { phase: AtomicU8::new(IDLE), queue: Mutex::new(None) }
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Option<SendQueue<Limiter>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current limit on sends per second, or `None` before the first throttling.
    pub(super) fn send_rate(&self) -> Option<f64> {
        self.lock().as_ref().map(SendQueue::limit).filter(|limiter| limiter.is_enabled()).map(Limiter::rate)
    }

    /// Begins an operation. The first one creates the limiter, which measures time from then on.
    #[inline]
    pub(super) fn begin(&self, clock: &dyn Clock) {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.create(clock);
        }
    }

    #[cold]
    fn create(&self, clock: &dyn Clock) {
        let now = clock.now();
        self.lock().get_or_insert_with(|| SendQueue::new(Limiter::new(now), now));
        // If another thread has set a later phase already, it stays: `LIMITING` must not become `MEASURING` again.
        let _ = self.phase.compare_exchange(IDLE, MEASURING, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether sends are limited.
    #[inline]
    pub(super) fn is_limiting(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == LIMITING
    }

    /// Asks for a send. Returns how long to wait before asking again, or `None` if the send is granted.
    #[inline]
    pub(super) fn ask(&self, clock: &dyn Clock, ticket: &mut Option<Ticket>) -> Option<Duration> {
        let now = clock.now();
        self.lock().as_mut().and_then(|queue| queue.ask(now, ticket))
    }

    /// Learns from a response. If its operation still has a place in the queue, it gives the place up.
    #[inline]
    pub(super) fn learn(&self, clock: &dyn Clock, throttled: bool, ticket: Option<Ticket>) {
        let now = clock.now();
        if let Some(queue) = &mut *self.lock() {
            queue.leave(ticket);
            let (limiter, now) = queue.limit_at(now);
            limiter.response(now, throttled);
        }
        if throttled {
            self.phase.store(LIMITING, Ordering::Relaxed);
        }
    }

    /// Gives up a place in the queue. If `is_granted`, it also gives back a send that was granted and not made.
    #[inline]
    pub(super) fn give_up(&self, ticket: Option<Ticket>, is_granted: bool) {
        if let Some(queue) = &mut *self.lock() {
            queue.give_up(ticket, is_granted);
        }
    }
}
