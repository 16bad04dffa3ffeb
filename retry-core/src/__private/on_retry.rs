//! What the expansion of `#[retryable]` names beside `on_retry` and `on_end`. Without these options, the expansion calls
//! [`settle`](super::settle) instead.

use super::retryable::finish;
use crate::observe::{Event, Report};
use crate::operation::{Beginning, Call, Decision, Identified, LimitsOn, OperationOf, OptionalObserver, TimeLimits};
use crate::policy::{RetryDirective, RetryErrorType};
use crate::strategy::{Failure, RetryStrategy};
use crate::time::{Clock, Timestamp};

/// What follows from an outcome.
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    decision: Decision,
    /// The class of the failure, if the outcome is one and the policy judged it.
    error_type: Option<RetryErrorType>,
}

/// Returns the beginning of an operation that begins now. The id is that of the operation or of its contexts, because an
/// operation without an observer may not keep it.
#[inline]
pub fn beginning<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &impl Identified,
) -> Beginning {
    call.beginning(operation)
}

/// Tells the strategy what the policy made of an outcome, and returns what follows.
#[inline]
pub fn decide<S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    directive: RetryDirective,
    operation: &mut OperationOf<S, L, O>,
) -> Settled {
    let decision = call.settle(operation, directive);
    Settled { decision, error_type: Failure::from_directive(directive).error_type() }
}

/// Returns what follows from the outcome of an operation whose time is over, or that waited because the quota refused a
/// retry. The policy does not judge it again.
#[inline]
pub fn time_is_over<S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    _: Call<'_, S, T, O>,
    operation: &OperationOf<S, L, O>,
) -> Settled {
    let (reason, error_type) = operation.end();
    Settled { decision: Decision::Stop { attempts: operation.attempts(), reason: Some(reason) }, error_type }
}

/// Tells a failure to `tell`, with its event. Nothing is told of a success.
#[inline]
pub fn tell_failure<R: Fallible, S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut OperationOf<S, L, O>,
    settled: Settled,
    beginning: Beginning,
    outcome: &R,
    tell: impl FnOnce(&R::Error, &Event),
) {
    let Settled { decision, error_type } = settled;
    if let Some(error) = outcome.error() {
        call.tell_failure(operation, error_type, decision, beginning, |event| tell(error, event));
    }
}

/// Calls the value of `on_retry`. The error comes first, so that a closure's arguments need no types.
#[inline]
pub fn on_retry<E>(error: &E, event: &Event, mut on_retry: impl FnMut(&E, &Event)) {
    on_retry(error, event);
}

/// Returns the time at which an operation begins.
#[inline]
pub fn started<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(call: Call<'_, S, T, O>) -> Timestamp {
    call.now()
}

/// Reports the end of an operation to `tell`, with its final outcome.
#[inline]
pub fn tell_end<R, S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    settled: Settled,
    started: Timestamp,
    outcome: &R,
    tell: impl FnOnce(&Report<&R>),
) {
    if let Decision::Stop { attempts, reason } = settled.decision {
        tell(&Report { outcome, attempts, reason, elapsed: call.now().saturating_since(started) });
    }
}

/// Calls the value of `on_end`. The report comes first, so that a closure's argument needs no type.
#[inline]
pub fn on_end<R>(report: &Report<R>, on_end: impl FnOnce(&Report<R>)) {
    on_end(report);
}

/// Returns an outcome if it is final. Otherwise the outcome is dropped, or kept in `last`.
#[inline]
pub fn conclude<R, S: RetryStrategy, L: LimitsOn<R>, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut OperationOf<S, L, O>,
    settled: Settled,
    last: &mut L::Last,
    outcome: R,
) -> Option<R> {
    finish(call, operation, settled.decision, last, outcome)
}

/// An outcome that can have an error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no error for `on_retry`",
    label = "a function with `on_retry` returns a `Result`",
    note = "return a `Result<T, E>`; or write `observer = OBSERVER`, which gets each event and no error"
)]
pub trait Fallible {
    /// The error.
    type Error;

    /// Returns the error of a failure.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;

    #[inline]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }
}
