//! A strategy for long polls: an operation whose retry the quota refuses waits before it returns.

use super::{
    DelaySource, Failure, ForeignToken, LazyWaker, Operations, Ready, RetryError, RetryStrategy, RetryToken, Share,
    forward_strategy,
};
use crate::policy::{Success, Usage};
use crate::support::{KeptInWait, KeptOutcome};
use crate::time::{Clock, Timestamp};
use std::time::Duration;

/// A strategy for calls that a loop repeats as long as the program runs, such as receiving messages from a queue. AWS calls such a
/// call a long poll.
///
/// If the quota of the inner strategy can't pay for a retry, the operation first waits for the delay that the retry would have
/// had, and then ends with its last outcome and the reason [`QuotaExhausted`](RetryError::QuotaExhausted). Without it, the operation
/// ends immediately, and the loop begins the next one immediately. Everything else is as in the inner strategy: where a delay is longer
/// than the time that is left, the strategies of this library end the operation before they ask their quota.
///
/// A loop over a [`PatientRetryStrategy`](crate::PatientRetryStrategy) does not need this, because its operations wait anyway. This
/// is for programs that must behave like the AWS SDKs.
///
/// ```no_run
/// use retry_core::strategy::LongPolling;
/// use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
///
/// # #[derive(Debug, RetryInfo)]
/// # struct Failed;
/// static QUEUE: LongPolling<StandardRetryStrategy> =
///     LongPolling::over(StandardRetryStrategy::aws_2_1());
///
/// #[retryable(strategy = QUEUE)]
/// async fn receive() -> Result<Vec<String>, Failed> {
///     // One attempt.
/// #   Ok(Vec::new())
/// }
///
/// async fn work() {
///     loop {
///         match receive().await {
///             Ok(messages) => println!("{messages:?}"),
///             Err(error) => eprintln!("{error:?}"),
///         }
///     }
/// }
/// ```
///
/// The last outcome is kept while the operation waits, so the future is [`Send`] only if the outcome is.
#[derive(Clone, Copy, Debug)]
pub struct LongPolling<S> {
    strategy: S,
}

impl<S> LongPolling<S> {
    /// Creates a strategy for long polls over another strategy, whose [`refused_delay`](RetryStrategy::refused_delay) determines
    /// the wait.
    pub const fn over(strategy: S) -> Self {
        Self { strategy }
    }

    /// Returns the inner strategy.
    pub const fn inner(&self) -> &S {
        &self.strategy
    }
}

impl<S> Share<LongPolling<S>> for Operations where Self: Share<S> {}

/// The token of a [`LongPolling`] strategy.
#[derive(Debug)]
pub struct LongPollingToken<K>(Held<K>);

#[derive(Debug)]
enum Held<K> {
    /// The token of the inner strategy.
    Inner(K),
    /// The quota refused the retry, and the operation waits.
    Refused {
        /// The number of the attempt that will not be made.
        attempt: u32,
        since: Timestamp,
        until: Timestamp,
        /// The latest reading of the clock. If it stands still, the wait is over after one sleep.
        asked: Option<Timestamp>,
        /// The time for which the operation has waited for the service in earlier waits.
        waited: Duration,
    },
}

impl<K> LongPollingToken<K> {
    const fn inner(token: K) -> Self {
        Self(Held::Inner(token))
    }

    const fn inner_mut(&mut self) -> Option<&mut K> {
        if let Held::Inner(token) = &mut self.0 { Some(token) } else { None }
    }
}

impl<K: RetryToken> RetryToken for LongPollingToken<K> {
    fn attempt(&self) -> u32 {
        match &self.0 {
            Held::Inner(token) => token.attempt(),
            Held::Refused { attempt, .. } => *attempt,
        }
    }

    fn retry_count(&self) -> u32 {
        match &self.0 {
            Held::Inner(token) => token.retry_count(),
            Held::Refused { attempt, .. } => attempt.saturating_sub(1),
        }
    }

    fn delay(&self) -> Duration {
        if let Held::Inner(token) = &self.0 { token.delay() } else { Duration::ZERO }
    }

    fn delay_source(&self) -> DelaySource {
        if let Held::Inner(token) = &self.0 { token.delay_source() } else { DelaySource::Service }
    }

