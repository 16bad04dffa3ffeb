//! Tokens: the state of one operation in the hands of a strategy.

use std::time::Duration;

/// The state of one operation, issued by a [`RetryStrategy`](crate::RetryStrategy) and handed back to it.
///
/// A token is good for one attempt. It is moved into the strategy afterwards, so using one twice does not compile.
///
/// While the body runs, the operation holds the token. A strategy that must know of operations which are dropped at that
/// point, such as one that counts requests in flight, issues tokens that tell it in their `Drop`.
pub trait RetryToken {
    /// Returns the attempt that this token is for; the first one is 1.
    fn attempt(&self) -> u32;

    /// Returns how many retries there were up to this attempt: none for the first one.
    fn retry_count(&self) -> u32 {
        self.attempt().saturating_sub(1)
    }

    /// Returns the delay before this attempt: the backoff, or what the server asked for. The operation sleeps it once,
    /// before it asks [`RetryStrategy::ready`](crate::RetryStrategy::ready).
    fn delay(&self) -> Duration;

    /// Returns what set that delay, for events: [`DelaySource::Backoff`] unless overridden.
    fn delay_source(&self) -> DelaySource {
        DelaySource::Backoff
    }
}

/// What set the delay before a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DelaySource {
    /// The backoff.
    Backoff,
    /// The wait that the server asked for, which was longer.
    RetryAfter,
}

impl DelaySource {
    /// Returns the name as it appears in events: `backoff`, `retry_after`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::RetryAfter => "retry_after",
        }
    }
}
