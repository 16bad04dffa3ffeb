//! Support for unit tests of retried code: fresh state for each test, no waits, and a record of each operation.
//!
//! Strategies are usually statics, and all tests of a process share them. Without this module, the failures of one test
//! let the operations of the next test wait, and each wait is slept. While a [test guard](begin) exists, the retried calls
//! of its thread use fresh copies of all strategies, and their waits are skipped.
//!
//! ```
//! use retry_core::{PatientRetryStrategy, RetryError, RetryInfo, retryable};
//! use std::cell::Cell;
//!
//! #[derive(Debug, PartialEq, RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! /// A fake server that rejects its first requests.
//! struct Server {
//!     rejections: Cell<u32>,
//! }
//!
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = STORE)]
//! async fn fetch(server: &Server) -> Result<&'static str, SlowDown> {
//!     match server.rejections.get() {
//!         0 => Ok("found"),
//!         rejections => {
//!             server.rejections.set(rejections - 1);
//!             Err(SlowDown)
//!         }
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! // The body of a `#[tokio::test]`: the third attempt succeeds.
//! let test = retry_core::test::begin();
//! let server = Server { rejections: Cell::new(2) };
//! assert_eq!(fetch(&server).await, Ok("found"));
//! test.only().assert_ended(3, None);
//! # });
//!
//! # runtime.block_on(async {
//! // The body of another one: the operation waits for the server, which stays overloaded.
//! let test = retry_core::test::begin();
//! let server = Server { rejections: Cell::new(100) };
//! assert_eq!(fetch(&server).await, Err(SlowDown));
//! test.only().assert_ended(7, Some(RetryError::NoRecovery));
//! # });
//! ```
//!
//! A guard works in the same way in a `#[test]` of a blocking function.
//!
//! # Enabling the feature
//!
//! Enable the feature `test` only in `[dev-dependencies]`, so that no release contains it:
//!
//! ```toml
//! [dev-dependencies]
//! # the same source as in [dependencies]
//! retry-core = { path = "../retry/retry-core", features = ["test"] }
//! ```
//!
//! Cargo then enables it only for builds of tests, examples and benchmarks. To check that a release does not contain
//! it, look for `test` in the output of `cargo tree --edges normal,features --invert retry-core`.
//!
//! # Checking what happened
//!
//! [`TestGuard::only`] returns the record of the single [`Operation`] that the test ran, and [`TestGuard::operations`]
//! returns the records of all of them. A record has the number of attempts, the class of each failure, the delay of
//! each retry, and the reason why the operation stopped. The delays are the same in each run, because a guard sets a
//! fixed seed for the jitter.
//!
//! ```
//! # use retry_core::{PatientRetryStrategy, RetryInfo, retry_blocking};
//! # use std::time::Duration;
//! use retry_core::RetryErrorType;
//!
//! # #[derive(Debug, RetryInfo)]
//! # #[retry(throttling)]
//! # struct SlowDown;
//! # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//! # fn fetch() -> Result<(), SlowDown> {
//! #     retry_blocking(&STORE, || Err(SlowDown)).run()
//! # }
//! let test = retry_core::test::begin().max_attempts(2);
//! assert!(fetch().is_err());
//!
//! let operation = test.only();
//! assert_eq!(operation.classes, [Some(RetryErrorType::Throttling); 2]);
//! assert!(operation.delays[0] <= Duration::from_secs(1));
//! assert_eq!(test.skipped(), operation.delays);
//! ```
//!
//! # Exploring failures
//!
//! [`explore()`] runs a test again for each point at which a fake can fail, and reports the failures that break it.
//!
//! # What a guard changes
//!
//! - **State.** Quotas ([`TokenBucket`](crate::TokenBucket)), limiters and switches are fresh copies that are created
//!   from their settings. When the guard is dropped, the original state is unchanged. This applies to a strategy in a
//!   static or in a field, and to a strategy behind a pointer, a scope, a `ConfiguredStrategy` or an
//!   [`ErasedStrategy`](crate::ErasedStrategy). A map of scopes keeps its keys, but the state of each key is fresh;
//!   a test that adds keys can evict others.
//! - **Waits.** The delays of retries and the waits for a limiter are skipped; each skipped wait yields to the executor
//!   once. The skipped time is added to the clock that strategies see, and counts against `max_time`. To sleep the
//!   waits, use [`TestGuard::real_time`].
//! - **Time limits of attempts** are not skipped, so attempts can use real sockets. Tokio's paused time works as well.
//! - **Jitter** comes from a fixed seed. A wait that the server asks for is exact: no random part is added to it.
//!
//! Guards nest. The inner guard starts with fresh state, and the outer guard continues when the inner one is dropped.
//!
//! # What a guard does not reach
//!
//! - Other threads, and tasks that run on them. On a current-thread runtime, which is the default of `#[tokio::test]`,
//!   the guard reaches all tasks, but not the threads of `spawn_blocking`. Let other threads and tasks enter the test
//!   through a [handle](TestGuard::handle).
//! - The state of your own quotas and strategies. They can call [`is_active`]. The clock that they see is ahead by the skipped
//!   waits.
//! - Operations that began before the guard and end under it, or the reverse: what they hold is not given back.
//! - The switch of the process, [`set_retries_enabled`](crate::set_retries_enabled).

