//! The race of the first attempt of an operation and its hedge.

use super::explored::{self, Outcome, Place};
use super::hedge::{Lane, OtherToken, Runner, worse};
use super::{Call, Deadline, End, LimitsOn, Operation, OperationOf, OptionalObserver, TimeLimits};
use crate::hedge::{Due, Hedge};
use crate::observe::NoHedge;
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::mem;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The attempts of an operation with a hedge, and what they have left behind.
///
/// A driver awaits it, and passes what happened to `Call::step`. It borrows neither the timer nor the strategy, so that no
/// reference to them is kept across an await.
#[derive(Debug)]
pub struct Race<'a, F: Future, Z, D, K, C> {
    hedge: &'a Hedge,
    first: Runner<'a, F, Z, C>,
    second: Runner<'a, F, Z, C>,
    /// The sleep until the hedge.
    due: Pin<&'a mut Option<D>>,
    /// Whether there can be a hedge.
    is_open: bool,
    /// The time until the hedge, from the first poll on.
    delay: Duration,
    /// Whether the first attempt and its time limit were polled already in the present poll of the call. Then they are not polled
    /// again in it, so a hedge that was just bought is polled before the first attempt can win.
    is_polled: bool,
    /// The attempt that ended last.
    lane: Lane,
    /// The other token, if there is a hedge.
    other: Option<OtherToken<K>>,
    /// The outcome of the attempt that ended last. It stays here until it is settled, so that it is not copied on the way.
    outcome: Option<Outcome<F::Output>>,
    /// The failure of the attempt that ended first, which was worth a retry.
    failed: Option<(Outcome<F::Output>, RetryDirective)>,
    was_sent: bool,
    place: Place,
}

/// The race of an operation of a call with this strategy, these limits and this timer.
pub(crate) type RaceOf<'a, F, S, L, T> = Race<
    'a,
    F,
    <L as TimeLimits>::Sleep<<T as Timer>::Sleep>,
    <T as Timer>::Sleep,
    <S as RetryStrategy>::Token,
    <L as TimeLimits>::Cut,
>;

/// What happens first while attempts run.
#[derive(Debug)]
pub struct Raced<C>(Happened<C>);

impl<C> Raced<C> {
    /// Returns whether the delay before the hedge is over.
    #[cfg(feature = "tower")]
    pub(crate) const fn is_due(&self) -> bool {
        matches!(self.0, Happened::Due)
    }
}

#[derive(Debug)]
enum Happened<C> {
    /// The first attempt has no answer yet, so the delay of the hedge begins.
    Waits,
    /// The delay before the hedge is over.
    Due,
    /// An attempt ended.
    Ended(Lane),
    /// A time limit cut an attempt.
    Cut(Lane, C),
}

/// Permits a hedge unless the policy says that the operation may not be executed twice.
pub(crate) fn permit<R>(policy: &impl RetryPolicy<R>) -> Result<(), NoHedge> {
    if policy.is_idempotent() == Some(false) { Err(NoHedge::NotIdempotent) } else { Ok(()) }
}

/// The next step of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Await the race again.
    Wait,
    /// Start the hedge.
    Hedge,
    /// Let the policy evaluate the outcome of an attempt, and pass the directive to `Call::ended`.
    Ended,
    /// The time is over. Settle the last outcome without a directive.
    Over,
}

// Nothing in it is pinned: the futures are elsewhere.
impl<F: Future, Z, D, K, C> Unpin for Race<'_, F, Z, D, K, C> {}

impl<F: Future, Z: Future<Output = ()>, D: Future<Output = ()>, K, C: Copy + Unpin> Future for Race<'_, F, Z, D, K, C> {
    type Output = Raced<C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let _entered = this.place.enter();
        if !this.is_polled
            && let Poll::Ready(outcome) = this.first.poll_body(context)
        {
            return Poll::Ready(Raced(this.keep(Lane::First, outcome)));
        }
        this.poll_others(context).map(Raced)
    }
}

impl<F: Future, Z: Future<Output = ()>, D: Future<Output = ()>, K, C: Copy + Unpin> Race<'_, F, Z, D, K, C> {
    /// Keeps the outcome of an attempt.
    #[inline]
    fn keep(&mut self, lane: Lane, outcome: F::Output) -> Happened<C> {
        self.outcome = Some(explored::ran(outcome));
        Happened::Ended(lane)
    }

    /// Polls the hedge, the time limits of both attempts, and the sleep until there is a hedge.
    ///
    /// Both bodies are polled before a time limit: an outcome that is ready when the time is up is used.
    #[inline(never)]
    fn poll_others(&mut self, context: &mut Context<'_>) -> Poll<Happened<C>> {
        let is_polled = mem::take(&mut self.is_polled);
        if let Poll::Ready(outcome) = self.second.poll_body(context) {
            return Poll::Ready(self.keep(Lane::Hedge, outcome));
        }
        if !is_polled && let Poll::Ready(cut) = self.first.poll_limit(context) {
            return Poll::Ready(Happened::Cut(Lane::First, cut));
        }
        if let Poll::Ready(cut) = self.second.poll_limit(context) {
            return Poll::Ready(Happened::Cut(Lane::Hedge, cut));
        }
        match self.due.as_mut().as_pin_mut() {
            Some(due) => due.poll(context).map(|()| Happened::Due),
            None if self.is_open => Poll::Ready(Happened::Waits),
            None => Poll::Pending,
        }
    }
}

