//! Whether to try again: the interface between one operation and what all operations share.

use crate::error::RetryInfo;
use crate::policy::{RetryDirective, RetryErrorType, StandardRetryPolicy};
use crate::time::Clock;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The state of one operation, issued by a [`RetryStrategy`] and handed back to it.
///
/// A token is good for one attempt. It is moved into the strategy afterwards, so using one twice does not compile.
pub trait RetryToken {
    /// The attempt that this token is for; the first one is 1.
    fn attempt(&self) -> u32;

    /// How many retries there were up to this attempt: none for the first one.
    fn retry_count(&self) -> u32 {
        self.attempt().saturating_sub(1)
    }

    /// The backoff before this attempt, for information. [`RetryStrategy::ready`] says what is left to wait.
    fn delay(&self) -> Duration;

    /// What set that delay, for information. The backoff, unless the implementation says otherwise.
    fn delay_source(&self) -> DelaySource {
        DelaySource::Backoff
    }

    /// Whether what it waits for is a limiter on sends, for information. No, unless the implementation says otherwise.
    fn is_limited(&self) -> bool {
        false
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
    /// The name as it appears in events: `backoff`, `retry_after`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backoff => "backoff",
            Self::RetryAfter => "retry_after",
        }
    }
}

/// Whether an attempt may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ready {
    /// It may be sent now.
    Now,
    /// Wait this long, then ask again. A wait of zero means now.
    After(Duration),
}

impl Ready {
    /// How long to wait before asking again; `None` for now, and for a wait of zero.
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::After(wait) if !wait.is_zero() => Some(wait),
            Self::After(_) | Self::Now => None,
        }
    }
}

/// What a strategy is told of an attempt that did not succeed.
///
/// Driving a strategy by hand, make one from the error with [`Failure::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    retryable: bool,
    error_type: Option<RetryErrorType>,
    retry_after: Option<Duration>,
    remaining: Option<Duration>,
}

impl Failure {
    /// What the [standard policy](StandardRetryPolicy) makes of this error.
    pub fn of<E: RetryInfo + ?Sized>(error: &E) -> Self {
        Self::from_directive(StandardRetryPolicy::new().evaluate_error(error))
    }

    /// A failure as a policy judged it. One that the policy calls a success is no reason to retry either.
    pub const fn from_directive(directive: RetryDirective) -> Self {
        let (retryable, error_type, retry_after) = match directive {
            RetryDirective::Succeed => (false, None, None),
            RetryDirective::Fail { error_type } => (false, error_type, None),
            RetryDirective::Retry { error_type, retry_after } => (true, Some(error_type), retry_after),
        };
        Self { retryable, error_type, retry_after, remaining: None }
    }

    /// Adds how much time the operation has left.
    #[must_use]
    pub const fn with_remaining(mut self, remaining: Option<Duration>) -> Self {
        self.remaining = remaining;
        self
    }

    /// Whether another attempt makes sense at all.
    pub const fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// The class of the failure. A retryable failure always has one.
    pub const fn error_type(&self) -> Option<RetryErrorType> {
        self.error_type
    }

    /// The shortest wait that the server asked for.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// How much time the operation has left; `None` without a limit. No wait may end after it.
    pub const fn remaining(&self) -> Option<Duration> {
        self.remaining
    }
}

/// Why no token was given, and so why an operation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryError {
    /// The failure is one that a retry can't mend, or that must not be retried.
    NotRetryable,
    /// All attempts were made.
    MaxAttempts,
    /// The server asked for a longer wait than `max_retry_after` allows.
    RetryAfterTooLong,
    /// The time of the operation, `max_time`, is up, or would be before the next attempt; see [`Failure::remaining`].
    MaxTime,
    /// The retry quota can't pay for the retry: too many of late.
    QuotaExhausted,
    /// The token was issued by another strategy.
    ForeignToken,
    /// The strategy refused for a reason of its own, or gave no initial token.
    Refused,
}

