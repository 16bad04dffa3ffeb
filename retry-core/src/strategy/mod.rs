//! Strategies: the state that operations share, and the decision whether and when an operation retries.
//!
//! ```
//! use retry_core::{AdaptiveRetryStrategy, PatientRetryStrategy, ScopedRetryStrategy};
//!
//! // For nearly all programs. All calls share it.
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//! // Slows down when the server throttles requests.
//! static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
//! // A strategy for each region.
//! static REGIONS: ScopedRetryStrategy<String, PatientRetryStrategy> =
//!     ScopedRetryStrategy::new(PatientRetryStrategy::new);
//! ```

mod adaptive;
pub(crate) mod clock;
mod erased;
mod error;
mod failure;
mod limited;
mod long_polling;
mod misplaced;
mod name;
mod patient;
mod scoped;
mod share;
mod standard;
mod static_handle;
mod switch;
mod token;
mod weighted;
mod without_retries;

pub use adaptive::{AdaptiveRetryStrategy, AdaptiveRetryToken};
pub use erased::{ErasedStrategy, ErasedToken};
pub use error::{ForeignToken, RetryError};
pub use failure::Failure;
pub use limited::{LimitedRetryStrategy, LimitedRetryToken};
pub use long_polling::{LongPolling, LongPollingToken};
pub use name::StrategyName;
pub use patient::{PatientRetryStrategy, PatientRetryToken};
pub use scoped::{Scope, ScopedRetryStrategy};
pub use share::{Operations, Share};
pub use standard::{
    HintJitter, HintLimit, Refund, RetryCosts, StandardRetrySettings, StandardRetryStrategy, StandardRetryToken,
};
pub use static_handle::Static;
pub(crate) use switch::{Switch, Switched};
pub use switch::{retries_enabled, set_retries_enabled};
pub use token::{DelaySource, RetryToken};
pub use weighted::Weighted;

#[doc(hidden)]
pub use without_retries::AnyFuture;
pub use without_retries::{WithoutRetries, without_retries, without_retries_blocking};

use crate::limit::{LazyWaker, Ready};
use crate::policy::{Success, Usage};
use crate::quota::QuotaMode;
use crate::time::Clock;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Decides whether and when an operation retries.
///
/// A strategy contains the state that operations share, such as a retry quota or a limiter. The state of a single
/// operation is in its [token](RetryToken). A strategy does no I/O and never sleeps: it gets a clock, and returns how
/// long to wait.
///
/// An operation calls the methods in this order:
///
/// 1. [`acquire_initial_token`](RetryStrategy::acquire_initial_token) once, at the start, and
///    [`weigh`](RetryStrategy::weigh) if it has a weight.
/// 2. Before each attempt, the operation sleeps for the token's [delay](RetryToken::delay), and then calls
///    [`ready`](RetryStrategy::ready) until the answer is now. If the operation ends before the attempt is sent, it
///    calls [`release`](RetryStrategy::release).
///    If the first attempt has a [hedge](crate#features), the operation calls [`acquire_hedge`](RetryStrategy::acquire_hedge) while
///    it runs.
/// 3. After the attempt, [`record_success`](RetryStrategy::record_success) or
///    [`refresh_retry_token`](RetryStrategy::refresh_retry_token). With a new token, the operation continues at step 2.
///
/// Each strategy has its own type of tokens, so `dyn RetryStrategy` alone does not compile. For a strategy whose type is chosen at run
/// time, use [`ErasedStrategy`].
///
/// Your own strategy needs the three methods without a default. Implement [`release`](RetryStrategy::release) as
/// well if a token takes something that must be given back, such as an amount of a quota.
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
/// // Drives a strategy by hand.
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// let clock = StdTimer;
/// let mut token = STORE.acquire_initial_token(&clock)?;
/// match send() {
///     Ok(()) => STORE.record_success(token, &Success::default(), &clock)?,
///     Err(error) => {
///         token = STORE.refresh_retry_token(token, &Failure::of(&error), &clock)?;
///         assert_eq!(token.attempt(), 2);
///         // Sleep for `token.delay()`, call `STORE.ready(..)` if the strategy limits sends, and
///         // send again.
///     }
/// }
/// # Ok::<(), retry_core::RetryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a retry strategy",
    label = "this does not implement `RetryStrategy`",
    note = "name a strategy, as in `static STORE: PatientRetryStrategy = PatientRetryStrategy::new();`",
    note = "for a holder of a strategy, such as an `Option`, an `OnceLock` or a `Mutex`, name the strategy inside it"
)]
pub trait RetryStrategy {
    /// The state of one operation.
    type Token: RetryToken;

