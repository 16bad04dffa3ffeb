//! The traits that describe an error: who caused it, and whether the request may be retried.

use std::borrow::Cow;
use std::convert::Infallible;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The party that caused an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ErrorFault {
    /// The request was wrong: a missing parameter, a missing permission, an unknown key.
    Client,
    /// The server failed: it crashed, or one of its own dependencies failed.
    Server,
    /// Neither of them, or unknown. This is the default.
    ///
    /// The default of [`RetryInfo::is_retry_safe`] is [`RetrySafety::Maybe`] for this fault. A derived implementation
    /// answers [`RetrySafety::No`] instead, because errors without a label should not be retried.
    #[default]
    Other,
}

/// Whether the request behind an error may be sent again.
///
/// This is a permission and not a promise: even after [`Yes`](RetrySafety::Yes), the maximum number of attempts or the
/// retry quota can prevent a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetrySafety {
    /// The request is known not to have been acted upon, or is harmless to repeat.
    Yes,
    /// A retry would be wrong or useless, often because the server has answered: a declined card is declined again. It does not say whether
    /// the request was acted upon.
    No,
    /// Whether the request was acted upon is unknown, as after a timeout. The decision depends on whether the operation is idempotent; see
    /// [`StandardRetryPolicy::idempotent`](crate::StandardRetryPolicy::idempotent).
    Maybe,
}

/// Information about an error that is not specific to retries.
///
/// `#[derive(RetryInfo)]` implements this trait, too.
///
/// ```
/// use retry_core::{ErrorFault, ErrorInfo};
///
/// struct Status(u16);
///
/// impl ErrorInfo for Status {
///     fn fault(&self) -> ErrorFault {
///         match self.0 {
///             400..500 => ErrorFault::Client,
///             500.. => ErrorFault::Server,
///             _ => ErrorFault::Other,
///         }
///     }
/// }
///
/// assert_eq!(Status(404).fault(), ErrorFault::Client);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whose fault it is",
    label = "this type does not implement `ErrorInfo`",
    note = "`RetryInfo` needs it: write `impl ErrorInfo for {Self} {{}}`, or `#[derive(RetryInfo)]`, which implements both"
)]
pub trait ErrorInfo {
    /// Returns the party that caused the error. The default is [`ErrorFault::Other`].
    fn fault(&self) -> ErrorFault {
        ErrorFault::Other
    }
}

/// Information about an error that decides whether, and when, the failed request is retried.
///
/// Most types derive it: [`#[derive(RetryInfo)]`](macro@crate::RetryInfo). In a hand-written implementation every
/// method has a default. An empty `impl` decides by the [fault](ErrorInfo::fault) alone: [`RetrySafety::No`] if the
/// client is at fault, otherwise [`RetrySafety::Maybe`].
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
/// The trait has no [`Error`](std::error::Error) supertrait, so that an error kind or a status can implement it, too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it means for a retry",
    label = "this type does not implement `RetryInfo`",
    note = "for your own type, write `#[derive(RetryInfo)]` on it and `#[retry(...)]` on what may be retried",
    note = "for the error of a client, alone or in `anyhow::Error`, `Box<dyn Error>` and the like, write the policy of the client in the crate `retry-clients`, as in `policy = retry_clients::reqwest013::policy()` (or of `reqwest012`, `reqwest_middleware05`, `hyper1`, `hyper_util01`, `ureq3`, `tonic014`, `redis1`, `sqlx09`, `tokio_postgres07`, `mysql_async037`, `object_store014`)",
    note = "`policy = ChainPolicy::new()` knows only I/O errors and time limits in the sources of such an error, and what you add: `.also(chain::typed::<MyError>)`",
    note = "for a field of a foreign type, write `#[retry(with = path::of::classify)]`: your fn then classifies it",
    note = "elsewhere, wrap a foreign type in your own type, or classify the outcome: `policy = |outcome| ...` in the attribute, `retry(&STORE, || call()).when(|error| ...)` for a closure"
)]
pub trait RetryInfo: ErrorInfo {
    /// Returns whether the request may be sent again, which is not whether it was acted upon: after a declined card, the answer is
    /// [`RetrySafety::No`].
    ///
    /// The default is the first of these that applies:
    ///
    /// - [`RetrySafety::Yes`] after [throttling](RetryInfo::is_throttle) or a [conflict](RetryInfo::is_conflict),
    ///   because the server did not act on the request;
    /// - [`RetrySafety::Maybe`] after a [timeout](RetryInfo::is_timeout);
    /// - [`RetrySafety::No`] if the client is at [fault](ErrorInfo::fault);
    /// - [`RetrySafety::Maybe`] for any other error.
    fn is_retry_safe(&self) -> RetrySafety {
        if self.is_throttle() || self.is_conflict() {
            RetrySafety::Yes
        } else if !self.is_timeout() && self.fault() == ErrorFault::Client {
            RetrySafety::No
        } else {
            RetrySafety::Maybe
        }
    }

