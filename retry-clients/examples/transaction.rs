//! A transaction of `PostgreSQL` that is retried after a lost race, and never paid twice: ten tasks move money
//! both ways.
//!
//! They lock the two accounts in opposite orders, so a transaction can be the victim of a deadlock. The program
//! replaces the table `retry_accounts` of the database at `DATABASE_URL`; `.ci/servers` starts a server:
//!
//! `.ci/servers cargo run -p retry-clients --example transaction --features sqlx09`

use retry_clients::sqlx09::{self, TransactionError};
use retry_core::{PatientRetryStrategy, retryable};
use sqlx::postgres::PgPool;
use std::error::Error;

static BANK: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(20);

#[retryable(strategy = BANK, idempotent = false)]
async fn pay(pool: &PgPool, from: i32, to: i32) -> Result<(), TransactionError> {
    sqlx09::transaction(pool.begin(), async |mut tx| {
        let add = "UPDATE retry_accounts SET balance = balance + $1 WHERE id = $2";
        sqlx::query(add).bind(-1).bind(from).execute(&mut *tx).await?;
        sqlx::query(add).bind(1).bind(to).execute(&mut *tx).await?;
        Ok((tx, ()))
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url =
        std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set, such as postgres://user@localhost/test")?;
    let pool = PgPool::connect(&url).await?;
    let create = "DROP TABLE IF EXISTS retry_accounts;
        CREATE TABLE retry_accounts (id integer PRIMARY KEY, balance integer NOT NULL);
        INSERT INTO retry_accounts VALUES (1, 100), (2, 100)";
    sqlx::raw_sql(create).execute(&pool).await?;
    let tasks: Vec<_> = (0..10)
        .map(|task| {
            let (pool, from) = (pool.clone(), 1 + task % 2);
            tokio::spawn(async move { pay(&pool, from, 3 - from).await })
        })
        .collect();
    for task in tasks {
        match task.await? {
            Ok(()) => println!("paid"),
            Err(error) if error.is_outcome_unknown() => println!("look for it: {error:#}"),
            Err(error) => println!("not paid: {error:#}"),
        }
    }
    let total: i64 = sqlx::query_scalar("SELECT sum(balance) FROM retry_accounts").fetch_one(&pool).await?;
    println!("{total} in both accounts, as before");
    assert_eq!(total, 200);
    Ok(())
}
