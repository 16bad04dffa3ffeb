//! Those who wait for a send, in the order in which they came.

use crate::adaptive::limiter::Limiter;
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// Nobody is told to wait longer than this at a time, because the rate may change meanwhile.
const RECHECK: Duration = Duration::from_millis(100);
/// How late a waiter may be, at least, before those behind it go first.
const GRACE: Duration = Duration::from_millis(50);

/// The place of a waiter; a lower number came earlier.
pub(super) type Ticket = u64;

/// The limiter and those who wait for it.
///
/// Each waiter sleeps as it was told and asks again. It is in nobody's power to wake it earlier, so it is told a short
/// while if it has long to wait. While it is expected, capacity is kept for it; if it is late, it is passed over until it
/// asks, and keeps its place. Nothing is taken from the limiter before a send is granted, so a waiter that goes away
/// leaves nothing but its place.
#[derive(Debug)]
pub(super) struct SendQueue {
    limiter: Limiter,
    /// When each waiter will ask again.
    waiters: BTreeMap<Ticket, Timestamp>,
    next_ticket: Ticket,
}

impl SendQueue {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { limiter: Limiter::new(now), waiters: BTreeMap::new(), next_ticket: 0 }
    }

    pub(super) const fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    /// Grants a send, or says how long to wait before asking again, and keeps the place.
    pub(super) fn ask(&mut self, now: Timestamp, ticket: &mut Option<Ticket>) -> Option<Duration> {
        let expected = now.saturating_sub(self.grace())..=now.saturating_add(RECHECK);
        let ahead = self.waiters.range(..ticket.unwrap_or(Ticket::MAX));
        // Those ahead who are expected come first. There is no need to count further than anybody is told to wait.
        let mut wait = self.limiter.wait_for(now, 1.0);
        let mut sends = 1.0;
        for _ in ahead.filter(|(_, asks_at)| expected.contains(asks_at)) {
            if wait >= RECHECK {
                break;
            }
            sends += 1.0;
            wait = self.limiter.wait_for(now, sends);
        }
        if wait.is_zero() {
            self.limiter.take();
            self.leave(ticket.take());
            return None;
        }
        let wait = wait.min(RECHECK);
        let place = *ticket.get_or_insert_with(|| {
            self.next_ticket += 1;
            self.next_ticket
        });
        self.waiters.insert(place, now.saturating_add(wait));
        Some(wait)
    }

    /// Gives a place up.
    pub(super) fn leave(&mut self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.waiters.remove(&ticket);
        }
    }

    /// Learns from a response.
    pub(super) fn response(&mut self, now: Timestamp, throttled: bool) {
        self.limiter.response(now, throttled);
    }

    fn grace(&self) -> Duration {
        Duration::try_from_secs_f64(1.0 / self.limiter.rate()).map_or(GRACE, |interval| interval.max(GRACE))
    }
}
