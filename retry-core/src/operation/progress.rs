//! Attempts that fail and make progress, such as a batch of which a part was accepted.

use super::release::TokenState;
use super::{Call, OptionalObserver, RunningLimits, StateOf};
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::policy::Success;
use crate::strategy::RetryStrategy;
use crate::time::Clock;

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Lets the strategy record the progress of an attempt that failed. Attempts, backoff and payments count from here. Called before the
    /// attempt is settled.
    #[cold]
    pub(super) fn record_progress<L: RunningLimits>(self, operation: &mut StateOf<S, L, O>) {
        self.tell(&operation.observed, Level::Debug, operation.attempts(), &move || EventKind::Progressed);
        if operation.is_unmade() {
            self.strategy.record_first_success(&Success::default(), &self.clock());
        } else if let TokenState::Held(token) = operation.token.take() {
            let token = self.strategy.record_progress(token, &self.clock());
            operation.token = token.map_or(TokenState::Refused, TokenState::Held);
        }
    }
}
