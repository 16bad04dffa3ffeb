//! A timer that tests advance by hand.

use super::{BlockingTimer, Clock, Timer, Timestamp};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A clock and timer that is advanced by hand, for tests without an async runtime and for simulations.
///
/// A `ManualTimer` is a handle: its clones share one clock. The clock starts at [`Timestamp::START`], as the other
/// clocks of this library do. A sleep completes once [`advance`](ManualTimer::advance) or [`set`](ManualTimer::set) has
/// moved the clock to its end, and stays complete if the clock is set back afterwards. A function that blocks its
/// thread can't wait for another call to move the clock, so its sleeps advance the clock themselves.
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
///
/// For a static, use a [`LazyLock`](std::sync::LazyLock), which forwards to its timer:
/// `static TIMER: LazyLock<ManualTimer> = LazyLock::new(ManualTimer::new);`
#[derive(Clone, Debug)]
pub struct ManualTimer {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    now: Timestamp,
    /// The number of sleeps so far. Each sleep is numbered by it.
    sleeps: u64,
    /// The sleeps that are not complete, in the order of their places, each with the waker of its task. A sleep that is
    /// not among them is complete.
    pending: Vec<(Place, Option<Waker>)>,
}

/// The end and the number of a sleep.
type Place = (Timestamp, u64);

impl Shared {
    /// Returns the index of a sleep, or the index where it would be inserted.
    fn find(&self, place: Place) -> Result<usize, usize> {
        self.pending.binary_search_by_key(&place, |(place, _)| *place)
    }
}

impl ManualTimer {
    /// Creates a timer at [`Timestamp::START`].
    pub fn new() -> Self {
        let shared = Shared { now: Timestamp::START, sleeps: 0, pending: Vec::new() };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    /// Moves the clock forward by `time`, and wakes the sleeps that are now complete, in the order of their ends.
    pub fn advance(&self, time: Duration) {
        self.change(|now| now.saturating_add(time));
    }

    /// Sets the clock, forward or backward, and wakes the sleeps that are now complete, in the order of their ends.
    pub fn set(&self, now: Timestamp) {
        self.change(|_| now);
    }

    /// Reads and sets the clock under one lock, so that no other thread's change is lost.
    fn change(&self, change: impl FnOnce(Timestamp) -> Timestamp) {
        let due = {
            let mut shared = self.lock();
            let now = change(shared.now);
            shared.now = now;
            let due = shared.pending.partition_point(|((end, _), _)| *end <= now);
            shared.pending.drain(..due).collect::<Vec<_>>()
        };
        // Wakers are the user's code, so they are called after the lock is released.
        due.into_iter().filter_map(|(_, waker)| waker).for_each(Waker::wake);
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
        let mut shared = self.lock();
        shared.sleeps += 1;
        let place = (shared.now.saturating_add(delay), shared.sleeps);
        if place.0 > shared.now {
            let (Ok(index) | Err(index)) = shared.find(place);
            shared.pending.insert(index, (place, None));
        }
        ManualSleep { timer: self.clone(), place }
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
    place: Place,
}

impl Future for ManualSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Wakers are the user's code, so they are cloned and dropped without the lock.
        let waker = context.waker().clone();
        let former = {
            let mut shared = self.timer.lock();
            let Ok(index) = shared.find(self.place) else { return Poll::Ready(()) };
            shared.pending[index].1.replace(waker)
        };
        drop(former);
        Poll::Pending
    }
}

impl Drop for ManualSleep {
    fn drop(&mut self) {
        let removed = {
            let mut shared = self.timer.lock();
            shared.find(self.place).map(|index| shared.pending.remove(index))
        };
        // Its waker is the user's code.
        drop(removed);
    }
}
