//! The layer and its settings.

use super::handle::HandleOf;
use super::{Hooks, Limited, Requests, RetryService, Same, Settings, Time, WeightWith, With};
use retry_core::drive::SharedStop;
use retry_core::retry::{OnRetryOutput, Replaceable, Standard, Stated, Unobserved};
use retry_core::strategy::{Operations, Share};
use retry_core::time::{DEFAULT_TIMER, DefaultTimer};
use retry_core::{AttemptContext, Event, Observer, Report, RetryStrategy, StandardRetryPolicy, Timer};
use std::time::Duration;
use tower_layer::Layer;

/// A layer that retries the requests of a service; see the [module](super).
#[derive(Clone, Debug)]
pub struct RetryLayer<S, P = Same<StandardRetryPolicy>, R = Requests, T = DefaultTimer, O = Unobserved> {
    settings: Settings<S, P, R, T, O>,
}

impl<S: RetryStrategy> RetryLayer<S> {
    /// Creates a layer whose requests share this strategy. Pass a reference to a static, an [`Arc`](std::sync::Arc), a
    /// [`Scope`](retry_core::strategy::Scope) or an [`ErasedStrategy`](retry_core::strategy::ErasedStrategy).
    pub fn new<H>(strategy: H) -> Self
    where
        Operations: HandleOf<H, Handle = S>,
    {
        Self::over(Operations::handle_of(strategy))
    }

    /// Creates a layer whose requests share this strategy, which can be any handle: your own handle, or a reference
    /// to a strategy that is not a static.
    ///
    /// The service can't be used in a spawned `async` block if the type of the handle names a lifetime; see the
    /// [module](super#spawned-blocks).
    pub const fn with_handle(strategy: S) -> Self
    where
        Operations: Share<S>,
    {
        Self::over(strategy)
    }

    const fn over(strategy: S) -> Self {
        Self {
            settings: Settings {
                name: "tower",
                strategy,
                policy: Same(StandardRetryPolicy::new()),
                requests: Requests {
                    clone: Same(()),
                    change: Same(()),
                    next: Same(()),
                    hooks: Hooks { on_retry: Same(()), on_end: Same(()) },
                },
                time: DEFAULT_TIMER,
                observer: Unobserved,
            },
        }
    }
}

impl<S, P: Standard, R, T, O> RetryLayer<S, Same<P>, R, T, O> {
    /// Sets whether the requests are idempotent, which means that they may be executed twice; see
    /// [`StandardRetryPolicy::idempotent`]. If you have a policy of your own, say it to that policy.
    #[must_use]
    pub fn idempotent(self, idempotent: bool) -> RetryLayer<S, Same<Stated>, R, T, O> {
        self.map_policy(|Same(policy)| Same(policy.stated(idempotent)))
    }
}

impl<S, P, R, T, O> RetryLayer<S, P, R, T, O> {
    /// Sets the policy, which evaluates each `Result` of the service. The default is [`StandardRetryPolicy`], which needs
    /// an error type that implements [`RetryInfo`](trait@retry_core::RetryInfo). For a stack with `BoxError`, the module `tower05` has a
    /// policy.
    ///
    /// ```
    /// use retry_tower::RetryLayer;
    /// use retry_core::{PatientRetryStrategy, RetryDirective, StandardRetryPolicy, policy_fn};
    /// use retry_core::classify::http;
    ///
    /// # struct Response { status: u16 }
    /// static API: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// /// Classifies the status of a response. No error is retried.
    /// fn evaluate<E>(outcome: &Result<Response, E>) -> RetryDirective {
    ///     match outcome {
    ///         Ok(response) if response.status < 400 => RetryDirective::succeed(),
    ///         Ok(response) => {
    ///             StandardRetryPolicy::new().evaluate_error(&http::status(response.status))
    ///         }
    ///         Err(_) => RetryDirective::fail(None),
    ///     }
    /// }
    ///
    /// # type Error = ();
    /// let layer = RetryLayer::new(&API).policy(policy_fn(evaluate::<Error>));
    /// ```
    ///
    /// `policy` does not compile after [`idempotent`](RetryLayer::idempotent) or another policy, because it would drop what they say. A
    /// [`StandardRetryPolicy`] can be replaced.
    #[must_use]
    pub fn policy<Q>(self, policy: Q) -> RetryLayer<S, Same<Q>, R, T, O>
    where
        P: Replaceable,
    {
        self.map_policy(|_| Same(policy))
    }

