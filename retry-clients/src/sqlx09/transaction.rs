//! A transaction that knows whether its COMMIT was sent.

use super::{classify, mysql_number};
use crate::transaction::{mysql_of_commit, sqlstate_of_commit};
use retry_core::RetryInfo;
use retry_core::classify::Classification;
use sqlx::error::DatabaseError;
use sqlx::{Database, Error, Transaction};

crate::transaction::of_client!(Error);

/// Begins a transaction, runs the body, and commits, with `PostgreSQL`, `MySQL` or `MariaDB`.
///
/// The body gets the transaction by value. It returns `Ok((transaction, value))`, and the transaction is then committed.
/// If it returns an error, the transaction is dropped, which rolls it back.
///
/// Each attempt runs the body again, so the body must have no effects outside of its transaction: no other transaction,
/// no request to another service, and no COMMIT as a statement. Mark the function `idempotent` only if the transaction may
/// be committed twice, for example because it does nothing if its id is already there.
///
/// An attempt that a time limit cut may have sent its COMMIT, so its outcome is unknown. Let the server limit waits, for
/// example by `SET LOCAL lock_timeout = '2s'`, whose error is a conflict.
///
/// `MySQL` and `MariaDB` commit by themselves at [some statements](https://dev.mysql.com/doc/refman/8.4/en/implicit-commit.html), such as
/// CREATE TABLE, so the body must not have these, and all its tables must be of `InnoDB`. Any other database is a compile error.
///
/// # Errors
///
/// Returns the error of the first step that failed. The docs of [`TransactionError`](crate::TransactionError) have a table
/// of how each is classified.
///
/// If the body hides the error of a statement, `PostgreSQL` rolls back at COMMIT and reports no error. So execute a
/// statement that may fail in a savepoint. After a deadlock, `MySQL` has rolled back, and commits each statement that follows. So with
/// `MySQL`, never hide an error.
///
/// # Examples
///
/// ```
/// use retry_clients::sqlx09::{self, TransactionError};
/// use retry_core::{PatientRetryStrategy, retryable};
/// use sqlx::postgres::PgPool;
///
/// static BANK: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(20);
///
/// // Money must not move twice: a COMMIT whose answer was lost is not retried.
/// #[retryable(strategy = BANK, idempotent = false)]
/// async fn pay(pool: &PgPool, from: i32, to: i32, amount: i64) -> Result<i64, TransactionError> {
///     sqlx09::transaction(pool.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE"), async |mut tx| {
///         let give = "UPDATE accounts SET balance = balance + $1 WHERE id = $2";
///         sqlx::query(give).bind(amount).bind(to).execute(&mut *tx).await?;
///         let take = "UPDATE accounts SET balance = balance - $1 WHERE id = $2 RETURNING balance";
///         let rest = sqlx::query_scalar(take).bind(amount).bind(from).fetch_one(&mut *tx).await?;
///         Ok((tx, rest))
///     })
///     .await
/// }
///
/// fn spawn(pool: PgPool) {
///     tokio::spawn(async move {
///         match pay(&pool, 1, 2, 100).await {
///             Ok(rest) => println!("{rest} left"),
///             Err(error) if error.is_outcome_unknown() => println!("look for it: {error:#}"),
///             Err(error) => println!("not paid: {error:#}"),
///         }
///     });
/// }
/// ```
///
/// The body can return your own error. `?` needs its `From` of the client's error, and the strategy its
/// classification:
///
/// ```
/// use retry_clients::sqlx09::{self, TransactionError};
/// use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
/// use sqlx::postgres::PgPool;
///
/// #[derive(Debug, RetryInfo)]
/// enum PayError {
///     #[retry(with = sqlx09::classify)]
///     Database(sqlx::Error),
///     #[retry(never)]
///     Overdrawn,
/// }
/// # impl From<sqlx::Error> for PayError {
/// #     fn from(error: sqlx::Error) -> Self { Self::Database(error) }
/// # }
///
/// static BANK: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(20);
///
/// // The id is unique, so this may be repeated.
/// #[retryable(strategy = BANK, idempotent)]
/// async fn pay_once(
///     pool: &PgPool,
///     id: i64,
///     from: i32,
///     amount: i64,
/// ) -> Result<(), TransactionError<PayError>> {
///     sqlx09::transaction(pool.begin(), async |mut tx| {
///         let note = "INSERT INTO payments VALUES ($1) ON CONFLICT DO NOTHING";
///         if sqlx::query(note).bind(id).execute(&mut *tx).await?.rows_affected() == 0 {
///             return Ok((tx, ())); // an earlier attempt was committed
///         }
///         let take = "UPDATE accounts SET balance = balance - $1 WHERE id = $2 AND balance >= $1";
///         let taken = sqlx::query(take).bind(amount).bind(from).execute(&mut *tx).await?;
///         if taken.rows_affected() == 0 {
///             return Err(PayError::Overdrawn);
///         }
///         Ok((tx, ()))
///     })
///     .await
/// }
/// ```
pub async fn transaction<'c, DB, T, E, F>(
    begin: impl Future<Output = Result<Transaction<'c, DB>, Error>>,
    body: impl FnOnce(Transaction<'c, DB>) -> F,
) -> Result<T, crate::TransactionError<E>>
where
    DB: Database,
    E: From<Error> + RetryInfo,
    F: Future<Output = Result<(Transaction<'c, DB>, T), E>>,
{
    const { assert!(is_supported(DB::NAME), "sqlx09::transaction is for PostgreSQL and MySQL only") }

    let transaction = begin.await.map_err(|error| crate::TransactionError::of_begin(error, classify))?;
    let (transaction, value) = body(transaction).await.map_err(crate::TransactionError::before_commit)?;
    transaction.commit().await.map_err(|error| {
        let answer = error.as_database_error().and_then(answer_to_commit);
        crate::TransactionError::of_commit(error, answer)
    })?;
    Ok(value)
}

const fn is_supported(database: &str) -> bool {
    matches!(database.as_bytes(), b"PostgreSQL" | b"MySQL")
}

fn answer_to_commit(error: &dyn DatabaseError) -> Option<Classification> {
    let code = error.code();
    match mysql_number(error) {
        Some(number) => mysql_of_commit(number, code.as_deref().unwrap_or_default(), error.message()),
        None => sqlstate_of_commit(&code?),
    }
}
