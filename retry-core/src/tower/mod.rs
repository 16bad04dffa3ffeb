//! Retries as a layer of the crate `tower`.
//!
//! [`RetryLayer`] retries the requests of any service. It drives the same operation as the attribute and the closure form,
//! so everything that a strategy does applies: the quota, a limiter, which holds first requests back too, time limits, and
//! events. If a retry ends before the service takes its request, for example because the response future is dropped or the
//! service is not ready in time, the cost of that retry is refunded.
//!
//! ```
//! use retry_core::tower::RetryLayer;
//! use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut};
//! use std::time::Duration;
//! # use std::task::{Context, Poll};
//! # use tower_layer::Layer;
//! # use tower_service::Service;
//!
//! #[derive(Debug, RetryInfo)]
//! enum StoreError {
//!     #[retry(throttling)]
//!     SlowDown,
//!     #[retry(transparent)]
//!     TimedOut(TimedOut),
//! }
//!
//! impl From<TimedOut> for StoreError {
//!     fn from(error: TimedOut) -> Self {
//!         Self::TimedOut(error)
//!     }
//! }
//!
//! static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! # #[derive(Clone)]
//! # struct Store;
//! # impl Service<String> for Store {
//! #     type Response = String;
//! #     type Error = StoreError;
//! #     type Future = std::future::Ready<Result<String, StoreError>>;
//! #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StoreError>> { Poll::Ready(Ok(())) }
//! #     fn call(&mut self, key: String) -> Self::Future { std::future::ready(Ok(key)) }
//! # }
//! # async fn example(store: Store) -> Result<(), StoreError> {
//! let layer = RetryLayer::new(&STORE).idempotent(true).max_time(Duration::from_secs(10));
//! // Usually part of a `tower::ServiceBuilder`.
//! let mut service = layer.layer(store);
//! let object = service.call("key".to_owned()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Outcomes
//!
//! The default policy is for error types that implement [`RetryInfo`](trait@crate::RetryInfo). HTTP clients return an error
//! status as `Ok`, so they need a [policy](RetryLayer::policy) that judges responses too.
//!
//! # Where the layer belongs
//!
//! Each attempt passes through the layers below this one. So a timeout for each attempt belongs below it, or in
//! [`attempt_timeout`](RetryLayer::attempt_timeout); a timeout for the whole call belongs above it, or in
//! [`max_time`](RetryLayer::max_time). A concurrency limit below it is not held while a retry waits. A limiter of the
//! strategy can hold back the first attempt after the service became ready, and what that service reserved stays reserved
//! meanwhile.
//!
//! # Spawned blocks
//!
//! With the strategies that [`RetryLayer::new`] takes, a service can be used in the `async` block of a spawned task, below
//! any layer. Elsewhere in the stack, a reference such as `observer(&EVENTS)` can fail there with the error
//! "implementation of .. is not general enough", although it is `'static`: rustc checks such a block as if it did not
//! know that, and a `Buffer` above the layer requires it. The cures:
//!
//! - Pass an [`Arc`](std::sync::Arc) in place of the reference, and a function in place of a closure that names a
//!   `Box<dyn Error>`: `policy_fn(judge)`.
//! - Or build the stack in a function that returns `impl Service<..> + Clone`. The block then does not see the types.
//!
//! # gRPC
//!
//! The layer does not fit between tonic and its channel. The request body is a stream that can't be cloned, and a
//! status often arrives in the trailers, after the response. Use the attribute [`retryable`](macro@crate::retryable) on a
//! function that makes the call.

mod future;
mod handle;
mod policy;
mod request;
mod service;

pub use future::ResponseFuture;
pub use handle::{IntoHandle, Static};
pub use policy::{PolicyOf, PolicyWith, SamePolicy};
pub use request::{ByClone, CloneRequest, CloneWith};
pub use service::RetryService;

use crate::observe::Observer;
use crate::operation::{Call, Name, OptionalObserver, TimeLimits, Unlimited, Unobserved};
use crate::policy::StandardRetryPolicy;
use crate::strategy::{Operations, RetryStrategy, Share};
use crate::time::{Clock, DEFAULT_TIMER, DefaultTimer, Timer};
use std::time::Duration;
use tower_layer::Layer;

