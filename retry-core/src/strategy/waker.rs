//! Waits that end early.

use crate::support::sync::{Mutex, MutexGuard, PoisonError};
use std::cell::OnceCell;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// Makes a [`Waker`] for a strategy that wants one, see [`RetryStrategy::ready`](crate::RetryStrategy::ready).
///
/// An attempt that may be sent at once needs none, so none is made before the strategy asks for it. When driving a
/// strategy by hand, make one from the waker at hand: `LazyWaker::from(waker)`.
#[derive(Debug)]
pub struct LazyWaker<'w>(Source<'w>);

#[derive(Debug)]
enum Source<'w> {
    Given(&'w Waker),
    EarlyWake(OnceCell<Arc<EarlyWake>>),
}

impl LazyWaker<'_> {
    /// Returns a waker that ends the wait which follows this question, so that the strategy is asked again. It may be
    /// kept and woken from any thread; after the wait it does nothing.
    pub fn waker(&self) -> Waker {
        match &self.0 {
            Source::Given(waker) => (*waker).clone(),
            Source::EarlyWake(wake) => Waker::from(Arc::clone(wake.get_or_init(|| Arc::new(EarlyWake::new())))),
        }
    }

    /// Returns what the strategy may wake, if it asked for a waker.
    #[inline]
    pub(crate) fn into_early_wake(self) -> Option<Arc<EarlyWake>> {
        match self.0 {
            Source::Given(_) => None,
            Source::EarlyWake(wake) => wake.into_inner(),
        }
    }
}

/// One for an operation that has yet to wait.
impl Default for LazyWaker<'_> {
    #[inline]
    fn default() -> Self {
        Self(Source::EarlyWake(OnceCell::new()))
    }
}

impl<'w> From<&'w Waker> for LazyWaker<'w> {
    fn from(waker: &'w Waker) -> Self {
        Self(Source::Given(waker))
    }
}

/// Ends a wait early: it remembers that it was woken, and wakes whichever task or thread waits by then.
#[derive(Debug)]
pub(crate) struct EarlyWake {
    /// No waker runs while it is locked, not even its `clone` or `drop`: those are the executor's.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    woken: bool,
    waiting: Option<Waker>,
}

impl EarlyWake {
    const fn new() -> Self {
        Self { state: Mutex::new(State { woken: false, waiting: None }) }
    }

    /// Registers who waits, and returns whether it was woken already.
    pub(crate) fn register(&self, waker: &Waker) -> bool {
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
