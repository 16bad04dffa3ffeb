//! The errors of tokio-postgres 0.7: [`tokio_postgres::Error`].
//!
//! The table is for an attempt that is a whole transaction, from BEGIN to COMMIT. The first question that is answered
//! with yes decides:
//!
//! | question | safe | class | fault | why | observed by |
//! |---|---|---|---|---|---|
//! | Did the server answer with an SQLSTATE? | by the code | | | [`codes::known_sqlstate`](crate::codes::known_sqlstate) | each row of that table; by contention, locks, a killed session, a replica and a server that stops, and else by `RAISE` |
//! | Was the connection closed? | maybe | | server | the transaction may have been committed | a killed session, a restarted server |
//! | Was the answer another message than the protocol allows? | maybe | | server | the transaction may have been committed | a message that is not expected |
//! | Is it an I/O error about malformed data, or did TLS fail? | no | | other | the same bytes are read or written again, the same certificate is refused again | bytes of another protocol, a bad certificate |
//! | Did an answer end in the middle of a message? This is an I/O error of the kind `Other`. | maybe | | server | the transaction may have been committed | half a message |
//! | Could the name not be resolved? | yes | | other | nothing was sent | an unknown host |
//! | Is there another I/O error among the sources? | by its kind, else maybe | | | [`classify::io`](retry_core::classify::io): refused is yes, a timeout is maybe | a closed port, a full backlog, a reset |
//! | Any other error, such as a row that is missing or a value of the wrong type | no | | other | the same happens again | `query_one` without a row, a wrong type, a server without TLS |
//!
//! The crate hides whether it was connecting when an error occurred, so a timeout while connecting is *maybe*, although
//! nothing was sent.
//!
//! # Use
//!
//! A connection that broke stays closed. So let each attempt take a connection from a pool, such as `deadpool-postgres` or
//! `bb8-postgres`, or connect within the attempt. The pools' errors wrap the error of tokio-postgres: label its variant
//! `#[retry(with = tokio_postgres07::classify)]`, or let [`policy`] classify it by its sources. If a pool timed out, nothing
//! was sent, so a retry is safe, but can wait as long again.
//!
//! Let [`transaction`] begin and commit. It knows whether COMMIT had been sent, so a connection that broke before is safe
//! to retry, and one that broke later is reported as an [unknown outcome](TransactionError::is_outcome_unknown). Its docs
//! have an example. A function that commits by itself takes the [`policy`] instead, and always says whether the transaction
//! may be carried out twice, because the table does not know the phase:
//!
//! ```
//! use retry_clients::tokio_postgres07;
//! use retry_core::{PatientRetryStrategy, retryable};
//! use tokio_postgres::Error;
//!
//! static BANK: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = BANK, policy = tokio_postgres07::policy().idempotent(false))]
//! async fn pay(from: i32, to: i32) -> Result<(), Error> {
//!     // One attempt: a connection of a pool, BEGIN, two updates, COMMIT.
//! #   let _ = (from, to);
//! #   Ok(())
//! }
//! ```

mod transaction;

pub use transaction::{TransactionError, transaction};

use crate::codes::known_sqlstate;
use crate::resolve;
use retry_core::classify::{Classification, chain, io};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};
use std::io::ErrorKind;
use tokio_postgres::Error;

/// How the text begins if a message is of the protocol, but not an answer to what was sent.
const UNEXPECTED: &str = "unexpected message from server";

crate::client_error::of_client!("tokio-postgres", Error);

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
    let last = Classification::new(RetrySafety::No);
    if let Some(state) = error.code() {
        return known_sqlstate(state.code()).unwrap_or(last);
    }
    let broken = Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server);
    if error.is_closed() || error.to_string().starts_with(UNEXPECTED) {
        return broken;
    }
    let by_io = chain::first_known(error, |link| {
        let error: &std::io::Error = link.downcast_ref()?;
        Some(match error.kind() {
            ErrorKind::InvalidData | ErrorKind::InvalidInput => last,
            // The reader of messages has no kind of its own for a message that ends too early.
            ErrorKind::Other => broken,
            _ => io::known(error).or_else(|| resolve::link(error)).unwrap_or(Classification::new(RetrySafety::Maybe)),
        })
    });
    by_io.unwrap_or(last)
}

/// Classifies an error of tokio-postgres, a [`ClientError`] or a [`TransactionError`] that is a link of a chain, for
/// [`ChainPolicy::also`]. Returns `None` for any other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let client = link.downcast_ref().map(classify).or_else(|| link.downcast_ref().map(ClientError::classification));
    client.or_else(|| link.downcast_ref().map(<TransactionError>::classification))
}

/// Returns a [`ChainPolicy`] that knows the errors of tokio-postgres, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}
