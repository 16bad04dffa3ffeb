//! Turning a response with an error status into an error.

use super::error_response::{Body, ErrorResponse};
use http::{HeaderMap, StatusCode};
use retry_core::classify::Classification;
use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

/// The default of [`ErrorForResponse::body_limit`].
const BODY_LIMIT: usize = 16 * 1024;

/// The default of [`ErrorForResponse::body_timeout`].
const BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// Adds [`error_for_response`](ResponseExt::error_for_response) to the responses of clients. This trait is sealed.
///
#[cfg_attr(feature = "reqwest013", doc = "```")]
#[cfg_attr(not(feature = "reqwest013"), doc = "```ignore")]
/// use reqwest::Client;
/// use retry_clients::reqwest013::{ClientError, ResponseExt};
///
/// async fn get(http: &Client, url: &str) -> Result<String, ClientError> {
///     let response = http.get(url).send().await?;
///     Ok(response.error_for_response().body_limit(1024).await?.text().await?)
/// }
/// ```
pub trait ResponseExt: Response {
    /// Turns a response into an error if its status is 400 or above. A redirect that the client did not follow is not an
    /// error.
    ///
    /// Unlike the client's own `error_for_status`, the error keeps the headers, so that a `Retry-After` has an effect,
    /// and the beginning of the body. By default it reads at most 16 KiB of the body, and for at most one second. If the
    /// body is longer, slower or cut short, the error has the part that arrived. If the rest of a body is not read, its
    /// connection is not reused.
    ///
    /// Each `ClientError` of reqwest has a `From` of this error. Your own enum needs one, too:
    ///
    #[cfg_attr(feature = "reqwest013", doc = "```")]
    #[cfg_attr(not(feature = "reqwest013"), doc = "```ignore")]
    /// use reqwest::Client;
    /// use retry_clients::reqwest013::{self, ErrorResponse, ResponseExt};
    /// use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retryable};
    ///
    /// #[derive(Debug, RetryInfo)]
    /// pub enum ShopError {
    ///     /// The status, the headers and the beginning of the body, and what they mean for a retry.
    ///     #[retry(transparent)]
    ///     Answered(ErrorResponse),
    ///     #[retry(with = reqwest013::classify)]
    ///     Http(reqwest::Error),
    ///     #[retry(transparent)]
    ///     NoAnswer(TimedOut),
    ///     SoldOut,
    /// }
    ///
    /// // Or `#[from]` of thiserror.
    /// impl From<ErrorResponse> for ShopError {
    ///     fn from(error: ErrorResponse) -> Self {
    ///         Self::Answered(error)
    ///     }
    /// }
    /// # impl From<reqwest::Error> for ShopError {
    /// #     fn from(error: reqwest::Error) -> Self { Self::Http(error) }
    /// # }
    /// # impl From<TimedOut> for ShopError {
    /// #     fn from(error: TimedOut) -> Self { Self::NoAnswer(error) }
    /// # }
    ///
    /// static SHOP: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// #[retryable(strategy = SHOP, idempotent, max_time = "10s")]
    /// pub async fn stock(http: &Client, url: &str) -> Result<String, ShopError> {
    ///     let text = http.get(url).send().await?.error_for_response().await?.text().await?;
    ///     if text == "0" { Err(ShopError::SoldOut) } else { Ok(text) }
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if an error response arrives and the runtime of tokio has no timers, because the body is read with a
    /// timeout.
    fn error_for_response(self) -> ErrorForResponse<Self> {
        ErrorForResponse { response: self, body_limit: BODY_LIMIT, body_timeout: BODY_TIMEOUT, classify: None }
    }
}

impl<R: Response> ResponseExt for R {}

/// The check that [`ResponseExt::error_for_response`] returns. It runs when this is awaited.
#[derive(Debug)]
#[must_use = "the response is checked when this is awaited"]
pub struct ErrorForResponse<R> {
    response: R,
    body_limit: usize,
    body_timeout: Duration,
    classify: Option<fn(&ErrorResponse) -> Classification>,
}

