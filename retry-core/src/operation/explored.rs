//! The places where an exploration lets attempts fail, and the outcomes of attempts there. Without the feature `test`, an
//! attempt is its body, and its outcome is what the body returns.

#[cfg(all(feature = "test", feature = "tower"))]
pub(crate) use exploring::Running;
#[cfg(feature = "test")]
pub use exploring::{Explored, Exploring, Outcome, Place};
#[cfg(feature = "test")]
pub(crate) use exploring::{driver, evaluated, kept, last, ran, value};
#[cfg(all(debug_assertions, not(feature = "test")))]
pub use silent::Marked;
#[cfg(all(not(feature = "test"), feature = "tower"))]
pub(crate) use silent::Running;
#[cfg(not(feature = "test"))]
pub use silent::{Outcome, Place};
#[cfg(not(feature = "test"))]
pub(crate) use silent::{driver, evaluated, kept, last, ran, value};

use super::{Operation, TimeLimits};
use crate::policy::{NoAnswer, RetryDirective, Unanswered};

/// Returns the error that an exploration was given for a request without an answer.
pub fn no_answer<E: 'static>() -> Option<E> {
    #[cfg(feature = "test")]
    return crate::test::no_answer();
    #[cfg(not(feature = "test"))]
    None
}

#[cfg(feature = "test")]
mod exploring {
    use super::{NoAnswer, Operation, RetryDirective, TimeLimits, Unanswered};
    use crate::observe::Event;
    use crate::operation::nesting::Mark;
    use crate::operation::{Beginning, Driver};
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
        pub(crate) fn of<K, L: TimeLimits, N>(operation: &Operation<K, L, N>) -> Self {
            let mark = operation.record.mark();
            Self { attempt: Attempt::begin(|| mark.name()), mark }
        }

        /// Returns the place of the attempts of an operation with a hedge, which can't fail here.
        pub(crate) fn of_race<K, L: TimeLimits, N>(operation: &Operation<K, L, N>) -> Self {
            let place = Self::of(operation);
            if let Some(attempt) = &place.attempt {
                attempt.has_a_hedge();
            }
            place
        }

        /// Returns the future of an attempt with this body.
        pub fn run<F: Future>(self, body: F) -> Exploring<F> {
            Exploring { running: Running::new(self), body: Some(Box::pin(body)) }
        }

        /// Runs an attempt that blocks.
        pub fn run_blocking<R>(self, body: impl FnOnce() -> R) -> Explored<R> {
            if self.fails(Fault::NotSent) {
                return Explored::failed(self.attempt, Fault::NotSent);
            }
            let outcome = {
                let _entered = self.enter();
                body()
            };
            Explored::ran(outcome, self.attempt, true)
        }

        fn fails(&self, fault: Fault) -> bool {
            self.attempt.as_ref().is_some_and(|attempt| attempt.fails(fault))
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
        /// Whether the answer can be lost, although the body returned.
        can_be_lost: bool,
        /// The outcome that was made for the failure.
        made: OnceCell<R>,
    }

    /// The outcome of an attempt.
    pub type Outcome<R> = Explored<R>;

    impl<R> Explored<R> {
        fn ran(outcome: R, attempt: Option<Attempt>, can_be_lost: bool) -> Self {
            Self { ran: Some(outcome), attempt, fault: Cell::new(None), can_be_lost, made: OnceCell::new() }
        }

        fn failed(attempt: Option<Attempt>, fault: Fault) -> Self {
            Self { ran: None, attempt, fault: Cell::new(Some(fault)), can_be_lost: false, made: OnceCell::new() }
        }
    }

    /// An attempt that runs, and can fail when it is polled.
    #[derive(Debug)]
    pub(crate) struct Running {
        place: Place,
        was_polled: bool,
        has_awaited: bool,
    }

    impl Running {
        pub(crate) const fn new(place: Place) -> Self {
            Self { place, was_polled: false, has_awaited: false }
        }

