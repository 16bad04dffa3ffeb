//! Scopes in which each operation makes one attempt, because the caller retries.

use super::switch::{Inside, Living};
use std::future::poll_fn;
use std::pin::pin;

/// A scope in which each operation makes one attempt, for code that enters it again and again, such as in each poll of its own future. Use
/// [`without_retries`] if you have a future, and [`without_retries_blocking`] for a function.
///
/// ```
/// # use retry_core::{PatientRetryStrategy, RetryInfo, retry_blocking};
/// use retry_core::strategy::WithoutRetries;
///
/// # #[derive(Debug, RetryInfo)]
/// # #[retry(throttling)]
/// # struct SlowDown;
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// let scope = WithoutRetries::new();
/// // One attempt.
/// scope.run(|| retry_blocking(&STORE, || Err::<(), _>(SlowDown)).run()).unwrap_err();
/// ```
#[derive(Debug)]
pub struct WithoutRetries(Living);

impl WithoutRetries {
    /// Creates a scope. Keep it as long as it may be entered.
    #[expect(clippy::new_without_default, reason = "a scope is created where it is kept")]
    pub fn new() -> Self {
        Self(Living::new())
    }

    /// Calls a function in the scope. It applies to the operations that this thread polls or runs in the function.
    pub fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        let Self(_living) = self;
        let _inside = Inside::enter();
        run()
    }
}

/// Runs a future in which each operation makes one attempt, because its caller retries.
///
/// Retries in layers multiply: if each of three services makes five attempts, a failure at the last one gets 125 requests.
/// So retry at one level only. Use this if the code that retries below can't be changed, or also has other callers.
///
/// A failure that would be retried ends its operation with [`RetryError::Disabled`](crate::RetryError::Disabled), as while
/// [retries are switched off](crate::set_retries_enabled): limiters still limit and learn, and nothing is taken from a quota.
///
/// It applies to operations of this library that this future polls. It does not apply to tasks that the future spawns, to
/// other threads, or to retries of other libraries. Without such a future in the process, it costs nothing; with one, a
/// failure reads a thread-local variable.
///
/// ```
/// # use retry_core::{PatientRetryStrategy, RetryInfo, retry, without_retries};
/// # #[derive(Debug, RetryInfo)]
/// # #[retry(throttling)]
/// # struct SlowDown;
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// async fn load() -> Result<(), SlowDown> {
///     retry(&STORE, async || Err(SlowDown)).run().await
/// }
///
/// # async fn example() {
/// // One attempt.
/// without_retries(load()).await.unwrap_err();
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example());
/// ```
pub async fn without_retries<F: AnyFuture>(future: F) -> F::Output {
    let (scope, mut future) = (WithoutRetries::new(), pin!(future));
    poll_fn(|context| scope.run(|| future.as_mut().poll(context))).await
}

/// Any future. The trait exists for its message.
#[diagnostic::on_unimplemented(
    message = "`without_retries` takes a future, and `{Self}` does not implement `Future`",
    label = "expected a future",
    note = "for calls that block their thread, write `without_retries_blocking(|| ..)`",
    note = "a call of `retry(..)` becomes a future by `.run()` or `.report()`"
)]
pub trait AnyFuture: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future> AnyFuture for F {}

/// Calls a function in which each operation makes one attempt; see [`without_retries`].
///
/// It applies to the operations that this thread begins and ends in the function.
///
/// ```
/// # use retry_core::{PatientRetryStrategy, RetryInfo, retry_blocking, without_retries_blocking};
/// # #[derive(Debug, RetryInfo)]
/// # #[retry(throttling)]
/// # struct SlowDown;
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// // One attempt.
/// let loaded = without_retries_blocking(|| {
///     retry_blocking(&STORE, || Err::<(), _>(SlowDown)).run()
/// });
/// loaded.unwrap_err();
/// ```
pub fn without_retries_blocking<R>(run: impl FnOnce() -> R) -> R {
    WithoutRetries::new().run(run)
}
