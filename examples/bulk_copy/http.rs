//! Single requests, without retries.

use crate::client::StoreError;
use crate::count::Counter;
use bytes::Bytes;
use reqwest::{Method, Response, redirect};
use std::time::Duration;

/// An HTTP client of the object store that counts its requests.
#[derive(Debug)]
pub(crate) struct Http {
    client: reqwest::Client,
    base: String,
    requests: Counter,
}

impl Http {
    /// Creates a client of the store at `base`. The timeout covers a request and its whole answer.
    pub(crate) fn new(base: String, timeout: Duration) -> reqwest::Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(timeout)
            // The client's own retries are off: neither the strategy nor the count would see them.
            .retry(reqwest::retry::never())
            // Redirects are not followed: `reqwest_errors` explains why.
            .redirect(redirect::Policy::none())
            .build()?;
        Ok(Self { client, base, requests: Counter::default() })
    }

    /// Sends a request. Any status but a success is an error.
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

    /// Returns the number of requests sent.
    pub(crate) fn requests(&self) -> u32 {
        self.requests.get()
    }
}

/// Returns the response if its status is a success, and an error otherwise.
async fn checked(response: Response) -> Result<Response, StoreError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let headers = response.headers().clone();
    // If the body is cut short, the status alone classifies the response.
    let body = response.text().await.unwrap_or_default();
    Err(StoreError::answered(status, &headers, error_code(&body).to_owned()))
}

/// Returns the error code in a body of the form that S3 uses, or an empty string.
fn error_code(body: &str) -> &str {
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map_or("", |(code, _)| code)
}
