//! Expansions of `#[derive(RetryInfo)]`.

use core::fmt::Debug;
use core::time::Duration;
use retry_core::{RetryInfo, TimedOut, classify};
use std::io;

/// Everything that a variant can say.
#[derive(Debug, RetryInfo)]
#[retry(fault = "server", crate = ::retry_core)]
pub enum Every {
    /// Throttling, with a wait that is known.
    #[retry(throttling, fault = "client", retry_after = "1500ms")]
    Throttling,
    /// A race that was lost, with a status.
    #[retry(conflict, http_status = 412)]
    Conflict,
    /// A wait in a field.
    #[retry(throttling, retry_after = "1s")]
    Wait {
        /// The wait.
        #[retry(retry_after)]
        wait: Option<Duration>,
        /// Anything else.
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
    /// Another error's answers.
    #[retry(transparent)]
    TimedOut(TimedOut),
    /// The same, by mark.
    Marked {
        /// Where the answers come from.
        #[retry(transparent)]
        inner: Box<Other>,
        /// Anything else.
        other: u8,
    },
    /// Nothing said.
    Unlabelled,
}

/// One answer for all.
#[derive(Clone, Copy, Debug, RetryInfo)]
#[retry(timeout, safe = "maybe", fault = "client", retry_after = "2s")]
pub struct Other;

/// Nothing to say.
#[derive(Clone, Copy, Debug, RetryInfo)]
pub enum Empty {}

/// Fields that nothing is asked of.
#[derive(Clone, Copy, Debug, RetryInfo)]
pub struct Silent {
    /// A field.
    pub code: u16,
}

/// A wait that may be of any type.
#[derive(Debug, RetryInfo)]
#[retry(throttling)]
pub struct Busy<W> {
    /// The wait.
    #[retry(retry_after)]
    pub wait: W,
}

/// Lifetimes, bounds, constants.
#[derive(Debug, RetryInfo)]
pub enum Generic<'error, E: ?Sized, F, const N: usize>
where
    F: Send,
{
    /// A borrowed error.
    #[retry(transparent)]
    Borrowed(&'error E),
    /// An owned one.
    #[retry(transparent)]
    Owned(F),
    /// Bytes.
    #[retry(safe)]
    Bytes([u8; N]),
}

/// Types that contain each other.
#[derive(Debug, RetryInfo)]
pub enum Session<E: Debug + Send> {
    /// Caused by the other one.
    Caused(#[retry(source)] Option<Box<Transport<E>>>),
}

/// The other one.
#[derive(Debug, RetryInfo)]
pub enum Transport<E: Debug + Send> {
    /// Caused by the first.
    #[retry(transparent)]
    Session(Session<E>),
    /// Caused by neither.
    #[retry(fault = "server")]
    Other(#[retry(source)] Option<E>),
}

/// A deprecated variant is used by nobody, its impl included.
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

/// A name that is not in camel case, and one that is a keyword.
#[derive(Clone, Copy, Debug, RetryInfo)]
pub enum Raw {
    /// A keyword.
    #[retry(safe)]
    Field {
        /// A keyword, too.
        #[retry(retry_after)]
        r#type: Duration,
    },
}

/// Statuses, codes, verdicts and sources.
#[derive(Debug, RetryInfo)]
#[retry(exhaustive, http_status = 500)]
pub enum Judged<S> {
    /// A constant status.
    #[retry(http_status = 429)]
    TooMany,
    /// One that is judged with the wait beside it.
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
    /// A verdict in a field.
    Told(#[retry(safe)] Option<bool>),
    /// A verdict of a fn.
    #[retry(with = judge_both, timeout)]
    Both([u64; 3], String),
    /// A verdict of a fn on one field.
    Io(#[retry(with = classify::io::error)] io::Error),
    /// What is not said comes from a field.
    #[retry(fault = "client")]
    Sourced(#[retry(source)] Box<S>),
}

/// Judges two fields.
const fn judge_both(numbers: &[u64; 3], text: &str) -> Option<bool> {
    if text.is_empty() { None } else { Some(!numbers.is_empty()) }
}
