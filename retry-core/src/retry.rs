//! Retries without macros: a closure that makes a future, and a strategy.

use crate::observe::Report;
use crate::operation::{Operation, Settled, Wait};
use crate::policy::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy};
use crate::strategy::{Calls, RetryError, RetryStrategy, Share};
use crate::time::{DEFAULT_TIMER, DefaultTimer, Timer};
use std::time::Duration;

/// Retries a call, as the strategy allows.
///
/// Each attempt calls the closure anew and awaits the future that it makes. The last outcome comes back untouched. The
/// strategy is one that calls share: a reference to it, or an [`Arc`](std::sync::Arc).
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// use retry_core::{StandardRetryStrategy, retry};
///
/// # struct Crashed;
/// # impl ErrorInfo for Crashed {}
/// # impl RetryInfo for Crashed {}
/// # async fn fetch(key: &str) -> Result<String, Crashed> { Ok(key.to_owned()) }
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// # async fn example() -> Result<(), Crashed> {
/// let object = retry(&STORE, || fetch("key")).run().await?;
/// # Ok(())
/// # }
/// ```
///
/// The error says what it means by [`RetryInfo`](trait@crate::RetryInfo), or the call says it with [`Retry::when`].
///
/// If the future is dropped while it waits for a retry, what was paid for that retry goes back to the quota.
pub fn retry<S, F, Fut>(strategy: S, operation: F) -> Retry<S, F>
where
    S: RetryStrategy,
    Calls: Share<S>,
    F: FnMut() -> Fut,
    Fut: Future,
{
    Retry { strategy, operation, policy: StandardRetryPolicy::new(), timer: DEFAULT_TIMER }
}

/// A call to be retried: made by [`retry()`], carried out by [`run`](Retry::run) or [`report`](Retry::report).
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.run().await` or `.report().await`"]
pub struct Retry<S, F, P = StandardRetryPolicy, T = DefaultTimer> {
    strategy: S,
    operation: F,
    policy: P,
    timer: T,
}

impl<S, F, T> Retry<S, F, StandardRetryPolicy, T> {
    /// Says whether the call may be carried out twice; see [`StandardRetryPolicy::idempotent`].
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.policy = self.policy.idempotent(idempotent);
        self
    }

    /// Says which errors are retried, in place of [`RetryInfo`](trait@crate::RetryInfo): for error types that don't implement
    /// it. It decides alone, so there is nothing that [`idempotent`](Retry::idempotent) could add.
    ///
    /// The error counts as [`RetryErrorType::Other`]. If throttling and timeouts are to be told apart, write a
    /// [policy](Retry::policy).
    ///
    /// ```
    /// # use std::io;
    /// # use retry_core::{StandardRetryStrategy, retry};
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # async fn connect() -> io::Result<()> { Ok(()) }
    /// # async fn example() -> io::Result<()> {
    /// retry(&STORE, || connect()).when(|error| error.kind() == io::ErrorKind::ConnectionRefused).run().await
    /// # }
    /// ```
    pub fn when<Fut, O, E, W>(self, when: W) -> Retry<S, F, When<W>, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<O, E>>,
        W: Fn(&E) -> bool,
    {
        let Self { strategy, operation, policy: _, timer } = self;
        Retry { strategy, operation, policy: When { when, retry_after: NoHint }, timer }
    }
}

impl<S, F, W, T> Retry<S, F, When<W>, T> {
    /// Says how long the server asked to wait, if it did; the wait before the retry is at least that long. It follows
    /// [`when`](Retry::when).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use retry_core::{StandardRetryStrategy, retry};
    /// # struct Response { status: u16, retry_after: Option<Duration> }
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # async fn send() -> Result<(), Response> { Ok(()) }
    /// # async fn example() -> Result<(), Response> {
    /// retry(&STORE, || send()).when(|error| error.status == 503).retry_after(|error| error.retry_after).run().await
    /// # }
    /// ```
    pub fn retry_after<Fut, O, E, H>(self, retry_after: H) -> Retry<S, F, When<W, H>, T>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<O, E>>,
        H: Fn(&E) -> Option<Duration>,
    {
        let Self { strategy, operation, policy, timer } = self;
        Retry { strategy, operation, policy: When { when: policy.when, retry_after }, timer }
    }
}

