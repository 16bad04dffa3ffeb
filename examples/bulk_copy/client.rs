//! All that the program says about retries: what its errors mean, and which calls are retried.

use crate::http::Http;
use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use retry_core::classify::{Classification, aws, chain, http, io};
use retry_core::{ErasedStrategy, RetryInfo, retryable};
use std::io::ErrorKind;
use std::time::SystemTime;

/// Why an attempt failed, and what that means for a retry.
#[derive(Debug, thiserror::Error, RetryInfo)]
pub(crate) enum StoreError {
    /// The service answered, and not with a success.
    #[error("the service answered {status} {code}")]
    Answered {
        status: StatusCode,
        code: String,
        #[retry(transparent)]
        verdict: Classification,
    },

    /// No answer, or not all of it.
    #[error("no complete answer")]
    #[retry(with = Self::unanswered)]
    Unanswered(#[from] reqwest::Error),
}

impl StoreError {
    /// The error code tells more than the status: S3 turns requests away with a 503, which could mean anything.
    pub(crate) fn answered(status: StatusCode, headers: &HeaderMap, code: String) -> Self {
        let wait = http::response_retry_after(headers, SystemTime::now());
        let verdict = aws::error_code(&code, Some(status.as_u16())).with_retry_after(wait);
        Self::Answered { status, code, verdict }
    }

    fn unanswered(error: &reqwest::Error) -> Classification {
        if error.is_timeout() {
            io::kind(ErrorKind::TimedOut)
        } else {
            // A connection that the service closes before it has answered leaves no I/O error in the chain.
            chain::io(error).unwrap_or(io::kind(ErrorKind::ConnectionAborted))
        }
    }
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
