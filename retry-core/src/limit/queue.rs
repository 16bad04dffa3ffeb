//! The queue of the operations that wait for a send: first come, first served.

use crate::time::{Observed, Timestamp};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// The longest single wait. A waiter asks again after it, because the rate may have changed.
pub const RECHECK: Duration = Duration::from_millis(100);
/// The shortest grace period: a waiter that is later than the grace period is passed over. The grace period is one send
/// interval if that is longer.
pub const GRACE: Duration = Duration::from_millis(50);
/// The longest time for which a send is kept for a late waiter.
const KEEP: Duration = Duration::from_secs(10);
/// The shortest time between two searches for late waiters, because a search examines all waiters.
const SEARCH_INTERVAL: Duration = Duration::from_millis(1);

/// The place of a waiter in a [`SendQueue`]. A waiter with a lower number came earlier. A queue never issues a number twice, so a
/// queue that may be asked with a ticket must not be replaced by a new one.
pub type Ticket = NonZeroU64;

/// The arithmetic below a [`SendQueue`]: how many sends are available, and when the next ones are. The page of the
/// [module](crate::parts) has an example.
///
/// A limit knows nothing about waiters. It takes a send only when the queue grants or keeps one.
pub trait SendSupply {
    /// What distinguishes the requests of two waiters: nothing, if every request is one send.
    type Weight: Copy + Debug;

    /// Returns the longest time for which a send is kept for a late waiter.
    fn keeps_for() -> Duration {
        KEEP
    }

    /// Returns the number of sends that a request of this weight is.
    fn sends(&self, weight: Self::Weight) -> f64 {
        let _ = weight;
        1.0
    }

    /// Returns the number of sends that so many requests are, whose weights are known by their index. If they are more than can
    /// be waited for in [`RECHECK`], it may be lower.
    // More waiters than an `f64` counts exactly do not fit into memory.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    fn sends_of_all(&self, requests: usize, weight: impl Fn(usize) -> Self::Weight) -> f64 {
        let _ = weight;
        requests as f64
    }

    /// Returns the current time to use, and whether the clock was set back.
    fn observe(&mut self, now: Timestamp) -> Observed;

    /// Adds the sends that have become available up to now. The queue calls it before the methods below.
    fn refill(&mut self, now: Timestamp);

    /// Returns the time until this many sends are available, which is zero if they are.
    fn wait_for(&self, sends: f64) -> Duration;

    /// Takes the sends of a request, which are available.
    fn take(&mut self, weight: Self::Weight);

    /// Gives the sends of a request back.
    fn give_back(&mut self, weight: Self::Weight);

    /// Returns the time between two sends.
    fn interval(&self) -> Duration;
}

/// Returns the time in which this many sends become available, at a rate in sends per second. It is zero if no clock can
/// measure it, because it is less than a nanosecond.
pub fn time_for(sends: f64, rate: f64) -> Duration {
    match Duration::try_from_secs_f64(sends / rate) {
        // Rounded up, so that an operation that asks again after this time need not wait for another nanosecond.
        Ok(wait) if !wait.is_zero() => wait.saturating_add(Duration::from_nanos(1)),
        Ok(zero) => zero,
        Err(_) => Duration::MAX,
    }
}

/// Returns the ticket of this number. No queue issues so many that the numbers end.
fn issued(number: Option<u64>) -> Ticket {
    number.and_then(Ticket::new).unwrap_or(Ticket::MIN)
}

/// A limit on sends, and the queue of its waiters.
///
/// A waiter sleeps for the time that it gets as the answer, and then asks again. Waiters cannot be woken early, so a
/// long wait is split into waits of at most [`RECHECK`].
///
/// While a waiter is expected to ask, the waiters behind it do not take its send. A waiter can be late:
///
/// - If it is late when its send becomes available, the send is kept for it, and the waiters behind it continue with
///   the sends that come in after that. So they wait for it only once, and it gets its send as soon as it asks, however
///   slow it is. Only one send is kept at a time, and for [10 s](SendSupply::keeps_for) at most.
/// - If it is later than the grace period (see [`GRACE`]) and no send is kept for it, it is passed over until it asks.
///   It keeps its place.
///
/// Except for the kept send, nothing is taken from the limit before a send is granted. So a waiter that leaves only has
/// to give up its place.
///
/// # Costs
///
/// A waiter finds its place, and so the number of waiters ahead, by binary search. Two things take time in proportion
/// to the number of waiters: a waiter that joins or leaves in the middle of the list, because it was passed over or
/// gives up, and the search for late waiters. The search runs when a waiter may be later than the grace period: if all
/// are in time, about once in each grace period, and never more often than once in a millisecond.
#[derive(Debug)]
pub struct SendQueue<L: SendSupply> {
    limit: L,
    /// The waiters that are expected to ask and to take a send from the limit, in the order of their tickets. A waiter
    /// that is passed over is not in the list, and neither is the one for which a send is kept.
    expected: VecDeque<Expected<L::Weight>>,
    /// The time of the next search for late waiters, if the grace period is [`GRACE`]. With a longer grace period, it is later by
    /// the difference. A waiter that comes later is not late before it, because a search sets it to that time after now at most.
    search_at: Timestamp,
    kept: Option<Kept<L::Weight>>,
    /// The tickets of operations that put their sends back, from the last one to the first one.
    front_tickets: Range<u64>,
    /// The tickets of waiters that come.
    tickets: Range<u64>,
}

