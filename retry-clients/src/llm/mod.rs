//! Classification of the errors of services for large language models, and of the headers that they add to HTTP.
//!
//! There is a table for each dialect. A code that a table does not list is ignored, and the status of the response decides,
//! as in [`http`](retry_core::classify::http#).
//!
//! | dialect | where the code is | code | safe | class | fault |
//! |---|---|---|---|---|---|
//! | [`OpenAI`](known_openai) | `error.code` | `rate_limit_exceeded` | yes | throttling | client |
//! | | | `insufficient_quota`, `billing_hard_limit_reached`, `context_length_exceeded`, `invalid_api_key`, `model_not_found` | no | | client |
//! | | | `server_error` | maybe | | server |
//! | [Anthropic](anthropic) | `error.type` | `rate_limit_error` | yes | throttling | client |
//! | | | `overloaded_error` | yes | throttling | server |
//! | | | `api_error` | maybe | | server |
//! | | | `timeout_error` | maybe | timeout | server |
//! | | | any other | no | | client |
//! | [Google](known_google) | `error.status` | the name of a gRPC code, such as `UNAVAILABLE` | as in [`grpc`](crate::codes::grpc()) |||
//!
//! So the status 429 has two meanings: with `rate_limit_exceeded` the request may be sent again after a wait, and with
//! `insufficient_quota` each repetition fails until somebody pays, so the operation ends immediately.
//!
//! An error event in the middle of a stream has the same codes, but no separate status. Classify it by the table alone.
//!
//! With the feature `http`, `response` classifies a whole response: it combines the code with the status and the headers,
//! and obeys `x-should-retry`. This crate has no JSON parser, so it can't find the code in the body. With `classify_with`
//! of `error_for_response`, your function gets the body of an error response and parses it.
//!
//! A generated text has no effect on the server, so a second attempt does no harm except for its price. So mark such an
//! operation `idempotent`; each *maybe* is then retried.
//!
//! ```
//! use retry_clients::llm;
//! use retry_core::RetrySafety;
//!
//! let throttled = llm::known_openai("rate_limit_exceeded");
//! assert!(throttled.is_some_and(|verdict| verdict.is_throttle()));
//! let unpaid = llm::known_openai("insufficient_quota");
//! assert!(unpaid.is_some_and(|verdict| verdict.is_retry_safe() == RetrySafety::No));
//! ```
//!
//! # Long waits
//!
//! These services reset some limits once a day, and a `6m0s` is common. A wait above
//! [`max_retry_after`](retry_core::StandardRetryStrategy::max_retry_after), which is 5 minutes by default, ends the operation with
//! [`RetryError::RetryAfterTooLong`](retry_core::RetryError::RetryAfterTooLong); the report of the operation has that reason. Raise
//! the limit for batch jobs that can wait longer.
//!
//! # Streams
//!
//! A response with server-sent events has two phases. An operation that returns the stream is retried until the stream
//! opens; what happens to the stream later is up to the caller. An operation that reads the stream to its end can continue
//! after a break if the server gives ids to the events and accepts `Last-Event-ID`: lend each attempt the last id and the
//! place where the text is collected, both as `&mut`. What an attempt has read stays there when it fails:
//!
//! ```
//! # use retry_core::classify::Classification;
//! # use retry_core::{PatientRetryStrategy, retryable};
//! # static MODEL: PatientRetryStrategy = PatientRetryStrategy::new();
//! # struct Http;
//! # struct Event { id: u64, data: String }
//! # struct Events;
//! # type StreamError = Classification;
//! # impl Http {
//! #     async fn open(&self, _: &str, _: u64) -> Result<Events, StreamError> { Ok(Events) }
//! # }
//! # impl Events { async fn next(&mut self) -> Result<Option<Event>, StreamError> { Ok(None) } }
//! #[retryable(strategy = MODEL, idempotent)]
//! async fn read(
//!     http: &Http,
//!     prompt: &str,
//!     last_id: &mut u64,
//!     text: &mut String,
//! ) -> Result<(), StreamError> {
//!     let mut events = http.open(prompt, *last_id).await?; // sends `Last-Event-ID` if it is not 0
//!     while let Some(event) = events.next().await? {
//!         text.push_str(&event.data);
//!         *last_id = event.id;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! In the repository, run `cargo run --example llm_stream` to see it with a server that breaks streams. If the server can't
//! continue a stream, clear the text at the start of each attempt.
//!
//! # Limits on tokens
//!
//! These services limit tokens per minute besides requests. Give each prompt its tokens as a weight for
//! `retry_core::limit::PacedLimiter`, and the limits to the strategy if you know them. `cargo run --example llm` shows what is
//! rejected with and without them. A stream that continues after a break uses no more tokens: return what an attempt used,
//! and pass it on by `used`, with the tokens that remain of the limit if the response reports them (`response_token_limit`).
//!
//! # Differences from the providers' own libraries
//!
//! These versions were read: `openai` 3.54.0 (Python) and 6.49.0 (npm), `anthropic` 2.12.0 and `@anthropic-ai/sdk` 1.12.0,
//! `google-genai` 3.4.0 and `@google/genai` 2.32.0.
//!
//! - They classify by the status alone, and retry each 429, even if the quota of the account is used up. The libraries for
//!   `OpenAI` and Anthropic obey `x-should-retry`, and retry each 408, 409 and status of 500 or above. This crate does not
//!   retry a 409, 501 or 505 unless the server says `x-should-retry: true`. The libraries for Google retry 408, 429, 500, 502,
//!   503 and 504, if retries are turned on.
//! - The libraries for `OpenAI` and Anthropic read `retry-after-ms` before `Retry-After`, both with fractions. Here,
//!   `retry-after-ms` is digits only. The Python library for `OpenAI` does not retry if the wait is longer than two minutes.
//! - The libraries for Google do not read the `RetryInfo` in the body. Only their client for interactions reads `retry-after-ms`
//!   and `Retry-After`. It retries each 408, 409, 429 and status of 500 or above.
//! - None of them reads the headers of rate limits.

