//! The options of a call.

use super::closure::{AsyncAttempts, Attempts, Blocking, WithOnRetry};
use super::used::UsedPolicy;
use super::when::{NoRetryAfter, WhenPolicy};
use super::{Function, Retry, TimeLimits, WithTimedOut};
use crate::observe::{Event, Observer};
use crate::operation::{Name, OnRetryOutput, Stop};
use crate::policy::{StandardRetryPolicy, Usage};
use crate::strategy::Weighted;
use crate::support::{InvalidSetting, assert_attempts};
use crate::time::deadline::AcceptedDeadline;
use crate::time::{BlockingTimer, TimedOut, Timer};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

impl<S, F, T, O, L> Retry<S, F, StandardRetryPolicy, T, O, L> {
    /// Sets whether the call is idempotent, which means that it may be executed twice; see
    /// [`StandardRetryPolicy::idempotent`].
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.policy = self.policy.idempotent(idempotent);
        self
    }

    /// Sets a closure that decides which errors are retried. Use it for error types that don't implement
    /// [`RetryInfo`](trait@crate::RetryInfo).
    ///
    /// The closure replaces the policy and decides alone: `idempotent(false)` prevents a [hedge](crate#features), but no retry of an
    /// error for which the closure returns `true`. Each error has the class
    /// [`RetryErrorType::Other`](crate::RetryErrorType::Other). To distinguish throttling and timeouts, write a
    /// [policy](Retry::policy).
    ///
    /// ```
    /// # use std::io;
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # async fn connect() -> io::Result<()> { Ok(()) }
    /// # async fn example() -> io::Result<()> {
    /// retry(&STORE, || connect())
    ///     .when(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    ///     .run()
    ///     .await
    /// # }
    /// ```
    pub fn when<R, E, W>(self, when: W) -> Retry<S, F, WhenPolicy<W>, T, O, L>
    where
        F: Attempts<Outcome = Result<R, E>>,
        W: Fn(&E) -> bool,
    {
        let idempotent = self.policy.stated_idempotent();
        self.policy(WhenPolicy { when, retry_after: NoRetryAfter, idempotent })
    }
}

impl<S, F, W, H, T, O, L> Retry<S, F, WhenPolicy<W, H>, T, O, L> {
    /// Sets whether the call is idempotent, which means that it may be executed twice. The closure of [`when`](Retry::when) still
    /// decides alone about errors, so with `false`, let it accept only errors of requests that were not carried out. There is
    /// a [hedge](crate#features) only with `true`.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.policy.idempotent = Some(idempotent);
        self
    }
}

