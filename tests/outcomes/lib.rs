//! Functions whose outcomes are not results, or have methods with the names of ours. Without the feature `test`, outcomes have the types that
//! users write.
#![cfg(test)]
#![expect(clippy::diverging_sub_expression, reason = "one of the functions only panics")]

use retry_core::{
    ErrorInfo, PatientRetryStrategy, RetryDirective, RetryInfo, RetryPolicy, RetrySafety, TimedOut, retryable,
};
use std::fmt::Debug;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

/// A policy for any outcome.
struct Accept;

impl<R> RetryPolicy<R> for Accept {
    fn evaluate(&self, _: &R) -> RetryDirective {
        RetryDirective::succeed()
    }
}

static ACCEPT: Accept = Accept;

/// Methods of any value.
#[expect(clippy::wrong_self_convention, reason = "one that takes the value hides one that borrows it")]
trait Anything: Sized {
    fn call<T>(self, _: T) -> u32 {
        1
    }

    fn call_with<T>(self, _: T) -> u32 {
        2
    }

    fn moved(self) -> u32 {
        3
    }

    fn kept<T, U>(self, _: T, _: U) -> u32 {
        4
    }

    fn remember<T>(self, _: T) -> u32 {
        5
    }

    fn of(self) -> u32 {
        6
    }

    fn as_error(self) -> u32 {
        7
    }
}

impl<T> Anything for T {}

/// An outcome with a method of its own.
#[derive(Debug, PartialEq)]
struct Own(u32);

impl Own {
    fn moved(self) -> Self {
        Self(self.0 + 1)
    }
}

#[derive(Debug, PartialEq)]
struct Failed(String);

#[derive(Debug, PartialEq, RetryInfo)]
struct Derived;

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error.to_string())
    }
}

impl ErrorInfo for Failed {}

impl RetryInfo for Failed {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::No
    }
}

type Alias = Result<Vec<u32>, Failed>;

/// Declares each function twice, async and blocking.
macro_rules! functions {
    ($($name:ident($($options:tt)*) -> $outcome:ty { $value:expr })*) => {
        mod awaited {
            use super::*;
            $(
                #[retryable(strategy = STORE, $($options)*)]
                pub(super) async fn $name() -> $outcome { $value }
            )*
        }

        mod blocking {
            use super::*;
            $(
                #[retryable(strategy = STORE, blocking, $($options)*)]
                pub(super) fn $name() -> $outcome { $value }
            )*
        }
    };
}

functions! {
    option(policy = ACCEPT) -> Option<u32> { Some(1) }
    by_closure(policy = |outcome: &Option<_>| if outcome.is_some() { RetryDirective::succeed() } else { RetryDirective::fail(None) }) -> Option<u32> { Some(1) }
    number(policy = ACCEPT) -> u32 { 2 }
    boxed(policy = ACCEPT) -> Box<u32> { Box::new(3) }
    own(policy = ACCEPT) -> Own { Own(4) }
    some(policy = ACCEPT) -> Option<impl Copy + Debug> { Some(5) }
    values(policy = ACCEPT) -> impl Iterator<Item = u32> { 0..6 }
    diverges(policy = ACCEPT) -> impl Sized { panic!("it only panics") }
    unit(policy = ACCEPT) -> () { () }
    alias() -> Alias { Ok(vec![7]) }
    failure() -> Result<u32, Failed> { Err(Failed("8".to_owned())) }
    in_a_box() -> Result<u32, Box<Failed>> { Err(Box::new(Failed("9".to_owned()))) }
    either() -> Result<impl Copy + Debug, Failed> { Ok(10) }
    within(max_time = "9s") -> Result<String, Failed> { Ok("11".to_owned()) }
    to_the_end(on_end = |report| assert_eq!(report.attempts, 1), policy = ACCEPT) -> Option<u32> { Some(12) }
}

#[retryable(strategy = STORE, context = context)]
async fn number_of_attempt() -> Result<u32, Derived> {
    Ok(context.attempt())
}

#[retryable(strategy = STORE, policy = ACCEPT)]
async fn any<T>(make: fn() -> T) -> T {
    make()
}

#[retryable(strategy = STORE, policy = ACCEPT, blocking)]
fn any_blocking<T>(make: fn() -> T) -> T {
    make()
}

/// Returns the output of a future that does not wait.
fn output<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn an_outcome_of_any_type_is_returned_as_the_function_made_it() {
    assert_eq!((output(awaited::option()), blocking::option()), (Some(1), Some(1)));
    assert_eq!((output(awaited::by_closure()), blocking::by_closure()), (Some(1), Some(1)));
    assert_eq!((output(awaited::number()), blocking::number()), (2, 2));
    assert_eq!((output(awaited::boxed()), blocking::boxed()), (Box::new(3), Box::new(3)));
    assert_eq!((output(awaited::own()), blocking::own()), (Own(4), Own(4)));
    assert_eq!(format!("{:?} {:?}", output(awaited::some()), blocking::some()), "Some(5) Some(5)");
    assert!(output(awaited::values()).eq(blocking::values()));
    assert_eq!((output(awaited::alias()), blocking::alias()), (Ok(vec![7]), Ok(vec![7])));
    let failed = || Failed("8".to_owned());
    assert_eq!((output(awaited::failure()), blocking::failure()), (Err(failed()), Err(failed())));
    let boxed = || Box::new(Failed("9".to_owned()));
    assert_eq!((output(awaited::in_a_box()), blocking::in_a_box()), (Err(boxed()), Err(boxed())));
    assert_eq!(format!("{:?} {:?}", output(awaited::either()), blocking::either()), "Ok(10) Ok(10)");
    assert_eq!((output(awaited::within()), blocking::within()), (Ok("11".to_owned()), Ok("11".to_owned())));
    assert_eq!((output(awaited::to_the_end()), blocking::to_the_end()), (Some(12), Some(12)));
    assert_eq!((output(any(|| Own(13))), any_blocking(|| Own(13))), (Own(13), Own(13)));
    let methods = [0.call(0), 0.call_with(0), 0.moved(), 0.kept(0, 0), 0.remember(0), 0.of(), 0.as_error()];
    assert_eq!((methods, Own(0).moved()), ([1, 2, 3, 4, 5, 6, 7], Own(1)), "these methods are in scope");
    assert_eq!(output(number_of_attempt()), Ok(1));
    output(awaited::unit());
    blocking::unit();
}

#[test]
#[should_panic(expected = "it only panics")]
fn a_function_that_only_panics_does_so() {
    output(awaited::diverges());
}

#[test]
#[should_panic(expected = "it only panics")]
fn a_blocking_function_that_only_panics_does_so() {
    blocking::diverges();
}
