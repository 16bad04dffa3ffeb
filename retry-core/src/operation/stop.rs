//! A handle that ends operations in a shutdown.

use crate::limit::{EarlyWake, Waiter};
use crate::support::sync::{AtomicU8, Mutex, MutexGuard, Ordering, PoisonError};
use std::mem;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Ends operations that wait, for a shutdown or Ctrl-C. Operations get it by `stop = STOP` in the attribute, or by
/// [`Retry::stop`](crate::Retry::stop).
///
/// After [`stop`](Stop::stop), these operations send no further attempt. What waits ends immediately, also if it blocks its
/// thread, unless your own [`BlockingTimer`](crate::time::BlockingTimer) has no `park`. What was paid for its retry comes back. The
/// caller gets the last outcome, as with a `max_time` that is over. Without one, because the operation has not sent its first attempt,
/// it is the error [`TimedOut`](crate::TimedOut) with [`TimeLimit::Stop`](crate::TimeLimit::Stop). The reason is
/// [`RetryError::Stopped`](crate::RetryError::Stopped).
///
/// An attempt that runs is not cut, unless the option `cut_on_stop` of the attribute, or
/// [`Retry::cut_on_stop`](crate::Retry::cut_on_stop), says so. It can still succeed, but is not retried.
///
/// For a part of the program, make a [child](Stop::child_of). To end a call by a future, such as one of a `CancellationToken`, write
/// [`stop_when`](crate::Retry::stop_when). A call that blocks, a layer, a stream and an operation that is driven by hand have no `stop_when`:
/// give them a `Stop` or an `Arc` of one, and stop it where the future is ready.
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
    /// The handle whose stop is one of this handle, too. It knows nothing of its children: a wait is added to the list of each of its
    /// ancestors, so a child that is dropped leaves nothing behind.
    parent: Option<SharedStop>,
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
        let waits = Mutex::new(Waits { waiting: Vec::new(), full: FULL });
        Self { is_stopped: AtomicU8::new(0), waits, parent: None }
    }

    /// Creates a child of another handle, for one part of a program, such as a connection or a job. It is stopped when its parent is, and can
    /// be stopped alone, which leaves the parent as it is. The parent is a reference to a static, or an [`Arc`], which the child keeps alive.
    ///
    /// Dropping a child leaves nothing behind in its parent. A child can be a parent itself; each level costs a lock for each wait.
    ///
    /// ```
    /// use retry_core::Stop;
    ///
    /// static SHUTDOWN: Stop = Stop::new();
    ///
    /// let (job, other_job) = (Stop::child_of(&SHUTDOWN), Stop::child_of(&SHUTDOWN));
    /// job.stop();
    /// assert!(job.is_stopped() && !other_job.is_stopped() && !SHUTDOWN.is_stopped());
    /// SHUTDOWN.stop();
    /// assert!(other_job.is_stopped());
    /// ```
    pub fn child_of(parent: impl Into<SharedStop>) -> Self {
        Self { parent: Some(parent.into()), ..Self::new() }
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

    /// Returns whether [`stop`](Stop::stop) was called, on this handle or on one that it is a child of.
    pub fn is_stopped(&self) -> bool {
        self.was_called() || self.parent.as_ref().is_some_and(|parent| parent.is_stopped())
    }

    /// Returns whether this handle itself was stopped.
    fn was_called(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed) != 0
    }

    /// Returns a future that is ready once [`stop`](Stop::stop) was called, on this handle or on one that it is a child of. It is for code that must end while no operation waits, such as
    /// one that reads from a connection. It borrows nothing. If the handle is dropped without a stop, it is never ready.
    ///
    /// ```
    /// use retry_core::Stop;
    ///
    /// static STOP: Stop = Stop::new();
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// let stopped = STOP.stopped();
    /// STOP.stop();
    /// stopped.await;
    /// # });
    /// ```
    pub fn stopped(&self) -> Stopped {
        let wake = EarlyWake::new();
        self.watch(&wake);
        Stopped(wake)
    }

    /// Lets a stop end the wait of this waker, and ends it now if there was one.
    pub(super) fn watch(&self, wake: &EarlyWake) {
        if let Some(parent) = &self.parent {
            parent.watch(wake);
        }
        {
            let mut waits = self.lock();
            if !self.was_called() {
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

/// Returns a future that is ready once one of these handles has stopped.
pub(super) fn first_stopped<'s>(stops: impl Iterator<Item = &'s Stop>) -> Stopped {
    let wake = EarlyWake::new();
    stops.for_each(|stop| stop.watch(&wake));
    Stopped(wake)
}

/// A future that is ready once a [`Stop`] has stopped. [`Stop::stopped`] returns it.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Stopped(EarlyWake);

impl Future for Stopped {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0.register(context.waker()) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A handle to a [`Stop`] that names no lifetime: a reference to a static, or an [`Arc`] for one that is made at run time, such as in each
/// test. It is made from either of them.
///
/// ```
/// use retry_core::drive::{Operation, SharedStop};
/// use retry_core::{PatientRetryStrategy, Stop};
/// use std::sync::Arc;
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// let stop = Arc::new(Stop::new());
/// let operation = Operation::builder(&STORE, "get").stop(Arc::clone(&stop)).begin();
/// # drop(operation);
/// ```
#[derive(Clone, Debug)]
pub struct SharedStop(Handle);

#[derive(Clone, Debug)]
enum Handle {
    Static(&'static Stop),
    Shared(Arc<Stop>),
}

impl From<&'static Stop> for SharedStop {
    fn from(stop: &'static Stop) -> Self {
        Self(Handle::Static(stop))
    }
}

impl From<Arc<Stop>> for SharedStop {
    fn from(stop: Arc<Stop>) -> Self {
        Self(Handle::Shared(stop))
    }
}

impl Deref for SharedStop {
    type Target = Stop;

    #[inline]
    fn deref(&self) -> &Stop {
        match &self.0 {
            Handle::Static(stop) => stop,
            Handle::Shared(stop) => stop,
        }
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
