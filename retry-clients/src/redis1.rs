//! The errors of redis 1: [`redis::RedisError`], against Redis and Valkey.
//!
//! The first question that is answered with yes decides:
//!
//! | question | safe | class | fault | why | observed by |
//! |---|---|---|---|---|---|
//! | Did the server answer with an error? | by the code, else no | | | [`codes::known_redis`](crate::codes::known_redis) | each code that a single server can be made to answer |
//! | Was a transaction (`MULTI`) refused, and each of its causes is safe? | yes | | server | nothing of it was executed | a replica, a full memory, a loading server |
//! | Was a transaction refused for another cause? | no | | client | the same command fails again | an unknown command |
//! | Did commands of a pipeline fail, and each of the errors is safe? | maybe | | server | the others were executed | a full memory |
//! | Did commands of a pipeline fail otherwise? | no | | client | the same command fails again | a wrong type |
//! | Was the connection refused, or could the name not be resolved? | yes | | other | nothing was sent | a closed port, an unknown host |
//! | Did TLS fail? | no | | other | the same certificate is refused again | a bad certificate, a server without TLS |
//! | Was it a timeout? | maybe | timeout | other | the client does not tell a timeout while connecting from a later one | a full backlog, a paused server |
//! | Did the connection break, was the answer cut short, or is it not of the protocol? | maybe | | server | the command may have been executed | a killed server, half an answer, a wrong length, an answer of HTTP |
//! | Was it another I/O error? | maybe | | other | its kind is not in [`classify::io`](retry_core::classify::io) | |
//! | Do the sentinels know no master or no replica? | yes | | server | nothing was sent | a sentinel without a master |
//! | Has the client of a cluster no connection? | maybe | | server | an earlier try of the client itself may have been executed | |
//! | Any other error, such as an answer of the wrong type | no | | other | the same happens again | a wrong return type, a wrong password |
//!
//! By the kinds of the crate:
//!
//! | `ErrorKind` | classification |
//! |---|---|
//! | `Server`, `Extension` | by the code in the answer |
//! | `Io` | by the questions above |
//! | `Parse` | *maybe* if the answer is not of the protocol, *no* if it has another type than the program asked for |
//! | `MasterNameNotFoundBySentinel`, `NoValidReplicasFoundBySentinel` | *yes*, server fault: nothing was sent |
//! | `ClusterConnectionNotFound` | *maybe*, server fault: an earlier try may have been executed |
//! | `AuthenticationFailed` | *no*: the same password is refused again |
//! | `UnexpectedReturnType`, `Serialize` | *no*: the program uses another type |
//! | `InvalidClientConfig`, `EmptySentinelList`, `Client` | *no*: the client refuses it before it is sent |
//! | `RESP3NotSupported` | *no*: the server is too old for it |
//!
//! | `ServerErrorKind` | classification |
//! |---|---|
//! | `BusyLoading`, `TryAgain`, `ClusterDown`, `MasterDown`, `ReadOnly` | *yes*, server fault: not executed |
//! | `Moved`, `Ask` | *yes*: another node has the slot |
//! | `ResponseError` | by the message: `max number of clients`, and the errors of scripts before Redis 7; otherwise *no*, client fault |
//! | `ExecAbort` | by the causes, if they are known; otherwise *no*, client fault |
//! | `NoScript`, `NoPerm` | *no*, client fault: the same command fails again |
//! | `CrossSlot`, `NotBusy`, `NoSub` | *no*: the command does not fit the keys or the state of the connection |
//!
//! redis has a classification of its errors, `RedisError::retry_method`. It is not used here, because it says how to
//! get a working connection, and not whether the command was executed.
//!
//! # Use
//!
//! A `MultiplexedConnection` stays broken after its connection broke. For retries, use a `ConnectionManager`, which connects
//! again, with these settings, and set `max_time` on your operations:
//!
//! ```text
//! let config = ConnectionManagerConfig::new()
//!     .set_number_of_retries(usize::MAX)
//!     .set_max_delay(Duration::from_millis(500));
//! let cache = Client::open("redis://127.0.0.1/")?.get_connection_manager_lazy(config)?;
//! ```
//!
//! The manager then connects until it succeeds, and each command waits for the connection. These retries do not multiply with
//! those of the operations, because all commands wait for the same connection. `max_time` limits the wait. With
//! `attempt_timeout` instead, an INCR that waited for a connection looks like one that may have been executed.
//!
//! With a lower number, a command can get the error of a reconnect that has ended before the command began:
//!
//! - An attempt fails without an attempt to connect. With 0, this happens to each attempt of an outage, and to the first one after it.
//! - If that reconnect broke, as behind a load balancer, an INCR that was not sent looks like one that may have been executed.
//! - If the error was not an I/O error, such as that of a wrong password, the manager never connects again.
//!
//! With these settings, a wrong password or certificate is not reported: the operations reach their time limits. So connect
//! once by `get_multiplexed_async_connection` when the program starts. To fail earlier than by a time limit, keep a
//! `MultiplexedConnection` in place of the manager, and if it broke, connect within the next attempt.
//!
//! With `?protocol=resp3` in the URL, for Redis 6 or later, the manager notices immediately that the server closed the connection.
//! Without it, the next command fails, and is not retried if it is an INCR.
//!
//! A cluster connection follows `MOVED` and `ASK`, and also retries by itself.
//!
//! Mark your writes: after a timeout, an INCR may or may not have been executed.
//!
//! ```
//! use redis::RedisError;
//! use retry_clients::redis1::{self, ClientError};
//! use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
//!
//! static CACHE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! // A read, or a SET, may be carried out twice.
//! #[retryable(strategy = CACHE, idempotent, max_time = "2s")]
//! async fn get(key: &str) -> Result<String, ClientError> {
//!     // One attempt: `Ok(connection.clone().get(key).await?)`.
//! #   Ok(key.to_owned())
//! }
//!
//! // An INCR must not be executed twice, so it is retried only if it was not executed.
//! #[retryable(strategy = CACHE, idempotent = false, max_time = "2s")]
//! async fn count(key: &str) -> Result<u64, ClientError> {
//!     // One attempt: `Ok(connection.clone().incr(key, 1).await?)`.
//! #   Ok(key.len() as u64)
//! }
//!
//! // Your own error type.
//! #[derive(Debug, RetryInfo)]
//! enum CacheError {
//!     Redis(#[retry(with = redis1::classify)] RedisError),
//!     Empty,
//! }
//! ```

