//! What follows when an attempt of a race ends, or when its hedge is due.

use super::{Happened, Plan, Race, Raced};
use crate::hedge::Due;
use crate::observe::NoHedge;
use crate::operation::hedging::form::Form;
use crate::operation::hedging::tokens::Lane;
use crate::operation::{AttemptSleep, End, OptionalObserver, RunningLimits, explored};
use crate::policy::{RetryDirective, RetryErrorType};
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::mem;
use std::ops::ControlFlow;
use std::task::Context;
use std::time::Duration;

impl<F, Z, D, K, C> Race<'_, F, Z, D, K, C>
where
    F: Future,
    Z: AttemptSleep<C>,
    D: Future<Output = ()>,
    K: RetryToken,
    C: Copy + Unpin,
{
    /// Deals with what happened. Returns the end of the operation, if it has ended.
    #[inline]
    pub(crate) fn proceed<
        S: RetryStrategy<Token = K>,
        T: Timer<Sleep = D>,
        L: RunningLimits<Cut = C>,
        O: OptionalObserver,
    >(
        &mut self,
        form: &mut impl Form<S, T, L, O, F::Output>,
        last: &mut impl KeptOutcome<F::Output>,
        Raced(happened): Raced<C>,
    ) -> Option<End<F::Output>> {
        let directive = match happened {
            Happened::Ended(lane) => {
                self.switch_to(form, lane);
                form.parts().1.limits.note_cut(false);
                let directive = form.evaluate(self.outcome.as_ref()?);
                Some(self.ended(form, directive)?)
            }
            Happened::Unrecovered => None,
            Happened::Cut(lane, cut) => {
                self.switch_to(form, lane);
                form.parts().1.limits.note_cut(L::is_of_attempt(cut));
                match form.cut(cut, last)? {
                    ControlFlow::Continue(outcome) => {
                        let directive = form.evaluate(self.outcome.insert(explored::ran(outcome)));
                        Some(self.ended(form, directive)?)
                    }
                    ControlFlow::Break(outcome) => {
                        let failed = self.failed.take().map(|(failed, _)| failed);
                        self.outcome = Some(failed.unwrap_or_else(|| explored::ran(outcome)));
                        self.end(form, false);
                        None
                    }
                }
            }
            Happened::Waits => {
                let delay = self.hedge.delay();
                self.delay_hedge(delay, form.parts().0.timer().sleep(delay));
                return None;
            }
            Happened::Due(waker) => {
                self.due(form, &mut Context::from_waker(&waker));
                return None;
            }
        };
        let outcome = self.outcome.take()?;
        let decision = form.settle(directive, &outcome, last);
        let (call, operation) = form.parts();
        self.is_attempt_due = true;
        let mut end = operation.finish(call, decision, last, outcome).break_value();
        if let Some(end) = &mut end {
            end.attempts = end.attempts.max(self.attempts);
        }
        end
    }

    /// Begins the delay of the hedge, or the rest of it.
    fn delay_hedge(&mut self, time: Duration, sleep: D) {
        self.delay = self.delay.saturating_add(time);
        self.due.set(Some(sleep));
        self.is_polled = true;
    }

    /// Buys the hedge at the end of the delay, or waits for the rest of a delay that has grown since, or longer because few hedges win.
    #[cold]
    fn due<S: RetryStrategy<Token = K>, T: Timer<Sleep = D>, L: RunningLimits, O: OptionalObserver>(
        &mut self,
        form: &mut impl Form<S, T, L, O, F::Output>,
        context: &mut Context<'_>,
    ) {
        self.due.set(None);
        self.is_polled = true;
        let due = match mem::take(&mut self.plan) {
            Plan::WaitsLonger => self.hedge.unanswered(),
            // Without a plan, there is no sleep that could end.
            Plan::Waits | Plan::None => self.hedge.reached(self.delay),
        };
        let bought = match due {
            Due::Later(rest) => {
                self.plan = Plan::Waits;
                return self.delay_hedge(rest, form.parts().0.timer().sleep(rest));
            }
            Due::AfterLonger(rest) => {
                self.plan = Plan::WaitsLonger;
                return self.delay_hedge(rest, form.parts().0.timer().sleep(rest));
            }
            Due::AllSlow => Err(NoHedge::AllSlow),
            Due::WarmingUp => Err(NoHedge::WarmingUp),
            Due::Now => form.buy_hedge(context),
        };
        match bought {
            Ok(other) => {
                (self.other, self.attempts, self.is_attempt_due) = (Some(other), 2, true);
                self.delay = form.parts().0.now().since_origin();
            }
            Err(reason) => {
                let (call, operation) = form.parts();
                call.tell_not_sent(operation, self.hedge, reason);
            }
        }
    }

    /// Makes the operation deal with this attempt.
    #[inline]
    fn switch_to<S: RetryStrategy<Token = K>, T: Timer<Sleep = D>, L: RunningLimits, O: OptionalObserver>(
        &mut self,
        form: &mut impl Form<S, T, L, O, F::Output>,
        lane: Lane,
    ) {
        self.lane = lane;
        form.parts().1.hold_token_of(lane, &mut self.other);
    }

    /// Decides on the end of an attempt. Returns what the operation settles, or `None` if it waits for the other attempt.
    #[inline]
    fn ended<S: RetryStrategy<Token = K>, T: Timer<Sleep = D>, L: RunningLimits, O: OptionalObserver>(
        &mut self,
        form: &mut impl Form<S, T, L, O, F::Output>,
        directive: RetryDirective,
    ) -> Option<RetryDirective> {
        if self.is_hedge() {
            let directive = self.ended_of_two(directive)?;
            self.end(form, matches!(directive, RetryDirective::Succeed { .. }));
            return Some(directive);
        }
        // The attempt has ended, so there is nothing else to stop.
        self.due.set(None);
        match mem::take(&mut self.plan) {
            Plan::Waits if matches!(directive, RetryDirective::Succeed { .. }) => self.hedge.answered(),
            Plan::WaitsLonger => self.ended_without(form, Some(directive)),
            Plan::Waits | Plan::None => {}
        }
        Some(directive)
    }

    /// Records and reports that the first attempt ended before a hedge that would have been sent late, with this directive if it was not
    /// ended by the operation.
    #[cold]
    fn ended_without<S: RetryStrategy<Token = K>, T: Timer<Sleep = D>, L: RunningLimits, O: OptionalObserver>(
        &self,
        form: &mut impl Form<S, T, L, O, F::Output>,
        directive: Option<RetryDirective>,
    ) {
        match directive {
            Some(RetryDirective::Succeed { .. }) => self.hedge.ended_without(true),
            // Its time limit was shorter than twice the delay, or that of a server or a proxy.
            Some(RetryDirective::Retry { error_type: RetryErrorType::Timeout, .. }) => self.hedge.ended_without(false),
            // Whether a hedge would have won is not known.
            _ => {}
        }
        let (call, operation) = form.parts();
        call.tell_not_sent(operation, self.hedge, NoHedge::FewWin);
    }

    #[cold]
    fn ended_of_two(&mut self, directive: RetryDirective) -> Option<RetryDirective> {
        let other_runs = match self.lane {
            Lane::First => self.second.is_running(),
            Lane::Hedge => self.first.is_running(),
        };
        match directive {
            RetryDirective::Succeed { .. } => Some(directive),
            RetryDirective::Fail { .. } if self.lane == Lane::First => Some(directive),
            RetryDirective::Fail { .. } => {
                self.outcome = None;
                let (outcome, directive) = self.failed.take()?;
                self.outcome = Some(outcome);
                Some(directive)
            }
            RetryDirective::Retry { .. } if other_runs => {
                self.failed = self.outcome.take().map(|outcome| (outcome, directive));
                None
            }
            RetryDirective::Retry { .. } => {
                Some(self.failed.as_ref().map_or(directive, |(_, other)| worse(*other, directive)))
            }
        }
    }

    /// Ends the race, and drops the attempts that still run. The operation continues with the token of the attempt that
    /// succeeded, or else with that of the hedge. Retries have no hedge.
    ///
    /// The loser is dropped before the strategy learns of the end, and so is its token. It is not released, because the
    /// server worked for it.
    #[cold]
    fn end<S: RetryStrategy<Token = K>, T: Timer<Sleep = D>, L: RunningLimits, O: OptionalObserver>(
        &mut self,
        form: &mut impl Form<S, T, L, O, F::Output>,
        succeeded: bool,
    ) {
        let (call, operation) = form.parts();
        operation.hold_token_of(Lane::Hedge, &mut self.other);
        let hedge = self.is_hedge().then(|| operation.attempts());
        if succeeded {
            operation.hold_token_of(self.lane, &mut self.other);
        }
        self.due.set(None);
        self.first.stop();
        self.second.stop();
        (self.other, self.failed) = (None, None);
        let plan = mem::take(&mut self.plan);
        if let Some(hedge) = hedge {
            let won = succeeded && self.lane == Lane::Hedge;
            call.tell_hedge_ended(operation, (self.hedge, self.delay), hedge, won);
        } else if plan == Plan::WaitsLonger {
            self.ended_without(form, None);
        }
    }
}

/// Returns the directive for two attempts that failed, both worth a retry: the worse class, and the longer wait.
fn worse(first: RetryDirective, second: RetryDirective) -> RetryDirective {
    // Congestion is worse than a fault, which is worse than a conflict.
    let severity = |error_type| {
        use RetryErrorType::{Conflict, Throttling, Timeout};
        (error_type == Throttling, error_type == Timeout, error_type != Conflict)
    };
    let (
        RetryDirective::Retry { error_type, retry_after, progressed },
        RetryDirective::Retry { error_type: other_type, retry_after: other_after, progressed: other_progressed },
    ) = (first, second)
    else {
        return second;
    };
    let worse = if severity(error_type) > severity(other_type) { error_type } else { other_type };
    RetryDirective::Retry {
        error_type: worse,
        retry_after: retry_after.max(other_after),
        progressed: progressed || other_progressed,
    }
}
