//! The purchase of a hedge.

use super::tokens::OtherToken;
use crate::limit::Ready;
use crate::observe::trace::Level;
use crate::observe::{EventKind, NoHedge};
use crate::operation::release::{ReleaseGuard, TokenState};
use crate::operation::{Call, OptionalObserver, RunningLimits, State, StateOf};
use crate::strategy::{self, RetryStrategy, RetryToken};
use crate::time::Clock;

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Buys a hedge of this weight, if the strategy does not know it, and asks for its permission to be sent, which must be there
    /// immediately. Then the operation holds its token, and the token of the first attempt is returned.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no hedge. What was paid is given back.
    #[cold]
    pub(crate) fn buy_hedge<L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        weight: Option<u32>,
    ) -> Result<OtherToken<S::Token>, NoHedge> {
        if !strategy::retries_enabled() {
            return Err(NoHedge::Disabled);
        }
        if operation.is_stopped() {
            return Err(NoHedge::Stopped);
        }
        if operation.limits.allows_no_more_than(operation.attempts()) {
            return Err(NoHedge::MaxAttempts);
        }
        operation.make_token(self.strategy, &self.clock());
        let TokenState::Held(first) = &operation.token else { return Err(NoHedge::NotSold) };
        let mut hedge = TokenState::Held(self.strategy.acquire_hedge(first, &self.clock()).map_err(NoHedge::of)?);
        let guard = ReleaseGuard::new(&mut hedge, self.strategy);
        if let TokenState::Held(token) = &mut *guard.token {
            if let Some(weight) = weight {
                self.strategy.weigh(token, weight);
            }
            if self.strategy.ready(token, &self.clock(), None) != Ready::Now {
                return Err(NoHedge::Limited);
            }
        }
        if operation.limits.remaining(&self.timer()).is_some_and(|left| left.is_zero()) {
            return Err(NoHedge::MaxTime);
        }
        let attempt = guard.token.attempts();
        operation.record.attempted(|| attempt);
        self.tell(&operation.observed, Level::Debug, attempt, &move || EventKind::HedgeSent);
        self.tell(&operation.observed, Level::Trace, attempt, &move || EventKind::AttemptStarted);
        guard.disarm();
        Ok(operation.hold_hedge(hedge))
    }
}

impl<K: RetryToken, L: RunningLimits, N> State<K, L, N> {
    /// Makes the token of the first attempt, if it was not made yet.
    #[inline]
    fn make_token<S: RetryStrategy<Token = K>>(&mut self, strategy: &S, clock: &dyn Clock) {
        if self.take_unmade() {
            self.token = strategy.empty_token(clock).map_or(TokenState::Refused, TokenState::Held);
        }
    }
}