        /// Polls the body of the attempt, unless the attempt fails.
        pub(crate) fn poll<R>(&mut self, body: impl FnOnce() -> Poll<R>) -> Poll<Explored<R>> {
            if !std::mem::replace(&mut self.was_polled, true) && self.place.fails(Fault::NotSent) {
                return Poll::Ready(Explored::failed(self.place.attempt.take(), Fault::NotSent));
            }
            let polled = {
                let _entered = self.place.enter();
                body()
            };
            match polled {
                Poll::Ready(outcome) => {
                    Poll::Ready(Explored::ran(outcome, self.place.attempt.take(), !self.has_awaited))
                }
                Poll::Pending => {
                    self.has_awaited = true;
                    if self.place.fails(Fault::Cut) {
                        return Poll::Ready(Explored::failed(self.place.attempt.take(), Fault::Cut));
                    }
                    Poll::Pending
                }
            }
        }
    }

    /// An attempt that can fail at its place.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Exploring<F> {
        running: Running,
        /// `None` once it is ready.
        body: Option<Pin<Box<F>>>,
    }

    impl<F: Future> Future for Exploring<F> {
        type Output = Explored<F::Output>;

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
            let Self { running, body } = &mut *self;
            let Some(future) = body else { return Poll::Pending };
            let polled = running.poll(|| future.as_mut().poll(context));
            if polled.is_ready() {
                *body = None;
            }
            polled
        }
    }

    /// Returns the outcome of an attempt that can't fail in another way.
    pub(crate) fn ran<R>(outcome: R) -> Explored<R> {
        Explored::ran(outcome, None, false)
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
        if outcome.can_be_lost
            && matches!(directive, Some(RetryDirective::Succeed { .. }))
            && attempt.fails(Fault::Lost)
        {
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

    /// Returns the driver for an outcome. A failure without a value has no `on_retry`.
    pub(crate) fn driver<'o, R, D: Driver>(
        outcome: &'o Explored<R>,
        make: impl FnOnce(&'o R) -> D,
    ) -> OptionalDriver<D> {
        OptionalDriver(value(outcome).map(make))
    }

    /// A driver, or none.
    #[derive(Debug)]
    pub(crate) struct OptionalDriver<D>(Option<D>);

    impl<D: Driver> Driver for OptionalDriver<D> {
        fn tell(self, event: impl FnOnce(Beginning) -> Event) {
            if let Some(driver) = self.0 {
                driver.tell(event);
            }
        }
    }
}

#[cfg(not(feature = "test"))]
mod silent {
    use super::{NoAnswer, Operation, RetryDirective, TimeLimits, Unanswered};
    use crate::operation::nesting::Mark;
    #[cfg(debug_assertions)]
    use std::pin::Pin;
    #[cfg(debug_assertions)]
    use std::task::Context;
    #[cfg(any(debug_assertions, feature = "tower"))]
    use std::task::Poll;

    /// The place of an attempt that begins now. It borrows nothing, so that the body may borrow what
    /// the call holds.
    #[derive(Debug)]
    pub struct Place(Mark);

    impl Place {
        #[inline]
        pub(crate) fn of<K, L: TimeLimits, N>(operation: &Operation<K, L, N>) -> Self {
            Self(operation.record.mark())
        }

        /// Returns the place of the attempts of an operation with a hedge.
        #[inline]
        pub(crate) fn of_race<K, L: TimeLimits, N>(operation: &Operation<K, L, N>) -> Self {
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
    #[cfg(feature = "tower")]
    #[derive(Debug)]
    pub(crate) struct Running(Place);

    #[cfg(feature = "tower")]
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
    #[expect(clippy::inline_always, reason = "on the path of each success, and folds away only if it is inlined")]
    #[inline(always)]
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

    /// Returns the driver for an outcome.
    #[inline]
    pub(crate) fn driver<'o, R, D>(outcome: &'o R, make: impl FnOnce(&'o R) -> D) -> D {
        make(outcome)
    }
}
