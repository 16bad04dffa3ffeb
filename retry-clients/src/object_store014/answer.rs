//! The answer to an attempt, with as much of its body as belongs to the attempt.

use super::request;
use crate::codes::known_storage;
use crate::http;
use crate::http::responses::{only, with_wait};
use ::http::{HeaderMap, StatusCode};
use hyper::body::{Body as _, Bytes};
use object_store::client::{HttpError, HttpRequest, HttpResponse};
use retry_core::classify::{Classification, aws};
use retry_core::{ErrorFault, RetrySafety};
use std::time::SystemTime;

/// The answer to an attempt.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: HttpResponse,
    /// The classification of an error response.
    pub(super) error: Option<Classification>,
}

/// How to read the answer to a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// Whether the body is the content of an object.
    is_content: bool,
    /// Whether the body of a success can be an error.
    can_hide_error: bool,
    /// The length up to which the content of an object is read.
    limit: u64,
}

impl Reader {
    pub(super) fn new(request: &HttpRequest, limit: u64) -> Self {
        let can_hide_error = !request::is_read(request);
        Self { is_content: request::is_for_content(request), can_hide_error, limit }
    }

    /// Reads the body of a response, if it belongs to the attempt, and classifies an error response.
    ///
    /// # Errors
    ///
    /// The body of a success broke off, or was too slow for the timeouts of the client.
    pub(super) async fn read(self, response: HttpResponse) -> Result<Answer, HttpError> {
        let (head, body) = response.into_parts();
        let is_error = head.status.as_u16() >= 400;
        let is_short = body.size_hint().upper().is_some_and(|length| length <= self.limit);
        if self.is_content && !is_error && !is_short {
            return Ok(Answer { response: HttpResponse::from_parts(head, body), error: None });
        }
        let body = match body.bytes().await {
            Ok(body) => body,
            // The status and the headers are enough to classify it.
            Err(_) if is_error => Bytes::new(),
            Err(error) => return Err(error),
        };
        let error = if is_error {
            Some(by_code(head.status, &head.headers, &body, SystemTime::now()))
        } else if self.can_hide_error {
            hidden(head.status.as_u16(), &body)
        } else {
            None
        };
        Ok(Answer { response: HttpResponse::from_parts(head, body.into()), error })
    }
}

/// The classification of codes that only say that the server failed.
const FAILURE: Classification = Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server);

/// Classifies an error response by its code. Without a known code, the status and the headers decide.
fn by_code(status: StatusCode, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Classification {
    let text = String::from_utf8_lossy(body);
    let of_aws = || codes(&text).next().filter(|code| aws::known_code(code).is_some());
    // A source that is busy makes a copy fail with another status.
    let in_headers =
        || ["x-ms-copy-source-error-code", "x-ms-error-code"].into_iter().filter_map(|name| only(headers, name));
    let of_others = || in_headers().chain(codes(&text)).chain(json_codes(&text)).find_map(known_storage);
    let plain = http::response(status, headers, now);
    if let Some(code) = of_aws() {
        return with_wait(aws::error_code(code, Some(status.as_u16())), headers, now);
    }
    match of_others() {
        // What is gone stays so, whatever the reason.
        Some(_) if status == StatusCode::GONE => plain,
        // The status of a failure of the server says as much, and a `Retry-After` beside it says more.
        Some(known) if known == FAILURE && plain.is_retry_safe() != RetrySafety::No => plain,
        Some(known) => with_wait(known, headers, now),
        None => plain,
    }
}

/// Returns the classification of an error in the body of a success: throttling, or else a failure of the server.
fn hidden(status: u16, body: &[u8]) -> Option<Classification> {
    let text = String::from_utf8_lossy(body);
    let errors = codes(&text).map(|code| {
        let error = aws::error_code(code, Some(status));
        // The table of AWS says that a failure of the server is safe to repeat, whatever the request is.
        let is_failure = aws::known_code(code).is_none() && error.is_retry_safe() == RetrySafety::Yes;
        if is_failure { error.with_safety(RetrySafety::Maybe) } else { error }
    });
    errors.filter(|error| error.is_retry_safe() != RetrySafety::No).max_by_key(Classification::is_throttle)
}

/// Returns the texts of the elements `Code`. Other texts can't contain the tag, because XML escapes it.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split("<Code>").skip(1).filter_map(|rest| rest.split_once("</Code>")).map(|(code, _)| code)
}

/// Returns the texts of the keys `code` and `reason`. Other texts can't contain a key, because JSON escapes its quotes.
fn json_codes(text: &str) -> impl Iterator<Item = &str> {
    let of_key = move |key: &'static str| {
        text.split(key)
            .skip(1)
            .filter_map(|rest| rest.trim_ascii_start().strip_prefix(':')?.trim_ascii_start().strip_prefix('"'))
    };
    of_key("\"reason\"").chain(of_key("\"code\"")).filter_map(|rest| rest.split_once('"')).map(|(code, _)| code)
}
