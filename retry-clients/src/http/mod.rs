//! What HTTP clients have in common: the headers by which a server asks for a wait or reports its rate limit, the policy for
//! responses, and error responses as errors.
//!
//! | items | feature |
//! |---|---|
//! | parsers for the values of `Retry-After`, `RateLimit` and their relatives | none; `httpdate` for a `Retry-After` that is a date |
//! | functions that classify or read a response, by the types of the crate `http` | `http` |
//! | [`ResponsePolicy`] | `hyper_util01`, `reqwest012` or `reqwest013` |
//! | [`ErrorResponse`], [`ResponseExt`] | `reqwest012` or `reqwest013` |
//!
//! Clients of HTTP turn on `http`, which turns on `httpdate`. Statuses are classified by the table in [`retry_core::classify::http`].
//! The headers `retry-after-ms` and `x-ms-retry-after-ms` are a `Retry-After` in milliseconds. An `x-amz-retry-after` is not: services
//! send it with every kind of failure, so it is only a wait.
//!
//! # Headers that carry a wait or a limit
//!
//! On a failure, the wait is the first of these that is present and well formed. [`response`] reads all of them, and
//! [`response_retry_after`] all but those of throttled failures. On a success, [`response_rate_limit`] reads the limit, and a
//! [policy](retry_core::RetryDirective::with_rate_limit) passes it on to a strategy that paces. No wait is shorter than what the header
//! says.
//!
//! | header | unit | on a failure | on a success |
//! |---|---|---|---|
//! | `x-amz-retry-after`, `retry-after-ms`, `x-ms-retry-after-ms` | milliseconds | a wait: the longest of them | |
//! | `Retry-After` | seconds, with or without a fraction, or a date | a wait | |
//! | `x-ratelimit-reset-after`, `x-ratelimit-reset` beside `x-ratelimit-remaining`; the same with `x-rate-limit-` | [number](rate_limit_remaining) | a wait, if nothing remains | a limit |
//! | `RateLimit: "default";r=0;t=58`, or `remaining=0, reset=58` | the same | a wait, if nothing remains and the failure is throttling | a limit |
//! | `RateLimit-Reset` beside `RateLimit-Remaining` | the same | the same | a limit |
//! | `x-ratelimit-reset-requests` and `-tokens` beside `x-ratelimit-remaining-..`, only in [`llm`](crate::llm) | [duration](crate::llm::duration), such as `6m0s` | a wait, if nothing remains | a limit, of requests or of tokens |
//! | `anthropic-ratelimit-..-reset` beside `-remaining`, only in [`llm`](crate::llm) | a time of RFC 3339 | the same | the same |
//!
//! With gRPC, [`tonic014`](crate::tonic014) reads the metadata `grpc-retry-pushback-ms`, a `RetryInfo` in
//! `grpc-status-details-bin` or in `google.rpc.retryinfo-bin`, and these headers. A wait in the body needs your own
//! function; [`classify_with`](ErrorForResponse::classify_with) has examples for Discord and Slack.
//!
//! The modules [`reqwest012`](crate::reqwest012) and [`reqwest013`](crate::reqwest013) have a `ClientError` each, which is
//! [`ClientError`](crate::ClientError) with reqwest's own error and with an [`ErrorResponse`], and re-export [`ResponseExt`].
//!
#![cfg_attr(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013"), doc = "```")]
#![cfg_attr(not(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013")), doc = "```ignore")]
//! use retry_clients::http::ResponsePolicy;
//! use retry_core::classify::chain::Owner;
//!
//! // For requests that may be executed twice, by a client whose errors are of any type.
//! const READS: ResponsePolicy<Owner> = ResponsePolicy::new().idempotent(true);
//! ```

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod error_for_response;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod error_response;
pub(crate) mod rate_limit;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod request_error;
#[cfg(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013"))]
mod response_policy;
#[cfg(feature = "http")]
pub(crate) mod responses;
pub(crate) mod retry_after;

pub use rate_limit::{rate_limit, rate_limit_remaining};
#[cfg(feature = "http")]
pub use responses::{
    advised_response, exchange, response, response_limit_in, response_rate_limit, response_retry_after,
};
pub use retry_after::{retry_after, retry_after_millis};

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub use error_for_response::{ErrorForResponse, ResponseExt};
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub use error_response::ErrorResponse;
#[cfg(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013"))]
pub use response_policy::ResponsePolicy;

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub(crate) use error_for_response::Response;
#[cfg(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013"))]
pub(crate) use response_policy::Answer;