impl<S, F, P, T> Retry<S, F, P, T> {
    /// Sets what outcomes mean, `Ok` included: [`StandardRetryPolicy`] unless you say otherwise.
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{StandardRetryPolicy, StandardRetryStrategy, retry};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # async fn example() -> Result<(), Failed> {
    /// retry(&STORE, || fetch()).policy(StandardRetryPolicy::new().idempotent(true)).run().await
    /// # }
    /// ```
    ///
    /// See [`policy_fn`](crate::policy_fn) for a policy that is a closure.
    pub fn policy<Q>(self, policy: Q) -> Retry<S, F, Q, T> {
        let Self { strategy, operation, policy: _, timer } = self;
        Retry { strategy, operation, policy, timer }
    }

    /// Sets clock and sleeper: [`DefaultTimer`] unless you say otherwise.
    pub fn timer<U: Timer>(self, timer: U) -> Retry<S, F, P, U> {
        let Self { strategy, operation, policy, timer: _ } = self;
        Retry { strategy, operation, policy, timer }
    }
}

impl<S, F, Fut, P, T> Retry<S, F, P, T>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    T: Timer,
{
    // The bound on the policy stands at each method: there rustc says what is missing in our words.

    /// Carries the call out, and gives its last outcome.
    pub async fn run(mut self) -> Fut::Output
    where
        P: RetryPolicy<Fut::Output>,
    {
        self.conclude().await.outcome
    }

    /// Carries the call out, and gives the outcome together with the attempts made, the reason why there were no more,
    /// and the elapsed time. (The attribute has no such form, since the signature of its function is the user's; there,
    /// events tell.)
    ///
    /// ```
    /// # use retry_core::{ErrorInfo, RetryInfo};
    /// # struct Crashed;
    /// # impl ErrorInfo for Crashed {}
    /// # impl RetryInfo for Crashed {}
    /// # use retry_core::{StandardRetryStrategy, retry};
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # async fn fetch() -> Result<(), Crashed> { Ok(()) }
    /// # async fn example() {
    /// let report = retry(&STORE, || fetch()).report().await;
    /// if let Some(reason) = report.reason {
    ///     eprintln!("gave up after {} attempts in {:?}: {reason}", report.attempts, report.elapsed);
    /// }
    /// # }
    /// ```
    pub async fn report(mut self) -> Report<Fut::Output>
    where
        P: RetryPolicy<Fut::Output>,
    {
        let started = self.timer.now();
        let Conclusion { outcome, attempts, reason } = self.conclude().await;
        Report { outcome, attempts, reason, elapsed: self.timer.now().saturating_since(started) }
    }

    async fn conclude(&mut self) -> Conclusion<Fut::Output>
    where
        P: RetryPolicy<Fut::Output>,
    {
        let Self { strategy, operation: attempt, policy, timer } = self;
        let mut operation = Operation::begin(strategy, timer);
        loop {
            while let Some(wait) = Wait::next(&mut operation, strategy, timer) {
                wait.await;
            }
            let outcome = attempt().await;
            match operation.settle(strategy, policy.evaluate(&outcome), timer, std::any::type_name::<F>()) {
                Settled::Again => {}
                Settled::Done { attempts, reason } => return Conclusion { outcome, attempts, reason },
            }
        }
    }
}

/// What a call comes to.
struct Conclusion<R> {
    outcome: R,
    attempts: u32,
    reason: Option<RetryError>,
}

/// The policy that [`Retry::when`] and [`Retry::retry_after`] make of closures.
#[derive(Clone, Copy, Debug)]
pub struct When<W, H = NoHint> {
    when: W,
    retry_after: H,
}

/// Stands for the missing closure of [`Retry::retry_after`].
#[derive(Clone, Copy, Debug)]
pub struct NoHint;

impl<O, E, W: Fn(&E) -> bool> RetryPolicy<Result<O, E>> for When<W> {
    fn evaluate(&self, outcome: &Result<O, E>) -> RetryDirective {
        judge(outcome, &self.when, |_| None)
    }
}

impl<O, E, W, H> RetryPolicy<Result<O, E>> for When<W, H>
where
    W: Fn(&E) -> bool,
    H: Fn(&E) -> Option<Duration>,
{
    fn evaluate(&self, outcome: &Result<O, E>) -> RetryDirective {
        judge(outcome, &self.when, &self.retry_after)
    }
}

fn judge<O, E>(
    outcome: &Result<O, E>,
    when: impl Fn(&E) -> bool,
    retry_after: impl Fn(&E) -> Option<Duration>,
) -> RetryDirective {
    match outcome {
        Ok(_) => RetryDirective::Succeed,
        Err(error) if when(error) => RetryDirective::retry(RetryErrorType::Other).after(retry_after(error)),
        Err(_) => RetryDirective::fail(Some(RetryErrorType::Other)),
    }
}