use crate::codes::known_redis as table;
use crate::resolve;
use redis::{ErrorKind, RedisError, ServerError};
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};
use std::error::Error;
use std::io;

crate::client_error::of_client!("redis", RedisError);

/// Classifies an error by the [table](self).
#[allow(clippy::match_same_arms, reason = "each kind is listed, also where the next one has the same classification")]
pub fn classify(error: &RedisError) -> Classification {
    if let Some(error) = error.source().and_then(|source| source.downcast_ref::<ServerError>()) {
        return answer(error);
    }
    if let Some(errors) = error.clone().into_server_errors() {
        return several(&errors, error.code());
    }
    match error.kind() {
        ErrorKind::Io if error.is_connection_refusal() => Classification::new(RetrySafety::Yes),
        ErrorKind::Io => chain::first_known(error, tls_failed)
            .or_else(|| chain::known(error))
            .or_else(|| chain::first_known(error, resolve::link))
            .unwrap_or(Classification::new(RetrySafety::Maybe)),
        // An answer of the wrong type has the same kind. This text is that of the parser of the protocol.
        ErrorKind::Parse if error.detail().is_some_and(|text| text.starts_with("Parse error at ")) => {
            Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server)
        }
        ErrorKind::Parse => FINAL,
        // Made by the client from an answer, without the answer itself.
        ErrorKind::Server(_) | ErrorKind::Extension => error.code().and_then(table).unwrap_or(FINAL),
        ErrorKind::MasterNameNotFoundBySentinel | ErrorKind::NoValidReplicasFoundBySentinel => {
            Classification::new(RetrySafety::Yes).with_fault(ErrorFault::Server)
        }
        ErrorKind::ClusterConnectionNotFound => Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server),
        ErrorKind::AuthenticationFailed
        | ErrorKind::UnexpectedReturnType
        | ErrorKind::InvalidClientConfig
        | ErrorKind::EmptySentinelList
        | ErrorKind::Client
        | ErrorKind::RESP3NotSupported => FINAL,
        // `Serialize` exists only with a feature of the client. A test compares the other kinds with the crate's.
        _ => FINAL,
    }
}

const FINAL: Classification = Classification::new(RetrySafety::No);

/// Classifies an error of redis or a [`ClientError`] that is a link of a chain, for [`ChainPolicy::also`]. Returns `None` for any other
/// link.
pub fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    link.downcast_ref().map(classify).or_else(|| link.downcast_ref().map(ClientError::classification))
}

/// Returns a [`ChainPolicy`] that knows the errors of redis, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}

/// Rustls reports that TLS failed by this kind.
fn tls_failed(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<io::Error>()?;
    (error.kind() == io::ErrorKind::InvalidData).then_some(Classification::new(RetrySafety::No))
}

fn answer(error: &ServerError) -> Classification {
    let text = error.details().map(|details| format!("{} {details}", error.code()));
    table(text.as_deref().unwrap_or(error.code())).unwrap_or(FINAL)
}

/// Classifies the errors of the commands of a pipeline or of a transaction.
fn several(errors: &[(usize, ServerError)], code: Option<&str>) -> Classification {
    const ABORTED: &str = "EXECABORT";

    let safe = |(_, error): &(usize, ServerError)| answer(error).is_retry_safe() == RetrySafety::Yes;
    if errors.is_empty() || !errors.iter().all(safe) {
        return Classification::new(RetrySafety::No).with_fault(ErrorFault::Client);
    }
    // A refused transaction has this code, and its list has the causes.
    let safety = if code == Some(ABORTED) { RetrySafety::Yes } else { RetrySafety::Maybe };
    Classification::new(safety).with_fault(ErrorFault::Server)
}
