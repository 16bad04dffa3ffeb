//! Tokens: the state that a strategy keeps for one operation.

use crate::support::KeptOutcome;
use crate::time::Timestamp;
use std::time::Duration;

/// The state of one operation, issued by a [`RetryStrategy`](crate::RetryStrategy) and returned to it.
///
/// A token is valid for one attempt. It is moved into the strategy after the attempt, so using it twice does not
/// compile.
///
/// # Dropped tokens
///
/// While the body runs, the operation holds the token. If the operation is dropped then, the token is dropped, and no
/// method of the strategy is called. A strategy that needs to notice this, such as one that counts requests in flight,
/// puts a guard that implements `Drop` into a field of its token:
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
/// /// The first step of `refresh_retry_token` and `record_success`.
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
    /// Returns the number of the attempt that this token is for; the first one is 1.
    fn attempt(&self) -> u32;

    /// Returns the number of retries up to and including this attempt: 0 for the first attempt.
    fn retry_count(&self) -> u32 {
        self.attempt().saturating_sub(1)
    }

    /// Returns the delay before this attempt: the backoff, or the wait that the server asked for. The operation sleeps
    /// once for this delay, before it calls [`RetryStrategy::ready`](crate::RetryStrategy::ready).
    fn delay(&self) -> Duration;

    /// Returns whether there is a delay before this attempt.
    #[doc(hidden)]
    #[inline]
    fn has_delay(&self) -> bool {
        !self.delay().is_zero()
    }

    /// Returns the source of the delay, for events. The default is [`DelaySource::Backoff`].
    #[inline]
    fn delay_source(&self) -> DelaySource {
        DelaySource::Backoff
    }

    /// Returns the time that the operation has waited for the service so far, see [`DelaySource::Service`]. The default is zero.
    #[inline]
    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the time that the operation has waited for the service up to this time.
    #[doc(hidden)]
    fn waited_at(&self, _now: Timestamp) -> Duration {
        self.waited()
    }

    /// Returns whether the operation is a long poll whose retry the quota refused, so that it ends after its wait.
    #[doc(hidden)]
    fn is_long_poll(&self) -> bool {
        false
    }

    /// Returns whether an operation with such a token may wait for the service.
    #[doc(hidden)]
    #[inline]
    fn may_wait() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Returns the place for the last outcome, which an operation returns if it waits for the service without success. The default keeps
    /// none, so that the future is `Send` even if the outcome is not.
    #[doc(hidden)]
    #[inline]
    fn kept_outcome<R>() -> impl KeptOutcome<R>
    where
        Self: Sized,
    {
    }
}

/// The source of the delay before a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DelaySource {
    /// The backoff.
    Backoff,
    /// The wait that the server asked for, which is longer than the backoff.
    RetryAfter,
    /// The quota can't pay for the retry, so it waits until there is evidence that the service answers again, or, with
    /// [`LongPolling`](super::LongPolling), for a fixed time before the operation ends.
    Service,
}

impl DelaySource {
    /// Returns the name of the source as used in events: `backoff`, `retry_after` or `service`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::RetryAfter => "retry_after",
            Self::Service => "service",
        }
    }
}
