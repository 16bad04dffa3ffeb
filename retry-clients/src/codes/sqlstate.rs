//! The error codes of SQL databases.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};

/// Classifies an SQLSTATE, for an attempt that is a whole transaction. Returns `None` if the text is not an SQLSTATE.
///
/// A single statement in the middle of a transaction must not be repeated by itself: after most errors the transaction
/// is aborted, and the earlier statements are lost with it. So each attempt begins the transaction, and ends with its
/// COMMIT.
///
/// The authorities are two chapters of the manual of `PostgreSQL`:
/// [serialization failure handling](https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html)
/// (*13.5* below) and [error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html) (*A*):
///
/// | code | safe | class | fault | authority |
/// |---|---|---|---|---|
/// | 40001 serialization failure, 40P01 deadlock detected | yes | conflict | other | 13.5: retry the complete transaction |
/// | 55P03 lock not available | yes | conflict | other | A; beyond 13.5: another transaction held the lock, and the statement did nothing |
/// | 40003 statement completion unknown, 08007 transaction resolution unknown | maybe | | other | A: the transaction may have been committed, so only `idempotent` retries it |
/// | 08001, 08004 connection not established, 57P03 cannot connect now, 53300 too many connections | yes | | server | A: no session was established |
/// | 57P05 idle session timeout, 25P03 idle in transaction session timeout, 25P04 transaction timeout | yes | | server | A: the session was closed before a transaction began, or it was closed without a COMMIT |
/// | 25006 read-only transaction | yes | | server | A; the server became a replica, and nothing was written: connect again |
/// | 08000, 08003, 08006 connection broken, 57P01 admin shutdown, 57P02 crash shutdown, 58000, 58030 I/O error, any other `53xxx` (resources) | maybe | | server | A: the transaction may have been committed |
/// | 08P01 protocol violation | maybe | | server | a pooler: `PgBouncer` answers with this code whenever [it has no other one](https://github.com/pgbouncer/pgbouncer/blob/master/src/proto.c), such as after `query_wait_timeout`, or if the connection to the server broke. `PostgreSQL` itself has it for a client that speaks another protocol |
/// | 57014 query cancelled | no | | other | A: someone ended the query |
/// | `XXxxx` internal error | no | | server | A: a defect or corrupted data |
/// | any other five characters of `0`-`9` and `A`-`Z`, such as 23505 unique violation | no | | client | A. Deviates: 13.5 allows a retry of 23505 and 23P01, which can be a lost race; only the author of the transaction knows |
/// | any other text, such as `SQLite`'s `5` | no answer | | | |
///
/// `PgBouncer` also refuses a login with 08P01, for example for an unknown database or a wrong password, and only its message
/// says so. So an operation that is `idempotent` retries these as often as its strategy allows.
///
/// A connection that breaks during COMMIT may hide a committed transaction. So mark each retried transaction
/// `idempotent` or `idempotent = false`, and never leave it open. With `PostgreSQL`, the functions `transaction` of
/// `sqlx09` and `tokio_postgres07` know whether COMMIT had been sent.
///
/// `CockroachDB` reports overload as 40001, and a retry after a conflict costs nothing. Give conflicts a cost there, by
/// [`RetryCosts`](retry_core::strategy::RetryCosts).
///
/// ```
/// use retry_clients::codes::known_sqlstate;
/// use retry_core::{RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// struct DatabaseError {
///     #[retry(with = known_sqlstate)]
///     code: String,
/// }
///
/// let lost_race = DatabaseError { code: "40001".to_owned() };
/// assert!(lost_race.is_conflict());
/// assert_eq!(DatabaseError { code: "23505".to_owned() }.is_retry_safe(), RetrySafety::No);
/// ```
pub fn known_sqlstate(code: &str) -> Option<Classification> {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    if code.len() != 5 || !code.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
        return None;
    }
    Some(match code {
        "40001" | "40P01" | "55P03" => Classification::new(Yes).with_conflict(),
        "40003" | "08007" => Classification::new(Maybe),
        "08001" | "08004" | "57P03" | "53300" | "57P05" | "25P03" | "25P04" | "25006" => {
            Classification::new(Yes).with_fault(Server)
        }
        "08000" | "08003" | "08006" | "08P01" | "57P01" | "57P02" | "58000" | "58030" => {
            Classification::new(Maybe).with_fault(Server)
        }
        "57014" => Classification::new(No),
        _ if code.starts_with("53") => Classification::new(Maybe).with_fault(Server),
        _ if code.starts_with("XX") => Classification::new(No).with_fault(Server),
        _ => Classification::new(No).with_fault(Client),
    })
}
