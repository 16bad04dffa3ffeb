//! The servers of `PostgreSQL` that `.ci/servers` starts, and what makes them answer with errors.

use crate::Cut;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};
use std::process::{Command, Stdio};

use ErrorFault::{Client, Server};
use RetrySafety::{Maybe, No, Yes};

/// Cuts the answer that says that a row was inserted.
pub const INSERTED: Cut = Cut::Answer("INSERT 0 1\0");

/// Cuts the answer that says that the transaction is committed.
pub const COMMITTED: Cut = Cut::Answer("COMMIT\0");

/// Returns the connection string of the server that takes writes.
pub fn primary() -> String {
    variable("RETRY_TEST_POSTGRES")
}

/// Returns the connection string of the hot standby, which is read-only.
pub fn standby() -> String {
    variable("RETRY_TEST_STANDBY")
}

/// Returns the connection string of the server that [`control_restarted`] restarts.
pub fn restarted() -> String {
    variable("RETRY_TEST_RESTARTED")
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run these tests by .ci/servers"))
}

/// Returns the port in a connection string.
///
/// # Panics
///
/// If there is none.
pub fn port(connection: &str) -> u16 {
    let word = connection.split(' ').find_map(|word| word.strip_prefix("port="));
    word.and_then(|port| port.parse().ok()).expect("a connection string with a port")
}

/// Runs `pg_ctl` for the standby, with these words. Only one test of a program may use this.
///
/// # Panics
///
/// If `pg_ctl` fails.
pub fn control_standby(words: &[&str]) {
    control("RETRY_TEST_STANDBY_CONTROL", words);
}

/// Runs `pg_ctl` for the server that is only for this, with these words. Only one test of a program may use this.
///
/// # Panics
///
/// If `pg_ctl` fails.
pub fn control_restarted(words: &[&str]) {
    control("RETRY_TEST_RESTARTED_CONTROL", words);
}

fn control(program: &str, words: &[&str]) {
    let mut control = Command::new(variable(program));
    let status = control.args(words).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{words:?}");
}

/// The verdict on a lost race.
pub const CONFLICT: Classification = Classification::new(Yes).with_conflict();

/// The verdict on a server that took no session.
pub const NO_SESSION: Classification = Classification::new(Yes).with_fault(Server);

/// The verdict on what is wrong with the statement.
pub const WRONG: Classification = Classification::new(No).with_fault(Client);

/// Statements that fail by themselves, with the SQLSTATE and the verdict.
pub const FAILING: [(&str, &str, Classification); 8] = [
    ("SELECT 1/0", "22012", WRONG),
    ("SELECT * FROM no_such_table", "42P01", WRONG),
    ("SELECT broken(", "42601", WRONG),
    ("CREATE TEMP TABLE keys (id int PRIMARY KEY); INSERT INTO keys VALUES (1), (1)", "23505", WRONG),
    ("BEGIN; SAVEPOINT a; SELECT 1/0", "22012", WRONG),
    ("SET statement_timeout = 50; SELECT pg_sleep(60)", "57014", Classification::new(No)),
    ("BEGIN READ ONLY; CREATE TABLE forbidden (id int)", "25006", NO_SESSION),
    ("SELECT pg_terminate_backend(pg_backend_pid())", "57P01", Classification::new(Maybe).with_fault(Server)),
];

/// SQLSTATEs that a statement raises on purpose, because the test can't bring the server into that state. One for each
/// row of the table.
pub const RAISED: [(&str, Classification); 16] = [
    ("40003", Classification::new(Maybe)),
    ("08007", Classification::new(Maybe)),
    ("08001", NO_SESSION),
    ("08004", NO_SESSION),
    ("08006", Classification::new(Maybe).with_fault(Server)),
    ("53100", Classification::new(Maybe).with_fault(Server)),
    ("53200", Classification::new(Maybe).with_fault(Server)),
    ("57P02", Classification::new(Maybe).with_fault(Server)),
    ("58000", Classification::new(Maybe).with_fault(Server)),
    ("58030", Classification::new(Maybe).with_fault(Server)),
    ("08P01", Classification::new(Maybe).with_fault(Server)),
    ("25P03", NO_SESSION),
    ("25P04", NO_SESSION),
    ("XX000", Classification::new(No).with_fault(Server)),
    ("23P01", WRONG),
    ("P0001", WRONG),
];

/// Returns a statement that raises this SQLSTATE.
pub fn raise(code: &str) -> String {
    format!("DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '{code}'; END $$")
}

/// Makes the table `refused`. A transaction that inserts an SQLSTATE there gets it as the answer to its COMMIT, and one that
/// inserts `killed` ends its session then.
pub const REFUSED: &str = "
    CREATE TABLE refused (code text);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.code = 'killed' THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        ELSE
            RAISE EXCEPTION 'on purpose' USING ERRCODE = NEW.code;
        END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON refused DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION refuse()";

/// Answers to a COMMIT, with the verdicts on the transaction.
pub const ANSWERS_TO_COMMIT: [(&str, Classification); 18] = [
    ("40001", CONFLICT),
    ("40P01", CONFLICT),
    ("55P03", CONFLICT),
    ("23505", WRONG),
    ("P0001", WRONG),
    ("57014", Classification::new(No)),
    ("25P03", NO_SESSION),
    ("25P04", NO_SESSION),
    ("40003", Classification::new(Maybe)),
    ("08007", Classification::new(Maybe)),
    ("08006", Classification::new(Maybe)),
    ("08P01", Classification::new(Maybe)),
    ("53100", Classification::new(Maybe)),
    ("53300", Classification::new(Maybe)),
    ("57P01", Classification::new(Maybe)),
    ("57P03", Classification::new(Maybe)),
    ("XX000", Classification::new(Maybe)),
    ("killed", Classification::new(Maybe)),
];

/// Returns the verdict on an error before COMMIT, whose table says this.
pub fn before_commit(verdict: Classification) -> Classification {
    if verdict.is_retry_safe() == Maybe { verdict.with_safety(Yes) } else { verdict }
}
