//! Retries for service calls. You label your errors and mark the functions to retry; the library does the rest.
//!
//! ```
//! use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
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
//! static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! #[retryable(strategy = STORE)]
//! async fn get(key: &str) -> Result<String, StoreError> {
//!     // One attempt.
//! #   Ok(key.to_owned())
//! }
//! ```
//!
//! Mark your writes: without `idempotent` or `idempotent = false`, a function is also retried after a timeout and after a
//! server's fault, when the first attempt may have been carried out. See the attribute's option `idempotent`.
//!
//! # Overview
//!
//! | task | item |
//! |---|---|
//! | classify your errors | [`RetryInfo`](trait@RetryInfo) and its [derive](macro@RetryInfo) |
//! | classify HTTP statuses, gRPC, SQL and other codes, and foreign errors | [`classify`] |
//! | classify `anyhow::Error`, `Box<dyn Error>` and the like | a [`ChainPolicy`] |
//! | classify whole outcomes, `Ok` included | a [`RetryPolicy`] ([`policy`]); the default is [`StandardRetryPolicy`] |
//! | retry a function | the attribute [`retryable`](macro@retryable) |
//! | retry a closure, or a call with a foreign error type | [`retry()`], [`retry_blocking`] |
//! | decide whether, when and how often to retry | a [`RetryStrategy`]; start with [`StandardRetryStrategy`] |
//! | also limit the rate of attempts after throttling | [`AdaptiveRetryStrategy`] |
//! | send at the rate that the server accepts | [`PacedRetryStrategy`] |
//! | use one strategy for each key, such as a tenant | [`ScopedRetryStrategy`] |
//! | choose the type of a strategy at run time | [`ErasedStrategy`] |
//! | choose the settings of a strategy at run time | [`RetryConfig`] ([`config`]) |
//! | set the delay before a retry | a [`BackoffStrategy`] ([`backoff`]) |
//! | limit the retries of all calls together | a [`RetryQuota`] ([`quota`]) |
//! | limit the time of attempts and operations | options of the call, such as [`Retry::max_time`]; the error is [`TimedOut`] |
//! | replace the clock and the sleep | a [`Timer`] ([`time`]); the default is tokio's |
//! | observe operations | an [`Observer`] ([`observe`]), or the [`Report`] of one call |
//! | publish metrics | `observe::metrics::install`, with the feature `metrics` |
//! | write a strategy of your own | the traits, tokens and settings in [`strategy`] |
//!
//! The root of the crate has the items that most programs use; the modules have the others. `docs/diagnostics.md` in
//! the repository explains each compile error of the macros, and [`guide`] explains the design decisions.
//!
//! # Where to keep a strategy
//!
//! All calls to one resource must share one strategy, because its quota protects the resource. A strategy that is
//! created for each call protects nothing; most ways to write that don't compile. You can keep a strategy in:
//!
//! - a `static`, as above, because its constructors are `const`;
//! - a [`LazyLock`](std::sync::LazyLock), if its settings come from a [configuration](RetryConfig);
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
//! An *operation* is one call of a retried function. An *attempt* is one run of the function's body. A *retry* is any
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
//! | `aws-config` | no | [`RetryConfig`] from `AWS_RETRY_MODE`, `AWS_MAX_ATTEMPTS` and the shared AWS config file |
//! | `httpdate` | no | dates in `Retry-After`, for [`classify::http`] |
//! | `http` | no | functions of [`classify::http`] for the types of the crate `http`; also enables `httpdate` |
//! | `serde` | no | serialization and deserialization of [`RetryConfig`] and [`RetryMode`](config::RetryMode) |
//! | `global-observer` | no | `observe::set_global_observer`, which sets an observer of all operations of the process |
//! | `metrics` | no | `observe::metrics`, which publishes metrics through the crate `metrics`; also enables `global-observer` |
//! | `test` | no | the module `test` for tests of retried code, and ways to construct [`Event`], [`Report`], [`AttemptContext`] and [`TimedOut`] |
//! | `tower` | no | `tower::RetryLayer`, which retries the requests of a `tower` service |
//! | `tracing` | no | the events of an [`Observer`] as events of the crate `tracing` |
//!
//! # Events
//!
//! The [`Observer`] of an operation, if it has one, receives the operation's events. With the feature `tracing`, the
//! subscriber of `tracing` receives them too. There, each event has the target `retry_core`, the fields `operation`,
//! `operation_id` and `attempt`, `strategy` if the strategy has a name, and the fields in the table. [`Observer`]
//! documents the order of the events.
//!
//! | event | meaning | level | fields |
//! |---|---|---|---|
//! | `refused` | the strategy refused the initial token | warn | `reason` |
//! | `limited` | a limiter holds the attempt back; one event for each wait, which is at most 100 ms with the strategies of this library | trace | `wait_ms` |
//! | `attempt_started` | an attempt begins | trace | |
//! | `unknown_error` | nothing classified the error of the attempt, so it is not retried; once for each function | warn | `chain`, the texts of the error and its sources |
//! | `attempt_failed` | an attempt failed | debug | `error_type`, `retryable`, `retry_after_ms` if the server asked for a wait |
//! | `retry_scheduled` | a retry follows after a delay | debug | `error_type`, `delay_ms`, `delay_source`, `quota`, `quota_mode`, `send_rate` |
//! | `stopped` | the operation failed | debug if the failure is not retryable, retries are switched off or the quota is exhausted, otherwise warn | `reason`, `error_type`, `quota`, `quota_mode`, `send_rate` |
//! | `succeeded` | the operation succeeded | trace at the first attempt, debug after a retry, warn if the strategy did not record the success | `recorded`, `quota`, `quota_mode`, `send_rate` |
//!
//! A quota that runs dry warns by itself, with the fields `strategy`, if the strategy has a name, and `capacity`:
//!
//! | event | meaning | level |
//! |---|---|---|
//! | `held` | a server asked a [`PacedRetryStrategy`] for a longer wait than `max_retry_after`, for the first time: first attempts wait | warn |
//! | `quota_exhausted` | a [`TokenBucket`] refused a retry, for the first time since it was full or had recovered | warn |
//! | `quota_recovered` | the balance is back at half of the capacity, and can pay what was refused | warn |
//!
//! The fields have these values:
//!
//! - `operation`: the [path of the function](Event::operation); for [`retry()`] the name of the call, which is the path
//!   of the closure by default.
//! - `operation_id`: the [id of the operation](OperationId), in the form of a UUID.
//! - `error_type`: a name from [`RetryErrorType::as_str`], or `none` if the policy gave no class.
//! - `reason`: a name from [`RetryError::as_str`].
//! - `delay_source`: a name from [`DelaySource::as_str`](strategy::DelaySource::as_str).
//! - `quota`: the level of the retry quota after the event.
//! - `quota_mode`: a name from [`QuotaMode::as_str`](quota::QuotaMode::as_str), for a quota that has modes, such as
//!   [`EvidenceQuota`](quota::EvidenceQuota).
//! - `send_rate`: the limit on sends per second after the event, if there is one.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod __private;
pub mod backoff;
pub mod classify;
pub mod config;
mod error;
pub mod guide;
pub mod limit;
pub mod observe;
mod operation;
pub mod policy;
pub mod quota;
pub mod retry;
pub mod strategy;
mod support;
#[cfg(feature = "test")]
pub mod test;
pub mod time;
#[cfg(feature = "tower")]
pub mod tower;

pub use backoff::{BackoffStrategy, ExponentialBackoff, Jitter};
pub use config::{ConfigError, RetryConfig};
pub use error::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
pub use observe::{Event, EventKind, Observer, OperationId, Report};
pub use operation::AttemptContext;
pub use policy::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy, Success, policy_fn};
pub use quota::{RetryQuota, TokenBucket};
pub use retry::{Retry, retry, retry_blocking, retry_with_context};
pub use strategy::{
    AdaptiveRetryStrategy, ErasedStrategy, EvidenceRetryStrategy, Failure, PacedRetryStrategy, RetryError,
    RetryStrategy, RetryToken, ScopedRetryStrategy, StandardRetryStrategy, retries_enabled, set_retries_enabled,
    without_retries, without_retries_blocking,
};
pub use support::InvalidSetting;
pub use support::random::reseed;
#[cfg(feature = "tokio")]
pub use time::TokioTimer;
pub use time::{Clock, TimeLimit, TimedOut, Timer};

#[cfg(feature = "macros")]
pub use retry_macros::{RetryInfo, retryable};
