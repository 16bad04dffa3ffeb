//! The servers of `MariaDB` that `.ci/servers` starts, and what makes them answer with errors.

use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};
use std::process::{Command, Stdio};

use ErrorFault::{Client, Server};
use RetrySafety::{Maybe, No, Yes};

/// Returns the port of the server.
///
/// # Panics
///
/// If there is no server.
pub fn port() -> u16 {
    variable("RETRY_TEST_MYSQL").parse().unwrap()
}

/// Returns the port of the server that [`control_restarted`] restarts.
///
/// # Panics
///
/// If there is no server.
pub fn restarted() -> u16 {
    variable("RETRY_TEST_MYSQL_RESTARTED").parse().unwrap()
}

/// Starts, stops, kills or restarts the server that is only for this. Only one test of a program may use this.
///
/// # Panics
///
/// If that fails.
pub fn control_restarted(word: &str) {
    let mut control = Command::new(variable("RETRY_TEST_MYSQL_RESTARTED_CONTROL"));
    let status = control.arg(word).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{word}");
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run these tests by .ci/servers"))
}

/// The verdict on a lost race.
pub const CONFLICT: Classification = Classification::new(Yes).with_conflict();

/// The verdict on a lock wait that was too long, by itself.
pub const WAITED: Classification = Classification::new(No).with_conflict().with_timeout();

/// The verdict on a lock wait that was too long, in a transaction that was rolled back.
pub const WAITED_AND_ROLLED_BACK: Classification = Classification::new(Yes).with_conflict().with_timeout();

/// The verdict on a server that did nothing.
pub const NOTHING_DONE: Classification = Classification::new(Yes).with_fault(Server);

/// The verdict on a server that may have done it.
pub const LOST: Classification = Classification::new(Maybe).with_fault(Server);

/// The verdict on what is wrong with the statement.
pub const WRONG: Classification = Classification::new(No).with_fault(Client);

/// The verdict on a statement that someone ended.
pub const ENDED: Classification = Classification::new(No);

/// Statements that fail by themselves, with the number and the verdict. The earlier ones prepare the last one.
pub const FAILING: [(&[&str], u16, Classification); 7] = [
    (&["SELECT * FROM no_such_table"], 1146, WRONG),
    (&["SELECT broken("], 1064, WRONG),
    (&["CREATE TEMPORARY TABLE k (id int PRIMARY KEY)", "INSERT INTO k VALUES (1), (1)"], 1062, WRONG),
    (
        &["CREATE TABLE IF NOT EXISTS kept (id int)", "START TRANSACTION READ ONLY", "INSERT INTO kept VALUES (1)"],
        1792,
        WRONG,
    ),
    (&["SET STATEMENT max_statement_time = 0.05 FOR SELECT sleep(60)"], 1969, ENDED),
    (&["KILL QUERY connection_id()"], 1317, ENDED),
    (&["KILL connection_id()"], 1927, LOST),
];

/// Numbers with SQLSTATE and message that a statement raises on purpose, because the test can't bring the server into that state.
pub const RAISED: [(u16, &str, &str, Classification); 30] = [
    (1020, "HY000", "Record has changed since last read in table 'a'", CONFLICT),
    (3572, "HY000", "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.", CONFLICT),
    (3101, "40000", "Plugin instructed the server to rollback the current transaction.", CONFLICT),
    (9007, "HY000", "Write conflict", CONFLICT),
    (8028, "HY000", "Information schema is changed during the execution of the statement", CONFLICT),
    (1040, "08004", "Too many connections", NOTHING_DONE),
    (1203, "42000", "User a already has more than 'max_user_connections' active connections", NOTHING_DONE),
    (1226, "42000", "User 'a' has exceeded the 'max_user_connections' resource (current value: 5)", NOTHING_DONE),
    (1226, "42000", "User 'a' has exceeded the 'max_queries_per_hour' resource (current value: 5)", WRONG),
    (1290, "HY000", "The MySQL server is running with the --super-read-only option so it cannot execute", NOTHING_DONE),
    (1290, "HY000", "The MySQL server is running with the --secure-file-priv option so it cannot execute", WRONG),
    (1836, "HY000", "Running in read-only mode", NOTHING_DONE),
    (1047, "08S01", "WSREP has not yet prepared node for application use", NOTHING_DONE),
    (1047, "08S01", "Unknown command", WRONG),
    (4031, "HY000", "The client was disconnected by the server because of inactivity.", NOTHING_DONE),
    (2002, "HY000", "Can't connect to local server through socket", NOTHING_DONE),
    (2003, "HY000", "Can't connect to MySQL server on 'db:3306' (111)", NOTHING_DONE),
    (2003, "HY000", "Lost connection to backend server", LOST),
    (9001, "HY000", "Max connect timeout reached while reaching hostgroup 1 after 10000ms", NOTHING_DONE),
    (9001, "HY000", "PD server timeout", LOST),
    (1053, "08S01", "Server shutdown in progress", LOST),
    (2006, "HY000", "Server has gone away", LOST),
    (2013, "HY000", "Lost connection to server during query", LOST),
    (3032, "HY000", "The server is currently in offline mode", LOST),
    (1159, "08S01", "Got timeout reading communication packets", LOST),
    (3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded", ENDED),
    (1205, "HY000", "Lock wait timeout exceeded; try restarting transaction", WAITED),
    (1213, "40001", "Deadlock found when trying to get lock; try restarting transaction", CONFLICT),
    (30_000, "40001", "an unknown number", CONFLICT),
    (1792, "25006", "Cannot execute statement in a READ ONLY transaction", WRONG),
];

/// Returns a statement that raises this error.
pub fn raise(number: u16, sqlstate: &str, message: &str) -> String {
    let message = message.replace('\'', "''");
    format!("SIGNAL SQLSTATE '{sqlstate}' SET MYSQL_ERRNO = {number}, MESSAGE_TEXT = '{message}'")
}

/// Returns the verdict on an error before COMMIT, whose table says this.
pub fn before_commit(verdict: Classification) -> Classification {
    if verdict.is_retry_safe() == Maybe || verdict == WAITED { verdict.with_safety(Yes) } else { verdict }
}
