//! Whether to try again: the interface between one operation and what all operations share, and the strategies.

mod adaptive;
mod erased;
mod error;
mod failure;
mod scoped;
mod share;
mod standard;
mod switch;
mod token;
mod waker;

pub use adaptive::{AdaptiveRetryStrategy, AdaptiveRetryToken};
pub use erased::{ErasedStrategy, ErasedToken};
pub use error::{ForeignToken, RetryError};
pub use failure::Failure;
pub use scoped::{Scope, ScopedRetryStrategy};
pub use share::{Operations, Share};
pub(crate) use standard::MaxAttempts;
pub use standard::{HintLimit, Refund, RetryCosts, StandardRetrySettings, StandardRetryStrategy, StandardRetryToken};
pub(crate) use switch::{Switch, Switched};
pub use switch::{retries_enabled, set_retries_enabled};
pub use token::{DelaySource, RetryToken};
pub(crate) use waker::EarlyWake;
pub use waker::LazyWaker;

use crate::policy::Success;
use crate::time::Clock;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Whether an attempt may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ready {
    /// It may be sent now.
    Now,
    /// Wait this long, or until the waker is woken, then ask again. A wait of zero means now.
    After(Duration),
}

impl Ready {
    /// Returns how long to wait before asking again; `None` for now, and for a wait of zero.
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::After(wait) if !wait.is_zero() => Some(wait),
            Self::After(_) | Self::Now => None,
        }
    }
}

/// Decides whether, and when, an operation tries again.
///
/// A strategy holds what operations share (a retry quota, a limiter); what belongs to one operation travels in its
/// [token](RetryToken). It does no I/O and never sleeps: it is handed a clock, and says how long to wait.
///
/// One operation calls [`acquire_initial_token`](RetryStrategy::acquire_initial_token) first. Before each attempt it
/// sleeps the token's [delay](RetryToken::delay) once and then asks [`ready`](RetryStrategy::ready) until that says now.
/// After the attempt it calls [`record_success`](RetryStrategy::record_success) or
/// [`refresh_retry_token`](RetryStrategy::refresh_retry_token), and [`release`](RetryStrategy::release) if it is given up
/// before the attempt. A strategy of your own has three methods to write, and a fourth if it takes something that must
/// come back.
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// use retry_core::time::StdTimer;
/// use retry_core::{Failure, RetryStrategy, RetryToken, StandardRetryStrategy, Success};
///
/// # #[derive(Debug)]
/// # struct Crashed;
/// # impl ErrorInfo for Crashed { fn fault(&self) -> ErrorFault { ErrorFault::Server } }
/// # impl RetryInfo for Crashed {}
/// # fn send() -> Result<(), Crashed> { Err(Crashed) }
/// // By hand, as a driver of its own would do it.
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// let clock = StdTimer;
/// let mut token = STORE.acquire_initial_token(&clock)?;
/// match send() {
///     Ok(()) => STORE.record_success(token, &Success::default(), &clock)?,
///     Err(error) => {
///         token = STORE.refresh_retry_token(token, &Failure::of(&error), &clock)?;
///         assert_eq!(token.attempt(), 2);
///         // Sleep `token.delay()`, ask `STORE.ready(..)` where the strategy may limit sends, and send again.
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
    fn record_success(&self, token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken>;

    /// Returns whether the token's attempt may be sent. Asked after the token's delay was slept, and again after each wait.
    ///
    /// Only strategies that limit sends implement it; the default is now. A strategy that can tell when its answer changes
    /// keeps a [waker](LazyWaker::waker), wakes it then, and returns a bound: the wait ends with either. Without a waker
    /// (`None`), nobody can be woken early.
    ///
    /// A strategy wakes waiters only after it has released its own lock: take the wakers out under the lock, release the
    /// lock, then wake. A wake runs code of the executor, which may poll the operation at once, and that calls the strategy
    /// again.
    ///
    /// For a foreign token the answer is now.
    fn ready(&self, token: &mut Self::Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let _ = (token, clock, waker);
        Ready::Now
    }

    /// Called instead of the above when an operation ends before the token's attempt was sent, because its future was
    /// dropped or its time was up. What was paid for that attempt comes back.
    ///
    /// The default does nothing, for strategies that take nothing. A foreign token is ignored.
    fn release(&self, token: Self::Token) {
        drop(token);
    }

    /// Returns what the retry quota holds now, for events; `None` without a quota, as by default.
    fn quota_level(&self) -> Option<u32> {
        None
    }
}

/// Pointers to strategies forward to them: tokens pass from one to the other.
///
/// The strategy behind `self` is an expression, and `self` is named beside it because a macro can't name it by itself.
macro_rules! forward_strategy {
    ($([$($generics:tt)*] $pointer:ty: $token:ty, $self:ident => $strategy:expr;)+) => {$(
        impl<$($generics)*> RetryStrategy for $pointer {
            type Token = $token;

            #[inline]
            fn acquire_initial_token(&$self, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
                ($strategy).acquire_initial_token(clock)
            }

            #[inline]
            fn refresh_retry_token(
                &$self,
                token: Self::Token,
                failure: &Failure,
                clock: &dyn Clock,
            ) -> Result<Self::Token, RetryError> {
                ($strategy).refresh_retry_token(token, failure, clock)
            }

            #[inline]
            fn record_success(
                &$self,
                token: Self::Token,
                success: &Success,
                clock: &dyn Clock,
            ) -> Result<(), ForeignToken> {
                ($strategy).record_success(token, success, clock)
            }

            #[inline]
            fn ready(&$self, token: &mut Self::Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
                ($strategy).ready(token, clock, waker)
            }

            #[inline]
            fn release(&$self, token: Self::Token) {
                ($strategy).release(token);
            }

            fn quota_level(&$self) -> Option<u32> {
                ($strategy).quota_level()
            }
        }
    )+};
}

forward_strategy! {
    [S: RetryStrategy + ?Sized] &S: S::Token, self => **self;
    [S: RetryStrategy + ?Sized] Box<S>: S::Token, self => **self;
    [S: RetryStrategy + ?Sized] Arc<S>: S::Token, self => **self;
    [S: RetryStrategy, F: FnOnce() -> S] LazyLock<S, F>: S::Token, self => **self;
}
pub(crate) use forward_strategy;
