//! One request and its answer: nothing here is retried.

use crate::client::StoreError;
use crate::count::Counter;
use bytes::Bytes;
use reqwest::{Method, Response, redirect};
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
        let client = reqwest::Client::builder()
            .timeout(timeout)
            // It must not retry by itself: such requests would be hidden from the strategy and from the count.
            .retry(reqwest::retry::never())
            // Nor follow redirects by itself: `reqwest_errors` explains why.
            .redirect(redirect::Policy::none())
            .build()?;
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
    let headers = response.headers().clone();
    // If the body breaks off, the status still tells what happened.
    let body = response.text().await.unwrap_or_default();
    Err(StoreError::answered(status, &headers, error_code(&body).to_owned()))
}

/// The error code in a body, as S3 writes it; empty if there is none.
fn error_code(body: &str) -> &str {
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map_or("", |(code, _)| code)
}
