//! The reasons why a slow call has no hedge.

use crate::strategy::RetryError;
use std::fmt;

/// The reason why a call has no hedge, although its first attempt had no answer after the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoHedge {
    /// [All calls are slow](crate::Hedge::p95).
    AllSlow,
    /// The quota is low, or can't pay for a hedge.
    QuotaLow,
    /// The limiter does not permit it immediately.
    Limited,
    /// The hedge would be an attempt too many.
    MaxAttempts,
    /// The `max_time` or `deadline` of the operation is over.
    MaxTime,
    /// Retries are switched off.
    Disabled,
    /// The operation was [stopped](crate::Stop).
    Stopped,
    /// The operation may not be executed twice: its policy [says so](crate::RetryPolicy::is_idempotent).
    NotIdempotent,
    /// The request can't be cloned.
    NotRepeatable,
    /// The service is not ready for a request immediately.
    NotReady,
    /// The strategy sells no hedges: it does not implement [`acquire_hedge`](crate::RetryStrategy::acquire_hedge), or refused for a
    /// reason of its own.
    NotSold,
}

impl NoHedge {
    /// Returns the name of the reason as used in events, such as `all_slow` or `quota_low`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllSlow => "all_slow",
            Self::QuotaLow => "quota_low",
            Self::Limited => "limited",
            Self::MaxAttempts => "max_attempts",
            Self::MaxTime => "max_time",
            Self::Disabled => "disabled",
            Self::Stopped => "stopped",
            Self::NotIdempotent => "not_idempotent",
            Self::NotRepeatable => "not_repeatable",
            Self::NotReady => "not_ready",
            Self::NotSold => "not_sold",
        }
    }

    /// Returns the reason for which a strategy sold none.
    pub(crate) const fn of(refused: RetryError) -> Self {
        match refused {
            RetryError::QuotaExhausted => Self::QuotaLow,
            RetryError::MaxAttempts => Self::MaxAttempts,
            RetryError::MaxTime => Self::MaxTime,
            RetryError::Disabled => Self::Disabled,
            RetryError::Stopped => Self::Stopped,
            RetryError::NotRetryable
            | RetryError::NoRecovery
            | RetryError::NotRepeatable
            | RetryError::RetryAfterTooLong
            | RetryError::ForeignToken
            | RetryError::Refused => Self::NotSold,
        }
    }
}

impl fmt::Display for NoHedge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AllSlow => "all calls are slow",
            Self::QuotaLow => "the retry quota is low",
            Self::Limited => "the limiter does not permit it now",
            Self::MaxAttempts => "all attempts were made",
            Self::MaxTime => "`max_time` or `deadline` is over",
            Self::Disabled => "retries are switched off",
            Self::Stopped => "the operation was stopped",
            Self::NotIdempotent => "the operation may not be executed twice",
            Self::NotRepeatable => "the request can't be cloned",
            Self::NotReady => "the service is not ready",
            Self::NotSold => "the strategy sells no hedges",
        })
    }
}
