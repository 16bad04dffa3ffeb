//! Tokens: the state of one operation in the hands of a strategy.

use std::time::Duration;

/// The state of one operation, issued by a [`RetryStrategy`](crate::RetryStrategy) and handed back to it.
///
/// A token is good for one attempt. It is moved into the strategy afterwards, so using one twice does not compile.
///
/// # Tokens that are dropped
///
/// While the body runs, the operation holds the token. If the operation is dropped at that point, the token is dropped and
/// no method of the strategy is called. A strategy that must know, such as one that counts requests in flight, puts a
/// guard that implements `Drop` into a field of its token:
///
/// ```
/// use retry_core::RetryToken;
/// use retry_core::strategy::StandardRetryToken;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::time::Duration;
///
/// struct Token {
///     retries: StandardRetryToken,
///     /// Set by `ready` when the request may be sent.
///     slot: Option<Slot>,
/// }
///
/// /// The slot of a request in flight.
/// struct Slot(Arc<AtomicU32>);
///
/// impl Drop for Slot {
///     fn drop(&mut self) {
///         self.0.fetch_sub(1, Ordering::Relaxed);
///     }
/// }
///
/// impl RetryToken for Token {
///     fn attempt(&self) -> u32 {
///         self.retries.attempt()
///     }
///     fn delay(&self) -> Duration {
///         self.retries.delay()
///     }
/// }
///
/// /// What `refresh_retry_token` and `record_success` begin with.
/// fn answered(token: Token) -> StandardRetryToken {
///     let Token { retries, slot } = token;
///     drop(slot);
///     retries
/// }
/// ```
///
/// Do not implement `Drop` for the token itself. Fields can't be moved out of a type that implements it (E0509), so the
/// strategy could not take the token apart and pass the inner one on.
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
