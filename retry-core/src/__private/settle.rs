//! Functions with which the expansion of `#[retryable]` settles an outcome and calls `on_retry` and `on_end`.

use super::error_text::TextOf;
use super::evaluate::Fallible;
use crate::observe::{Event, Report};
use crate::operation::{
    Beginning, Call, Decision, Driver, End, Identified, OnRetry, OnRetryOutput, OptionalObserver, OutOfTime, Outcome,
    Plain, RunningLimits, StateOf, explored, with_text,
};
use crate::policy::RetryDirective;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, TimedOut, Timestamp};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// Continues with the outcome of an attempt that was cut, or breaks with the outcome of the operation, which has ended.
#[cold]
pub fn cut<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    cut: L::Cut,
    last: &mut impl KeptOutcome<R>,
    out_of_time: impl FnOnce(L::Cut) -> R,
) -> ControlFlow<R, Outcome<R>> {
    operation.cut_or_end(call, cut, last, out_of_time).map_continue(explored::ran)
}

/// Returns the outcome of an operation that blocks and has ended, because its time is over.
#[cold]
pub fn over<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    cut: L::Cut,
    last: &mut impl KeptOutcome<R>,
    out_of_time: impl FnOnce(L::Cut) -> R,
) -> R {
    let flow = operation.cut_or_end(call, cut, last, out_of_time);
    let (ControlFlow::Continue(outcome) | ControlFlow::Break(outcome)) = flow;
    outcome
}

/// Continues with the outcome of an attempt that was cut, or breaks with the outcome of the operation, which is then
/// settled without a directive. For an expansion with `on_retry` or `on_end`.
#[cold]
pub fn cut_unsettled<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    _: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    cut: L::Cut,
    last: &mut impl KeptOutcome<R>,
    out_of_time: impl FnOnce(L::Cut) -> R,
) -> ControlFlow<Outcome<R>, Outcome<R>> {
    operation.cut(cut, last, out_of_time).map_continue(explored::ran).map_break(explored::ran)
}

/// Makes the outcome of an attempt that was cut, by the `From<TimedOut>` of its error.
#[cold]
pub fn out_of_time<R: OutOfTime>(timed_out: TimedOut) -> R {
    R::out_of_time(timed_out)
}

/// Calls the value of `timed_out`. The error comes first, so that a closure's argument needs no type.
#[cold]
pub fn timed_out<R: MadeOfError>(timed_out: TimedOut, make: impl FnOnce(TimedOut) -> R::Error) -> R {
    R::made_of(make(timed_out))
}

/// An outcome that can be made of an error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no error that `timed_out` could make",
    label = "a function with `timed_out` returns a `Result`",
    note = "return a `Result<T, E>` whose `E` the closure makes"
)]
pub trait MadeOfError {
    /// The error.
    type Error;

    /// Returns the outcome with this error.
    fn made_of(error: Self::Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E> MadeOfError for Result<T, E> {
    type Error = E;

    fn made_of(error: E) -> Self {
        Err(error)
    }
}

/// The outcome of an attempt without a time limit that was cut. It is never called.
pub fn never_cut<R>(cut: Infallible) -> R {
    match cut {}
}

/// Returns the last outcome of an operation that waited for the service without success, and ends the operation.
#[inline]
pub fn unrecovered<R, X: TextOf<R>, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    last: &mut impl KeptOutcome<R>,
    _: PhantomData<X>,
) -> Option<Outcome<R>> {
    let outcome = operation.unrecovered(call, last)?;
    operation.time_is_over(call, with_text(Plain, || explored::value(&outcome).and_then(X::text)));
    Some(outcome)
}

/// Returns whether an operation waited for the service without success, so that its last outcome is settled without a directive. For an
/// expansion with `on_retry` or `on_end`.
#[inline]
pub fn is_unrecovered<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    last: &mut impl KeptOutcome<R>,
) -> bool {
    operation.has_no_recovery(call, last)
}

/// Returns the last outcome, which was kept.
#[cold]
pub fn last_outcome<R>(last: &mut impl KeptOutcome<R>) -> Outcome<R> {
    match last.take() {
        Some(outcome) => explored::ran(outcome),
        None => unreachable!("it is asked for only if it was kept"),
    }
}

/// Adds the text of the error in an outcome to a driver.
#[inline]
pub(super) fn textual<R>(driver: impl Driver, last: &impl KeptOutcome<R>, outcome: &Outcome<R>) -> impl Driver {
    with_text(driver, || explored::value(outcome).and_then(|outcome| last.error_text(outcome)))
}

