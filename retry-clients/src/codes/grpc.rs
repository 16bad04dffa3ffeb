//! The codes of gRPC, OTLP's reading of them, and the metadata by which a server pushes back.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};
use std::time::Duration;

/// Classifies a gRPC status code, together with the delay that the server asked for.
///
/// The delay comes from a `google.rpc.RetryInfo` in the details of the status, or from the metadata that
/// [`grpc_pushback`] reads. It is part of the result, whatever the code. The authority is
/// [AIP-194](https://google.aip.dev/194), except where the last column says otherwise:
///
/// | code | safe | class | fault | authority |
/// |---|---|---|---|---|
/// | 14 `UNAVAILABLE` | maybe | | server | AIP-194 retries it. It is *maybe* because the connection can break after the server acted |
/// | 8 `RESOURCE_EXHAUSTED` with a delay | yes | throttling | client | [OTLP](https://opentelemetry.io/docs/specs/otlp/#failures): with a delay, the server can recover. AIP-194 does not consider delays |
/// | 8 `RESOURCE_EXHAUSTED` without a delay | no | | client | AIP-194: a quota that is used up can last for hours |
/// | 4 `DEADLINE_EXCEEDED` | maybe | timeout | other | deviates: AIP-194 says never, because the application set the deadline. A deadline of one attempt is a timeout like any other, so the operation decides |
/// | 10 `ABORTED` | maybe | conflict | other | AIP-194 retries it at a higher level only. If the attempt is the whole read-modify-write, mark the operation `idempotent` |
/// | 3 `INVALID_ARGUMENT`, 5 `NOT_FOUND`, 6 `ALREADY_EXISTS`, 7 `PERMISSION_DENIED`, 9 `FAILED_PRECONDITION`, 11 `OUT_OF_RANGE`, 16 `UNAUTHENTICATED` | no | | client | AIP-194 |
/// | 2 `UNKNOWN`, 12 `UNIMPLEMENTED`, 13 `INTERNAL`, 15 `DATA_LOSS`, any other number | no | | server | AIP-194; gRPC reads an unknown number as `UNKNOWN` |
/// | 1 `CANCELLED` | no | | other | AIP-194: the caller gave up |
/// | 0 `OK` | no (not an error) | | other | |
///
/// ```
/// use retry_clients::codes::grpc;
/// use retry_core::{RetryInfo, RetrySafety};
/// use std::time::Duration;
///
/// let delay = Some(Duration::from_secs(2));
/// assert!(grpc(8, delay).is_throttle());
/// assert_eq!(grpc(8, None).is_retry_safe(), RetrySafety::No);
///
/// // In an error type, where the fields are passed by reference:
/// #[derive(RetryInfo)]
/// #[retry(with = Self::judge)]
/// struct CallFailed {
///     code: i32,
///     delay: Option<Duration>,
/// }
///
/// impl CallFailed {
///     fn judge(code: &i32, delay: &Option<Duration>) -> retry_core::classify::Classification {
///         grpc(*code, *delay)
///     }
/// }
///
/// assert_eq!(CallFailed { code: 8, delay }.retry_after(), delay);
/// ```
pub const fn grpc(code: i32, delay: Option<Duration>) -> Classification {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    let answer = match code {
        0 | 1 => Classification::new(No),
        4 => Classification::new(Maybe).with_timeout(),
        8 if delay.is_some() => Classification::new(Yes).with_throttling().with_fault(Client),
        10 => Classification::new(Maybe).with_conflict(),
        3 | 5..=9 | 11 | 16 => Classification::new(No).with_fault(Client),
        14 => Classification::new(Maybe).with_fault(Server),
        _ => Classification::new(No).with_fault(Server),
    };
    answer.with_retry_after(delay)
}

/// Classifies a gRPC status code as OTLP does, the protocol of OpenTelemetry, together with the delay that the server
/// asked for.
///
/// The differences from [`grpc`] are those of the [OTLP specification](https://opentelemetry.io/docs/specs/otlp/#failures):
///
/// | code | safe |
/// |---|---|
/// | 1 `CANCELLED`, 4 `DEADLINE_EXCEEDED`, 10 `ABORTED`, 11 `OUT_OF_RANGE`, 14 `UNAVAILABLE`, 15 `DATA_LOSS` | yes |
/// | any other | as [`grpc`] says; so 8 `RESOURCE_EXHAUSTED` is yes with a delay, and no without one |
///
/// Class and fault are those of [`grpc`]. Use this table only for exporters of telemetry, which may send the same data
/// twice.
///
/// ```
/// use retry_clients::codes::{grpc, otlp};
/// use retry_core::RetrySafety;
///
/// assert_eq!(otlp(15, None).is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(grpc(15, None).is_retry_safe(), RetrySafety::No);
/// ```
pub const fn otlp(code: i32, delay: Option<Duration>) -> Classification {
    let answer = grpc(code, delay);
    match code {
        1 | 4 | 10 | 11 | 14 | 15 => answer.with_safety(RetrySafety::Yes),
        _ => answer,
    }
}

/// Returns the delay that the metadata `grpc-retry-pushback-ms` asks for, or `None` if it asks for no retry at all.
///
/// By [gRPC A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#pushback) the value is a number of
/// milliseconds that fits in 32 bits. Any other value, such as `-1`, means that the client must not retry. Metadata
/// that is missing means nothing, so call this only for metadata that is there:
///
/// ```
/// use retry_clients::codes::{grpc, grpc_pushback};
/// use retry_core::RetrySafety;
/// use retry_core::classify::Classification;
/// use std::time::Duration;
///
/// fn judge(code: i32, delay: Option<Duration>, pushback: Option<&str>) -> Classification {
///     match pushback.map(grpc_pushback) {
///         None => grpc(code, delay),
///         Some(Some(wait)) => grpc(code, delay.max(Some(wait))),
///         Some(None) => grpc(code, delay).with_safety(RetrySafety::No),
///     }
/// }
///
/// assert_eq!(judge(14, None, Some("250")).retry_after(), Some(Duration::from_millis(250)));
/// assert_eq!(judge(14, None, Some("-1")).is_retry_safe(), RetrySafety::No);
/// ```
pub fn grpc_pushback(value: &str) -> Option<Duration> {
    // `parse` accepts a plus sign, which the grammar does not have.
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: i32 = value.parse().ok()?;
    Some(Duration::from_millis(u64::from(millis.unsigned_abs())))
}
