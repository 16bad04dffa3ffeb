//! What a race asks of the call that it belongs to.

use super::tokens::OtherToken;
use crate::observe::NoHedge;
use crate::operation::settle::Decision;
use crate::operation::{Call, OptionalObserver, Outcome, RunningLimits, StateOf};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::support::KeptOutcome;
use std::ops::ControlFlow;
use std::task::Context;

/// A call with a hedge, in one of its forms: a function with the attribute, a closure, or a request to a service.
///
/// The parameters are the strategy, the timer, the limits, the observer, and the outcome.
pub(crate) trait Form<S: RetryStrategy, T, L: RunningLimits, O: OptionalObserver, R> {
    /// Returns the call and its operation. They are borrowed again for each step, so that no reference to the timer is kept across an
    /// await.
    fn parts(&mut self) -> Parts<'_, S, T, L, O>;

    /// Prepares an attempt, before its time begins.
    #[inline]
    fn prepare(&mut self) {}

    /// Buys the hedge, if the form permits one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no hedge.
    fn buy_hedge(&mut self, context: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge>;

    /// Returns the outcome of an attempt that was cut or could not be made: [`ControlFlow::Continue`] with the outcome of the attempt, or
    /// [`ControlFlow::Break`] with the outcome of the operation, whose time is over. `None` if nothing can be cut.
    fn cut(&mut self, cut: L::Cut, last: &mut impl KeptOutcome<R>) -> Option<ControlFlow<R, R>>;

    /// Lets the policy evaluate an outcome.
    fn evaluate(&mut self, outcome: &Outcome<R>) -> RetryDirective;

    /// Settles an outcome. There is no directive if the time is over.
    fn settle(
        &mut self,
        directive: Option<RetryDirective>,
        outcome: &Outcome<R>,
        last: &impl KeptOutcome<R>,
    ) -> Decision;
}

/// A call and its operation.
pub(crate) type Parts<'a, S, T, L, O> =
    (Call<'a, S, &'a T, <O as OptionalObserver>::Ref<'a>>, &'a mut StateOf<S, L, O>);

/// Permits a hedge if the policy says that the operation may be executed twice.
pub(crate) fn permit<R>(policy: &impl RetryPolicy<R>) -> Result<(), NoHedge> {
    match policy.is_idempotent() {
        Some(true) => Ok(()),
        Some(false) => Err(NoHedge::NotIdempotent),
        None => Err(NoHedge::IdempotencyUnknown),
    }
}
