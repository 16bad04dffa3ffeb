//! Classification of AWS error codes, and of HTTP statuses as the AWS SDKs read them.
//!
//! | error code | safe | throttling | timeout | conflict | fault |
//! |---|---|---|---|---|---|
//! | `Throttling`, `ThrottlingException`, `ThrottledException`, `RequestThrottledException`, `TooManyRequestsException`, `ProvisionedThroughputExceededException`, `TransactionInProgressException`, `RequestLimitExceeded`, `BandwidthLimitExceeded`, `LimitExceededException`, `RequestThrottled`, `SlowDown`, `PriorRequestNotComplete`, `EC2ThrottledException` | yes | yes | | | by the status |
//! | `RequestTimeout`, `RequestTimeoutException` | yes | | yes | | by the status |
//! | `ConditionalRequestConflict`, `OperationAborted`, `ReplicatedWriteConflictException`, `TransactionConflictException` | yes | | | yes | other |
//! | `ThrottledRequestException` | yes | yes | | | by the status |
//! | `ClientTimeoutException` | yes | | yes | | by the status |
//! | `BulkLoadIdNotFoundException`, `ModelNotReadyException`, `S3Exception` | yes | | | | by the status |
//! | `IDPCommunicationError` of STS | maybe | | | | server |
//! | [clock skew](is_clock_skew): `RequestTimeTooSkewed`, `RequestExpired`, `RequestInTheFuture`, `InvalidSignatureException`, `SignatureDoesNotMatch`, `AuthFailure` | no | | | | by the status |
//! | any other | by the status | | | | |
//!
//! | status | safe | throttling | timeout |
//! |---|---|---|---|
//! | 429 | yes | yes | |
//! | 500, 502, 503 | yes | | |
//! | 504 | yes | | yes |
//! | any other | no | | |
//!
//! The SDKs disagree on a 429 without an error code: some retry it as throttling, as this table does, and others don't
//! retry it. The fault follows from the status, as in [`http`]. A code without a status, or with a status below 500, is
//! the client's fault.
//!
//! A service can report an error in a response that began as a success: S3 does so in `CopyObject` and
//! `CompleteMultipartUpload`. Beside a status below 400, a code therefore has the status that its service documents for
//! it: `InternalError` 500, `ServiceUnavailable` and `SlowDown` 503.
//!
//! `ConditionalCheckFailedException` and the statuses 409 and 412 are not retried, because the same condition would
//! fail again. If each attempt reads again before it writes, label the variant of your error type `conflict` instead.
//!
//! The lists are those of the SDKs' standard retry mode, except for the conflicts. The SDKs also retry the errors that the model of
//! a service marks `retryable`. Most of these have a status or a code that is retried in any case. The five codes after the conflicts
//! are the others that mean the same in each service (models of 2 April 2025). `RangeNotSatisfiableException` of AWS Omics has the
//! mark too, but the same range is never valid. A code is looked up by its bare
//! name: the namespace (up to the last `#`), the address (from the first `:`) and surrounding whitespace are removed
//! first. For example, `com.amazonaws.dynamodb.v20120810#ThrottlingException` and `ThrottlingException:http://..` are
//! both `ThrottlingException`.
//!
//! # Examples
//!
//! ```
//! use retry_core::RetrySafety;
//! use retry_core::classify::aws;
//!
//! let slow_down = aws::error_code("SlowDown", Some(503));
//! assert!(slow_down.is_throttle());
//! assert_eq!(slow_down.is_retry_safe(), RetrySafety::Yes);
//! assert_eq!(aws::error_code("NoSuchKey", Some(404)).is_retry_safe(), RetrySafety::No);
//! ```

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

const CONFLICT_CODES: [&str; 4] = [
    "ConditionalRequestConflict",
    "OperationAborted",
    "ReplicatedWriteConflictException",
    "TransactionConflictException",
];

/// What the models of services mark as retryable: those that are throttling, timeouts, and neither.
const MODELLED_CODES: [&[&str]; 3] = [
    &["ThrottledRequestException"],
    &["ClientTimeoutException"],
    &["BulkLoadIdNotFoundException", "ModelNotReadyException", "S3Exception"],
];

/// STS could not reach the identity provider. It documents this code with the status 400.
const UNREACHABLE_CODE: &str = "IDPCommunicationError";

