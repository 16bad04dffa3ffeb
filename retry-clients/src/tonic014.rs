//! The errors of tonic 0.14: [`tonic::Status`].
//!
//! Tonic also reports its own errors as statuses, so a code alone does not show whether the server ever saw the call.
//! The sources of the status show it. The first question that is answered with yes decides:
//!
//! | question | safe | class | fault | why | observed by |
//! |---|---|---|---|---|---|
//! | Did TLS fail while connecting? | no | | other | the same certificate is refused again | a server without TLS |
//! | Was the client still connecting ([`ConnectError`])? Its code is UNAVAILABLE. | yes | timeout if it timed out | other | nothing was sent | a closed port, an unknown host, a full backlog |
//! | Was it a timeout of this client ([`TimeoutExpired`])? Its code is CANCELLED. | maybe | timeout | other | the server may have acted | a server that never answers |
//! | Did the server refuse the call by `REFUSED_STREAM` of HTTP/2? | yes | | server | it was not processed | that frame |
//! | Did the connection break ([`hyper1`])? Its code is UNKNOWN, CANCELLED or INTERNAL. | maybe | | server | the server may have acted | a reset, a closed connection, bytes that are not HTTP/2 |
//! | Was it a timeout of the server? It answers CANCELLED with the text `Timeout expired`, which is tonic's own. | maybe | timeout | other | the server may have acted | `Server::timeout`, and `Request::set_timeout`, which both sides enforce |
//! | Is the answer not gRPC, such as a proxy's page? Tonic's text for it has the HTTP status. | as for the code in [gRPC's mapping](https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md): 429, 502, 503, 504 are UNAVAILABLE, 400 INTERNAL, 401 UNAUTHENTICATED, 403 `PERMISSION_DENIED`, 404 UNIMPLEMENTED, any other UNKNOWN | | | somebody else has answered | pages, a redirect, answers without a body |
//! | Did the answer end early, by tonic's own text? Its code is INTERNAL or UNKNOWN. | maybe | | server | the server may have acted | a stream that ends within a message, or before its trailers |
//! | Did the server answer? | by the code | | | [`codes::grpc`](fn@codes::grpc) | each code |
//!
//! A server can also send:
//!
//! - A delay in a `google.rpc.RetryInfo`, in the details of the status or in the metadata `google.rpc.retryinfo-bin`; in the metadata
//!   `grpc-retry-pushback-ms`; or in a [header of HTTP](crate::http#headers-that-carry-a-wait-or-a-limit), such as `retry-after`. If there
//!   are several, the longest one is used. With a delay, `RESOURCE_EXHAUSTED` is throttling.
//! - A `grpc-retry-pushback-ms` that is negative, malformed or repeated: then there is no retry ([`grpc_pushback`]).
//!
//! [`otlp`] is the same with the codes as OpenTelemetry reads them.
//!
//! # Use
//!
//! ```
//! use retry_clients::tonic014;
//! use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
//! use tonic::Status;
//!
//! static SEARCH: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! // A function that returns tonic's own error.
//! #[retryable(strategy = SEARCH, policy = tonic014::policy().idempotent(true))]
//! async fn search(text: &str) -> Result<Vec<String>, Status> {
//!     // One call of the generated client, which each attempt makes again:
//!     // `client.clone().search(..).await`.
//! #   Ok(vec![text.to_owned()])
//! }
//!
//! // Your own error type.
//! #[derive(Debug, RetryInfo)]
//! enum SearchError {
//!     Call(#[retry(with = tonic014::classify)] Status),
//!     Empty,
//! }
//! ```
//!
//! `Endpoint::connect` fails with a `tonic::transport::Error`, which [`policy`] classifies by its sources. A channel
//! that was made by `connect_lazy` connects in the first call, and again after the connection broke, so its errors are
//! statuses.
//!
//! `Endpoint::timeout` ends with the head of the answer, also for a call with a single answer: a server that then stalls is waited for
//! without end. So set `attempt_timeout` on the operation.
//!
//! A stream of answers that ends early without an error of the connection has no metadata. So if it ends between two messages, tonic
//! has the same error as for an empty page with the status 200, and it is not retried.
//!
//! Attempts that stream a request start the stream again, so make the stream within the attempt.

mod foreign;

use crate::codes::{self, grpc, grpc_pushback};
use crate::http::{response_retry_after, responses::until_reported_limit_resets};
use crate::{connect, hyper1, refused};
use foreign::Foreign;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, RetrySafety};
use std::error::Error;
use std::time::{Duration, SystemTime};
use tonic::{Code, ConnectError, Status, TimeoutExpired};
use tonic_types::{RetryInfo, RpcStatusExt, StatusExt};

crate::client_error::of_client!("tonic", Status);

/// Classifies a status by the [table](self).
pub fn classify(status: &Status) -> Classification {
    match local(status) {
        Some(verdict) => verdict,
        None => answer(status, grpc),
    }
}

