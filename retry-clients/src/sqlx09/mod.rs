//! The errors of sqlx 0.9: [`sqlx::Error`].
//!
//! The table is for an attempt that is a whole transaction, from BEGIN to COMMIT:
//!
//! | error | safe | class | fault | why | observed by |
//! |---|---|---|---|---|---|
//! | `Database` of `MySQL` or `MariaDB` | by the number | | | [`codes::mysql`](crate::codes::mysql) | deadlocks, lock waits, too many connections, a read-only server, a killed session, a time limit, a server that stops, and else by `SIGNAL` |
//! | `Database` of `SQLite` | by the code, else no | | other | [`codes::known_sqlite`](crate::codes::known_sqlite) | a locked database, and a changed snapshot |
//! | `Database` with an SQLSTATE | by the code | | | [`codes::known_sqlstate`](crate::codes::known_sqlstate) | each row of that table; by contention, locks, a killed session, a replica and a server that stops, and else by `RAISE` |
//! | `Database` without one | no | | other | each database has different codes: classify them with your function | |
//! | `PoolTimedOut` | yes | timeout | other | nothing was sent, but a retry waits as long again | a pool whose connections are all in use |
//! | `Io` of a failed name resolution | yes | | other | nothing was sent | an unknown host |
//! | `Io` of the kind `InvalidData`: TLS failed | no | | other | the same certificate is refused again | a bad certificate |
//! | `Io` otherwise | by its kind, else maybe | | | [`classify::io`](retry_core::classify::io): refused is yes; the server that closed a connection is `UnexpectedEof`, which is maybe | a closed port, a restarted server |
//! | `Protocol` with an empty answer to the request for TLS | yes | | server | the connection was closed before anything else was sent | a server that closes connections |
//! | `Protocol` about an answer that is not of the protocol | maybe | | server | the transaction may have been committed | messages that are not expected |
//! | `WorkerCrashed` | maybe | | other | the statement may have been executed | |
//! | any other, such as `RowNotFound` or `PoolClosed` | no | | other | the same happens again | a query without a row, a closed pool |
//!
//! The pool waits 30 s for a connection by default, and connects again and again meanwhile, so `PoolTimedOut` can hide
//! that the server is down. Set `PoolOptions::acquire_timeout` well below the time that a call may take: each attempt
//! can wait that long.
//!
//! # Use
//!
//! With `PostgreSQL`, `MySQL` and `MariaDB`, let [`transaction`] begin and commit. It knows whether COMMIT had been sent, so a connection that
//! broke before is safe to retry, and one that broke later is reported as an
//! [unknown outcome](TransactionError::is_outcome_unknown). Its docs have an example.
//!
//! With any other database, a connection that breaks during COMMIT may hide a committed transaction, and the table does
//! not know the phase. So always mark whether the transaction may be carried out twice:
//!
//! ```
//! use retry_clients::sqlx09;
//! use retry_core::{PatientRetryStrategy, retryable};
//! # trait Bank {
//! #     async fn pay(&self, from: i32, to: i32, amount: i64) -> Result<(), sqlx::Error>;
//! # }
//!
//! static BANK: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! // Money must not move twice: it retries only after a certain rollback, such as after a lost
//! // race.
//! #[retryable(strategy = BANK, policy = sqlx09::policy().idempotent(false))]
//! async fn pay(bank: &impl Bank, from: i32, to: i32, amount: i64) -> Result<(), sqlx::Error> {
//!     // One attempt: `pool.begin().await`, the statements, and `transaction.commit().await`.
//! #   bank.pay(from, to, amount).await
//! }
//! ```

mod transaction;

pub use transaction::{TransactionError, transaction};

use crate::codes::{known_sqlite, known_sqlstate, mysql};
use crate::resolve;
use retry_core::classify::{Classification, io};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};
use sqlx::Error;
use sqlx::error::DatabaseError;
use std::io::ErrorKind;

/// How the text of sqlx begins if `PostgreSQL` closes a new connection instead of saying whether it speaks TLS: it reads a zero that was not sent.
const CLOSED_BEFORE_TLS: &str = "unexpected response from SSLRequest: 0x00";

/// How the texts of sqlx begin that are about an answer which is not of the protocol. Other texts are about what the program sends.
const NOT_OF_PROTOCOL: [&str; 12] = [
    "BLOB length",
    "OK_Packet",
    "Packet empty",
    "PrepareOk",
    "TextRow length",
    "buffer exhausted",
    "expected ",
    "expecting ",
    "lenenc int",
    "unexpected ",
    "unknown message type",
    "unknown transaction status",
];

crate::client_error::of_client!("sqlx", Error);

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
    let (last, unknown) = (Classification::new(RetrySafety::No), Classification::new(RetrySafety::Maybe));
    match error {
        Error::Database(error) => of_database(&**error).unwrap_or(last),
        Error::PoolTimedOut => Classification::new(RetrySafety::Yes).with_timeout(),
        // Rustls reports that TLS failed by this kind.
        Error::Io(error) if error.kind() == ErrorKind::InvalidData => last,
        Error::Io(error) => io::known(error).or_else(|| resolve::link(error)).unwrap_or(unknown),
        Error::Protocol(text) if text.starts_with(CLOSED_BEFORE_TLS) => {
            Classification::new(RetrySafety::Yes).with_fault(ErrorFault::Server)
        }
        Error::Protocol(text) if is_about_answer(text) => unknown.with_fault(ErrorFault::Server),
        Error::WorkerCrashed => unknown,
        _ => last,
    }
}

/// Returns whether the text of a `Protocol` says that an answer is not of the protocol.
fn is_about_answer(text: &str) -> bool {
    // Some begin with the step: `establish: unexpected message: ..`.
    text.contains(": unexpected message") || NOT_OF_PROTOCOL.iter().any(|start| text.starts_with(start))
}

fn of_database(error: &dyn DatabaseError) -> Option<Classification> {
    let code = error.code();
    match mysql_number(error) {
        Some(number) => Some(mysql(number, code.as_deref().unwrap_or_default(), error.message())),
        None => known_sqlite(code.as_deref()?).or_else(|| known_sqlstate(&code?)),
    }
}

/// Returns the number of an error of `MySQL`. Its text begins with the number, and ends with the message.
///
/// Its type is known only with the feature `mysql` of sqlx, which programs with other databases would have to build.
fn mysql_number(error: &dyn DatabaseError) -> Option<u16> {
    let text = error.to_string();
    let before = text.strip_suffix(error.message())?.strip_suffix(": ")?;
    let (number, sqlstate) = before.split_once(' ').unwrap_or((before, ""));
    let is_of_mysql = sqlstate.is_empty() || error.code().is_some_and(|code| sqlstate == format!("({code})"));
    if is_of_mysql { number.parse().ok() } else { None }
}

/// Classifies an error of sqlx, a [`ClientError`] or a [`TransactionError`] that is a link of a chain, for [`ChainPolicy::also`]. Returns `None` for any
/// other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let client = link.downcast_ref().map(classify).or_else(|| link.downcast_ref().map(ClientError::classification));
    client.or_else(|| link.downcast_ref().map(<TransactionError>::classification))
}

/// Returns a [`ChainPolicy`] that knows the errors of sqlx, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}
