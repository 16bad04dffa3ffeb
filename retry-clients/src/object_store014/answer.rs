//! The answer to an attempt, with as much of its body as belongs to the attempt.

use super::request;
use crate::http;
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
            let plain = http::response(head.status, &head.headers, SystemTime::now());
            Some(by_code(plain, head.status.as_u16(), &body))
        } else if self.can_hide_error {
            hidden(head.status.as_u16(), &body)
        } else {
            None
        };
        Ok(Answer { response: HttpResponse::from_parts(head, body.into()), error })
    }
}

/// Classifies an error response by the code in its body. Without a known code, the status and the headers decide.
fn by_code(plain: Classification, status: u16, body: &[u8]) -> Classification {
    let text = String::from_utf8_lossy(body);
    let Some(code) = codes(&text).next() else { return plain };
    let known = if aws::known_code(code).is_some() {
        aws::error_code(code, Some(status))
    } else if code == "ServerBusy" {
        // Azure sends it when requests, or bytes, exceed the limits of an account.
        Classification::new(RetrySafety::Yes).with_throttling().with_fault(ErrorFault::Server)
    } else {
        return plain;
    };
    known.with_retry_after(plain.retry_after())
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
