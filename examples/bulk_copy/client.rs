//! The retry code of the program: how its errors are classified, and which calls are retried.

use crate::http::Http;
use bytes::Bytes;
use examples::reqwest_errors;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use retry_core::classify::{Classification, aws, http};
use retry_core::{ErasedStrategy, RetryInfo, retryable};
use std::time::SystemTime;

/// Why an attempt failed, and whether a retry is safe.
#[derive(Debug, thiserror::Error, RetryInfo)]
pub(crate) enum StoreError {
    /// The service answered with an error status.
    #[error("the service answered {status} {code}")]
    Answered {
        status: StatusCode,
        code: String,
        #[retry(transparent)]
        verdict: Classification,
    },

    /// No answer, or an incomplete one.
    #[error("no complete answer")]
    Unanswered(
        #[from]
        #[retry(with = reqwest_errors::judge)]
        reqwest::Error,
    ),
}

impl StoreError {
    /// Classifies an error response. The error code is more precise than the status: S3 throttles with a 503, which has
    /// other causes, too.
    pub(crate) fn answered(status: StatusCode, headers: &HeaderMap, code: String) -> Self {
        let wait = http::response_retry_after(headers, SystemTime::now());
        let verdict = aws::error_code(&code, Some(status.as_u16())).with_retry_after(wait);
        Self::Answered { status, code, verdict }
    }
}

/// A client of the object store.
#[derive(Debug)]
pub(crate) struct Client {
    /// Sends single requests, without retries.
    pub(crate) http: Http,
    /// The strategy. All calls share it, because they use the same store.
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
