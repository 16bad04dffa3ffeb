//! Operations with a hedge.

use super::by_hand::{ByHand, Keeping};
use super::{Ended, Limits, Operation, Stage};
use crate::hedge::Hedge;
use crate::observe::{Event, NoHedge};
use crate::operation::hedging::{self, Form, OtherToken, Parts, permit};
use crate::operation::{
    AttemptContext, Decision, End, OptionalObserver, Outcome as Explored, ReleaseGuard, RunningLimits, explored,
    textual,
};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::{Failure, RetryStrategy};
use crate::support::KeptOutcome;
use crate::time::{TimeLimit, TimedOut, Timer};
use std::ops::ControlFlow;
use std::task::Context;

/// The attempts of an operation with a hedge, which [`Operation::race`] drives.
pub trait HedgedAttempts {
    /// The outcome of an attempt.
    type Outcome;

    /// The policy, which evaluates outcomes.
    type Policy: RetryPolicy<Self::Outcome>;

    /// Returns the policy.
    fn policy(&self) -> &Self::Policy;

    /// What permits a hedge, such as a service that is ready for it; `()` if nothing is needed.
    type Permit;

    /// Permits a hedge, or says why there is none. Called at the end of the hedge's delay, in the task of this context, if the policy
    /// says that the operation [may be executed twice](RetryPolicy::is_idempotent). If the hedge can't be bought, the permit is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the hedge can't be sent immediately: [`NoHedge::NotRepeatable`] or [`NoHedge::NotReady`].
    fn permit_hedge(&mut self, context: &mut Context<'_>) -> Result<Self::Permit, NoHedge>;

    /// Prepares the next attempt before its time begins, for example by cloning the request. The attempt is the hedge if there is a permit.
    /// Until it is made, [`is_sent`](HedgedAttempts::is_sent) returns `false`.
    fn prepare(&mut self, permit: Option<Self::Permit>);

    /// Returns the future of the attempt that was prepared. `context` returns its [context](AttemptContext).
    fn attempt(&mut self, context: &dyn Fn() -> AttemptContext) -> impl Future<Output = Self::Outcome> + use<Self>;

    /// Returns whether the attempt that was made last was sent; see [`Operation::sent`]. Before the first attempt, it was not.
    fn is_sent(&self) -> bool;

    /// Returns whether the request can be sent again; see [`Operation::not_repeatable`]. The default is yes.
    fn is_repeatable(&self) -> bool {
        true
    }

    /// Returns the outcome of an attempt that was cut, or of an operation whose time was over before its first attempt. Only the
    /// attempts of an operation without time limits and without a [`Stop`](crate::Stop) may return `None`.
    fn timed_out(&mut self, timed_out: TimedOut) -> Option<Self::Outcome>;

    /// Called after each failure, with the outcome and the event that [`Operation::take_failure`] describes, and only after
    /// [`with_failures`](super::OperationBuilder::with_failures). `Break` ends the operation with this outcome in place of the retry. If
    /// both attempts of a race fail, they are one failure. The default does nothing.
    fn on_retry(&mut self, outcome: &Self::Outcome, event: &Event) -> ControlFlow<()> {
        let _ = (outcome, event);
        ControlFlow::Continue(())
    }
}

impl<S: RetryStrategy, C: Timer, O: OptionalObserver> Operation<S, C, O> {
    /// Drives the operation to its end, with a hedge beside its first attempt; see [`Retry::hedge`](crate::Retry::hedge). Returns the last
    /// outcome, and how the operation ended.
    ///
    /// Call this on an operation that has just begun. If the future is dropped, the token of an attempt that was not
    /// [sent](HedgedAttempts::is_sent) is released.
    pub async fn race<A: HedgedAttempts>(self, hedge: &'static Hedge, attempts: &mut A) -> (A::Outcome, Ended) {
        let mut hedged = HedgedOperation { operation: self, attempts, permit: None, timed_out: None };
        let attempt = |hedged: &mut HedgedOperation<'_, S, C, O, A>, number, time_left| {
            let HedgedOperation { operation, attempts, .. } = hedged;
            attempts.attempt(&|| operation.context_of(number, time_left))
        };
        let End { outcome, attempts, waited, reason } = hedging::drive(&mut hedged, &mut None, hedge, attempt).await;
        let (elapsed, timed_out) = (hedged.operation.elapsed(), hedged.timed_out);
        (outcome, Ended { attempts, reason, elapsed, waited, timed_out, supersedes_last: false })
    }
}

