//! Transactions that know whether COMMIT had been sent, with a server that is stopped and a proxy that cuts connections.

use crate::{options, to_primary};
use clients_tests::postgres::{
    ANSWERS_TO_COMMIT, COMMITTED, INSERTED, RAISED, REFUSED, before_commit, port, primary, raise, restarted,
};
use clients_tests::transfers::{LEDGER, Outcome, TABLES, TRANSFERS, Transfer, Worker, compare, runs, transfer_all};
use clients_tests::{BROKEN, Cut, FINAL, LIMIT, Proxy, UNKNOWN, UNSENT, refused_address};
use retry_clients::sqlx09::{self, TransactionError, classify};
use retry_core::classify::{Classification, chain};
use retry_core::{RetryInfo, RetryQuota, StandardRetryStrategy, TimeLimit, TimedOut, retry, retryable};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Error, Postgres, Transaction};
use std::fmt;
use std::time::Duration;

/// Many attempts for the conflicts, with short waits, and a quota that pays for 40 workers whose connections break immediately.
static BANK: StandardRetryStrategy = StandardRetryStrategy::new()
    .max_attempts(60)
    .backoff(Duration::from_secs(1), Duration::from_secs(1))
    .quota_capacity(1_000);

const SERIALIZABLE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";

async fn move_money(tx: &mut Transaction<'_, Postgres>, transfer: &Transfer) -> Result<(), Error> {
    let read = "SELECT balance FROM accounts WHERE id = $1";
    let rest: i64 = sqlx::query_scalar(read).bind(transfer.from).fetch_one(&mut **tx).await?;
    let other: i64 = sqlx::query_scalar(read).bind(transfer.to).fetch_one(&mut **tx).await?;
    let write = "UPDATE accounts SET balance = $1 WHERE id = $2";
    sqlx::query(write).bind(rest - 1).bind(transfer.from).execute(&mut **tx).await?;
    sqlx::query(write).bind(other + 1).bind(transfer.to).execute(&mut **tx).await?;
    sqlx::query("INSERT INTO ledger VALUES ($1)").bind(transfer.id).execute(&mut **tx).await?;
    transfer.commits();
    Ok(())
}

pub(crate) async fn attempt(pool: &PgPool, transfer: &Transfer) -> Result<(), TransactionError> {
    transfer.begins();
    sqlx09::transaction(pool.begin_with(SERIALIZABLE), async |mut tx| {
        move_money(&mut tx, transfer).await?;
        Ok((tx, ()))
    })
    .await
}

#[retryable(strategy = BANK, idempotent = false)]
pub(crate) async fn pay(pool: &PgPool, transfer: &Transfer) -> Result<(), TransactionError> {
    attempt(pool, transfer).await
}

#[retryable(strategy = BANK)]
async fn pay_without_a_mark(pool: &PgPool, transfer: &Transfer) -> Result<(), TransactionError> {
    attempt(pool, transfer).await
}

/// The error of a program, which has more than errors of the database.
#[derive(Debug, RetryInfo)]
enum PayError {
    #[retry(with = classify)]
    Database(Error),
    #[retry(safe = "maybe", fault = "server")]
    RatesAreMissing,
    #[retry(never)]
    Overdrawn,
}

impl From<Error> for PayError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl std::error::Error for PayError {}

impl fmt::Display for PayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A transfer that can be repeated, because the database knows its number.
#[retryable(strategy = BANK, idempotent)]
async fn pay_once(pool: &PgPool, transfer: &Transfer) -> Result<(), TransactionError<PayError>> {
    transfer.begins();
    sqlx09::transaction(pool.begin_with(SERIALIZABLE), async |mut tx| {
        let note = "INSERT INTO once VALUES ($1) ON CONFLICT DO NOTHING";
        if sqlx::query(note).bind(transfer.id).execute(&mut *tx).await?.rows_affected() == 1 {
            move_money(&mut tx, transfer).await?;
        }
        Ok((tx, ()))
    })
    .await
}

pub(crate) fn pool(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new().max_connections(40).connect_lazy_with(options)
}

/// Returns a pool for tables that only one test uses.
async fn tables(schema: &'static str) -> PgPool {
    let pool = pool(to_primary().options([("search_path", schema)]));
    let create = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; {TABLES}");
    sqlx::raw_sql(AssertSqlSafe(create)).execute(&pool).await.unwrap();
    pool
}