/// The codes that S3 also sends beside a status of success, with the status that it documents for each.
const STATUSES_OF_CODES: [(&str, u16); 3] = [("InternalError", 500), ("ServiceUnavailable", 503), ("SlowDown", 503)];

const CLOCK_SKEW_CODES: [&str; 6] = [
    "RequestTimeTooSkewed",
    "RequestExpired",
    "RequestInTheFuture",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "AuthFailure",
];

/// Classifies an error code, together with the status of the response if it is known.
///
/// An unknown code is ignored, and the status decides. If there is no status either, the error is not retried.
///
/// ```
/// use retry_core::RetrySafety;
/// use retry_core::classify::aws::error_code;
///
/// assert!(error_code("SlowDown", Some(503)).is_throttle());
/// assert_eq!(error_code("InternalServiceError", Some(500)).is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(error_code("NoSuchKey", Some(404)).is_retry_safe(), RetrySafety::No);
/// // In a response that began as a success:
/// assert_eq!(error_code("InternalError", Some(200)).is_retry_safe(), RetrySafety::Yes);
/// ```
pub fn error_code(code: &str, status: Option<u16>) -> Classification {
    match (known_code(code), status.map(|status| documented_status(code, status))) {
        // A conflict has no fault. For any other code, the fault follows from the class of the status.
        (Some(known), Some(500..)) if !known.is_conflict() => known.with_fault(ErrorFault::Server),
        (Some(known), _) => known,
        (None, Some(status)) => self::status(status),
        (None, None) => Classification::new(RetrySafety::No),
    }
}

/// Classifies an error code by itself. Returns `None` if the code is in none of the [lists](self).
pub fn known_code(code: &str) -> Option<Classification> {
    let code = bare(code);
    let [throttling, timeouts, others] = MODELLED_CODES;
    if THROTTLING_CODES.contains(&code) || throttling.contains(&code) {
        Some(Classification::new(RetrySafety::Yes).with_throttling().with_fault(ErrorFault::Client))
    } else if TRANSIENT_CODES.contains(&code) || timeouts.contains(&code) {
        Some(Classification::new(RetrySafety::Yes).with_timeout().with_fault(ErrorFault::Client))
    } else if others.contains(&code) {
        Some(Classification::new(RetrySafety::Yes).with_fault(ErrorFault::Client))
    } else if CONFLICT_CODES.contains(&code) {
        Some(Classification::new(RetrySafety::Yes).with_conflict())
    } else if code == UNREACHABLE_CODE {
        Some(Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server))
    } else if CLOCK_SKEW_CODES.contains(&code) {
        Some(Classification::new(RetrySafety::No).with_fault(ErrorFault::Client))
    } else {
        None
    }
}

/// Classifies the status of a response without a known error code.
///
/// The result differs from [`http::status`] in two ways. The statuses 500, 502, 503 and 504 are safe to retry, because
/// the SDKs treat them as transient. Of all other statuses, only 429 is retried.
pub const fn status(status: u16) -> Classification {
    let plain = http::status(status);
    match status {
        429 => plain,
        500 | 502 | 503 | 504 => plain.idempotent(true),
        _ => Classification::new(RetrySafety::No).with_fault(plain.fault()),
    }
}

/// Returns whether an error code can mean that the client's clock is wrong.
///
/// Such a request fails in the same way until the caller has corrected its clock. After that it is worth a single
/// retry, but never a retry loop, so [`error_code`] answers [`RetrySafety::No`] for these codes, whatever the status.
pub fn is_clock_skew(code: &str) -> bool {
    CLOCK_SKEW_CODES.contains(&bare(code))
}

/// Returns the status by which a code is classified: the status of the response, or, if that is below 400, the status
/// that the service documents for this code.
pub(crate) fn documented_status(code: &str, status: u16) -> u16 {
    let documented = || STATUSES_OF_CODES.iter().find(|(listed, _)| *listed == bare(code));
    if status < 400 { documented().map_or(status, |(_, documented)| *documented) } else { status }
}

/// Returns the bare name in a code: first cut off from the first `:` on, then up to the last `#`, then trimmed.
fn bare(code: &str) -> &str {
    let code = code.split_once(':').map_or(code, |(name, _)| name);
    code.rsplit_once('#').map_or(code, |(_, name)| name).trim()
}
