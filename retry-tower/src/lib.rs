//! Retries as a layer of the crate `tower`.
//!
//! [`RetryLayer`] retries the requests of any service. Each request is an [`Operation`](retry_core::drive::Operation) of `retry-core`, so
//! everything that a strategy does applies: the quota, a limiter, which holds first requests back too, time limits, and
//! events. If a retry ends before the service takes its request, for example because the response future is dropped or the
//! service is not ready in time, the cost of that retry is refunded.
//!
//! ```
//! use retry_tower::RetryLayer;
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
//! The default policy is for error types that implement [`RetryInfo`](trait@retry_core::RetryInfo). HTTP clients return an error
//! status as `Ok`, so they need a [policy](RetryLayer::policy) that classifies responses too.
//!
//! # If rustc says that trait bounds were not satisfied
//!
//! At `.oneshot(..)` or `.ready()`, rustc does not say which type lacks which trait. Build the stack in a function that returns
//! `impl Service<Request, Response = Answer, Error = MyError>`, and rustc names them there: the error type needs
//! [`RetryInfo`](trait@retry_core::RetryInfo) or a policy, with a time limit also `From<TimedOut>`, and the request and the service
//! below need [`Clone`].
//!
//! # Where the layer belongs
//!
//! Each attempt passes through the layers below this one. So a timeout for each attempt belongs below it, or in
//! [`attempt_timeout`](RetryLayer::attempt_timeout); a timeout for the whole call belongs above it, or in
//! [`max_time`](RetryLayer::max_time). The error of a `timeout` of tower below it is known to the policy of the module `tower05`, with
//! the feature of this name; to other policies it is unknown, and not retried. A concurrency limit below it is not held while a retry waits. A limiter of the
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
//!   `Box<dyn Error>`: `policy_fn(evaluate)`.
//! - Or build the stack in a function that returns `impl Service<..> + Clone`. The block then does not see the types.
//!
//! # Different requests in one stack
//!
//! [`policy_with`](RetryLayer::policy_with) makes the policy of each request from the request, so that reads and writes share a
//! stack. [`before_attempt`](RetryLayer::before_attempt) changes the request of each attempt, for a header with an idempotency
//! key, the number of the attempt or the time that is left. The module `headers` of the crate
//! `retry-clients` writes the values of some.
//!
//! # Batches
//!
//! [`next_request`](RetryLayer::next_request) changes what is sent next from the outcome of an attempt: only the entries of a batch
//! that the server refused.
//!
//! # Failures and ends
//!
//! [`on_retry`](RetryLayer::on_retry) is called after each failure, and [`on_end`](RetryLayer::on_end) at the end of each request. The number of
//! an attempt before it is sent is in the [context](retry_core::AttemptContext::attempt) that `before_attempt` gets. A handle that ends
//! requests in a shutdown and is not a static is an `Arc<Stop>`, which [`stop`](RetryLayer::stop) takes as a
//! [`SharedStop`](retry_core::drive::SharedStop).
//!
//! # Hedges
//!
//! With the feature `hedges`, [`RetryLayer::hedge`] adds a second attempt beside a slow first one, and [`RetryLayer::hedge_with`] does
//! so for some requests only. Above a balancer, the second attempt goes to another server.
//!
//! # Servers whose callers retry
//!
//! With [`WithoutRetriesLayer`] around the handlers of a server, each operation in them makes one attempt, so that the
//! retries of its callers and of the server do not multiply.
//!
//! # gRPC
//!
//! The layer does not fit between tonic and its channel. The request body is a stream that can't be cloned, and a
//! status often arrives in the trailers, after the response. Use the attribute
//! [`retryable`](https://docs.rs/retry-core/latest/retry_core/attr.retryable.html) on a function that makes the call.
//!
#![cfg_attr(not(feature = "hedges"), doc = "[`RetryLayer::hedge`]: #hedges\n[`RetryLayer::hedge_with`]: #hedges")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod choice;
mod future;
mod handle;
#[cfg(feature = "hedges")]
mod hedges;
mod hooks;
mod layer;
mod misplaced;
mod policy;
mod request;
mod service;
mod time;
#[cfg(feature = "tower05")]
pub mod tower05;
mod weight;
mod without_retries;

pub use choice::{Same, With};
pub use future::ResponseFuture;
pub use handle::IntoHandle;
#[cfg(feature = "hedges")]
pub use hedges::{HedgeOf, HedgedFuture, HedgedLayer, HedgedService, SameHedge};
pub use hooks::{Hooks, OnEnd, OnRetry};
pub use layer::RetryLayer;
pub use policy::PolicyOf;
pub use request::{ChangeRequest, CloneRequest, NextRequest, Requests, RequestsOf};
pub use service::RetryService;
pub use time::{Limited, Time, TimeOf};
pub use weight::{StrategyOf, WeightWith};
pub use without_retries::{WithoutRetriesFuture, WithoutRetriesLayer, WithoutRetriesService};

use retry_core::drive::OperationBuilder;
use retry_core::retry::OptionalObserver;

/// The settings of a layer.
#[derive(Clone, Debug)]
struct Settings<S, P, R, T, O> {
    name: &'static str,
    strategy: S,
    policy: P,
    requests: R,
    time: T,
    observer: O,
}

/// The operation of a request that has not begun.
type New<Req, S, T, O> = OperationBuilder<<S as StrategyOf<Req>>::Strategy, <T as Time>::Timer, O>;

impl<S, P, R, T: Clone, O: OptionalObserver + Clone> Settings<S, P, R, T, O> {
    /// Returns the policy and the operation of a request.
    fn of_request<Req, Out>(&self, request: &Req) -> (P::Policy, New<Req, S, T, O>)
    where
        S: StrategyOf<Req>,
        P: PolicyOf<Req, Out>,
        T: TimeOf<Out>,
    {
        let operation = self.strategy.operation_of(request, self.name);
        let operation = self.time.clone().set(operation.observer(self.observer.clone()));
        (self.policy.policy_of(request), operation)
    }
}
