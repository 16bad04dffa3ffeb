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

#[cfg(feature = "limiters")]
mod adaptive;
#[cfg(feature = "limiters")]
mod concurrency;
mod limiter;
#[cfg(feature = "limiters")]
mod number;
#[cfg(feature = "limiters")]
mod paced;
mod pair;
#[cfg(feature = "limiters")]
mod queue;
mod ready;
mod waker;

#[cfg(feature = "limiters")]
pub use adaptive::AdaptiveLimiter;
#[cfg(feature = "limiters")]
#[doc(hidden)]
pub use adaptive::AdaptivePlace;
#[cfg(feature = "limiters")]
pub use concurrency::ConcurrencyLimiter;
#[cfg(feature = "limiters")]
#[doc(hidden)]
pub use concurrency::ConcurrencyPlace;
pub use limiter::{FailedSend, SendLimiter, Unpaid};
#[cfg(feature = "limiters")]
pub use paced::{GoodputEstimator, PacedAnswers, PacedLimiter, Rejections, Requests, Unit, Weights};
#[cfg(feature = "limiters")]
#[doc(hidden)]
pub use paced::{Held, PaceSettings, PacedPlace, SendRate, Throttled};
pub use ready::Ready;
pub use waker::LazyWaker;
pub(crate) use waker::{EarlyWake, Waiter};
