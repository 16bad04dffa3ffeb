//! A timer that is moved by hand.

use super::{BlockingTimer, Clock, Timer, Timestamp};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A clock and timer that is moved by hand, for tests without an async runtime and for simulations.
///
/// It is a handle: clones of it share one clock, which begins at [`Timestamp::START`], as the other clocks of this
/// library do. Sleeps are over once [`advance`](ManualTimer::advance) or [`set`](ManualTimer::set) moved the clock far
/// enough. A function that blocks its thread can't wait for that, so its sleeps move the clock themselves.
///
/// ```
/// use retry_core::time::{Clock, ManualTimer, Timer};
/// use std::pin::pin;
/// use std::task::{Context, Waker};
/// use std::time::Duration;
///
/// let timer = ManualTimer::new();
/// let started = timer.now();
/// let mut sleep = pin!(timer.sleep(Duration::from_secs(60)));
/// let context = &mut Context::from_waker(Waker::noop());
/// assert!(sleep.as_mut().poll(context).is_pending());
///
/// timer.advance(Duration::from_secs(60));
/// assert!(sleep.as_mut().poll(context).is_ready());
/// assert_eq!(timer.now().saturating_since(started), Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
pub struct ManualTimer {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    now: Timestamp,
    sleepers: Vec<(Timestamp, Waker)>,
}

impl ManualTimer {
    /// Creates a timer at [`Timestamp::START`].
    pub fn new() -> Self {
        let shared = Shared { now: Timestamp::START, sleepers: Vec::new() };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, time: Duration) {
        let now = self.now().saturating_add(time);
        self.set(now);
    }

    /// Sets the clock, backwards too. Sleeps that are over now are woken.
    pub fn set(&self, now: Timestamp) {
        let due: Vec<_> = {
            let mut shared = self.lock();
            shared.now = now;
            shared.sleepers.extract_if(.., |(until, _)| *until <= now).collect()
        };
        // Woken after the lock was given back: a waker is the user's code.
        for (_, waker) in due {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualTimer {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualTimer {
    fn now(&self) -> Timestamp {
        self.lock().now
    }
}

impl Timer for ManualTimer {
    type Sleep = ManualSleep;

    fn sleep(&self, delay: Duration) -> ManualSleep {
        ManualSleep { until: self.now().saturating_add(delay), timer: self.clone() }
    }
}

impl BlockingTimer for ManualTimer {
    fn block(&self, delay: Duration) {
        self.advance(delay);
    }
}

/// A sleep of a [`ManualTimer`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ManualSleep {
    timer: ManualTimer,
    until: Timestamp,
}

impl Future for ManualSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Cloned before the lock is taken: a waker is the user's code.
        let waker = context.waker().clone();
        let mut shared = self.timer.lock();
        if shared.now >= self.until {
            return Poll::Ready(());
        }
        if !shared.sleepers.iter().any(|(until, other)| *until == self.until && other.will_wake(&waker)) {
            shared.sleepers.push((self.until, waker));
        }
        Poll::Pending
    }
}
