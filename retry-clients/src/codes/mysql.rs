//! The error numbers of `MySQL`, `MariaDB` and of what speaks their protocol.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};

/// Classifies an error of `MySQL` or `MariaDB` by its number, SQLSTATE and message, for an attempt that is a whole transaction.
///
/// The number decides. `MySQL` has one SQLSTATE for most errors, so the SQLSTATE is only used for a number that is not in the
/// table. Some numbers cover several situations, which only the message tells apart, or are also used by a proxy.
///
/// The authorities are the error references of [`MySQL` 8.4](https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html)
/// (*M* below), [`MariaDB`](https://mariadb.com/docs/server/reference/error-codes) 10.11 (*A*), and of
/// [`TiDB` 8.5](https://docs.pingcap.com/tidb/stable/error-codes/) (*T*), and `InnoDB`'s
/// [error handling](https://dev.mysql.com/doc/refman/8.4/en/innodb-error-handling.html) (*I*):
///
/// | number | safe | class | fault | authority |
/// |---|---|---|---|---|
/// | 1213 deadlock | yes | conflict | other | I: retry the entire transaction. Also the answer of a `Galera` cluster to a lost race, at COMMIT too |
/// | 3572 `NOWAIT` | yes | conflict | other | M: the lock was not available immediately |
/// | 1020 record has changed | yes | conflict | other | A, with `innodb_snapshot_isolation`, the default since 11.6: the transaction was rolled back |
/// | 3101 rolled back during COMMIT | yes | conflict | other | M: another member of the replication group had changed the same rows |
/// | 1614 XA: deadlock | yes | conflict | other | M |
/// | 8002, 8005, 8022, 8028, 9007 write conflict, changed schema | yes | conflict | other | T: the transaction was rolled back |
/// | 1205 lock wait timeout | no | conflict, timeout | other | I: only the statement was rolled back. `transaction` rolls back all of it, and then it is *yes*. The wait lasts up to 50 s by default, so a retry costs as much as after any other timeout |
/// | 1040 too many connections, 1203 too many connections of a user, 1226 if the message has `max_user_connections` | yes | | server | M: there is no session |
/// | 1836 read-only mode, 1290 if the message has `read-only` | yes | | server | M; the server became a replica, and nothing was written: connect again |
/// | 1047 if the message has `WSREP` | yes | | server | A: the node of a `Galera` cluster has no quorum, and executes nothing |
/// | 4031 disconnected because of inactivity | yes | | server | M: the session ended before the statement, without a COMMIT |
/// | 2002, 2003 cannot connect, unless the message has `Lost connection` | yes | | server | M: nothing was sent. These are numbers of clients, so a proxy answered |
/// | 9001 if the message has `Max connect timeout` | yes | | server | the answer of `ProxySQL`, which got no connection to a server |
/// | 1053 server shutdown, 1077, 1079, 1927 connection killed, 3032 offline mode, 3169 session killed | maybe | | server | M, A: a running statement gets them too |
/// | 2002, 2003 otherwise, 2006, 2013, 2055 lost connection | maybe | | server | M: numbers of clients, so a proxy answered, which lost the server |
/// | 9001 otherwise, 9002, 9003, 9004, 9005 | maybe | | server | T: storage nodes do not answer in time |
/// | 3024, 1969 time limit of a statement, 1317 query interrupted | no | | other | M, A: someone ended the query |
/// | 1290 otherwise, 1226 otherwise, 1047 otherwise, 1129 host is blocked, 1792 read-only transaction | no | | client | M: another option forbids it; a limit for an hour is reached; an administrator must act; the program began the transaction so |
/// | any other, with SQLSTATE 40001 | yes | conflict | other | a serialization failure |
/// | any other, with SQLSTATE 08001 or 08004 | yes | | server | no session was established |
/// | any other, with another SQLSTATE of class 08, such as 08S01 | maybe | | server | M: the connection failed |
/// | any other, with SQLSTATE 70100 | no | | other | A: someone ended the query |
/// | any other, such as 1062 duplicate entry | no | | client | M |
///
/// ```
/// use retry_clients::codes::mysql;
/// use retry_core::RetrySafety;
///
/// let refused_by = |option| {
///     format!("The MySQL server is running with the {option} option so it cannot execute this")
/// };
/// let read_only = mysql(1290, "HY000", &refused_by("--read-only"));
/// assert_eq!(read_only.is_retry_safe(), RetrySafety::Yes);
/// let other = mysql(1290, "HY000", &refused_by("--secure-file-priv"));
/// assert_eq!(other.is_retry_safe(), RetrySafety::No);
/// assert!(mysql(1213, "40001", "Deadlock found when trying to get lock").is_conflict());
/// ```
pub fn mysql(number: u16, sqlstate: &str, message: &str) -> Classification {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    let conflict = Classification::new(Yes).with_conflict();
    let nothing_was_done = Classification::new(Yes).with_fault(Server);
    let unknown = Classification::new(Maybe).with_fault(Server);
    let ended = Classification::new(No);
    let wrong = Classification::new(No).with_fault(Client);
    match number {
        1020 | 1213 | 1614 | 3101 | 3572 | 8002 | 8005 | 8022 | 8028 | 9007 => conflict,
        1205 => LOCK_WAIT_TIMEOUT,
        1040 | 1203 | 1836 | 4031 => nothing_was_done,
        1226 if message.contains("max_user_connections") => nothing_was_done,
        1290 if message.contains("read-only") => nothing_was_done,
        1047 if message.contains("WSREP") => nothing_was_done,
        2002 | 2003 if !message.contains("Lost connection") => nothing_was_done,
        9001 if message.contains("Max connect timeout") => nothing_was_done,
        1053 | 1077 | 1079 | 1927 | 3032 | 3169 | 2002 | 2003 | 2006 | 2013 | 2055 | 9001..=9005 => unknown,
        1317 | 1969 | 3024 => ended,
        1047 | 1129 | 1226 | 1290 | 1792 => wrong,
        _ => match sqlstate {
            "40001" => conflict,
            "08001" | "08004" => nothing_was_done,
            "70100" => ended,
            _ if sqlstate.starts_with("08") => unknown,
            _ => wrong,
        },
    }
}

/// A statement waited for a lock for too long, and was rolled back, but not its transaction.
pub(crate) const LOCK_WAIT_TIMEOUT: Classification =
    Classification::new(RetrySafety::No).with_conflict().with_timeout();
