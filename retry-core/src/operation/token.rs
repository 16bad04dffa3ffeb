//! The token of an operation, and the guard that gives it back.

use crate::strategy::{EarlyWake, RetryStrategy, RetryToken};
use std::sync::Arc;

/// Where the token of an operation is.
#[derive(Debug)]
pub(super) enum TokenState<K> {
    /// The operation holds it, for the next attempt or for the one under way.
    Held(K),
    /// The operation holds it, and waits or has waited for the next attempt. Boxed, to leave the others small.
    Waiting(Box<Waiting<K>>),
    /// The strategy refused the initial one: one attempt is made, and nothing is learned from it.
    Refused,
    /// It went back to the strategy.
    Returned,
    /// It went back to the strategy because the time was up, after this many attempts.
    Unsent(u32),
}

/// A token whose delay was slept, or is being slept.
#[derive(Debug)]
pub(super) struct Waiting<K> {
    pub(super) token: K,
    /// Whether the latest wait is a limiter's.
    pub(super) is_limited: bool,
    /// What ends the latest wait early, if the strategy asked for a waker.
    pub(super) wake: Option<Arc<EarlyWake>>,
}

impl<K: RetryToken> TokenState<K> {
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Returned)
    }

    /// Returns the token, if the operation holds one.
    #[inline]
    pub(super) fn into_token(self) -> Option<K> {
        match self {
            Self::Held(token) => Some(token),
            Self::Waiting(waiting) => Some(waiting.token),
            Self::Refused | Self::Returned | Self::Unsent(_) => None,
        }
    }

    /// Returns the number of attempts, the one that the token is for included.
    #[inline]
    pub(super) fn attempts(&self) -> u32 {
        match self {
            Self::Held(token) => token.attempt(),
            Self::Waiting(waiting) => waiting.token.attempt(),
            Self::Refused | Self::Returned => 1,
            Self::Unsent(attempts) => *attempts,
        }
    }
}

/// Releases a token when it is dropped, unless it is disarmed.
///
/// A guard stands around everything of the user's that may panic between a paid retry and its attempt: answers of the
/// strategy, timers, sleeps, observers, and the `Drop` of outcomes.
pub(super) struct ReleaseGuard<'a, S: RetryStrategy> {
    pub(super) token: &'a mut TokenState<S::Token>,
    pub(super) strategy: &'a S,
}

impl<'a, S: RetryStrategy> ReleaseGuard<'a, S> {
    #[inline]
    pub(super) fn new(token: &'a mut TokenState<S::Token>, strategy: &'a S) -> Self {
        Self { token, strategy }
    }

    #[inline]
    pub(super) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl<S: RetryStrategy> Drop for ReleaseGuard<'_, S> {
    #[inline]
    fn drop(&mut self) {
        if let TokenState::Held(_) | TokenState::Waiting(_) = self.token
            && let Some(token) = self.token.take().into_token()
        {
            self.strategy.release(token);
        }
    }
}
