//! AWS: error codes, and statuses as its SDKs read them.
//!
//! | error code | safe | throttling | timeout |
//! |---|---|---|---|
//! | `Throttling`, `ThrottlingException`, `ThrottledException`, `RequestThrottledException`, `TooManyRequestsException`, `ProvisionedThroughputExceededException`, `TransactionInProgressException`, `RequestLimitExceeded`, `BandwidthLimitExceeded`, `LimitExceededException`, `RequestThrottled`, `SlowDown`, `PriorRequestNotComplete`, `EC2ThrottledException` | yes | yes | |
//! | `RequestTimeout`, `RequestTimeoutException` | yes | | yes |
//! | [clock skew](is_clock_skew): `RequestTimeTooSkewed`, `RequestExpired`, `RequestInTheFuture`, `InvalidSignatureException`, `SignatureDoesNotMatch`, `AuthFailure` | no | | |
//! | any other | as the status says | | |
//!
//! | status | safe | throttling | timeout |
//! |---|---|---|---|
//! | 429 | yes | yes | |
//! | 500, 502, 503 | yes | | |
//! | 504 | yes | | yes |
//! | any other | no | | |
//!
//! Of a bare 429 the SDKs differ: some retry it as throttling, as it is done here, others not at all. The fault is that
//! of the status, as in [`http`]. A code without a status, or with one below 400, is taken as the client's fault.
//!
//! The lists are those of the SDKs' standard retry mode. A code is compared as it is, so take off what the protocol puts
//! around it: a namespace up to `#`, an address after `:`.

use super::{Classification, http};
use crate::error::{ErrorFault, RetrySafety};

const THROTTLING_CODES: [&str; 14] = [
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottledException",
    "TooManyRequestsException",
    "ProvisionedThroughputExceededException",
    "TransactionInProgressException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "RequestThrottled",
    "SlowDown",
    "PriorRequestNotComplete",
    "EC2ThrottledException",
];

const TRANSIENT_CODES: [&str; 2] = ["RequestTimeout", "RequestTimeoutException"];

const CLOCK_SKEW_CODES: [&str; 6] = [
    "RequestTimeTooSkewed",
    "RequestExpired",
    "RequestInTheFuture",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "AuthFailure",
];

/// What an error code means, together with the status of the response if it is known. The code beats the status, which
/// has the word where the code is unknown. Where both are, nobody knows: no.
///
/// ```
/// use retry_core::RetrySafety;
/// use retry_core::classify::aws::error_code;
///
/// assert!(error_code("SlowDown", Some(503)).is_throttle());
/// assert_eq!(error_code("InternalServiceError", Some(500)).is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(error_code("NoSuchKey", Some(404)).is_retry_safe(), RetrySafety::No);
/// ```
pub fn error_code(code: &str, status: Option<u16>) -> Classification {
    match (self::code(code), status) {
        // The code can't tell who is at fault, the class of the status can.
        (Some(known), Some(500..)) => known.with_fault(ErrorFault::Server),
        (Some(known), _) => known,
        (None, Some(status)) => self::status(status),
        (None, None) => Classification::new(RetrySafety::No),
    }
}

/// What an error code means by itself, or `None` if it is in none of the [lists](self).
pub fn code(code: &str) -> Option<Classification> {
    let answer = if THROTTLING_CODES.contains(&code) {
        Classification::new(RetrySafety::Yes).with_throttling()
    } else if TRANSIENT_CODES.contains(&code) {
        Classification::new(RetrySafety::Yes).with_timeout()
    } else if is_clock_skew(code) {
        Classification::new(RetrySafety::No)
    } else {
        return None;
    };
    Some(answer.with_fault(ErrorFault::Client))
}

/// What the status of a response without a known error code means.
///
/// It differs from [`http::status`] in that 500, 502, 503 and 504 are yes, since the SDKs take them for transient, and
/// that nothing else is but 429.
pub const fn status(status: u16) -> Classification {
    let plain = http::status(status);
    match status {
        429 => plain,
        500 | 502 | 503 | 504 => plain.idempotent(true),
        _ => Classification::new(RetrySafety::No).with_fault(plain.fault()),
    }
}

/// Whether an error code can mean that the client's clock is wrong.
///
/// Such a request fails in the same way until the caller has corrected its clock. After that one retry is worth it, and
/// never a loop: so [`error_code`] says no, whatever the status.
pub fn is_clock_skew(code: &str) -> bool {
    CLOCK_SKEW_CODES.contains(&code)
}
