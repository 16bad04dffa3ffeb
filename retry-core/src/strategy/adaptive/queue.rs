//! The queue of the operations that wait for a send: first come, first served.

use crate::strategy::adaptive::limiter::Limiter;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// The longest single wait. A waiter asks again after it, because the rate may have changed.
const RECHECK: Duration = Duration::from_millis(100);
/// The shortest grace period: a waiter that is later than the grace period is passed over. The grace period is one send
/// interval if that is longer.
const GRACE: Duration = Duration::from_millis(50);
/// The longest time for which a send is kept for a late waiter.
const KEEP: Duration = Duration::from_secs(10);

/// The place of a waiter in the queue. A waiter with a lower number came earlier.
pub(super) type Ticket = u64;

/// The limiter, and the queue of its waiters.
///
/// A waiter sleeps for the time that it gets as the answer, and then asks again. Waiters cannot be woken early, so a
/// long wait is split into waits of at most [`RECHECK`].
///
/// While a waiter is expected to ask, the waiters behind it do not take its send. A waiter can be late:
///
/// - If it is late when its send becomes available, the send is kept for it, and the waiters behind it continue with
///   the sends that come in after that. So they wait for it only once, and it gets its send whenever it asks, however
///   slow it is. Only one send is kept at a time, and for [`KEEP`] at most.
/// - If it is later than the grace period (see [`GRACE`]) and no send is kept for it, it is passed over until it asks.
///   It keeps its place.
///
/// Except for the kept send, nothing is taken from the limiter before a send is granted. So a waiter that goes away
/// only has to give up its place.
#[derive(Debug)]
pub(super) struct SendQueue {
    limiter: Limiter,
    /// The waiters that are expected to ask, in the order of their tickets. A waiter that is passed over is not in the
    /// list.
    expected: VecDeque<Expected>,
    kept: Option<Kept>,
    next_ticket: Ticket,
}

/// A waiter that is expected to ask.
#[derive(Clone, Copy, Debug)]
struct Expected {
    ticket: Ticket,
    /// The time at which its wait ends.
    asks_at: Timestamp,
}

/// A send that was taken from the limiter for a late waiter.
#[derive(Clone, Copy, Debug)]
struct Kept {
    ticket: Ticket,
    since: Timestamp,
}

impl SendQueue {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { limiter: Limiter::new(now), expected: VecDeque::new(), kept: None, next_ticket: 0 }
    }

    pub(super) const fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    /// Asks for a send. Returns `None` if it is granted. Otherwise returns how long to wait before asking again, and
    /// sets `ticket` to the waiter's place.
    pub(super) fn ask(&mut self, now: Timestamp, ticket: &mut Option<Ticket>) -> Option<Duration> {
        let now = self.observe(now);
        self.limiter.refill(now);
        self.keep_for_the_first(now, ticket.unwrap_or(Ticket::MAX));
        if self.kept.is_some_and(|kept| Some(kept.ticket) == *ticket) {
            self.kept = None;
            self.forget(ticket.take());
            return None;
        }
        let ahead = self.count_ahead(now, ticket.unwrap_or(Ticket::MAX));
        let wait = self.limiter.wait_for(ahead + 1.0);
        if wait.is_zero() {
            self.limiter.take();
            self.forget(ticket.take());
            return None;
        }
        let wait = wait.min(RECHECK);
        let ticket = *ticket.get_or_insert_with(|| {
            self.next_ticket += 1;
            self.next_ticket
        });
        self.expect(Expected { ticket, asks_at: now.saturating_add(wait) });
        Some(wait)
    }

    /// Gives up a place, and the send that is kept for it, if any.
    pub(super) fn leave(&mut self, ticket: Option<Ticket>) {
        if self.kept.is_some_and(|kept| Some(kept.ticket) == ticket) {
            self.kept = None;
            self.limiter.give_back();
        }
        self.forget(ticket);
    }

    /// Gives back a send that was granted and not made.
    pub(super) fn give_back(&mut self) {
        self.limiter.give_back();
    }

    /// Learns from a response.
    pub(super) fn response(&mut self, now: Timestamp, throttled: bool) {
        let now = self.observe(now);
        self.limiter.response(now, throttled);
    }

    /// Removes a waiter from the list of those that are expected.
    fn forget(&mut self, ticket: Option<Ticket>) {
        if let Some(Ok(index)) = ticket.map(|ticket| self.find(ticket)) {
            self.expected.remove(index);
        }
    }

    /// Adds a waiter to the list of those that are expected, or updates its time.
    fn expect(&mut self, waiter: Expected) {
        match self.find(waiter.ticket) {
            Ok(index) => self.expected[index] = waiter,
            Err(index) => self.expected.insert(index, waiter),
        }
    }

    /// Returns the index of the waiter in the list, or the index at which to insert it.
    fn find(&self, ticket: Ticket) -> Result<usize, usize> {
        self.expected.binary_search_by_key(&ticket, |waiter| waiter.ticket)
    }

    /// Returns the current time to use. If the clock was set back, times that are now in the future are moved to now,
    /// so that no waiter is expected too late and no send is kept too long.
    fn observe(&mut self, now: Timestamp) -> Timestamp {
        let (now, went_back) = self.limiter.observe(now);
        if went_back {
            for waiter in &mut self.expected {
                waiter.asks_at = now.min(waiter.asks_at);
            }
            if let Some(kept) = &mut self.kept {
                kept.since = now.min(kept.since);
            }
        }
        now
    }

    /// Keeps a send for the first waiter if it is late, before a waiter behind it can take the send. It also gives back
    /// a send that was kept for too long.
    fn keep_for_the_first(&mut self, now: Timestamp, asking: Ticket) {
        if let Some(kept) = self.kept.filter(|kept| now.saturating_since(kept.since) > KEEP) {
            self.kept = None;
            self.limiter.give_back();
            self.forget(Some(kept.ticket));
        }
        if self.kept.is_none()
            && let Some(&Expected { ticket, asks_at }) = self.expected.front()
            && ticket < asking
            && asks_at < now
            && !self.is_beyond_grace(asks_at, now)
            && self.limiter.wait_for(1.0).is_zero()
        {
            self.limiter.take();
            self.kept = Some(Kept { ticket, since: now });
        }
    }

    /// Returns the number of waiters that are expected to take a send before the one that asks. Waiters later than the
    /// grace period are passed over.
    ///
    /// The count stops beyond the sends that come in within [`RECHECK`], because no wait is longer than that.
    fn count_ahead(&mut self, now: Timestamp, asking: Ticket) -> f64 {
        let (mut ahead, most) = (0.0, self.limiter.sends_within(RECHECK));
        let mut late = Vec::new();
        for &Expected { ticket, asks_at } in &self.expected {
            if ahead > most || ticket >= asking {
                break;
            } else if self.is_beyond_grace(asks_at, now) {
                late.push(ticket);
            } else if self.kept.is_none_or(|kept| kept.ticket != ticket) {
                ahead += 1.0;
            }
        }
        for ticket in late {
            self.forget(Some(ticket));
        }
        ahead
    }

    /// Returns whether a waiter that should have asked at `asks_at` is later than the grace period.
    fn is_beyond_grace(&self, asks_at: Timestamp, now: Timestamp) -> bool {
        let interval = Duration::try_from_secs_f64(1.0 / self.limiter.rate()).unwrap_or(Duration::MAX);
        now.saturating_since(asks_at) > interval.max(GRACE)
    }
}
