//! The token that an operation holds, and the guard that releases it if the attempt is given up.

use crate::strategy::{RetryStrategy, RetryToken};

/// Where the token of an operation is.
#[derive(Debug)]
pub(super) enum TokenState<K> {
    /// The operation holds it, for the next attempt or for the one under way.
    Held(K),
    /// The strategy refused the initial one: one attempt is made, and nothing is learned from it.
    Refused,
    /// It went back to the strategy.
    Returned,
    /// It went back to the strategy because the time was up, after this many attempts.
    Unsent(u32),
}

impl<K: RetryToken> TokenState<K> {
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Returned)
    }

    /// Returns the number of attempts, the one that the token is for included.
    #[inline]
    pub(super) fn attempts(&self) -> u32 {
        match self {
            Self::Held(token) => token.attempt(),
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
        if let TokenState::Held(_) = self.token
            && let TokenState::Held(token) = self.token.take()
        {
            self.strategy.release(token);
        }
    }
}
