//! Attempts of builds without the feature `test`. In debug builds, nested operations are seen.

use super::{NoAnswer, RetryDirective, RunningLimits, State, Unanswered};
use crate::operation::nesting::Mark;
#[cfg(debug_assertions)]
use std::pin::Pin;
#[cfg(debug_assertions)]
use std::task::Context;
use std::task::Poll;

/// The place of an attempt that begins now. It borrows nothing, so that the body may borrow what
/// the call holds.
#[derive(Debug)]
pub struct Place(Mark);

impl Place {
    #[inline]
    pub(crate) fn of<K, L: RunningLimits, N>(operation: &State<K, L, N>) -> Self {
        Self(operation.record.mark())
    }

    /// Returns the place of the attempts of an operation with a hedge.
    #[cfg(feature = "hedges")]
    #[inline]
    pub(crate) fn of_race<K, L: RunningLimits, N>(operation: &State<K, L, N>) -> Self {
        Self::of(operation)
    }

    /// Enters the attempt, for as long as the value lives.
    #[inline]
    pub(crate) fn enter(&self) -> impl Sized + use<> {
        self.0.enter()
    }

    /// Returns the future of an attempt with this body: the body.
    #[cfg(not(debug_assertions))]
    #[inline]
    pub fn run<F: Future>(self, body: F) -> F {
        body
    }

    /// Returns the future of an attempt with this body.
    #[cfg(debug_assertions)]
    pub fn run<F: Future>(self, body: F) -> Marked<F> {
        Marked { mark: self.0, body: Box::pin(body) }
    }

    /// Runs an attempt that blocks.
    #[inline]
    pub fn run_blocking<R>(self, body: impl FnOnce() -> R) -> R {
        let _entered = self.0.enter();
        body()
    }
}

/// An attempt whose nested operations are seen.
#[cfg(debug_assertions)]
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Marked<F> {
    mark: Mark,
    body: Pin<Box<F>>,
}

#[cfg(debug_assertions)]
impl<F: Future> Future for Marked<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = self.mark.enter();
        self.body.as_mut().poll(context)
    }
}

/// The outcome of an attempt.
pub type Outcome<R> = R;

/// An attempt that runs.
#[derive(Debug)]
pub(crate) struct Running(Place);

impl Running {
    #[inline]
    pub(crate) const fn new(place: Place) -> Self {
        Self(place)
    }

    /// Polls the body of the attempt.
    #[inline]
    pub(crate) fn poll<R>(&mut self, body: impl FnOnce() -> Poll<R>) -> Poll<R> {
        let _entered = self.0.enter();
        body()
    }
}

/// Returns the outcome of an attempt that can't fail in another way.
#[inline]
pub(crate) fn ran<R>(outcome: R) -> R {
    outcome
}

/// Evaluates an outcome.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn evaluated<R>(
    outcome: &R,
    evaluate: impl FnOnce(&R) -> RetryDirective,
    _: impl Fn(NoAnswer) -> Unanswered<R>,
) -> RetryDirective {
    evaluate(outcome)
}

/// Returns the value of an outcome.
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "the version for tests has outcomes without a value")]
pub(crate) fn value<R>(outcome: &R) -> Option<&R> {
    Some(outcome)
}

/// Returns the value of an outcome that another attempt follows.
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "the version for tests has outcomes without a value")]
pub(crate) fn kept<R>(outcome: R) -> Option<R> {
    Some(outcome)
}

/// Returns the value of a final outcome.
#[inline]
pub(crate) fn last<R>(outcome: R) -> R {
    outcome
}

/// Moves an outcome.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn moved<R>(outcome: R, by: impl FnOnce(R) -> R) -> R {
    by(outcome)
}

/// Returns the driver for an outcome.
#[inline]
pub(crate) fn driver<'o, R, D>(outcome: &'o R, make: impl FnOnce(&'o R) -> D) -> D {
    make(outcome)
}
