//! The limiter of the AWS SDKs: a bucket of sends whose rate is learned from throttling.

mod rate;
mod send_bucket;
#[cfg(test)]
mod tests;

use super::limiter::{FailedSend, SendLimiter, Unpaid};
use super::queue::{SendQueue, Ticket};
use super::{LazyWaker, Ready};
use crate::policy::Success;
use crate::support::Shared;
use crate::support::sync::{AtomicU8, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::Clock;
use send_bucket::Limiter;
use std::time::Duration;

/// The limiter of an [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy).
#[derive(Debug)]
pub struct AdaptiveLimiter(Shared<Gate>);

/// The place of an operation in an [`AdaptiveLimiter`].
#[derive(Debug, Default)]
pub struct AdaptivePlace {
    /// The place in the queue, while the operation waits for a send.
    ticket: Option<Ticket>,
    /// Whether the send was granted.
    is_granted: bool,
}

impl AdaptivePlace {
    /// Returns whether the operation may send its next attempt, because the limiter granted it.
    #[inline]
    pub const fn is_granted(&self) -> bool {
        self.is_granted
    }
}

impl AdaptiveLimiter {
    /// Creates a limiter, for a strategy that shares it, or for a pair of limiters.
    pub const fn new() -> Self {
        Self(Shared::new(Gate::new()))
    }

    #[inline]
    fn with_gate<R>(&self, using: impl FnOnce(&Gate) -> R) -> R {
        self.0.with(Gate::new, using)
    }
}

impl Default for AdaptiveLimiter {
    fn default() -> Self {
        Self::new()
    }
}

impl SendLimiter for AdaptiveLimiter {
    type Place = AdaptivePlace;

    /// Makes the limiter measure, if it does not measure yet.
    #[inline]
    fn begin(&self, clock: &dyn Clock) -> AdaptivePlace {
        self.with_gate(|gate| gate.begin(clock));
        AdaptivePlace::default()
    }

    #[inline]
    fn must_ask(&self, place: &AdaptivePlace) -> bool {
        self.with_gate(Gate::is_limiting) && !place.is_granted
    }

    #[inline]
    fn ask(&self, place: &mut AdaptivePlace, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        let wait = self.with_gate(|gate| gate.ask(clock, &mut place.ticket));
        place.is_granted = wait.is_none();
        wait.map_or(Ready::Now, Ready::After)
    }

    #[inline]
    fn succeeded(&self, place: &mut AdaptivePlace, _: &Success, clock: &dyn Clock) {
        self.with_gate(|gate| gate.learn(clock, false, place.ticket));
    }

    #[inline]
    fn failed(&self, place: &mut AdaptivePlace, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        match failure {
            FailedSend::NotSent => self.release(place),
            FailedSend::Rejected { .. } => self.with_gate(|gate| gate.learn(clock, true, place.ticket)),
            FailedSend::Otherwise { .. } => self.with_gate(|gate| gate.learn(clock, false, place.ticket)),
        }
        *place = AdaptivePlace::default();
        None
    }

    #[inline]
    fn uncounted(&self, _: &AdaptivePlace) -> u32 {
        0
    }

    fn put_back(&self, place: &mut AdaptivePlace) {
        if std::mem::take(&mut place.is_granted) {
            self.with_gate(|gate| gate.put_back(&mut place.ticket));
        }
    }

    fn release(&self, place: &mut AdaptivePlace) {
        let AdaptivePlace { ticket, is_granted } = std::mem::take(place);
        self.with_gate(|gate| gate.give_up(ticket, is_granted));
    }

    fn send_rate(&self) -> Option<f64> {
        self.with_gate(Gate::send_rate)
    }
}

/// The queue of sends behind a lock, and an atomic phase that shows whether the lock is needed.
#[derive(Debug)]
struct Gate {
    /// A [`Phase`]. It only shows which steps are needed, and all other state is behind the lock.
    /// So relaxed ordering suffices: a thread that reads an old phase does what was correct a moment before.
    phase: AtomicU8,
    /// `None` until the first operation begins, because a `const` constructor has no clock. No user code runs while the
    /// queue is locked, not even the clock, so the lock is never poisoned.
    queue: Mutex<Option<SendQueue<Limiter>>>,
}

/// The phase of a limiter. The variants are only compared.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Before the first operation.
    Idle,
    /// Before the first throttling: the rate of responses is measured.
    Measuring,
    /// Since the first throttling: sends are limited. It never ends.
    Limiting,
}

impl Gate {
    const fn new() -> Self {
        Self { phase: AtomicU8::new(Phase::Idle as u8), queue: Mutex::new(None) }
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Option<SendQueue<Limiter>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current limit on sends per second, or `None` before the first throttling.
    fn send_rate(&self) -> Option<f64> {
        self.lock().as_ref().map(SendQueue::limit).filter(|limiter| limiter.is_enabled()).map(Limiter::rate)
    }

    /// Begins an operation. The first one creates the limiter, which measures time from then on.
    #[inline]
    fn begin(&self, clock: &dyn Clock) {
        if self.phase.load(Ordering::Relaxed) == Phase::Idle as u8 {
            self.create(clock);
        }
    }

    #[cold]
    fn create(&self, clock: &dyn Clock) {
        let now = clock.now();
        self.lock().get_or_insert_with(|| SendQueue::new(Limiter::new(now), now));
        // If another thread has set a later phase already, it stays: `Limiting` must not become `Measuring` again.
        let (idle, measuring) = (Phase::Idle as u8, Phase::Measuring as u8);
        let _ = self.phase.compare_exchange(idle, measuring, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether sends are limited.
    #[inline]
    fn is_limiting(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == Phase::Limiting as u8
    }

    /// Asks for a send. Returns how long to wait before asking again, or `None` if the send is granted.
    #[inline]
    fn ask(&self, clock: &dyn Clock, ticket: &mut Option<Ticket>) -> Option<Duration> {
        let now = clock.now();
        self.lock().as_mut().and_then(|queue| queue.ask(now, ticket, ()))
    }

    /// Learns from a response. If its operation still has a place in the queue, it gives the place up.
    #[inline]
    fn learn(&self, clock: &dyn Clock, throttled: bool, ticket: Option<Ticket>) {
        let now = clock.now();
        if let Some(queue) = &mut *self.lock() {
            queue.leave(ticket);
            let (limiter, now) = queue.limit_at(now);
            limiter.response(now, throttled);
        }
        if throttled {
            self.phase.store(Phase::Limiting as u8, Ordering::Relaxed);
        }
    }

    /// Gives back a granted send that is not made yet, and keeps the operation's turn.
    fn put_back(&self, ticket: &mut Option<Ticket>) {
        if let Some(queue) = &mut *self.lock() {
            queue.put_back(ticket, ());
        }
    }

    /// Gives up a place in the queue. If `is_granted`, it also gives back a granted send that was not made.
    #[inline]
    fn give_up(&self, ticket: Option<Ticket>, is_granted: bool) {
        if let Some(queue) = &mut *self.lock() {
            queue.give_up(ticket, is_granted.then_some(()));
        }
    }
}