    /// Returns whether the server rejected the request because of too many recent requests. The default is `false`.
    fn is_throttle(&self) -> bool {
        false
    }

    /// Returns whether no response came in time. The default is `false`.
    fn is_timeout(&self) -> bool {
        false
    }

    /// Returns whether the request lost a race against another one. The default is `false`.
    ///
    /// Examples are an optimistic transaction or a conditional write that a healthy server refused. The server did not
    /// act on the request, and another attempt that reads again may succeed immediately.
    ///
    /// By default, a retry after a conflict takes nothing from the retry quota and has a short backoff. It does not lengthen
    /// the backoff of retries after other failures. If your database reports overload as a conflict, give conflicts a [cost](crate::strategy::RetryCosts::conflict).
    fn is_conflict(&self) -> bool {
        false
    }

    /// Returns whether nothing says what the error means, so that [`RetrySafety::No`] is not a judgement. The default is `false`.
    ///
    /// An unknown error is not retried, and has the class [`RetryErrorType::Unknown`](crate::RetryErrorType::Unknown): the first one of
    /// each function causes a [warning](crate::EventKind::UnknownError). To [`chain::typed`](crate::classify::chain::typed) it is a link
    /// that is not known. If [`is_retry_safe`](RetryInfo::is_retry_safe) is not [`No`](RetrySafety::No), that decides, and an error that
    /// is throttling, a timeout or a conflict has the class of these.
    ///
    /// A derived implementation returns `true` for a case without a label that holds an inner error, about which rustc warns.
    fn is_unknown(&self) -> bool {
        false
    }

    /// Returns the wait that the server asked for before the next attempt, if any. The default is `None`.
    ///
    /// With the default settings, a retry waits at least that long, and a wait above
    /// [`max_retry_after`](crate::StandardRetryStrategy::max_retry_after) ends the operation. See
    /// [`HintLimit`](crate::strategy::HintLimit) for the other settings.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// Returns the error as an [`Error`], whose texts the warnings of `tracing` have. The default is `None`: they have no text.
    ///
    /// A derived implementation returns the error if its type is an `Error` for all of its parameters.
    ///
    /// By hand, it is one line:
    ///
    /// ```
    /// # use std::fmt::{self, Display, Formatter};
    /// use retry_core::{ErrorInfo, RetryInfo};
    /// use std::error::Error;
    ///
    /// #[derive(Debug)]
    /// struct Closed;
    /// # impl Display for Closed {
    /// #     fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
    /// #         f.write_str("the shop is closed")
    /// #     }
    /// # }
    ///
    /// impl Error for Closed {}
    /// impl ErrorInfo for Closed {}
    /// impl RetryInfo for Closed {
    ///     fn is_throttle(&self) -> bool {
    ///         true
    ///     }
    ///
    ///     fn as_error(&self) -> Option<&(dyn Error + '_)> {
    ///         Some(self)
    ///     }
    /// }
    /// # assert_eq!(Closed.as_error().unwrap().to_string(), "the shop is closed");
    /// ```
    fn as_error(&self) -> Option<&(dyn Error + '_)> {
        None
    }

    /// Returns the error that `test::explore` was given for a request without an answer.
    #[doc(hidden)]
    fn __no_answer() -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Pointers to errors forward to them.
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

            fn is_unknown(&self) -> bool {
                (**self).is_unknown()
            }

            fn retry_after(&self) -> Option<Duration> {
                (**self).retry_after()
            }

            fn as_error(&self) -> Option<&(dyn Error + '_)> {
                (**self).as_error()
            }
        }
    )+};
}

forward_errors!(&T, Box<T>, Rc<T>, Arc<T>, Cow<'_, T> where T: ToOwned);

/// [`Infallible`] has no values, so it can be the error type of an operation that never fails.
impl ErrorInfo for Infallible {}

impl RetryInfo for Infallible {}
