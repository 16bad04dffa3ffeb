//! A strategy for one operation whose weight is known.

use super::{Failure, ForeignToken, LazyWaker, Operations, Ready, RetryError, RetryStrategy, Share, StrategyName};
use crate::policy::{Success, Usage};
use crate::quota::QuotaMode;
use crate::time::Clock;
use std::time::Duration;

/// A handle to a strategy for operations of one weight, for a limit on the [sum of weights](crate::limit::PacedLimiter#weights).
///
/// [`Retry::weight`](crate::Retry::weight) makes one. Create it yourself where a function takes a strategy.
///
/// ```
/// use retry_core::limit::{PacedLimiter, Weights};
/// use retry_core::strategy::{LimitedRetryStrategy, Weighted};
/// use retry_core::{RetryInfo, StandardRetryStrategy, retry_blocking};
///
/// # #[derive(Debug, RetryInfo)]
/// # struct Failed;
/// static UPLOADS: LimitedRetryStrategy<PacedLimiter<Weights>> =
///     LimitedRetryStrategy::with_limiter(
///         StandardRetryStrategy::new(),
///         PacedLimiter::of_weights(),
///     );
///
/// let file = b"...";
/// let length = u32::try_from(file.len()).unwrap_or(u32::MAX);
/// let uploaded = retry_blocking(Weighted::new(&UPLOADS, length), || {
///     // One attempt.
/// #   let _ = file;
///     Ok::<_, Failed>(())
/// });
/// uploaded.run()?;
/// # Ok::<(), Failed>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Weighted<S> {
    strategy: S,
    weight: u32,
}

impl<S> Weighted<S> {
    /// Creates a handle to a strategy for operations of this weight.
    pub const fn new(strategy: S, weight: u32) -> Self {
        Self { strategy, weight }
    }
}

impl<S> Share<Weighted<S>> for Operations where Self: Share<S> {}

impl<S: RetryStrategy> RetryStrategy for Weighted<S> {
    type Token = S::Token;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<S::Token, RetryError> {
        let mut token = self.strategy.acquire_initial_token(clock)?;
        self.strategy.weigh(&mut token, self.weight);
        Ok(token)
    }

    /// A weight from further out replaces the one of the handle.
    fn weigh(&self, token: &mut S::Token, weight: u32) {
        self.strategy.weigh(token, weight);
    }

    fn settle(&self, token: &mut S::Token, usage: Usage) {
        self.strategy.settle(token, usage);
    }

    fn refresh_retry_token(
        &self,
        token: S::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<S::Token, RetryError> {
        self.strategy.refresh_retry_token(token, failure, clock)
    }

    fn record_success(&self, token: S::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.strategy.record_success(token, success, clock)
    }

    fn ready(&self, token: &mut S::Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        self.strategy.ready(token, clock, waker)
    }

    fn acquire_hedge(&self, token: &S::Token, clock: &dyn Clock) -> Result<S::Token, RetryError> {
        let mut token = self.strategy.acquire_hedge(token, clock)?;
        self.strategy.weigh(&mut token, self.weight);
        Ok(token)
    }

    fn release(&self, token: S::Token) {
        self.strategy.release(token);
    }

    fn refused_delay(&self, token: &S::Token, failure: &Failure) -> Duration {
        self.strategy.refused_delay(token, failure)
    }

    fn quota_level(&self) -> Option<u32> {
        self.strategy.quota_level()
    }

    fn quota_mode(&self) -> Option<QuotaMode> {
        self.strategy.quota_mode()
    }

    fn waiting_operations(&self) -> Option<u32> {
        self.strategy.waiting_operations()
    }

    fn send_rate(&self) -> Option<f64> {
        self.strategy.send_rate()
    }

    fn name(&self) -> Option<StrategyName> {
        self.strategy.name()
    }

    fn max_attempts(&self) -> Option<u32> {
        self.strategy.max_attempts()
    }
}
