//! Retries without macros: a closure and a strategy.

mod closure;
mod run;
mod when;

pub use closure::{AsyncAttempts, Attempts, Blocking, BlockingAttempts, Telling, WithContext};
pub use when::{NoRetryAfter, WhenPolicy};

pub use crate::operation::{AttemptTimeout, LimitsOn, MaxTime, OptionalObserver, TimeLimits, Unlimited, Unobserved};

use crate::observe::{Event, Observer};
use crate::operation::{AttemptContext, Name};
use crate::policy::StandardRetryPolicy;
use crate::strategy::{Operations, RetryStrategy, Share};
use crate::time::{BlockingTimer, DEFAULT_TIMER, DefaultTimer, StdTimer, Timer, Timestamp};
use std::any::type_name;
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
/// The future can't borrow `&mut` state of the closure, because the closure is called again for each attempt. The closure
/// can change that state before it makes the future, and pass it on by value. If the attempt itself needs `&mut self` or a
/// `&mut` argument, use the attribute [`retryable`](macro@crate::retryable), which lends them to each attempt.
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
    Retry::new(strategy, type_name::<F>(), attempt, DEFAULT_TIMER)
}

/// Retries a call whose closure is handed the context of each attempt: its number, the id of the operation, the failure
/// before and the time left. It does what [`retry()`] does otherwise.
///
/// ```
/// # use retry_core::RetryInfo;
/// use retry_core::{StandardRetryStrategy, retry_with_context};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # async fn send(key: String) -> Result<(), Failed> { Ok(()) }
/// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn example() -> Result<(), Failed> {
/// // The id is the same for all attempts, so that the server can tell that it has seen the request before.
/// retry_with_context(&STORE, |context| send(context.operation_id().to_string())).run().await
/// # }
/// ```
pub fn retry_with_context<S, F, Fut>(strategy: S, attempt: F) -> Retry<S, WithContext<F>>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut(AttemptContext) -> Fut,
    Fut: Future,
{
    Retry::new(strategy, type_name::<F>(), WithContext(attempt), DEFAULT_TIMER)
}

/// Retries a call that blocks its thread, as [`retry()`] does for futures. [`StdTimer`] sleeps, unless another
/// [timer](Retry::timer) is set.
///
/// [`max_time`](Retry::max_time) bounds the waits and the starts of attempts. An attempt can't be cut, so there is no
/// `attempt_timeout`.
///
/// ```
/// # use std::io;
/// use retry_core::{StandardRetryStrategy, retry_blocking};
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// # fn read() -> io::Result<String> { Ok(String::new()) }
/// let content = retry_blocking(&STORE, || read()).when(|error| error.kind() == io::ErrorKind::TimedOut).run()?;
/// # Ok::<(), io::Error>(())
/// ```
pub fn retry_blocking<S, F, R>(strategy: S, attempt: F) -> Retry<S, Blocking<F>, StandardRetryPolicy, StdTimer>
where
    S: RetryStrategy,
    Operations: Share<S>,
    F: FnMut() -> R,
{
    Retry::new(strategy, type_name::<F>(), Blocking(attempt), StdTimer)
}

/// Retries a call that blocks its thread, and whose closure is handed the context of each attempt: [`retry_blocking`] and
/// [`retry_with_context`] in one.
///
/// ```
/// # use std::io;
/// use retry_core::retry::retry_blocking_with_context;
/// use retry_core::StandardRetryStrategy;
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
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
    Retry::new(strategy, type_name::<F>(), Blocking(WithContext(attempt)), StdTimer)
}

