//! Wakers by which a strategy ends a wait early.

use crate::support::sync::{Mutex, MutexGuard, PoisonError};
use std::cell::OnceCell;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

/// A source of a [`Waker`] for a strategy; see [`RetryStrategy::ready`](crate::RetryStrategy::ready).
///
/// The waker is only created if the strategy asks for it, because an attempt that may be sent immediately needs none.
/// When driving a strategy by hand, create a `LazyWaker` from your own waker: `LazyWaker::from(&waker)`.
#[derive(Debug)]
pub struct LazyWaker<'w> {
    given: Option<&'w Waker>,
    /// The waiting side, once the strategy has asked for a waker. Unused if `given` is set.
    early_wake: OnceCell<EarlyWake>,
}

impl LazyWaker<'_> {
    /// Creates a lazy waker for an operation. The operation waits with the result of
    /// [`into_early_wake`](LazyWaker::into_early_wake).
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { given: None, early_wake: OnceCell::new() }
    }

    /// Returns a waker that ends the wait after this call of [`ready`](crate::RetryStrategy::ready), so that the
    /// strategy is asked again. It can be stored, and woken from any thread. After the wait it is a no-op.
    pub fn waker(&self) -> Waker {
        self.given.map_or_else(|| self.early_wake.get_or_init(EarlyWake::new).waker(), Waker::clone)
    }

    /// Returns the waiting side of the waker, or `None` if the strategy did not ask for a waker.
    #[inline]
    pub(crate) fn into_early_wake(self) -> Option<EarlyWake> {
        self.early_wake.into_inner()
    }
}

impl<'w> From<&'w Waker> for LazyWaker<'w> {
    fn from(waker: &'w Waker) -> Self {
        Self { given: Some(waker), early_wake: OnceCell::new() }
    }
}

/// The waiting side of the wakers of one wait. It is dropped with the wait; after that the wakers are no-ops.
#[derive(Debug)]
pub(crate) struct EarlyWake(Arc<Shared>);

/// The state that a wait shares with its wakers.
#[derive(Debug)]
struct Shared {
    /// Wakers are the executor's code, so none is woken, cloned or dropped while the lock is held.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    woken: bool,
    /// The waker of the task or thread that waits.
    waiting: Option<Waker>,
}

impl EarlyWake {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared { state: Mutex::new(State { woken: false, waiting: None }) }))
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    /// Returns a reference to the wait, which does not keep it alive.
    pub(crate) fn waiter(&self) -> Waiter {
        Waiter(Arc::downgrade(&self.0))
    }

    /// Registers the waker of the waiting task or thread, and returns whether the strategy ended the wait already.
    pub(crate) fn register(&self, waker: &Waker) -> bool {
        if self.0.lock().waiting.as_ref().is_none_or(|waiting| !waiting.will_wake(waker)) {
            let waiting = Some(waker.clone());
            // The former waker is dropped after the lock is released.
            let _former = std::mem::replace(&mut self.0.lock().waiting, waiting);
        }
        self.is_woken()
    }

    /// Returns whether the strategy ended the wait.
    pub(crate) fn is_woken(&self) -> bool {
        self.0.lock().woken
    }
}

impl Drop for EarlyWake {
    fn drop(&mut self) {
        // A strategy can keep its waker for long. The waker must neither wake the task later nor keep it alive.
        let _former = self.0.lock().waiting.take();
    }
}

/// A reference to a wait.
#[derive(Debug)]
pub(crate) struct Waiter(Weak<Shared>);

impl Waiter {
    /// Returns whether the wait may still last.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Ends the wait.
    pub(crate) fn end(self) {
        if let Some(shared) = self.0.upgrade() {
            shared.wake();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Shared {
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
