//! Classification of HTTP statuses and methods, and what a server reports about its rate limit.
//!
//! This table classifies a status without a known error code:
//!
//! | status | safe | throttling | timeout | fault | source |
//! |---|---|---|---|---|---|
//! | below 400 | no (not an error) | | | other | |
//! | 408 Request Timeout | yes | | yes | client | RFC 9110, 15.5.9 |
//! | 413 Content Too Large, with a `Retry-After` | yes | | | client | RFC 9110, 15.5.14 |
//! | 425 Too Early | yes | | | client | RFC 8470, 5.2 |
//! | 429 Too Many Requests | yes | yes | | client | RFC 6585, 4 |
//! | 403 with a `Retry-After`, or with `x-ratelimit-remaining: 0` | yes | yes | | client | GitHub's documentation of its rate limits |
//! | any other 4xx | no | | | client | RFC 9110, 15.5 |
//! | 503 with a `Retry-After` | yes | yes | | server | RFC 9110, 15.6.4 |
//! | 509 (bandwidth limit exceeded), 529 (overloaded) | yes | yes | | server | widespread, in no RFC |
//! | 500, 502, 503 | maybe | | | server | RFC 9110, 15.6 |
//! | 504 Gateway Timeout | maybe | | yes | server | RFC 9110, 15.6.5 |
//! | 501, 505 | no | | | server | RFC 9110, 15.6.2 and 15.6.6 |
//! | any other 5xx | maybe | | | server | RFC 9110, 15.6 |
//! | above 599 | maybe | | | server | RFC 9110, 15: an invalid status is treated as a 5xx |
//!
//! The crate `retry-clients` reads the headers: its module `http` classifies whole responses, and has parsers for `Retry-After` and
//! `RateLimit`.
//!
//! Whether a *maybe* is retried depends on the request; see [`Classification::idempotent`] and [`idempotent_method`].
//! If the response has an AWS error code, use [`aws`](super::aws), which takes the code into account.
//!
//! ```
//! use retry_core::RetrySafety;
//! use retry_core::classify::http;
//!
//! let answer = http::status(502);
//! assert_eq!(answer.is_retry_safe(), RetrySafety::Maybe);
//! assert_eq!(answer.idempotent(http::idempotent_method("PUT")).is_retry_safe(), RetrySafety::Yes);
//! ```

pub use super::rate_limit::RateLimit;

use super::Classification;
use crate::error::{ErrorFault, RetrySafety};
use std::time::Duration;

/// Classifies a status by itself, by the [table](self).
///
/// ```
/// use retry_core::classify::{Classification, http};
///
/// const TOO_MANY: Classification = http::status(429);
/// assert!(TOO_MANY.is_throttle());
/// ```
pub const fn status(status: u16) -> Classification {
    status_with(status, None)
}

/// Classifies a status together with the wait from a `Retry-After` header, by the [table](self).
///
/// The wait is part of the result, whatever the status. A 503 or 403 with a wait, even a wait of zero, is throttling, and a 413
/// with a wait is safe to retry.
pub const fn status_with(status: u16, retry_after: Option<Duration>) -> Classification {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    let answer = match status {
        0..=399 => Classification::new(No),
        408 => Classification::new(Yes).with_timeout().with_fault(Client),
        413 if retry_after.is_some() => Classification::new(Yes).with_fault(Client),
        425 => Classification::new(Yes).with_fault(Client),
        429 => Classification::new(Yes).with_throttling().with_fault(Client),
        403 if retry_after.is_some() => Classification::new(Yes).with_throttling().with_fault(Client),
        400..=499 => Classification::new(No).with_fault(Client),
        503 if retry_after.is_some() => Classification::new(Yes).with_throttling().with_fault(Server),
        509 | 529 => Classification::new(Yes).with_throttling().with_fault(Server),
        504 => Classification::new(Maybe).with_timeout().with_fault(Server),
        501 | 505 => Classification::new(No).with_fault(Server),
        500.. => Classification::new(Maybe).with_fault(Server),
    };
    answer.with_retry_after(retry_after)
}

/// Returns whether a method is idempotent: `true` for GET, HEAD, OPTIONS, TRACE, PUT and DELETE
/// ([RFC 9110, 9.2.2](https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2)), and for QUERY
/// ([The HTTP QUERY Method](https://datatracker.ietf.org/doc/draft-ietf-httpbis-safe-method-w-body/)).
///
/// POST, PATCH and unknown methods are not. Method names are case-sensitive (RFC 9110, 9.1), so `get` is unknown.
pub const fn idempotent_method(method: &str) -> bool {
    matches!(method.as_bytes(), b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" | b"PUT" | b"DELETE" | b"QUERY")
}

/// Classifies the status [by itself](status).
#[cfg(feature = "http")]
impl From<::http::StatusCode> for Classification {
    fn from(code: ::http::StatusCode) -> Self {
        status(code.as_u16())
    }
}
