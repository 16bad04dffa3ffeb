//! The layer and its settings.

use super::{IntoHandle, RetryService, Same, Settings, WeightWith, With};
use crate::observe::Observer;
use crate::operation::{AttemptContext, Limited, Name, Stop, TimeLimits, Unlimited, Unobserved};
use crate::policy::StandardRetryPolicy;
use crate::strategy::{Operations, RetryStrategy, Share};
use crate::time::{DEFAULT_TIMER, DefaultTimer, Timer};
use std::time::Duration;
use tower_layer::Layer;

/// A layer that retries the requests of a service; see the [module](super).
#[derive(Clone, Debug)]
pub struct RetryLayer<
    S,
    P = Same<StandardRetryPolicy>,
    C = Same,
    A = Same,
    T = DefaultTimer,
    O = Unobserved,
    L = Unlimited,
> {
    settings: Settings<S, P, C, A, T, O, L>,
}

impl<S: RetryStrategy> RetryLayer<S> {
    /// Creates a layer whose requests share this strategy. Pass a reference to a static, an [`Arc`](std::sync::Arc), a
    /// [`Scope`](crate::strategy::Scope) or an [`ErasedStrategy`](crate::strategy::ErasedStrategy).
    pub fn new(strategy: impl IntoHandle<Handle = S>) -> Self {
        Self::over(strategy.into_handle())
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
                name: Name::Given("tower"),
                strategy,
                policy: Same(StandardRetryPolicy::new()),
                clone: Same(()),
                change: Same(()),
                timer: DEFAULT_TIMER,
                observer: Unobserved,
                limits: Unlimited,
            },
        }
    }
}

impl<S, C, A, T, O, L> RetryLayer<S, Same<StandardRetryPolicy>, C, A, T, O, L> {
    /// Sets whether the requests are idempotent, which means that they may be executed twice; see
    /// [`StandardRetryPolicy::idempotent`].
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.settings.policy.0 = self.settings.policy.0.idempotent(idempotent);
        self
    }
}

impl<S, P, C, A, T, O, L> RetryLayer<S, P, C, A, T, O, L> {
    /// Sets the policy, which evaluates each `Result` of the service. The default is [`StandardRetryPolicy`], which needs
    /// an error type that implements [`RetryInfo`](trait@crate::RetryInfo).
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
    /// use retry_core::{PatientRetryStrategy, RetryDirective, StandardRetryPolicy, policy_fn};
    /// use retry_core::classify::http;
    ///
    /// # struct Response { status: u16 }
    /// static API: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// /// Classifies the status of a response. No error is retried.
    /// fn judge<E>(outcome: &Result<Response, E>) -> RetryDirective {
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
    /// let layer = RetryLayer::new(&API).policy(policy_fn(judge::<Error>));
    /// ```
    #[must_use]
    pub fn policy<Q>(self, policy: Q) -> RetryLayer<S, Same<Q>, C, A, T, O, L> {
        let Settings { name, strategy, policy: _, clone, change, timer, observer, limits } = self.settings;
        RetryLayer {
            settings: Settings { name, strategy, policy: Same(policy), clone, change, timer, observer, limits },
        }
    }

    /// Sets a function that returns the policy of a request. It is called once for each request, before the first attempt.
    ///
    /// Use it if requests of different kinds share a stack, for example if only some of them may be executed twice.
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
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
    pub fn policy_with<Req, Q, F: Fn(&Req) -> Q>(self, policy: F) -> RetryLayer<S, With<F>, C, A, T, O, L> {
        let Settings { name, strategy, policy: _, clone, change, timer, observer, limits } = self.settings;
        RetryLayer {
            settings: Settings { name, strategy, policy: With(policy), clone, change, timer, observer, limits },
        }
    }

    /// Sets a function that clones a request, for requests that are not [`Clone`] or that can't always be cloned.
    ///
    /// A request for which it returns `None` is sent once. If a retry would follow, the operation stops with the reason
    /// [`NotRepeatable`](crate::RetryError::NotRepeatable) instead, and takes nothing from the quota.
    #[must_use]
    pub fn clone_with<F>(self, clone: F) -> RetryLayer<S, P, With<F>, A, T, O, L> {
        let Settings { name, strategy, policy, clone: _, change, timer, observer, limits } = self.settings;
        RetryLayer {
            settings: Settings { name, strategy, policy, clone: With(clone), change, timer, observer, limits },
        }
    }

