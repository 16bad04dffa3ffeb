//! Switches that turn retries on and off: one for the process, and one in each strategy.

use super::name::within_scope;
use crate::strategy::{Failure, RetryError, RetryStrategy, StrategyName, forward_strategy};
use crate::support::Shared;
use crate::time::Clock;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The switch of a strategy.
///
/// The value publishes no other data, so relaxed ordering suffices.
#[derive(Debug)]
pub(crate) struct Switch {
    is_on_at_start: bool,
    is_on: Shared<AtomicBool>,
}

impl Switch {
    /// Creates a switch that is on.
    pub(crate) const fn new() -> Self {
        Self::starting(true)
    }

    /// Creates a switch that is on or off.
    pub(crate) const fn starting(is_on: bool) -> Self {
        Self { is_on_at_start: is_on, is_on: Shared::new(AtomicBool::new(is_on)) }
    }

    fn fresh(&self) -> AtomicBool {
        AtomicBool::new(self.is_on_at_start)
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.with(|| self.fresh(), |switch| switch.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, is_on: bool) {
        self.is_on.with(|| self.fresh(), |switch| switch.store(is_on, Ordering::Relaxed));
    }

    /// Returns the number of a test guard's copy, which identifies the strategy under the guard.
    #[inline]
    pub(crate) fn number_of_copy(&self) -> Option<usize> {
        self.is_on.number_of_copy(|| self.fresh())
    }
}

/// Everything that can switch retries off, in one number, so that a failure usually reads only this number: [`OFF`], and
/// [`SCOPE`] for each scope in use. It publishes no other data, so relaxed ordering suffices.
static PROCESS: AtomicUsize = AtomicUsize::new(0);

/// The switch of the process is off.
const OFF: usize = 1;

/// There is a scope [without retries](crate::without_retries) in the process.
const SCOPE: usize = 2;

/// Turns retries on or off for the whole process, for example during an incident. They are on by default.
///
/// While retries are off, a failure that would be retried ends its operation with [`RetryError::Disabled`]. Nothing is
/// taken from the quota, scheduled retries are still sent, and limiters still learn and limit. This also applies to
/// your own strategies: if one grants a retry nevertheless, the operation releases its token.
///
/// To turn off the retries of one strategy, use
/// [`StandardRetryStrategy::set_enabled`](crate::StandardRetryStrategy::set_enabled). A retry needs both switches to be
/// on.
pub fn set_retries_enabled(enabled: bool) {
    if enabled {
        PROCESS.fetch_and(!OFF, Ordering::Relaxed);
    } else {
        PROCESS.fetch_or(OFF, Ordering::Relaxed);
    }
}

/// Returns whether retries are on here: for the whole process, see [`set_retries_enabled`], and outside of
/// [`without_retries`](crate::without_retries).
#[inline]
pub fn retries_enabled() -> bool {
    PROCESS.load(Ordering::Relaxed) == 0 || are_on_inside()
}

/// Returns whether retries are on here if something in the process switches them off.
#[cold]
#[inline(never)]
fn are_on_inside() -> bool {
    PROCESS.load(Ordering::Relaxed) & OFF == 0 && !is_inside()
}

/// A scope without retries. While there is none in the process, failures do not check whether they are in one.
#[derive(Debug)]
pub(super) struct Living(());

impl Living {
    pub(super) fn new() -> Self {
        PROCESS.fetch_add(SCOPE, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        PROCESS.fetch_sub(SCOPE, Ordering::Relaxed);
    }
}

thread_local! {
    /// The number of scopes around the code that runs now.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns whether the code that runs now is inside a scope.
fn is_inside() -> bool {
    DEPTH.get() > 0
}

/// Code that runs inside a scope. It ends when this is dropped, also by a panic.
pub(super) struct Inside(());

impl Inside {
    pub(super) fn enter() -> Self {
        DEPTH.set(DEPTH.get().saturating_add(1));
        Self(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// A strategy behind a switch, which it can share with others.
pub(crate) struct Switched<S: ?Sized> {
    pub(crate) switch: Arc<Switch>,
    /// `None` for the name of the strategy itself.
    pub(crate) name: Option<StrategyName>,
    pub(crate) strategy: S,
}

impl<S: RetryStrategy + ?Sized> RetryStrategy for Switched<S> {
    type Token = S::Token;

    forward_strategy! { self => self.strategy; except refresh_retry_token, acquire_hedge, name }

    fn refresh_retry_token(
        &self,
        token: S::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<S::Token, RetryError> {
        let failure = failure.switched_by(&self.switch);
        let token = within_scope(self.name.as_ref(), || self.strategy.refresh_retry_token(token, &failure, clock))?;
        let Some(reason) = failure.refusal() else { return Ok(token) };
        // The strategy granted a retry although there is none.
        self.strategy.release(token);
        Err(reason)
    }

    fn acquire_hedge(&self, token: &S::Token, clock: &dyn Clock) -> Result<S::Token, RetryError> {
        if self.switch.is_on() { self.strategy.acquire_hedge(token, clock) } else { Err(RetryError::Disabled) }
    }

    fn name(&self) -> Option<StrategyName> {
        self.name.clone().or_else(|| self.strategy.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Living, Ordering, PROCESS, SCOPE};

    // No other test of this crate switches retries off.
    #[test]
    fn failures_look_for_a_scope_only_while_one_lives() {
        let switches = || PROCESS.load(Ordering::Relaxed);
        assert_eq!(switches(), 0);
        let (one, other) = (Living::new(), Living::new());
        assert_eq!(switches(), 2 * SCOPE);
        drop(one);
        assert_eq!(switches(), SCOPE);
        drop(other);
        assert_eq!(switches(), 0);
    }
}
