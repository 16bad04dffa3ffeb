//! A call with a hedge, which is a second attempt beside the first one: the driver, the purchase of the hedge, and both attempts.

use super::explored::Outcome;
use super::race::Race;
use super::release::{ReleaseGuard, TokenState};
use super::settle::Decision;
use super::timed_attempt::AttemptSleep;
use super::warned::Warned;
use super::{Call, Deadline, End, OptionalObserver, RunningLimits, State, StateOf};
use crate::hedge::{Hedge, LittleHelp};
use crate::limit::Ready;
use crate::observe::trace::{self, Level};
use crate::observe::{EventKind, NoHedge};
use crate::policy::{RetryDirective, RetryErrorType, RetryPolicy};
use crate::strategy::{self, RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, Timer};
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

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

/// Permits a hedge unless the policy says that the operation may not be executed twice.
pub(crate) fn permit<R>(policy: &impl RetryPolicy<R>) -> Result<(), NoHedge> {
    if policy.is_idempotent() == Some(false) { Err(NoHedge::NotIdempotent) } else { Ok(()) }
}

/// Runs an operation with a hedge. `attempt` returns the future of the attempt with this number and this time limit.
///
/// The attribute writes the same loop into the function: a future that evaluates its outcomes would hold what its options name, and be
/// `Send` only if that is `Sync`.
#[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
pub(crate) fn drive<S, T, L, O, F, H>(
    form: &mut H,
    last: &mut impl KeptOutcome<F::Output>,
    hedge: &'static Hedge,
    mut attempt: impl FnMut(&mut H, u32, Option<Duration>) -> F,
) -> impl Future<Output = End<F::Output>>
where
    S: RetryStrategy,
    T: Timer,
    L: RunningLimits,
    O: OptionalObserver,
    F: Future,
    H: Form<S, T, L, O, F::Output>,
{
    async move {
        let (bodies, sleeps, due) = ([pin!(None), pin!(None)], [pin!(None), pin!(None)], pin!(None));
        let mut race = Race::new(form.parts().1, hedge, bodies, sleeps, due);
        loop {
            if race.is_attempt_due() {
                while !race.is_hedge() {
                    let (call, operation) = form.parts();
                    let Some(wait) = call.wait(operation) else { break };
                    wait.await;
                }
                if !race.unrecovered(form.parts().1, last) {
                    form.prepare();
                    let (call, operation) = form.parts();
                    race.begin(call.deadline(operation));
                }
                let (_, operation) = form.parts();
                let (number, time_left) = (operation.attempts(), operation.time_left());
                race.start(|| attempt(form, number, time_left));
            }
            let raced = (&mut race).await;
            if let Some(end) = race.proceed(form, last, raced) {
                return end;
            }
        }
    }
}

/// The attempts of an operation that has a hedge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The first attempt.
    First,
    /// The hedge.
    Hedge,
}

/// The token of the attempt that the operation does not deal with at present.
///
/// While two attempts run, the operation holds the token of one of them. So each step that deals with an attempt, with its time limit,
/// its usage and its end, is the same as without a hedge.
#[derive(Debug)]
pub(crate) struct OtherToken<K> {
    held: Lane,
    token: TokenState<K>,
}

impl<K: RetryToken, L: RunningLimits, N> State<K, L, N> {
    /// Makes the token of the first attempt, if it was not made yet.
    #[inline]
    fn make_token<S: RetryStrategy<Token = K>>(&mut self, strategy: &S, clock: &dyn Clock) {
        if std::mem::take(&mut self.is_unmade) {
            self.token = strategy.empty_token(clock).map_or(TokenState::Refused, TokenState::Held);
        }
    }

    /// Makes the operation hold the token of this attempt, if there are two.
    pub(super) fn turn_to(&mut self, lane: Lane, other: &mut Option<OtherToken<K>>) {
        if let Some(other) = other
            && other.held != lane
        {
            std::mem::swap(&mut self.token, &mut other.token);
            other.held = lane;
        }
    }
}

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Buys a hedge of this weight, if the strategy does not know it, and asks for its permission to be sent, which must be there
    /// immediately. Then the operation holds its token, and the token of the first attempt is returned.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no hedge. What was paid is given back.
    #[cold]
    pub(crate) fn buy_hedge<L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        weight: Option<u32>,
    ) -> Result<OtherToken<S::Token>, NoHedge> {
        if !strategy::retries_enabled() {
            return Err(NoHedge::Disabled);
        }
        if operation.is_stopped() {
            return Err(NoHedge::Stopped);
        }
        if operation.limits.allows_no_more_than(operation.attempts()) {
            return Err(NoHedge::MaxAttempts);
        }
        operation.make_token(self.strategy, &self.clock());
        let TokenState::Held(first) = &operation.token else { return Err(NoHedge::NotSold) };
        let mut hedge = TokenState::Held(self.strategy.acquire_hedge(first, &self.clock()).map_err(NoHedge::of)?);
        let guard = ReleaseGuard::new(&mut hedge, self.strategy);
        if let TokenState::Held(token) = &mut *guard.token {
            if let Some(weight) = weight {
                self.strategy.weigh(token, weight);
            }
            if self.strategy.ready(token, &self.clock(), None) != Ready::Now {
                return Err(NoHedge::Limited);
            }
        }
        if operation.limits.remaining(&self.timer()).is_some_and(|left| left.is_zero()) {
            return Err(NoHedge::MaxTime);
        }
        let attempt = guard.token.attempts();
        operation.record.attempted(attempt);
        self.tell(&operation.observed, Level::Debug, attempt, || EventKind::HedgeSent);
        self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted);
        guard.disarm();
        let first = std::mem::replace(&mut operation.token, hedge);
        Ok(OtherToken { held: Lane::Hedge, token: first })
    }
}