    /// Sets a function that may change the request of each attempt, first attempts included. It gets the original request,
    /// so that changes do not add up, and the [context](AttemptContext) of the attempt.
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
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
    pub fn before_attempt<Req, F>(self, change: F) -> RetryLayer<S, P, C, With<F>, T, O, L>
    where
        F: Fn(&mut Req, AttemptContext),
    {
        let Settings { name, strategy, policy, clone, change: _, timer, observer, limits } = self.settings;
        let change = With(change);
        RetryLayer { settings: Settings { name, strategy, policy, clone, change, timer, observer, limits } }
    }

    /// Sets the weight of each request, for a limit on the [sum of weights](crate::limit::PacedLimiter#weights). Without it, each
    /// request weighs 1. The function is called once for an operation.
    #[must_use]
    pub fn weight<Req, F: Fn(&Req) -> u32>(self, weight: F) -> RetryLayer<WeightWith<S, F>, P, C, A, T, O, L> {
        let Settings { name, strategy, policy, clone, change, timer, observer, limits } = self.settings;
        let strategy = WeightWith { strategy, weight };
        RetryLayer { settings: Settings { name, strategy, policy, clone, change, timer, observer, limits } }
    }

    /// Sets the name of the requests in events. The default is `tower`.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.settings.name = Name::Given(name);
        self
    }

    /// Sets the timer, which reads the time and sleeps. The default is [`DefaultTimer`].
    #[must_use]
    pub fn timer<U: Timer>(self, timer: U) -> RetryLayer<S, P, C, A, U, O, L> {
        let Settings { name, strategy, policy, clone, change, timer: _, observer, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, clone, change, timer, observer, limits } }
    }

    /// Sets the observer, which receives the events of each request. The default is no observer.
    #[must_use]
    pub fn observer<N: Observer>(self, observer: N) -> RetryLayer<S, P, C, A, T, N, L> {
        let Settings { name, strategy, policy, clone, change, timer, observer: _, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, clone, change, timer, observer, limits } }
    }

    fn within<M>(self, limits: impl FnOnce(L) -> M) -> RetryLayer<S, P, C, A, T, O, M> {
        let Settings { name, strategy, policy, clone, change, timer, observer, limits: old } = self.settings;
        RetryLayer {
            settings: Settings { name, strategy, policy, clone, change, timer, observer, limits: limits(old) },
        }
    }
}

impl<S, P, C, A, T, O, L: TimeLimits> RetryLayer<S, P, C, A, T, O, L> {
    /// Sets the time limit of each request, all attempts and waits included, from the first poll of the response future;
    /// see [`Retry::max_time`](crate::Retry::max_time). The default is no limit.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn max_time(self, time: Duration) -> RetryLayer<S, P, C, A, T, O, L::Limited> {
        self.within(|limits| limits.with_max_time(time))
    }

    /// Sets the time limit of each attempt, the wait until the service is ready included; see
    /// [`Retry::attempt_timeout`](crate::Retry::attempt_timeout). The default is no limit.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn attempt_timeout(self, time: Duration) -> RetryLayer<S, P, C, A, T, O, L::Limited> {
        self.within(|limits| limits.with_attempt_timeout(time))
    }

    /// Sets a handle that ends the requests in a shutdown; see [`Stop`].
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn stop(self, stop: &'static Stop) -> RetryLayer<S, P, C, A, T, O, Limited<&'static Stop>> {
        self.within(|limits| limits.with_stop(stop))
    }
}

impl<Svc, S, P, C, A, T, O, L> Layer<Svc> for RetryLayer<S, P, C, A, T, O, L>
where
    RetryLayer<S, P, C, A, T, O, L>: Clone,
{
    type Service = RetryService<Svc, S, P, C, A, T, O, L>;

    fn layer(&self, inner: Svc) -> Self::Service {
        RetryService::new(inner, self.clone().settings)
    }
}
