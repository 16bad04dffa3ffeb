//! Classification of the errors of services for large language models, and of the headers that they add to HTTP.
//!
//! There is a table for each dialect. A code that a table does not list is ignored, and the status of the response decides,
//! as in [`http`](retry_core::classify::http#).
//!
//! | dialect | where the code is | code | safe | class | fault |
//! |---|---|---|---|---|---|
//! | [`OpenAI`](known_openai) | `error.code` | `rate_limit_exceeded`, `slow_down` | yes | throttling | client |
//! | | | `server_is_overloaded`, `capacity_exceeded` | yes | throttling | server |
//! | | | `insufficient_quota`, `billing_hard_limit_reached`, `credit_balance_exhausted`, `organization_spend_limit_exceeded`, `organization_usage_limit_exceeded`, `project_spend_limit_exceeded`, `context_length_exceeded`, `invalid_api_key`, `model_not_found` | no | | client |
//! | | | `server_error` | maybe | | server |
//! | | [with](known_openai_error) `error.message` | a request that is larger than the limit, as in `Request too large for ..` | no | | client |
//! | [Anthropic](anthropic) | `error.type` | `rate_limit_error` | yes | throttling | client |
//! | | | `overloaded_error` | yes | throttling | server |
//! | | | `api_error` | maybe | | server |
//! | | | `timeout_error` | maybe | timeout | server |
//! | | | any other | no | | client |
//! | [Google](known_google) | `error.status` | `RESOURCE_EXHAUSTED` | yes | throttling | client |
//! | | | the name of another gRPC code, such as `UNAVAILABLE` | as in [`grpc`](crate::codes::grpc()) |||
//! | | [`quotaId`](known_google_quota) of a violation | a quota of a day or of a project | no | | client |
//!
//! So the status 429 has several meanings. With `rate_limit_exceeded` the request may be sent again after a wait. With
//! `insufficient_quota` each repetition fails until somebody pays, and a request that is larger than the limit fails always, so the
//! operation ends immediately.
//!
//! A code is not stronger than a status such as 413, which says that this request can't succeed. With the feature `http`, `response`
//! compares both.
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
//! `retry_limits::PacedLimiter`, and the limits to the strategy if you know them. `cargo run --example llm` shows what is
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
        "rate_limit_exceeded" | "slow_down" => Some(Classification::new(Yes).with_throttling().with_fault(Client)),
        "server_is_overloaded" | "capacity_exceeded" => {
            Some(Classification::new(Yes).with_throttling().with_fault(Server))
        }
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "credit_balance_exhausted"
        | "organization_spend_limit_exceeded"
        | "organization_usage_limit_exceeded"
        | "project_spend_limit_exceeded"
        | "context_length_exceeded"
        | "invalid_api_key"
        | "model_not_found" => Some(Classification::new(No).with_fault(Client)),
        "server_error" => Some(Classification::new(Maybe).with_fault(Server)),
        _ => None,
    }
}

/// Classifies an error of `OpenAI`, or of a service that speaks its dialect, by its `error.code` and its `error.message`. Without a
/// code, pass an empty text. Returns `None` if neither of them is known.
///
/// A request that asks for more than the limit allows at all can't succeed, but has the code `rate_limit_exceeded` like one that
/// can succeed later. It is recognized by a message that begins with `Request too large`, or that has a `Limit` below what was
/// `Requested`. Any other error is classified as by [`known_openai`].
///
/// ```
/// use retry_clients::llm::known_openai_error;
/// use retry_core::RetrySafety;
///
/// let safety = |message| {
///     known_openai_error("rate_limit_exceeded", message).map(|verdict| verdict.is_retry_safe())
/// };
/// let later = "Rate limit reached on tokens per min: Limit 30000, Used 29000, Requested 2000";
/// assert_eq!(safety(later), Some(RetrySafety::Yes));
/// let never = "Request too large on tokens per min: Limit 30000, Requested 30601";
/// assert_eq!(safety(never), Some(RetrySafety::No));
/// ```
pub fn known_openai_error(code: &str, message: &str) -> Option<Classification> {
    const BEGINNING: &str = "request too large";

    let beginning = message.trim_start().get(..BEGINNING.len());
    let is_too_large = beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(BEGINNING))
        || number_after(message, "Limit ")
            .is_some_and(|limit| number_after(message, "Requested ").is_some_and(|requested| requested > limit));
    if is_too_large {
        return Some(Classification::new(RetrySafety::No).with_fault(ErrorFault::Client));
    }
    known_openai(code)
}

/// Returns the number that follows a word in a text. It may have commas between its digits.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b',').filter(|byte| *byte != b',');
    digits.fold(None, |number, digit| {
        Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(u64::from(digit - b'0')))
    })
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
/// [`duration`] reads it. `RESOURCE_EXHAUSTED` is throttling, with or without a delay, because these services use it for their
/// rate limits. [`known_google_quota`] knows the quotas that make it final. Any other code is classified by
/// [`grpc`](crate::codes::grpc()).
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
    // With a delay, the code is throttling in that table.
    if code == 8 { Some(grpc(code, Some(Duration::ZERO)).with_retry_after(delay)) } else { Some(grpc(code, delay)) }
}

/// Classifies a quota of Google that was exceeded, by its `quotaId`. Returns `Some`, not retried, for a quota of a day or longer,
/// and for one of a project without a time. Returns `None` for any other, such as a quota of a minute, and then [`known_google`]
/// decides.
///
/// The ids are in the `violations` of the item of `error.details` whose `@type` is
/// `type.googleapis.com/google.rpc.QuotaFailure`. If an error has several, one that is not retried decides, even if a `RetryInfo` is
/// beside it: Google sends that for quotas of a day, too.
///
/// ```
/// use retry_clients::llm::{known_google, known_google_quota};
/// use retry_core::RetrySafety;
///
/// let judge = |ids: &[&str]| {
///     let quota = ids.iter().find_map(|id| known_google_quota(id));
///     quota.or_else(|| known_google("RESOURCE_EXHAUSTED", None)).map(|it| it.is_retry_safe())
/// };
/// let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
/// assert_eq!(judge(&[minute]), Some(RetrySafety::Yes));
/// let day = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
/// assert_eq!(judge(&[minute, day]), Some(RetrySafety::No));
/// ```
pub fn known_google_quota(quota_id: &str) -> Option<Classification> {
    let name: String = quota_id.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let is_of = |times: &[&str]| times.iter().any(|time| name.contains(time));
    let is_long = is_of(&["perday", "perweek", "permonth", "peryear"]);
    let is_short = is_of(&["persecond", "perminute", "perhour"]);
    let is_final = is_long || (name.contains("perproject") && !is_short);
    is_final.then_some(Classification::new(RetrySafety::No).with_fault(ErrorFault::Client))
}
