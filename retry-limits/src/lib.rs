//! How fast to send, for bulk jobs: strategies for retry-core that find the rate that a server accepts, or the number of
//! requests that it handles at a time.
//!
//! ```
//! use retry_core::{RetryInfo, retryable};
//! use retry_limits::PacedRetryStrategy;
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! // Sends at the rate that the table accepts, which the limiter learns from its rejections.
//! static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();
//!
//! #[retryable(strategy = TABLE)]
//! async fn put(key: &str) -> Result<(), SlowDown> {
//!     // One attempt.
//! #   Ok(())
//! }
//! ```
//!
//! A service that answers users rarely needs a limit: [`PatientRetryStrategy`](retry_core::PatientRetryStrategy) retries little when
//! much fails. A job that copies a million objects sends as fast as it can, so the server throttles it. With a limiter it sends at
//! the rate that the server accepts, and loses nothing to throttling. The effect on a bulk copy:
//!
#![doc = include_str!("../docs/copy.svg")]
//!
//! # Overview
//!
//! | strategy | for a server that limits | limiter |
//! |---|---|---|
//! | [`PacedRetryStrategy`] | requests per second | [`PacedLimiter`] |
//! | [`LimitedRetryStrategy<PacedLimiter<Weights>>`](PacedLimiter#weights) | a sum per second, such as tokens or bytes | [`PacedLimiter`]`<`[`Weights`]`>` |
//! | [`ConcurrencyRetryStrategy`] | requests at a time | [`ConcurrencyLimiter`] |
//! | [`LimitedRetryStrategy<Pair<..>>`](Pair) | in two ways | [`Pair`] |
//!
//! Each of them is a [`LimitedRetryStrategy`]: the standard strategy with a [limiter](retry_core::limit::SendLimiter). retry-core has
//! one more, [`AdaptiveRetryStrategy`](retry_core::AdaptiveRetryStrategy), with the arithmetic of the AWS SDKs.
//! `docs/choosing.md` in the repository compares them.
//!
//! The other items are the settings and the parts of these limiters: [`Rejections`] says from which failures a limiter learns, and
//! [`GoodputEstimator`] describes how the rate is found.
//!
//! # Tests
//!
//! With the feature `test` of retry-core, each limiter has fresh state under a guard, as strategies have.
//!
//! [`LimitedRetryStrategy`]: retry_core::strategy::LimitedRetryStrategy
#![cfg_attr(docsrs, feature(doc_cfg))]

mod concurrency;
mod limited;
mod number;
mod paced;
mod pair;
mod rejections;
mod sync;
mod throttled;
mod waits;

pub use concurrency::{ConcurrencyLimiter, ConcurrencyPlace, ConcurrencyRetryStrategy, ConcurrencyRetryToken};
#[doc(hidden)]
pub use paced::Held;
pub use paced::{
    GoodputEstimator, PacedAnswers, PacedLimiter, PacedPlace, PacedRetryStrategy, PacedRetryToken, PacedSettings,
    PacedStrategy, Requests, SendRate, Unit, Weights,
};
pub use pair::Pair;
pub use rejections::Rejections;
pub use throttled::Throttled;
