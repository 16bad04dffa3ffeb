//! Helpers shared by the tests: a configurable error, a service that fails a number of times, clocks and a strategy
//! that records its calls.

pub mod by_hand;
pub mod scales;
pub mod subscribers;
pub mod timers;

use retry_core::limit::{LazyWaker, Ready};
use retry_core::quota::EvidenceQuota;
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, ErrorFault, ErrorInfo, ExponentialBackoff, Failure, Hedge, RetryError, RetryInfo, RetrySafety,
    RetryStrategy, RetryToken, StandardRetryStrategy, Success, TimedOut,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::env;
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// Keeps a hedge until the process ends, as a static does.
pub fn kept(hedge: Hedge) -> &'static Hedge {
    Box::leak(Box::new(hedge))
}

/// The standard strategy with a quota by evidence: a retry that the quota can't pay for ends its operation.
pub type ByEvidence = StandardRetryStrategy<ExponentialBackoff, EvidenceQuota>;

pub const fn by_evidence() -> ByEvidence {
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new())
}

/// An error whose answers are its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    pub fault: ErrorFault,
    pub safety: RetrySafety,
    pub throttle: bool,
    pub timeout: bool,
    pub conflict: bool,
    pub retry_after: Option<Duration>,
}

impl Failed {
    /// An unclassified error that is safe to retry.
    pub const SAFE: Self = Self {
        fault: ErrorFault::Other,
        safety: RetrySafety::Yes,
        throttle: false,
        timeout: false,
        conflict: false,
        retry_after: None,
    };
    /// An error that is never retried.
    pub const FATAL: Self = Self { fault: ErrorFault::Client, safety: RetrySafety::No, ..Self::SAFE };
    /// A throttled request.
    pub const THROTTLED: Self = Self { throttle: true, ..Self::SAFE };
    /// A timeout.
    pub const TIMEOUT: Self = Self { safety: RetrySafety::Maybe, timeout: true, ..Self::SAFE };

    /// A conflict with another request.
    pub const CONFLICT: Self = Self { conflict: true, ..Self::SAFE };

    /// Returns every combination of the fields, without a wait.
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = [ErrorFault::Client, ErrorFault::Server, ErrorFault::Other];
        let safeties = [RetrySafety::Yes, RetrySafety::No, RetrySafety::Maybe];
        faults.into_iter().flat_map(move |fault| {
            safeties.into_iter().flat_map(move |safety| {
                (0..8).map(move |flags| Self {
                    fault,
                    safety,
                    throttle: flags & 1 != 0,
                    timeout: flags & 2 != 0,
                    conflict: flags & 4 != 0,
                    retry_after: None,
                })
            })
        })
    }

    /// Returns the same error with a wait that the server asks for.
    pub const fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }
}

impl ErrorInfo for Failed {
    fn fault(&self) -> ErrorFault {
        self.fault
    }
}

impl RetryInfo for Failed {
    fn is_retry_safe(&self) -> RetrySafety {
        self.safety
    }

    fn is_throttle(&self) -> bool {
        self.throttle
    }

    fn is_timeout(&self) -> bool {
        self.timeout
    }

