//! A transaction that knows whether its COMMIT was sent.

use super::classify;
use crate::transaction::mysql_of_commit;
use mysql_async::{Error, Transaction};
use retry_core::RetryInfo;

crate::transaction::of_client!(Error);

/// Begins a transaction, runs the body, and commits.
///
/// The body gets the transaction by value. It returns `Ok((transaction, value))`, and the transaction is then committed.
/// If it returns an error, the transaction is dropped, which rolls it back.
///
/// Each attempt runs the body again, so the body must have no effects outside of its transaction: no other transaction,
/// no request to another service, and no COMMIT as a statement. `MySQL` and `MariaDB` commit by themselves at
/// [some statements](https://dev.mysql.com/doc/refman/8.4/en/implicit-commit.html), such as CREATE TABLE, so the body must not have
/// these, and all its tables must be of `InnoDB`. Mark the function `idempotent` only if the transaction may be committed twice,
/// for example because it does nothing if its id is already there.
///
/// An attempt that a time limit cut may have sent its COMMIT, so its outcome is unknown. Let the server limit waits, for
/// example by `SET innodb_lock_wait_timeout = 2`.
///
/// # Errors
///
/// Returns the error of the first step that failed. The docs of [`TransactionError`](crate::TransactionError) have a table
/// of how each is classified.
///
/// Never hide the error of a statement: after a deadlock, the server has rolled back, and commits each statement that follows.
///
/// # Examples
///
/// ```
/// use mysql_async::prelude::Queryable;
/// use mysql_async::{Pool, TxOpts};
/// use retry_clients::mysql_async037::{self, TransactionError};
/// use retry_core::{PatientRetryStrategy, retryable};
///
/// static BANK: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(20);
///
/// // Money must not move twice: a COMMIT whose answer was lost is not retried.
/// #[retryable(strategy = BANK, idempotent = false)]
/// async fn pay(pool: &Pool, from: i32, to: i32, amount: i64) -> Result<(), TransactionError> {
///     mysql_async037::transaction(pool.start_transaction(TxOpts::default()), async |mut tx| {
///         let give = "UPDATE accounts SET balance = balance + ? WHERE id = ?";
///         tx.exec_drop(give, (amount, to)).await?;
///         let take = "UPDATE accounts SET balance = balance - ? WHERE id = ?";
///         tx.exec_drop(take, (amount, from)).await?;
///         Ok((tx, ()))
///     })
///     .await
/// }
///
/// fn spawn(pool: Pool) {
///     tokio::spawn(async move {
///         match pay(&pool, 1, 2, 100).await {
///             Ok(()) => println!("paid"),
///             Err(error) if error.is_outcome_unknown() => println!("look for it: {error:#}"),
///             Err(error) => println!("not paid: {error:#}"),
///         }
///     });
/// }
/// ```
///
/// The body can return your own error, with a `From` of the client's error and a classification:
/// `TransactionError<PayError>`.
pub async fn transaction<'c, T, E, F>(
    begin: impl Future<Output = Result<Transaction<'c>, Error>>,
    body: impl FnOnce(Transaction<'c>) -> F,
) -> Result<T, crate::TransactionError<E>>
where
    E: From<Error> + RetryInfo,
    F: Future<Output = Result<(Transaction<'c>, T), E>>,
{
    let transaction = begin.await.map_err(|error| crate::TransactionError::of_begin(error, classify))?;
    let (transaction, value) = body(transaction).await.map_err(crate::TransactionError::before_commit)?;
    transaction.commit().await.map_err(|error| {
        let answer = match &error {
            Error::Server(error) => mysql_of_commit(error.code, &error.state, &error.message),
            _ => None,
        };
        crate::TransactionError::of_commit(error, answer)
    })?;
    Ok(value)
}
