//! Retries without macros: a closure that makes a future, and a strategy.

pub use crate::operation::{AttemptTimeout, LimitsOn, MaxTime, OptionalObserver, TimeLimits, Unlimited, Unobserved};

use crate::observe::{Observer, Report};
use crate::operation::{Attempt, Call, Decision, Name};
use crate::policy::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy};
use crate::strategy::{Operations, RetryError, RetryStrategy, Share};
use crate::time::{DEFAULT_TIMER, DefaultTimer, Timer};
use std::ops::ControlFlow;
use std::pin::pin;
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
/// What the closure changes from one attempt to the next is changed before its future is made, and handed on by value;
/// the future can't borrow it, because the closure is called again.
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retry};
/// # #[derive(RetryInfo)]
/// # struct Crashed;
/// # async fn fetch(attempt: u32) -> Result<(), Crashed> { Ok(()) }
/// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
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
/// The error says what it means by [`RetryInfo`](trait@crate::RetryInfo), or the call says it with [`Retry::when`].
///
/// If the future is dropped while it waits for a retry, what was paid for that retry goes back to the quota.
///
/// # One strategy for all calls
///
/// A strategy that is made in each call has a full quota in each call, which protects nothing, so an owned strategy is
/// refused. Three forms of the same mistake have the types of correct code and compile:
///
/// - `retry(&StandardRetryStrategy::new(), ..)` and `retry(Arc::new(StandardRetryStrategy::new()), ..)`, with a strategy that
///   is made on the spot,
/// - `retry(&CONST, ..)`, where `CONST` is a `const` instead of a `static`. Clippy reports it as
///   `borrow_interior_mutable_const`, and the constant itself as `declare_interior_mutable_const`.
///
/// In all of them, each call retries as if it were the only one. Use a `static`, or a field of something that lives as long as
/// the client.
pub fn retry<S, F, Fut>(strategy: S, attempt: F) -> Retry<S, F>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut() -> Fut,
    Fut: Future,
{
    let function = Function { strategy, attempt, name: Name::Given(std::any::type_name::<F>()) };
    let (policy, timer) = (StandardRetryPolicy::new(), DEFAULT_TIMER);
    Retry { function, policy, timer, observer: Unobserved, limits: Unlimited }
}

/// A call to be retried: made by [`retry()`], carried out by [`run`](Retry::run) or [`report`](Retry::report).
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.run().await` or `.report().await`"]
pub struct Retry<S, F, P = StandardRetryPolicy, T = DefaultTimer, O = Unobserved, L = Unlimited> {
    function: Function<S, F>,
    policy: P,
    timer: T,
    observer: O,
    limits: L,
}

/// What is retried, and by which strategy.
#[derive(Clone, Debug)]
struct Function<S, F> {
    strategy: S,
    attempt: F,
    name: Name,
}

impl<S, F, T, O, L> Retry<S, F, StandardRetryPolicy, T, O, L> {
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
    pub fn when<Fut, R, E, W>(self, when: W) -> Retry<S, F, WhenPolicy<W>, T, O, L>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<R, E>>,
        W: Fn(&E) -> bool,
    {
        self.policy(WhenPolicy { when, retry_after: NoRetryAfter })
    }
}

impl<S, F, W, T, O, L> Retry<S, F, WhenPolicy<W>, T, O, L> {
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
    pub fn retry_after<Fut, R, E, H>(self, retry_after: H) -> Retry<S, F, WhenPolicy<W, H>, T, O, L>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<R, E>>,
        H: Fn(&E) -> Option<Duration>,
    {
        let Self { function, policy: WhenPolicy { when, retry_after: _ }, timer, observer, limits } = self;
        Retry { function, policy: WhenPolicy { when, retry_after }, timer, observer, limits }
    }
}

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L> {
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
    pub fn policy<Q>(self, policy: Q) -> Retry<S, F, Q, T, O, L> {
        let Self { function, policy: _, timer, observer, limits } = self;
        Retry { function, policy, timer, observer, limits }
    }

    /// Sets clock and sleeper: [`DefaultTimer`] unless you say otherwise.
    pub fn timer<U: Timer>(self, timer: U) -> Retry<S, F, P, U, O, L> {
        let Self { function, policy, timer: _, observer, limits } = self;
        Retry { function, policy, timer, observer, limits }
    }

    /// Sets who is told what happens to the call: nobody unless you say otherwise.
    pub fn observer<N: Observer>(self, observer: N) -> Retry<S, F, P, T, N, L> {
        let Self { function, policy, timer, observer: _, limits } = self;
        Retry { function, policy, timer, observer, limits }
    }

    /// Sets the name by which observers and events know the call: the path of the closure unless you say otherwise.
    pub fn name(mut self, name: &'static str) -> Self {
        self.function.name = Name::Given(name);
        self
    }

    fn within<M>(self, limits: M) -> Retry<S, F, P, T, O, M> {
        let Self { function, policy, timer, observer, limits: _ } = self;
        Retry { function, policy, timer, observer, limits }
    }
}

impl<S, F, P, T, O, L: TimeLimits> Retry<S, F, P, T, O, L> {
    /// Sets how long all of it may take, from the first poll on: attempts, backoff, and the wait for a limiter. No
    /// limit unless you say otherwise.
    ///
    /// It is hard: no wait ends after it, and an attempt that is under way when it is over is cut. Then the call ends
    /// with [`RetryError::MaxTime`]; its outcome is the last one that there was, an `Ok` too, else a [`TimedOut`](crate::TimedOut). (An
    /// attempt that has an outcome when it is polled for the last time counts. One that blocks its thread can't be cut. A time of
    /// zero leaves one poll.)
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retry};
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// #[derive(RetryInfo)]
    /// #[retry(transparent)]
    /// struct NoAnswer(TimedOut);
    ///
    /// impl From<TimedOut> for NoAnswer {
    ///     fn from(error: TimedOut) -> Self {
    ///         Self(error)
    ///     }
    /// }
    ///
    /// # async fn fetch() -> Result<(), NoAnswer> { Ok(()) }
    /// # async fn example() -> Result<(), NoAnswer> {
    /// let call = retry(&STORE, || fetch());
    /// call.max_time(Duration::from_secs(30)).attempt_timeout(Duration::from_secs(5)).run().await
    /// # }
    /// ```
    pub fn max_time(self, time: Duration) -> Retry<S, F, P, T, O, MaxTime> {
        let limits = MaxTime::new(time, self.limits.attempt_timeout());
        self.within(limits)
    }

    /// Sets how long one attempt may take; no limit unless you say otherwise. An attempt that is cut has a [`TimedOut`](crate::TimedOut) for
    /// its outcome, and the policy judges that like any other. A time of zero leaves each attempt one poll.
    ///
    /// See [`max_time`](Retry::max_time) for an example.
    pub fn attempt_timeout(self, time: Duration) -> Retry<S, F, P, T, O, L::WithAttemptTimeout> {
        let limits = self.limits.with_attempt_timeout(time);
        self.within(limits)
    }
}

