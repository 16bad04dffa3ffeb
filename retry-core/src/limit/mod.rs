//! Limits on sends: a limiter decides when an attempt may be sent, and learns from the server's answers.
//!
//! ```
//! use retry_core::{PacedRetryStrategy, RetryInfo, retryable};
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
//! The effect of a limiter on a bulk copy:
//!
#![doc = include_str!("../../docs/copy.svg")]

mod adaptive;
mod concurrency;
mod limiter;
mod number;
mod paced;
mod pair;
mod queue;
mod ready;
mod waker;

pub use adaptive::AdaptiveLimiter;
#[doc(hidden)]
pub use adaptive::AdaptivePlace;
pub use concurrency::ConcurrencyLimiter;
#[doc(hidden)]
pub use concurrency::ConcurrencyPlace;
pub use limiter::{FailedSend, SendLimiter, Unpaid};
pub use paced::{GoodputEstimator, PacedAnswers, PacedLimiter, Rejections, Requests, Unit, Weights};
#[doc(hidden)]
pub use paced::{Held, PaceSettings, PacedPlace, SendRate, Throttled};
pub use ready::Ready;
pub use waker::LazyWaker;
pub(crate) use waker::{EarlyWake, Waiter};