/// A call to be retried: made by [`retry()`], carried out by [`run`](Retry::run) or [`report`](Retry::report).
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.run()` or `.report()`"]
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

impl<S, F, T> Retry<S, F, StandardRetryPolicy, T> {
    fn new(strategy: S, name: &'static str, attempt: F, timer: T) -> Self {
        let function = Function { strategy, attempt, name: Name::Given(name) };
        Self { function, policy: StandardRetryPolicy::new(), timer, observer: Unobserved, limits: Unlimited }
    }
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
    /// The error counts as [`RetryErrorType::Other`](crate::RetryErrorType::Other). If throttling and timeouts are to be told apart, write a
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
    pub fn when<R, E, W>(self, when: W) -> Retry<S, F, WhenPolicy<W>, T, O, L>
    where
        F: Attempts<Outcome = Result<R, E>>,
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
    pub fn retry_after<R, E, H>(self, retry_after: H) -> Retry<S, F, WhenPolicy<W, H>, T, O, L>
    where
        F: Attempts<Outcome = Result<R, E>>,
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

    fn with_attempts<G>(self, with: impl FnOnce(F) -> G) -> Retry<S, G, P, T, O, L> {
        let Self { function: Function { strategy, attempt, name }, policy, timer, observer, limits } = self;
        let function = Function { strategy, attempt: with(attempt), name };
        Retry { function, policy, timer, observer, limits }
    }

    fn with_timer<U>(self, timer: U) -> Retry<S, F, P, U, O, L> {
        let Self { function, policy, timer: _, observer, limits } = self;
        Retry { function, policy, timer, observer, limits }
    }

    fn within<M>(self, limits: M) -> Retry<S, F, P, T, O, M> {
        let Self { function, policy, timer, observer, limits: _ } = self;
        Retry { function, policy, timer, observer, limits }
    }
}

impl<S, F: AsyncAttempts, P, T, O, L> Retry<S, F, P, T, O, L> {
    /// Sets a closure that is told of each failure: the error, and the event that says what follows from it. For another
    /// attempt that is [`RetryScheduled`](crate::EventKind::RetryScheduled), with a [delay](crate::EventKind::delay), for the
    /// last failure [`Stopped`](crate::EventKind::Stopped), without one.
    ///
    /// An [`Observer`] is told more, and serves many calls, but it never sees the error.
    ///
    /// ```
    /// # use std::io;
    /// # use retry_core::{StandardRetryStrategy, retry};
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # async fn connect() -> io::Result<()> { Ok(()) }
    /// # async fn example() -> io::Result<()> {
    /// let call = retry(&STORE, || connect()).when(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    /// let call = call.on_retry(|error, event| match event.kind.delay() {
    ///     Some(delay) => eprintln!("retrying in {delay:.1?}: {error}"),
    ///     None => eprintln!("giving up: {error}"),
    /// });
    /// call.run().await
    /// # }
    /// ```
    pub fn on_retry<R, E, N>(self, on_retry: N) -> Retry<S, Telling<F, N>, P, T, O, L>
    where
        F: Attempts<Outcome = Result<R, E>>,
        N: FnMut(&E, &Event),
    {
        self.with_attempts(|attempts| Telling { attempts, on_retry })
    }

    /// Sets the timer, which tells the time and sleeps: [`DefaultTimer`] unless set.
    pub fn timer<U: Timer>(self, timer: U) -> Retry<S, F, P, U, O, L> {
        self.with_timer(timer)
    }
}

impl<S, F, P, T, O, L> Retry<S, Blocking<F>, P, T, O, L> {
    /// Sets a closure that is told of each failure: the error, and the event that says what follows from it, as for
    /// [`retry()`].
    #[expect(clippy::type_complexity, reason = "each part is a choice of the user's, and has a name")]
    pub fn on_retry<R, E, N>(self, on_retry: N) -> Retry<S, Blocking<Telling<Blocking<F>, N>>, P, T, O, L>
    where
        Blocking<F>: Attempts<Outcome = Result<R, E>>,
        N: FnMut(&E, &Event),
    {
        self.with_attempts(|attempts| Blocking(Telling { attempts, on_retry }))
    }

    /// Sets the timer, which tells the time and blocks the thread: [`StdTimer`] unless set.
    pub fn timer<U: BlockingTimer>(self, timer: U) -> Retry<S, Blocking<F>, P, U, O, L> {
        self.with_timer(timer)
    }
}

