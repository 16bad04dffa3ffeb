//! A success with other bodies than that of [`operation`](crate::operation): each bare, by hand, and with the attribute.

use crate::operation::StoreError;
use crate::ours::STORE;
use retry_core::{
    BackoffStrategy, ErrorInfo, ExponentialBackoff, RetryDirective, RetryInfo, RetryQuota, RetrySafety,
    StandardRetryPolicy, TokenBucket, TokioTimer, retryable,
};
use std::hint::black_box;
use std::time::Duration;

/// An error of 64 bytes, whose variants lie in the same place as what a success holds.
#[derive(Clone, Copy, Debug)]
pub struct LargeError(pub [u64; 8]);

impl ErrorInfo for LargeError {}

impl RetryInfo for LargeError {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::No
    }
}

/// A future that is ready at once.
#[expect(clippy::unused_async, reason = "a service call would wait here")]
async fn number(number: u64) -> u64 {
    black_box(number)
}

/// An error as services have them, with a text in one variant and a wait in another.
#[derive(Clone, Debug, RetryInfo)]
pub enum ServiceError {
    /// Too many requests.
    #[retry(throttling)]
    SlowDown {
        /// The wait that the server asks for.
        #[retry(retry_after)]
        wait: Option<Duration>,
    },
    /// A mistake of the caller.
    #[retry(fault = "client")]
    Invalid(String),
}

/// Makes a number after an await.
///
/// # Errors
///
/// Returns an error for [`u64::MAX`].
async fn value_of(of: u64) -> Result<u64, ServiceError> {
    let number = number(of).await;
    if number == u64::MAX { Err(ServiceError::Invalid(String::new())) } else { Ok(number) }
}

/// Makes a `String` after an await. It is too short to matter.
///
/// # Errors
///
/// Returns an error for [`u64::MAX`].
async fn text(of: u64) -> Result<String, StoreError> {
    if number(of).await == u64::MAX { Err(StoreError::NoSuchKey) } else { Ok(String::from("key")) }
}

/// Adds to a `&mut` argument.
///
/// # Errors
///
/// Returns an error for [`u64::MAX`].
async fn add(sum: &mut u64, of: u64) -> Result<u64, StoreError> {
    *sum = sum.wrapping_add(number(of).await);
    if *sum == u64::MAX { Err(StoreError::NoSuchKey) } else { Ok(*sum) }
}

/// May return an error of 64 bytes.
///
/// # Errors
///
/// Returns an error for [`u64::MAX`].
async fn large(of: u64) -> Result<u64, LargeError> {
    let number = number(of).await;
    if number == u64::MAX { Err(LargeError([number; 8])) } else { Ok(number) }
}

static QUOTA: TokenBucket = TokenBucket::new(500);
static BACKOFF: ExponentialBackoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));

/// Returns the delay before the next attempt of a loop by hand; `None` if the error is not retried.
#[cold]
fn delay_by_hand<E: RetryInfo>(error: &E, retries: &mut u32) -> Option<Duration> {
    let directive = StandardRetryPolicy::new().evaluate_error(error);
    let RetryDirective::Retry { error_type, retry_after, .. } = directive else { return None };
    if *retries >= 4 || !QUOTA.try_acquire(5, &TokioTimer) {
        return None;
    }
    let delay = BACKOFF.compute_next_backoff_delay(*retries, error_type).max(retry_after.unwrap_or_default());
    *retries += 1;
    Some(delay)
}

/// Declares a body bare, by hand and with the attribute.
macro_rules! forms {
    ($(#[$attribute:meta])* $module:ident($($argument:ident: $ty:ty),*) -> $outcome:ty = $body:expr) => {
        $(#[$attribute])*
        pub mod $module {
            use super::*;

            /// Without a retry layer.
            ///
            /// # Errors
            ///
            /// Returns those of the body.
            pub async fn bare($($argument: $ty),*) -> $outcome {
                $body.await
            }

            /// A loop by hand around a static quota.
            ///
            /// # Errors
            ///
            /// Returns those of the body.
            pub async fn hand($($argument: $ty),*) -> $outcome {
                let mut retries = 0;
                loop {
                    match $body.await {
                        Ok(value) => {
                            QUOTA.refund(1);
                            return Ok(value);
                        }
                        Err(error) => match delay_by_hand(&error, &mut retries) {
                            Some(delay) if delay.is_zero() => {}
                            Some(delay) => Box::pin(tokio::time::sleep(delay)).await,
                            None => return Err(error),
                        },
                    }
                }
            }

            /// With the attribute.
            ///
            /// # Errors
            ///
            /// Returns those of the body.
            #[retryable(strategy = STORE)]
            pub async fn attribute($($argument: $ty),*) -> $outcome {
                $body.await
            }
        }
    };
}

forms! {
    /// A `String` that is made after an await.
    string(of: u64) -> Result<String, StoreError> = text(of)
}
forms! {
    /// A number that is made after an await.
    value(of: u64) -> Result<u64, ServiceError> = value_of(of)
}
forms! {
    /// A `&mut` argument.
    mutable(sum: &mut u64, of: u64) -> Result<u64, StoreError> = add(&mut *sum, of)
}
forms! {
    /// An error of 64 bytes.
    large_error(of: u64) -> Result<u64, LargeError> = large(of)
}
