//! The errors of `mysql_async` 0.37: [`mysql_async::Error`], against `MySQL` and `MariaDB`.
//!
//! The table is for an attempt that is a whole transaction, from BEGIN to COMMIT:
//!
//! | error | safe | class | fault | why | observed by |
//! |---|---|---|---|---|---|
//! | `Server` | by the number | | | [`codes::mysql`](crate::codes::mysql) | deadlocks, lock waits, too many connections, a read-only server, a killed session, a time limit, a server that stops, and else by `SIGNAL` |
//! | `Driver` with `ConnectionClosed` | maybe | | server | the transaction may have been committed | a killed session, a restarted server |
//! | `Driver` with an answer that is not of the protocol: `PacketOutOfOrder`, `UnexpectedPacket`, `BadCompressedPacketHeader`, `CantParseServerVersion`, `InvalidParsecSalt` | maybe | | server | the transaction may have been committed | bytes of another protocol |
//! | `Io` of a failed name resolution | yes | | other | nothing was sent | an unknown host |
//! | `Io` of the kind `InvalidData`, or of TLS | no | | other | TLS failed: the same certificate is refused again | |
//! | `Io` of the kind `Other` | maybe | | server | an answer is not of the protocol | |
//! | `Io` otherwise | by its kind, else maybe | | | [`classify::io`](retry_core::classify::io): refused is yes, a reset is maybe | a closed port, a reset |
//! | `Driver` otherwise, such as a value of the wrong type or `PoolDisconnected`; `Url` | no | | other | the same happens again | a wrong type, a closed pool |
//! | `Other` | by its sources, else no | | | [`chain::known`] | |
//!
//! # Use
//!
//! Let [`transaction`] begin and commit. It knows whether COMMIT had been sent, so a connection that broke before is safe to
//! retry, and one that broke later is reported as an [unknown outcome](TransactionError::is_outcome_unknown). Its docs have an
//! example. A function that commits by itself takes the [`policy`] instead, and always says whether the transaction may be
//! carried out twice, because the table does not know the phase:
//!
//! ```
//! use mysql_async::Error;
//! use retry_clients::mysql_async037;
//! use retry_core::{PatientRetryStrategy, retryable};
//!
//! static BANK: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = BANK, policy = mysql_async037::policy().idempotent(false))]
//! async fn pay(from: i32, to: i32) -> Result<(), Error> {
//!     // One attempt: a connection of a pool, BEGIN, two updates, COMMIT.
//! #   let _ = (from, to);
//! #   Ok(())
//! }
//! ```
//!
//! A pool waits for a connection without a limit, so set `max_time` or `attempt_timeout`.

mod transaction;

pub use transaction::{TransactionError, transaction};

use crate::codes::mysql;
use crate::resolve;
use mysql_async::{DriverError, Error, IoError, ServerError};
use retry_core::classify::{Classification, chain, io};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};
use std::io::ErrorKind;

crate::client_error::of_client!("`mysql_async`", Error);

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
    let last = Classification::new(RetrySafety::No);
    match error {
        Error::Server(error) => of_server(error),
        Error::Driver(error) => of_driver(error),
        Error::Io(IoError::Io(error)) => of_io(error),
        Error::Other(error) => chain::known(error).unwrap_or(last),
        // Of I/O, TLS is left.
        #[allow(unreachable_patterns, reason = "TLS exists with a feature of the client only")]
        Error::Io(_) | Error::Url(_) => last,
    }
}

fn of_server(error: &ServerError) -> Classification {
    mysql(error.code, &error.state, &error.message)
}

/// Each kind is listed, so that a new one does not compile until it is classified.
fn of_driver(error: &DriverError) -> Classification {
    match error {
        DriverError::ConnectionClosed
        | DriverError::PacketOutOfOrder
        | DriverError::UnexpectedPacket { .. }
        | DriverError::BadCompressedPacketHeader
        | DriverError::CantParseServerVersion { .. }
        | DriverError::InvalidParsecSalt => BROKEN,
        DriverError::FromValue { .. }
        | DriverError::FromRow { .. }
        | DriverError::Params(_)
        | DriverError::MixedParams
        | DriverError::NestedTransaction
        | DriverError::PoolDisconnected
        | DriverError::ReadOnlyTransNotSupported
        | DriverError::StmtParamsMismatch { .. }
        | DriverError::StmtParamsNumberExceedsLimit { .. }
        | DriverError::UnknownAuthPlugin { .. }
        | DriverError::PacketTooLarge
        | DriverError::NamedPipesDisabled
        | DriverError::MysqlOldPasswordDisabled
        | DriverError::LocalInfile(_)
        | DriverError::NoKeyFound
        | DriverError::NoClientSslFlagFromServer
        | DriverError::CleartextPluginDisabled
        | DriverError::BulkExecute(_) => Classification::new(RetrySafety::No),
    }
}

fn of_io(error: &std::io::Error) -> Classification {
    match error.kind() {
        // Rustls reports that TLS failed by this kind.
        ErrorKind::InvalidData => Classification::new(RetrySafety::No),
        _ => io::known(error).or_else(|| resolve::link(error)).unwrap_or_else(|| match error.kind() {
            // The codec of packets has no kind of its own.
            ErrorKind::Other => BROKEN,
            _ => Classification::new(RetrySafety::Maybe),
        }),
    }
}

const BROKEN: Classification = Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server);

/// Classifies an error of `mysql_async`, the answer of a server in it, a [`ClientError`] or a [`TransactionError`] that is a link of
/// a chain, for [`ChainPolicy::also`]. Returns `None` for any other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let client = link.downcast_ref().map(classify).or_else(|| link.downcast_ref().map(ClientError::classification));
    let own = client.or_else(|| link.downcast_ref().map(<TransactionError>::classification));
    own.or_else(|| link.downcast_ref().map(of_server))
}

/// Returns a [`ChainPolicy`] that knows the errors of `mysql_async`, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}