    /// Returns the token for the first attempt. Called once, before the first attempt.
    ///
    /// # Errors
    ///
    /// Returns an error if the operation must not retry. The operation still makes exactly one attempt, because a
    /// strategy manages retries and does not block access to the service. The strategy does not learn the outcome of
    /// that attempt.
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError>;

    /// Returns the token for the next attempt. Called after each failed attempt, including final failures. It is not
    /// called for an attempt that was cut by `max_time` or `deadline`.
    ///
    /// If the attempt [was not sent](Failure::was_sent), give back what was taken for it first.
    ///
    /// # Errors
    ///
    /// Returns the reason why there is no further attempt. In this case, nothing was taken from the quota.
    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError>;

    /// Records a success. Called after an attempt that succeeded.
    ///
    /// # Errors
    ///
    /// Returns an error if another strategy issued the token. In this case, nothing is recorded.
    fn record_success(&self, token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken>;

    /// Records that a failed attempt [made progress](crate::RetryDirective::progressed), such as a part of a batch, and returns a token
    /// with which attempts, backoff and payments count from there. Called before
    /// [`refresh_retry_token`](RetryStrategy::refresh_retry_token), and only for an attempt that was sent.
    ///
    /// The default records a success and returns a new initial token. A strategy with a quota also pays back what the attempt cost.
    ///
    /// # Errors
    ///
    /// Returns an error if another strategy issued the token, or in the cases of
    /// [`acquire_initial_token`](RetryStrategy::acquire_initial_token). Then there is no further attempt.
    fn record_progress(&self, token: Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.record_success(token, &Success::default(), clock)?;
        self.acquire_initial_token(clock)
    }

    /// Records the weight of the operation, for a limit on the sum of weights, such as tokens per minute. Called once
    /// after [`acquire_initial_token`](RetryStrategy::acquire_initial_token), once after
    /// [`acquire_hedge`](RetryStrategy::acquire_hedge), and only if the operation has a weight. The
    /// default does nothing, which is right for strategies without such a limit. Ignore a foreign token.
    fn weigh(&self, token: &mut Self::Token, weight: u32) {
        let _ = (token, weight);
    }

    /// Records the report of an outcome about a limit on the sum of weights. Called after an attempt, before
    /// [`record_success`](RetryStrategy::record_success) or [`refresh_retry_token`](RetryStrategy::refresh_retry_token), and only
    /// if the policy [says something](crate::RetryPolicy::usage). The default does nothing. Ignore a foreign token.
    fn used(&self, token: &mut Self::Token, usage: Usage) {
        let _ = (token, usage);
    }

    /// Returns whether the token's attempt may be sent. Called after the token's delay, and again after each wait.
    ///
    /// Only strategies that limit sends implement this method. The default returns [`Ready::Now`]. For a foreign token,
    /// return [`Ready::Now`] as well.
    ///
    /// A strategy that knows when its answer changes can end the wait early: it stores a [waker](LazyWaker::waker),
    /// returns an upper bound of the wait, and wakes the waker when the answer changes. If `waker` is `None`, the wait
    /// can't end early.
    ///
    /// Do not wake waiters while holding a lock of the strategy. Take the wakers out under the lock, release the lock,
    /// and then wake them. A wake runs code of the executor, which may poll the operation immediately, and the operation
    /// calls the strategy again.
    fn ready(&self, token: &mut Self::Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let _ = (token, clock, waker);
        Ready::Now
    }

    /// Sells a [hedge](crate#features): a second attempt beside the first one, which has no answer yet. Returns the token of the
    /// second attempt, which is paid for. Called while the first attempt runs, at most once for each operation, and only while retries
    /// are switched on.
    ///
    /// The operation then asks [`ready`](RetryStrategy::ready) once with the new token. If the answer is not now, it calls
    /// [`release`](RetryStrategy::release). Otherwise both attempts run, and the operation ends with one of the two tokens: after a
    /// success with the one of the attempt that succeeded, after a failure with the one of the hedge. The other one is dropped.
    ///
    /// # Errors
    ///
    /// Returns the reason why there is no hedge. In this case, nothing was taken. The default returns [`RetryError::Refused`]:
    /// a strategy sells no hedges unless it implements this method.
    fn acquire_hedge(&self, token: &Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        let _ = (token, clock);
        Err(RetryError::Refused)
    }

    /// Gives back what was taken for the token's attempt, which was not sent.
    ///
    /// Called instead of [`record_success`](RetryStrategy::record_success) and
    /// [`refresh_retry_token`](RetryStrategy::refresh_retry_token) if the operation ends before the attempt is sent,
    /// for example because its future was dropped, its time was up, or retries are switched off. The default does
    /// nothing, which is right for strategies that take nothing. Ignore a foreign token.
    fn release(&self, token: Self::Token) {
        let _ = token;
    }

    /// Returns the delay that the retry after this failure would have, without taking anything for it.
    ///
    /// Only a strategy for [long polls](crate::strategy::LongPolling) calls this, before it asks its inner strategy with
    /// [`refresh_retry_token`](RetryStrategy::refresh_retry_token). If that refuses the retry with
    /// [`RetryError::QuotaExhausted`], the operation waits this long before it ends. The default is zero, which means
    /// no wait.
    fn refused_delay(&self, token: &Self::Token, failure: &Failure) -> Duration {
        let _ = (token, failure);
        Duration::ZERO
    }

    /// Returns whether the initial token would hold nothing, and its attempt may be sent immediately. Then the operation makes the token
    /// only if it is needed, which is not the case if the first attempt succeeds.
    #[doc(hidden)]
    #[inline]
    fn starts_empty(&self) -> bool {
        false
    }

    /// Decides on a retry as [`refresh_retry_token`](RetryStrategy::refresh_retry_token) does. If it can't be sent now, but may wait, the
    /// token is returned for [`wait_instead`](RetryStrategy::wait_instead). With one step for both, the token of each retry would be copied
    /// through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[doc(hidden)]
    fn refresh_or_return(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, (RetryError, Option<Self::Token>)> {
        self.refresh_retry_token(token, failure, clock).map_err(|reason| (reason, None))
    }

    /// Lets the operation wait with the token that [`refresh_or_return`](RetryStrategy::refresh_or_return) returned, or returns the reason.
    #[doc(hidden)]
    fn wait_instead(
        &self,
        token: Self::Token,
        failure: &Failure,
        reason: RetryError,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError> {
        let _ = (token, failure, clock);
        Err(reason)
    }

    /// Returns whether an attempt with this token may be sent now, so that [`ready`](RetryStrategy::ready) need not be asked.
    #[doc(hidden)]
    #[inline]
    fn is_permitted(&self, token: &Self::Token) -> bool {
        let _ = token;
        false
    }

    /// Returns the token of a first attempt that started empty. Called when the token is needed.
    #[doc(hidden)]
    fn empty_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.acquire_initial_token(clock)
    }

    /// Records the success of a first attempt that started empty, and whose token was never made.
    #[doc(hidden)]
    #[inline]
    fn record_first_success(&self, success: &Success, clock: &dyn Clock) {
        if let Ok(token) = self.acquire_initial_token(clock) {
            _ = self.record_success(token, success, clock);
        }
    }

    /// Returns the current level of the retry quota, for events. The default is `None`, which means no quota.
    fn quota_level(&self) -> Option<u32> {
        None
    }

    /// Returns the level of the full retry quota, which is its capacity at present, for events. The default is `None`, which means that
    /// it is not known.
    fn full_quota_level(&self) -> Option<u32> {
        None
    }

    /// Returns the state of the retry quota at present, for events. The default is `None`, which means that only the level
    /// is known.
    fn quota_mode(&self) -> Option<QuotaMode> {
        None
    }

    /// Returns the number of operations that [wait for the service](crate::strategy::DelaySource::Service) now, for events. The default is
    /// `None`, which means that operations never do.
    fn waiting_operations(&self) -> Option<u32> {
        None
    }

    /// Returns the current limit on sends per second, for events. The default is `None`, which means no limit.
    fn send_rate(&self) -> Option<f64> {
        None
    }

    /// Returns the name of the strategy for events. The default is `None`.
    fn name(&self) -> Option<StrategyName> {
        None
    }

    /// Returns the maximum number of attempts of an operation, for the warning about [retries within
    /// retries](crate::EventKind::Nested). The default is `None`: unknown.
    fn max_attempts(&self) -> Option<u32> {
        None
    }
}

// What wrappers forward: every method of the trait.
crate::support::forwarding! {
    $
    /// Writes the methods of [`RetryStrategy`](crate::RetryStrategy) for a strategy that wraps another one: each calls the same method
    /// of the inner strategy.
    ///
    /// Name the methods that your wrapper writes itself after `except`. So it forwards also the methods that the trait gets in later
    /// versions. A method after `except` that the wrapper does not write has the default of the trait.
    ///
    /// ```
    /// use retry_core::strategy::{RetryStrategy, StrategyName};
    /// use retry_core::{StandardRetryStrategy, forward_strategy};
    ///
    /// /// A strategy with a name for events.
    /// struct Named<S> {
    ///     strategy: S,
    ///     name: &'static str,
    /// }
    ///
    /// impl<S: RetryStrategy> RetryStrategy for Named<S> {
    ///     type Token = S::Token;
    ///
    ///     forward_strategy! { self => self.strategy; except name }
    ///
    ///     fn name(&self) -> Option<StrategyName> {
    ///         Some(StrategyName::new(self.name))
    ///     }
    /// }
    ///
    /// static STORE: Named<StandardRetryStrategy> =
    ///     Named { strategy: StandardRetryStrategy::new(), name: "store" };
    /// assert_eq!(STORE.name().unwrap().as_str(), "store");
    /// ```
    ///
    /// Import it by `use`, because it calls itself. The expansion names types as `::retry_core::..`, so the crate must have this name
    /// where it is used.
    #[macro_export]
    forward_strategy: RetryStrategy {
        #[inline]
        fn acquire_initial_token(
            &self,
            clock: &dyn ::retry_core::time::Clock,
        ) -> Result<Self::Token, ::retry_core::strategy::RetryError>;
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn refresh_retry_token(
            &self,
            token: Self::Token,
            failure: &::retry_core::strategy::Failure,
            clock: &dyn ::retry_core::time::Clock,
        ) -> Result<Self::Token, ::retry_core::strategy::RetryError>;
        #[inline]
        fn record_success(
            &self,
            token: Self::Token,
            success: &::retry_core::policy::Success,
            clock: &dyn ::retry_core::time::Clock,
        ) -> Result<(), ::retry_core::strategy::ForeignToken>;
        fn record_progress(
            &self,
            token: Self::Token,
            clock: &dyn ::retry_core::time::Clock,
        ) -> Result<Self::Token, ::retry_core::strategy::RetryError>;
        fn weigh(&self, token: &mut Self::Token, weight: u32);
        fn used(&self, token: &mut Self::Token, usage: ::retry_core::policy::Usage);
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn ready(
            &self,
            token: &mut Self::Token,
            clock: &dyn ::retry_core::time::Clock,
            waker: Option<&::retry_core::limit::LazyWaker<'_>>
        ) -> ::retry_core::limit::Ready;
        fn acquire_hedge(
            &self,
            token: &Self::Token,
            clock: &dyn ::retry_core::time::Clock,
        ) -> Result<Self::Token, ::retry_core::strategy::RetryError>;
        #[inline]
        fn release(&self, token: Self::Token);
        fn refused_delay(&self, token: &Self::Token, failure: &::retry_core::strategy::Failure) -> std::time::Duration;
        #[inline]
        fn starts_empty(&self) -> bool;
        #[inline]
        fn empty_token(&self, clock: &dyn ::retry_core::time::Clock) -> Result<Self::Token, ::retry_core::strategy::RetryError>;
        #[inline]
        fn record_first_success(&self, success: &::retry_core::policy::Success, clock: &dyn ::retry_core::time::Clock);
        fn quota_level(&self) -> Option<u32>;
        fn full_quota_level(&self) -> Option<u32>;
        fn quota_mode(&self) -> Option<::retry_core::quota::QuotaMode>;
        fn waiting_operations(&self) -> Option<u32>;
        fn send_rate(&self) -> Option<f64>;
        fn name(&self) -> Option<::retry_core::strategy::StrategyName>;
        fn max_attempts(&self) -> Option<u32>;
    }
}
pub(crate) use forward_strategy;

/// Forwards the methods that are not in [`forward_strategy`], because a wrapper that decides itself must not forward them.
macro_rules! forward_decision {
    () => {
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn refresh_or_return(
            &self,
            token: Self::Token,
            failure: &Failure,
            clock: &dyn Clock,
        ) -> Result<Self::Token, (RetryError, Option<Self::Token>)> {
            (**self).refresh_or_return(token, failure, clock)
        }

        fn wait_instead(
            &self,
            token: Self::Token,
            failure: &Failure,
            reason: RetryError,
            clock: &dyn Clock,
        ) -> Result<Self::Token, RetryError> {
            (**self).wait_instead(token, failure, reason, clock)
        }

        #[inline]
        fn is_permitted(&self, token: &Self::Token) -> bool {
            (**self).is_permitted(token)
        }
    };
}

// Pointers accept the tokens of their strategy, and of each other.

impl<S: RetryStrategy + ?Sized> RetryStrategy for &S {
    type Token = S::Token;
    forward_strategy! { self => **self }
    forward_decision!();
}

impl<S: RetryStrategy + ?Sized> RetryStrategy for Box<S> {
    type Token = S::Token;
    forward_strategy! { self => **self }
    forward_decision!();
}

impl<S: RetryStrategy + ?Sized> RetryStrategy for Arc<S> {
    type Token = S::Token;
    forward_strategy! { self => **self }
    forward_decision!();
}

impl<S: RetryStrategy, F: FnOnce() -> S> RetryStrategy for LazyLock<S, F> {
    type Token = S::Token;
    forward_strategy! { self => **self }
    forward_decision!();
}
