//! An error response of a server.

use http::header::DATE;
use http::{HeaderMap, StatusCode};
use retry_core::RetrySafety;
use retry_core::classify::{self, Classification};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::SystemTime;

/// An error response of a server: its status, URL and headers, and the beginning of its body.
///
/// As a [`RetryInfo`](trait@retry_core::RetryInfo), it is classified by its status and headers when it arrives; see
/// [`http::response`](super::response), or by a [function](super::ErrorForResponse::classify_with) that also sees the body. So a `Retry-After` counts from the arrival, or from the server's own `Date`.
#[derive(Clone, PartialEq, Eq)]
pub struct ErrorResponse {
    pub(super) verdict: Classification,
    /// Boxed, because a large error makes every result large.
    pub(super) parts: Box<Parts>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Parts {
    status: StatusCode,
    url: String,
    headers: HeaderMap,
    pub(super) body: Body,
}

/// The beginning of a body.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) complete: bool,
}

impl ErrorResponse {
    /// Creates the error of a response that arrived just now, without its body.
    pub(super) fn new(status: StatusCode, url: String, headers: HeaderMap) -> Self {
        let verdict = super::response(status, &headers, SystemTime::now());
        Self { verdict, parts: Box::new(Parts { status, url, headers, body: Body::default() }) }
    }

    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.parts.status
    }

    /// Returns the URL that answered. After a redirect, this is not the URL of the request.
    pub fn url(&self) -> &str {
        &self.parts.url
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Returns the time at which the server answered, by its own clock: the header `Date`. Returns `None` if the header
    /// is missing or malformed.
    pub fn server_time(&self) -> Option<SystemTime> {
        httpdate::parse_http_date(self.headers().get(DATE)?.to_str().ok()?).ok()
    }

    /// Returns the beginning of the body.
    pub fn body(&self) -> &[u8] {
        &self.parts.body.bytes
    }

    /// Returns whether [`body`](ErrorResponse::body) is the whole body. It is not if the body was longer than the limit,
    /// took too long, or was cut short.
    pub fn is_body_complete(&self) -> bool {
        self.parts.body.complete
    }

    /// Returns the beginning of the body as text. Bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.body())
    }

    /// Returns whether the request may have been carried out, although its answer is an error.
    ///
    /// This is so if the classification is *maybe*. It is also so if the status is *maybe* in the
    /// [table](retry_core::classify::http), such as 500, 502 and 504, unless the classification is throttling or a conflict, for which the server
    /// did nothing. So a function that calls the repetition of a 500 harmless makes no difference.
    pub fn is_outcome_unknown(&self) -> bool {
        let is_maybe = |verdict: Classification| verdict.is_retry_safe() == RetrySafety::Maybe;
        let is_turned_away = self.verdict.is_throttle() || self.verdict.is_conflict();
        is_maybe(self.verdict) || (!is_turned_away && is_maybe(classify::http::status(self.status().as_u16())))
    }

    /// Returns the classification.
    pub fn classification(&self) -> Classification {
        self.verdict
    }
}

impl fmt::Debug for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorResponse")
            .field("status", &self.parts.status)
            .field("url", &self.parts.url)
            .field("headers", &self.parts.headers)
            .field("body", &self.text())
            .field("is_body_complete", &self.parts.body.complete)
            .field("classification", &self.verdict)
            .finish()
    }
}

/// Shows the status and the URL. The query is left out because it may hold secrets, and the body because it is foreign
/// text of any length.
impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url();
        let shown = url.split_once('?').map_or(url, |(before, _)| before);
        write!(f, "{shown} answered {}", self.parts.status)
    }
}

impl Error for ErrorResponse {}

crate::forward::to_verdict!(
    ErrorResponse,
    fn as_error(&self) -> Option<&(dyn Error + '_)> {
        Some(self)
    }
);
