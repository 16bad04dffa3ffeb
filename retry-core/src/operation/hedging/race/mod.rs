//! The race of the first attempt of an operation and its hedge.

mod proceed;

use super::runner::Runner;
use super::tokens::{Lane, OtherToken};
use crate::hedge::Hedge;
use crate::operation::explored::{self, Outcome, Place};
use crate::operation::{AttemptSleep, Call, Deadline, OptionalObserver, RunningLimits, State, StateOf};
use crate::policy::RetryDirective;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The attempts of an operation with a hedge, and what they have left behind.
#[derive(Debug)]
pub struct Race<'a, F: Future, Z, D, K, C> {
    hedge: &'static Hedge,
    first: Runner<'a, F, Z, C>,
    second: Runner<'a, F, Z, C>,
    /// The sleep until the hedge.
    due: Pin<&'a mut Option<D>>,
    plan: Plan,
    /// The time until the hedge, from the first poll on. Once there is a hedge, the time at which it began, by the clock.
    delay: Duration,
    /// Whether the first attempt and its time limit were polled already in the present poll of the call. Then they are not polled
    /// again in it, so a hedge that was just bought is polled before the first attempt can win.
    is_polled: bool,
    /// Whether the next attempt starts before the race is polled again.
    is_attempt_due: bool,
    /// The attempt that ended last.
    lane: Lane,
    /// The other token, if there is a hedge.
    other: Option<OtherToken<K>>,
    /// The outcome of the attempt that ended last. It stays here until it is settled, so that it is not copied on the way.
    outcome: Option<Outcome<F::Output>>,
    /// The failure of the attempt that ended first, which was worth a retry.
    failed: Option<(Outcome<F::Output>, RetryDirective)>,
    /// The number of attempts that were made at least: 2 once there is a hedge.
    attempts: u32,
    /// The weight of the operation, if it is to be told for the hedge.
    weight: Option<u32>,
    place: Place,
}

/// The race of an operation with this strategy, these limits and this timer.
pub(crate) type RaceOf<'a, F, S, L, T> = Race<
    'a,
    F,
    <L as RunningLimits>::Sleep<<T as Timer>::Sleep>,
    <T as Timer>::Sleep,
    <S as RetryStrategy>::Token,
    <L as RunningLimits>::Cut,
>;

/// What happens first while attempts run.
#[derive(Debug)]
pub struct Raced<C>(Happened<C>);

#[derive(Debug)]
enum Happened<C> {
    /// No attempt is made, because the service did not recover.
    Unrecovered,
    /// The first attempt has no answer yet, so the delay of the hedge begins.
    Waits,
    /// The delay before the hedge is over.
    Due(Waker),
    /// An attempt ended.
    Ended(Lane),
    /// A time limit cut an attempt.
    Cut(Lane, C),
}

/// What is planned for the first attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Plan {
    /// A hedge, if there is no answer when the delay is over.
    Waits,
    /// A hedge, if there is no answer after twice the delay, because few of the last hedges won.
    WaitsLonger,
    /// No hedge, or none any more.
    #[default]
    None,
}

// Nothing in it is pinned: the futures are elsewhere.
impl<F: Future, Z, D, K, C> Unpin for Race<'_, F, Z, D, K, C> {}

/// The wait for what happens next in a race. It is a type of its own, because std polls a `&mut Race` in a function that is not inlined.
pub struct Racing<'r, 'a, F: Future, Z, D, K, C>(&'r mut Race<'a, F, Z, D, K, C>);

impl<'r, 'a, F, Z, D, K, C> IntoFuture for &'r mut Race<'a, F, Z, D, K, C>
where
    F: Future,
    Z: AttemptSleep<C>,
    D: Future<Output = ()>,
    K: RetryToken,
    C: Copy + Unpin,
{
    type Output = Raced<C>;
    type IntoFuture = Racing<'r, 'a, F, Z, D, K, C>;

    #[inline]
    fn into_future(self) -> Self::IntoFuture {
        Racing(self)
    }
}

impl<F, Z, D, K, C> Future for Racing<'_, '_, F, Z, D, K, C>
where
    F: Future,
    Z: AttemptSleep<C>,
    D: Future<Output = ()>,
    K: RetryToken,
    C: Copy + Unpin,
{
    type Output = Raced<C>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self.get_mut().0;
        let _entered = this.place.enter();
        if !this.is_polled
            && let Poll::Ready(outcome) = this.first.poll_body(context)
        {
            return Poll::Ready(Raced(this.attempt_ended(Lane::First, outcome)));
        }
        this.poll_others(context).map(Raced)
    }
}