    fn is_conflict(&self) -> bool {
        self.conflict
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// Needed by options with a time limit.
impl From<TimedOut> for Failed {
    fn from(_: TimedOut) -> Self {
        Self::TIMEOUT
    }
}

/// A service whose first calls fail. It counts its calls.
pub struct Flaky {
    failures: u32,
    error: Failed,
    calls: AtomicU32,
}

impl Flaky {
    pub const fn new(failures: u32, error: Failed) -> Self {
        Self { failures, error, calls: AtomicU32::new(0) }
    }

    /// Makes one call, which returns its number once the failures are over.
    pub fn call(&self) -> Result<u32, Failed> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call > self.failures { Ok(call) } else { Err(self.error) }
    }

    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// A clock that the test sets. It counts its readings.
pub struct ByHand {
    now: Cell<Duration>,
    readings: Cell<u32>,
}

impl ByHand {
    pub fn at(now: Duration) -> Self {
        Self { now: Cell::new(now), readings: Cell::new(0) }
    }

    pub fn set(&self, now: Duration) {
        self.now.set(now);
    }

    pub fn advance(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }

    /// Returns the time without counting a reading.
    pub fn time(&self) -> Duration {
        self.now.get()
    }

    pub fn readings_of<T>(&self, action: impl FnOnce() -> T) -> u32 {
        let before = self.readings.get();
        action();
        self.readings.get() - before
    }
}

impl Clock for ByHand {
    fn now(&self) -> Timestamp {
        self.readings.set(self.readings.get() + 1);
        Timestamp::from_origin(self.now.get())
    }
}

pub const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Polls a future once and checks that it is pending.
pub fn poll_once(future: Pin<&mut (impl Future + ?Sized)>) {
    assert!(future.poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// A waker that counts its wakes.
#[derive(Default)]
pub struct Wakes(AtomicU32);

impl Wakes {
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Compiles only for values that are `Send`.
pub fn assert_send<T: Send>(value: T) -> T {
    value
}

/// A strategy that records its calls and returns configured answers.
pub struct Recorder {
    calls: RefCell<Vec<&'static str>>,
    last_failure: Cell<Option<Failure>>,
    waits: RefCell<VecDeque<Duration>>,
    initial: Option<RetryError>,
    retries: Option<RetryError>,
    forgetful: bool,
    sells_hedges: bool,
}

/// The token of a [`Recorder`] and other strategies, which holds the number of the attempt.
pub struct Attempt(pub u32);

impl RetryToken for Attempt {
    fn attempt(&self) -> u32 {
        self.0
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl Recorder {
    pub fn new() -> Self {
        Self {
            calls: RefCell::default(),
            last_failure: Cell::new(None),
            waits: RefCell::default(),
            initial: None,
            retries: None,
            forgetful: false,
            sells_hedges: false,
        }
    }

    /// Refuses the initial token for this reason.
    pub fn refusing_initial_token(self, reason: RetryError) -> Self {
        Self { initial: Some(reason), ..self }
    }

    /// Refuses all retries for this reason.
    pub fn refusing_retries(self, reason: RetryError) -> Self {
        Self { retries: Some(reason), ..self }
    }

    /// Sells hedges.
    pub fn selling_hedges(self) -> Self {
        Self { sells_hedges: true, ..self }
    }

    /// Treats the token of a success as foreign.
    pub fn forgetting(self) -> Self {
        Self { forgetful: true, ..self }
    }

    /// Returns these waits from `ready`, one after the other, and then `Ready::Now`.
    pub fn waiting(self, waits: impl IntoIterator<Item = Duration>) -> Self {
        Self { waits: RefCell::new(waits.into_iter().collect()), ..self }
    }

    pub fn calls(&self) -> Vec<&'static str> {
        self.calls.borrow().clone()
    }

    pub fn last_failure(&self) -> Option<Failure> {
        self.last_failure.get()
    }
}

impl RetryStrategy for Recorder {
    type Token = Attempt;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Attempt, RetryError> {
        self.calls.borrow_mut().push("initial");
        self.initial.map_or(Ok(Attempt(1)), Err)
    }

    fn refresh_retry_token(&self, token: Attempt, failure: &Failure, _: &dyn Clock) -> Result<Attempt, RetryError> {
        self.calls.borrow_mut().push("refresh");
        self.last_failure.set(Some(*failure));
        match self.retries {
            None if failure.is_retryable() => Ok(Attempt(token.0 + 1)),
            None => Err(RetryError::NotRetryable),
            Some(reason) => Err(reason),
        }
    }

    fn record_success(&self, _: Attempt, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        self.calls.borrow_mut().push("success");
        if self.forgetful { Err(ForeignToken) } else { Ok(()) }
    }

    fn ready(&self, _: &mut Attempt, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.calls.borrow_mut().push("ready");
        self.waits.borrow_mut().pop_front().map_or(Ready::Now, Ready::After)
    }

    fn acquire_hedge(&self, token: &Attempt, _: &dyn Clock) -> Result<Attempt, RetryError> {
        self.calls.borrow_mut().push("hedge");
        if self.sells_hedges { Ok(Attempt(token.0 + 1)) } else { Err(RetryError::Refused) }
    }

    fn release(&self, _: Attempt) {
        self.calls.borrow_mut().push("release");
    }
}

/// Runs an ignored test of this binary in its own process, because what it changes or reads belongs to the process.
/// Returns its standard error.
///
/// # Panics
///
/// Panics if the test fails, or if there is no test of that name.
pub fn run_in_a_process(test: &str, prepare: impl FnOnce(&mut Command)) -> String {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test, "--include-ignored", "--nocapture"]);
    prepare(&mut child);
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 passed"), "the child ran no test");
    String::from_utf8(output.stderr).unwrap()
}