impl<'a, F: Future, Z: Future<Output = ()>, D: Future<Output = ()>, K: RetryToken, C: Copy + Unpin>
    Race<'a, F, Z, D, K, C>
{
    /// Creates a race without attempts.
    #[inline]
    pub(crate) fn new<L: TimeLimits, N>(
        operation: &Operation<K, L, N>,
        hedge: &'a Hedge,
        [first, second]: [Pin<&'a mut Option<F>>; 2],
        [first_sleep, second_sleep]: [Pin<&'a mut Option<Z>>; 2],
        due: Pin<&'a mut Option<D>>,
    ) -> Self {
        Self {
            hedge,
            first: Runner::new(first, first_sleep),
            second: Runner::new(second, second_sleep),
            due,
            is_open: Hedge::is_allowed(),
            delay: Duration::default(),
            is_polled: false,
            lane: Lane::First,
            other: None,
            outcome: None,
            failed: None,
            was_sent: false,
            place: Place::of_race(operation),
        }
    }

    /// Returns whether the next attempt is the hedge, which is paid for and permitted already.
    #[inline]
    pub fn is_hedge(&self) -> bool {
        self.other.is_some()
    }

    /// Returns the outcome of the attempt that ended last, until it is taken.
    #[inline]
    pub fn outcome(&self) -> Option<&Outcome<F::Output>> {
        self.outcome.as_ref()
    }

    /// Takes the outcome that the operation settles.
    #[inline]
    pub fn take(&mut self) -> Option<Outcome<F::Output>> {
        self.outcome.take()
    }

    /// Takes the last outcome of an operation that waited for the service without success, so that no attempt follows. Returns whether it did.
    #[inline]
    pub fn unrecovered<L: TimeLimits, N>(
        &mut self,
        operation: &Operation<K, L, N>,
        last: &mut impl KeptOutcome<F::Output>,
    ) -> bool {
        let Some(outcome) = operation.unrecovered(last) else { return false };
        self.outcome = Some(outcome);
        true
    }

    /// Starts the next attempt. If its time is over already, `make` is not called.
    #[inline]
    pub(crate) fn start(&mut self, deadline: Deadline<C>, sleep: Option<Z>, make: impl FnOnce() -> F) {
        let runner = if self.is_hedge() { &mut self.second } else { &mut self.first };
        runner.start(deadline, sleep, make);
    }

    /// Drops the attempts that still run. Retries have no hedge.
    ///
    /// The loser is dropped before the strategy learns of the end, and so is its token. It is not released, because the
    /// server worked for it.
    #[inline]
    fn stop(&mut self) {
        self.due.set(None);
        self.first.stop();
        self.second.stop();
        (self.other, self.failed, self.is_open) = (None, None, false);
    }

    /// Adds the hedge to the attempts of an operation that has ended.
    #[inline]
    pub(crate) fn count<R>(&self, end: &mut End<R>) {
        if self.was_sent {
            end.attempts = end.attempts.max(2);
        }
    }
}

impl<S: RetryStrategy, T: Timer + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Deals with what happened in a race, and returns the next step. `permit` says whether the driver permits a hedge.
    #[inline]
    pub(crate) fn step<F: Future, L: LimitsOn<F::Output>>(
        self,
        operation: &mut OperationOf<S, L, O>,
        race: &mut RaceOf<'_, F, S, L, T>,
        last: &mut impl KeptOutcome<F::Output>,
        Raced(happened): Raced<L::Cut>,
        permit: impl FnOnce() -> Result<(), NoHedge>,
    ) -> Step {
        match happened {
            Happened::Ended(lane) => {
                race.lane = lane;
                operation.turn_to(lane, &mut race.other);
                Step::Ended
            }
            Happened::Cut(lane, cut) => {
                race.lane = lane;
                operation.turn_to(lane, &mut race.other);
                self.cut_in_race(operation, race, last, cut)
            }
            Happened::Waits => {
                race.delay = race.hedge.delay();
                race.due.set(Some(self.timer().sleep(race.delay)));
                race.is_polled = true;
                Step::Wait
            }
            Happened::Due => self.due(operation, race, permit),
        }
    }

    /// Decides on the end of an attempt. Returns what the operation settles, or `None` if it waits for the other attempt.
    #[inline]
    pub(crate) fn ended<F: Future, L: LimitsOn<F::Output>>(
        self,
        operation: &mut OperationOf<S, L, O>,
        race: &mut RaceOf<'_, F, S, L, T>,
        directive: RetryDirective,
    ) -> Option<RetryDirective> {
        if race.other.is_some() {
            return self.ended_of_two(operation, race, directive);
        }
        // The attempt has ended, so there is nothing else to stop.
        race.due.set(None);
        if mem::take(&mut race.is_open) && matches!(directive, RetryDirective::Succeed { .. }) {
            race.hedge.answered();
        }
        Some(directive)
    }

    #[cold]
    fn ended_of_two<F: Future, L: LimitsOn<F::Output>>(
        self,
        operation: &mut OperationOf<S, L, O>,
        race: &mut RaceOf<'_, F, S, L, T>,
        directive: RetryDirective,
    ) -> Option<RetryDirective> {
        let other_runs = match race.lane {
            Lane::First => race.second.is_running(),
            Lane::Hedge => race.first.is_running(),
        };
        let directive = match directive {
            RetryDirective::Succeed { .. } => directive,
            RetryDirective::Fail { .. } if race.lane == Lane::First => directive,
            RetryDirective::Fail { .. } => {
                race.outcome = None;
                let (outcome, directive) = race.failed.take()?;
                race.outcome = Some(outcome);
                directive
            }
            RetryDirective::Retry { .. } if other_runs => {
                race.failed = race.outcome.take().map(|outcome| (outcome, directive));
                return None;
            }
            RetryDirective::Retry { .. } => {
                race.failed.as_ref().map_or(directive, |(_, other)| worse(*other, directive))
            }
        };
        let succeeded = matches!(directive, RetryDirective::Succeed { .. });
        self.end_race(operation, race, succeeded);
        Some(directive)
    }

    /// Ends a race of two attempts. The operation continues with the token of the attempt that succeeded, or else with that of the
    /// hedge.
    fn end_race<F: Future, L: LimitsOn<F::Output>>(
        self,
        operation: &mut OperationOf<S, L, O>,
        race: &mut RaceOf<'_, F, S, L, T>,
        succeeded: bool,
    ) {
        let won = succeeded && race.lane == Lane::Hedge;
        operation.turn_to(Lane::Hedge, &mut race.other);
        let hedge = operation.attempts();
        if succeeded {
            operation.turn_to(race.lane, &mut race.other);
        }
        race.stop();
        self.tell_hedge_ended(operation, hedge, won);
    }

    #[cold]
    fn cut_in_race<F: Future, L: LimitsOn<F::Output>>(
        self,
        operation: &mut OperationOf<S, L, O>,
        race: &mut RaceOf<'_, F, S, L, T>,
        last: &mut impl KeptOutcome<F::Output>,
        cut: L::Cut,
    ) -> Step {
        match OperationOf::<S, L, O>::cut(cut, last) {
            ControlFlow::Continue(outcome) => {
                race.outcome = Some(explored::ran(outcome));
                Step::Ended
            }
            ControlFlow::Break(outcome) => {
                race.outcome = Some(race.failed.take().map_or_else(|| explored::ran(outcome), |(failed, _)| failed));
                if race.is_hedge() {
                    self.end_race(operation, race, false);
                } else {
                    race.stop();
                }
                Step::Over
            }
        }
    }

    /// Buys the hedge at the end of the delay if the driver permits it, or waits for the rest of a delay that has grown since.
    #[cold]
    fn due<F: Future, L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        race: &mut RaceOf<'_, F, S, L, T>,
        permit: impl FnOnce() -> Result<(), NoHedge>,
    ) -> Step {
        let waited = race.delay;
        race.due.set(None);
        (race.is_open, race.is_polled) = (false, true);
        match race.hedge.reached(waited) {
            Due::Later(rest) => {
                race.is_open = true;
                race.delay = waited.saturating_add(rest);
                race.due.set(Some(self.timer().sleep(rest)));
            }
            Due::AllSlow => self.tell_not_sent(operation, NoHedge::AllSlow),
            Due::Now => match permit().and_then(|()| self.buy_hedge(operation)) {
                Ok(other) => race.other = Some(other),
                Err(reason) => self.tell_not_sent(operation, reason),
            },
        }
        race.was_sent = race.is_hedge();
        if race.was_sent { Step::Hedge } else { Step::Wait }
    }
}
