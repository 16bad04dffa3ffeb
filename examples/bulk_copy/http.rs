//! One request and its answer: nothing here is retried.

use crate::client::StoreError;
use crate::count::Counter;
use bytes::Bytes;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, Response, StatusCode};
use std::time::Duration;

/// Speaks to the object store, and counts the requests.
#[derive(Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
    base: String,
    requests: Counter,
}

impl Http {
    /// Requests to the store at `base`, which fail if they take longer than the timeout, their answers included.
    pub(crate) fn new(base: String, timeout: Duration) -> reqwest::Result<Self> {
        // It must not retry by itself: such requests would be hidden from the strategy and from the count.
        let client = reqwest::Client::builder().timeout(timeout).retry(reqwest::retry::never()).build()?;
        Ok(Self { client, base, requests: Counter::default() })
    }

    /// Sends a request. Any answer but a success is an error.
    pub(crate) async fn send(
        &self,
        method: Method,
        bucket: &str,
        key: &str,
        content: Bytes,
    ) -> Result<Response, StoreError> {
        self.requests.add();
        let url = format!("{}/{bucket}/{key}", self.base);
        checked(self.client.request(method, url).body(content).send().await?).await
    }

    /// How many requests were sent.
    pub(crate) fn requests(&self) -> u32 {
        self.requests.get()
    }
}

/// Passes a success on, and makes an error of anything else.
async fn checked(response: Response) -> Result<Response, StoreError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Err(match status {
        StatusCode::TOO_MANY_REQUESTS => StoreError::SlowDown { wait },
        // S3 turns requests away with a 503, which by itself could mean anything: the code in the body tells.
        StatusCode::SERVICE_UNAVAILABLE if response.text().await?.contains("<Code>SlowDown</Code>") => {
            StoreError::SlowDown { wait }
        }
        _ if status.is_server_error() => StoreError::Server(status),
        _ => StoreError::Refused(status),
    })
}

/// A request that got no answer, or not all of it.
impl From<reqwest::Error> for StoreError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() { Self::Timeout } else { Self::Connection(error) }
    }
}