impl<S, F, Fut, P, T, O, L> Retry<S, F, P, T, O, L>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Fut::Output>,
    P: RetryPolicy<Fut::Output>,
{
    // With the bounds at the methods, rustc would report an outcome that can't be judged once for the method, once for its
    // future and once for the `.await`.

    /// Carries the call out, and gives its last outcome.
    pub async fn run(mut self) -> Fut::Output {
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
    pub async fn report(mut self) -> Report<Fut::Output> {
        let started = self.timer.now();
        let Conclusion { outcome, attempts, reason } = self.conclude().await;
        Report { outcome, attempts, reason, elapsed: self.timer.now().saturating_since(started) }
    }

    async fn conclude(&mut self) -> Conclusion<Fut::Output> {
        let mut operation = self.call().begin(self.limits);
        let mut is_delayed = operation.is_delayed();
        let mut last = L::Last::default();
        loop {
            // A `while let` would hold timer and observer while it waits.
            loop {
                let Some(wait) = self.call().wait(&mut operation, is_delayed) else { break };
                wait.await;
                is_delayed = false;
            }
            let outcome = if L::ARE_NONE {
                (self.function.attempt)().await
            } else {
                let (deadline, sleep) = self.call().deadline(&mut operation);
                // The closure is called when the attempt is polled, which it isn't if the time is up.
                let attempt = async { (self.function.attempt)().await };
                let attempted = Attempt::new(deadline, pin!(sleep), pin!(attempt)).await;
                match attempted {
                    Ok(outcome) => outcome,
                    Err(cut) => match self.call().cut(&operation, cut, &mut last) {
                        ControlFlow::Continue(outcome) => outcome,
                        ControlFlow::Break(outcome) => {
                            let (attempts, reason) = (operation.attempts(), Some(RetryError::MaxTime));
                            return Conclusion { outcome, attempts, reason };
                        }
                    },
                }
            };
            let directive = self.policy.evaluate(&outcome);
            match self.call().settle(&mut operation, directive) {
                Decision::Retry => {
                    self.call().keep(&mut operation, &mut last, outcome);
                    is_delayed = true;
                }
                Decision::Stop { attempts, reason } => return Conclusion { outcome, attempts, reason },
            }
        }
    }

    #[inline]
    fn call(&self) -> Call<'_, S, &T, O::Ref<'_>> {
        Call::new(&self.function.name, &self.function.strategy).with_timer(&self.timer).with_observer(&self.observer)
    }
}

/// How a call ended.
struct Conclusion<R> {
    outcome: R,
    attempts: u32,
    reason: Option<RetryError>,
}

/// The policy that [`Retry::when`] and [`Retry::retry_after`] make of closures.
#[derive(Clone, Copy, Debug)]
pub struct WhenPolicy<W, H = NoRetryAfter> {
    when: W,
    retry_after: H,
}

/// The absence of a closure for [`Retry::retry_after`].
#[derive(Clone, Copy, Debug)]
pub struct NoRetryAfter;

impl<O, E, W: Fn(&E) -> bool> RetryPolicy<Result<O, E>> for WhenPolicy<W> {
    fn evaluate(&self, outcome: &Result<O, E>) -> RetryDirective {
        judge(outcome, &self.when, |_| None)
    }
}

impl<O, E, W, H> RetryPolicy<Result<O, E>> for WhenPolicy<W, H>
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
        Ok(_) => RetryDirective::succeed(),
        Err(error) if when(error) => RetryDirective::retry(RetryErrorType::Other).after(retry_after(error)),
        Err(error) => RetryDirective::fail(Some(RetryErrorType::Other)).after(retry_after(error)),
    }
}
