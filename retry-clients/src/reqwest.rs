//! What all versions of reqwest have in common.

use crate::{connect, hyper1, refused};
use http::StatusCode;
use retry_core::RetrySafety;
use retry_core::classify::{Classification, chain};
use std::error::Error;

/// The properties of an error that determine its classification.
pub(crate) struct Answers {
    pub(crate) is_connect: bool,
    pub(crate) is_timeout: bool,
    pub(crate) status: Option<StatusCode>,
    pub(crate) is_request: bool,
}

/// Classifies an error by the table in the docs of each version.
pub(crate) fn classify<E: Error + 'static>(error: &E, answers: &Answers) -> Classification {
    // Otherwise, the response has begun.
    let of_hyper = if answers.is_request { refused::link } else { hyper1::link };
    let verdict = if answers.is_connect {
        connect::classify(error)
    } else if answers.is_timeout {
        Classification::new(RetrySafety::Maybe)
    } else if let Some(status) = answers.status {
        status.into()
    } else if let Some(verdict) = chain::first_known(error, of_hyper) {
        verdict
    } else if answers.is_request {
        Classification::new(RetrySafety::Maybe)
    } else {
        Classification::new(RetrySafety::No)
    };
    // A connection attempt can time out, too.
    if answers.is_timeout { verdict.with_timeout() } else { verdict }
}

/// The items of the module of one version, for the crate `$reqwest`.
macro_rules! version {
    ($reqwest:ident) => {
        use ::http::{HeaderMap, StatusCode};
        use retry_core::ChainPolicy;
        use retry_core::classify::Classification;
        use $crate::http::{self, ResponsePolicy};
        use $reqwest::{Error, Response};

        pub use $crate::http::{ErrorResponse, ResponseExt};

        /// The error of a request with reqwest: an error response, an error of reqwest, or a time limit that was
        /// exceeded. Reqwest's own error is classified by the [table](self).
        pub type ClientError = $crate::ClientError<Error>;

        /// Classifies an error by the [table](self).
        pub fn classify(error: &Error) -> Classification {
            $crate::reqwest::classify(
                error,
                &$crate::reqwest::Answers {
                    is_connect: error.is_connect(),
                    is_timeout: error.is_timeout(),
                    status: error.status(),
                    is_request: error.is_request(),
                },
            )
        }

        /// Classifies an error of reqwest, a [`ClientError`] or an [`ErrorResponse`] that is a link of a chain, for
        /// [`ChainPolicy::also`]. Returns `None` for any other link.
        pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
            link.downcast_ref()
                .map(classify)
                .or_else(|| link.downcast_ref::<ClientError>().map(ClientError::classification))
                .or_else(|| link.downcast_ref::<ErrorResponse>().map(ErrorResponse::classification))
        }

        /// Returns a [`ChainPolicy`] that knows the errors of reqwest, by [`link`].
        pub const fn policy<K>() -> ChainPolicy<K> {
            ChainPolicy::new().also(link)
        }

        /// Returns the [policy](ResponsePolicy) for the outcome of a request, where an error status is an `Ok`: for a layer of
        /// `tower` around reqwest's client. It knows the errors of reqwest, by [`link`].
        pub const fn response_policy<K>() -> ResponsePolicy<K> {
            ResponsePolicy::new().also(link)
        }

        impl From<Error> for ClientError {
            fn from(error: Error) -> Self {
                let verdict = classify(&error);
                Self::new(error, verdict)
            }
        }

        impl http::Response for Response {
            type Error = Error;

            fn status(&self) -> StatusCode {
                self.status()
            }

            fn url(&self) -> String {
                self.url().to_string()
            }

            fn headers_mut(&mut self) -> &mut HeaderMap {
                self.headers_mut()
            }

            fn chunk(&mut self) -> impl Future<Output = Result<Option<impl AsRef<[u8]> + Send>, Error>> + Send {
                self.chunk()
            }
        }
    };
}
pub(crate) use version;