impl<S, F, W, T, O, L> Retry<S, F, WhenPolicy<W>, T, O, L> {
    /// Sets a closure that returns the wait that the server asked for, if any; see
    /// [`RetryInfo::retry_after`](crate::RetryInfo::retry_after). Call this after [`when`](Retry::when).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # struct Response { status: u16, retry_after: Option<Duration> }
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # async fn send() -> Result<(), Response> { Ok(()) }
    /// # async fn example() -> Result<(), Response> {
    /// retry(&STORE, || send())
    ///     .when(|error| error.status == 503)
    ///     .retry_after(|error| error.retry_after)
    ///     .run()
    ///     .await
    /// # }
    /// ```
    pub fn retry_after<R, E, H>(self, retry_after: H) -> Retry<S, F, WhenPolicy<W, H>, T, O, L>
    where
        F: Attempts<Outcome = Result<R, E>>,
        H: Fn(&E) -> Option<Duration>,
    {
        let Self { function, policy: WhenPolicy { when, retry_after: _, idempotent }, timer, observer, limits } = self;
        Retry { function, policy: WhenPolicy { when, retry_after, idempotent }, timer, observer, limits }
    }
}

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L> {
    /// Sets the policy, which classifies each outcome, `Ok` included. The default is [`StandardRetryPolicy`].
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{PatientRetryStrategy, StandardRetryPolicy, retry};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
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

    /// Sets the weight of the operation, for a limit on the [sum of weights](crate::strategy::Weighted). Without it, an
    /// operation weighs 1.
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{RetryStrategy, retry};
    ///
    /// # #[derive(Debug, RetryInfo)]
    /// # struct Failed;
    /// # struct Completion { total_tokens: u32 }
    /// # async fn complete(prompt: &str) -> Result<Completion, Failed> {
    /// #     Ok(Completion { total_tokens: 7 })
    /// # }
    /// // The strategy has a limit on tokens per minute.
    /// # async fn example<S>(llm: &S, prompt: &str, tokens: u32) -> Result<Completion, Failed>
    /// # where
    /// #     S: RetryStrategy,
    /// # {
    /// retry(llm, || complete(prompt))
    ///     .weight(tokens)
    ///     // The weight was an estimate. The answer says what was used.
    ///     .used(|outcome| outcome.as_ref().ok().map(|completion| completion.total_tokens))
    ///     .run()
    ///     .await
    /// # }
    /// ```
    pub fn weight(self, weight: u32) -> Retry<Weighted<S>, F, P, T, O, L> {
        let Self { function: Function { strategy, attempt, name, unlimited }, policy, timer, observer, limits } = self;
        let function = Function { strategy: Weighted::new(strategy, weight), attempt, name, unlimited };
        Retry { function, policy, timer, observer, limits }
    }

    /// Sets a closure that returns what an attempt used of a limit on the sum of weights, if its [weight](Retry::weight)
    /// was an estimate: a number, an `Option` of one where `None` means the weight, or a [`Usage`]. The difference is
    /// settled with the next operations. Call this after the methods that set or change the policy.
    pub fn used<R, U, W>(self, used: U) -> Retry<S, F, UsedPolicy<P, U>, T, O, L>
    where
        F: Attempts<Outcome = R>,
        U: Fn(&R) -> W,
        W: Into<Usage>,
    {
        let Self { function, policy, timer, observer, limits } = self;
        Retry { function, policy: UsedPolicy { policy, used }, timer, observer, limits }
    }

    /// Sets the observer, which receives the events of the call. The default is no observer.
    pub fn observer<N: Observer>(self, observer: N) -> Retry<S, F, P, T, N, L> {
        let Self { function, policy, timer, observer: _, limits } = self;
        Retry { function, policy, timer, observer, limits }
    }

    /// Sets the name of the call in events, metrics and the records of a test guard: a `&'static str`, a `String` or a `Cow` of both.
    /// The default is the path of the closure.
    ///
    /// Metrics have a series for each name, so take owned names from a small set, such as shards or regions, and put no ids or keys in
    /// them. Each text is kept until the process ends, once. At most 1,024 owned names are kept; a call with another one has the name
    /// `other`.
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn fetch(region: &str) -> Result<(), Failed> { Ok(()) }
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # async fn example(region: &str) -> Result<(), Failed> {
    /// retry(&STORE, || fetch(region)).name(format!("fetch {region}")).run().await
    /// # }
    /// ```
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.function.name = Name::given(name);
        self
    }

    fn with_attempts<G>(self, with: impl FnOnce(F) -> G) -> Retry<S, G, P, T, O, L> {
        let Self { function: Function { strategy, attempt, name, unlimited }, policy, timer, observer, limits } = self;
        let function = Function { strategy, attempt: with(attempt), name, unlimited };
        Retry { function, policy, timer, observer, limits }
    }

    fn with_timer<U>(self, timer: U) -> Retry<S, F, P, U, O, L> {
        let Self { function, policy, timer: _, observer, limits } = self;
        Retry { function, policy, timer, observer, limits }
    }

    pub(super) fn within<M>(self, within: impl FnOnce(L) -> M) -> Retry<S, F, P, T, O, M> {
        let Self { function, policy, timer, observer, limits } = self;
        Retry { function, policy, timer, observer, limits: within(limits) }
    }
}

impl<S, F: AsyncAttempts, P, T, O, L> Retry<S, F, P, T, O, L> {
    /// Sets a closure that is called after each failure, with the error and an event.
    ///
    /// If a retry follows, the event is [`RetryScheduled`](crate::EventKind::RetryScheduled), which has a
    /// [delay](crate::EventKind::delay). After the last failure it is [`Stopped`](crate::EventKind::Stopped), which has
    /// a [reason](crate::EventKind::reason).
    ///
    /// It is also called when a [stop](Retry::stop) or a time limit ends the call before its first attempt. The number of the attempt is 0
    /// then.
    ///
    /// The closure is not called for an `Ok` that the policy classifies as a failure. An [`Observer`] gets all events
    /// and can serve many calls, but it does not get the error.
    ///
    /// The closure returns `()`, or a [`ControlFlow<()>`](std::ops::ControlFlow). With `Break`, no retry follows: the call returns the error,
    /// the cost of the retry is refunded, and the reason is [`RetryError::GivenUp`](crate::RetryError::GivenUp). The closure is not called
    /// again. After the last failure, `Break` changes nothing.
    ///
    /// ```
    /// # use std::io;
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # async fn connect() -> io::Result<()> { Ok(()) }
    /// # async fn example() -> io::Result<()> {
    /// let call = retry(&STORE, || connect())
    ///     .when(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    /// let call = call.on_retry(|error, event| match event.kind.delay() {
    ///     Some(delay) => eprintln!("retrying in {delay:.1?}: {error}"),
    ///     None => eprintln!("giving up: {error}"),
    /// });
    /// call.run().await
    /// # }
    /// ```
    ///
    /// A program that must not wait for long gives up after three warnings:
    ///
    /// ```
    /// # use std::io;
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # async fn connect() -> io::Result<()> { Ok(()) }
    /// # async fn example() -> io::Result<()> {
    /// use std::ops::ControlFlow;
    ///
    /// let call = retry(&STORE, || connect()).when(|_| true).unlimited_attempts();
    /// let mut warnings = 0;
    /// let call = call.on_retry(|error, _| {
    ///     eprintln!("no connection: {error}");
    ///     warnings += 1;
    ///     if warnings < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// });
    /// call.run().await
    /// # }
    /// ```
    pub fn on_retry<R, E, N, V>(self, on_retry: N) -> Retry<S, WithOnRetry<F, N>, P, T, O, L>
    where
        F: Attempts<Outcome = Result<R, E>>,
        N: FnMut(&E, &Event) -> V,
        V: OnRetryOutput,
    {
        self.with_attempts(|attempts| WithOnRetry { attempts, on_retry })
    }