/// Classifies a status as [`classify()`] does, but reads the codes by [`codes::otlp`]. If the server did not answer,
/// or its answer was cut short, a retry is safe unless TLS failed, because telemetry may be sent twice.
///
/// Use it for exporters of telemetry only.
pub fn otlp(status: &Status) -> Classification {
    match local(status) {
        Some(verdict) => verdict.idempotent(true),
        None => answer(status, codes::otlp).idempotent(true),
    }
}

/// Classifies a [`Status`], a [`ClientError`], a [`ConnectError`] or a [`TimeoutExpired`] that is a link of a chain, for
/// [`ChainPolicy::also`]. Returns `None` for any other link.
pub fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    match link.downcast_ref() {
        Some(status) => Some(classify(status)),
        None => local_link(link),
    }
}

/// Returns a [`ChainPolicy`] that knows the errors of tonic, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}

/// Returns the [`policy`] for exporters of telemetry, which classifies as [`otlp`] does.
pub const fn otlp_policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(otlp_link)
}

/// Classifies a status that this client made, because there was no answer.
fn local(status: &Status) -> Option<Classification> {
    let source = status.source()?;
    // The error of a response that has begun is hyper's own.
    let of_hyper = if source.is::<hyper::Error>() { hyper1::link } else { refused::link };
    chain::first_known(source, |link| local_link(link).or_else(|| of_hyper(link)))
}

fn otlp_link(link: &(dyn Error + 'static)) -> Option<Classification> {
    match status(link) {
        Some(status) => Some(otlp(status)),
        None => local_link(link).map(|verdict| verdict.idempotent(true)),
    }
}

/// Returns the status that a link of a chain is or holds.
fn status<'a>(link: &'a (dyn Error + 'static)) -> Option<&'a Status> {
    link.downcast_ref().or_else(|| link.downcast_ref().and_then(ClientError::client_error))
}

fn local_link(link: &(dyn Error + 'static)) -> Option<Classification> {
    if let Some(error) = link.downcast_ref::<ConnectError>() {
        return Some(connect::classify(error));
    }
    if let Some(error) = link.downcast_ref::<ClientError>() {
        return Some(error.classification());
    }
    link.is::<TimeoutExpired>().then_some(Classification::new(RetrySafety::Maybe).with_timeout())
}

/// The text of tonic's own timeout, with which its server answers.
const SERVER_TIMEOUT: &str = "Timeout expired";

/// Classifies the answer of a server, or of a proxy in its place.
fn answer(status: &Status, table: fn(i32, Option<Duration>) -> Classification) -> Classification {
    let foreign = Foreign::of(status);
    let code = match foreign {
        Some(Foreign::Http(http_status)) => foreign::code(http_status),
        Some(Foreign::CutShort) | None => status.code(),
    };
    let is_timeout = code == Code::Cancelled && status.message() == SERVER_TIMEOUT;
    let table = |delay| match table(code.into(), delay) {
        verdict if foreign == Some(Foreign::CutShort) && verdict.is_retry_safe() == RetrySafety::No => {
            verdict.with_safety(RetrySafety::Maybe)
        }
        verdict if !is_timeout => verdict,
        verdict if verdict.is_retry_safe() == RetrySafety::No => verdict.with_safety(RetrySafety::Maybe).with_timeout(),
        verdict => verdict.with_timeout(),
    };
    let delay = delay(status, code);
    let mut pushbacks = status.metadata().get_all("grpc-retry-pushback-ms").iter();
    match (pushbacks.next(), pushbacks.next()) {
        (None, _) => table(delay),
        (Some(value), None) => match value.to_str().ok().and_then(grpc_pushback) {
            Some(wait) => table(delay.max(Some(wait))),
            None => table(delay).with_safety(RetrySafety::No),
        },
        (Some(_), Some(_)) => table(delay).with_safety(RetrySafety::No),
    }
}

/// Returns the longest delay that an answer asks for, but for the pushback.
fn delay(status: &Status, code: Code) -> Option<Duration> {
    let details = status.get_details_retry_info();
    let (headers, now) = (status.metadata().as_ref(), SystemTime::now());
    let reported = || match code {
        // A proxy's 429 is UNAVAILABLE.
        Code::ResourceExhausted | Code::Unavailable => until_reported_limit_resets(headers, now),
        _ => None,
    };
    let header = response_retry_after(headers, now).or_else(reported);
    // `None` is less than any delay.
    let of_info = |info: Option<RetryInfo>| info.and_then(|info| info.retry_delay);
    of_info(details).max(of_info(retry_info(status))).max(header)
}

/// Reads the metadata in which some services of Google send a `RetryInfo` by itself.
fn retry_info(status: &Status) -> Option<RetryInfo> {
    let value = status.metadata().get_bin("google.rpc.retryinfo-bin")?.to_bytes().ok()?;
    // Details of a status are read, and this is one of them.
    let mut details = tonic_types::pb::Status::default();
    details.details.resize_with(1, Default::default);
    let any = details.details.first_mut()?;
    (any.type_url, any.value) = (RetryInfo::TYPE_URL.into(), value.into());
    details.get_details_retry_info()
}
