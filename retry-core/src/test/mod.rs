//! Tests of code whose functions are retried: fresh state for each test, and no waits.
//!
//! Statics that tests share would make them talk to each other: the retries of one test drain the quota of the next, and
//! each backoff is slept. While a [guard](begin) lives, every retried call that its thread reaches has state of the guard's
//! own, and its waits are skipped.
//!
//! ```
//! use retry_core::{RetryError, RetryInfo, StandardRetryStrategy, retryable};
//!
//! #[derive(Debug, PartialEq, RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! #[retryable(strategy = STORE)]
//! async fn fetch() -> Result<(), SlowDown> {
//!     Err(SlowDown)
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! // As in `#[tokio::test]`.
//! let test = retry_core::test::begin().quota(9); // It pays for one retry, at 5.
//! assert_eq!(fetch().await, Err(SlowDown));
//! test.only().assert_ended(2, Some(RetryError::QuotaExhausted));
//! # });
//! ```
//!
//! # Where to enable it
//!
//! In `[dev-dependencies]`, and nowhere else, so that no release contains it:
//!
//! ```toml
//! [dev-dependencies]
//! retry-core = { version = "0.1", features = ["test"] }
//! ```
//!
//! Cargo then enables it for builds of tests and examples only. To see that a release is without it, look for `test` in
//! `cargo tree --edges normal,features --invert retry-core`.
//!
//! # What a guard changes
//!
//! - **State.** Quotas ([`TokenBucket`](crate::TokenBucket)), limiters and switches are fresh and made from their settings,
//!   whether the strategy is a static, a field, or behind a pointer, a scope, a configuration or an
//!   [`ErasedStrategy`](crate::ErasedStrategy). Nothing goes in or out. A map of scopes keeps its keys, whose state is fresh.
//! - **Waits.** Backoff and a limiter's waits are skipped, with one yield to the executor each. They are added to the clock
//!   that strategies see, and count against `max_time`.
//! - **Limits on attempts** are real, so that attempts can use real sockets. Tokio's paused time works, too.
//! - **Jitter** comes from a fixed seed.
//!
//! Guards nest: the inner one begins afresh, and the outer one goes on when it is dropped.
//!
//! # What a guard does not reach
//!
//! - Tasks and threads of other threads than its own. On a current-thread runtime everything is reached. For a task of a
//!   multi-thread runtime or another thread, pass a [handle](TestGuard::handle) on.
//! - Quotas and strategies of the user's own. They can ask [`is_active`].
//! - The switch of the process, [`set_retries_enabled`](crate::set_retries_enabled).

mod operation;
mod record;

pub use operation::Operation;
pub(crate) use record::Record;

use crate::support::session::{self, Session, lock};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Begins a test: until the guard is dropped, retried calls of this thread have fresh state and skip their waits.
pub fn begin() -> TestGuard {
    let session = Session::new();
    session.enter();
    TestGuard { session, stays_on_its_thread: PhantomData }
}

/// Returns whether this thread is under a [guard](begin). A quota or a strategy of the user's own may ask.
pub fn is_active() -> bool {
    session::current().is_some()
}

/// A test under way, made by [`begin`]. It ends when the guard is dropped, on the thread where it began.
#[derive(Debug)]
#[must_use = "the test ends when the guard is dropped: keep it, as in `let test = retry_core::test::begin();`"]
pub struct TestGuard {
    session: Arc<Session>,
    stays_on_its_thread: PhantomData<*const ()>,
}

impl TestGuard {
    /// Sets the maximum of attempts of all standard and adaptive strategies. 0 counts as 1.
    pub fn max_attempts(self, max_attempts: u32) -> Self {
        lock(&self.session.options).max_attempts = Some(max_attempts);
        self
    }

    /// Sets the capacity of every [`TokenBucket`](crate::TokenBucket). Set it before the first call.
    pub fn quota(self, capacity: u32) -> Self {
        lock(&self.session.options).quota = Some(capacity);
        self
    }

    /// Sleeps all waits instead of skipping them.
    pub fn real_time(self) -> Self {
        lock(&self.session.options).skips_waits = false;
        self
    }

    /// Sets the seed of the jitter, which is 0 unless set. Seeds that strategies have of their own are not used.
    pub fn seed(self, seed: u64) -> Self {
        lock(&self.session.options).seed = seed;
        self
    }

    /// Returns the one operation that ran.
    ///
    /// # Panics
    ///
    /// If there was none, or more than one. The message lists them.
    #[track_caller]
    pub fn only(&self) -> Operation {
        let mut operations = self.operations();
        match operations.pop() {
            Some(operation) if operations.is_empty() => operation,
            last => {
                operations.extend(last);
                let mut lines = String::new();
                for operation in &operations {
                    lines.push_str("\n  ");
                    lines.push_str(&operation.to_string());
                }
                panic!("expected: one operation\n  actual: {} operations{lines}", operations.len());
            }
        }
    }

    /// Returns the operations that have begun, in the order of their beginnings.
    pub fn operations(&self) -> Vec<Operation> {
        record::operations(&self.session)
    }

    /// Returns the waits that were skipped, of all operations, in the order in which they began.
    pub fn skipped(&self) -> Vec<Duration> {
        self.session.skipped()
    }

    /// Returns a handle by which tasks and threads enter the test.
    pub fn handle(&self) -> TestHandle {
        TestHandle { session: Arc::clone(&self.session) }
    }
}

impl Drop for TestGuard {
    fn drop(&mut self) {
        self.session.leave();
    }
}

/// A handle of a test, by which tasks and threads enter it. It may outlive the guard.
///
/// ```
/// let test = retry_core::test::begin();
/// let handle = test.handle();
/// let thread = std::thread::spawn(move || handle.run(|| assert!(retry_core::test::is_active())));
/// thread.join().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct TestHandle {
    session: Arc<Session>,
}

impl TestHandle {
    /// Returns a future that is under the test wherever it is polled.
    pub fn wrap<F: Future>(&self, future: F) -> Wrapped<F> {
        Wrapped { session: Arc::clone(&self.session), future: Box::pin(future) }
    }

    /// Runs a closure under the test, on this thread.
    pub fn run<R>(&self, closure: impl FnOnce() -> R) -> R {
        let _entered = Entered::new(&self.session);
        closure()
    }
}

/// A future under a test, made by [`TestHandle::wrap`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Wrapped<F> {
    session: Arc<Session>,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Wrapped<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { session, future } = &mut *self;
        let _entered = Entered::new(session);
        future.as_mut().poll(context)
    }
}

/// Leaves a session when it is dropped, after a panic too.
struct Entered<'a>(&'a Arc<Session>);

impl<'a> Entered<'a> {
    fn new(session: &'a Arc<Session>) -> Self {
        session.enter();
        Self(session)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}
