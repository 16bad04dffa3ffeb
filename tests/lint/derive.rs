//! Expansions of `#[derive(RetryInfo)]`.

use core::fmt::Debug;
use core::time::Duration;
use retry_core::{RetryInfo, TimedOut, classify};
use std::io;

/// All options of a variant.
#[derive(Debug, RetryInfo)]
#[retry(fault = "server", crate = ::retry_core)]
pub enum Every {
    /// Throttling, with a constant wait.
    #[retry(throttling, fault = "client", retry_after = "1500ms")]
    Throttling,
    /// A conflict, with a status.
    #[retry(conflict, http_status = 412)]
    Conflict,
    /// A wait in a field.
    #[retry(throttling, retry_after = "1s")]
    Wait {
        /// The wait.
        #[retry(retry_after)]
        wait: Option<Duration>,
        /// An unmarked field.
        other: u8,
    },
    /// Seconds.
    #[retry(safe)]
    Seconds(#[retry(retry_after(secs))] u64),
    /// Milliseconds.
    #[retry(safe = "maybe", fault = "other")]
    Millis(#[retry(retry_after(millis))] Option<u32>, u8),
    /// Timeout.
    #[retry(timeout)]
    Timeout,
    /// Never.
    #[retry(never)]
    Never(String),
    /// Forwards to another error.
    #[retry(transparent)]
    TimedOut(TimedOut),
    /// Forwards to a marked field.
    Marked {
        /// The error to forward to.
        #[retry(transparent)]
        inner: Box<Other>,
        /// An unmarked field.
        other: u8,
    },
    /// No options.
    Unlabelled,
}

/// Options on a struct.
#[derive(Clone, Copy, Debug, RetryInfo)]
#[retry(timeout, safe = "maybe", fault = "client", retry_after = "2s")]
pub struct Other;

/// An empty enum.
#[derive(Clone, Copy, Debug, RetryInfo)]
pub enum Empty {}

/// A field without options.
#[derive(Clone, Copy, Debug, RetryInfo)]
pub struct Silent {
    /// A field.
    pub code: u16,
}

/// A wait of a generic type.
#[derive(Debug, RetryInfo)]
#[retry(throttling)]
pub struct Busy<W> {
    /// The wait.
    #[retry(retry_after)]
    pub wait: W,
}

/// Lifetimes, bounds and const generics.
#[derive(Debug, RetryInfo)]
pub enum Generic<'error, E: ?Sized, F, const N: usize>
where
    F: Send,
{
    /// A borrowed error.
    #[retry(transparent)]
    Borrowed(&'error E),
    /// An owned error.
    #[retry(transparent)]
    Owned(F),
    /// Bytes.
    #[retry(safe)]
    Bytes([u8; N]),
}

/// One of two types that contain each other.
#[derive(Debug, RetryInfo)]
pub enum Session<E: Debug + Send> {
    /// Caused by the other type.
    Caused(#[retry(source)] Option<Box<Transport<E>>>),
}

/// The other type.
#[derive(Debug, RetryInfo)]
pub enum Transport<E: Debug + Send> {
    /// Caused by the first type.
    #[retry(transparent)]
    Session(Session<E>),
    /// Caused by neither type.
    #[retry(fault = "server")]
    Other(#[retry(source)] Option<E>),
}

/// A deprecated variant, which the expansion may name without a warning.
#[derive(Debug, RetryInfo)]
#[non_exhaustive]
pub enum Old {
    /// Replaced.
    #[deprecated(note = "replaced")]
    #[retry(safe)]
    Former,
    /// The new one.
    #[retry(never)]
    Latter,
}

/// A field whose name is a keyword.
#[derive(Clone, Copy, Debug, RetryInfo)]
pub enum Raw {
    /// A variant.
    #[retry(safe)]
    Field {
        /// A keyword as name.
        #[retry(retry_after)]
        r#type: Duration,
    },
}

/// Statuses, codes, functions and sources.
#[derive(Debug, RetryInfo)]
#[retry(exhaustive, http_status = 500)]
pub enum Judged<S> {
    /// A constant status.
    #[retry(http_status = 429)]
    TooMany,
    /// A constant status, classified together with a wait.
    #[retry(http_status = 503)]
    Unavailable(#[retry(retry_after(secs))] Option<u64>),
    /// A status and a code in fields.
    Answered {
        /// The status.
        #[retry(http_status)]
        status: Option<u16>,
        /// The code.
        #[retry(error_code)]
        code: Option<String>,
        /// The wait.
        #[retry(retry_after)]
        wait: Option<Duration>,
    },
    /// An answer in a field.
    Told(#[retry(safe)] Option<bool>),
    /// The answer of a function.
    #[retry(with = judge_both, timeout)]
    Both([u64; 3], String),
    /// The answer of a function about one field.
    Io(#[retry(with = classify::io::known)] io::Error),
    /// Answers that are not set here come from a field.
    #[retry(fault = "client")]
    Sourced(#[retry(source)] Box<S>),
}

/// Answers from two fields.
const fn judge_both(numbers: &[u64; 3], text: &str) -> Option<bool> {
    if text.is_empty() { None } else { Some(!numbers.is_empty()) }
}

/// Its author hides the warning about the missing label. A derive can't fulfil an `expect`.
#[expect(clippy::allow_attributes, reason = "only an `allow` is copied to the code of the derive")]
#[derive(Debug, RetryInfo)]
pub enum Unlabelled {
    /// An inner error.
    #[allow(deprecated, reason = "the error is not retried, and is reported")]
    Inner {
        /// The inner error.
        source: io::Error,
    },
}