/// The functions whose strategy sells no hedges, about which there was a warning.
static WARNED: Warned = Warned::new();

/// The functions whose hedges do little, about which there was a warning.
static DO_LITTLE: Warned = Warned::new();

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Reports that there is no hedge. If the strategy sells none, the first report of a function is a warning.
    #[cold]
    pub(super) fn tell_not_sent<L: RunningLimits>(self, operation: &StateOf<S, L, O>, hedge: &Hedge, reason: NoHedge) {
        // These reasons pass.
        if !matches!(reason, NoHedge::AllSlow | NoHedge::WarmingUp | NoHedge::Disabled | NoHedge::Stopped) {
            self.note(hedge, None);
        }
        let warns = reason == NoHedge::NotSold
            && matches!(operation.token, TokenState::Held(_))
            && Self::is_warning_wanted(&operation.observed)
            && WARNED.is_first(self.name().get());
        let level = if warns { Level::Warn } else { Level::Debug };
        self.tell(&operation.observed, level, operation.attempts(), || EventKind::HedgeNotSent { reason });
    }

    /// Reports the end of a race, whose hedge began at this time.
    #[cold]
    pub(super) fn tell_hedge_ended<L: RunningLimits>(
        self,
        operation: &StateOf<S, L, O>,
        (hedge, began): (&Hedge, Duration),
        attempt: u32,
        won: bool,
    ) {
        self.tell(&operation.observed, Level::Debug, attempt, || EventKind::HedgeEnded { won });
        hedge.ended(won);
        let time = self.now().since_origin().saturating_sub(began);
        self.note(hedge, won.then_some(time));
    }

    /// Records the result of a call that reached the delay. If hedges do little, the first such finding of a function is a warning.
    fn note(self, hedge: &Hedge, won_after: Option<Duration>) {
        if let Some(LittleHelp { helped, calls, delay }) = hedge.note(won_after)
            && trace::is_warning_wanted()
            && DO_LITTLE.is_first(self.name().get())
        {
            trace::warn_of_hedges(self.name().get(), self.strategy.name().as_ref(), (helped, calls), delay);
        }
    }
}

/// One of the attempts of a race, which may run or not. It is pinned in the driver, so it is not allocated.
#[derive(Debug)]
pub(super) struct Runner<'a, F, Z, C> {
    body: Pin<&'a mut Option<F>>,
    sleep: Pin<&'a mut Option<Z>>,
    deadline: Deadline<C>,
}

impl<'a, F: Future, Z: AttemptSleep<C>, C: Copy + Unpin> Runner<'a, F, Z, C> {
    /// Creates a runner of an attempt that does not run yet.
    pub(super) fn new(body: Pin<&'a mut Option<F>>, sleep: Pin<&'a mut Option<Z>>) -> Self {
        Self { body, sleep, deadline: Deadline::Never }
    }

    /// Begins the time of an attempt.
    #[inline]
    pub(super) fn begin(&mut self, (deadline, sleep): (Deadline<C>, Option<Z>)) {
        self.deadline = deadline;
        self.sleep.set(sleep);
    }

    /// Starts the attempt that `make` makes. If its time is over already, `make` is not called.
    #[inline]
    pub(super) fn start(&mut self, make: impl FnOnce() -> F) {
        if self.deadline.over().is_none() {
            self.body.set(Some(make()));
        }
    }

    /// Drops the attempt, if it runs.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.deadline = Deadline::Never;
        self.body.set(None);
        self.sleep.set(None);
    }

    /// Returns whether the attempt runs.
    pub(super) fn is_running(&self) -> bool {
        self.body.is_some()
    }

    /// Polls the body of the attempt, if it runs, and drops the attempt when it has ended.
    #[inline]
    pub(super) fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(body) = self.body.as_mut().as_pin_mut() else { return Poll::Pending };
        let outcome = ready!(body.poll(context));
        self.stop();
        Poll::Ready(outcome)
    }

    /// Polls the time limit of the attempt, if it runs or could not begin, and drops the attempt when its time is over. Without a
    /// sleep, no time was left, and its body was polled once.
    #[inline]
    pub(super) fn poll_limit(&mut self, context: &mut Context<'_>) -> Poll<C> {
        if let Some(cut) = self.deadline.over() {
            return Poll::Ready(cut);
        }
        if let Some(sleep) = self.sleep.as_mut().as_pin_mut()
            && let Some(cut) = ready!(sleep.poll_cut(context))
        {
            self.stop();
            return Poll::Ready(cut);
        }
        let Deadline::Sleep(cut) = self.deadline else { return Poll::Pending };
        self.stop();
        Poll::Ready(cut)
    }
}

/// Returns the judgement on two attempts that failed, both worth a retry: the worse class, and the longer wait.
pub(super) fn worse(first: RetryDirective, second: RetryDirective) -> RetryDirective {
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
