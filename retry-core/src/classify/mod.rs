//! Classification of foreign errors: statuses, error codes, kinds of I/O errors, and error chains.
//!
//! A function with `known` in its name returns an `Option`: `None` means that the table has no answer. So do the functions
//! of [`chain`]. The other functions that classify always have an answer.
//!
//! A classification implements [`RetryInfo`] and [`ErrorInfo`], so an error type can have one in a field under
//! `#[retry(transparent)]`, and a hand-written implementation can forward to one. A derived implementation calls these
//! functions for the attributes in this table:
//!
//! | item | classifies | field attribute | examples |
//! |---|---|---|---|
//! | [`http`] | statuses, methods | `http_status` | 429 is throttling, 503 may be retried, 404 is not retried |
//! | [`aws`] | AWS error codes, and statuses as the AWS SDKs read them | `error_code` | 503 with `SlowDown` is throttling |
//! | [`io`] | [`std::io::ErrorKind`] | `with = io::known` | a refused connection is safe to retry, a missing file is not retried |
//! | [`chain`] | the chain of [`Error::source`](std::error::Error::source)s | `with = chain::known` | an I/O error or a timeout inside a `Box<dyn Error>` |
//!
//! ```
//! use retry_core::classify::{Classification, aws, http, io};
//! use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
//! use std::time::Duration;
//!
//! #[derive(Debug, RetryInfo)]
//! enum StoreError {
//!     /// An error response, classified when it was read.
//!     #[retry(transparent)]
//!     Answer(Classification),
//!     #[retry(fault = "client")]
//!     NoSuchKey,
//! }
//!
//! // Classifies a response by its status, its error code and the wait that it asks for.
//! fn classify(status: u16, code: Option<&str>, wait: Option<Duration>) -> StoreError {
//!     let known = code.and_then(aws::known_code);
//!     StoreError::Answer(match known {
//!         Some(classification) => classification.with_retry_after(wait),
//!         None => http::status_with(status, wait),
//!     })
//! }
//!
//! assert!(classify(503, Some("SlowDown"), None).is_throttle());
//! assert_eq!(classify(503, None, None).is_retry_safe(), RetrySafety::Maybe);
//! let wait = Some(Duration::from_secs(7));
//! assert_eq!(classify(503, None, wait).retry_after(), wait);
//!
//! // A hand-written implementation, for an error type that wraps another one.
//! struct Disconnected(std::io::Error);
//!
//! impl Disconnected {
//!     fn classification(&self) -> Classification {
//!         io::known(&self.0).unwrap_or(Classification::new(RetrySafety::No))
//!     }
//! }
//! impl ErrorInfo for Disconnected {
//!     fn fault(&self) -> ErrorFault {
//!         self.classification().fault()
//!     }
//! }
//! impl RetryInfo for Disconnected {
//!     fn is_retry_safe(&self) -> RetrySafety {
//!         self.classification().is_retry_safe()
//!     }
//!     fn is_timeout(&self) -> bool {
//!         self.classification().is_timeout()
//!     }
//! }
//!
//! let error = Disconnected(std::io::ErrorKind::ConnectionRefused.into());
//! assert_eq!(error.is_retry_safe(), RetrySafety::Yes);
//! ```
//!
//! The meaning of a client library's error depends on the phase of the request: connecting, sending, or reading the
//! response. The crate `retry-clients` knows the errors of several clients, the codes of gRPC, SQL databases, Redis and
//! services for language models, and the headers of HTTP. In the repository, run `cargo run --example http_client` to see it at work with a server
//! that answers, stalls, closes the connection, and is down.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `http` | no | `http::StatusCode` of the crate `http` in a field with `http_status`, and `From` it for a [`Classification`] |
//! | `tokio` | yes | [`chain::known`] classifies tokio's `Elapsed` |

pub mod aws;
pub mod chain;
pub mod http;
pub mod io;
mod rate_limit;

use crate::error::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
use std::time::Duration;

/// The complete [`RetryInfo`] and [`ErrorInfo`] of an error, as a value.
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
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
pub struct Classification {
    safety: RetrySafety,
    throttling: bool,
    timeout: bool,
    conflict: bool,
    fault: ErrorFault,
    is_unknown: bool,
    retry_after: Option<Duration>,
}

impl Classification {
    /// Creates a classification that is neither throttling, timeout nor conflict, with [`ErrorFault::Other`] and no
    /// wait.
    pub const fn new(safety: RetrySafety) -> Self {
        Self {
            safety,
            throttling: false,
            timeout: false,
            conflict: false,
            fault: ErrorFault::Other,
            is_unknown: false,
            retry_after: None,
        }
    }

    /// Copies the answers of an error.
    pub fn of<E: RetryInfo + ?Sized>(error: &E) -> Self {
        Self {
            safety: error.is_retry_safe(),
            throttling: error.is_throttle(),
            timeout: error.is_timeout(),
            conflict: error.is_conflict(),
            fault: error.fault(),
            is_unknown: error.is_unknown(),
            retry_after: error.retry_after(),
        }
    }

    /// Marks the error as throttling: the server rejected the request because of too many recent requests. This does
    /// not change [`is_retry_safe`](Classification::is_retry_safe).
    #[must_use]
    pub const fn with_throttling(mut self) -> Self {
        self.throttling = true;
        self
    }

    /// Marks the error as a timeout: no response came in time. This does not change
    /// [`is_retry_safe`](Classification::is_retry_safe).
    #[must_use]
    pub const fn with_timeout(mut self) -> Self {
        self.timeout = true;
        self
    }

    /// Marks the error as a conflict: the request lost a race against another one. This does not change
    /// [`is_retry_safe`](Classification::is_retry_safe).
    #[must_use]
    pub const fn with_conflict(mut self) -> Self {
        self.conflict = true;
        self
    }

    /// Sets the fault.
    #[must_use]
    pub const fn with_fault(mut self, fault: ErrorFault) -> Self {
        self.fault = fault;
        self
    }

    /// Sets the wait that the server asked for. This changes nothing else; to classify a 503 with a wait as throttling,
    /// use [`http::status_with`].
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Sets whether the request may be sent again, so that the error is not [unknown](RetryInfo::is_unknown). This changes nothing
    /// else.
    #[must_use]
    pub const fn with_safety(mut self, safety: RetrySafety) -> Self {
        self.is_unknown = false;
        self.safety = safety;
        self
    }

    /// Turns [`RetrySafety::Maybe`] into [`RetrySafety::Yes`] if the request is idempotent.
    ///
    /// With `false`, `Maybe` stays, and the policy of the operation decides. `Yes` and `No` never change.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        if idempotent && matches!(self.safety, RetrySafety::Maybe) {
            self.safety = RetrySafety::Yes;
        }
        self
    }

    /// Returns whether the request may be sent again.
    pub const fn is_retry_safe(&self) -> RetrySafety {
        self.safety
    }

    /// Returns whether the server rejected the request because of too many recent requests.
    pub const fn is_throttle(&self) -> bool {
        self.throttling
    }

    /// Returns whether no response came in time.
    pub const fn is_timeout(&self) -> bool {
        self.timeout
    }

    /// Returns whether the request lost a race against another one.
    pub const fn is_conflict(&self) -> bool {
        self.conflict
    }

    /// Returns the fault: who caused the error.
    pub const fn fault(&self) -> ErrorFault {
        self.fault
    }

    /// Returns the wait that the server asked for before the next attempt, if any.
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

    fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}
