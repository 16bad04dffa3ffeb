//! The HTTP part of a request's error.

use super::ErrorResponse;
use crate::ClientError;
use crate::client_error::Cause;
use http::{Method, StatusCode};
use retry_core::classify::http::idempotent_method;

impl<E> ClientError<E> {
    /// Returns the error response, if there was one.
    pub fn response(&self) -> Option<&ErrorResponse> {
        if let Cause::Response(response) = &self.cause { Some(response) } else { None }
    }

    /// Returns the status of the error response, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        self.response().map(ErrorResponse::status)
    }

    /// Takes the method of the request into account: if it is [idempotent](idempotent_method), a *maybe* becomes a
    /// *yes*.
    ///
    /// Errors and responses don't contain the method. Use this in a function that is called with different methods;
    /// otherwise the option `idempotent` of the function is simpler.
    #[must_use]
    pub fn for_method(mut self, method: &Method) -> Self {
        self.verdict = self.verdict.idempotent(idempotent_method(method.as_str()));
        self
    }
}

impl<E> From<ErrorResponse> for ClientError<E> {
    fn from(response: ErrorResponse) -> Self {
        Self::answered(response)
    }
}
