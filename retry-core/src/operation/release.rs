//! The token of an operation, and the guard that releases it if the attempt is given up.

use crate::strategy::{DelaySource, RetryStrategy, RetryToken};
use crate::time::Timestamp;
use std::time::Duration;

/// The state of an operation's token.
#[derive(Debug)]
pub(super) enum TokenState<K> {
    /// The operation holds the token, for the next attempt or for the current one.
    Held(K),
    /// The strategy refused the initial token. One attempt is made, and the strategy does not learn its outcome.
    Refused,
    /// The token was given back to the strategy, or was never made.
    Returned,
    /// The token was released because its attempt was not sent.
    Unsent(Tally),
    /// The service did not recover while the operation waited for it. The token was released.
    NoRecovery(Tally),
}

/// The attempts that an operation has made, and the time for which it has waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// The number of attempts, including the current one.
    pub(super) attempts: u32,
    /// The time for which the operation has waited for the service, in milliseconds, because a `Duration` would make tokens larger. The
    /// highest bit is that of a [long poll](Tally::is_long_poll): a separate flag would make each success longer.
    waited: u32,
}

impl Tally {
    #[inline]
    pub(super) const fn without_waiting(attempts: u32) -> Self {
        Self { attempts, waited: 0 }
    }

    #[inline]
    pub(super) fn of(token: &impl RetryToken) -> Self {
        Self { attempts: token.attempt(), waited: millis(token.waited()) }
    }

    /// Returns the time for which the operation has waited for the service.
    #[inline]
    pub(super) const fn waited(self) -> Duration {
        Duration::from_millis((self.waited & !LONG_POLL) as u64)
    }

    /// Returns whether the operation has waited as a long poll.
    pub(super) const fn is_long_poll(self) -> bool {
        self.waited & LONG_POLL != 0
    }

    /// Returns this of an operation whose token is given up before its attempt is sent.
    fn unsent(token: &impl RetryToken, now: Timestamp) -> Self {
        let long_poll = if token.is_long_poll() { LONG_POLL } else { 0 };
        Self { attempts: token.attempt().saturating_sub(1), waited: millis(token.waited_at(now)) | long_poll }
    }
}

/// The bit of a long poll in [`Tally`].
const LONG_POLL: u32 = 1 << 31;

#[inline]
fn millis(time: Duration) -> u32 {
    time.as_millis().try_into().unwrap_or(u32::MAX).min(!LONG_POLL)
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

    /// Returns what the operation has done so far, with the attempt that the token is for.
    #[inline]
    pub(super) fn tally(&self) -> Tally {
        match self {
            Self::Held(token) => Tally::of(token),
            Self::Refused | Self::Returned => Tally::without_waiting(1),
            Self::Unsent(tally) | Self::NoRecovery(tally) => *tally,
        }
    }

    /// Returns what the operation has done so far, without the attempt that the token is for, which is not sent.
    pub(super) fn unsent(&self, now: &dyn Fn() -> Timestamp) -> Tally {
        match self {
            Self::Held(token) => Tally::unsent(token, now()),
            _ => Tally::without_waiting(0),
        }
    }

    /// Returns the number of attempts, including the one that the token is for.
    #[inline]
    pub(super) fn attempts(&self) -> u32 {
        match self {
            Self::Held(token) => token.attempt(),
            Self::Refused | Self::Returned => 1,
            Self::Unsent(tally) | Self::NoRecovery(tally) => tally.attempts,
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
