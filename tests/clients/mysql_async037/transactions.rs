//! Transactions that know whether COMMIT had been sent, with a server that is stopped and a proxy that cuts connections.

use crate::{options, run};
use clients_tests::mysql::{RAISED, WAITED_AND_ROLLED_BACK, before_commit, control_restarted, port, raise, restarted};
use clients_tests::{BROKEN, Cut, Proxy, UNKNOWN, UNSENT, refused_address};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Pool, TxOpts};
use retry_clients::mysql_async037::{self, TransactionError};
use retry_core::classify::chain;
use retry_core::{StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static BANK: StandardRetryStrategy = StandardRetryStrategy::new()
    .max_attempts(60)
    .backoff(Duration::from_millis(500), Duration::from_secs(1))
    .quota_capacity(2_000);

// Rule H15.
#[tokio::test]
async fn transfers_survive_a_server_that_is_stopped_and_killed() {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

    #[retryable(strategy = BANK, idempotent = false)]
    async fn pay(bank: &Pool, id: i64) -> Result<(), TransactionError> {
        ATTEMPTS.fetch_add(1, Ordering::Relaxed);
        mysql_async037::transaction(bank.start_transaction(TxOpts::default()), async |mut tx| {
            tx.exec_drop("UPDATE account_async SET balance = balance - 1 WHERE id = ?", (id % 3,)).await?;
            tx.exec_drop("UPDATE account_async SET balance = balance + 1 WHERE id = ?", ((id + 1) % 3,)).await?;
            tx.exec_drop("INSERT INTO ledger_async VALUES (?)", (id,)).await?;
            Ok((tx, ()))
        })
        .await
    }

    let bank = Pool::new(options(restarted()));
    let mut admin = bank.get_conn().await.unwrap();
    for statement in [
        "CREATE OR REPLACE TABLE account_async (id int PRIMARY KEY, balance int)",
        "CREATE OR REPLACE TABLE ledger_async (id bigint)",
        "INSERT INTO account_async VALUES (0, 0), (1, 0), (2, 0)",
    ] {
        run(&mut admin, statement).await;
    }
    drop(admin);
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let bank = bank.clone();
            tokio::spawn(async move {
                let mut ends = Vec::new();
                for round in 0..40 {
                    let id = round * 8 + worker;
                    let unknown = match pay(&bank, id).await {
                        Ok(()) => false,
                        Err(error) => {
                            assert!(error.is_outcome_unknown(), "{error:?}");
                            true
                        }
                    };
                    ends.push((id, unknown));
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
                ends
            })
        })
        .collect();
    for word in ["stop", "start", "restart"] {
        tokio::time::sleep(crate::SOON).await;
        tokio::task::spawn_blocking(move || control_restarted(word)).await.unwrap();
    }
    let mut ends = Vec::new();
    for worker in workers {
        ends.extend(worker.await.unwrap());
    }
    let mut direct = Conn::new(options(restarted())).await.unwrap();
    let ledger: Vec<i64> = direct.query("SELECT id FROM ledger_async").await.unwrap();
    for (id, unknown) in &ends {
        let times = ledger.iter().filter(|it| *it == id).count();
        assert!(times == 1 || times == 0 && *unknown, "carried out {times} times: {id}, {unknown}");
    }
    assert!(ATTEMPTS.load(Ordering::Relaxed) > 320, "nothing was retried");
}

// Rules H15, H16.
#[tokio::test]
async fn before_commit_all_is_rolled_back_and_a_lost_answer_to_commit_is_unknown() {
    let bank = Pool::new(options(port()));
    for (number, state, message, expected) in RAISED {
        let begin = bank.start_transaction(TxOpts::default());
        let error: TransactionError = mysql_async037::transaction(begin, async |mut tx| {
            tx.query_drop(raise(number, state, message)).await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), before_commit(expected), "{number}: {error:?}");
        assert_eq!(mysql_async037::link(&error), Some(before_commit(expected)));
        assert_eq!(chain::typed::<TransactionError>(&error), Some(before_commit(expected)));
    }

    for (text, cut, expected) in [
        ("SELECT 'cut'", Cut::Text, before_commit(BROKEN)),
        ("COMMIT", Cut::Text, UNKNOWN),
        ("COMMIT", Cut::Answer("\0\0\0"), UNKNOWN),
    ] {
        let proxy = Proxy::start(port(), text, cut, 1);
        let pool = Pool::new(options(proxy.port));
        let begin = pool.start_transaction(TxOpts::default());
        let error: TransactionError = mysql_async037::transaction(begin, async |mut tx| {
            tx.query_drop("SELECT 'cut'").await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), expected, "{text}: {error:?}");
    }

    let nowhere = Pool::new(options(refused_address().port()));
    let begin = nowhere.start_transaction(TxOpts::default());
    let error: TransactionError = mysql_async037::transaction(begin, async |tx| Ok((tx, ()))).await.unwrap_err();
    assert_eq!(error.classification(), UNSENT, "{error:?}");
}

// Rules H15, H16.
#[tokio::test]
async fn a_lock_wait_is_rolled_back_and_an_error_outside_of_transaction_is_not_known_to_be() {
    let (mut holder, mut waiting) =
        (Conn::new(options(port())).await.unwrap(), Conn::new(options(port())).await.unwrap());
    run(&mut holder, "CREATE OR REPLACE TABLE held_async (id int PRIMARY KEY)").await;
    run(&mut holder, "INSERT INTO held_async VALUES (1)").await;
    run(&mut holder, "BEGIN").await;
    run(&mut holder, "SELECT * FROM held_async FOR UPDATE").await;
    run(&mut waiting, "SET innodb_lock_wait_timeout = 1").await;
    let begin = waiting.start_transaction(TxOpts::default());
    let error: TransactionError = mysql_async037::transaction(begin, async |mut tx| {
        tx.query_drop("DELETE FROM held_async").await?;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(error.classification(), WAITED_AND_ROLLED_BACK, "{error:?}");

    let proxy = Proxy::start(port(), "COMMIT", Cut::Text, 1);
    let mut commits_by_itself = Conn::new(options(proxy.port)).await.unwrap();
    let error = <TransactionError>::from(commits_by_itself.query_drop("COMMIT").await.unwrap_err());
    assert_eq!((error.classification(), error.is_outcome_unknown()), (UNKNOWN, true), "{error:?}");
}