    /// Sets a function that returns the policy of a request. It is called once for each request, before the first attempt. As
    /// [`policy`](RetryLayer::policy), it does not compile after `idempotent` or another policy than the standard one.
    ///
    /// Use it if requests of different kinds share a stack, for example if only some of them may be executed twice.
    ///
    /// ```
    /// use retry_tower::RetryLayer;
    /// use retry_core::{PatientRetryStrategy, StandardRetryPolicy};
    ///
    /// enum Request {
    ///     Read,
    ///     Append(String),
    /// }
    ///
    /// static LOG: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// let layer = RetryLayer::new(&LOG).policy_with(|request: &Request| {
    ///     StandardRetryPolicy::new().idempotent(matches!(request, Request::Read))
    /// });
    /// ```
    #[must_use]
    pub fn policy_with<Req, Q, F: Fn(&Req) -> Q>(self, policy: F) -> RetryLayer<S, With<F>, R, T, O>
    where
        P: Replaceable,
    {
        self.map_policy(|_| With(policy))
    }

    fn map_policy<Q>(self, map: impl FnOnce(P) -> Q) -> RetryLayer<S, Q, R, T, O> {
        let Settings { name, strategy, policy, requests, time, observer } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy: map(policy), requests, time, observer } }
    }

    /// Sets the weight of each request, for a limit on the [sum of weights](retry_core::strategy::Weighted). Without it, each
    /// request weighs 1. The function is called once for an operation. A strategy without such a limit ignores the weight.
    #[must_use]
    pub fn weight<Req, F: Fn(&Req) -> u32>(self, weight: F) -> RetryLayer<WeightWith<S, F>, P, R, T, O> {
        let Settings { name, strategy, policy, requests, time, observer } = self.settings;
        let strategy = WeightWith { strategy, weight };
        RetryLayer { settings: Settings { name, strategy, policy, requests, time, observer } }
    }

    /// Sets the name of the requests in events. The default is `tower`.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.settings.name = name;
        self
    }

    /// Sets the observer, which receives the events of each request. The default is no observer.
    #[must_use]
    pub fn observer<N: Observer>(self, observer: N) -> RetryLayer<S, P, R, T, N> {
        let Settings { name, strategy, policy, requests, time, observer: _ } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, requests, time, observer } }
    }

    fn with_requests<Q>(self, requests: impl FnOnce(R) -> Q) -> RetryLayer<S, P, Q, T, O> {
        let Settings { name, strategy, policy, requests: old, time, observer } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, requests: requests(old), time, observer } }
    }

    fn with_time<U>(self, time: impl FnOnce(T) -> U) -> RetryLayer<S, P, R, U, O> {
        let Settings { name, strategy, policy, requests, time: old, observer } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, requests, time: time(old), observer } }
    }
}

impl<S, P, C, A, N, H, T, O> RetryLayer<S, P, Requests<C, A, N, H>, T, O> {
    /// Sets a function that clones a request, for requests that are not [`Clone`] or that can't always be cloned.
    ///
    /// A request for which it returns `None` is sent once. If a retry would follow, the operation stops with the reason
    /// [`NotRepeatable`](retry_core::RetryError::NotRepeatable) instead, and takes nothing from the quota.
    #[must_use]
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn clone_with<F>(self, clone: F) -> RetryLayer<S, P, Requests<With<F>, A, N, H>, T, O> {
        self.with_requests(|Requests { clone: _, change, next, hooks }| Requests {
            clone: With(clone),
            change,
            next,
            hooks,
        })
    }

