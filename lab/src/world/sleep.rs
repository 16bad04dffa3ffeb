//! The sleeps of a world.

use super::World;
use retry_core::time::{Clock, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The sleeps that tasks wait for.
#[derive(Default)]
pub(super) struct Sleeps {
    /// By end, and by number among equal ends. The entry of a sleep that was dropped stays until it is due.
    queue: BinaryHeap<Reverse<(Timestamp, u64, usize)>>,
    places: Vec<Place>,
    free: Vec<usize>,
    /// The number of sleeps so far. Each sleep is numbered by it.
    begun: u64,
}

/// A place for a sleep, which is used again after the sleep has ended.
struct Place {
    /// The number of the sleep that has the place.
    number: u64,
    state: State,
}

enum State {
    Free,
    Waiting(Waker),
    Done,
}

impl Sleeps {
    fn begin(&mut self, end: Timestamp, waker: Waker) -> usize {
        self.begun += 1;
        let place = Place { number: self.begun, state: State::Waiting(waker) };
        let at = if let Some(at) = self.free.pop() {
            self.places[at] = place;
            at
        } else {
            self.places.push(place);
            self.places.len() - 1
        };
        self.queue.push(Reverse((end, self.begun, at)));
        at
    }

    /// Returns the earliest end of a sleep, and removes the entries of dropped sleeps before it.
    pub(super) fn next_end(&mut self) -> Option<Timestamp> {
        while let Some(&Reverse((end, number, at))) = self.queue.peek() {
            let place = &self.places[at];
            if place.number == number && matches!(place.state, State::Waiting(_)) {
                return Some(end);
            }
            self.queue.pop();
        }
        None
    }

    /// Ends the sleep that [`next_end`](Sleeps::next_end) found, and returns the waker of its task.
    pub(super) fn finish_next(&mut self) -> Option<Waker> {
        let Reverse((_, _, at)) = self.queue.pop()?;
        match std::mem::replace(&mut self.places[at].state, State::Done) {
            State::Waiting(waker) => Some(waker),
            State::Free | State::Done => None,
        }
    }
}

/// A sleep of a [`World`].
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    world: World,
    end: Timestamp,
    /// The place among the world's sleeps, from the first poll on.
    place: Option<usize>,
}

impl Sleep {
    pub(super) fn new(world: World, end: Timestamp) -> Self {
        Self { world, end, place: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.world.now() >= self.end {
            return Poll::Ready(());
        }
        let mut sleeps = self.world.shared.sleeps.borrow_mut();
        let Some(at) = self.place else {
            let at = sleeps.begin(self.end, context.waker().clone());
            drop(sleeps);
            self.place = Some(at);
            return Poll::Pending;
        };
        match &mut sleeps.places[at].state {
            State::Waiting(waker) => {
                waker.clone_from(context.waker());
                Poll::Pending
            }
            State::Done | State::Free => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(at) = self.place {
            let mut sleeps = self.world.shared.sleeps.borrow_mut();
            let state = std::mem::replace(&mut sleeps.places[at].state, State::Free);
            sleeps.free.push(at);
            drop(sleeps);
            drop(state);
        }
    }
}
