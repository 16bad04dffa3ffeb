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
    EarlyWake(OnceCell<EarlyWake>),
}

impl LazyWaker<'_> {
    /// Creates a lazy waker for an operation, which waits with what [`into_early_wake`](LazyWaker::into_early_wake)
    /// returns.
    #[inline]
    pub(crate) const fn new() -> Self {
        Self(Source::EarlyWake(OnceCell::new()))
    }

    /// Returns a waker that ends the wait which follows this question, so that the strategy is asked again. It may be
    /// kept and woken from any thread; after the wait it does nothing.
    pub fn waker(&self) -> Waker {
        match &self.0 {
            Source::Given(waker) => (*waker).clone(),
            Source::EarlyWake(wake) => wake.get_or_init(EarlyWake::new).waker(),
        }
    }

    /// Returns what the strategy may wake, if it asked for a waker.
    #[inline]
    pub(crate) fn into_early_wake(self) -> Option<EarlyWake> {
        match self.0 {
            Source::Given(_) => None,
            Source::EarlyWake(wake) => wake.into_inner(),
        }
    }
}

impl<'w> From<&'w Waker> for LazyWaker<'w> {
    fn from(waker: &'w Waker) -> Self {
        Self(Source::Given(waker))
    }
}

/// The waiting side of the wakers of one wait. Once it is dropped, as it is with the wait, they do nothing.
#[derive(Debug)]
pub(crate) struct EarlyWake(Arc<Shared>);

/// What the wakers of one wait share with it.
#[derive(Debug)]
struct Shared {
    /// No waker runs while it is locked, not even its `clone` or `drop`: those are the executor's.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    woken: bool,
    /// The task or thread that waits, to which the wake is passed on.
    waiting: Option<Waker>,
}

impl EarlyWake {
    fn new() -> Self {
        Self(Arc::new(Shared { state: Mutex::new(State { woken: false, waiting: None }) }))
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    /// Registers who waits, and returns whether it was woken already.
    pub(crate) fn register(&self, waker: &Waker) -> bool {
        if self.0.lock().waiting.as_ref().is_none_or(|waiting| !waiting.will_wake(waker)) {
            let waiting = Some(waker.clone());
            let former = std::mem::replace(&mut self.0.lock().waiting, waiting);
            drop(former);
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
        // A strategy may keep its waker for long: that must neither wake the task later nor keep it alive.
        let former = self.0.lock().waiting.take();
        drop(former);
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