    /// Sets a function that may change the request of each attempt, first attempts included. It gets the original request,
    /// so that changes do not add up, and the [context](AttemptContext) of the attempt.
    ///
    /// ```
    /// use retry_tower::RetryLayer;
    /// use retry_core::{AttemptContext, PatientRetryStrategy};
    /// # use std::collections::HashMap;
    ///
    /// # struct Request { headers: HashMap<&'static str, String> }
    /// static API: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// fn set_headers(request: &mut Request, context: AttemptContext) {
    ///     request.headers.insert("x-attempt", context.attempt().to_string());
    ///     // The id is the same for all attempts, so the server can recognize a request that it has
    ///     // seen before.
    ///     request.headers.insert("idempotency-key", context.operation_id().to_string());
    ///     if let Some(time) = context.time_left() {
    ///         request.headers.insert("x-timeout-ms", time.as_millis().to_string());
    ///     }
    /// }
    ///
    /// let layer = RetryLayer::new(&API).before_attempt(set_headers);
    /// ```
    #[must_use]
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn before_attempt<Req, F>(self, change: F) -> RetryLayer<S, P, Requests<C, With<F>, N, H>, T, O>
    where
        F: Fn(&mut Req, AttemptContext),
    {
        self.with_requests(|Requests { clone, change: _, next, hooks }| Requests {
            clone,
            change: With(change),
            next,
            hooks,
        })
    }

    /// Sets a function that may change what is sent next, from the outcome of an attempt: for a batch of which the server refused some
    /// entries, only these entries are sent again. It is called after each outcome that a retry may follow, with the request as the attempt
    /// began with it. Unlike those of [`before_attempt`](Self::before_attempt), its changes add up.
    ///
    /// A policy whose directive has [progressed](retry_core::RetryDirective::progressed) counts the attempts from 1 again after each one that did a
    /// part of the work. The caller gets the outcome of the last attempt, so an answer about a part of the batch is about its last part.
    ///
    /// If two attempts of a hedge each accept a part, the function sees the outcome of the one that ended last. Entries that only the other one
    /// accepted are sent again.
    ///
    /// ```
    /// use retry_tower::RetryLayer;
    /// use retry_core::{
    ///     PatientRetryStrategy, RetryDirective, RetryErrorType, StandardRetryPolicy, policy_fn,
    /// };
    ///
    /// # use retry_core::RetryInfo;
    /// # #[derive(Debug, RetryInfo)]
    /// # struct Error;
    /// type Outcome = Result<Answer, Error>;
    ///
    /// #[derive(Clone)]
    /// struct Batch {
    ///     entries: Vec<String>,
    /// }
    ///
    /// /// An answer can be about a part of the batch.
    /// struct Answer {
    ///     accepted: usize,
    ///     refused: Vec<String>,
    /// }
    ///
    /// static TABLE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// fn evaluate(outcome: &Outcome) -> RetryDirective {
    ///     match outcome {
    ///         Ok(answer) if answer.refused.is_empty() => RetryDirective::succeed(),
    ///         Ok(answer) => RetryDirective::retry(RetryErrorType::Throttling)
    ///             .progressed(answer.accepted > 0),
    ///         Err(error) => StandardRetryPolicy::new().evaluate_error(error),
    ///     }
    /// }
    ///
    /// fn only_refused(batch: &mut Batch, outcome: &Outcome) {
    ///     if let Ok(answer) = outcome {
    ///         batch.entries.clone_from(&answer.refused);
    ///     }
    /// }
    ///
    /// let layer = RetryLayer::new(&TABLE).policy(policy_fn(evaluate)).next_request(only_refused);
    /// ```
    #[must_use]
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn next_request<Req, Res, Err, F>(self, next: F) -> RetryLayer<S, P, Requests<C, A, With<F>, H>, T, O>
    where
        F: Fn(&mut Req, &Result<Res, Err>),
    {
        self.with_requests(|Requests { clone, change, next: _, hooks }| Requests {
            clone,
            change,
            next: With(next),
            hooks,
        })
    }
}

