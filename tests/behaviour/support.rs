//! What the tests share: an error that can be anything, and functions that fail as they are told.

use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
use std::cell::Cell;
use std::time::Duration;

/// An error that says what it is told to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) fault: ErrorFault,
    pub(crate) safety: RetrySafety,
    pub(crate) throttle: bool,
    pub(crate) timeout: bool,
    pub(crate) retry_after: Option<Duration>,
}

impl Fault {
    /// Worth a retry, of no particular class.
    pub(crate) const SAFE: Self =
        Self { fault: ErrorFault::Other, safety: RetrySafety::Yes, throttle: false, timeout: false, retry_after: None };
    /// Never worth a retry.
    pub(crate) const FATAL: Self = Self { fault: ErrorFault::Client, safety: RetrySafety::No, ..Self::SAFE };
    /// Too many requests.
    pub(crate) const THROTTLED: Self = Self { throttle: true, ..Self::SAFE };
    /// No answer in time.
    pub(crate) const TIMEOUT: Self = Self { safety: RetrySafety::Maybe, timeout: true, ..Self::SAFE };

    /// The same, with a wait that the server asks for.
    pub(crate) const fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }
}

impl ErrorInfo for Fault {
    fn fault(&self) -> ErrorFault {
        self.fault
    }
}

impl RetryInfo for Fault {
    fn is_retry_safe(&self) -> RetrySafety {
        self.safety
    }

    fn is_throttle(&self) -> bool {
        self.throttle
    }

    fn is_timeout(&self) -> bool {
        self.timeout
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// A service that fails as often as it is told, and counts its calls.
pub(crate) struct Flaky {
    failures: u32,
    error: Fault,
    calls: Cell<u32>,
}

impl Flaky {
    pub(crate) const fn new(failures: u32, error: Fault) -> Self {
        Self { failures, error, calls: Cell::new(0) }
    }

    /// One attempt.
    pub(crate) fn call(&self) -> Result<u32, Fault> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() > self.failures { Ok(self.calls.get()) } else { Err(self.error) }
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.get()
    }
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Polls a future once; it must be pending.
pub(crate) fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) {
    let waker = std::task::Waker::noop();
    assert!(future.poll(&mut std::task::Context::from_waker(waker)).is_pending());
}

/// Compiles for futures that may move to another thread only.
pub(crate) fn assert_send<T: Send>(value: T) -> T {
    value
}
