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

    /// Asks once for a slot, behind the lock. Returns how long to wait, or `None` if the place has a slot now.
    fn ask(&self, now: Timestamp, place: &mut Place) -> Option<Duration> {
        // The waker is dropped after the lock is released, and after the place has its slot: if the drop panics, so does the operation,
        // which returns the slot.
        let (wait, _waker) = self.change(|room| {
            let Room { queue, wakers } = room;
            let queue = queue.get_or_insert_with(|| SendQueue::new(Window::new(self.most, now), now));
            let Place::Waiting(ticket) = place else { return (None, None) };
            let former = *ticket;
            let wait = queue.ask(now, ticket, ());
            if wait.is_some() {
                return (wait, None);
            }
            *place = Place::Granted(queue.limit().sent());
            (None, former.and_then(|ticket| wakers.remove(&ticket)))
        });
        wait
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

    /// Takes back the place or the slot of an operation that ends without an outcome.
    #[cold]
    fn leave(&self, place: Place) {
        let (ticket, granted) = match place {
            Place::Granted(_) if self.open.put() => return,
            Place::Granted(_) => (None, Some(())),
            Place::Waiting(ticket) => (ticket, None),
            Place::Idle => return,
        };
        // The waker is dropped after the lock is released.
        drop(self.change(|room| {
            if let Some(queue) = &mut room.queue {
                queue.give_up(ticket, granted);
            }
            ticket.and_then(|ticket| room.wakers.remove(&ticket))
        }));
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
    /// `None` until the operation asks for a slot.
    gate: Option<Arc<Gate>>,
    place: Place,
}

/// What an operation has of a gate.
#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// The operation has not asked for a slot since it began or since its last outcome.
    #[default]
    Idle,
    /// It waits for a slot. It has a ticket after it was asked to wait.
    Waiting(Option<Ticket>),
    /// It has a slot.
    Granted(Sent),
}

impl Seat {
    /// Creates the place of an operation that has not asked.
    pub(super) const fn new() -> Self {
        Self { gate: None, place: Place::Idle }
    }

    /// Returns whether it has a slot.
    #[inline]
    pub(super) const fn is_granted(&self) -> bool {
        matches!(self.place, Place::Granted(_))
    }

    /// Asks for a slot of this gate.
    #[inline]
    pub(super) fn ask(
        &mut self,
        gate: impl FnOnce() -> Arc<Gate>,
        clock: &dyn Clock,
        waker: Option<&LazyWaker<'_>>,
    ) -> Ready {
        if let Place::Idle = self.place {
            let gate = self.gate.insert(gate());
            if let Some(sent) = gate.open.take() {
                self.place = Place::Granted(sent);
                return Ready::Now;
            }
            self.place = Place::Waiting(None);
        }
        self.ask_in_line(clock, waker)
    }

    /// Asks behind the lock, where the place of an operation that waits is.
    #[cold]
    fn ask_in_line(&mut self, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let Self { gate: Some(gate), place: place @ Place::Waiting(_) } = self else {
            // It has a slot, because an operation that waits has a gate.
            return Ready::Now;
        };
        while let Some(wait) = gate.ask(clock.now(), place) {
            // The waker is created outside of the lock, so a slot can be returned before the waker is registered.
            match (waker, &*place) {
                (Some(waker), Place::Waiting(Some(ticket))) if gate.register(*ticket, waker.waker()) => {}
                _ => return Ready::After(wait),
            }
        }
        Ready::Now
    }

    /// Gives the slot back for a while, and keeps the operation's turn.
    pub(super) fn put_back(&mut self) {
        if let (Some(gate), Place::Granted(_)) = (&self.gate, self.place) {
            self.place = Place::Waiting(None);
            if let Place::Waiting(ticket) = &mut self.place {
                gate.change(|room| room.queue.as_mut().map(|queue| queue.put_back(ticket, ())));
            }
        }
    }

    /// Returns the slot of a request that was accepted, and perhaps was a success.
    #[inline]
    pub(super) fn accepted(&mut self, learn: impl FnOnce(&mut Window)) {
        if let Place::Granted(_) = self.place
            && let Some(gate) = &self.gate
        {
            if gate.open.put() {
                self.place = Place::Idle;
                return;
            }
            self.end(|window, _| learn(window));
        }
    }

    /// Returns the slot, with the state of the window when its request was sent. Without a slot, nothing is learned.
    #[cold]
    pub(super) fn end(&mut self, learn: impl FnOnce(&mut Window, Sent)) {
        if let (Some(gate), Place::Granted(sent)) = (&self.gate, self.place) {
            self.place = Place::Idle;
            gate.change(|room| room.queue.as_mut().map(|queue| learn(queue.limit_mut(), sent)));
        }
    }
}

impl Drop for Seat {
    // The code of this runs in each place where an operation ends, so the rest is out of line.
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.place, Place::Idle)
            && let Some(gate) = &self.gate
        {
            gate.leave(self.place);
        }
    }
}