impl<S, P, C, A, N, F, E, T, O> RetryLayer<S, P, Requests<C, A, N, Hooks<F, E>>, T, O> {
    /// Sets a function that is called after each failure, with the outcome and an event, as [`Retry::on_retry`](retry_core::Retry::on_retry).
    /// It gets the `Result`, because an `Ok` that the policy classifies as a failure, such as an error status, is a failure, too.
    ///
    /// The event is [`RetryScheduled`](retry_core::EventKind::RetryScheduled) if a retry follows after a
    /// [delay](retry_core::EventKind::delay), [`WaitingForService`](retry_core::EventKind::WaitingForService) if the request waits in
    /// line, and [`Stopped`](retry_core::EventKind::Stopped) if it ends, also if it ends in such a wait. The function returns `()`, or a [`ControlFlow<()>`](std::ops::ControlFlow) whose `Break`
    /// ends the request with this outcome in place of the retry.
    ///
    /// ```
    /// use retry_core::{Event, PatientRetryStrategy};
    /// use retry_tower::RetryLayer;
    /// use std::io;
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// let layer = RetryLayer::new(&STORE).on_retry(|outcome: &io::Result<()>, event: &Event| {
    ///     if let (Err(error), Some(delay)) = (outcome, event.kind.delay()) {
    ///         eprintln!("retrying in {delay:.1?}: {error}");
    ///     }
    /// });
    /// ```
    #[must_use]
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn on_retry<Res, Err, G, V>(self, on_retry: G) -> RetryLayer<S, P, Requests<C, A, N, Hooks<With<G>, E>>, T, O>
    where
        G: Fn(&Result<Res, Err>, &Event) -> V,
        V: OnRetryOutput,
    {
        self.with_requests(|Requests { clone, change, next, hooks }| {
            let hooks = Hooks { on_retry: With(on_retry), on_end: hooks.on_end };
            Requests { clone, change, next, hooks }
        })
    }

    /// Sets a function that is called at the end of each request with its [report](Report), as `on_end` of the attribute: the outcome,
    /// the number of attempts, the reason why there was no further one, and the times. It is not called for a request that is dropped.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, Report};
    /// use retry_tower::RetryLayer;
    /// use std::io;
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// let layer = RetryLayer::new(&STORE).on_end(|report: &Report<&io::Result<()>>| {
    ///     println!("{} attempts in {:?}", report.attempts, report.elapsed);
    /// });
    /// ```
    #[must_use]
    #[expect(clippy::type_complexity, reason = "each part is a named choice of the user")]
    pub fn on_end<Res, Err, G>(self, on_end: G) -> RetryLayer<S, P, Requests<C, A, N, Hooks<F, With<G>>>, T, O>
    where
        G: Fn(&Report<&Result<Res, Err>>),
    {
        self.with_requests(|Requests { clone, change, next, hooks }| {
            let hooks = Hooks { on_retry: hooks.on_retry, on_end: With(on_end) };
            Requests { clone, change, next, hooks }
        })
    }
}

impl<S, P, R, T: Time, O> RetryLayer<S, P, R, T, O> {
    /// Sets the timer, which reads the time and sleeps. The default is [`DefaultTimer`].
    #[must_use]
    pub fn timer<U: Timer>(self, timer: U) -> RetryLayer<S, P, R, T::With<U>, O> {
        self.with_time(|time| time.with_timer(timer))
    }

    /// Sets the time limit of each request, all attempts and waits included, from the first poll of the response future;
    /// see [`Retry::max_time`](retry_core::Retry::max_time). The limit is a `Duration`, or an `Option` of one in which `None` means
    /// no limit, as is the default.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn max_time(self, time: impl Into<Option<Duration>>) -> RetryLayer<S, P, R, T::Limited, O> {
        self.within(|limits| limits.max_time(time.into()))
    }

    /// Sets the time limit of each attempt, the wait until the service is ready included; see
    /// [`Retry::attempt_timeout`](retry_core::Retry::attempt_timeout). The limit is a `Duration`, or an `Option` of one in which `None`
    /// means no limit, as is the default.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn attempt_timeout(self, time: impl Into<Option<Duration>>) -> RetryLayer<S, P, R, T::Limited, O> {
        self.within(|limits| limits.attempt_timeout(time.into()))
    }

    /// Sets a handle that ends the requests in a shutdown: a reference to a static [`Stop`](retry_core::Stop), or an
    /// [`Arc`](std::sync::Arc) of one.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn stop(self, stop: impl Into<SharedStop>) -> RetryLayer<S, P, R, T::Limited, O> {
        self.within(|limits| limits.stop(stop.into()))
    }

    fn within(self, set: impl FnOnce(Limited<T::Timer>) -> Limited<T::Timer>) -> RetryLayer<S, P, R, T::Limited, O> {
        self.with_time(|time| T::of_limits(set(time.limited())))
    }
}

impl<Svc, S, P, R, T, O> Layer<Svc> for RetryLayer<S, P, R, T, O>
where
    RetryLayer<S, P, R, T, O>: Clone,
{
    type Service = RetryService<Svc, S, P, R, T, O>;

    fn layer(&self, inner: Svc) -> Self::Service {
        RetryService::new(inner, self.clone().settings)
    }
}