mod headers;
#[cfg(feature = "http")]
mod response;

pub use headers::duration;
#[cfg(feature = "http")]
pub use response::{response, response_rate_limit, response_token_limit};

use crate::codes::grpc;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};
use std::time::Duration;

/// Classifies an error of `OpenAI`, or of a service that speaks its dialect, by its `error.code`. Returns `None` if the code
/// is not in the [table](self).
///
/// ```
/// use retry_clients::llm::known_openai;
/// use retry_core::RetrySafety;
///
/// let safety = known_openai("server_error").map(|verdict| verdict.is_retry_safe());
/// assert_eq!(safety, Some(RetrySafety::Maybe));
/// assert_eq!(known_openai("unknown_code"), None);
/// ```
pub fn known_openai(code: &str) -> Option<Classification> {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    match code {
        "rate_limit_exceeded" => Some(Classification::new(Yes).with_throttling().with_fault(Client)),
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "context_length_exceeded"
        | "invalid_api_key"
        | "model_not_found" => Some(Classification::new(No).with_fault(Client)),
        "server_error" => Some(Classification::new(Maybe).with_fault(Server)),
        _ => None,
    }
}

/// Classifies an error of Anthropic by its `error.type`, by the [table](self). A type that is not in the table is not
/// retried.
///
/// ```
/// use retry_clients::llm::anthropic;
/// use retry_core::RetrySafety;
///
/// assert!(anthropic("overloaded_error").is_throttle());
/// assert_eq!(anthropic("invalid_request_error").is_retry_safe(), RetrySafety::No);
/// ```
pub fn anthropic(error_type: &str) -> Classification {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    match error_type {
        "rate_limit_error" => Classification::new(Yes).with_throttling().with_fault(Client),
        "overloaded_error" => Classification::new(Yes).with_throttling().with_fault(Server),
        "api_error" => Classification::new(Maybe).with_fault(Server),
        "timeout_error" => Classification::new(Maybe).with_timeout().with_fault(Server),
        _ => Classification::new(No).with_fault(Client),
    }
}

/// The names of the gRPC codes. The index of a name is its code.
const GRPC_NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Classifies an error of Google by its `error.status`, which is the name of a gRPC code, and by the delay that the server
/// asked for. Returns `None` if the status is not such a name.
///
/// The delay is the `retryDelay` of the item of `error.details` whose `@type` is `type.googleapis.com/google.rpc.RetryInfo`;
/// [`duration`] reads it. `RESOURCE_EXHAUSTED` is retried only with a delay; see [`grpc`](crate::codes::grpc()).
///
/// ```
/// use retry_clients::llm::{duration, known_google};
/// use std::time::Duration;
///
/// let verdict = known_google("RESOURCE_EXHAUSTED", duration("30s")).unwrap();
/// assert!(verdict.is_throttle());
/// assert_eq!(verdict.retry_after(), Some(Duration::from_secs(30)));
/// ```
pub fn known_google(status: &str, delay: Option<Duration>) -> Option<Classification> {
    let code = (0..).zip(GRPC_NAMES).find(|(_, name)| *name == status)?.0;
    Some(grpc(code, delay))
}
