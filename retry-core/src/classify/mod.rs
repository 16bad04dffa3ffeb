//! The meaning of foreign errors: statuses, error codes, kinds of I/O errors, and chains of sources.
//!
//! Each function returns a [`Classification`], or an `Option` of one where an input may be unknown. A classification
//! implements [`RetryInfo`] and [`ErrorInfo`], so an error type can hold one in a field under `#[retry(transparent)]`, and a
//! hand-written implementation can pass its answers on. A derived implementation calls these functions by itself:
//!
//! | module | knows | attribute of a field | for example |
//! |---|---|---|---|
//! | [`http`] | statuses, methods, the header `Retry-After` | `http_status` | 429 is throttling, 503 may be retried, 404 is not |
//! | [`aws`] | error codes of AWS, and statuses as its SDKs read them | `error_code` | 503 with `SlowDown` is throttling |
//! | [`io`] | [`std::io::ErrorKind`] | `with = io::error` | a refused connection is safe to retry, a missing file is not retried |
//! | [`chain`] | the links of [`Error::source`](std::error::Error::source) | `with = chain::known` | an I/O error or a timeout inside a `Box<dyn Error>` |
//!
//! ```
//! use retry_core::classify::{Classification, aws, http, io};
//! use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
//! use std::time::{Duration, SystemTime};
//!
//! #[derive(Debug, RetryInfo)]
//! enum StoreError {
//!     /// The service answered, and the answer was judged where it was read.
//!     #[retry(transparent)]
//!     Answer(Classification),
//!     #[retry(fault = "client")]
//!     NoSuchKey,
//! }
//!
//! // An answer: status, error code if the body had one, header `Retry-After` if there was one.
//! fn judge(status: u16, code: Option<&str>, retry_after: Option<&str>) -> StoreError {
//!     let wait = retry_after.and_then(|text| http::retry_after(text, None, SystemTime::now()));
//!     let known = code.and_then(aws::code);
//!     StoreError::Answer(match known {
//!         Some(verdict) => verdict.with_retry_after(wait),
//!         None => http::status_with(status, wait),
//!     })
//! }
//!
//! assert!(judge(503, Some("SlowDown"), None).is_throttle());
//! assert_eq!(judge(503, None, None).is_retry_safe(), RetrySafety::Maybe);
//! assert_eq!(judge(503, None, Some("7")).retry_after(), Some(Duration::from_secs(7)));
//!
//! // By hand, for an error that keeps what it was made of.
//! struct Disconnected(std::io::Error);
//!
//! impl Disconnected {
//!     fn verdict(&self) -> Classification {
//!         io::error(&self.0).unwrap_or(Classification::new(RetrySafety::No))
//!     }
//! }
//! impl ErrorInfo for Disconnected {
//!     fn fault(&self) -> ErrorFault {
//!         self.verdict().fault()
//!     }
//! }
//! impl RetryInfo for Disconnected {
//!     fn is_retry_safe(&self) -> RetrySafety {
//!         self.verdict().is_retry_safe()
//!     }
//!     fn is_timeout(&self) -> bool {
//!         self.verdict().is_timeout()
//!     }
//! }
//!
//! let error = Disconnected(std::io::ErrorKind::ConnectionRefused.into());
//! assert_eq!(error.is_retry_safe(), RetrySafety::Yes);
//! ```
//!
//! What the errors of a client library mean depends on where it was: connecting, sending, or reading the response. In the
//! repository, `examples/reqwest_errors.rs` is the whole rule for reqwest, and `cargo run --example http_client` shows it with a
//! server that answers, stalls, hangs up and is gone.
//!
//! # Features
//!
//! | feature | default | what it brings |
//! |---|---|---|
//! | `httpdate` | no | HTTP dates in `Retry-After`; without it a date is ignored, seconds are not |
//! | `http` | no | the types of the crate `http` as arguments, and `httpdate` |
//! | `tokio` | yes | [`chain::known`] knows tokio's `Elapsed` |

pub mod aws;
pub mod chain;
pub mod http;
pub mod io;
mod retry_after;
#[cfg(all(test, feature = "http"))]
mod tests;

use crate::error::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
use std::time::Duration;

/// All that an error says about retries, as a value.
///
/// ```
/// use retry_core::classify::Classification;
/// use retry_core::{ErrorFault, RetrySafety};
///
/// const BUSY: Classification =
///     Classification::new(RetrySafety::Yes).with_throttling().with_fault(ErrorFault::Client);
/// assert!(BUSY.is_throttle());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Classification {
    safety: RetrySafety,
    throttling: bool,
    timeout: bool,
    conflict: bool,
    fault: ErrorFault,
    retry_after: Option<Duration>,
}

impl Classification {
    /// Creates a classification without throttling, timeout, conflict, known fault or wait.
    pub const fn new(safety: RetrySafety) -> Self {
        Self { safety, throttling: false, timeout: false, conflict: false, fault: ErrorFault::Other, retry_after: None }
    }

    /// What an error says, copied.
    pub fn of<E: RetryInfo + ?Sized>(error: &E) -> Self {
        Self {
            safety: error.is_retry_safe(),
            throttling: error.is_throttle(),
            timeout: error.is_timeout(),
            conflict: error.is_conflict(),
            fault: error.fault(),
            retry_after: error.retry_after(),
        }
    }

    /// Adds that the server turned the request away because there were too many of late. Whether a retry is safe stays
    /// as it was said.
    #[must_use]
    pub const fn with_throttling(mut self) -> Self {
        self.throttling = true;
        self
    }

    /// Adds that no answer came in time. Whether a retry is safe stays as it was said.
    #[must_use]
    pub const fn with_timeout(mut self) -> Self {
        self.timeout = true;
        self
    }

    /// Adds that the request lost a race against another one. Whether a retry is safe stays as it was said.
    #[must_use]
    pub const fn with_conflict(mut self) -> Self {
        self.conflict = true;
        self
    }

    /// Says who caused the error.
    #[must_use]
    pub const fn with_fault(mut self, fault: ErrorFault) -> Self {
        self.fault = fault;
        self
    }

    /// Says how long the server asked to wait. It changes nothing else: a 503 becomes throttling by
    /// [`http::status_with`].
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Says whether the request may be carried out twice. If so, [`RetrySafety::Maybe`] becomes [`RetrySafety::Yes`];
    /// if not, it stays, and the operation decides. Yes and no are not touched.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        if idempotent && matches!(self.safety, RetrySafety::Maybe) {
            self.safety = RetrySafety::Yes;
        }
        self
    }

    /// Whether the request may be sent again.
    pub const fn is_retry_safe(&self) -> RetrySafety {
        self.safety
    }

    /// Whether the server turned the request away because there were too many of late.
    pub const fn is_throttle(&self) -> bool {
        self.throttling
    }

    /// Whether no answer came in time.
    pub const fn is_timeout(&self) -> bool {
        self.timeout
    }

    /// Whether the request lost a race against another one.
    pub const fn is_conflict(&self) -> bool {
        self.conflict
    }

    /// Who caused the error.
    pub const fn fault(&self) -> ErrorFault {
        self.fault
    }

    /// How long the server asked to wait before the next attempt.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl ErrorInfo for Classification {
    fn fault(&self) -> ErrorFault {
        self.fault
    }
}

impl RetryInfo for Classification {
    fn is_retry_safe(&self) -> RetrySafety {
        self.safety
    }

    fn is_throttle(&self) -> bool {
        self.throttling
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
