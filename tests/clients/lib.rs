//! Servers for the tests of clients. All are on the loopback interface.

#![cfg(feature = "http-server")]

mod faulty;
#[cfg(any(feature = "redis1", feature = "sqlx09", feature = "tokio_postgres07"))]
mod faulty_proxy;
#[cfg(any(feature = "mysql_async037", feature = "sqlx09"))]
pub mod mysql;
#[cfg(any(feature = "sqlx09", feature = "tokio_postgres07"))]
pub mod pgbouncer;
pub mod postgres;
mod proxy;
mod server;
mod table;
#[cfg(any(feature = "sqlx09", feature = "tokio_postgres07"))]
pub mod transfers;
mod unreachable;

pub use faulty::{Fault, FaultyServer, http2_head};
#[cfg(any(feature = "redis1", feature = "sqlx09", feature = "tokio_postgres07"))]
pub use faulty_proxy::{DatabaseFault, FaultyProxy, Protocol};
pub use proxy::{Cut, Proxy};
pub use server::{Reaction, Server};
pub use table::{assert_table, classification, grouped};
pub use unreachable::{FullBacklog, refused_address};

use retry_clients::ClientError;
use retry_core::classify::{Classification, chain};
use retry_core::{ErrorFault, RetrySafety, TimeLimit};
use std::error::Error;
use std::io;
use std::time::Duration;

/// A timeout for requests that are expected to finish. It only bounds a failing test.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A host that doesn't exist: the top-level domain is reserved for names that don't (RFC 6761, 6.4).
pub const UNKNOWN_HOST: &str = "retry.invalid";

/// The error statuses with their own row in the table of `classify::http`, and some that share a row.
pub const ERROR_STATUSES: [u16; 16] = [400, 403, 404, 408, 409, 412, 425, 429, 500, 501, 502, 503, 504, 505, 509, 529];

/// Responses that end too early.
pub const CUT_SHORT: [&str; 6] = [
    "",
    "HTTP/1.1 200",
    "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n\"half",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n\"half\r\n",
];

/// Complete responses whose bodies are not JSON.
pub const NOT_JSON: [&str; 3] = [
    "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n\"half\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n",
];

/// Nothing was sent.
pub const UNSENT: Classification = Classification::new(RetrySafety::Yes);

/// The client can't tell whether the request was acted upon.
pub const UNKNOWN: Classification = Classification::new(RetrySafety::Maybe);

/// The server broke the connection, and may have acted upon the request.
pub const BROKEN: Classification = UNKNOWN.with_fault(ErrorFault::Server);

/// The server refused the request by means of the protocol, and did not process it.
pub const REFUSED: Classification = UNSENT.with_fault(ErrorFault::Server);

/// A retry would fail, too.
pub const FINAL: Classification = Classification::new(RetrySafety::No);

/// A limit on an operation that strikes in the tests which wait for it.
pub const LIMIT: Duration = Duration::from_millis(300);

/// A function that classifies a link of a chain.
pub type Link = fn(&(dyn Error + 'static)) -> Option<Classification>;

/// Checks that the error of a call is an error of the client, and how it is classified: as itself, and as a link of a chain.
///
/// # Panics
///
/// If it is not.
pub fn assert_of_client<E: Error + Send + Sync + 'static>(error: ClientError<E>, expected: Classification, link: Link) {
    let own = error.client_error().unwrap_or_else(|| panic!("{error:?}"));
    assert!(error.source().is_some_and(<dyn Error>::is::<E>), "{error:?}");
    // Nothing was sent, or the answer is complete, unless the classification is a maybe.
    assert_eq!(error.is_outcome_unknown(), expected.is_retry_safe() == RetrySafety::Maybe, "{error:?}");
    assert_eq!(error.to_string(), "the call failed");
    let text = format!("{error:#}");
    assert!(text.starts_with(&format!("the call failed: {own}")), "{text}");
    assert_eq!(error.timed_out(), None);
    assert_classified(error, expected, link);
}

/// Checks that the error of a call is a limit that was exceeded, and how it is classified.
///
/// # Panics
///
/// If it is not.
pub fn assert_timed_out<E: Error + Send + Sync + 'static>(error: ClientError<E>, link: Link) {
    let timed_out = error.timed_out().unwrap_or_else(|| panic!("{error:?}"));
    assert_eq!((timed_out.limit(), timed_out.time()), (TimeLimit::Operation, LIMIT));
    assert!(error.client_error().is_none());
    assert!(error.is_outcome_unknown() && error.source().is_none());
    assert_eq!(error.to_string(), timed_out.to_string());
    assert_classified(error, UNKNOWN.with_timeout(), link);
}

fn assert_classified<E: Error + Send + Sync + 'static>(error: ClientError<E>, expected: Classification, link: Link) {
    assert_eq!((error.classification(), Classification::of(&error)), (expected, expected), "{error:?}");
    assert_eq!(link(&error), Some(expected), "{error:?}");
    assert_eq!(chain::first_known(&io::Error::other(error), link), Some(expected));
}