impl<'a, F, Z, D, K, C> Race<'a, F, Z, D, K, C>
where
    F: Future,
    Z: AttemptSleep<C>,
    D: Future<Output = ()>,
    K: RetryToken,
    C: Copy + Unpin,
{
    /// Creates a race without attempts. The places are for the attempts, their time limits, and the delay.
    #[inline]
    pub(crate) fn new<L: RunningLimits, N>(
        operation: &State<K, L, N>,
        hedge: &'static Hedge,
        [first, second]: [Pin<&'a mut Option<F>>; 2],
        [first_sleep, second_sleep]: [Pin<&'a mut Option<Z>>; 2],
        due: Pin<&'a mut Option<D>>,
    ) -> Self {
        let plan = if Hedge::is_allowed() {
            Plan::Waits
        } else {
            operation.record.no_hedge("a test guard allows hedges only after `begin().hedges()`");
            Plan::None
        };
        Self {
            hedge,
            first: Runner::new(first, first_sleep),
            second: Runner::new(second, second_sleep),
            due,
            plan,
            delay: Duration::default(),
            is_polled: false,
            is_attempt_due: true,
            lane: Lane::First,
            other: None,
            outcome: None,
            failed: None,
            attempts: 0,
            weight: None,
            place: Place::of_race(operation),
        }
    }

    /// Sets the weight of the hedge.
    #[inline]
    pub(crate) const fn weigh(&mut self, weight: u32) {
        self.weight = Some(weight);
    }

    /// Returns the weight of the hedge.
    #[inline]
    pub(crate) const fn weight(&self) -> Option<u32> {
        self.weight
    }

    /// Returns whether the next attempt starts before the race is polled again.
    #[inline]
    pub fn is_attempt_due(&self) -> bool {
        self.is_attempt_due
    }

    /// Returns whether the next attempt is the hedge, which is paid for and permitted already.
    #[inline]
    pub fn is_hedge(&self) -> bool {
        self.other.is_some()
    }

    /// Returns the next attempt.
    #[inline]
    fn next(&mut self) -> &mut Runner<'a, F, Z, C> {
        if self.is_hedge() { &mut self.second } else { &mut self.first }
    }

    /// Takes the last outcome of an operation that waited for the service without success. Then no attempt follows.
    #[inline]
    pub(crate) fn unrecovered<S: RetryStrategy<Token = K>, L: RunningLimits, T: Copy, O: OptionalObserver + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        operation: &mut StateOf<S, L, O>,
        last: &mut impl KeptOutcome<F::Output>,
    ) -> bool {
        self.outcome = operation.unrecovered(call, last);
        self.outcome.is_some()
    }

    /// Begins the time of the next attempt.
    #[inline]
    pub(crate) fn begin(&mut self, deadline: (Deadline<C>, Option<Z>)) {
        self.next().begin(deadline);
    }

    /// Starts the next attempt. If there is no time for it, or the service did not recover, `make` is not called.
    #[inline]
    pub(crate) fn start(&mut self, make: impl FnOnce() -> F) {
        self.is_attempt_due = false;
        if self.outcome.is_none() {
            self.next().start(make);
        }
    }

    /// Stores the outcome of an attempt until it is settled.
    #[inline]
    fn attempt_ended(&mut self, lane: Lane, outcome: F::Output) -> Happened<C> {
        self.outcome = Some(explored::ran(outcome));
        Happened::Ended(lane)
    }

    /// Polls the hedge, the time limits of both attempts, and the sleep until there is a hedge.
    ///
    /// Both bodies are polled before a time limit: an outcome that is ready when the time is up is used.
    #[inline(never)]
    fn poll_others(&mut self, context: &mut Context<'_>) -> Poll<Happened<C>> {
        if self.outcome.is_some() {
            return Poll::Ready(Happened::Unrecovered);
        }
        let is_polled = mem::take(&mut self.is_polled);
        if let Poll::Ready(outcome) = self.second.poll_body(context) {
            return Poll::Ready(self.attempt_ended(Lane::Hedge, outcome));
        }
        if !is_polled && let Poll::Ready(cut) = self.first.poll_limit(context) {
            return Poll::Ready(Happened::Cut(Lane::First, cut));
        }
        if let Poll::Ready(cut) = self.second.poll_limit(context) {
            return Poll::Ready(Happened::Cut(Lane::Hedge, cut));
        }
        match self.due.as_mut().as_pin_mut() {
            Some(due) => due.poll(context).map(|()| Happened::Due(context.waker().clone())),
            // Without a delay, there is no sleep.
            None if self.plan != Plan::Waits => Poll::Pending,
            None if self.hedge.delay().is_zero() => Poll::Ready(Happened::Due(context.waker().clone())),
            None => Poll::Ready(Happened::Waits),
        }
    }
}
