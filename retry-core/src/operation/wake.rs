//! A wait that ends early.

use crate::support::sync::{Mutex, MutexGuard, PoisonError};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;

/// What a strategy is handed to end a wait early: it remembers that it was woken, and wakes whichever task or thread
/// waits by then.
#[derive(Debug)]
pub struct EarlyWake {
    /// No waker runs while it is locked, not even its `clone` or `drop`: those are the executor's.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    woken: bool,
    waiting: Option<Waker>,
}

impl EarlyWake {
    pub(super) const fn new() -> Self {
        Self { state: Mutex::new(State { woken: false, waiting: None }) }
    }

    /// Forgets that it was woken. The operation does so before it asks the strategy again, so no wake is lost.
    pub(super) fn reset(&self) {
        self.lock().woken = false;
    }

    /// Registers who waits, and returns whether it was woken already.
    pub(super) fn register(&self, waker: &Waker) -> bool {
        if self.lock().waiting.as_ref().is_none_or(|waiting| !waiting.will_wake(waker)) {
            let waiting = Some(waker.clone());
            let former = std::mem::replace(&mut self.lock().waiting, waiting);
            drop(former);
        }
        self.lock().woken
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for EarlyWake {
    fn wake(self: Arc<Self>) {
        let waiting = {
            let mut state = self.lock();
            state.woken = true;
            state.waiting.take()
        };
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

/// Wakes a thread that is parked.
pub(super) struct Unpark(pub(super) Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