    /// Sets the timer, which reads the time and sleeps. The default is [`DefaultTimer`](crate::time::DefaultTimer).
    pub fn timer<U: Timer>(self, timer: U) -> Retry<S, F, P, U, O, L> {
        self.with_timer(timer)
    }
}

impl<S, F, P, T, O, L> Retry<S, Blocking<F>, P, T, O, L> {
    /// Sets a closure that is called after each failure, with the error and an event, and can end the call, as for async calls.
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn on_retry<R, E, N, V>(self, on_retry: N) -> Retry<S, Blocking<WithOnRetry<Blocking<F>, N>>, P, T, O, L>
    where
        Blocking<F>: Attempts<Outcome = Result<R, E>>,
        N: FnMut(&E, &Event) -> V,
        V: OnRetryOutput,
    {
        self.with_attempts(|attempts| Blocking(WithOnRetry { attempts, on_retry }))
    }

    /// Sets the timer, which reads the time and blocks the thread. The default is [`StdTimer`](crate::time::StdTimer).
    pub fn timer<U: BlockingTimer>(self, timer: U) -> Retry<S, Blocking<F>, P, U, O, L> {
        self.with_timer(timer)
    }
}

impl<S, F, P, T, O, L: TimeLimits> Retry<S, F, P, T, O, L> {
    /// Sets the time limit of the whole call: attempts, backoff, and waits for a limiter. An async call starts with its
    /// first poll. The limit is a `Duration`, or an `Option` of one in which `None` means no limit, as is the default.
    ///
    /// The limit is hard: no wait ends after it, and an attempt that is running when the limit is over is cut. The call
    /// then ends with [`RetryError::MaxTime`](crate::RetryError::MaxTime). It returns the last outcome, which can be an
    /// `Ok`, or a [`TimedOut`] if there is none, converted to the error type by `From<TimedOut>` or by the closure of
    /// [`timed_out`](Retry::timed_out). With [`idempotent(false)`](Retry::idempotent), it also returns the `TimedOut` if an attempt
    /// was cut: the outcome before it does not say whether that attempt was carried out.
    ///
    /// An attempt that has an outcome at its last poll is not cut. An attempt that blocks its thread can't be cut. A
    /// limit of zero leaves one poll.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
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
    ///
    /// A limit from a configuration that may have none:
    ///
    /// ```
    /// # use std::io;
    /// # use std::time::Duration;
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// struct Config {
    ///     max_time: Option<Duration>,
    /// }
    ///
    /// # async fn fetch() -> io::Result<()> { Ok(()) }
    /// async fn get(config: &Config) -> io::Result<()> {
    ///     let call = retry(&STORE, || fetch())
    ///         .when(|error: &io::Error| error.kind() == io::ErrorKind::TimedOut);
    ///     call.max_time(config.max_time).run().await
    /// }
    /// ```
    pub fn max_time(self, time: impl Into<Option<Duration>>) -> Retry<S, F, P, T, O, L::Limited> {
        self.within(|limits| limits.with_max_time(time.into()))
    }