/// A layer that retries the requests of a service; see the [module](self).
#[derive(Clone, Debug)]
pub struct RetryLayer<
    S,
    P = SamePolicy<StandardRetryPolicy>,
    C = ByClone,
    T = DefaultTimer,
    O = Unobserved,
    L = Unlimited,
> {
    settings: Settings<S, P, C, T, O, L>,
}

/// The settings of a layer. Each operation has a clone of them, with the policy of its request.
#[derive(Clone, Debug)]
struct Settings<S, P, C, T, O, L> {
    name: Name,
    strategy: S,
    policy: P,
    clone: C,
    timer: T,
    observer: O,
    limits: L,
}

impl<S: RetryStrategy, P, C, T: Clock, O: OptionalObserver, L> Settings<S, P, C, T, O, L> {
    fn call(&self) -> Call<'_, S, &T, O::Ref<'_>> {
        Call::new(&self.name, &self.strategy).with_clock(&self.timer).with_observer(&self.observer)
    }
}

impl<S: Clone, P, C: Clone, T: Clone, O: Clone, L: Copy> Settings<S, P, C, T, O, L> {
    /// Returns the settings for this request.
    fn of_request<Req, R>(&self, request: &Req) -> Settings<S, P::Policy, C, T, O, L>
    where
        P: PolicyOf<Req, R>,
    {
        let Self { name, strategy, policy, clone, timer, observer, limits } = self;
        Settings {
            name: *name,
            strategy: strategy.clone(),
            policy: policy.policy_of(request),
            clone: clone.clone(),
            timer: timer.clone(),
            observer: observer.clone(),
            limits: *limits,
        }
    }
}

impl<S: RetryStrategy> RetryLayer<S> {
    /// Creates a layer whose requests share this strategy. Pass a reference to a static, an [`Arc`](std::sync::Arc), a
    /// [`Scope`](crate::strategy::Scope) or an [`ErasedStrategy`](crate::strategy::ErasedStrategy).
    pub fn new(strategy: impl IntoHandle<Handle = S>) -> Self {
        Self::over(strategy.into_handle())
    }

    /// Creates a layer whose requests share this strategy, which can be any handle: a handle of your own, or a reference
    /// to a strategy that is not a static.
    ///
    /// The service can't be used in a spawned `async` block if the type of the handle names a lifetime; see the
    /// [module](self#spawned-blocks).
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
                policy: SamePolicy(StandardRetryPolicy::new()),
                clone: ByClone,
                timer: DEFAULT_TIMER,
                observer: Unobserved,
                limits: Unlimited,
            },
        }
    }
}

impl<S, C, T, O, L> RetryLayer<S, SamePolicy<StandardRetryPolicy>, C, T, O, L> {
    /// Sets whether the requests are idempotent, which means that they may be executed twice; see
    /// [`StandardRetryPolicy::idempotent`].
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.settings.policy.0 = self.settings.policy.0.idempotent(idempotent);
        self
    }
}

