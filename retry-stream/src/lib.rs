//! Streams that reconnect, with the strategies of `retry-core`.
//!
//! [`reconnect`] and [`reconnect_from`] make one stream of the items of many connections. When a connection fails, is closed by the
//! server, or stalls, the stream opens the next one, with the backoff and the quota of a strategy. Items are passed on.
//!
//! ```
//! use futures_util::stream::{self, Stream, TryStreamExt};
//! use retry_core::{PatientRetryStrategy, RetryInfo, Stop};
//! use retry_stream::reconnect_from;
//! use std::time::Duration;
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(timeout)]
//! struct FeedError;
//!
//! /// Opens the feed after this event.
//! async fn open(
//!     last: u64,
//! ) -> Result<impl Stream<Item = Result<u64, FeedError>> + Unpin, FeedError> {
//!     // The connection is lost after two events.
//!     Ok(stream::iter([Ok(last + 1), Ok(last + 2), Err(FeedError)]))
//! }
//!
//! // All calls to the service share it.
//! static FEED: PatientRetryStrategy = PatientRetryStrategy::new();
//! static STOP: Stop = Stop::new();
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! # let _test = retry_core::test::begin();
//! let mut events = reconnect_from(&FEED, 0, |last| open(last))
//!     .position(|event| Some(*event))
//!     .idle_timeout(Duration::from_secs(30))
//!     .stop(&STOP)
//!     .stream();
//! let mut seen = Vec::new();
//! while let Some(event) = events.try_next().await? {
//!     seen.push(event);
//!     if event == 5 {
//!         STOP.stop();
//!     }
//! }
//! assert_eq!(seen, [1, 2, 3, 4, 5]);
//! # Ok::<(), FeedError>(())
//! # }).unwrap();
//! ```
//!
//! # One operation
//!
//! The stream is one [operation](retry_core::drive) with unlimited attempts, and each connection is an attempt. So everything that a strategy does
//! applies: quota, backoff, limiters, events, and waiting for the service.
//!
//! - A connection that ends before [`reset_after`](Reconnect::reset_after) is a failed attempt: the backoff grows, and the retry is paid.
//! - A connection that lasts longer resets the backoff and the payments when it ends; see
//!   [`progressed`](retry_core::RetryDirective::progressed). The next one still follows after the backoff of a first retry.
//! - A connection that the server closes, or that sends nothing after an item, is a failure of the class
//!   [`Other`](retry_core::RetryErrorType::Other). One that is not opened in time, or never sends an item, has the class
//!   [`Timeout`](retry_core::RetryErrorType::Timeout).
//!
//! # The end
//!
//! A server can't end the stream by closing a connection. The stream ends:
//!
//! - after a [`Stop`](retry_core::Stop), immediately and without an error;
//! - with an error that the policy does not retry, as its last item;
//! - when the strategy refuses a retry, with the last error as its last item; without an item if no connection has failed with an error
//!   since the backoff was reset. [`StandardRetryStrategy`](retry_core::StandardRetryStrategy) does that while its quota is empty, so
//!   take a [`PatientRetryStrategy`](retry_core::PatientRetryStrategy), which waits until the service answers again.
//!
//! If the stream is dropped while it waits, what was paid for the next connection comes back.
//!
//! # Tests
//!
//! Under a guard of `retry_core::test::begin`, the waits between connections are skipped. The timeouts are not.
//! `retry_core::test::explore` lets connections fail. It reports that a stream never gives up, which is right.

mod connect;
mod reconnect;
mod stream;

pub use connect::{Connect, FromPosition, FromStart};
pub use reconnect::{Reconnect, reconnect, reconnect_from};
pub use stream::ReconnectingStream;