    /// Sets the deadline of the whole call: an [`Instant`](std::time::Instant) of the standard library or of tokio, or
    /// a [`Timestamp`](crate::time::Timestamp), or an `Option` of one of them in which `None` means no deadline, as is the default. A generic function passes a `T`
    /// with `T: Into<Timestamp>`.
    ///
    /// The deadline is as hard as [`max_time`](Retry::max_time). If both are set, the earlier one applies. A deadline in
    /// the past leaves one poll. The [timer](Retry::timer) must count from the origin of the library's clocks, as described at
    /// [`Clock`](crate::Clock): a clock that starts at zero never reaches an `Instant`.
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
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
    pub fn deadline(self, deadline: impl AcceptedDeadline) -> Retry<S, F, P, T, O, L::Limited> {
        self.within(|limits| limits.with_deadline(deadline.accept()))
    }

    /// Sets the time limit of each attempt: a `Duration`, or an `Option` of one in which `None` means no limit, as is the
    /// default. With any time limit, the last outcome is kept while the call waits, so
    /// its future is `Send` only if the outcome is.
    ///
    /// The outcome of an attempt that is cut is a [`TimedOut`], which the policy classifies like any
    /// other outcome. A limit of zero allows one poll of each attempt.
    ///
    /// See [`max_time`](Retry::max_time) for an example with both limits.
    ///
    /// # The type of the call
    ///
    /// The last type parameter of the call becomes [`Limited`](super::Limited) with the first limit. Code that is generic over the limits
    /// names [`L::Limited`](TimeLimits::Limited):
    ///
    /// ```
    /// # use retry_core::{RetryInfo, TimedOut};
    /// use retry_core::retry::{AsyncAttempts, Limited, TimeLimits, Unobserved};
    /// use retry_core::time::DefaultTimer;
    /// use retry_core::{PatientRetryStrategy, Retry, StandardRetryPolicy, retry};
    /// use std::time::Duration;
    ///
    /// # #[derive(RetryInfo)]
    /// # #[retry(transparent)]
    /// # struct Failed(TimedOut);
    /// # impl From<TimedOut> for Failed { fn from(error: TimedOut) -> Self { Self(error) } }
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// /// A call with the default timer.
    /// type Call<F, L> =
    ///     Retry<&'static PatientRetryStrategy, F, StandardRetryPolicy, DefaultTimer, Unobserved, L>;
    ///
    /// fn bounded<F, L>(call: Call<F, L>) -> Call<F, L::Limited>
    /// where
    ///     F: AsyncAttempts,
    ///     L: TimeLimits,
    /// {
    ///     call.attempt_timeout(Duration::from_secs(5))
    /// }
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// let call: Call<_, Limited> = bounded(retry(&STORE, || fetch()));
    /// call.run().await
    /// # }
    /// ```
    pub fn attempt_timeout(self, time: impl Into<Option<Duration>>) -> Retry<S, F, P, T, O, L::Limited>
    where
        F: AsyncAttempts,
    {
        self.within(|limits| limits.with_attempt_timeout(time.into()))
    }

    /// Sets a closure that makes the error of the call where a time limit or a [`Stop`] leaves it without an outcome, for an error type
    /// without `From<TimedOut>`, such as one of another crate. It can be set before or after the limits.
    ///
    /// The outcome is an error with what the closure returns. After an [`attempt_timeout`](Retry::attempt_timeout), the policy classifies
    /// it like any other outcome. If it is [unknown](crate::RetryErrorType::Unknown) to the policy, it is classified as the
    /// [`TimedOut`] itself: as a timeout.
    ///
    /// ```
    /// # use retry_core::{ChainPolicy, PatientRetryStrategy, TimedOut, retry};
    /// # use std::fmt;
    /// # use std::time::Duration;
    /// # static API: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # /// An error of another crate.
    /// # #[derive(Debug)]
    /// # struct Status(String);
    /// # impl Status { fn deadline_exceeded(text: String) -> Self { Self(text) } }
    /// # impl fmt::Display for Status {
    /// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
    /// # }
    /// # impl std::error::Error for Status {}
    /// # async fn fetch() -> Result<(), Status> { Ok(()) }
    /// # async fn example() -> Result<(), Status> {
    /// let call = retry(&API, || fetch()).policy(ChainPolicy::new()).max_time(Duration::from_secs(30));
    /// call.timed_out(|timed_out| Status::deadline_exceeded(timed_out.to_string())).run().await
    /// # }
    /// ```
    pub fn timed_out<R, E, C>(self, timed_out: C) -> Retry<S, F, P, T, O, WithTimedOut<L, C>>
    where
        F: Attempts<Outcome = Result<R, E>>,
        C: Fn(TimedOut) -> E + Clone,
    {
        self.within(|limits| WithTimedOut::new(limits, timed_out))
    }

