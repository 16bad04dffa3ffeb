//! Retries of closures, without macros.
//!
//! ```
//! use retry_core::{PatientRetryStrategy, retry};
//! use std::io::{Error, ErrorKind};
//! # async fn connect() -> Result<(), Error> { Ok(()) }
//!
//! static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! # async fn example() -> Result<(), Error> {
//! retry(&SERVER, || connect())
//!     .when(|error: &Error| error.kind() == ErrorKind::ConnectionRefused)
//!     .run()
//!     .await
//! # }
//! ```
//!
#![doc = include_str!("what_rustc_says.md")]

mod closure;
#[cfg(feature = "hedges")]
mod hedged;
mod limits;
mod misplaced;
mod options;
mod run;
mod stated;
mod stoppable;
mod used;
mod when;

pub use closure::{AsyncAttempts, Attempts, Blocking, BlockingAttempts, WithContext, WithOnRetry};
#[doc(hidden)]
pub use closure::{AttemptState, ReturnsFuture, Started};
#[cfg(feature = "hedges")]
pub use hedged::HedgedRetry;
#[doc(hidden)]
pub use stated::{Replaceable, Standard, Stated};
pub use stoppable::StoppableRetry;
pub use used::UsedPolicy;
pub use when::{NoRetryAfter, WhenPolicy};

pub use crate::operation::{
    AtMost, CutOnStop, Limited, LimitsOn, OnRetryOutput, OptionalObserver, TimeLimits, Unlimited, Unobserved,
    WithTimedOut,
};
#[doc(hidden)]
pub use crate::operation::{
    AttemptSleep, Beginning, Identified, NoSleep, ObservedState, OwnStop, RunAttempt, RunningLimits, SleepOrStop,
    StopHandle, UnobservedId,
};

use crate::operation::{AttemptContext, Name};
use crate::policy::StandardRetryPolicy;
use crate::strategy::{Operations, RetryStrategy, Share};
use crate::time::{DEFAULT_TIMER, DefaultTimer, StdTimer};

/// Creates a call that retries an async closure. Its policy and strategy decide whether and when.
///
/// Nothing is called before [`run`](Retry::run) or [`report`](Retry::report). Each attempt then calls the closure again
/// and awaits the future that it returns. The last outcome is returned unchanged.
///
/// Calls share the strategy, so pass a reference to it, an [`Arc`](std::sync::Arc) or another handle.
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// use retry_core::{PatientRetryStrategy, retry};
///
/// # struct Crashed;
/// # impl ErrorInfo for Crashed {}
/// # impl RetryInfo for Crashed {}
/// # async fn fetch(key: &str) -> Result<String, Crashed> { Ok(key.to_owned()) }
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # async fn example() -> Result<(), Crashed> {
/// let object = retry(&STORE, || fetch("key")).run().await?;
/// # Ok(())
/// # }
/// ```
///
/// The future can't borrow state of the closure mutably, because the closure is called again for each attempt. The
/// closure can change such state before it creates the future, and pass it to the future by value. If an attempt itself
/// needs `&mut self` or a `&mut` argument, use the attribute [`retryable`](macro@crate::retryable), which reborrows
/// them for each attempt.
///
/// ```
/// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
/// # #[derive(RetryInfo)]
/// # struct Crashed;
/// # async fn fetch(attempt: u32) -> Result<(), Crashed> { Ok(()) }
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// # async fn example() -> Result<(), Crashed> {
/// let mut attempt = 0;
/// let call = retry(&STORE, || {
///     attempt += 1;
///     fetch(attempt)
/// });
/// call.run().await
/// # }
/// ```
///
/// In a closure, put state that each attempt changes behind a lock, which only one attempt at a time takes. This passes a
/// connection from one attempt to the next:
///
/// ```
/// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
/// # #[derive(RetryInfo)]
/// # struct Crashed;
/// # struct Connection;
/// # impl Connection { async fn send(&mut self, row: &str) -> Result<(), Crashed> { Ok(()) } }
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// use tokio::sync::Mutex;
///
/// # async fn example(connection: Connection, rows: &[&str]) -> Result<(), Crashed> {
/// let connection = Mutex::new(connection);
/// for row in rows {
///     retry(&STORE, async || connection.lock().await.send(row).await).run().await?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// Only do so if a call that failed leaves the state as it was. A writer that drops its buffer on failure, for example, succeeds
/// at the next attempt without that part.
///
/// The default policy needs an error type that implements [`RetryInfo`](trait@crate::RetryInfo). For other error types,
/// use [`Retry::when`] or [`Retry::policy`].
///
/// If the future is dropped while it waits for a retry, the cost of that retry is refunded to the quota.
///
/// # One strategy for all calls
///
/// A strategy that each call creates has a full quota in each call and protects nothing, so an owned strategy does not
/// compile. Three forms of the same mistake have the types of correct code and compile:
///
/// - `retry(&StandardRetryStrategy::new(), ..)` and `retry(Arc::new(StandardRetryStrategy::new()), ..)`, with a strategy that
///   is made on the spot,
/// - `retry(&CONST, ..)`, where `CONST` is a `const` instead of a `static`. Clippy reports it as
///   `borrow_interior_mutable_const`, and the constant itself as `declare_interior_mutable_const`.
///
/// With all of them, each call retries as if it were the only one. Use a `static`, or a field of a value that lives as long as
/// the client.
pub fn retry<S, F, Fut>(strategy: S, attempt: F) -> Retry<S, F>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut() -> Fut + ReturnsFuture<Fut>,
{
    Retry::new(strategy, Name::of_closure::<F>(), attempt, DEFAULT_TIMER)
}

