//! Retries for service calls: say what your errors mean and which functions are retried, and the library does the rest.
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
//! # Where to find what
//!
//! | to say | use |
//! |---|---|
//! | what errors mean | [`RetryInfo`](trait@RetryInfo) and its [derive](macro@RetryInfo) |
//! | which calls are retried | the attribute [`retryable`](macro@retryable); [`retry()`] for closures and foreign errors |
//! | whether, when and how often | a [`RetryStrategy`]; begin with [`StandardRetryStrategy`]. [`AdaptiveRetryStrategy`] also limits the rate of sends, [`ScopedRetryStrategy`] keeps one strategy for each key, and [`ErasedStrategy`] is chosen at run time |
//! | how long to wait, and how much to retry in all | a [`BackoffStrategy`] ([`backoff`]) and a [`RetryQuota`] ([`quota`]) |
//! | settings at run time | [`RetryConfig`] ([`config`]) |
//! | what an outcome means | a [`RetryPolicy`] ([`policy`]), by default [`StandardRetryPolicy`] |
//! | what statuses, error codes and foreign errors mean | [`classify`] |
//! | time | a [`Timer`] ([`time`]), by default tokio's; limits on it are options of the call, and a cut attempt is a [`TimedOut`] |
//! | what happens | an [`Observer`] ([`observe`]), or the [`Report`] of one call |
//! | a strategy of your own | [`strategy`], where the traits, tokens and settings are |
//!
//! What most programs name is at the root of the crate; the rest is in the modules. `docs/diagnostics.md` in the repository
//! explains each compile error of the macros, and [`guide`] explains the design decisions.
//!
//! # Where a strategy lives
//!
//! In a `static`, as above, since its constructors are `const`; in a [`LazyLock`](std::sync::LazyLock) if its settings come
//! from a [configuration](RetryConfig); in a field of a client; in an [`Arc`](std::sync::Arc) that several clients hold. All
//! of these are strategies. What matters is that all calls on one resource share one strategy, because its quota is what
//! protects the resource. A strategy that is made anew for each call protects nothing; most ways to do that don't compile.
//!
//! # Tests
//!
//! Tokio's paused time works: with `#[tokio::test(start_paused = true)]` (its feature `test-util`) waits take no time and
//! last exactly as long as they should. [`ManualTimer`](time::ManualTimer) does the same without tokio. [`Jitter::None`],
//! [`Jitter::Fixed`] and `seed` make delays predictable. Note that all tests of a process share a `static` and its quota: give
//! a test a strategy of its own where that matters.
//!
//! # Terms
//!
//! An *operation* is one call of a retried function; an *attempt* is one run of its body. A *retry* is any attempt but
//! the first. *Backoff* is the wait before a retry, and *jitter* is the random part of it. The *quota* is what retries are
//! paid from. To *throttle* is to turn requests away because there are too many.
//!
//! # Features
//!
//! | feature | default | what it brings |
//! |---|---|---|
//! | `macros` | yes | the derive and the attribute |
//! | `tokio` | yes | `TokioTimer`, the default timer |
//! | `aws-config` | no | [`RetryConfig`] from `AWS_RETRY_MODE`, `AWS_MAX_ATTEMPTS` and the shared config file of AWS |
//! | `httpdate` | no | dates in `Retry-After`, for [`classify::http`] |
//! | `http` | no | [`classify::http`] for the types of the crate `http`, and `httpdate` |
//! | `serde` | no | [`RetryConfig`] and [`RetryMode`](config::RetryMode) can be serialized and deserialized |
//! | `test` | no | the module `test` for tests of retried code, and constructors for [`Event`], [`Report`], [`AttemptContext`] and [`TimedOut`] |
//! | `tracing` | no | all events of an [`Observer`], as events of `tracing` |
//!
//! # Events
//!
//! What happens to an operation is told to its [`Observer`], if it has one, and with the feature `tracing` to the
//! subscriber. There the events have the target `retry_core` and the fields `operation`, `attempt` and those below. What
//! follows what, [`Observer`] says.
//!
//! | event's name | level | fields |
//! |---|---|---|
//! | `refused` | warn | `reason`: the strategy gave no initial token |
//! | `limited` | trace | `wait_ms`: a limiter holds the attempt back; told for each wait of 100 ms at most |
//! | `attempt_started` | trace | |
//! | `attempt_failed` | debug | `error_type`, `retryable`, `retry_after_ms` if the server asked for a wait |
//! | `retry_scheduled` | debug | `error_type`, `delay_ms`, `delay_source`, `quota` |
//! | `stopped` | debug if the failure is not retryable or retries are switched off, else warn | `reason`, `error_type`, `quota` |
//! | `succeeded` | trace at the first attempt, debug after a retry, warn if it was not recorded | `recorded`, `quota` |
//!
//! `operation` is the [path of the function](Event::operation), or of the closure for [`retry()`] if it was given no name;
//! `error_type` a name from [`RetryErrorType::as_str`] or `unknown`, `reason` one from [`RetryError::as_str`], `delay_source` one from
//! [`DelaySource::as_str`](strategy::DelaySource::as_str), and `quota` what the retry quota holds afterwards.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod __private;
pub mod backoff;
pub mod classify;
pub mod config;
mod error;
pub mod guide;
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

pub use backoff::{BackoffStrategy, ExponentialBackoff, Jitter};
pub use config::{ConfigError, RetryConfig};
pub use error::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
pub use observe::{Event, EventKind, Observer, Report};
pub use operation::{AttemptContext, OperationId};
pub use policy::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy, Success, policy_fn};
pub use quota::{RetryQuota, TokenBucket};
pub use retry::{Retry, retry, retry_blocking, retry_with_context};
pub use strategy::{
    AdaptiveRetryStrategy, ErasedStrategy, Failure, RetryError, RetryStrategy, RetryToken, ScopedRetryStrategy,
    StandardRetryStrategy, retries_enabled, set_retries_enabled,
};
pub use support::InvalidSetting;
#[cfg(feature = "tokio")]
pub use time::TokioTimer;
pub use time::{Clock, TimeLimit, TimedOut, Timer};

#[cfg(feature = "macros")]
pub use retry_macros::{RetryInfo, retryable};
