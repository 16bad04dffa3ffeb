//! How the errors of sqlx 0.9 are classified, with the servers that `.ci/servers` starts.

mod mysql;
mod pooler;
mod programs;
mod transactions;

use clients_tests::postgres::{
    CONFLICT, FAILING, NO_SESSION, RAISED, WRONG, control_standby, port, primary, raise, standby,
};
use clients_tests::{
    BROKEN, FINAL, FullBacklog, LIMIT, UNKNOWN_HOST, UNSENT, assert_of_client, assert_timed_out, refused_address,
};
use retry_clients::sqlx09;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy, retryable};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Connection, Error, Executor};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A time after which a session certainly waits for a lock.
const SOON: Duration = Duration::from_millis(300);

fn options(port: u16) -> PgConnectOptions {
    let options = PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(port).username("tester");
    options.database("postgres").ssl_mode(PgSslMode::Disable)
}

fn to_primary() -> PgConnectOptions {
    options(port(&primary()))
}

fn to_standby() -> PgConnectOptions {
    options(port(&standby()))
}

async fn connect() -> PgConnection {
    PgConnection::connect_with(&to_primary()).await.unwrap()
}

async fn connect_failure(options: &PgConnectOptions) -> Error {
    PgConnection::connect_with(options).await.map(drop).unwrap_err()
}

async fn run(connection: &mut PgConnection, statements: &'static str) {
    connection.execute(sqlx::raw_sql(statements)).await.unwrap();
}

async fn failure(connection: &mut PgConnection, statements: &str) -> Error {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(statements))).await.unwrap_err()
}

fn assert_state(error: &Error, code: &str, expected: Classification) {
    let found = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    assert_eq!((found.as_deref(), sqlx09::classify(error)), (Some(code), expected), "{error:?}");
}

// Rule H7.
#[tokio::test]
async fn answers_of_a_server_are_classified_by_their_codes() {
    for (statements, code, expected) in FAILING {
        assert_state(&failure(&mut connect().await, statements).await, code, expected);
    }
    let mut connection = connect().await;
    for (code, expected) in RAISED {
        assert_state(&failure(&mut connection, &raise(code)).await, code, expected);
    }
}

// Rule H7.
#[tokio::test]
async fn transactions_that_contend_conflict() {
    let (mut first, mut second) = (connect().await, connect().await);
    run(&mut first, "CREATE TABLE contended_too (id int PRIMARY KEY, value int)").await;
    run(&mut first, "INSERT INTO contended_too VALUES (1, 0), (2, 0)").await;

    // Both read what the other one writes.
    for connection in [&mut first, &mut second] {
        run(connection, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(value) FROM contended_too").await;
    }
    run(&mut first, "UPDATE contended_too SET value = 1 WHERE id = 1; COMMIT").await;
    let error = failure(&mut second, "UPDATE contended_too SET value = 1 WHERE id = 2; COMMIT").await;
    assert_state(&error, "40001", CONFLICT);
    run(&mut second, "ROLLBACK").await;

    // Each waits for the lock of the other one.
    run(&mut first, "BEGIN; UPDATE contended_too SET value = 2 WHERE id = 1").await;
    run(&mut second, "BEGIN; UPDATE contended_too SET value = 2 WHERE id = 2").await;
    let (one, other) = tokio::join!(
        first.execute(sqlx::raw_sql("UPDATE contended_too SET value = 3 WHERE id = 2; COMMIT")),
        second.execute(sqlx::raw_sql("UPDATE contended_too SET value = 3 WHERE id = 1; COMMIT")),
    );
    let loser = match (one, other) {
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => error,
        both => panic!("one of the two loses: {both:?}"),
    };
    assert_state(&loser, "40P01", CONFLICT);

    let (mut first, mut second) = (connect().await, connect().await);
    run(&mut first, "BEGIN; UPDATE contended_too SET value = 4").await;
    let error = failure(&mut second, "SET lock_timeout = 50; UPDATE contended_too SET value = 5").await;
    assert_state(&error, "55P03", CONFLICT);
    run(&mut first, "ROLLBACK; DROP TABLE contended_too").await;
}

// Rule H7.
#[tokio::test]
async fn a_killed_session_may_have_committed() {
    let (mut victim, mut killer) = (connect().await, connect().await);
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut victim).await.unwrap();
    let kill = async {
        tokio::time::sleep(SOON).await;
        sqlx::query("SELECT pg_terminate_backend($1)").bind(pid).execute(&mut killer).await.unwrap();
    };
    let (error, ()) = tokio::join!(failure(&mut victim, "BEGIN; SELECT pg_sleep(60)"), kill);
    assert_state(&error, "57P01", BROKEN);
    let error = failure(&mut victim, "SELECT 1").await;
    assert!(matches!(error, Error::Io(_)), "{error:?}");
    assert_eq!(sqlx09::classify(&error), BROKEN, "{error:?}");
}

#[tokio::test]
async fn a_session_that_was_idle_too_long_has_done_nothing() {
    let mut connection = connect().await;
    run(&mut connection, "SET idle_session_timeout = 50").await;
    tokio::time::sleep(SOON).await;
    assert_state(&failure(&mut connection, "SELECT 1").await, "57P05", NO_SESSION);
}

