//! A transport that retries the requests of opendal.
//!
//! This is the place for it: here are the status and the headers of an answer, which opendal's errors don't have, and a request
//! that is cheap to clone. All state of a call, such as that of a writer, is above.

use super::STORE;
use http::{Method, Request, Response};
use opendal::{Buffer, ErrorKind, HttpBody, HttpTransport, Result};
use retry_clients::http as by_http;
use retry_core::classify::Classification;
use retry_core::{RetryDirective, RetryPolicy, RetrySafety, StandardRetryPolicy, retry};
use std::time::SystemTime;

/// Retries the requests of another transport.
pub(crate) struct Retrying<T>(pub(crate) T);

impl<T: HttpTransport> HttpTransport for Retrying<T> {
    async fn fetch(&self, request: Request<Buffer>) -> Result<Response<HttpBody>> {
        let policy = Policy(StandardRetryPolicy::new().idempotent(is_idempotent(&request)));
        retry(&STORE, || self.0.fetch(request.clone())).policy(policy).name("opendal").run().await
    }
}

/// Returns whether a request may be carried out twice. It may unless it writes on a condition.
fn is_idempotent<T>(request: &Request<T>) -> bool {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    let has = |name| request.headers().contains_key(name);
    is_read || !(has("if-match") || has("if-none-match"))
}

/// The policy of one request. The body of an answer is a stream, so an error code in it is not seen.
struct Policy(StandardRetryPolicy);

impl RetryPolicy<Result<Response<HttpBody>>> for Policy {
    fn evaluate(&self, outcome: &Result<Response<HttpBody>>) -> RetryDirective {
        match outcome {
            Ok(answer) if answer.status().as_u16() < 400 => RetryDirective::succeed(),
            Ok(answer) => {
                self.0.evaluate_error(&by_http::response(answer.status(), answer.headers(), SystemTime::now()))
            }
            Err(error) => self.0.evaluate_error(&classify(error)),
        }
    }
}

/// Opendal says what is temporary, and not whether a request was carried out.
pub(crate) fn classify(error: &opendal::Error) -> Classification {
    match error.kind() {
        ErrorKind::RateLimited => Classification::new(RetrySafety::Yes).with_throttling(),
        _ if error.is_temporary() => Classification::new(RetrySafety::Maybe),
        _ => Classification::new(RetrySafety::No),
    }
}
