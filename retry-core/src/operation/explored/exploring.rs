//! Attempts that an exploration can let fail.

use super::{NoAnswer, RetryDirective, RunningLimits, State, Unanswered};
use crate::operation::Driver;
use crate::operation::nesting::Mark;
use crate::test::{Attempt, Fault, Unmade};
use std::cell::{Cell, OnceCell};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The place of an attempt that begins now. It borrows nothing, so that the body may borrow what
/// the call holds.
#[derive(Debug)]
pub struct Place {
    attempt: Option<Attempt>,
    mark: Mark,
}

impl Place {
    pub(crate) fn of<K, L: RunningLimits, N>(operation: &State<K, L, N>) -> Self {
        let mark = operation.record.mark();
        Self { attempt: Attempt::begin(|| mark.name()), mark }
    }

    /// Returns the place of the attempts of an operation with a hedge, which can't fail here.
    #[cfg(feature = "hedges")]
    pub(crate) fn of_race<K, L: RunningLimits, N>(operation: &State<K, L, N>) -> Self {
        let place = Self::of(operation);
        if let Some(attempt) = &place.attempt {
            attempt.has_a_hedge();
        }
        place
    }

    /// Returns the future of an attempt with this body.
    pub fn run<F: Future>(self, body: F) -> Exploring<F> {
        Exploring { running: Running::new(self), body: Box::pin(body) }
    }

    /// Runs an attempt that blocks.
    pub fn run_blocking<R>(self, body: impl FnOnce() -> R) -> Explored<R> {
        if self.is_not_sent() {
            return Explored::failed(self.attempt, Fault::NotSent);
        }
        let outcome = {
            let _entered = self.enter();
            body()
        };
        Explored::ran(outcome, self.attempt)
    }

    /// Returns whether the attempt fails before it begins.
    fn is_not_sent(&self) -> bool {
        self.attempt.as_ref().is_some_and(Attempt::is_not_sent)
    }

    /// Returns whether the attempt is cut at the await that it has reached.
    fn is_cut(&mut self) -> bool {
        self.attempt.as_mut().is_some_and(Attempt::is_cut)
    }

    /// Enters the attempt, for as long as the value lives.
    pub(crate) fn enter(&self) -> impl Sized + use<> {
        (self.attempt.as_ref().map(Attempt::enter), self.mark.enter())
    }
}

/// The outcome of an attempt, or a failure in its place.
#[derive(Debug)]
pub struct Explored<R> {
    ran: Option<R>,
    attempt: Option<Attempt>,
    fault: Cell<Option<Fault>>,
    /// The outcome that was made for the failure.
    made: OnceCell<R>,
}

/// The outcome of an attempt.
pub type Outcome<R> = Explored<R>;

impl<R> Explored<R> {
    fn ran(outcome: R, attempt: Option<Attempt>) -> Self {
        Self { ran: Some(outcome), attempt, fault: Cell::new(None), made: OnceCell::new() }
    }

    fn failed(attempt: Option<Attempt>, fault: Fault) -> Self {
        Self { ran: None, attempt, fault: Cell::new(Some(fault)), made: OnceCell::new() }
    }
}

/// An attempt that runs, and can fail when it is polled.
#[derive(Debug)]
pub(crate) struct Running {
    place: Place,
    was_polled: bool,
}

impl Running {
    pub(crate) const fn new(place: Place) -> Self {
        Self { place, was_polled: false }
    }

    /// Polls the body of the attempt, unless the attempt fails.
    pub(crate) fn poll<R>(&mut self, body: impl FnOnce() -> Poll<R>) -> Poll<Explored<R>> {
        if !std::mem::replace(&mut self.was_polled, true) && self.place.is_not_sent() {
            return Poll::Ready(Explored::failed(self.place.attempt.take(), Fault::NotSent));
        }
        let polled = {
            let _entered = self.place.enter();
            body()
        };
        match polled {
            Poll::Ready(outcome) => Poll::Ready(Explored::ran(outcome, self.place.attempt.take())),
            Poll::Pending if self.place.is_cut() => {
                Poll::Ready(Explored::failed(self.place.attempt.take(), Fault::Cut))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// An attempt that can fail at its place.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Exploring<F> {
    running: Running,
    body: Pin<Box<F>>,
}

impl<F: Future> Future for Exploring<F> {
    type Output = Explored<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { running, body } = &mut *self;
        running.poll(|| body.as_mut().poll(context))
    }
}

/// Returns the outcome of an attempt that can't fail in another way.
pub(crate) fn ran<R>(outcome: R) -> Explored<R> {
    Explored::ran(outcome, None)
}

/// Evaluates an outcome, or the failure in its place.
pub(crate) fn evaluated<R>(
    outcome: &Explored<R>,
    evaluate: impl FnOnce(&R) -> RetryDirective,
    no_answer: impl Fn(NoAnswer) -> Unanswered<R>,
) -> RetryDirective {
    let directive = outcome.ran.as_ref().map(evaluate);
    let Some(attempt) = &outcome.attempt else {
        return directive.unwrap_or(RetryDirective::fail(None));
    };
    if attempt.is_without_failures() {
        for was_sent in [false, true] {
            let Unanswered { directive, outcome, .. } = no_answer(NoAnswer { was_sent });
            attempt.note(was_sent, directive, outcome.is_some());
        }
    }
    if matches!(directive, Some(RetryDirective::Succeed { .. })) && attempt.loses_its_answer() {
        outcome.fault.set(Some(Fault::Lost));
    }
    let Some(fault) = outcome.fault.get() else {
        return directive.unwrap_or(RetryDirective::fail(None));
    };
    let Unanswered { directive, outcome: made, is_repeated } =
        no_answer(NoAnswer { was_sent: fault != Fault::NotSent });
    if is_repeated {
        attempt.repeats();
    }
    if let Some(made) = made {
        let _ = outcome.made.set(made);
    }
    directive.unwrap_or_else(|| {
        attempt.cannot_be_made(Unmade::Directive);
        RetryDirective::fail(None)
    })
}

/// Returns the value of an outcome, if it has one.
pub(crate) fn value<R>(outcome: &Explored<R>) -> Option<&R> {
    if outcome.fault.get().is_some() { outcome.made.get() } else { outcome.ran.as_ref() }
}

/// Returns the value of an outcome that another attempt follows, if it has one.
pub(crate) fn kept<R>(outcome: Explored<R>) -> Option<R> {
    if outcome.fault.get().is_some() { outcome.made.into_inner() } else { outcome.ran }
}

/// Returns the value of a final outcome.
pub(crate) fn last<R>(outcome: Explored<R>) -> R {
    let is_unmade = outcome.fault.get().is_some() && outcome.made.get().is_none();
    if let (true, Some(attempt)) = (is_unmade, &outcome.attempt) {
        attempt.cannot_be_made(Unmade::Outcome);
    }
    let Explored { ran, made, .. } = outcome;
    match made.into_inner().or(ran) {
        Some(outcome) => outcome,
        // Only while the thread unwinds.
        None => unreachable!("an attempt does not fail while its thread unwinds"),
    }
}

/// Moves an outcome.
pub(crate) fn moved<R>(outcome: Explored<R>, _: impl FnOnce(R) -> R) -> Explored<R> {
    outcome
}

/// Returns the driver for an outcome. A failure without a value has no `on_retry`.
pub(crate) fn driver<'o, R, D: Driver>(outcome: &'o Explored<R>, make: impl FnOnce(&'o R) -> D) -> Option<D> {
    value(outcome).map(make)
}