impl<S, P, C, T, O, L> RetryLayer<S, P, C, T, O, L> {
    /// Sets the policy, which judges each `Result` of the service. The default is [`StandardRetryPolicy`], which needs an
    /// error type that implements [`RetryInfo`](trait@crate::RetryInfo).
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
    /// use retry_core::{RetryDirective, StandardRetryPolicy, StandardRetryStrategy, policy_fn};
    /// use retry_core::classify::http;
    ///
    /// # struct Response { status: u16 }
    /// static API: StandardRetryStrategy = StandardRetryStrategy::new();
    ///
    /// /// Judges the status of a response. No error is retried.
    /// fn judge<E>(outcome: &Result<Response, E>) -> RetryDirective {
    ///     match outcome {
    ///         Ok(response) if response.status < 400 => RetryDirective::succeed(),
    ///         Ok(response) => StandardRetryPolicy::new().evaluate_error(&http::status(response.status)),
    ///         Err(_) => RetryDirective::fail(None),
    ///     }
    /// }
    ///
    /// # type Error = ();
    /// let layer = RetryLayer::new(&API).policy(policy_fn(judge::<Error>));
    /// ```
    #[must_use]
    pub fn policy<Q>(self, policy: Q) -> RetryLayer<S, SamePolicy<Q>, C, T, O, L> {
        let Settings { name, strategy, policy: _, clone, timer, observer, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy: SamePolicy(policy), clone, timer, observer, limits } }
    }

    /// Sets a function that returns the policy of a request. It is called once for each request, before the first attempt.
    ///
    /// Use it where requests of different kinds pass through one stack, for instance where only some of them may be executed
    /// twice.
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
    /// use retry_core::{StandardRetryPolicy, StandardRetryStrategy};
    ///
    /// enum Request {
    ///     Read,
    ///     Append(String),
    /// }
    ///
    /// static LOG: StandardRetryStrategy = StandardRetryStrategy::new();
    ///
    /// let layer = RetryLayer::new(&LOG).policy_with(|request: &Request| {
    ///     StandardRetryPolicy::new().idempotent(matches!(request, Request::Read))
    /// });
    /// ```
    #[must_use]
    pub fn policy_with<F>(self, policy: F) -> RetryLayer<S, PolicyWith<F>, C, T, O, L> {
        let Settings { name, strategy, policy: _, clone, timer, observer, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy: PolicyWith(policy), clone, timer, observer, limits } }
    }

    /// Sets a function that clones a request, for requests that are not [`Clone`] or that can't always be cloned.
    ///
    /// A request for which it returns `None` is sent once. If a retry would follow, the operation stops with the reason
    /// [`NotRepeatable`](crate::RetryError::NotRepeatable) instead, and takes nothing from the quota.
    #[must_use]
    pub fn clone_with<F>(self, clone: F) -> RetryLayer<S, P, CloneWith<F>, T, O, L> {
        let Settings { name, strategy, policy, clone: _, timer, observer, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, clone: CloneWith(clone), timer, observer, limits } }
    }

    /// Sets the name of the requests in events. The default is `tower`.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.settings.name = Name::Given(name);
        self
    }

    /// Sets the timer, which reads the time and sleeps. The default is [`DefaultTimer`].
    #[must_use]
    pub fn timer<U: Timer>(self, timer: U) -> RetryLayer<S, P, C, U, O, L> {
        let Settings { name, strategy, policy, clone, timer: _, observer, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, clone, timer, observer, limits } }
    }

    /// Sets the observer, which receives the events of each request. The default is no observer.
    #[must_use]
    pub fn observer<N: Observer>(self, observer: N) -> RetryLayer<S, P, C, T, N, L> {
        let Settings { name, strategy, policy, clone, timer, observer: _, limits } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, clone, timer, observer, limits } }
    }

    fn within<M>(self, limits: impl FnOnce(L) -> M) -> RetryLayer<S, P, C, T, O, M> {
        let Settings { name, strategy, policy, clone, timer, observer, limits: old } = self.settings;
        RetryLayer { settings: Settings { name, strategy, policy, clone, timer, observer, limits: limits(old) } }
    }
}

impl<S, P, C, T, O, L: TimeLimits> RetryLayer<S, P, C, T, O, L> {
    /// Sets the time limit of each request, all attempts and waits included, from the first poll of the response future;
    /// see [`Retry::max_time`](crate::Retry::max_time). The default is no limit.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn max_time(self, time: Duration) -> RetryLayer<S, P, C, T, O, L::WithMaxTime> {
        self.within(|limits| limits.with_max_time(time))
    }

    /// Sets the time limit of each attempt, the wait until the service is ready included; see
    /// [`Retry::attempt_timeout`](crate::Retry::attempt_timeout). The default is no limit.
    ///
    /// The error type of the service must implement `From<TimedOut>`, as `Box<dyn Error + Send + Sync>` does.
    #[must_use]
    pub fn attempt_timeout(self, time: Duration) -> RetryLayer<S, P, C, T, O, L::WithAttemptTimeout> {
        self.within(|limits| limits.with_attempt_timeout(time))
    }

    /// Adds long polling: if the quota can't pay for a retry, the request waits for the delay of that retry before its
    /// error is returned; see [`Retry::long_polling`](crate::Retry::long_polling).
    #[must_use]
    pub fn long_polling(self) -> RetryLayer<S, P, C, T, O, L::WithLongPolling> {
        self.within(TimeLimits::with_long_polling)
    }
}

impl<Svc, S, P, C, T, O, L> Layer<Svc> for RetryLayer<S, P, C, T, O, L>
where
    RetryLayer<S, P, C, T, O, L>: Clone,
{
    type Service = RetryService<Svc, S, P, C, T, O, L>;

    fn layer(&self, inner: Svc) -> Self::Service {
        RetryService::new(inner, self.clone().settings)
    }
}
