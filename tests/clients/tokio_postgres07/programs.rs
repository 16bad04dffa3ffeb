//! A program as a user writes it: each attempt is a whole transaction, and transfers contend.

use crate::{connect, run};
use retry_clients::tokio_postgres07;
use retry_core::{StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_postgres::{Client, Error, IsolationLevel};

static BANK: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(100);
static LOST_RACES: AtomicU32 = AtomicU32::new(0);

// Money must not move twice: only what was certainly rolled back is retried.
#[retryable(strategy = BANK, policy = tokio_postgres07::policy().idempotent(false), on_retry = |error, _| {
    let lost = tokio_postgres07::classify(error).is_conflict();
    LOST_RACES.fetch_add(u32::from(lost), Ordering::Relaxed);
})]
async fn pay(client: &mut Client, from: i32, to: i32, amount: i64) -> Result<(), Error> {
    let transaction = client.build_transaction().isolation_level(IsolationLevel::Serializable).start().await?;
    let read = "SELECT balance FROM accounts WHERE id = $1";
    let rest: i64 = transaction.query_one(read, &[&from]).await?.get(0);
    let other: i64 = transaction.query_one(read, &[&to]).await?.get(0);
    let write = "UPDATE accounts SET balance = $1 WHERE id = $2";
    transaction.execute(write, &[&(rest - amount), &from]).await?;
    transaction.execute(write, &[&(other + amount), &to]).await?;
    transaction.commit().await
}

#[tokio::test]
async fn no_money_is_lost_while_transfers_contend() {
    let client = connect().await;
    run(&client, "CREATE TABLE accounts (id int PRIMARY KEY, balance bigint)").await;
    run(&client, "INSERT INTO accounts SELECT id, 1000 FROM generate_series(0, 3) AS id").await;
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            tokio::spawn(async move {
                let mut client = connect().await;
                for round in 0..10 {
                    pay(&mut client, (task + round) % 4, (task + round + 1) % 4, 1).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let row =
        client.query_one("SELECT sum(balance)::bigint, min(balance), max(balance) FROM accounts", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 4_000);
    // Each account gave and got 20 times.
    assert_eq!((row.get::<_, i64>(1), row.get::<_, i64>(2)), (1_000, 1_000));
    assert_ne!(LOST_RACES.load(Ordering::Relaxed), 0, "the transfers did not contend");
    run(&client, "DROP TABLE accounts").await;
}