/// A waiter that is expected to ask.
#[derive(Clone, Copy, Debug)]
struct Expected<W> {
    ticket: Ticket,
    weight: W,
    /// The time at which its wait ends.
    asks_at: Timestamp,
}

/// A send that was taken from the limit for a late waiter.
#[derive(Clone, Copy, Debug)]
struct Kept<W> {
    ticket: Ticket,
    weight: W,
    since: Timestamp,
}

impl<L: SendSupply> SendQueue<L> {
    /// Creates a queue without waiters.
    pub const fn new(limit: L, now: Timestamp) -> Self {
        let (front_tickets, tickets) = const { (1..1 << 63, 1 << 63..u64::MAX) };
        Self { limit, expected: VecDeque::new(), search_at: now, kept: None, front_tickets, tickets }
    }

    /// Returns the limit.
    pub const fn limit(&self) -> &L {
        &self.limit
    }

    /// Returns the limit, to change what does not depend on the time. For the rest, use [`limit_at`](SendQueue::limit_at).
    pub const fn limit_mut(&mut self) -> &mut L {
        &mut self.limit
    }

    /// Returns whether no waiter has a place or a send that is kept for it, apart from waiters that were passed over.
    pub fn is_empty(&self) -> bool {
        self.expected.is_empty() && self.kept.is_none()
    }

    /// Returns the limit with the current time to use, to change its rate.
    #[inline]
    pub fn limit_at(&mut self, now: Timestamp) -> (&mut L, Timestamp) {
        let now = self.observe(now);
        (&mut self.limit, now)
    }

    /// Asks for a send. Returns `None` if it is granted. Otherwise returns how long to wait before asking again, and
    /// sets `ticket` to the waiter's place.
    pub fn ask(&mut self, now: Timestamp, ticket: &mut Option<Ticket>, weight: L::Weight) -> Option<Duration> {
        let now = self.observe(now);
        self.ask_at(now, ticket, weight)
    }

    /// Asks for a send, as [`ask`](SendQueue::ask) does, at the time that [`limit_at`](SendQueue::limit_at) returned. A
    /// reading of the clock must not be observed twice: the second time, it would look as if the clock were right.
    #[inline]
    pub fn ask_at(&mut self, now: Timestamp, ticket: &mut Option<Ticket>, weight: L::Weight) -> Option<Duration> {
        self.limit.refill(now);
        if now > self.search_at && !self.expected.is_empty() {
            self.pass_over_the_late(now);
        }
        self.keep_for_the_first(now, *ticket);
        if self.kept.is_some_and(|kept| Some(kept.ticket) == *ticket) {
            self.kept = None;
            *ticket = None;
            return None;
        }
        let (ahead, is_expected) = self.place(*ticket);
        let sends_ahead = self.limit.sends_of_all(ahead, |index| self.expected[index].weight);
        let wait = self.limit.wait_for(sends_ahead + self.limit.sends(weight));
        if wait.is_zero() {
            self.limit.take(weight);
            if is_expected {
                self.expected.remove(ahead);
            }
            *ticket = None;
            return None;
        }
        let wait = wait.min(RECHECK);
        let ticket = *ticket.get_or_insert_with(|| issued(self.tickets.next()));
        let waiter = Expected { ticket, weight, asks_at: now.saturating_add(wait) };
        if is_expected {
            self.expected[ahead] = waiter;
        } else {
            self.expected.insert(ahead, waiter);
        }
        Some(wait)
    }

