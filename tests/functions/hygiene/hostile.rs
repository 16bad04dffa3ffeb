//! A module without a prelude, whose names are other items here.
#![no_implicit_prelude]
#![allow(dead_code, non_camel_case_types, unused_macros, reason = "the names only have to clash")]

use ::retry_core as library;

pub(super) mod core {}
pub(super) mod std {}
pub(super) mod retry_core {}

pub(super) struct Option;
pub(super) struct Some;
pub(super) struct None;
pub(super) struct Ok;
pub(super) struct Err;
pub(super) struct Result;
pub(super) struct Box;
pub(super) struct Duration;
pub(super) struct bool;
pub(super) struct u64;
pub(super) trait Clone {}
pub(super) trait Copy {}
pub(super) trait Future {}
pub(super) trait Into {}
pub(super) trait From {}
pub(super) trait Fn {}
pub(super) trait Send {}

fn drop() {}

macro_rules! concat {
    () => {};
}
macro_rules! module_path {
    () => {};
}
macro_rules! compile_error {
    () => {};
}

/// A derived error in this module.
#[derive(library::RetryInfo)]
pub(super) enum Error {
    #[retry(throttling, retry_after = "1s")]
    Busy(#[retry(retry_after)] ::core::option::Option<::core::time::Duration>),
    #[retry(safe, fault = "client")]
    Seconds(#[retry(retry_after(secs))] ::core::primitive::u64),
    #[retry(transparent)]
    TimedOut(library::TimedOut),
    #[retry(timeout)]
    Other,
}

impl ::core::convert::From<library::TimedOut> for Error {
    fn from(error: library::TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

type Outcome = ::core::result::Result<u32, Error>;

fn failure(calls: u32) -> Outcome {
    if calls < 2 {
        ::core::result::Result::Err(Error::Busy(::core::option::Option::None))
    } else {
        ::core::result::Result::Ok(calls)
    }
}

/// A function with every kind of argument.
#[library::retryable(strategy = strategy, idempotent, clone(owned), crate = library)]
pub(super) async fn call_with(
    strategy: &library::StandardRetryStrategy,
    owned: ::std::string::String,
    calls: &mut u32,
    mut step: u32,
    (mut nested, _): (u32, u32),
) -> Outcome {
    nested += 1;
    step += nested - 1;
    *calls += step;
    ::core::mem::drop(owned);
    failure(*calls)
}

pub(super) async fn call(strategy: &library::StandardRetryStrategy, calls: &mut u32, step: u32) -> Outcome {
    call_with(strategy, ::std::string::String::new(), calls, step, (0, 0)).await
}

/// A function whose expansion has every item and every path.
#[library::retryable(
    strategy = "adaptive",
    observer = Silent,
    timer = library::TokioTimer,
    max_time = "1m",
    deadline = deadline(),
    on_retry = |_, event| ::core::assert_eq!(event.attempt, 1),
    attempt_timeout = "9s"
)]
pub(super) async fn limited(calls: &mut u32) -> Outcome {
    failure(*calls)
}

/// A trait of all types with methods whose names an expansion could use.
pub(super) trait Meddling: ::core::marker::Sized {
    fn outcome(self) {}
    fn take(self) {}
}

impl<T> Meddling for T {}

/// A function with a hedge.
#[library::retryable(
    strategy = "standard",
    idempotent,
    hedge = "1ms",
    max_time = "1m",
    context = context,
    on_end = |report| ::core::assert_eq!(report.attempts, 2),
    crate = library
)]
pub(super) async fn hedged(mut step: u32) -> Outcome {
    step += context.attempt();
    if context.attempt() == 1 {
        library::Timer::sleep(&library::TokioTimer, ::core::time::Duration::from_secs(1)).await;
    }
    ::core::result::Result::Ok(step)
}

fn deadline() -> library::time::Timestamp {
    library::Clock::now(&library::TokioTimer).saturating_add(::core::time::Duration::from_secs(60))
}

/// An observer that ignores all events.
struct Silent;

impl library::Observer for Silent {
    fn observe(&self, _: &library::Event) {}
}

/// Returns a few answers of the derived error.
pub(super) fn answers()
-> (::core::primitive::bool, ::core::primitive::bool, ::core::option::Option<::core::time::Duration>) {
    use library::RetryInfo as _;

    let error = Error::Busy(::core::option::Option::None);
    (error.is_throttle(), error.is_timeout(), error.retry_after())
}