impl RetryError {
    /// The name as it appears in events: `not_retryable`, `max_attempts`, and so on.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
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

/// A token came back to a strategy that did not issue it. Nothing was recorded.
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

/// Decides whether, and when, an operation tries again.
///
/// A strategy holds what operations share (a retry quota, a limiter); what belongs to one operation travels in its
/// [token](RetryToken). It does no I/O and never sleeps: it is handed a clock, and says how long to wait.
///
/// One operation calls, in this order: [`acquire_initial_token`](RetryStrategy::acquire_initial_token); before each
/// attempt [`ready`](RetryStrategy::ready) until it says now; after it
/// [`record_success`](RetryStrategy::record_success) or
/// [`refresh_retry_token`](RetryStrategy::refresh_retry_token). If it is given up while it waits,
/// [`release`](RetryStrategy::release).
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// use retry_core::{Failure, RetryStrategy, RetryToken, StandardRetryStrategy, TokioTimer};
///
/// # #[derive(Debug)]
/// # struct Crashed;
/// # impl ErrorInfo for Crashed { fn fault(&self) -> ErrorFault { ErrorFault::Server } }
/// # impl RetryInfo for Crashed {}
/// # fn send() -> Result<(), Crashed> { Err(Crashed) }
/// // By hand, as a caller that can't be async would do it.
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// let clock = TokioTimer;
/// let mut token = STORE.acquire_initial_token(&clock)?;
/// while let Some(delay) = STORE.ready(&mut token, &clock).wait() {
///     std::thread::sleep(delay);
/// }
/// match send() {
///     Ok(()) => STORE.record_success(token, &clock)?,
///     Err(error) => {
///         token = STORE.refresh_retry_token(token, &Failure::of(&error), &clock)?;
///         assert_eq!(token.attempt(), 2);
///         // ... and round again.
///     }
/// }
/// # Ok::<(), retry_core::RetryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no retry strategy",
    label = "this does not implement `RetryStrategy`",
    note = "name a strategy, as in `static STORE: StandardRetryStrategy = StandardRetryStrategy::new();`"
)]
pub trait RetryStrategy {
    /// The state of one operation.
    type Token: RetryToken;

    /// Called before the first attempt.
    ///
    /// # Errors
    ///
    /// If the operation shall make one attempt only, of which nothing is learned. The attempt is made all the same: a
    /// strategy manages retries, it does not bar the way to the service.
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError>;

    /// Called after each attempt that did not succeed, for final failures too.
    ///
    /// # Errors
    ///
    /// The reason why there is no other attempt. Nothing has been taken from the quota then.
    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError>;

    /// Called after an attempt that succeeded.
    ///
    /// # Errors
    ///
    /// If another strategy issued the token; nothing is recorded then.
    fn record_success(&self, token: Self::Token, clock: &dyn Clock) -> Result<(), ForeignToken>;

    /// Whether the token's attempt may be sent. Asked again after each wait; the backoff is the first of them.
    ///
    /// For a foreign token the answer is now.
    fn ready(&self, token: &mut Self::Token, clock: &dyn Clock) -> Ready;

    /// Called instead of the above when an operation ends before the token's attempt was sent, because its future was
    /// dropped or its time was up: what was paid for that attempt comes back.
    ///
    /// A foreign token is ignored.
    fn release(&self, token: Self::Token);

    /// What the retry quota holds now, for those who observe; `None` if there is none to speak of, as it is unless the
    /// implementation says otherwise.
    fn quota_level(&self) -> Option<u32> {
        None
    }
}

/// A pointer to a strategy is that strategy: tokens pass from one to the other.
macro_rules! forward {
    ($([$($generics:tt)*] $pointer:ty),+) => {$(
        impl<$($generics)*> RetryStrategy for $pointer {
            type Token = S::Token;

            #[inline]
            fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
                (**self).acquire_initial_token(clock)
            }

            #[inline]
            fn refresh_retry_token(
                &self,
                token: Self::Token,
                failure: &Failure,
                clock: &dyn Clock,
            ) -> Result<Self::Token, RetryError> {
                (**self).refresh_retry_token(token, failure, clock)
            }

            #[inline]
            fn record_success(&self, token: Self::Token, clock: &dyn Clock) -> Result<(), ForeignToken> {
                (**self).record_success(token, clock)
            }

            #[inline]
            fn ready(&self, token: &mut Self::Token, clock: &dyn Clock) -> Ready {
                (**self).ready(token, clock)
            }

            #[inline]
            fn release(&self, token: Self::Token) {
                (**self).release(token);
            }

            fn quota_level(&self) -> Option<u32> {
                (**self).quota_level()
            }
        }
    )+};
}

forward!(
    [S: RetryStrategy + ?Sized] &S,
    [S: RetryStrategy + ?Sized] Box<S>,
    [S: RetryStrategy + ?Sized] Arc<S>,
    [S: RetryStrategy, F: FnOnce() -> S] LazyLock<S, F>
);
pub(crate) use forward;

/// Stands for all the calls that one strategy is for.
#[derive(Debug)]
pub struct Calls;

/// What code that is generic over `S` asks for if it passes one on: `Calls: Share<S>`.
///
/// It says that whoever holds an `S` shares the strategy behind it with others: a reference, an [`Arc`].
///
/// An owned strategy is not shared. Made anew for each call, its quota would be full for each call, and protect nobody.
/// (It is a trait of `Calls`, and not of `S`, because for the latter rustc suggests to borrow what must not be made.)
#[diagnostic::on_unimplemented(
    message = "`{S}` is not shared by the calls that it is for",
    label = "made here, it would be a fresh retry quota for each call",
    note = "make it a static, `static STORE: StandardRetryStrategy = ...;`, and write `strategy = STORE` or `retry(&STORE, ...)`",
    note = "or hand over a reference or an `Arc` of one that is kept elsewhere"
)]
pub trait Share<S> {}

impl<S: RetryStrategy + ?Sized> Share<&S> for Calls {}
impl<S: RetryStrategy + ?Sized> Share<Arc<S>> for Calls {}
