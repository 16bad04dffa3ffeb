//! Retries that outlast an outage, and don't cause one. You label your errors and mark the functions to retry; the library does the
//! rest.
//!
//! ```
//! use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
//!
//! #[derive(Debug, RetryInfo)]
//! enum StoreError {
//!     #[retry(throttling)]
//!     SlowDown,
//!     #[retry(timeout)]
//!     NoAnswer,
//!     #[retry(fault = "client")]
//!     NoSuchKey,
//! }
//!
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = STORE, idempotent)]
//! async fn get(key: &str) -> Result<String, StoreError> {
//!     // One attempt.
//! #   Ok(key.to_owned())
//! }
//! ```
//!
//! Mark your writes. A function without `idempotent` or `idempotent = false` is also retried after a timeout and after a
//! server's fault, although the first attempt may have been carried out ([the option](macro@retryable#idempotent)).
//!
#![doc = include_str!("../docs/recovery.svg")]
//!
//! Each retried function becomes this loop, and [`RetryError`] has the reasons to stop:
//!
#![doc = include_str!("../docs/loop.svg")]
//!
//! One operation of a [`StandardRetryStrategy`] over time, with its waits and the quota that pays for them, until `max_time` ends it:
//!
#![doc = include_str!("../docs/timeline.svg")]
//!
//! # Overview
//!
//! Say what errors mean:
//!
//! | item | use |
//! |---|---|
//! | [`RetryInfo`](macro@RetryInfo), the derive | classify your errors by labels, and by the statuses and errors that they hold |
//! | [`RetryInfo`](trait@RetryInfo), [`ErrorInfo`] | the traits that the derive implements, with [`RetrySafety`] and [`ErrorFault`] |
//! | [`classify`] | HTTP statuses, the codes of AWS, I/O errors, chains of sources; the crate [`retry-clients`](https://docs.rs/retry-clients) knows clients and other codes |
//! | [`ChainPolicy`] | classify `anyhow::Error`, `Box<dyn Error>` and the like |
//! | [`RetryPolicy`], [`policy_fn`] | classify whole outcomes, `Ok` included, by a [`RetryDirective`] with a [`RetryErrorType`], or a [`Success`] |
//! | [`StandardRetryPolicy`] | the default policy, which can say whether a call is idempotent |
//!
//! Call with retries:
//!
//! | item | use |
//! |---|---|
//! | [`retryable`](macro@retryable) | retry a function: the attribute |
//! | [`retry()`], [`retry_blocking`] | retry a closure, or a call with a foreign error type |
//! | [`retry_with_context`], [`AttemptContext`] | the same, with the number of the attempt and the previous failure |
//! | [`Retry`] | the options of such a call |
//! | `reconnect` of the crate `retry-stream` | read a stream that is opened again after each break |
//! | `RetryLayer` of the crate `retry-tower` | retry the requests of a service, as a layer of the crate `tower` |
//! | [`TimedOut`], [`TimeLimit`] | the error of an exceeded time limit, and which limit it was |
//!
//! Choose a strategy, which decides whether, when and how often to retry:
//!
//! | item | use |
//! |---|---|
//! | [`PatientRetryStrategy`] | start here: random failures are retried soon, and in an outage operations wait for the service |
//! | [`StandardRetryStrategy`] | retries with a quota of a fixed size, as in the AWS SDKs: when it is empty, operations fail |
//! | [`AdaptiveRetryStrategy`] | limit the rate after throttling, with the arithmetic of the AWS SDKs |
//! | the crate [`retry-limits`](https://docs.rs/retry-limits) | for bulk jobs: send at the rate that the server accepts, or limit the number of requests in flight |
//! | [`ScopedRetryStrategy`] | one strategy for each key, such as a tenant |
//! | [`ErasedStrategy`] | choose the type of a strategy at run time |
//! | the crate [`retry-config`](https://docs.rs/retry-config) | choose the settings of a strategy at run time |
//! | [`without_retries`], [`set_retries_enabled`] | turn retries off for a future, or for the process; [`without_retries_blocking`], [`retries_enabled`] |
//!
//! Replace a part:
//!
//! | item | use |
//! |---|---|
//! | [`BackoffStrategy`], [`ExponentialBackoff`], [`Jitter`] | the delay before a retry ([`backoff`]) |
//! | [`RetryQuota`], [`TokenBucket`], [`quota::EvidenceQuota`] | the limit on the retries of all calls together ([`quota`]) |
//! | [`RetryStrategy`], [`RetryToken`], [`Failure`], [`RetryError`] | your own strategy, with the parts in [`strategy`] |
//! | [`limit`] | the limiters on sends |
//! | [`parts`] | parts for authors of limiters, quotas and strategies |
//! | [`Timer`], [`Clock`], [`TokioTimer`] | the clock and the sleep ([`time`]) |
//! | [`InvalidSetting`], [`reseed`] | errors of settings, and the seed of a process |
//!
//! Observe and test:
//!
//! | item | use |
//! |---|---|
//! | [`Observer`], [`Event`], [`EventKind`], [`OperationId`] | the events of operations, also as events of `tracing` ([`observe`]) |
//! | [`Report`] | how one call ended |
//! | [`observe::metrics::install`] | metrics, with the feature `metrics` |
//! | [`test::begin`], [`test::explore`] | a guard for tests, and failures at each point of a fake, with the feature `test` |
//!
//! The modules contain the other items. [`guide`] explains the design decisions, and `docs/diagnostics.md` in the
//! repository each compile error of the macros.
//!
//! # Where to keep a strategy
//!
//! All calls to one resource must share one strategy, because its quota protects the resource. A strategy that is
//! created for each call protects nothing; most ways to write that don't compile. You can keep a strategy in:
//!
//! - a `static`, as above, because its constructors are `const`;
//! - a [`LazyLock<ConfiguredStrategy>`](std::sync::LazyLock), if its settings come from a `RetryConfig` of the crate `retry-config`;
//! - a field of a client;
//! - an [`Arc`](std::sync::Arc) that several clients share.
//!
//! # Tests
//!
//! With the feature `test`, `retry_core::test::begin()` returns a guard. While it lives, each strategy has a fresh quota,
//! waits are skipped, and the guard records what happened. Enable the feature in `[dev-dependencies]`.
//!
//! Without the feature, tokio's paused time works. With `#[tokio::test(start_paused = true)]`, which needs tokio's feature `test-util`,
//! waits have their exact length but take no real time. [`ManualTimer`](time::ManualTimer) does the same without tokio.
//! [`Jitter::None`], [`Jitter::Fixed`] and `seed` make delays predictable. Note that all tests of a process share a
//! `static` and its quota. If that matters, give a test its own strategy.
//!
//! # Terms
//!
//! A *service* is what can fail by itself, such as a host, a database or a bucket. An *operation* is one call of a retried function. An *attempt* is one run of the function's body. A *retry* is any
//! attempt after the first one. *Backoff* is the delay before a retry, and *jitter* is the random part of it. The
//! *quota* is the budget that pays for retries. A server *throttles* when it rejects requests because there are too
//! many.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `macros` | yes | the derive and the attribute |
//! | `tokio` | yes | `TokioTimer`, the default timer |
//! | `hedges` | no | [`Hedge`], [`Retry::hedge`], [`drive::Operation::race`], and the option `hedge` of the attribute: a second attempt beside a slow first one |
//! | `http` | no | `StatusCode` of the crate `http`, in a field with `#[retry(http_status)]` and as a [`Classification`](classify::Classification) |
//! | `global-observer` | no | `observe::set_global_observer`, which sets an observer of all operations of the process |
//! | `metrics` | no | `observe::metrics`, which publishes metrics through the crate `metrics`; also enables `global-observer` |
//! | `test` | no | the module `test` for tests of retried code, and ways to construct [`Event`], [`Report`], [`AttemptContext`] and [`TimedOut`] |
//! | `tracing` | no | the events of an [`Observer`] as events of the crate `tracing` |
//!
//! The defaults are what most programs use. What features add to the debug build of an empty program that depends on tokio:
//!
//! | features | crates | seconds of CPU |
//! |---|---|---|
//! | `tokio` | 3 | 3.0 |
//! | the defaults | 13 | 13.2 |
//!
//! Most of it is `syn` and `darling`, which programs with other derive macros build anyway. Each further feature adds up to 4
//! crates. (Rust 1.95, the median of seven builds; the seconds depend on the machine. tokio itself took 2.2.)
//!
#![cfg_attr(
    not(feature = "hedges"),
    doc = "[`Hedge`]: #features\n[`Retry::hedge`]: #features\n[`drive::Operation::race`]: #features"
)]
#![cfg_attr(not(feature = "metrics"), doc = "[`observe::metrics::install`]: #features")]
#![cfg_attr(not(feature = "test"), doc = "[`test::begin`]: #features\n[`test::explore`]: #features")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// Functions that an attempt or a retry passes are inlined by force, because most of their code folds away only there. Without optimisation,
// nothing folds away, and the copies would only make the build longer. So a build with debug assertions does not inline them by force.

