//! The error of a transaction, which knows whether COMMIT had been sent.

use crate::codes::known_sqlstate;
use retry_core::classify::Classification;
use retry_core::{RetryInfo, RetrySafety, TimedOut};
use std::error::Error;
use std::fmt;

/// The error of a transaction: an error `E`, classified by whether COMMIT had been sent.
///
/// The `transaction` functions of [`sqlx09`](crate::sqlx09) and [`tokio_postgres07`](crate::tokio_postgres07) return it.
/// `E` is the error of the body: the module's `ClientError`, or your own error with a `From` of the client's error.
///
/// | the error occurred | safe | class and fault |
/// |---|---|---|
/// | before COMMIT was sent | as the error itself says, but *yes* in place of *maybe*: the transaction was rolled back | of the error |
/// | as the answer to COMMIT: a conflict, such as 40001 | yes | conflict |
/// | as the answer to COMMIT: any other SQLSTATE that is *no* by [`known_sqlstate`], except the classes 08 and XX | no | of the SQLSTATE |
/// | in place of an answer to COMMIT, or with any other SQLSTATE | maybe: the [outcome is unknown](TransactionError::is_outcome_unknown) | |
/// | at an unknown time: outside of `transaction`, or a time limit that cut the attempt | as the error itself says | of the error, or none if *maybe* |
///
/// A *maybe* has neither a class nor a fault here, so only an operation that is marked `idempotent` retries it. Without a
/// mark, no transaction is carried out twice.
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

    /// Creates an error that ended the transaction before COMMIT was sent.
    pub(crate) fn rolled_back(error: E, verdict: Classification) -> Self {
        let verdict = match verdict.is_retry_safe() {
            RetrySafety::Maybe => verdict.with_safety(RetrySafety::Yes),
            _ => verdict,
        };
        Self { error, verdict }
    }

    /// Creates the error of a COMMIT that was sent, with the SQLSTATE of its answer, if there was one.
    pub(crate) fn of_commit(error: E, answer: Option<&str>) -> Self {
        let certain = answer.and_then(|code| {
            let verdict = known_sqlstate(code)?;
            // A lost race and a refused transaction were rolled back. The other codes come from a proxy, from a server
            // that stops, or from a server that fails.
            let refused =
                verdict.is_retry_safe() == RetrySafety::No && !code.starts_with("08") && !code.starts_with("XX");
            (verdict.is_conflict() || refused).then_some(verdict)
        });
        Self { error, verdict: certain.unwrap_or(OUTCOME_UNKNOWN) }
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

/// Without a fault, because an operation without a mark retries server faults.
const OUTCOME_UNKNOWN: Classification = Classification::new(RetrySafety::Maybe);

impl<E: From<TimedOut>> From<TimedOut> for TransactionError<E> {
    fn from(error: TimedOut) -> Self {
        Self::at_any_time(error.into(), Classification::of(&error))
    }
}

impl<E: fmt::Display> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_outcome_unknown() {
            f.write_str("the transaction may have been committed: ")?;
        }
        self.error.fmt(f)
    }
}

/// The message includes the message of the error, so the source is the source of the error.
impl<E: Error + 'static> Error for TransactionError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

crate::forward::to_verdict!(TransactionError<E>);
