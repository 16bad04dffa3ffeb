//! All that the program says about retries: what its errors mean, and which calls are retried.

use crate::http::Http;
use bytes::Bytes;
use reqwest::{Method, StatusCode};
use retry_core::{ErasedStrategy, RetryInfo, retryable};

/// Why an attempt failed.
#[derive(Debug, thiserror::Error, RetryInfo)]
pub(crate) enum StoreError {
    /// Too many requests of late: the service turned this one away, and may have said for how long.
    #[error("the service asked to slow down")]
    #[retry(throttling)]
    SlowDown {
        /// The `Retry-After` header, in seconds.
        #[retry(retry_after(secs))]
        wait: Option<u64>,
    },

    /// No answer came in time.
    #[error("no answer in time")]
    #[retry(timeout)]
    Timeout,

    /// The service could not do its part.
    #[error("the service failed: {0}")]
    #[retry(fault = "server")]
    Server(StatusCode),

    /// The connection broke before the answer was complete.
    #[error("the connection broke")]
    #[retry(fault = "server")]
    Connection(#[source] reqwest::Error),

    /// The request was wrong, and would be wrong again.
    #[error("the service refused the request: {0}")]
    #[retry(fault = "client")]
    Refused(StatusCode),
}

/// A client of the object store.
#[derive(Debug)]
pub(crate) struct Client {
    /// Sends one request at a time.
    pub(crate) http: Http,
    /// Shared by all calls, since it is one store that is in trouble or is not.
    pub(crate) retry: ErasedStrategy,
}

impl Client {
    /// Reads an object.
    #[retryable(strategy = self.retry, idempotent)]
    pub(crate) async fn get(&self, bucket: &str, key: &str) -> Result<Bytes, StoreError> {
        let response = self.http.send(Method::GET, bucket, key, Bytes::new()).await?;
        Ok(response.bytes().await?)
    }

    /// Writes an object.
    #[retryable(strategy = self.retry, idempotent)]
    pub(crate) async fn put(&self, bucket: &str, key: &str, content: &Bytes) -> Result<(), StoreError> {
        self.http.send(Method::PUT, bucket, key, content.clone()).await?;
        Ok(())
    }
}
