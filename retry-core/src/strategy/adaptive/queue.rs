//! Those who wait for a send, in the order in which they came.

use crate::strategy::adaptive::limiter::Limiter;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Nobody is told to wait longer than this at a time, because the rate may change meanwhile.
const RECHECK: Duration = Duration::from_millis(100);
/// How late a waiter may be, at least, before those behind it go first.
const GRACE: Duration = Duration::from_millis(50);
/// How long a send is kept for a waiter that is late.
const KEEP: Duration = Duration::from_secs(10);

/// The place of a waiter; a lower number came earlier.
pub(super) type Ticket = u64;

/// The limiter and those who wait for it.
///
/// Each waiter sleeps as it was told and asks again. It is in nobody's power to wake it earlier, so it is told a short
/// while if it has long to wait. While it is expected, nobody behind it takes its send. If it is late when that is there,
/// the send is kept for it, and those behind go on with what comes in after that: so they wait for it once, and it has its
/// send whenever it asks, however slow it is. One send is kept at a time, and not for ever. A waiter that is late beyond
/// the grace, and has no send kept, is passed over until it asks, and keeps its place.
///
/// Nothing else is taken from the limiter before a send is granted, so a waiter that goes away leaves nothing but its
/// place.
#[derive(Debug)]
pub(super) struct SendQueue {
    limiter: Limiter,
    /// The waiters that are expected to ask, in the order of their tickets. One that is passed over is not among them.
    expected: VecDeque<Expected>,
    kept: Option<Kept>,
    next_ticket: Ticket,
}

/// A waiter that is expected to ask.
#[derive(Clone, Copy, Debug)]
struct Expected {
    ticket: Ticket,
    asks_at: Timestamp,
}

/// A send that was taken from the limiter for a waiter that is late.
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

    /// Grants a send, or says how long to wait before asking again, and keeps the place.
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

    /// Gives a place up, and what was kept for it.
    pub(super) fn leave(&mut self, ticket: Option<Ticket>) {
        if self.kept.is_some_and(|kept| Some(kept.ticket) == ticket) {
            self.kept = None;
            self.limiter.give_back();
        }
        self.forget(ticket);
    }

    /// A send that was granted is not made.
    pub(super) fn give_back(&mut self) {
        self.limiter.give_back();
    }

    /// Learns from a response.
    pub(super) fn response(&mut self, now: Timestamp, throttled: bool) {
        let now = self.observe(now);
        self.limiter.response(now, throttled);
    }

    fn forget(&mut self, ticket: Option<Ticket>) {
        if let Some(Ok(index)) = ticket.map(|ticket| self.find(ticket)) {
            self.expected.remove(index);
        }
    }

    /// Expects a waiter, or expects it at another time.
    fn expect(&mut self, waiter: Expected) {
        match self.find(waiter.ticket) {
            Ok(index) => self.expected[index] = waiter,
            Err(index) => self.expected.insert(index, waiter),
        }
    }

    /// The index of the waiter among those who are expected, or the one where it belongs.
    fn find(&self, ticket: Ticket) -> Result<usize, usize> {
        self.expected.binary_search_by_key(&ticket, |waiter| waiter.ticket)
    }

    /// The time to reckon with. If the clock went backwards, whoever was told a time that is far off now is due.
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

    /// Keeps a send for the first in line if it is late, before anybody behind it can have that.
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

    /// How many are expected to take a send before the one who asks. There is no need to count further than anybody is
    /// told to wait.
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

    fn is_beyond_grace(&self, asks_at: Timestamp, now: Timestamp) -> bool {
        let interval = Duration::try_from_secs_f64(1.0 / self.limiter.rate()).unwrap_or(Duration::MAX);
        now.saturating_since(asks_at) > interval.max(GRACE)
    }
}
