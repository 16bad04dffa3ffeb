//! The slots of requests in flight: the queue of the operations that wait for a slot, and the guard that returns a
//! slot.

use super::open::Open;
use super::window::{Sent, Window};
use crate::sync::{Mutex, MutexGuard, PoisonError};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::parts::{SendQueue, Ticket};
use retry_core::time::{Clock, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// The state that all operations share.
///
/// No foreign code runs while it is locked: neither clocks nor wakers, which are woken, cloned and dropped outside. So the lock
/// is never poisoned.
///
/// While it is open, slots are taken and returned without the lock.
#[derive(Debug)]
pub(super) struct Gate {
    open: Open,
    most: u32,
    room: Mutex<Room>,
}

#[derive(Debug)]
struct Room {
    /// `None` until the first question, because a `const` constructor has no clock.
    queue: Option<SendQueue<Window>>,
    /// The wakers of the waiters. A waiter that was woken has none until it asks again.
    wakers: BTreeMap<Ticket, Waker>,
}

impl Gate {
    /// Creates a gate with this highest window.
    pub(super) const fn new(most: u32) -> Self {
        Self { open: Open::new(), most, room: Mutex::new(Room { queue: None, wakers: BTreeMap::new() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the result of `read` for the window, or `None` before the first question.
    pub(super) fn read<R>(&self, read: impl FnOnce(&Window) -> R) -> Option<R> {
        self.change(|room| room.queue.as_ref().map(|queue| read(queue.limit())))
    }

    /// Changes the room, and wakes the waiters that may be sent then.
    fn change<R>(&self, change: impl FnOnce(&mut Room) -> R) -> R {
        let (changed, woken) = {
            let mut room = self.lock();
            if let Some(queue) = &mut room.queue {
                self.open.close(queue.limit_mut());
            }
            let changed = change(&mut room);
            let woken = room.due();
            if let Some(queue) = &room.queue
                && queue.is_empty()
                && queue.limit().is_steady()
            {
                self.open.open(queue.limit());
            }
            (changed, woken)
        };
        woken.into_iter().for_each(Waker::wake);
        changed
    }

    /// Asks once for a slot, behind the lock. Returns the state of the window when the slot is taken, or how long to wait.
    fn ask(&self, now: Timestamp, ticket: &mut Option<Ticket>) -> Result<Sent, Duration> {
        // The waker is dropped after the lock is released.
        let (answer, _waker) = self.change(|room| {
            let Room { queue, wakers } = room;
            let queue = queue.get_or_insert_with(|| SendQueue::new(Window::new(self.most, now), now));
            let former = *ticket;
            match queue.ask(now, ticket, ()) {
                Some(wait) => (Err(wait), None),
                None => (Ok(queue.limit().sent()), former.and_then(|ticket| wakers.remove(&ticket))),
            }
        });
        answer
    }

    /// Registers the waker of a waiter. Returns whether it must ask again, because a slot has come back meanwhile.
    fn register(&self, ticket: Ticket, waker: Waker) -> bool {
        // The former waker is dropped after the lock is released.
        let (is_due, _former) = {
            let mut room = self.lock();
            // The gate is closed while the queue expects the waiter, so the window knows how many slots are free.
            let is_due = room.queue.as_ref().is_some_and(|queue| queue.is_due(ticket, queue.limit().free()));
            (is_due, room.wakers.insert(ticket, waker))
        };
        is_due
    }

    /// Asks for a slot behind the lock, for the operation with this ticket and this slot.
    #[cold]
    fn ask_in_line(
        &self,
        (ticket, slot): (&mut Option<Ticket>, &mut Option<Sent>),
        clock: &dyn Clock,
        waker: Option<&LazyWaker<'_>>,
    ) -> Ready {
        loop {
            let wait = match self.ask(clock.now(), ticket) {
                Ok(sent) => {
                    *slot = Some(sent);
                    return Ready::Now;
                }
                Err(wait) => wait,
            };
            // The waker is created outside of the lock, so a slot can be returned before the waker is registered.
            if let (Some(waker), Some(ticket)) = (waker, *ticket)
                && self.register(ticket, waker.waker())
            {
                continue;
            }
            return Ready::After(wait);
        }
    }

    /// Takes back the place or the slot of an operation that ends without an outcome.
    #[cold]
    fn leave(self: Arc<Self>, ticket: Option<Ticket>, sent: Option<Sent>) {
        match (ticket, sent) {
            // It returned its slot with an outcome.
            (None, None) => {}
            (None, Some(_)) if self.open.put() => {}
            // The waker is dropped after the lock is released.
            _ => drop(self.change(|room| {
                if let Some(queue) = &mut room.queue {
                    queue.give_up(ticket, sent.map(|_| ()));
                }
                ticket.and_then(|ticket| room.wakers.remove(&ticket))
            })),
        }
    }
}

impl Room {
    /// Takes the wakers of the waiters that may be sent now.
    fn due(&mut self) -> Vec<Waker> {
        let Some(queue) = self.queue.as_ref().filter(|_| !self.wakers.is_empty()) else { return Vec::new() };
        let free = queue.limit().free();
        queue.first(free).filter_map(|ticket| self.wakers.remove(&ticket)).collect()
    }
}

/// The place of an operation in the queue, or the slot of its request. A dropped place returns its slot.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// `None` until the operation asks for a slot, and after an outcome from which the window learned nothing.
    gate: Option<Arc<Gate>>,
    /// `None` with a slot.
    ticket: Option<Ticket>,
    sent: Option<Sent>,
}

impl Seat {
    /// Creates the place of an operation that has not asked.
    pub(super) const fn new() -> Self {
        Self { gate: None, ticket: None, sent: None }
    }

    /// Returns whether it has a slot.
    #[inline]
    pub(super) const fn is_granted(&self) -> bool {
        self.sent.is_some()
    }

    /// Asks for a slot of this gate.
    #[inline]
    pub(super) fn ask(
        &mut self,
        gate: impl FnOnce() -> Arc<Gate>,
        clock: &dyn Clock,
        waker: Option<&LazyWaker<'_>>,
    ) -> Ready {
        if self.is_granted() {
            return Ready::Now;
        }
        let gate = self.gate.get_or_insert_with(gate);
        // An operation that has waited asks behind the lock, where its place is.
        if self.ticket.is_none()
            && let Some(sent) = gate.open.take()
        {
            self.sent = Some(sent);
            return Ready::Now;
        }
        gate.ask_in_line((&mut self.ticket, &mut self.sent), clock, waker)
    }

    /// Gives the slot back for a while, and keeps the operation's turn.
    pub(super) fn put_back(&mut self) {
        if let (Some(gate), Some(_)) = (&self.gate, self.sent.take()) {
            let ticket = &mut self.ticket;
            gate.change(|room| room.queue.as_mut().map(|queue| queue.put_back(ticket, ())));
        }
    }

    /// Returns the slot of a request that was accepted, and perhaps was a success.
    #[inline]
    pub(super) fn accepted(&mut self, learn: impl FnOnce(&mut Window)) {
        if let Some(gate) = self.gate.take() {
            if self.sent.is_some() && gate.open.put() {
                self.sent = None;
                return;
            }
            self.gate = Some(gate);
            self.end(|window, _| learn(window));
        }
    }

    /// Returns the slot, with the state of the window when its request was sent. Without a slot, nothing is learned.
    #[cold]
    pub(super) fn end(&mut self, learn: impl FnOnce(&mut Window, Sent)) {
        if let (Some(gate), Some(sent)) = (&self.gate, self.sent.take()) {
            gate.change(|room| room.queue.as_mut().map(|queue| learn(queue.limit_mut(), sent)));
        }
    }
}

impl Drop for Seat {
    // The code of this runs in each place where an operation ends, so the rest is out of line.
    #[inline]
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.leave(self.ticket, self.sent);
        }
    }
}