fn through(proxy: &Proxy, schema: &'static str) -> PgPool {
    pool(options(proxy.port).options([("search_path", schema)]))
}

pub(crate) async fn ledger(pool: &PgPool) -> Vec<i64> {
    sqlx::query_scalar(LEDGER).fetch_all(pool).await.unwrap()
}

// Rule H15.
#[tokio::test]
async fn transfers_survive_a_server_that_stops_without_a_shutdown() {
    let bank = pool(options(port(&restarted())));
    for _ in 0..runs() {
        sqlx::raw_sql(TABLES).execute(&bank).await.unwrap();
        let worker = || -> Worker {
            let bank = bank.clone();
            Box::new(move |transfer| {
                let bank = bank.clone();
                Box::pin(async move { Outcome::of(pay(&bank, &transfer).await) })
            })
        };
        let transfers = transfer_all(worker).await;
        let tally = compare(&transfers, &ledger(&bank).await);
        println!("not idempotent: {tally:?}, {} left in the quota", BANK.quota().available());
        assert_eq!(tally.failed, 0);

        sqlx::raw_sql(TABLES).execute(&bank).await.unwrap();
        let worker = || -> Worker {
            let bank = bank.clone();
            Box::new(move |transfer| {
                let bank = bank.clone();
                Box::pin(async move { Outcome::of(pay_once(&bank, &transfer).await) })
            })
        };
        let transfers = transfer_all(worker).await;
        let tally = compare(&transfers, &ledger(&bank).await);
        println!("idempotent: {tally:?}, {} left in the quota", BANK.quota().available());
        assert_eq!(i64::try_from(tally.done), Ok(TRANSFERS), "{transfers:?}");
    }
}

// Rule H15.
#[tokio::test]
async fn a_connection_that_breaks_before_commit_has_done_nothing() {
    let bank = tables("before_commit").await;
    let mut done = Vec::new();
    for (id, cut, marked) in [(0, Cut::Text, true), (1, Cut::Text, false), (2, INSERTED, true), (3, INSERTED, false)] {
        let proxy = Proxy::start(port(&primary()), "INSERT INTO ledger", cut, 2);
        let (pool, transfer) = (through(&proxy, "before_commit"), Transfer::new(id));
        let outcome = if marked { pay(&pool, &transfer).await } else { pay_without_a_mark(&pool, &transfer).await };
        outcome.unwrap();
        assert_eq!((transfer.attempts(), proxy.texts()), (2, 2));
        done.push(id);
    }
    assert_eq!(ledger(&bank).await, done);
}

// Rule H15.
#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_retried_only_if_it_is_idempotent() {
    let bank = tables("lost_answer").await;
    for (cut, expected) in [(Cut::Text, vec![]), (COMMITTED, vec![0, 1, 2])] {
        let proxy = Proxy::start(port(&primary()), "COMMIT\0", cut, 1);
        let pool = through(&proxy, "lost_answer");
        let transfers = [Transfer::new(0), Transfer::new(1), Transfer::new(2)];
        let by_closure = retry(&BANK, || attempt(&pool, &transfers[2])).run();
        let errors =
            [pay(&pool, &transfers[0]).await, pay_without_a_mark(&pool, &transfers[1]).await, by_closure.await];
        for (error, transfer) in errors.map(Result::unwrap_err).into_iter().zip(transfers) {
            assert!(error.is_outcome_unknown(), "{error:?}");
            assert_eq!((Classification::of(&error), transfer.attempts()), (UNKNOWN, 1), "{error:?}");
            assert_eq!(error.to_string(), "the transaction may have been committed");
        }
        assert_eq!(ledger(&bank).await, expected, "{cut:?}");
    }

    sqlx::raw_sql(TABLES).execute(&bank).await.unwrap();
    let proxy = Proxy::start(port(&primary()), "COMMIT\0", COMMITTED, 2);
    let pool = through(&proxy, "lost_answer");
    for id in 0..10 {
        let transfer = Transfer::new(id);
        pay_once(&pool, &transfer).await.unwrap();
        assert_eq!(transfer.attempts(), 2);
    }
    assert_eq!((ledger(&bank).await, proxy.texts()), ((0..10).collect(), 20));
}