impl<R> ErrorForResponse<R> {
    /// Sets the maximum number of bytes of the body to keep. With 0, the body is not read.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Sets how long to read the body.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Sets a function that classifies the error, in place of
    /// [`http::response`](super::response). It is called once, when the body has been read, and
    /// its answer is used everywhere.
    ///
    /// Use it for services that put an error code into the body, such as those for
    /// [language models](crate::llm):
    ///
    /// ```
    /// # #[cfg(feature = "reqwest013")]
    /// # mod example {
    /// use reqwest::{Client, Response};
    /// use retry_clients::llm;
    /// use retry_clients::reqwest013::{ClientError, ErrorResponse, ResponseExt};
    /// use retry_core::classify::Classification;
    /// use retry_core::{PatientRetryStrategy, retryable};
    /// use serde_json::Value;
    /// use std::time::SystemTime;
    ///
    /// static MODEL: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// // A body that is cut short or not JSON has no code, and the status and the headers decide.
    /// fn openai(error: &ErrorResponse) -> Classification {
    ///     let body: Value = serde_json::from_slice(error.body()).unwrap_or_default();
    ///     let text = |field| body["error"][field].as_str().unwrap_or_default();
    ///     let known = llm::known_openai_error(text("code"), text("message"));
    ///     llm::response(error.status(), error.headers(), known, SystemTime::now())
    /// }
    ///
    /// #[retryable(strategy = MODEL, idempotent)]
    /// async fn open(http: &Client, url: &str, prompt: &str) -> Result<Response, ClientError> {
    ///     let response = http.post(url).body(prompt.to_owned()).send().await?;
    ///     Ok(response.error_for_response().classify_with(openai).await?)
    /// }
    /// # }
    /// ```
    ///
    /// For Anthropic, the code is `body["error"]["type"]`, and [`llm::anthropic`](crate::llm::anthropic) has the
    /// table. For Google, [`llm::known_google`](crate::llm::known_google) takes `body["error"]["status"]` and a
    /// delay from `body["error"]["details"]`, and [`llm::known_google_quota`](crate::llm::known_google_quota) the ids of the
    /// quotas there.
    ///
    /// Some services repeat the wait in the body, or have it only there. Discord's `retry_after` is a number of seconds with a
    /// fraction. Slack's wait is in the header `Retry-After`, but some of its methods say `ratelimited` in the body of a success:
    ///
    /// ```
    /// use http::{HeaderMap, StatusCode};
    /// use retry_clients::http::{response, retry_after};
    /// use retry_core::RetrySafety;
    /// use retry_core::classify::Classification;
    /// use serde_json::{Value, json};
    /// use std::time::{Duration, SystemTime};
    ///
    /// fn discord(status: StatusCode, headers: &HeaderMap, body: &Value) -> Classification {
    ///     let now = SystemTime::now();
    ///     let verdict = response(status, headers, now);
    ///     // Reads a fraction, and ignores what is not a number of seconds.
    ///     let wait = retry_after(&body["retry_after"].to_string(), None, now);
    ///     // `None` is less than any wait.
    ///     verdict.with_retry_after(verdict.retry_after().max(wait))
    /// }
    ///
    /// /// Returns `None` for a success.
    /// fn slack(status: StatusCode, headers: &HeaderMap, body: &Value) -> Option<Classification> {
    ///     // `ok` is a boolean in each answer, and `error` a word if it is false.
    ///     match body["error"].as_str() {
    ///         Some("ratelimited" | "rate_limited") => {
    ///             Some(response(StatusCode::TOO_MANY_REQUESTS, headers, SystemTime::now()))
    ///         }
    ///         Some(_) if status.is_success() => Some(Classification::new(RetrySafety::No)),
    ///         _ if status.is_success() => None,
    ///         _ => Some(response(status, headers, SystemTime::now())),
    ///     }
    /// }
    ///
    /// let (status, mut headers) = (StatusCode::TOO_MANY_REQUESTS, HeaderMap::new());
    /// let body = json!({"message": "You are being rate limited.", "retry_after": 64.57});
    /// let wait = discord(status, &headers, &body).retry_after();
    /// assert_eq!(wait, Some(Duration::from_millis(64_570)));
    ///
    /// headers.insert("retry-after", "30".parse().unwrap());
    /// let verdict = slack(StatusCode::OK, &headers, &json!({"ok": false, "error": "ratelimited"}));
    /// assert_eq!(verdict.and_then(|it| it.retry_after()), Some(Duration::from_secs(30)));
    /// assert_eq!(slack(StatusCode::OK, &headers, &json!({"ok": true})), None);
    /// ```
    pub fn classify_with(mut self, classify: fn(&ErrorResponse) -> Classification) -> Self {
        self.classify = Some(classify);
        self
    }
}

impl<R: Response> IntoFuture for ErrorForResponse<R> {
    type Output = Result<R, ErrorResponse>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(check(self))
    }
}

async fn check<R: Response>(check: ErrorForResponse<R>) -> Result<R, ErrorResponse> {
    let ErrorForResponse { mut response, body_limit, body_timeout, classify } = check;
    let status = response.status();
    if status.as_u16() < 400 {
        return Ok(response);
    }
    let headers = std::mem::take(response.headers_mut());
    let mut error = ErrorResponse::new(status, response.url(), headers);
    // If the time is up, the error keeps the part that has arrived, as it does if the body is cut short.
    _ = tokio::time::timeout(body_timeout, read(&mut response, &mut error.parts.body, body_limit)).await;
    if let Some(classify) = classify {
        error.verdict = classify(&error);
    }
    Err(error)
}

async fn read<R: Response>(response: &mut R, body: &mut Body, limit: usize) {
    if limit == 0 {
        return;
    }
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let chunk = chunk.as_ref();
                let room = limit - body.bytes.len();
                body.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return;
                }
            }
            Ok(None) => {
                body.complete = true;
                return;
            }
            Err(_) => return,
        }
    }
}

/// A client's response. It seals [`ResponseExt`].
#[expect(unnameable_types, reason = "a seal")]
pub trait Response: Send + Sized + 'static {
    /// The error of the client.
    type Error: Send;

    /// Returns the status.
    fn status(&self) -> StatusCode;

    /// Returns the URL.
    fn url(&self) -> String;

    /// Returns the headers.
    fn headers_mut(&mut self) -> &mut HeaderMap;

    /// Reads the next piece of the body, if there is one.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<impl AsRef<[u8]> + Send>, Self::Error>> + Send;
}