mod explore;
mod nested;
mod operation;
mod record;

pub(crate) use explore::{Attempt, Fault, Unmade, no_answer};
pub use explore::{Explore, Finding, FindingKind, Findings, explore, invariant, may_fail};
pub use nested::Nested;
pub(crate) use nested::note_nested;
pub use operation::Operation;
pub(crate) use record::Record;

use crate::support::session::{self, Session, lock};
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Begins a test. Until the returned guard is dropped, the retried calls of this thread use fresh state and skip their
/// waits.
///
/// The [module documentation](self) describes what a guard changes.
#[track_caller]
pub fn begin() -> TestGuard {
    let session = Session::new();
    session.enter();
    TestGuard { session, begun_at: Location::caller(), stays_on_its_thread: PhantomData }
}

/// Returns whether this thread is under a [test guard](begin). For your own quotas and strategies, which a guard
/// does not change.
pub fn is_active() -> bool {
    session::current().is_some()
}

/// A guard that isolates the retried calls of a test. Created by [`begin`].
///
/// The test ends when the guard is dropped. A guard can't be sent to another thread; send a [handle](TestGuard::handle)
/// instead.
///
/// # Panics
///
/// A guard under which nothing happened panics when it is dropped, unless the thread panics already. Its test would sleep
/// and share the state of all tests, and still pass. The usual mistake is `let _ = begin()`, which drops the guard
/// immediately, in place of `let test = begin()` or `let _test = begin()`. A message on stderr would not help, because the
/// output of a test that passes is not shown.
///
/// Driving a strategy by hand, a nested guard and a call of [`is_active`] are uses, too. A test that makes no retried
/// call on purpose asks the guard: `assert!(test.operations().is_empty())`. Each method that takes `&self` is a use.
#[derive(Debug)]
#[must_use = "the test ends when the guard is dropped: keep it, as in `let test = retry_core::test::begin();`"]
pub struct TestGuard {
    session: Arc<Session>,
    begun_at: &'static Location<'static>,
    stays_on_its_thread: PhantomData<*const ()>,
}

impl TestGuard {
    /// Sets the maximum number of attempts of all strategies. 0 is treated as 1.
    ///
    /// The strategies of the library make up to that many attempts, also if their own maximum is lower. Your own strategy makes at most
    /// that many, and fewer if it refuses a retry itself: a retry beyond the maximum that it grants is released and not made.
    pub fn max_attempts(self, max_attempts: u32) -> Self {
        lock(&self.session.options).max_attempts = Some(max_attempts);
        self
    }

    /// Sets the capacity of every quota: of each [`TokenBucket`](crate::TokenBucket), and of each
    /// [`EvidenceQuota`](crate::quota::EvidenceQuota), which is then a bucket of this capacity, with the costs in the settings of its
    /// strategy. So a `PatientRetryStrategy` with `quota(0)` waits before its first retry. Your own quota is not changed, except for such
    /// quotas within it. Set it before the first call.
    ///
    /// ```
    /// use retry_core::{RetryError, RetryInfo, StandardRetryStrategy, retry_blocking};
    ///
    /// #[derive(Debug, RetryInfo)]
    /// #[retry(throttling)]
    /// struct SlowDown;
    ///
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    ///
    /// // A retry costs 5, so 9 pay for one retry.
    /// let test = retry_core::test::begin().quota(9);
    /// let outcome: Result<(), SlowDown> = retry_blocking(&STORE, || Err(SlowDown)).run();
    /// assert!(outcome.is_err());
    /// test.only().assert_ended(2, Some(RetryError::QuotaExhausted));
    /// ```
    pub fn quota(self, capacity: u32) -> Self {
        lock(&self.session.options).quota = Some(capacity);
        self
    }

    /// Begins each [`EvidenceQuota`](crate::quota::EvidenceQuota) as after attempts that succeeded, as in a process that runs for long.
    /// By default it begins as in a new process, which retries no timeout before its first success. Other quotas begin full in both
    /// cases. Call it before the first call.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, RetryInfo, retry_blocking};
    ///
    /// #[derive(Debug, RetryInfo)]
    /// #[retry(timeout)]
    /// struct NoAnswer;
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// let fail = || Err::<(), _>(NoAnswer);
    /// let test = retry_core::test::begin().warm();
    /// assert!(retry_blocking(&STORE, fail).run().is_err());
    /// assert!(test.skipped()[0].as_secs() < 1, "the first retry does not wait for the service");
    /// ```
    pub fn warm(self) -> Self {
        lock(&self.session.options).begins_warm = true;
        self
    }

    /// Makes operations sleep their waits instead of skipping them.
    pub fn real_time(self) -> Self {
        lock(&self.session.options).skips_waits = false;
        self
    }

