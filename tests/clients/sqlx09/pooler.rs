//! `PgBouncer` answers in place of the server, with 08P01 for whatever has no other code.

use crate::transactions::{attempt, ledger, pay, pool};
use crate::{assert_state, connect, failure, options, run, to_primary};
use clients_tests::pgbouncer::PgBouncer;
use clients_tests::postgres::{NO_SESSION, before_commit, port, primary};
use clients_tests::transfers::{TABLES, Transfer};
use clients_tests::{BROKEN, Cut, Proxy};
use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CODE: &str = "08P01";

/// Returns the options of a session through the pooler.
fn through(pooler: &PgBouncer) -> PgConnectOptions {
    options(pooler.port)
}

async fn open(pooler: &PgBouncer) -> PgConnection {
    PgConnection::connect_with(&through(pooler)).await.unwrap()
}

/// Returns a pool through the pooler, for the tables in a database that only one test uses, and one without it.
async fn bank(pooler: &PgBouncer, name: &'static str) -> (PgPool, PgPool) {
    let mut connection = connect().await;
    let create = format!("DROP DATABASE IF EXISTS {name}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
    let create = format!("CREATE DATABASE {name}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
    let direct = pool(to_primary().database(name));
    sqlx::raw_sql(TABLES).execute(&direct).await.unwrap();
    (pool(through(pooler).database(name)), direct)
}

// Rule H7.
#[tokio::test]
async fn a_pooler_whose_pool_is_full_answers_after_its_wait() {
    let pooler = PgBouncer::start(port(&primary()), &[("default_pool_size", "1"), ("query_wait_timeout", "1")]);
    let (mut first, mut second) = (open(&pooler).await, open(&pooler).await);
    run(&mut first, "SELECT 1").await;
    assert_state(&failure(&mut second, "SELECT 1").await, CODE, BROKEN);

    let crowded = PgBouncer::start(port(&primary()), &[("max_client_conn", "1")]);
    let mut sessions = Vec::new();
    let error = loop {
        match PgConnection::connect_with(&through(&crowded)).await {
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
    let mut connection = open(&pooler).await;
    let (pool, direct) = bank(&pooler, "paused_too").await;
    let idle = pool.acquire().await.unwrap();
    drop(idle);
    pooler.pause();
    assert_state(&failure(&mut connection, "SELECT 1").await, CODE, BROKEN);
    let transfer = Transfer::new(0);
    let error = attempt(&pool, &transfer).await.unwrap_err();
    assert_eq!(error.classification(), before_commit(BROKEN), "{error:?}");

    let resume = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        pooler.resume();
    };
    let (paid, ()) = tokio::join!(pay(&pool, &transfer), resume);
    paid.unwrap();
    assert_eq!(ledger(&direct).await, [0]);
}

// Rules H7, H15.
#[tokio::test]
async fn a_pooler_that_lost_its_server_does_not_know_what_was_done() {
    let proxy = Proxy::start(port(&primary()), "pg_sleep(0)", Cut::Text, 1);
    let pooler = PgBouncer::start(proxy.port, &[]);
    assert_state(&failure(&mut open(&pooler).await, "SELECT pg_sleep(0)").await, CODE, BROKEN);
}

// Rule H15.
#[tokio::test]
async fn transfers_survive_a_restart_of_the_pooler() {
    let mut pooler = PgBouncer::start(port(&primary()), &[]);
    let (pool, direct) = bank(&pooler, "pooled_too").await;
    let is_restarted = Arc::new(AtomicBool::new(false));
    let worker = tokio::spawn({
        let is_restarted = Arc::clone(&is_restarted);
        async move {
            let (mut unknown, mut after) = (0, 0);
            for id in 0.. {
                match pay(&pool, &Transfer::new(id)).await {
                    Ok(()) => after += u32::from(is_restarted.load(Ordering::SeqCst)),
                    Err(error) if error.is_outcome_unknown() => unknown += 1,
                    Err(error) => panic!("{error:?}"),
                }
                if after == 20 {
                    return (id + 1, unknown);
                }
            }
            unreachable!()
        }
    });
    while ledger(&direct).await.len() < 20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let restart = move || {
        pooler.restart();
        is_restarted.store(true, Ordering::SeqCst);
        pooler
    };
    let _pooler = tokio::task::spawn_blocking(restart).await.unwrap();
    let (transfers, unknown) = worker.await.unwrap();
    let mut carried_out = ledger(&direct).await;
    let rows = carried_out.len();
    carried_out.sort_unstable();
    carried_out.dedup();
    assert_eq!(carried_out.len(), rows, "a transfer was carried out twice");
    assert!(transfers - i64::try_from(rows).unwrap() <= unknown, "a transfer is missing: {carried_out:?}");
}

// Rules H7, H15.
#[tokio::test]
async fn a_session_that_was_idle_in_a_transaction_has_committed_nothing() {
    let mut connection = connect().await;
    run(&mut connection, "SET idle_in_transaction_session_timeout = 50; BEGIN").await;
    tokio::time::sleep(crate::SOON).await;
    assert_state(&failure(&mut connection, "COMMIT").await, "25P03", NO_SESSION);
}
