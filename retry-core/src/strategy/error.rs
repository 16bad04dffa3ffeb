//! Why a strategy gives no token, and so why an operation stops.

use std::error::Error;
use std::fmt;

/// Why no token was given, and so why an operation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryError {
    /// A retry would not help, or must not be made.
    NotRetryable,
    /// Retries are switched off.
    Disabled,
    /// All attempts were made.
    MaxAttempts,
    /// The server asked for a longer wait than `max_retry_after` allows.
    RetryAfterTooLong,
    /// The time of the operation, `max_time`, is over, or would be before the next attempt; see
    /// [`Failure::remaining`](crate::Failure::remaining).
    MaxTime,
    /// The retry quota can't pay for the retry: there were too many recently.
    QuotaExhausted,
    /// The token was issued by another strategy.
    ForeignToken,
    /// The strategy refused for a reason of its own, or gave no initial token.
    Refused,
}

impl RetryError {
    /// Returns the name as it appears in events, such as `not_retryable` or `max_attempts`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
            Self::Disabled => "disabled",
            Self::MaxAttempts => "max_attempts",
            Self::RetryAfterTooLong => "retry_after_too_long",
            Self::MaxTime => "max_time",
            Self::QuotaExhausted => "quota_exhausted",
            Self::ForeignToken => "foreign_token",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRetryable => "the failure is not retryable",
            Self::Disabled => "retries are switched off",
            Self::MaxAttempts => "all attempts were made",
            Self::RetryAfterTooLong => "the server asked for a longer wait than `max_retry_after` allows",
            Self::MaxTime => "`max_time` is over, or would be before the next attempt",
            Self::QuotaExhausted => "the retry quota can't pay for the retry",
            Self::ForeignToken => "the token was issued by another strategy",
            Self::Refused => "the strategy refused",
        })
    }
}

impl Error for RetryError {}

/// The error of a token that came back to a strategy which did not issue it. Nothing was recorded.
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
