//! What an error says about itself: whose fault it is and whether it may be retried.

use std::borrow::Cow;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Who caused an error, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ErrorFault {
    /// The request was wrong: a missing parameter, a missing permission, an unknown key.
    Client,
    /// The server could not do its part: a crash, a dependency of its own that failed.
    Server,
    /// Neither, or nobody knows. The default. (A hand-written [`RetryInfo`] says "maybe" of it, see
    /// [`RetryInfo::is_retry_safe`]; a derived one says no, because what nobody labelled should not be retried.)
    #[default]
    Other,
}

/// Whether the request behind an error may be sent again.
///
/// An answer is a permission, never a promise: [`Yes`](RetrySafety::Yes) still meets the maximum of attempts and the
/// retry quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetrySafety {
    /// The request is known not to have been acted upon, or is harmless to repeat.
    Yes,
    /// A retry would be wrong or pointless.
    No,
    /// The error can't tell. What follows is decided by the operation, which knows whether it is idempotent; see
    /// [`StandardRetryPolicy::idempotent`](crate::StandardRetryPolicy::idempotent).
    Maybe,
}

/// What is known of an error besides retries.
///
/// `#[derive(RetryInfo)]` implements it too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whose fault it is",
    label = "this type does not implement `ErrorInfo`",
    note = "`RetryInfo` needs it: write `impl ErrorInfo for {Self} {{}}`, or `#[derive(RetryInfo)]`, which implements both"
)]
pub trait ErrorInfo {
    /// Who caused the error. [`ErrorFault::Other`] unless the implementation says otherwise.
    fn fault(&self) -> ErrorFault {
        ErrorFault::Other
    }
}

/// What an error says about retrying the request that it ended.
///
/// Derive it: [`#[derive(RetryInfo)]`](macro@crate::RetryInfo). By hand, every method has a default, so that an empty
/// `impl` decides by the [fault](ErrorInfo::fault) alone: no retry for a client's fault, otherwise
/// [`RetrySafety::Maybe`].
///
/// ```
/// use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
///
/// struct Unavailable;
///
/// impl ErrorInfo for Unavailable {
///     fn fault(&self) -> ErrorFault {
///         ErrorFault::Server
///     }
/// }
/// impl RetryInfo for Unavailable {}
///
/// assert_eq!(Unavailable.is_retry_safe(), RetrySafety::Maybe);
/// ```
///
/// The trait has no [`Error`](std::error::Error) supertrait, because a bare kind or status can have a say as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it means for a retry",
    label = "this type does not implement `RetryInfo`",
    note = "for a type of your own, write `#[derive(RetryInfo)]` on it and `#[retry(...)]` on what may be retried",
    note = "for a field of a foreign type, write `#[retry(with = path::of::judge)]`: a fn of yours then judges it",
    note = "elsewhere, wrap a foreign type in one of your own, or judge the outcome: `policy = |outcome| ...` in the attribute, `retry(&STORE, || call()).when(|error| ...)` for a closure"
)]
pub trait RetryInfo: ErrorInfo {
    /// Whether the request may be sent again.
    ///
    /// The default: yes after [throttling](RetryInfo::is_throttle) or a [conflict](RetryInfo::is_conflict), since nothing
    /// was done; maybe after a [timeout](RetryInfo::is_timeout); otherwise no where the client is at fault, and maybe for
    /// the rest.
    fn is_retry_safe(&self) -> RetrySafety {
        if self.is_throttle() || self.is_conflict() {
            RetrySafety::Yes
        } else if !self.is_timeout() && self.fault() == ErrorFault::Client {
            RetrySafety::No
        } else {
            RetrySafety::Maybe
        }
    }

    /// Whether the server turned the request away because there were too many of late.
    fn is_throttle(&self) -> bool {
        false
    }

    /// Whether no answer came in time.
    fn is_timeout(&self) -> bool {
        false
    }

    /// Whether the request lost a race against another one: an optimistic transaction or a conditional write that a
    /// healthy server refused. Nothing was done, and another attempt that reads again may succeed at once.
    ///
    /// A retry after a conflict costs the retry quota nothing and has a short backoff, unless the strategy's settings
    /// differ. Where a database reports overload as a conflict, give conflicts a
    /// [cost](crate::strategy::RetryCosts::conflict).
    fn is_conflict(&self) -> bool {
        false
    }

    /// How long the server asked to wait before the next attempt, if it said so. A retry waits at least that long.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

/// Pointers forward to the error that they point to.
macro_rules! forward_errors {
    ($($pointer:ty $(where T: $bound:path)?),+) => {$(
        impl<T: ErrorInfo + ?Sized $(+ $bound)?> ErrorInfo for $pointer {
            fn fault(&self) -> ErrorFault {
                (**self).fault()
            }
        }

        impl<T: RetryInfo + ?Sized $(+ $bound)?> RetryInfo for $pointer {
            fn is_retry_safe(&self) -> RetrySafety {
                (**self).is_retry_safe()
            }

            fn is_throttle(&self) -> bool {
                (**self).is_throttle()
            }

            fn is_timeout(&self) -> bool {
                (**self).is_timeout()
            }

            fn is_conflict(&self) -> bool {
                (**self).is_conflict()
            }

            fn retry_after(&self) -> Option<Duration> {
                (**self).retry_after()
            }
        }
    )+};
}

forward_errors!(&T, Box<T>, Rc<T>, Arc<T>, Cow<'_, T> where T: ToOwned);

/// An error that never happens.
impl ErrorInfo for Infallible {}

impl RetryInfo for Infallible {}
