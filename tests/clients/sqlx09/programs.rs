//! A program as a user writes it: each attempt is a whole transaction, and transfers contend.

use crate::to_primary;
use retry_clients::sqlx09;
use retry_core::{StandardRetryStrategy, retryable};
use sqlx::postgres::{PgPool, PgPoolOptions};
use std::sync::atomic::{AtomicU32, Ordering};

static BANK: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(100);
static LOST_RACES: AtomicU32 = AtomicU32::new(0);

// Money must not move twice: only what was certainly rolled back is retried.
#[retryable(strategy = BANK, policy = sqlx09::policy().idempotent(false), on_retry = |error, _| {
    LOST_RACES.fetch_add(u32::from(sqlx09::classify(error).is_conflict()), Ordering::Relaxed);
})]
async fn pay(pool: &PgPool, from: i32, to: i32, amount: i64) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE").await?;
    let read = "SELECT balance FROM accounts_too WHERE id = $1";
    let rest: i64 = sqlx::query_scalar(read).bind(from).fetch_one(&mut *transaction).await?;
    let other: i64 = sqlx::query_scalar(read).bind(to).fetch_one(&mut *transaction).await?;
    let write = "UPDATE accounts_too SET balance = $1 WHERE id = $2";
    sqlx::query(write).bind(rest - amount).bind(from).execute(&mut *transaction).await?;
    sqlx::query(write).bind(other + amount).bind(to).execute(&mut *transaction).await?;
    transaction.commit().await
}

#[tokio::test]
async fn no_money_is_lost_while_transfers_contend() {
    let pool = PgPoolOptions::new().max_connections(8).connect_with(to_primary()).await.unwrap();
    sqlx::raw_sql("CREATE TABLE accounts_too (id int PRIMARY KEY, balance bigint)").execute(&pool).await.unwrap();
    let fill = "INSERT INTO accounts_too SELECT id, 1000 FROM generate_series(0, 3) AS id";
    sqlx::raw_sql(fill).execute(&pool).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for round in 0..10 {
                    pay(&pool, (task + round) % 4, (task + round + 1) % 4, 1).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let read = "SELECT sum(balance)::bigint, min(balance), max(balance) FROM accounts_too";
    let row: (i64, i64, i64) = sqlx::query_as(read).fetch_one(&pool).await.unwrap();
    // Each account gave and got 20 times.
    assert_eq!(row, (4_000, 1_000, 1_000));
    assert_ne!(LOST_RACES.load(Ordering::Relaxed), 0, "the transfers did not contend");
    sqlx::raw_sql("DROP TABLE accounts_too").execute(&pool).await.unwrap();
}
