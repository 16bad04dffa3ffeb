//! The reasons why an operation stops.

use std::error::Error;
use std::fmt;

/// The reason why an operation stops without a further attempt. A strategy that refuses a token returns it as the
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryError {
    /// The policy decided that a retry would not help or is not safe.
    NotRetryable,
    /// The request can't be cloned, so it can't be sent again. The layer of `retry-tower` returns this, and a driver that calls
    /// [`not_repeatable`](crate::drive::Operation::not_repeatable).
    NotRepeatable,
    /// Retries are switched off; see [`set_retries_enabled`](crate::set_retries_enabled) and
    /// [`without_retries`](crate::without_retries).
    Disabled,
    /// The maximum number of attempts was made.
    MaxAttempts,
    /// The server asked for a longer wait than `max_retry_after` allows.
    RetryAfterTooLong,
    /// The `max_time` or `deadline` of the operation is over, or would be before the next attempt; see
    /// [`Failure::remaining`](crate::Failure::remaining). Or the time of a limiter for retries without a
    /// cost [is over](crate::limit::Unpaid::is_over).
    MaxTime,
    /// The operation was stopped by its [`Stop`](crate::Stop).
    Stopped,
    /// The program gave up in place of the retry: its [`on_retry`](crate::Retry::on_retry) returned
    /// [`ControlFlow::Break`](std::ops::ControlFlow), or its driver called [`give_up`](crate::drive::Operation::give_up).
    GivenUp,
    /// The retry quota can't pay for the retry, because of too many recent retries.
    QuotaExhausted,
    /// The quota couldn't pay for the retry, and the operation waited for the service without success: there was no evidence in time that it
    /// answers again.
    NoRecovery,
    /// The token was issued by another strategy.
    ForeignToken,
    /// The strategy refused the retry for another reason, or it refused the initial token.
    Refused,
}

impl RetryError {
    /// Returns the name of the reason as used in events, such as `not_retryable` or `max_attempts`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
            Self::NotRepeatable => "not_repeatable",
            Self::Disabled => "disabled",
            Self::MaxAttempts => "max_attempts",
            Self::RetryAfterTooLong => "retry_after_too_long",
            Self::MaxTime => "max_time",
            Self::Stopped => "stopped",
            Self::GivenUp => "given_up",
            Self::QuotaExhausted => "quota_exhausted",
            Self::NoRecovery => "no_recovery",
            Self::ForeignToken => "foreign_token",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRetryable => "the failure is not retryable",
            Self::NotRepeatable => "the request can't be sent again",
            Self::Disabled => "retries are switched off",
            Self::MaxAttempts => "all attempts were made",
            Self::RetryAfterTooLong => "the server asked for a longer wait than `max_retry_after` allows",
            Self::MaxTime => {
                "`max_time`, `deadline` or `max_throttled_time` is over, or would be before the next attempt"
            }
            Self::Stopped => "the operation was stopped",
            Self::GivenUp => "the program gave up",
            Self::QuotaExhausted => "the retry quota can't pay for the retry",
            Self::NoRecovery => "the service did not recover while the operation waited for it",
            Self::ForeignToken => "the token was issued by another strategy",
            Self::Refused => "the strategy refused",
        })
    }
}

impl Error for RetryError {}

/// The error of a strategy that gets a token of another strategy. Nothing was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignToken;

impl fmt::Display for ForeignToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RetryError::ForeignToken.fmt(f)
    }
}

impl Error for ForeignToken {}

impl From<ForeignToken> for RetryError {
    fn from(_: ForeignToken) -> Self {
        Self::ForeignToken
    }
}
