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
//! | Did the server answer? | by the code | | | [`codes::grpc`](fn@codes::grpc) | each code |
//!
//! A server can also send:
//!
//! - A delay in a `google.rpc.RetryInfo` or in the metadata `grpc-retry-pushback-ms`. If both are there, the longer one
//!   is used. With a delay, `RESOURCE_EXHAUSTED` is throttling.
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
//! Attempts that stream a request start the stream again, so make the stream within the attempt.

use crate::codes::{self, grpc, grpc_pushback};
use crate::{connect, hyper1, refused};
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, RetrySafety};
use std::error::Error;
use std::time::Duration;
use tonic::{Code, ConnectError, Status, TimeoutExpired};
use tonic_types::StatusExt;

crate::client_error::of_client!("tonic", Status);

/// Classifies a status by the [table](self).
pub fn classify(status: &Status) -> Classification {
    match local(status) {
        Some(verdict) => verdict,
        None => answer(status, grpc),
    }
}

/// Classifies a status as [`classify()`] does, but reads the codes by [`codes::otlp`]. If the server did not answer,
/// a retry is safe unless TLS failed, because telemetry may be sent twice.
///
/// Use it for exporters of telemetry only.
pub fn otlp(status: &Status) -> Classification {
    match local(status) {
        Some(verdict) => verdict.idempotent(true),
        None => answer(status, codes::otlp),
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

/// Classifies the answer of a server.
fn answer(status: &Status, table: fn(i32, Option<Duration>) -> Classification) -> Classification {
    let is_timeout = status.code() == Code::Cancelled && status.message() == SERVER_TIMEOUT;
    let table = |code, delay| match table(code, delay) {
        verdict if !is_timeout => verdict,
        verdict if verdict.is_retry_safe() == RetrySafety::No => verdict.with_safety(RetrySafety::Maybe).with_timeout(),
        verdict => verdict.with_timeout(),
    };
    let details = status.get_details_retry_info().and_then(|info| info.retry_delay);
    let mut pushbacks = status.metadata().get_all("grpc-retry-pushback-ms").iter();
    let code = status.code().into();
    match (pushbacks.next(), pushbacks.next()) {
        (None, _) => table(code, details),
        (Some(value), None) => match value.to_str().ok().and_then(grpc_pushback) {
            Some(wait) => table(code, details.max(Some(wait))),
            None => table(code, details).with_safety(RetrySafety::No),
        },
        (Some(_), Some(_)) => table(code, details).with_safety(RetrySafety::No),
    }
}