/// An operation with a hedge, which a race drives.
struct HedgedOperation<'a, S: RetryStrategy, C: Timer, O: OptionalObserver, A: HedgedAttempts> {
    operation: Operation<S, C, O>,
    attempts: &'a mut A,
    /// The permit of a hedge that was bought.
    permit: Option<A::Permit>,
    /// The limit that has ended the operation.
    timed_out: Option<TimedOut>,
}

impl<S: RetryStrategy, C: Timer, O: OptionalObserver, A: HedgedAttempts> HedgedOperation<'_, S, C, O, A> {
    fn driver(&self) -> ByHand {
        ByHand { was_sent: self.attempts.is_sent(), is_repeatable: self.attempts.is_repeatable() }
    }
}

impl<S: RetryStrategy, C: Timer, O: OptionalObserver, A: HedgedAttempts> Drop for HedgedOperation<'_, S, C, O, A> {
    fn drop(&mut self) {
        let ByHand { was_sent: is_sent, is_repeatable } = self.driver();
        self.operation.stage = Stage::Attempt { cut: None, is_sent, is_repeatable };
    }
}

impl<S: RetryStrategy, C: Timer, O: OptionalObserver, A: HedgedAttempts> Form<S, C, Limits, O, A::Outcome>
    for HedgedOperation<'_, S, C, O, A>
{
    fn parts(&mut self) -> Parts<'_, S, C, Limits, O> {
        (self.operation.surroundings.call(), &mut self.operation.state)
    }

    fn prepare(&mut self) {
        self.attempts.prepare(self.permit.take());
    }

    fn buy_hedge(&mut self, context: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge> {
        permit(self.attempts.policy())?;
        let permit = self.attempts.permit_hedge(context)?;
        let Operation { state, surroundings, .. } = &mut self.operation;
        let bought = surroundings.call().buy_hedge(state, surroundings.weight)?;
        self.permit = Some(permit);
        Ok(bought)
    }

    fn cut(
        &mut self,
        cut: TimedOut,
        last: &mut impl KeptOutcome<A::Outcome>,
    ) -> Option<ControlFlow<A::Outcome, A::Outcome>> {
        if cut.limit() == TimeLimit::Attempt {
            return self.attempts.timed_out(cut).map(ControlFlow::Continue);
        }
        let cut = if self.attempts.is_sent() { cut } else { cut.before_attempt() };
        self.timed_out = Some(cut);
        let last = last.take().filter(|_| !self.operation.state.limits.supersedes_last(cut));
        last.or_else(|| self.attempts.timed_out(cut)).map(ControlFlow::Break)
    }

    fn evaluate(&mut self, outcome: &Explored<A::Outcome>) -> RetryDirective {
        let Operation { state, surroundings, .. } = &mut self.operation;
        let directive = surroundings.call().evaluate_only(state, self.attempts.policy(), outcome);
        if self.attempts.is_sent() && directive.has_progressed() {
            surroundings.call().record_progress(state);
        }
        directive
    }

    fn settle(
        &mut self,
        directive: Option<RetryDirective>,
        outcome: &Explored<A::Outcome>,
        _: &impl KeptOutcome<A::Outcome>,
    ) -> Decision {
        let (attempt, beginning) = (self.driver(), self.operation.beginning());
        let Operation { state, surroundings, previous_failure, failure, .. } = &mut self.operation;
        *previous_failure = directive.map(Failure::from_directive).or(*previous_failure);
        let driver = textual(Keeping { attempt, beginning, failure }, self.attempts.policy(), outcome);
        let decision = state.settle_or_end(surroundings.call(), directive, || driver);
        let (Some(event), Some(outcome)) = (self.operation.take_failure(), explored::value(outcome)) else {
            return decision;
        };
        if let Decision::Stop { .. } = decision {
            let _ = self.attempts.on_retry(outcome, &event);
            return decision;
        }
        let Operation { state, surroundings, .. } = &mut self.operation;
        // A panic gives back what was paid for the retry.
        let guard = ReleaseGuard::new(&mut state.token, &surroundings.strategy);
        let flow = self.attempts.on_retry(outcome, &event);
        guard.disarm();
        if flow.is_break() { self.operation.given_up(false) } else { decision }
    }
}