// `forward_strategy` names types by paths that are right in this crate and in others.
extern crate self as retry_core;

#[doc(hidden)]
pub mod __private;
pub mod backoff;
pub mod classify;
mod error;
pub mod guide;
#[cfg(feature = "hedges")]
mod hedge;
pub mod limit;
pub mod observe;
mod operation;
pub mod parts;
pub mod policy;
pub mod quota;
pub mod retry;
pub mod strategy;
mod support;
#[cfg(feature = "test")]
pub mod test;
pub mod time;

#[doc(inline)]
pub use backoff::{BackoffStrategy, ExponentialBackoff, Jitter};
#[doc(inline)]
pub use error::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
#[cfg(feature = "hedges")]
#[doc(inline)]
pub use hedge::Hedge;
#[doc(inline)]
pub use observe::{Event, EventKind, Observer, OperationId, Report};
#[doc(inline)]
pub use operation::{AttemptContext, Stop, drive};
#[doc(inline)]
pub use policy::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy, Success, policy_fn};
#[doc(inline)]
pub use quota::{RetryQuota, TokenBucket};
#[doc(inline)]
pub use retry::{Retry, retry, retry_blocking, retry_with_context};
#[doc(inline)]
pub use strategy::AdaptiveRetryStrategy;
#[doc(inline)]
pub use strategy::{
    ErasedStrategy, Failure, PatientRetryStrategy, RetryError, RetryStrategy, RetryToken, ScopedRetryStrategy,
    StandardRetryStrategy, retries_enabled, set_retries_enabled, without_retries, without_retries_blocking,
};
#[doc(inline)]
pub use support::InvalidSetting;
#[doc(inline)]
pub use support::random::reseed;
#[cfg(feature = "tokio")]
#[doc(inline)]
pub use time::TokioTimer;
#[doc(inline)]
pub use time::{Clock, TimeLimit, TimedOut, Timer};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use retry_macros::{RetryInfo, retryable};
