//! `PgBouncer` answers in place of the server, with 08P01 for whatever has no other code.

use crate::transactions::{Connection, attempt, ledger, pay};
use crate::{SOON, assert_state, connect, failure, run, try_connect};
use clients_tests::pgbouncer::PgBouncer;
use clients_tests::postgres::{NO_SESSION, before_commit, port, primary};
use clients_tests::transfers::{TABLES, Transfer};
use clients_tests::{BROKEN, Cut, Proxy};
use retry_clients::tokio_postgres07::{self, TransactionError};
use std::time::Duration;
use tokio_postgres::Client;

const CODE: &str = "08P01";

/// Returns the address of a database behind the pooler.
fn through(pooler: &PgBouncer, database: &str) -> String {
    format!("host=127.0.0.1 port={} user=tester dbname={database}", pooler.port)
}

async fn open(pooler: &PgBouncer) -> Client {
    try_connect(&through(pooler, "postgres")).await.unwrap()
}

// Rule H7.
#[tokio::test]
async fn a_pooler_whose_pool_is_full_answers_after_its_wait() {
    let pooler = PgBouncer::start(port(&primary()), &[("default_pool_size", "1"), ("query_wait_timeout", "1")]);
    let (first, second) = (open(&pooler).await, open(&pooler).await);
    run(&first, "SELECT 1").await;
    assert_state(&failure(&second, "SELECT 1").await, CODE, BROKEN);

    let crowded = PgBouncer::start(port(&primary()), &[("max_client_conn", "1")]);
    let mut sessions = Vec::new();
    let error = loop {
        match try_connect(&through(&crowded, "postgres")).await {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
    };
    assert_state(&error, CODE, BROKEN);
}

// Rules H7, H15.
#[tokio::test]
async fn a_paused_pooler_has_begun_no_transaction() {
    let pooler = PgBouncer::start(port(&primary()), &[("query_wait_timeout", "1"), ("pool_mode", "transaction")]);
    let client = connect().await;
    run(&client, "DROP DATABASE IF EXISTS paused").await;
    run(&client, "CREATE DATABASE paused").await;
    let direct = try_connect(&primary().replace("dbname=postgres", "dbname=paused")).await.unwrap();
    run(&direct, TABLES).await;
    let mut connection = Connection::new(through(&pooler, "paused"));
    run(connection.open().await.unwrap(), "SELECT 1").await;
    pooler.pause();
    let transfer = Transfer::new(0);
    let error = attempt(&mut connection, &transfer).await.unwrap_err();
    assert_eq!(error.classification(), before_commit(BROKEN), "{error:?}");

    let resume = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        pooler.resume();
    };
    let (paid, ()) = tokio::join!(pay(&mut connection, &transfer), resume);
    paid.unwrap();
    assert_eq!(ledger(&direct).await, [0]);
}

// Rules H7, H15.
#[tokio::test]
async fn a_pooler_that_lost_its_server_or_restarts_does_not_know_what_was_done() {
    let proxy = Proxy::start(port(&primary()), "pg_sleep(0)", Cut::Text, 1);
    let mut pooler = PgBouncer::start(proxy.port, &[]);
    assert_state(&failure(&open(&pooler).await, "SELECT pg_sleep(0)").await, CODE, BROKEN);

    let client = open(&pooler).await;
    let sleeping = failure(&client, "SELECT pg_sleep(60)");
    let restart = async {
        tokio::time::sleep(SOON).await;
        tokio::task::spawn_blocking(move || pooler.restart()).await.unwrap();
    };
    let (error, ()) = tokio::join!(sleeping, restart);
    assert_eq!(tokio_postgres07::classify(&error), BROKEN, "{error:?}");
}

// Rules H7, H15.
#[tokio::test]
async fn a_session_that_was_idle_in_a_transaction_has_committed_nothing() {
    let mut client = connect().await;
    // The client reports the code, or that the connection was closed before COMMIT.
    let error: TransactionError = tokio_postgres07::transaction(client.transaction(), async |tx| {
        tx.batch_execute("SET LOCAL idle_in_transaction_session_timeout = 50").await?;
        tokio::time::sleep(SOON).await;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(error.classification(), NO_SESSION, "{error:?}");
}