    fn waited(&self) -> Duration {
        match &self.0 {
            Held::Inner(token) => token.waited(),
            Held::Refused { waited, .. } => *waited,
        }
    }

    fn waited_at(&self, now: Timestamp) -> Duration {
        match &self.0 {
            Held::Inner(token) => token.waited_at(now),
            Held::Refused { since, waited, .. } => waited.saturating_add(now.saturating_since(*since)),
        }
    }

    fn is_long_poll(&self) -> bool {
        match &self.0 {
            Held::Inner(token) => token.is_long_poll(),
            Held::Refused { .. } => true,
        }
    }

    fn may_wait() -> bool {
        true
    }

    fn kept_outcome<R>() -> impl KeptOutcome<R> {
        KeptInWait::<R>::new()
    }
}

impl<S: RetryStrategy> RetryStrategy for LongPolling<S> {
    type Token = LongPollingToken<S::Token>;

    forward_strategy! {
        self => self.strategy;
        except acquire_initial_token, refresh_retry_token, record_success, record_progress, weigh, used, ready, acquire_hedge, release,
            refused_delay, empty_token
    }

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.strategy.acquire_initial_token(clock).map(LongPollingToken::inner)
    }

    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError> {
        let Held::Inner(token) = token.0 else { return Err(RetryError::QuotaExhausted) };
        // The inner strategy is asked before it takes the token.
        let delay = self.strategy.refused_delay(&token, failure);
        let (attempt, waited) = (token.attempt().saturating_add(1), token.waited());
        match self.strategy.refresh_retry_token(token, failure, clock) {
            Err(RetryError::QuotaExhausted) if !delay.is_zero() => {
                let since = clock.now();
                let wait = failure.remaining().map_or(delay, |remaining| delay.min(remaining));
                let until = since.saturating_add(wait);
                Ok(LongPollingToken(Held::Refused { attempt, since, until, asked: None, waited }))
            }
            answer => answer.map(LongPollingToken::inner),
        }
    }

    fn record_success(&self, token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        match token.0 {
            Held::Inner(token) => self.strategy.record_success(token, success, clock),
            // Sent without permission. The inner strategy has got its token back.
            Held::Refused { .. } => Ok(()),
        }
    }

    fn record_progress(&self, token: Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        match token.0 {
            Held::Inner(token) => self.strategy.record_progress(token, clock).map(LongPollingToken::inner),
            Held::Refused { .. } => self.acquire_initial_token(clock),
        }
    }

    fn weigh(&self, token: &mut Self::Token, weight: u32) {
        if let Some(token) = token.inner_mut() {
            self.strategy.weigh(token, weight);
        }
    }

    fn used(&self, token: &mut Self::Token, usage: Usage) {
        if let Some(token) = token.inner_mut() {
            self.strategy.used(token, usage);
        }
    }

    fn ready(&self, token: &mut Self::Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        match &mut token.0 {
            Held::Inner(token) => self.strategy.ready(token, clock, waker),
            Held::Refused { until, asked, .. } => {
                let now = clock.now();
                let wait = until.saturating_since(now);
                if wait.is_zero() || asked.replace(now) == Some(now) {
                    return Ready::Stop;
                }
                // The operation may shorten only a wait that has a waker.
                drop(waker.map(LazyWaker::waker));
                Ready::After(wait)
            }
        }
    }

    fn acquire_hedge(&self, token: &Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        match &token.0 {
            Held::Inner(token) => self.strategy.acquire_hedge(token, clock).map(LongPollingToken::inner),
            Held::Refused { .. } => Err(RetryError::QuotaExhausted),
        }
    }

    fn release(&self, token: Self::Token) {
        if let Held::Inner(token) = token.0 {
            self.strategy.release(token);
        }
    }

    fn refused_delay(&self, token: &Self::Token, failure: &Failure) -> Duration {
        match &token.0 {
            Held::Inner(token) => self.strategy.refused_delay(token, failure),
            Held::Refused { .. } => Duration::ZERO,
        }
    }

    fn empty_token(&self, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.strategy.empty_token(clock).map(LongPollingToken::inner)
    }
}