    /// Returns the weights of the waiters that are expected to ask, in the order of their places.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = L::Weight> {
        self.expected.iter().map(|waiter| waiter.weight)
    }

    /// Gives up a place, and the send that is kept for it, if any.
    #[inline]
    pub fn leave(&mut self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.leave_place(ticket);
        }
    }

    fn leave_place(&mut self, ticket: Ticket) {
        if let Some(kept) = self.kept.take_if(|kept| kept.ticket == ticket) {
            self.limit.give_back(kept.weight);
        }
        if let (index, true) = self.place(Some(ticket)) {
            self.expected.remove(index);
        }
    }

    /// Gives up a place, and gives back the send that was granted for a request of this weight and not made.
    pub fn give_up(&mut self, ticket: Option<Ticket>, granted: Option<L::Weight>) {
        self.leave(ticket);
        if let Some(weight) = granted {
            self.limit.give_back(weight);
        }
    }

    /// Gives back a granted send that is not made yet. Its operation asks again, in front of the operations that were
    /// never granted a send. Until then, others may take the send, as if the operation had been passed over.
    pub fn put_back(&mut self, ticket: &mut Option<Ticket>, weight: L::Weight) {
        self.limit.give_back(weight);
        self.keep_turn(ticket);
    }

    /// Lets an operation that was granted a send ask again in front of the others, as after [`put_back`](SendQueue::put_back).
    /// The send is not given back.
    pub fn keep_turn(&mut self, ticket: &mut Option<Ticket>) {
        *ticket = Some(issued(self.front_tickets.next_back()));
    }

    /// Returns the places of the first waiters, at most this many.
    pub fn first(&self, waiters: u32) -> impl Iterator<Item = Ticket> {
        self.expected.iter().map(|waiter| waiter.ticket).take(waiters as usize)
    }

    /// Returns whether a waiter is sent without a wait if this many sends are available.
    pub fn is_due(&self, ticket: Ticket, sends: u32) -> bool {
        let (ahead, is_expected) = self.place(Some(ticket));
        self.kept.is_some_and(|kept| kept.ticket == ticket)
            || is_expected && usize::try_from(sends).is_ok_and(|sends| ahead < sends)
    }

    /// Returns the number of expected waiters ahead of a ticket, which is its index in the list, and whether the ticket
    /// is in the list. Without a ticket, all waiters are ahead.
    fn place(&self, ticket: Option<Ticket>) -> (usize, bool) {
        let Some(ticket) = ticket else { return (self.expected.len(), false) };
        match self.expected.binary_search_by_key(&ticket, |waiter| waiter.ticket) {
            Ok(index) => (index, true),
            Err(index) => (index, false),
        }
    }

    /// Returns the current time to use. If the clock was set back, times that are now in the future are moved to now,
    /// so that no waiter is expected too late and no send is kept too long.
    #[inline]
    fn observe(&mut self, now: Timestamp) -> Timestamp {
        let Observed { now, went_back_to } = self.limit.observe(now);
        if went_back_to.is_some() {
            self.reanchor(now);
        }
        now
    }

    #[cold]
    fn reanchor(&mut self, now: Timestamp) {
        for waiter in &mut self.expected {
            waiter.asks_at = now.min(waiter.asks_at);
        }
        if let Some(kept) = &mut self.kept {
            kept.since = now.min(kept.since);
        }
        self.search_at = now.min(self.search_at);
    }

    /// Removes the waiters that are later than the grace period, so that they are passed over until they ask. The grace period
    /// follows from the current rate, which may have changed since the waiters got their waits.
    #[cold]
    fn pass_over_the_late(&mut self, now: Timestamp) {
        let grace = self.limit.interval().max(GRACE);
        let longer = grace.saturating_sub(GRACE);
        if now <= self.search_at.saturating_add(longer) {
            return;
        }
        let mut earliest = now;
        self.expected.retain(|waiter| {
            let is_late = now.saturating_since(waiter.asks_at) > grace;
            if !is_late {
                earliest = earliest.min(waiter.asks_at);
            }
            !is_late
        });
        let next = now.saturating_add(SEARCH_INTERVAL).since_origin().saturating_sub(longer);
        self.search_at = earliest.saturating_add(GRACE).max(Timestamp::from_origin(next));
    }

    /// Gives back the kept send if it was kept for too long.
    #[cold]
    fn keep_no_longer(&mut self, kept_for: Duration, weight: L::Weight) {
        if kept_for > L::keeps_for() {
            self.kept = None;
            self.limit.give_back(weight);
        }
    }

    /// Keeps a send for the first waiter if it is late, before a waiter behind it can take the send. It also gives back
    /// a send that was kept for too long, and the waiter that it was kept for is passed over.
    fn keep_for_the_first(&mut self, now: Timestamp, asking: Option<Ticket>) {
        if let Some(Kept { since, weight, .. }) = self.kept {
            self.keep_no_longer(now.saturating_since(since), weight);
        }
        if self.kept.is_none()
            && let Some(&Expected { ticket, weight, asks_at }) = self.expected.front()
            && asking.is_none_or(|asking| ticket < asking)
            && asks_at < now
            && self.limit.wait_for(self.limit.sends(weight)).is_zero()
        {
            self.limit.take(weight);
            self.expected.pop_front();
            self.kept = Some(Kept { ticket, weight, since: now });
        }
    }
}
