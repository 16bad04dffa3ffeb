//! A handle that ends operations in a shutdown.

use crate::limit::{EarlyWake, Waiter};
use crate::support::sync::{AtomicU8, Mutex, MutexGuard, Ordering, PoisonError};
use std::mem;

/// Ends operations that wait, for a shutdown or Ctrl-C. Operations get it by `stop = STOP` in the attribute, or by
/// [`Retry::stop`](crate::Retry::stop).
///
/// After [`stop`](Stop::stop), these operations send no further attempt. What waits ends immediately, also if it blocks its
/// thread, and what was paid for its retry comes back. The caller gets the last outcome, as with a `max_time` that is over.
/// Without one, because the operation has not sent its first attempt, it is the error [`TimedOut`](crate::TimedOut) with
/// [`TimeLimit::Stop`](crate::TimeLimit::Stop). The reason is [`RetryError::Stopped`](crate::RetryError::Stopped).
///
/// An attempt that runs is not cut. It can still succeed, but is not retried.
///
/// ```
/// # use retry_core::{RetryInfo, TimedOut};
/// use retry_core::{PatientRetryStrategy, Stop, retryable};
///
/// # #[derive(Debug, RetryInfo)]
/// # #[retry(transparent)]
/// # struct StoreError(TimedOut);
/// # impl From<TimedOut> for StoreError { fn from(error: TimedOut) -> Self { Self(error) } }
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// static STOP: Stop = Stop::new();
///
/// #[retryable(strategy = STORE, stop = STOP)]
/// async fn load() -> Result<String, StoreError> {
///     // One attempt.
/// #   Ok(String::new())
/// }
///
/// # async fn ctrl_c() {}
/// # async fn example() {
/// // In another task:
/// ctrl_c().await;
/// STOP.stop();
/// # }
/// ```
#[derive(Debug)]
pub struct Stop {
    /// Not zero once it has stopped. It changes while the lock is held, so a wait that is added either finds it set or is in
    /// the list that `stop` takes: no wait is missed. Reads without the lock need no order: a wait that `stop` ended has
    /// synchronized with it by the lock of its waker.
    is_stopped: AtomicU8,
    /// No waker runs while the lock is held.
    waits: Mutex<Waits>,
}

/// The waits that a stop ends.
#[derive(Debug)]
struct Waits {
    waiting: Vec<Waiter>,
    /// The length at which waits that are over are removed.
    full: usize,
}

/// The shortest length at which waits that are over are removed.
const FULL: usize = 16;

impl Stop {
    /// Creates a handle that has not stopped anything.
    pub const fn new() -> Self {
        Self { is_stopped: AtomicU8::new(0), waits: Mutex::new(Waits { waiting: Vec::new(), full: FULL }) }
    }

    /// Ends the operations that have this handle, now and in the future. It can be called from any thread, but not from a
    /// signal handler, because it takes a lock.
    pub fn stop(&self) {
        let waiting = {
            let mut waits = self.lock();
            self.is_stopped.store(true.into(), Ordering::Relaxed);
            mem::take(&mut waits.waiting)
        };
        waiting.into_iter().for_each(Waiter::end);
    }

    /// Returns whether [`stop`](Stop::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed) != 0
    }

    /// Lets a stop end the wait of this waker, and ends it now if there was one.
    pub(super) fn watch(&self, wake: &EarlyWake) {
        {
            let mut waits = self.lock();
            if !self.is_stopped() {
                waits.add(wake.waiter());
                return;
            }
        }
        wake.waiter().end();
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Waits {
    /// Adds a wait. The list has at most twice as many waits as there were at the last time that it was full.
    fn add(&mut self, wait: Waiter) {
        if self.waiting.len() >= self.full {
            self.waiting.retain(Waiter::is_waiting);
            self.full = (2 * self.waiting.len()).max(FULL);
        }
        self.waiting.push(wait);
    }
}
