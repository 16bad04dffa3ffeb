//! The calls that are retried: what their errors mean, and one attempt of each.

use crate::answer;
use crate::count::Counter;
use bytes::Bytes;
use reqwest::{RequestBuilder, Response, StatusCode};
use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
use std::time::Duration;

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
    http: reqwest::Client,
    base: String,
    retry: &'static StandardRetryStrategy,
    attempts: Counter,
}

impl Client {
    /// Reads an object.
    #[retryable(strategy = self.retry, idempotent)]
    pub(crate) async fn get(&self, bucket: &str, key: &str) -> Result<Bytes, StoreError> {
        let response = self.send(self.http.get(self.url(bucket, key))).await?;
        Ok(response.bytes().await?)
    }

    /// Writes an object.
    #[retryable(strategy = self.retry, idempotent)]
    pub(crate) async fn put(&self, bucket: &str, key: &str, content: &Bytes) -> Result<(), StoreError> {
        self.send(self.http.put(self.url(bucket, key)).body(content.clone())).await?;
        Ok(())
    }

    /// A client of the store at `base`, whose calls are retried as `retry` allows.
    pub(crate) fn new(
        base: String,
        retry: &'static StandardRetryStrategy,
        attempt_timeout: Duration,
    ) -> reqwest::Result<Self> {
        // The HTTP client must not retry by itself: its attempts would be hidden from the strategy and from the count.
        let http = reqwest::Client::builder().timeout(attempt_timeout).retry(reqwest::retry::never()).build()?;
        Ok(Self { http, base, retry, attempts: Counter::default() })
    }

    /// How many requests were made.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts.get()
    }

    fn url(&self, bucket: &str, key: &str) -> String {
        format!("{}/{bucket}/{key}", self.base)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, StoreError> {
        self.attempts.add();
        answer::check(request.send().await?).await
    }
}