impl<S, F, P, T, O, L: TimeLimits> Retry<S, F, P, T, O, L> {
    /// Sets how long all of it may take, from the first poll on: attempts, backoff, and the wait for a limiter. No
    /// limit unless you say otherwise.
    ///
    /// It is hard: no wait ends after it, and an attempt that is under way when it is over is cut. Then the call ends
    /// with [`RetryError::MaxTime`](crate::RetryError::MaxTime); its outcome is the last one that there was, an `Ok` too, else a [`TimedOut`](crate::TimedOut). (An
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
        let limits = self.limits.with_operation().with_max_time(time);
        self.within(limits)
    }

    /// Sets the point in time at which all of it must be over: an [`Instant`](std::time::Instant) of the standard library or
    /// of tokio, or a [`Timestamp`]. Beside [`max_time`](Retry::max_time) the earlier one counts. It is as hard as that, and one
    /// that is past already leaves one poll.
    ///
    /// ```
    /// # use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retry};
    /// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    /// # #[derive(RetryInfo)]
    /// # #[retry(transparent)]
    /// # struct NoAnswer(TimedOut);
    /// # impl From<TimedOut> for NoAnswer { fn from(error: TimedOut) -> Self { Self(error) } }
    /// # async fn fetch(part: u32) -> Result<(), NoAnswer> { Ok(()) }
    /// use std::time::{Duration, Instant};
    ///
    /// /// Two calls that share ten seconds.
    /// # async fn both() -> Result<(), NoAnswer> {
    /// let deadline = Instant::now() + Duration::from_secs(10);
    /// retry(&STORE, || fetch(1)).deadline(deadline).run().await?;
    /// retry(&STORE, || fetch(2)).deadline(deadline).run().await
    /// # }
    /// ```
    pub fn deadline(self, deadline: impl Into<Timestamp>) -> Retry<S, F, P, T, O, MaxTime> {
        let limits = self.limits.with_operation().with_deadline(deadline.into());
        self.within(limits)
    }

    /// Sets how long one attempt may take; no limit unless you say otherwise. An attempt that is cut has a [`TimedOut`](crate::TimedOut) for
    /// its outcome, and the policy judges that like any other. A time of zero leaves each attempt one poll.
    ///
    /// See [`max_time`](Retry::max_time) for an example with both limits.
    ///
    /// # The type of the call
    ///
    /// Where the type is written out, its last parameter is [`AttemptTimeout`], or [`MaxTime`] if the call has a `max_time`
    /// too, whichever was set first. Code that is generic over the limits writes
    /// [`L::WithAttemptTimeout`](TimeLimits::WithAttemptTimeout):
    ///
    /// ```
    /// # use retry_core::{RetryInfo, TimedOut};
    /// use retry_core::retry::{AttemptTimeout, TimeLimits, Unobserved};
    /// use retry_core::time::DefaultTimer;
    /// use retry_core::{Retry, StandardRetryPolicy, StandardRetryStrategy, retry};
    /// use std::time::Duration;
    ///
    /// # #[derive(RetryInfo)]
    /// # #[retry(transparent)]
    /// # struct Failed(TimedOut);
    /// # impl From<TimedOut> for Failed { fn from(error: TimedOut) -> Self { Self(error) } }
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    ///
    /// /// A call with the default timer.
    /// type Call<F, L> = Retry<&'static StandardRetryStrategy, F, StandardRetryPolicy, DefaultTimer, Unobserved, L>;
    ///
    /// fn bounded<F, L: TimeLimits>(call: Call<F, L>) -> Call<F, L::WithAttemptTimeout> {
    ///     call.attempt_timeout(Duration::from_secs(5))
    /// }
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// let call: Call<_, AttemptTimeout> = bounded(retry(&STORE, || fetch()));
    /// call.run().await
    /// # }
    /// ```
    pub fn attempt_timeout(self, time: Duration) -> Retry<S, F, P, T, O, L::WithAttemptTimeout>
    where
        F: AsyncAttempts,
    {
        let limits = self.limits.with_attempt_timeout(time);
        self.within(limits)
    }
}
