//! Retries as a layer of the crate `tower`, with the feature `tower`.
//!
//! [`RetryLayer`] retries the requests of any service. It drives the same operation as the attribute and the closure form,
//! so everything that a strategy does applies: the quota, a limiter, which holds first requests back too, time limits, and
//! events. If a retry ends before the service takes its request, for example because the response future is dropped or the
//! service is not ready in time, the cost of that retry is refunded.
//!
//! ```
//! use retry_core::tower::RetryLayer;
//! use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut};
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
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! # #[derive(Clone)]
//! # struct Store;
//! # impl Service<String> for Store {
//! #     type Response = String;
//! #     type Error = StoreError;
//! #     type Future = std::future::Ready<Result<String, StoreError>>;
//! #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), StoreError>> {
//! #         Poll::Ready(Ok(()))
//! #     }
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
//! status as `Ok`, so they need a [policy](RetryLayer::policy) that classifies responses too.
//!
//! # Where the layer belongs
//!
//! Each attempt passes through the layers below this one. So a timeout for each attempt belongs below it, or in
//! [`attempt_timeout`](RetryLayer::attempt_timeout); a timeout for the whole call belongs above it, or in
//! [`max_time`](RetryLayer::max_time). A concurrency limit below it is not held while a retry waits. A limiter of the
//! strategy can hold back the first attempt after the service became ready. Meanwhile, what the service reserved for the
//! request stays reserved.
//!
//! # Spawned blocks
//!
//! With the strategies that [`RetryLayer::new`] takes, a service can be used in the `async` block of a spawned task, below
//! any layer. Elsewhere in the stack, a reference such as `observer(&EVENTS)` can fail there with the error
//! "implementation of .. is not general enough", although it is `'static`: rustc checks such a block as if it did not
//! know that, and a `Buffer` above the layer requires it. To avoid this:
//!
//! - Pass an [`Arc`](std::sync::Arc) in place of the reference, and a function in place of a closure that names a
//!   `Box<dyn Error>`: `policy_fn(judge)`.
//! - Or build the stack in a function that returns `impl Service<..> + Clone`. The block then does not see the types.
//!
//! # Different requests in one stack
//!
//! [`policy_with`](RetryLayer::policy_with) makes the policy of each request from the request, so that reads and writes share a
//! stack. [`before_attempt`](RetryLayer::before_attempt) changes the request of each attempt, for a header with an idempotency
//! key, the number of the attempt or the time that is left. The module `headers` of the crate
//! `retry-clients` writes the values of some.
//!
//! # Hedges
//!
//! [`hedge`](RetryLayer::hedge) adds a second attempt beside a slow first one, and [`hedge_with`](RetryLayer::hedge_with) does so for
//! some requests only. Above a balancer, the second attempt goes to another server.
//!
//! # Servers whose callers retry
//!
//! With [`WithoutRetriesLayer`] around the handlers of a server, each operation in them makes one attempt, so that the
//! retries of its callers and of the server do not multiply.
//!
//! # gRPC
//!
//! The layer does not fit between tonic and its channel. The request body is a stream that can't be cloned, and a
//! status often arrives in the trailers, after the response. Use the attribute [`retryable`](macro@crate::retryable) on a
//! function that makes the call.

mod choice;
mod future;
mod handle;
mod hedges;
mod layer;
mod misplaced;
mod policy;
mod request;
mod service;
mod weight;
mod without_retries;

pub use choice::{Same, With};
pub use future::ResponseFuture;
pub use handle::{IntoHandle, Static};
pub use hedges::{HedgeOf, HedgedFuture, HedgedLayer, HedgedService, SameHedge};
pub use layer::RetryLayer;
pub use policy::PolicyOf;
pub use request::{ChangeRequest, CloneRequest};
pub use service::RetryService;
pub use weight::{StrategyOf, WeightWith};
pub use without_retries::{WithoutRetriesFuture, WithoutRetriesLayer, WithoutRetriesService};

use crate::operation::{Call, Name, OptionalObserver};
use crate::strategy::RetryStrategy;
use crate::time::Clock;

/// The settings of a layer. Each operation has a clone of them, with the strategy and the policy of its request.
#[derive(Clone, Debug)]
struct Settings<S, P, C, A, T, O, L> {
    name: Name,
    strategy: S,
    policy: P,
    clone: C,
    change: A,
    timer: T,
    observer: O,
    limits: L,
}

impl<S: RetryStrategy, P, C, A, T: Clock, O: OptionalObserver, L> Settings<S, P, C, A, T, O, L> {
    fn call(&self) -> Call<'_, S, &T, O::Ref<'_>> {
        Call::new(&self.name, &self.strategy).with_clock(&self.timer).with_observer(&self.observer)
    }
}

impl<S, P, C: Clone, A: Clone, T: Clone, O: Clone, L: Copy> Settings<S, P, C, A, T, O, L> {
    /// Returns the settings for this request.
    fn of_request<Req, R>(&self, request: &Req) -> Settings<S::Strategy, P::Policy, C, A, T, O, L>
    where
        S: StrategyOf<Req>,
        P: PolicyOf<Req, R>,
    {
        let Self { name, strategy, policy, clone, change, timer, observer, limits } = self;
        Settings {
            name: *name,
            strategy: strategy.strategy_of(request),
            policy: policy.policy_of(request),
            clone: clone.clone(),
            change: change.clone(),
            timer: timer.clone(),
            observer: observer.clone(),
            limits: *limits,
        }
    }
}