// Rule H16.
#[tokio::test]
async fn an_error_outside_of_transaction_does_not_count_as_before_commit() {
    #[retryable(strategy = BANK)]
    async fn commits_by_itself(pool: &PgPool, transfer: &Transfer) -> Result<(), TransactionError> {
        transfer.begins();
        let mut tx = pool.begin().await?;
        move_money(&mut tx, transfer).await?;
        tx.commit().await?;
        Ok(())
    }

    let bank = tables("outside").await;
    let proxy = Proxy::start(port(&primary()), "COMMIT\0", COMMITTED, 1);
    let transfer = Transfer::new(7);
    let error = commits_by_itself(&through(&proxy, "outside"), &transfer).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!((transfer.attempts(), ledger(&bank).await), (1, vec![7]), "{error:?}");
}

// Rule H15.
#[tokio::test]
async fn the_answer_to_a_commit_is_judged_by_its_code() {
    let bank = tables("answers").await;
    sqlx::raw_sql(REFUSED).execute(&bank).await.unwrap();
    for (code, expected) in ANSWERS_TO_COMMIT {
        let error: TransactionError = sqlx09::transaction(bank.begin(), async |mut tx| {
            sqlx::query("INSERT INTO refused VALUES ($1)").bind(code).execute(&mut *tx).await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), expected, "{code}: {error:?}");
        assert_eq!(sqlx09::link(&error), Some(expected), "{code}");
        assert_eq!(chain::typed::<TransactionError>(&error), Some(expected), "{code}");
    }
}

// Rule H15.
#[tokio::test]
async fn an_error_of_the_body_keeps_its_class_and_what_may_have_happened_did_not() {
    let bank = tables("body").await;
    for (code, expected) in RAISED {
        let error: TransactionError = sqlx09::transaction(bank.begin(), async |mut tx| {
            sqlx::raw_sql(AssertSqlSafe(raise(code))).execute(&mut *tx).await?;
            Ok((tx, ()))
        })
        .await
        .unwrap_err();
        assert_eq!(error.classification(), before_commit(expected), "{code}: {error:?}");
        assert_eq!(error.to_string(), "the transaction was not committed");
        assert_eq!(format!("{error:#}"), format!("{error}: {:#}", error.error()));
    }

    let killed: TransactionError = sqlx09::transaction(bank.begin(), async |mut tx| {
        sqlx::query("SELECT pg_terminate_backend(pg_backend_pid())").execute(&mut *tx).await?;
        Ok((tx, ()))
    })
    .await
    .unwrap_err();
    assert_eq!(killed.classification(), before_commit(BROKEN), "{killed:?}");

    for (own, expected) in [(PayError::Overdrawn, FINAL), (PayError::RatesAreMissing, before_commit(BROKEN))] {
        let outcome = sqlx09::transaction(bank.begin(), async |tx| match own {
            PayError::Database(_) => Ok((tx, ())),
            own => Err(own),
        });
        let error = outcome.await.unwrap_err();
        assert_eq!(error.classification(), expected, "{error:?}");
        assert!(!error.is_outcome_unknown());
    }

    let nowhere = PgPoolOptions::new().acquire_timeout(LIMIT).connect_lazy_with(options(refused_address().port()));
    let error = attempt(&nowhere, &Transfer::new(0)).await.unwrap_err();
    assert_eq!(error.classification(), UNSENT.with_timeout(), "{error:?}");
}

// Rule H16.
#[tokio::test]
async fn a_time_limit_that_cut_the_attempt_leaves_the_outcome_unknown() {
    #[retryable(strategy = BANK, attempt_timeout = LIMIT)]
    async fn hangs(pool: &PgPool, transfer: &Transfer) -> Result<(), TransactionError> {
        transfer.begins();
        sqlx09::transaction(pool.begin(), async |mut tx| {
            sqlx::query("SELECT pg_sleep(60)").execute(&mut *tx).await?;
            Ok((tx, ()))
        })
        .await
    }

    let (bank, transfer) = (pool(to_primary()), Transfer::new(0));
    let error = hangs(&bank, &transfer).await.unwrap_err();
    assert!(error.is_outcome_unknown());
    assert_eq!((error.classification(), transfer.attempts()), (UNKNOWN, 1), "{error:?}");
    assert!(error.into_error().timed_out().is_some());

    for limit in [TimeLimit::Stop, TimeLimit::Operation, TimeLimit::Deadline] {
        let cut = TimedOut::new(limit, Duration::from_secs(1));
        let unknown: TransactionError = cut.into();
        assert!(unknown.is_outcome_unknown(), "{unknown:?}");
        let stopped: TransactionError = cut.before_attempt().into();
        assert!(!stopped.is_outcome_unknown(), "{stopped:?}");
    }
}