/// Passes the policy's directive for an outcome to the strategy, and returns whether the outcome is final.
///
/// The directive comes before the operation, because the policy is asked with a reference to the operation. The outcome stays where it
/// is, because each move would copy it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn settle<R, X: TextOf<R>, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    directive: RetryDirective,
    operation: &mut StateOf<S, L, O>,
    outcome: &Outcome<R>,
    _: PhantomData<X>,
) -> bool {
    let text = || explored::value(outcome).and_then(X::text);
    let decision = operation.settle(call, directive, || with_text(Plain, text));
    matches!(decision, Decision::Stop { .. })
}

/// Returns the final outcome.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn final_outcome<R>(outcome: Outcome<R>) -> R {
    explored::last(outcome)
}

/// Drops the outcome of an attempt that another one follows, or keeps it in `last`.
#[inline]
pub fn keep<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    last: &mut impl KeptOutcome<R>,
    outcome: Outcome<R>,
) {
    operation.keep(call, last, outcome);
}

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Drops or keeps the outcome of an attempt that another one follows, and returns its place.
    #[inline]
    pub fn kept<R, L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        outcome: Outcome<R>,
    ) -> impl KeptOutcome<R> + use<R, S, L, T, O> {
        let mut last = S::Token::kept_outcome();
        operation.keep(self, &mut last, outcome);
        last
    }
}

/// Settles an outcome, and returns the end of the operation for `on_end`. There is no directive if the time is over.
#[inline]
pub fn settle_to_end<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    directive: Option<RetryDirective>,
    operation: &mut StateOf<S, L, O>,
    last: &mut impl KeptOutcome<R>,
    outcome: Outcome<R>,
) -> Option<End<R>> {
    let decision = operation.settle_or_end(call, directive, || textual(Plain, last, &outcome));
    operation.finish(call, decision, last, outcome).break_value()
}

/// Settles an outcome, as [`settle_to_end`] does, and reports a failure with its event to `tell`.
#[inline]
pub fn settle_and_tell<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    directive: Option<RetryDirective>,
    operation: &mut StateOf<S, L, O>,
    last: &mut impl KeptOutcome<R>,
    outcome: Outcome<R>,
    beginning: Beginning,
    tell: impl FnOnce(&R, &Event) -> ControlFlow<()>,
) -> Option<End<R>> {
    let on_retry = |event: &Event| match explored::value(&outcome) {
        Some(outcome) => tell(outcome, event),
        None => ControlFlow::Continue(()),
    };
    let driver = || textual(OnRetry::new(beginning, on_retry), last, &outcome);
    let decision = operation.settle_or_end(call, directive, driver);
    operation.finish(call, decision, last, outcome).break_value()
}

/// Returns the beginning of an operation that begins now. The id comes from the operation or from its contexts, because
/// an operation without an observer may not keep it.
#[inline]
pub fn beginning<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &impl Identified,
) -> Beginning {
    call.beginning(operation)
}

/// Passes the error of an outcome to `tell`, and returns whether the operation goes on. A success is not reported.
#[inline]
pub fn tell_failure<R: Fallible>(outcome: &R, tell: impl FnOnce(&R::Error) -> ControlFlow<()>) -> ControlFlow<()> {
    outcome.error().map_or(ControlFlow::Continue(()), tell)
}

/// Calls the value of `on_retry`, and returns whether the operation goes on. The error comes first, so that a closure's arguments need no
/// types.
#[inline]
pub fn on_retry<E, V: OnRetryOutput>(
    error: &E,
    event: &Event,
    mut on_retry: impl FnMut(&E, &Event) -> V,
) -> ControlFlow<()> {
    on_retry(error, event).flow()
}

/// Returns the time at which an operation begins.
#[inline]
pub fn started<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(call: Call<'_, S, T, O>) -> Timestamp {
    call.now()
}

/// Reports the end of an operation to `tell`, and returns the final outcome.
#[inline]
pub fn tell_end<R, S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    end: End<R>,
    started: Timestamp,
    tell: impl FnOnce(&Report<&R>),
) -> R {
    let End { outcome, attempts, waited, reason } = end;
    tell(&Report { outcome: &outcome, attempts, reason, waited, elapsed: call.now().saturating_since(started) });
    outcome
}

/// Calls the value of `on_end`. The report comes first, so that a closure's argument needs no type.
#[inline]
pub fn on_end<R>(report: &Report<R>, on_end: impl FnOnce(&Report<R>)) {
    on_end(report);
}

/// Returns the final outcome of an operation.
#[inline]
pub fn outcome<R>(end: End<R>) -> R {
    end.outcome
}
