//! The client.

use crate::StoreError;
use retry_core::{Observer, PatientRetryStrategy, RetryStrategy, Timer, retry};
use std::sync::Arc;

/// A connection to the store, which sends one request.
pub trait Connection {
    /// Reads a value.
    fn get(&self, key: &str) -> impl Future<Output = Result<String, StoreError>>;

    /// Appends to a value. Sent twice, it appends twice.
    fn append(&self, key: &str, text: &str) -> impl Future<Output = Result<(), StoreError>>;
}

/// A client of the store.
///
/// It retries with the patient strategy. One client has one strategy, whose quota all its requests share, so use one client for
/// one store, and share it.
#[must_use]
pub struct Client<C, T, S = PatientRetryStrategy> {
    connection: C,
    timer: T,
    strategy: S,
    observer: Option<Arc<dyn Observer + Send + Sync>>,
}

impl<C: Connection, T: Timer> Client<C, T> {
    /// Creates a client whose waits are those of this timer.
    pub fn new(connection: C, timer: T) -> Self {
        Self { connection, timer, strategy: PatientRetryStrategy::new(), observer: None }
    }
}

impl<C: Connection, T: Timer, S: RetryStrategy> Client<C, T, S> {
    /// Sets the strategy. Pass a reference or an [`Arc`] if several clients call one store.
    pub fn strategy<U: RetryStrategy>(self, strategy: U) -> Client<C, T, U> {
        let Self { connection, timer, strategy: _, observer } = self;
        Client { connection, timer, strategy, observer }
    }

    /// Makes one attempt for each request, for users who retry around the client.
    pub fn without_retries(self) -> Client<C, T, PatientRetryStrategy> {
        self.strategy(PatientRetryStrategy::new().max_attempts(1))
    }

    /// Sets the observer, which receives the events of all requests.
    pub fn observer(mut self, observer: impl Observer + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Reads a value. It is retried after each failure that may pass.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    pub async fn get(&self, key: &str) -> Result<String, StoreError> {
        self.retried("get", true, || self.connection.get(key)).await
    }

    /// Appends to a value. It is retried only if the store did nothing, so it never appends twice.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    pub async fn append(&self, key: &str, text: &str) -> Result<(), StoreError> {
        self.retried("append", false, || self.connection.append(key, text)).await
    }

    async fn retried<R, F>(&self, name: &'static str, idempotent: bool, attempt: impl FnMut() -> F) -> F::Output
    where
        F: Future<Output = Result<R, StoreError>>,
    {
        let call = retry(&self.strategy, attempt).name(name).idempotent(idempotent);
        call.timer(&self.timer).observer(&self.observer).run().await
    }
}
