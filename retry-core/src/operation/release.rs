//! The token of an operation, and the guard that releases it if the attempt is given up.

use crate::strategy::{DelaySource, RetryStrategy, RetryToken};

/// The state of an operation's token.
#[derive(Debug)]
pub(super) enum TokenState<K> {
    /// The operation holds the token, for the next attempt or for the current one.
    Held(K),
    /// The strategy refused the initial token. One attempt is made, and the strategy does not learn its outcome.
    Refused,
    /// The token was given back to the strategy.
    Returned,
    /// The token was released because its attempt was not sent, after this number of attempts.
    Unsent(u32),
    /// The service did not recover while the operation waited for it, after this number of attempts. The token was released.
    NoRecovery(u32),
}

impl<K: RetryToken> TokenState<K> {
    /// Takes the token out, to give it back to the strategy.
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Returned)
    }

    /// Returns the token, if the operation holds it.
    #[inline]
    pub(super) fn held(self) -> Option<K> {
        if let Self::Held(token) = self { Some(token) } else { None }
    }

    /// Returns whether the next attempt waits for the service.
    #[inline]
    pub(super) fn waits_for_service(&self) -> bool {
        K::may_wait() && matches!(self, Self::Held(token) if token.delay_source() == DelaySource::Service)
    }

    /// Returns the number of attempts, including the one that the token is for.
    #[inline]
    pub(super) fn attempts(&self) -> u32 {
        match self {
            Self::Held(token) => token.attempt(),
            Self::Refused | Self::Returned => 1,
            Self::Unsent(attempts) | Self::NoRecovery(attempts) => *attempts,
        }
    }
}

/// A guard that releases the token when it is dropped, unless it is disarmed.
///
/// A guard protects all user code that may panic between a paid retry and its attempt: methods of the strategy, timers,
/// sleeps, observers, and the `Drop` of outcomes.
pub struct ReleaseGuard<'a, S: RetryStrategy> {
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
