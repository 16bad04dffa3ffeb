//! The error of a transaction, which knows whether COMMIT had been sent.

use crate::client_error::write_sources;
use crate::codes::LOCK_WAIT_TIMEOUT;
#[cfg(any(feature = "sqlx09", feature = "tokio_postgres07"))]
use crate::codes::known_sqlstate;
#[cfg(any(feature = "mysql_async037", feature = "sqlx09"))]
use crate::codes::mysql;
use retry_core::classify::Classification;
use retry_core::{RetryInfo, RetrySafety, TimedOut};
use std::error::Error;
use std::fmt;

/// The error of a transaction: an error `E`, classified by whether COMMIT had been sent.
///
/// The `transaction` functions of [`mysql_async037`](crate::mysql_async037), [`sqlx09`](crate::sqlx09) and
/// [`tokio_postgres07`](crate::tokio_postgres07) return it.
/// `E` is the error of the body: the module's `ClientError`, or your own error with a `From` of the client's error.
///
/// | the error occurred | safe | class and fault |
/// |---|---|---|
/// | before COMMIT was sent | as the error itself says, but *yes* in place of *maybe*: the transaction was rolled back | of the error |
/// | before COMMIT was sent: a lock wait of `MySQL` that timed out, whose transaction is now rolled back | yes | conflict, timeout |
/// | as the answer to COMMIT: a conflict, such as 40001 | yes | conflict |
/// | as the answer to COMMIT: 25P03 or 25P04, the session had ended | yes | server fault |
/// | as the answer to COMMIT: any other SQLSTATE that is *no* by [`known_sqlstate`], except the classes 08 and XX | no | of the SQLSTATE |
/// | as the answer to COMMIT of `MySQL`: the server is read-only | yes | server fault |
/// | as the answer to COMMIT of `MySQL`: a lock wait that timed out | yes | conflict, timeout |
/// | in place of an answer to COMMIT, or with any other code | maybe: the [outcome is unknown](TransactionError::is_outcome_unknown) | |
/// | at an unknown time: outside of `transaction`, or a time limit that cut the attempt | as the error itself says | of the error, or none if *maybe* |
///
/// A *maybe* has neither a class nor a fault here, so only an operation that is marked `idempotent` retries it. Without a
/// mark, no transaction is carried out twice.
///
/// The message says whether the transaction may have been committed, and the error `E` is the [source](Error::source). Print both by `{:#}`.
#[derive(Clone, Debug)]
pub struct TransactionError<E> {
    error: E,
    verdict: Classification,
}

impl<E> TransactionError<E> {
    /// Creates the error of an attempt that failed before its transaction sent COMMIT.
    ///
    /// Use it for steps before the call of `transaction`, such as connecting.
    pub fn before_commit(error: impl Into<E>) -> Self
    where
        E: RetryInfo,
    {
        let error = error.into();
        let verdict = Classification::of(&error);
        Self::rolled_back(error, verdict)
    }

    /// Creates an error of the client that ended the transaction before COMMIT was sent.
    pub(crate) fn of_begin<C>(error: C, classify: fn(&C) -> Classification) -> Self
    where
        E: From<C>,
    {
        let verdict = classify(&error);
        Self::rolled_back(error.into(), verdict)
    }

    /// Creates an error that ended the transaction before COMMIT was sent.
    fn rolled_back(error: E, verdict: Classification) -> Self {
        let is_safe_now = verdict.is_retry_safe() == RetrySafety::Maybe || verdict == LOCK_WAIT_TIMEOUT;
        let verdict = if is_safe_now { verdict.with_safety(RetrySafety::Yes) } else { verdict };
        Self { error, verdict }
    }

    /// Creates the error of a COMMIT that was sent. `answer` is the classification of its answer, if the answer says that the
    /// transaction was not committed.
    pub(crate) fn of_commit<C>(error: C, answer: Option<Classification>) -> Self
    where
        E: From<C>,
    {
        Self { error: error.into(), verdict: answer.unwrap_or(OUTCOME_UNKNOWN) }
    }