    /// Lets the call make any number of attempts, for a program that must not give up, such as one that waits for its database at the
    /// start.
    ///
    /// The strategy's `max_attempts` does not apply. The call ends with a success, a failure that is not worth a retry, a
    /// [`Stop`], or a time limit. All its retries are paid for by the quota. With a [`PatientRetryStrategy`](crate::PatientRetryStrategy),
    /// it waits while the quota can't pay, until the service answers again: in an outage, it makes an attempt each 30 seconds or more
    /// often. A strategy whose refused retries don't wait ends the call when the quota can't pay.
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
    /// # #[derive(Debug, RetryInfo)]
    /// # struct Failed;
    /// # async fn connect() -> Result<(), Failed> { Ok(()) }
    /// static DATABASE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// retry(&DATABASE, || connect()).unlimited_attempts().run().await
    /// # }
    /// ```
    pub fn unlimited_attempts(mut self) -> Self {
        self.function.unlimited = true;
        self.within(L::without_max_attempts)
    }

    /// Lets the call make fewer attempts than the strategy allows, the first one included: 1 means no retries. The number is a `u32`, or an
    /// `Option` of one in which `None` means the number of the strategy. The backoff and the quota are those of the strategy.
    ///
    /// The lower one of the two numbers applies, so a higher one than that of the strategy changes nothing. Each attempt counts, also one
    /// that a limiter repeats without counting it, and a [hedge](crate#features). The call ends with
    /// [`RetryError::MaxAttempts`](crate::RetryError::MaxAttempts), and pays nothing for a retry that is not made. Of this and
    /// [`unlimited_attempts`](Retry::unlimited_attempts), the last one applies.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0. For a number that is known only at run time, use [`try_max_attempts`](Retry::try_max_attempts).
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_core::{PatientRetryStrategy, RetryInfo, retry};
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn fetch() -> Result<(), Failed> { Ok(()) }
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// # async fn example() -> Result<(), Failed> {
    /// // A user waits for this call, so it tries twice. Other calls of the store try up to ten times.
    /// retry(&STORE, || fetch()).max_attempts(2).run().await
    /// # }
    /// ```
    #[track_caller]
    pub fn max_attempts(self, attempts: impl Into<Option<u32>>) -> Retry<S, F, P, T, O, L::AtMost> {
        let attempts = attempts.into();
        assert_attempts(attempts.unwrap_or(1));
        self.at_most(attempts.and_then(NonZeroU32::new))
    }

    /// Lets the call make fewer attempts than the strategy allows, as [`max_attempts`](Retry::max_attempts) does.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    ///
    /// ```
    /// # use retry_core::{InvalidSetting, PatientRetryStrategy, retry_blocking};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # fn example(attempts: u32) -> Result<(), InvalidSetting> {
    /// let call = retry_blocking(&STORE, || std::fs::read("config")).try_max_attempts(attempts)?;
    /// # drop(call);
    /// # Ok(())
    /// # }
    /// # assert!(example(1).is_ok());
    /// assert!(example(0).is_err());
    /// ```
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn try_max_attempts(
        self,
        attempts: impl Into<Option<u32>>,
    ) -> Result<Retry<S, F, P, T, O, L::AtMost>, InvalidSetting> {
        match attempts.into() {
            Some(0) => Err(InvalidSetting::of_no_attempts()),
            attempts => Ok(self.at_most(attempts.and_then(NonZeroU32::new))),
        }
    }

    fn at_most(mut self, attempts: Option<NonZeroU32>) -> Retry<S, F, P, T, O, L::AtMost> {
        self.function.unlimited &= attempts.is_none();
        self.within(|limits| limits.with_max_attempts(attempts))
    }

    /// Sets a handle that ends the call in a shutdown; see [`Stop`].
    ///
    /// The error type must implement `From<TimedOut>`, or the call have a closure for [`timed_out`](Retry::timed_out), because the call can
    /// be stopped before its first attempt. `io::Error` and `anyhow::Error` implement it. The last outcome is kept while the call waits, so its future is `Send` only if the outcome is.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, Stop, retry_blocking};
    /// use std::io::ErrorKind;
    ///
    /// static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static STOP: Stop = Stop::new();
    ///
    /// let call = retry_blocking(&SERVER, || std::net::TcpStream::connect("127.0.0.1:80"))
    ///     .when(|error| error.kind() == ErrorKind::ConnectionRefused)
    ///     .stop(&STOP);
    /// # STOP.stop();
    /// # let stream = call.run();
    /// ```
    pub fn stop(self, stop: &Stop) -> Retry<S, F, P, T, O, L::Stoppable<'_>> {
        self.within(|limits| limits.with_stop(stop))
    }
}
