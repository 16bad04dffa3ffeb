//! The options of a call, but its limits.

use super::closure::{AsyncAttempts, Attempts, Blocking, WithOnRetry};
use super::stated::{Replaceable, Standard, Stated};
use super::used::UsedPolicy;
use super::when::{NoRetryAfter, WhenPolicy};
use super::{Function, Retry};
use crate::observe::{Event, Observer};
use crate::operation::{Name, OnRetryOutput};
use crate::policy::Usage;
use crate::strategy::Weighted;
use crate::time::{BlockingTimer, Timer};
use std::borrow::Cow;
use std::time::Duration;

impl<S, F, P: Standard, T, O, L> Retry<S, F, P, T, O, L> {
    /// Sets whether the call is idempotent, which means that it may be executed twice; see
    /// [`StandardRetryPolicy::idempotent`](crate::StandardRetryPolicy::idempotent). If you have a policy of your own, say it to that policy.
    pub fn idempotent(self, idempotent: bool) -> Retry<S, F, Stated, T, O, L> {
        self.map_policy(|policy| policy.stated(idempotent))
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
        self.map_policy(|policy| {
            let idempotent = policy.standard().stated_idempotent();
            WhenPolicy { when, retry_after: NoRetryAfter, idempotent }
        })
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
        self.map_policy(|WhenPolicy { when, retry_after: _, idempotent }| WhenPolicy { when, retry_after, idempotent })
    }
}

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L> {
    /// Sets the policy, which classifies each outcome, `Ok` included. The default is [`StandardRetryPolicy`](crate::StandardRetryPolicy).
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
    ///
    /// `policy` does not compile after [`idempotent`](Retry::idempotent), [`when`](Retry::when), [`used`](Retry::used) or another policy, because
    /// it would drop what they say. The standard policy can be replaced.
    pub fn policy<Q>(self, policy: Q) -> Retry<S, F, Q, T, O, L>
    where
        P: Replaceable,
    {
        self.map_policy(|_| policy)
    }

    fn map_policy<Q>(self, map: impl FnOnce(P) -> Q) -> Retry<S, F, Q, T, O, L> {
        let Self { function, policy, timer, observer, limits } = self;
        Retry { function, policy: map(policy), timer, observer, limits }
    }

    /// Sets the weight of the operation, for a limit on the [sum of weights](crate::strategy::Weighted). Without it, an
    /// operation weighs 1. A strategy without such a limit ignores the weight, so the same code can run with any strategy.
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
        self.map_policy(|policy| UsedPolicy { policy, used })
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
    /// Sets a closure that is called after each failure, also the last one, with the error and an event.
    ///
    /// The event is [`RetryScheduled`](crate::EventKind::RetryScheduled) if a retry follows after a [delay](crate::EventKind::delay),
    /// [`WaitingForService`](crate::EventKind::WaitingForService) if the operation waits in line, and
    /// [`Stopped`](crate::EventKind::Stopped), which has a [reason](crate::EventKind::reason), if the operation ends. If it ends during
    /// the wait after a failure, the closure is called twice for that failure: the second call has `Stopped` and the same error. If a time
    /// limit ends it during a later attempt, the closure is called once more, with the error that the operation returns.
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
    /// use retry_core::EventKind;
    ///
    /// let call = retry(&STORE, || connect())
    ///     .when(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    /// let call = call.on_retry(|error, event| match event.kind {
    ///     EventKind::RetryScheduled { delay, .. } => eprintln!("retrying in {delay:.1?}: {error}"),
    ///     EventKind::WaitingForService { .. } => eprintln!("waiting for the store: {error}"),
    ///     _ => eprintln!("giving up: {error}"),
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
