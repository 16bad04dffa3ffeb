//! How the errors of tokio-postgres 0.7 are classified, with the servers that `.ci/servers` starts.

mod pooler;
mod programs;
mod transactions;

use clients_tests::postgres::{
    CONFLICT, FAILING, NO_SESSION, RAISED, WRONG, control_standby, port, primary, raise, standby,
};
use clients_tests::{
    BROKEN, FINAL, FullBacklog, LIMIT, UNKNOWN, UNKNOWN_HOST, UNSENT, assert_of_client, assert_timed_out,
    refused_address,
};
use retry_clients::tokio_postgres07;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy, retryable};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_postgres::{Client, Error, NoTls};

/// A time after which a session certainly waits for a lock.
const SOON: Duration = Duration::from_millis(300);

async fn try_connect(connection_string: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(connection_string, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn connect() -> Client {
    try_connect(&primary()).await.unwrap()
}

async fn connect_failure(connection_string: &str) -> Error {
    try_connect(connection_string).await.map(drop).unwrap_err()
}

async fn run(client: &Client, statements: &str) {
    client.batch_execute(statements).await.unwrap();
}

async fn failure(client: &Client, statements: &str) -> Error {
    client.batch_execute(statements).await.unwrap_err()
}

fn assert_state(error: &Error, code: &str, expected: Classification) {
    let found = error.code().map(tokio_postgres::error::SqlState::code);
    assert_eq!((found, tokio_postgres07::classify(error)), (Some(code), expected), "{error:?}");
}

// Rule H7.
#[tokio::test]
async fn answers_of_a_server_are_classified_by_their_codes() {
    for (statements, code, expected) in FAILING {
        assert_state(&failure(&connect().await, statements).await, code, expected);
    }
    let client = connect().await;
    for (code, expected) in RAISED {
        assert_state(&failure(&client, &raise(code)).await, code, expected);
    }
}

// Rule H7.
#[tokio::test]
async fn transactions_that_contend_conflict() {
    let (first, second) = (connect().await, connect().await);
    run(&first, "CREATE TABLE contended (id int PRIMARY KEY, value int); INSERT INTO contended VALUES (1, 0), (2, 0)")
        .await;

    // Both read what the other one writes.
    for client in [&first, &second] {
        run(client, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(value) FROM contended").await;
    }
    run(&first, "UPDATE contended SET value = 1 WHERE id = 1; COMMIT").await;
    let error = failure(&second, "UPDATE contended SET value = 1 WHERE id = 2; COMMIT").await;
    assert_state(&error, "40001", CONFLICT);
    run(&second, "ROLLBACK").await;

    // Each waits for the lock of the other one.
    run(&first, "BEGIN; UPDATE contended SET value = 2 WHERE id = 1").await;
    run(&second, "BEGIN; UPDATE contended SET value = 2 WHERE id = 2").await;
    let (one, other) = tokio::join!(
        first.batch_execute("UPDATE contended SET value = 3 WHERE id = 2; COMMIT"),
        second.batch_execute("UPDATE contended SET value = 3 WHERE id = 1; COMMIT"),
    );
    let loser = match (one, other) {
        (Err(error), Ok(())) | (Ok(()), Err(error)) => error,
        both => panic!("one of the two loses: {both:?}"),
    };
    assert_state(&loser, "40P01", CONFLICT);

    // One waits too long, and does not wait at all.
    let (first, second) = (connect().await, connect().await);
    run(&first, "BEGIN; UPDATE contended SET value = 4").await;
    let error = failure(&second, "SET lock_timeout = 50; UPDATE contended SET value = 5").await;
    assert_state(&error, "55P03", CONFLICT);
    assert_state(&failure(&second, "SELECT * FROM contended FOR UPDATE NOWAIT").await, "55P03", CONFLICT);
    run(&first, "ROLLBACK; DROP TABLE contended").await;
}

// Rule H7.
#[tokio::test]
async fn a_killed_session_may_have_committed() {
    let (victim, killer) = (connect().await, connect().await);
    let pid: i32 = victim.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let kill = async {
        tokio::time::sleep(SOON).await;
        run(&killer, &format!("SELECT pg_terminate_backend({pid})")).await;
    };
    let (error, ()) = tokio::join!(failure(&victim, "BEGIN; SELECT pg_sleep(60)"), kill);
    assert_state(&error, "57P01", BROKEN);
    let error = failure(&victim, "SELECT 1").await;
    assert!(error.is_closed());
    assert_eq!(tokio_postgres07::classify(&error), BROKEN);
}

#[tokio::test]
async fn a_session_that_was_idle_too_long_is_closed() {
    let client = connect().await;
    run(&client, "SET idle_session_timeout = 50").await;
    tokio::time::sleep(SOON).await;
    let error = failure(&client, "SELECT 1").await;
    // The server's own words reach only the task that drives the connection.
    assert!(error.is_closed(), "{error:?}");
    assert_eq!(tokio_postgres07::classify(&error), BROKEN);
}

#[tokio::test]
async fn a_server_without_a_free_session_has_done_nothing() {
    let client = connect().await;
    run(&client, "DROP ROLE IF EXISTS crowded; CREATE ROLE crowded LOGIN CONNECTION LIMIT 0").await;
    assert_state(&connect_failure(&primary().replace("tester", "crowded")).await, "53300", NO_SESSION);
    assert_state(&connect_failure(&primary().replace("tester", "nobody")).await, "28000", WRONG);
    assert_state(&connect_failure(&primary().replace("dbname=postgres", "dbname=none")).await, "3D000", WRONG);
}

#[tokio::test]
async fn a_standby_refuses_writes_and_can_be_restarted() {
    let client = try_connect(&standby()).await.unwrap();
    assert_state(&failure(&client, "CREATE TABLE forbidden (id int)").await, "25006", NO_SESSION);

    let sleeping = failure(&client, "BEGIN; SELECT pg_sleep(60)");
    let restart = async {
        tokio::time::sleep(SOON).await;
        tokio::task::spawn_blocking(|| control_standby(&["--mode=fast", "restart"])).await.unwrap();
    };
    let (error, ()) = tokio::join!(sleeping, restart);
    assert_state(&error, "57P01", BROKEN);
    let error = failure(&client, "SELECT 1").await;
    assert_eq!((error.is_closed(), tokio_postgres07::classify(&error)), (true, BROKEN));

    // The server waits for this session before it stops, and takes no other one.
    let last = try_connect(&standby()).await.unwrap();
    control_standby(&["--mode=smart", "--no-wait", "stop"]);
    tokio::time::sleep(SOON).await;
    assert_state(&connect_failure(&standby()).await, "57P03", NO_SESSION);
    let sleeping = failure(&last, "SELECT pg_sleep(60)");
    let stop = async {
        tokio::time::sleep(SOON).await;
        tokio::task::spawn_blocking(|| control_standby(&["--mode=immediate", "stop"])).await.unwrap();
    };
    let (error, ()) = tokio::join!(sleeping, stop);
    assert_eq!(tokio_postgres07::classify(&error), BROKEN, "{error:?}");
    let error = connect_failure(&standby()).await;
    assert_eq!(tokio_postgres07::classify(&error), UNSENT, "nothing listens: {error:?}");
    control_standby(&["start"]);
    try_connect(&standby()).await.unwrap();
}

// Rule H1.
#[tokio::test]
async fn a_refused_connection_and_an_unknown_host_are_safe_and_a_timeout_is_not_told_apart() {
    let at = |address: std::net::SocketAddr| format!("host={} port={} user=tester", address.ip(), address.port());
    let error = connect_failure(&at(refused_address())).await;
    assert_eq!(tokio_postgres07::classify(&error), UNSENT, "{error:?}");
    let in_chain = anyhow::Error::from(error).context("while paying");
    assert_eq!(chain::first_known(&in_chain, tokio_postgres07::link), Some(UNSENT));
    let policy = ChainPolicy::new().also(tokio_postgres07::link);
    assert_eq!(policy.evaluate(&Err::<(), _>(in_chain)), RetryDirective::retry(RetryErrorType::Other));

    let error = connect_failure(&format!("host={UNKNOWN_HOST} user=tester")).await;
    assert_eq!(tokio_postgres07::classify(&error), UNSENT, "{error:?}");

    let full = FullBacklog::start();
    let error = connect_failure(&format!("{} connect_timeout=1", at(full.address()))).await;
    assert_eq!(tokio_postgres07::classify(&error), UNKNOWN.with_timeout(), "{error:?}");

    for (answer, expected) in [("", BROKEN), ("R\0", BROKEN), ("T\0\0\0\x06\0\0", BROKEN), ("?\0\0\0\u{4}", FINAL)] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert_ne!(stream.read(&mut [0; 1_000]).await.unwrap(), 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let error = connect_failure(&format!("{} sslmode=disable", at(address))).await;
        assert_eq!(tokio_postgres07::classify(&error), expected, "{answer:?}: {error:?}");
    }
}

#[tokio::test]
async fn errors_of_the_program_are_final() {
    let client = connect().await;
    let errors = [
        client.query_one("SELECT 1 WHERE false", &[]).await.map(drop).unwrap_err(),
        client.query_one("SELECT 'text'", &[]).await.unwrap().try_get::<_, i32>(0).unwrap_err(),
        client.query_one("SELECT 1", &[]).await.unwrap().try_get::<_, i32>("no_such_column").unwrap_err(),
        client.query("SELECT $1::int", &[&"text"]).await.map(drop).unwrap_err(),
        connect_failure("host=127.0.0.1 port=none").await,
    ];
    for error in errors {
        assert_eq!(tokio_postgres07::classify(&error), FINAL, "{error:?}");
    }
    assert_ne!(port(&primary()), port(&standby()));
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(port: u16) -> Result<Client, tokio_postgres07::ClientError> {
        Ok(try_connect(&format!("host=127.0.0.1 port={port} user=tester")).await?)
    }

    assert_of_client(limited(refused_address().port()).await.unwrap_err(), UNSENT, tokio_postgres07::link);
    let server = FullBacklog::start();
    assert_timed_out(limited(server.address().port()).await.unwrap_err(), tokio_postgres07::link);
}
