//! The retry code of the program: how its errors are classified, and which calls are retried.

use crate::http::Http;
use crate::service::{DESTINATION, SOURCE};
use bytes::Bytes;
use reqwest::{Method, StatusCode};
use retry_clients::reqwest013::ClientError;
use retry_core::classify::{Classification, aws};
use retry_core::{ErasedStrategy, RetryInfo, retryable};

/// Why an attempt failed, and whether a retry is safe.
#[derive(Debug, thiserror::Error, RetryInfo)]
pub(crate) enum StoreError {
    /// The service answered with an error status and an error code.
    #[error("the service answered {status} {code}")]
    Answered {
        status: StatusCode,
        code: String,
        #[retry(transparent)]
        verdict: Classification,
    },

    /// No answer, an incomplete one, or one without an error code.
    #[error("no usable answer")]
    Failed(
        #[source]
        #[retry(transparent)]
        ClientError,
    ),
}

impl<E: Into<ClientError>> From<E> for StoreError {
    /// Classifies an error response by its error code, if it has one. The code is more precise than the status: S3
    /// throttles with a 503, which has other causes, too.
    fn from(error: E) -> Self {
        let error = error.into();
        let answer = error.response().and_then(|response| Some((response.status(), error_code(&response.text())?)));
        let Some((status, code)) = answer else { return Self::Failed(error) };
        let wait = error.classification().retry_after();
        let verdict = aws::error_code(&code, Some(status.as_u16())).with_retry_after(wait);
        Self::Answered { status, code, verdict }
    }
}

/// Returns the error code in a body of the form that S3 uses.
fn error_code(body: &str) -> Option<String> {
    let (code, _) = body.split_once("<Code>")?.1.split_once("</Code>")?;
    Some(code.to_owned())
}

/// A client of the object store.
#[derive(Debug)]
pub(crate) struct Client {
    /// Sends single requests, without retries.
    pub(crate) http: Http,
    /// The strategy of reads. All of them share it, because they use the same store.
    pub(crate) reads: ErasedStrategy,
    /// The strategy of writes, which can be that of reads, too, unless it learns a limit.
    pub(crate) writes: ErasedStrategy,
}

impl Client {
    /// Reads an object.
    #[retryable(strategy = self.reads, idempotent, context = attempt)]
    async fn get(&self, bucket: &str, key: &str) -> Result<Bytes, StoreError> {
        let response = self.http.send(&attempt, Method::GET, bucket, key, Bytes::new()).await?;
        Ok(response.bytes().await?)
    }

    /// Writes an object.
    #[retryable(strategy = self.writes, idempotent, context = attempt)]
    async fn put(&self, bucket: &str, key: &str, content: &Bytes) -> Result<(), StoreError> {
        self.http.send(&attempt, Method::PUT, bucket, key, content.clone()).await?;
        Ok(())
    }

    /// Copies one object. The two calls are retried separately: a failed write does not repeat the read.
    pub(crate) async fn copy(&self, key: &str) -> Result<(), StoreError> {
        let content = self.get(SOURCE, key).await?;
        self.put(DESTINATION, key, &content).await
    }
}