/// Creates a call as [`retry()`] does, for an async closure that takes the context of each attempt.
///
/// The [context](AttemptContext) has the number of the attempt, the id of the operation, the previous failure and the
/// time that is left. [`retry()`] shows how to pass state of the caller from one attempt to the next.
///
/// ```
/// # use retry_core::RetryInfo;
/// use retry_core::{PatientRetryStrategy, retry_with_context};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # async fn send(key: String) -> Result<(), Failed> { Ok(()) }
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// # async fn example() -> Result<(), Failed> {
/// // The id is the same for all attempts, so that the server can tell that it has seen the
/// // request before.
/// retry_with_context(&STORE, |context| send(context.operation_id().to_string())).run().await
/// # }
/// ```
pub fn retry_with_context<S, F, Fut>(strategy: S, attempt: F) -> Retry<S, WithContext<F>>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut(AttemptContext) -> Fut + ReturnsFuture<Fut>,
{
    Retry::new(strategy, Name::of_closure::<F>(), WithContext(attempt), DEFAULT_TIMER)
}

/// Creates a call as [`retry()`] does, for a closure that blocks its thread. The default [timer](Retry::timer) is
/// [`StdTimer`].
///
/// [`max_time`](Retry::max_time) bounds the waits and the starts of attempts. An attempt can't be cut, so there is no
/// `attempt_timeout`.
///
/// ```
/// # use std::io;
/// use retry_core::{PatientRetryStrategy, retry_blocking};
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # fn read() -> io::Result<String> { Ok(String::new()) }
/// let content = retry_blocking(&STORE, || read())
///     .when(|error| error.kind() == io::ErrorKind::TimedOut)
///     .run()?;
/// # Ok::<(), io::Error>(())
/// ```
pub fn retry_blocking<S, F, R>(strategy: S, attempt: F) -> Retry<S, Blocking<F>, StandardRetryPolicy, StdTimer>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut() -> R,
{
    Retry::new(strategy, Name::of_closure::<F>(), Blocking(attempt), StdTimer)
}

/// Creates a call as [`retry_blocking`] does, for a closure that takes the context of each attempt, as in
/// [`retry_with_context`].
///
/// ```
/// # use std::io;
/// use retry_core::retry::retry_blocking_with_context;
/// use retry_core::PatientRetryStrategy;
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # fn read(attempt: u32) -> io::Result<String> { Ok(String::new()) }
/// let call = retry_blocking_with_context(&STORE, |context| read(context.attempt()));
/// let content = call.when(|error| error.kind() == io::ErrorKind::TimedOut).run()?;
/// # Ok::<(), io::Error>(())
/// ```
pub fn retry_blocking_with_context<S, F, R>(
    strategy: S,
    attempt: F,
) -> Retry<S, Blocking<WithContext<F>>, StandardRetryPolicy, StdTimer>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut(AttemptContext) -> R,
{
    Retry::new(strategy, Name::of_closure::<F>(), Blocking(WithContext(attempt)), StdTimer)
}

/// A call that retries a closure. It is created by [`retry()`] and started by [`run`](Retry::run) or
/// [`report`](Retry::report).
///
/// ```
/// use retry_core::{PatientRetryStrategy, retry};
/// use std::io::{Error, ErrorKind};
/// # async fn connect() -> Result<(), Error> { Ok(()) }
///
/// static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # async fn example() -> Result<(), Error> {
/// let call = retry(&SERVER, || connect())
///     .when(|error: &Error| error.kind() == ErrorKind::ConnectionRefused)
///     .on_retry(|error, event| eprintln!("{error}: {}", event.kind.as_str()))
///     .name("connect");
/// call.run().await
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.run()` or `.report()`"]
pub struct Retry<S, F, P = StandardRetryPolicy, T = DefaultTimer, O = Unobserved, L = Unlimited> {
    function: Function<S, F>,
    policy: P,
    timer: T,
    observer: O,
    limits: L,
}

/// The closure, its strategy, and its name.
#[derive(Clone, Debug)]
struct Function<S, F> {
    strategy: S,
    attempt: F,
    name: Name,
    /// Whether the strategy's maximum number of attempts does not apply.
    unlimited: bool,
}

impl<S, F, T> Retry<S, F, StandardRetryPolicy, T> {
    fn new(strategy: S, name: Name, attempt: F, timer: T) -> Self {
        let function = Function { strategy, attempt, name, unlimited: false };
        Self { function, policy: StandardRetryPolicy::new(), timer, observer: Unobserved, limits: Unlimited }
    }
}
