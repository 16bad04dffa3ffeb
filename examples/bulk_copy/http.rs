//! Single requests, without retries.

use crate::client::StoreError;
use crate::count::Counter;
use bytes::Bytes;
use reqwest::{Method, Response, redirect};
use retry_clients::reqwest013::ResponseExt;
use retry_core::{AttemptContext, RetryErrorType};
use std::time::Duration;

/// The header that tells the service that a request is a retry. Its value is the class of the failure before it.
pub(crate) const RETRY: &str = "x-retry";

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
            // Redirects are not followed: the docs of `reqwest013` explain why.
            .redirect(redirect::Policy::none())
            .build()?;
        Ok(Self { client, base, requests: Counter::default() })
    }

    /// Sends a request. A status of 400 or above is an error.
    pub(crate) async fn send(
        &self,
        attempt: &AttemptContext,
        method: Method,
        bucket: &str,
        key: &str,
        content: Bytes,
    ) -> Result<Response, StoreError> {
        self.requests.add();
        let url = format!("{}/{bucket}/{key}", self.base);
        let mut request = self.client.request(method, url).body(content);
        if let Some(failure) = attempt.previous_failure() {
            request = request.header(RETRY, failure.error_type().map_or("unknown", RetryErrorType::as_str));
        }
        Ok(request.send().await?.error_for_response().await?)
    }

    /// Returns the number of requests sent.
    pub(crate) fn requests(&self) -> u32 {
        self.requests.get()
    }
}
