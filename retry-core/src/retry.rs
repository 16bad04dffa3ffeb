//! Retries without macros: a closure that makes a future, and a strategy.

use crate::observe::Report;
use crate::operation::{Operation, Settled, sleep};
use crate::policy::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy};
use crate::strategy::{Calls, RetryError, RetryStrategy, Share};
use crate::time::{BoxSleep, DEFAULT_TIMER, DefaultTimer, Timer, Timestamp};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
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
/// let object = retry(&STORE, || fetch("key")).await?;
/// # Ok(())
/// # }
/// ```
///
/// The error says what it means by [`RetryInfo`](trait@crate::RetryInfo), or the call says it with [`Retry::when`]. (If
/// rustc complains that `Retry` "is not a future", neither is the case.)
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

/// A call to be retried: made by [`retry()`], carried out by `.await`.
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.await`"]
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
    /// retry(&STORE, || connect()).when(|error| error.kind() == io::ErrorKind::ConnectionRefused).await
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
    /// retry(&STORE, || send()).when(|error| error.status == 503).retry_after(|error| error.retry_after).await
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
    /// use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryStrategy, retry};
    ///
    /// /// Polls until the job is done.
    /// struct UntilDone;
    ///
    /// impl RetryPolicy<Option<u32>> for UntilDone {
    ///     fn evaluate(&self, outcome: &Option<u32>) -> RetryDirective {
    ///         match outcome {
    ///             Some(_) => RetryDirective::Succeed,
    ///             None => RetryDirective::retry(RetryErrorType::Other),
    ///         }
    ///     }
    /// }
    ///
    /// # async fn result_of_job() -> Option<u32> { Some(1) }
    /// # static JOBS: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # async fn example() {
    /// let result = retry(&JOBS, || result_of_job()).policy(UntilDone).await;
    /// # }
    /// ```
    pub fn policy<Q>(self, policy: Q) -> Retry<S, F, Q, T> {
        let Self { strategy, operation, policy: _, timer } = self;
        Retry { strategy, operation, policy, timer }
    }

    /// Sets clock and sleeper: [`DefaultTimer`] unless you say otherwise.
    pub fn timer<U: Timer>(self, timer: U) -> Retry<S, F, P, U> {
        let Self { strategy, operation, policy, timer: _ } = self;
        Retry { strategy, operation, policy, timer }
    }

    /// Gives the outcome together with the attempts made, the reason why there were no more, and the elapsed time. (The
    /// attribute has no such form, since the signature of its function is the user's; there, events tell.)
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
    pub fn report<Fut>(self) -> ReportFuture<S, F, Fut, P, T>
    where
        S: RetryStrategy,
        F: FnMut() -> Fut,
        Fut: Future,
        T: Timer,
    {
        ReportFuture { started: None, call: self.into_future_unchecked() }
    }

    fn into_future_unchecked<Fut>(self) -> RetryFuture<S, F, Fut, P, T>
    where
        S: RetryStrategy,
        F: FnMut() -> Fut,
        T: Timer,
    {
        RetryFuture { retry: self, operation: None, state: State::Waiting { sleep: None } }
    }
}

impl<S, F, Fut, P, T> IntoFuture for Retry<S, F, P, T>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    P: RetryPolicy<Fut::Output>,
    T: Timer,
{
    type Output = Fut::Output;
    type IntoFuture = RetryFuture<S, F, Fut, P, T>;

    fn into_future(self) -> Self::IntoFuture {
        self.into_future_unchecked()
    }
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

pin_project! {
    /// A call under way. Like other futures it panics if it is polled after it has ended.
    #[must_use = "futures do nothing unless polled"]
    pub struct RetryFuture<S: RetryStrategy, F, Fut, P, T: Timer> {
        retry: Retry<S, F, P, T>,
        // None before the first poll.
        operation: Option<Operation<S::Token>>,
        #[pin]
        state: State<Fut, T>,
    }

    impl<S: RetryStrategy, F, Fut, P, T: Timer> PinnedDrop for RetryFuture<S, F, Fut, P, T> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let (StateProjection::Waiting { .. }, Some(operation)) = (this.state.project(), this.operation) {
                operation.abandon(&this.retry.strategy);
            }
        }
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<Fut, T: Timer> {
        Waiting { sleep: Option<BoxSleep<T>> },
        Running { #[pin] attempt: Fut },
        Done,
    }
}

/// What a [`RetryFuture`] ends with.
struct Ended<R> {
    outcome: R,
    attempts: u32,
    reason: Option<RetryError>,
}

impl<S, F, Fut, P, T> RetryFuture<S, F, Fut, P, T>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    P: RetryPolicy<Fut::Output>,
    T: Timer,
{
    fn poll_ended(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended<Fut::Output>> {
        let mut this = self.project();
        let Retry { strategy, operation: call, policy, timer } = this.retry;
        let name = std::any::type_name::<F>();
        let operation = this.operation.get_or_insert_with(|| Operation::begin(strategy, timer));
        loop {
            match this.state.as_mut().project() {
                StateProjection::Waiting { sleep: pending } => {
                    if let Some(pending) = pending {
                        ready!(pending.as_mut().poll(context));
                    }
                    *pending = operation.wait_left(strategy, timer).map(|delay| sleep(timer, delay));
                    if pending.is_none() {
                        this.state.set(State::Running { attempt: call() });
                    }
                }
                StateProjection::Running { attempt } => {
                    let outcome = ready!(attempt.poll(context));
                    match operation.settle(strategy, policy.evaluate(&outcome), timer, name) {
                        Settled::Again => this.state.set(State::Waiting { sleep: None }),
                        Settled::Done { attempts, reason } => {
                            this.state.set(State::Done);
                            return Poll::Ready(Ended { outcome, attempts, reason });
                        }
                    }
                }
                StateProjection::Done => panic!("a retried call was polled after it had ended"),
            }
        }
    }
}

impl<S, F, Fut, P, T> Future for RetryFuture<S, F, Fut, P, T>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    P: RetryPolicy<Fut::Output>,
    T: Timer,
{
    type Output = Fut::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_ended(context).map(|ended| ended.outcome)
    }
}

pin_project! {
    /// A call under way, of which [`Retry::report`] wants to know all.
    #[must_use = "futures do nothing unless polled"]
    pub struct ReportFuture<S: RetryStrategy, F, Fut, P, T: Timer> {
        started: Option<Timestamp>,
        #[pin]
        call: RetryFuture<S, F, Fut, P, T>,
    }
}

impl<S, F, Fut, P, T> Future for ReportFuture<S, F, Fut, P, T>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    P: RetryPolicy<Fut::Output>,
    T: Timer,
{
    type Output = Report<Fut::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let started = *this.started.get_or_insert_with(|| this.call.retry.timer.now());
        let Ended { outcome, attempts, reason } = ready!(this.call.as_mut().poll_ended(context));
        let elapsed = this.call.retry.timer.now().saturating_since(started);
        Poll::Ready(Report { outcome, attempts, reason, elapsed })
    }
}
