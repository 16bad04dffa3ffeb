//! The error of a request.

use super::ErrorResponse;
use http::{Method, StatusCode};
use retry_core::TimedOut;
use retry_core::classify::{Classification, http::idempotent_method};
use std::error::Error;
use std::fmt;

/// The error of a request: an error response, an error `E` of the client, or a time limit that was exceeded.
///
/// Each module of a client names this type for its own error, and gives it a `From` of that error, which classifies it.
/// `From<TimedOut>` makes the options `attempt_timeout`, `max_time` and `deadline` work.
#[derive(Clone, Debug)]
pub struct ClientError<E> {
    pub(super) verdict: Classification,
    cause: Cause<E>,
}

#[derive(Clone, Debug)]
enum Cause<E> {
    Response(ErrorResponse),
    Client(E),
    TimedOut(TimedOut),
}

impl<E> ClientError<E> {
    pub(crate) fn classified(error: E, verdict: Classification) -> Self {
        Self { verdict, cause: Cause::Client(error) }
    }

    /// Returns the error response, if there was one.
    pub fn response(&self) -> Option<&ErrorResponse> {
        if let Cause::Response(response) = &self.cause { Some(response) } else { None }
    }

    /// Returns the status of the error response, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        self.response().map(ErrorResponse::status)
    }

    /// Returns the client's own error, if the client failed.
    pub fn client_error(&self) -> Option<&E> {
        if let Cause::Client(error) = &self.cause { Some(error) } else { None }
    }

    /// Returns the time limit that was exceeded, if one was. The client's own timeouts are
    /// [errors of the client](ClientError::client_error).
    pub fn timed_out(&self) -> Option<TimedOut> {
        if let Cause::TimedOut(error) = &self.cause { Some(*error) } else { None }
    }

    /// Returns the classification.
    pub fn classification(&self) -> Classification {
        self.verdict
    }

    /// Takes the method of the request into account: if it is [idempotent](idempotent_method), a *maybe* becomes a
    /// *yes*.
    ///
    /// Errors and responses don't tell the method. Use this in a function that is called with different ones; otherwise
    /// the option `idempotent` of the function is simpler.
    #[must_use]
    pub fn for_method(mut self, method: &Method) -> Self {
        self.verdict = self.verdict.idempotent(idempotent_method(method.as_str()));
        self
    }
}

impl<E> From<ErrorResponse> for ClientError<E> {
    fn from(response: ErrorResponse) -> Self {
        Self { verdict: response.verdict, cause: Cause::Response(response) }
    }
}

impl<E> From<TimedOut> for ClientError<E> {
    fn from(error: TimedOut) -> Self {
        Self { verdict: Classification::of(&error), cause: Cause::TimedOut(error) }
    }
}

impl<E: fmt::Display> fmt::Display for ClientError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Response(response) => response.fmt(f),
            Cause::Client(error) => error.fmt(f),
            Cause::TimedOut(error) => error.fmt(f),
        }
    }
}

/// The message is that of the cause, so the source is the cause's own.
impl<E: Error + 'static> Error for ClientError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Cause::Client(error) = &self.cause { error.source() } else { None }
    }
}

super::forward_to_verdict!(ClientError<E>);
