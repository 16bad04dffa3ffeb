//! Limits on sends: a limiter decides when an attempt may be sent, and learns from the server's answers.
//!
//! ```
//! use retry_core::{AdaptiveRetryStrategy, RetryInfo, retryable};
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! // Slows down when the table throttles requests.
//! static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
//!
//! #[retryable(strategy = TABLE)]
//! async fn put(key: &str) -> Result<(), SlowDown> {
//!     // One attempt.
//! #   Ok(())
//! }
//! ```
//!
//! The crate [`retry-limits`](https://docs.rs/retry-limits) has the limiters for bulk jobs: at the rate that the server accepts, by
//! weights such as tokens or bytes, by the number of requests in flight, and two limits together.
//!
//! A limiter of your own implements [`SendLimiter`]; the module [`parts`](crate::parts) has a queue for it.

mod adaptive;
mod limiter;
pub(crate) mod queue;
mod ready;
mod waker;

pub use adaptive::{AdaptiveLimiter, AdaptivePlace};
pub use limiter::{FailedSend, SendLimiter, Unpaid};
pub use ready::Ready;
pub use waker::LazyWaker;
pub(crate) use waker::{EarlyWake, Waiter};