    /// Lets calls have their [hedges](crate::Hedge), with delays that have learned nothing yet. By default, there are none, so that
    /// the number of attempts does not depend on how fast the machine is. Delays of hedges are not skipped. A quota by evidence, as that of the
    /// recommended strategy, sells hedges only once an attempt has succeeded: add [`warm`](Self::warm). The text of an [`Operation`] says why its last
    /// attempt had none.
    #[cfg(feature = "hedges")]
    pub fn hedges(self) -> Self {
        lock(&self.session.options).hedges = true;
        self
    }

    /// Sets the seed of the jitter. The default is 0. The seeds in the settings of strategies are not used.
    /// If several threads draw delays, their order decides which thread gets which delay.
    pub fn seed(self, seed: u64) -> Self {
        lock(&self.session.options).seed = seed;
        self
    }

    /// Returns the record of the only operation that has begun.
    ///
    /// # Panics
    ///
    /// Panics if no operation or more than one has begun. The message lists them. If there is none, it says how other threads enter the test.
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
                if operations.is_empty() {
                    lines.push_str(OTHER_THREADS);
                }
                panic!("expected: one operation\n  actual: {} operations{lines}", operations.len());
            }
        }
    }

    /// Returns the records of the operations, in the order in which they began.
    pub fn operations(&self) -> Vec<Operation> {
        self.session.note_use();
        record::operations(&self.session)
    }

    /// Returns the skipped waits of all operations, in the order in which they began.
    pub fn skipped(&self) -> Vec<Duration> {
        self.session.note_use();
        self.session.skipped()
    }

    /// Returns the pairs of functions of which one was retried within an attempt of the other, on the same thread. Their retries
    /// multiply. Functions that only call each other are not among them.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, RetryInfo, retry_blocking};
    ///
    /// #[derive(Debug, RetryInfo)]
    /// #[retry(throttling)]
    /// struct SlowDown;
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static CLIENT: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// let get = || retry_blocking(&CLIENT, || Err::<(), _>(SlowDown)).name("get").run();
    /// let test = retry_core::test::begin();
    /// assert!(retry_blocking(&STORE, get).name("load").run().is_err());
    /// assert_eq!(test.nested()[0].to_string(), "load around get: up to 100 attempts");
    /// ```
    pub fn nested(&self) -> Vec<Nested> {
        self.session.note_use();
        nested::nested(&self.session)
    }

    /// Returns a handle through which other threads and their tasks enter the test.
    pub fn handle(&self) -> TestHandle {
        self.session.note_use();
        TestHandle { session: Arc::clone(&self.session) }
    }
}

impl Drop for TestGuard {
    fn drop(&mut self) {
        self.session.leave();
        assert!(
            self.session.was_used() || std::thread::panicking(),
            "the test guard of {} was dropped before any retried call\n  keep it to the end of the test, as in `let test = \
             retry_core::test::begin();`: `let _ =` drops it immediately\n  if the test makes no retried call on purpose, add \
             `assert!(test.operations().is_empty())`",
            self.begun_at
        );
    }
}

/// What to do if the calls of a test are made on another thread.
const OTHER_THREADS: &str = "\n  a guard reaches its own thread only: on another one, such as that of `spawn_blocking`, make the call within \
     `handle.run(|| ..)`, with `let handle = test.handle();` made here; for a task on another thread, write \
     `tokio::spawn(test.handle().wrap(task))`";

/// A handle through which other threads and their tasks enter a test. It can outlive the guard.
///
/// ```
/// use retry_core::test;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let guard = test::begin();
///
/// // A task that may run on another thread.
/// let task = guard.handle().wrap(async { assert!(test::is_active()) });
/// tokio::spawn(task).await.unwrap();
///
/// // Another thread.
/// let handle = guard.handle();
/// let thread = std::thread::spawn(move || handle.run(|| assert!(test::is_active())));
/// thread.join().unwrap();
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct TestHandle {
    session: Arc<Session>,
}

impl TestHandle {
    /// Wraps a future so that it is in the test on each thread that polls it.
    pub fn wrap<F: Future>(&self, future: F) -> Wrapped<F> {
        Wrapped { session: Arc::clone(&self.session), future: Some(Box::pin(future)) }
    }

    /// Runs a closure in the test, on the current thread.
    pub fn run<R>(&self, closure: impl FnOnce() -> R) -> R {
        let _entered = Entered::new(&self.session);
        closure()
    }
}

/// A future in a test. Created by [`TestHandle::wrap`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Wrapped<F> {
    session: Arc<Session>,
    /// `None` once it is ready.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for Wrapped<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { session, future } = &mut *self;
        let _entered = Entered::new(session);
        let Some(running) = future else { return Poll::Pending };
        let output = ready!(running.as_mut().poll(context));
        *future = None;
        Poll::Ready(output)
    }
}

impl<F> Drop for Wrapped<F> {
    /// Drops the future under the test, so that its refunds go to the test's strategies.
    fn drop(&mut self) {
        let _entered = Entered::new(&self.session);
        self.future = None;
    }
}

/// A guard that leaves the session when it is dropped, also during a panic.
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