    /// Creates an error for which it is not known whether COMMIT had been sent.
    pub(crate) fn at_any_time(error: E, verdict: Classification) -> Self {
        let verdict = if verdict.is_retry_safe() == RetrySafety::Maybe { OUTCOME_UNKNOWN } else { verdict };
        Self { error, verdict }
    }

    /// Returns whether the transaction may have been committed, although it failed.
    ///
    /// This is so if COMMIT was sent and its answer was lost, and if a time limit cut the attempt. Otherwise the
    /// transaction was not committed.
    pub fn is_outcome_unknown(&self) -> bool {
        self.verdict.is_retry_safe() == RetrySafety::Maybe
    }

    /// Returns the error.
    pub fn error(&self) -> &E {
        &self.error
    }

    /// Returns the error, by value.
    pub fn into_error(self) -> E {
        self.error
    }

    /// Returns the classification.
    pub fn classification(&self) -> Classification {
        self.verdict
    }
}

/// Classifies the SQLSTATE in the answer to a COMMIT. Returns `None` if the transaction may have been committed.
#[cfg(any(feature = "sqlx09", feature = "tokio_postgres07"))]
pub(crate) fn sqlstate_of_commit(code: &str) -> Option<Classification> {
    let verdict = known_sqlstate(code)?;
    // A lost race and a refused transaction were rolled back. The other codes come from a proxy, from a server
    // that stops, or from a server that fails.
    let refused = verdict.is_retry_safe() == RetrySafety::No && !code.starts_with("08") && !code.starts_with("XX");
    // The server had ended the session when it read the COMMIT.
    let is_ended = matches!(code, "25P03" | "25P04");
    (verdict.is_conflict() || refused || is_ended).then_some(verdict)
}

/// Classifies the error in the answer to a COMMIT of `MySQL` or `MariaDB`. Returns `None` if the transaction may have been committed.
///
/// A lost race, a lock that was not to be had and a server that is read-only roll back. The other errors come from a proxy, from a
/// server that stops, or from one that failed in the middle of the COMMIT.
#[cfg(any(feature = "mysql_async037", feature = "sqlx09"))]
pub(crate) fn mysql_of_commit(number: u16, sqlstate: &str, message: &str) -> Option<Classification> {
    let verdict = mysql(number, sqlstate, message);
    if verdict == LOCK_WAIT_TIMEOUT {
        return Some(verdict.with_safety(RetrySafety::Yes));
    }
    let is_read_only = matches!(number, 1290 | 1836) && verdict.is_retry_safe() == RetrySafety::Yes;
    (verdict.is_conflict() || is_read_only).then_some(verdict)
}

/// Without a fault, because an operation without a mark retries server faults.
const OUTCOME_UNKNOWN: Classification = Classification::new(RetrySafety::Maybe);

impl<E: From<TimedOut>> From<TimedOut> for TransactionError<E> {
    fn from(error: TimedOut) -> Self {
        let verdict = Classification::of(&error);
        if !error.was_attempt_cut() {
            return Self::rolled_back(error.into(), verdict);
        }
        Self::at_any_time(error.into(), verdict)
    }
}

/// With `{:#}`, followed by the messages of the sources.
impl<E: Error + 'static> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_outcome_unknown() {
            "the transaction may have been committed"
        } else {
            "the transaction was not committed"
        })?;
        write_sources(self, f)
    }
}

/// The source is the error.
impl<E: Error + 'static> Error for TransactionError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

crate::forward::to_verdict!(TransactionError<E>);

/// The `TransactionError` of a module, for the error `$error` of its client, which `classify` of the module classifies.
macro_rules! of_client {
    ($error:ty) => {
        /// The error of [`transaction`]. Without a parameter, its body returns [`ClientError`](super::ClientError).
        pub type TransactionError<E = super::ClientError> = $crate::TransactionError<E>;

        impl<E: From<$error>> From<$error> for $crate::TransactionError<E> {
            /// An error outside of [`transaction`] is classified by the table of the module: it is not known whether a COMMIT had been
            /// sent.
            fn from(error: $error) -> Self {
                let verdict = super::classify(&error);
                Self::at_any_time(error.into(), verdict)
            }
        }
    };
}
pub(crate) use of_client;
