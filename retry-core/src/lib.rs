//! Retries for service calls. Say what your errors mean and which functions are retried; the library does the rest.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod __private;
mod backoff;
mod error;
mod observe;
mod operation;
mod policy;
mod random;
mod retry;
mod standard;
mod strategy;
mod time;
mod token_bucket;
mod wait_field;

pub use backoff::{BackoffStrategy, ExponentialBackoff, Jitter};
pub use error::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
pub use observe::Report;
pub use policy::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy};
pub use retry::{NoHint, ReportFuture, Retry, RetryFuture, When, retry};
pub use standard::{StandardRetryStrategy, StandardRetryToken};
pub use strategy::{Failure, ForeignToken, Ready, RetryError, RetryStrategy, RetryToken};
#[cfg(not(feature = "tokio"))]
pub use time::EnableTheFeatureTokioOrPassATimer;
#[cfg(feature = "tokio")]
pub use time::TokioTimer;
pub use time::{Clock, DefaultTimer, Timer, Timestamp};
pub use token_bucket::{RetryQuota, TokenBucket};

#[cfg(feature = "macros")]
pub use retry_macros::{RetryInfo, retryable};
