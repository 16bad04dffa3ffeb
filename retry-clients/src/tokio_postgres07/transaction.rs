//! A transaction that knows whether its COMMIT was sent.

use super::classify;
use crate::transaction::sqlstate_of_commit;
use retry_core::RetryInfo;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Transaction};

crate::transaction::of_client!(Error);

/// Begins a transaction, runs the body, and commits.
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
/// # Errors
///
/// Returns the error of the first step that failed. The docs of [`TransactionError`](crate::TransactionError) have a table
/// of how each is classified.
///
/// If the body hides the error of a statement, `PostgreSQL` rolls back at COMMIT and reports no error. So execute a
/// statement that may fail in a savepoint.
///
/// # Examples
///
/// An attempt connects again if its connection was closed. Connecting is not a part of the transaction, so its error is
/// marked by [`before_commit`](crate::TransactionError::before_commit):
///
/// ```
/// use retry_clients::tokio_postgres07::{self, TransactionError};
/// use retry_core::{PatientRetryStrategy, retryable};
/// use tokio_postgres::{Client, Error, IsolationLevel};
///
/// static BANK: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(20);
///
/// # async fn connect() -> Result<Client, Error> {
/// #     Ok(tokio_postgres::connect("host=localhost", tokio_postgres::NoTls).await?.0)
/// # }
/// // Money must not move twice: a COMMIT whose answer was lost is not retried.
/// #[retryable(strategy = BANK, idempotent = false)]
/// async fn pay(
///     client: &mut Client,
///     from: i32,
///     to: i32,
///     amount: i64,
/// ) -> Result<(), TransactionError> {
///     if client.is_closed() {
///         *client = connect().await.map_err(TransactionError::before_commit)?;
///     }
///     let begin = client.build_transaction().isolation_level(IsolationLevel::Serializable);
///     tokio_postgres07::transaction(begin.start(), async |tx| {
///         let take = "UPDATE accounts SET balance = balance - $1 WHERE id = $2";
///         tx.execute(take, &[&amount, &from]).await?;
///         let give = "UPDATE accounts SET balance = balance + $1 WHERE id = $2";
///         tx.execute(give, &[&amount, &to]).await?;
///         Ok((tx, ()))
///     })
///     .await
/// }
///
/// fn spawn(mut client: Client) {
///     tokio::spawn(async move {
///         match pay(&mut client, 1, 2, 100).await {
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
    // A connection that is already closed does not send.
    let is_closed = transaction.client().is_closed();
    transaction.commit().await.map_err(|error| {
        if is_closed {
            return crate::TransactionError::of_begin(error, classify);
        }
        let answer = error.code().map(SqlState::code).and_then(sqlstate_of_commit);
        crate::TransactionError::of_commit(error, answer)
    })?;
    Ok(value)
}
