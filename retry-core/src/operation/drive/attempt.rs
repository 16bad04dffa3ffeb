//! Attempts that an exploration can let fail, and their outcomes.

use super::{Operation, Settled, Stage};
use crate::operation::explored::{self, Place};
use crate::operation::{OptionalObserver, Outcome as Explored, text_of};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::Clock;
use std::task::Poll;

/// An attempt that runs. [`Operation::attempt`] creates it. It borrows nothing.
///
/// `retry_core::test::explore` can let it fail, before it is sent, while it waits, or after it has succeeded.
#[derive(Debug)]
pub struct Running(explored::Running);

impl Running {
    /// Polls the attempt: calls the function, which polls its future, unless an exploration lets the attempt fail. Operations that begin
    /// meanwhile on this thread are nested in this one.
    #[inline]
    pub fn poll<R>(&mut self, attempt: impl FnOnce() -> Poll<R>) -> Poll<Outcome<R>> {
        self.0.poll(attempt).map(Outcome)
    }
}

/// The outcome of an attempt, or the failure that an exploration has put in its place. Without an exploration, it is always what the
/// attempt returned.
#[derive(Debug)]
pub struct Outcome<R>(Explored<R>);

impl<R> Outcome<R> {
    /// Creates the outcome of an attempt that [`Running`] does not poll, such as one that was [cut](Operation::cut), or one of an event
    /// loop. An exploration can't let it fail.
    #[inline]
    pub fn new(outcome: R) -> Self {
        Self(explored::ran(outcome))
    }

    /// Returns the outcome if another attempt follows. The driver keeps it, and returns it if the operation stops before that
    /// attempt. It is `None` only after a failure of an exploration for which the policy has no outcome.
    #[inline]
    pub fn kept(self) -> Option<R> {
        explored::kept(self.0)
    }

    /// Returns the outcome of the operation.
    #[inline]
    pub fn last(self) -> R {
        explored::last(self.0)
    }
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> Operation<S, C, O> {
    /// Returns the attempt, which [`Running::poll`] polls.
    #[inline]
    pub fn attempt(&self) -> Running {
        Running(explored::Running::new(Place::of(&self.state)))
    }

    /// Returns the directive of the policy for an outcome, for [`settle`](Operation::settle). Reports what the attempt
    /// [used](Operation::used) of a limit on weights, warns about the first error that the policy does not know, and remembers whether
    /// an attempt must not be carried out twice, for [`Ended::last_or`](super::Ended::last_or). Without an attempt, it only asks the policy.
    #[inline]
    pub fn evaluate<R>(&mut self, policy: &(impl RetryPolicy<R> + ?Sized), outcome: &Outcome<R>) -> RetryDirective {
        let Outcome(outcome) = outcome;
        if !matches!(self.stage, Stage::Attempt { .. }) {
            return explored::evaluated(
                outcome,
                |outcome| policy.evaluate(outcome),
                |failure| policy.__no_answer(failure),
            );
        }
        let directive = self.surroundings.call().evaluate_only(&mut self.state, policy, outcome);
        let is_first = self.previous_failure.is_none();
        self.lacks_outcome = (is_first || self.lacks_outcome) && explored::value(outcome).is_none();
        directive
    }

    /// Settles the outcome of the attempt as [`settle`](Operation::settle) does. If the operation gives up, its event in `tracing` also has the
    /// texts of the error that the policy knows; see [`observe`](crate::observe).
    pub fn settle_outcome<R>(
        &mut self,
        directive: RetryDirective,
        policy: &(impl RetryPolicy<R> + ?Sized),
        outcome: &Outcome<R>,
    ) -> Settled {
        let Outcome(outcome) = outcome;
        self.settle_as(directive, || text_of(policy, outcome))
    }
}