#[tokio::test]
async fn a_server_without_a_free_session_has_done_nothing() {
    let mut connection = connect().await;
    run(&mut connection, "DROP ROLE IF EXISTS crowded_too; CREATE ROLE crowded_too LOGIN CONNECTION LIMIT 0").await;
    assert_state(&connect_failure(&to_primary().username("crowded_too")).await, "53300", NO_SESSION);
    assert_state(&connect_failure(&to_primary().username("nobody")).await, "28000", WRONG);
    assert_state(&connect_failure(&to_primary().database("none")).await, "3D000", WRONG);
}

#[tokio::test]
async fn a_standby_refuses_writes_and_can_be_restarted() {
    let mut connection = PgConnection::connect_with(&to_standby()).await.unwrap();
    assert_state(&failure(&mut connection, "CREATE TABLE forbidden (id int)").await, "25006", NO_SESSION);

    let sleeping = failure(&mut connection, "BEGIN; SELECT pg_sleep(60)");
    let restart = async {
        tokio::time::sleep(SOON).await;
        tokio::task::spawn_blocking(|| control_standby(&["--mode=fast", "restart"])).await.unwrap();
    };
    let (error, ()) = tokio::join!(sleeping, restart);
    assert_state(&error, "57P01", BROKEN);
    let error = failure(&mut connection, "SELECT 1").await;
    assert_eq!(sqlx09::classify(&error), BROKEN, "{error:?}");

    // The server waits for this session before it stops, and takes no other one.
    let mut last = PgConnection::connect_with(&to_standby()).await.unwrap();
    control_standby(&["--mode=smart", "--no-wait", "stop"]);
    tokio::time::sleep(SOON).await;
    assert_state(&connect_failure(&to_standby()).await, "57P03", NO_SESSION);
    let sleeping = failure(&mut last, "SELECT pg_sleep(60)");
    let stop = async {
        tokio::time::sleep(SOON).await;
        tokio::task::spawn_blocking(|| control_standby(&["--mode=immediate", "stop"])).await.unwrap();
    };
    let (error, ()) = tokio::join!(sleeping, stop);
    assert_eq!(sqlx09::classify(&error), BROKEN, "{error:?}");
    let error = connect_failure(&to_standby()).await;
    assert_eq!(sqlx09::classify(&error), UNSENT, "nothing listens: {error:?}");
    control_standby(&["start"]);
    PgConnection::connect_with(&to_standby()).await.unwrap();
}

// Rule H7.
#[tokio::test]
async fn a_pool_that_timed_out_has_sent_nothing_and_a_closed_one_is_final() {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(SOON).connect_with(to_primary()).await.unwrap();
    let only_connection = pool.acquire().await.unwrap();
    let error = pool.acquire().await.map(drop).unwrap_err();
    assert!(matches!(error, Error::PoolTimedOut));
    assert_eq!(sqlx09::classify(&error), UNSENT.with_timeout());
    drop(only_connection);
    pool.close().await;
    let error = pool.acquire().await.map(drop).unwrap_err();
    assert!(matches!(error, Error::PoolClosed));
    assert_eq!(sqlx09::classify(&error), FINAL);

    // A pool connects again and again until its time is up.
    let nowhere = PgPoolOptions::new().acquire_timeout(SOON);
    let error = nowhere.connect_lazy_with(options(refused_address().port())).acquire().await.map(drop).unwrap_err();
    assert_eq!(sqlx09::classify(&error), UNSENT.with_timeout(), "{error:?}");
}

// Rule H1.
#[tokio::test]
async fn a_refused_connection_and_an_unknown_host_are_safe() {
    let error = connect_failure(&options(refused_address().port())).await;
    assert_eq!(sqlx09::classify(&error), UNSENT, "{error:?}");
    let in_chain = anyhow::Error::from(error).context("while paying");
    assert_eq!(chain::first_known(&in_chain, sqlx09::link), Some(UNSENT));
    let policy = ChainPolicy::new().also(sqlx09::link);
    assert_eq!(policy.evaluate(&Err::<(), _>(in_chain)), RetryDirective::retry(RetryErrorType::Other));

    let error = connect_failure(&to_primary().host(UNKNOWN_HOST)).await;
    assert_eq!(sqlx09::classify(&error), UNSENT, "{error:?}");

    for (answer, expected) in
        [("", BROKEN), ("R\0", BROKEN), ("T\0\0\0\x06\0\0", BROKEN), ("HTTP/1.1 400 Bad Request\r\n\r\n", BROKEN)]
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert_ne!(stream.read(&mut [0; 1_000]).await.unwrap(), 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let error = connect_failure(&options(port)).await;
        assert_eq!(sqlx09::classify(&error), expected, "{answer:?}: {error:?}");
    }
}

#[tokio::test]
async fn errors_of_the_program_are_final() {
    let pool = PgPool::connect_with(to_primary()).await.unwrap();
    let errors = [
        sqlx::query("SELECT 1 WHERE false").fetch_one(&pool).await.map(drop).unwrap_err(),
        sqlx::query_scalar::<_, i32>("SELECT 'text'").fetch_one(&pool).await.map(drop).unwrap_err(),
        "postgres://localhost:none/".parse::<PgConnectOptions>().map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(sqlx09::classify(&error), FINAL, "{error:?}");
    }
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(port: u16) -> Result<PgConnection, sqlx09::ClientError> {
        Ok(PgConnection::connect_with(&options(port)).await?)
    }

    assert_of_client(limited(refused_address().port()).await.unwrap_err(), UNSENT, sqlx09::link);
    let server = FullBacklog::start();
    assert_timed_out(limited(server.address().port()).await.unwrap_err(), sqlx09::link);
}
