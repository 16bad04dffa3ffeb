//! The error of a call.

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
use crate::http::ErrorResponse;
use retry_core::TimedOut;
use retry_core::classify::Classification;
use std::error::Error;
use std::fmt;

/// The error of a call: an error `E` of the client, a time limit that was exceeded, or with reqwest an error response.
///
/// It implements `From<TimedOut>`, which the options `attempt_timeout`, `max_time` and `deadline` need, and which a
/// client's own error lacks. The module of each client has an alias of this type for the client's error, and a `From` of
/// that error, which classifies it. So `?` works, and no policy is needed:
///
/// ```
/// # #[cfg(feature = "redis1")]
/// # mod example {
/// use retry_clients::redis1::ClientError;
/// use retry_core::{PatientRetryStrategy, retryable};
///
/// static CACHE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// #[retryable(strategy = CACHE, idempotent, blocking, max_time = "2s")]
/// fn get(redis: &redis::Client, key: &str) -> Result<String, ClientError> {
///     let mut connection = redis.get_connection()?;
///     Ok(redis::cmd("GET").arg(key).query(&mut connection)?)
/// }
/// # }
/// ```
///
/// For a client without a module, [`new`](ClientError::new) takes the classification.
#[derive(Clone, Debug)]
pub struct ClientError<E> {
    pub(crate) verdict: Classification,
    pub(crate) cause: Cause<E>,
}

#[derive(Clone, Debug)]
pub(crate) enum Cause<E> {
    #[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
    Response(ErrorResponse),
    Client(E),
    TimedOut(TimedOut),
}

impl<E> ClientError<E> {
    /// Creates the error of a call that failed with an error of the client.
    ///
    /// For a client with a module, use `From` instead.
    ///
    /// ```
    /// use retry_clients::ClientError;
    /// use retry_core::classify::{Classification, io};
    /// use retry_core::{PatientRetryStrategy, RetrySafety, retryable};
    /// use std::net::TcpStream;
    ///
    /// static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// #[retryable(strategy = SERVER, blocking, max_time = "10s")]
    /// fn connect(address: &str) -> Result<TcpStream, ClientError<std::io::Error>> {
    ///     TcpStream::connect(address).map_err(|error| {
    ///         let verdict = io::known(&error).unwrap_or(Classification::new(RetrySafety::No));
    ///         ClientError::new(error, verdict)
    ///     })
    /// }
    /// ```
    pub const fn new(error: E, classification: Classification) -> Self {
        Self { verdict: classification, cause: Cause::Client(error) }
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
}

impl<E> From<TimedOut> for ClientError<E> {
    fn from(error: TimedOut) -> Self {
        Self { verdict: Classification::of(&error), cause: Cause::TimedOut(error) }
    }
}

impl<E: fmt::Display> fmt::Display for ClientError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            #[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
            Cause::Response(response) => response.fmt(f),
            Cause::Client(error) => error.fmt(f),
            Cause::TimedOut(error) => error.fmt(f),
        }
    }
}

/// The message is the message of the cause, so the source is the source of the cause.
impl<E: Error + 'static> Error for ClientError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Cause::Client(error) = &self.cause { error.source() } else { None }
    }
}

crate::forward::to_verdict!(ClientError<E>);

/// The `ClientError` of a module, for the error `$error` of the client `$client`.
#[allow(unused_macros, reason = "not each feature is that of a client which uses it")]
macro_rules! of_client {
    ($client:literal, $error:ty) => {
        #[doc = concat!("The error of a call of ", $client, ": the client's own error, or a time limit that was exceeded.")]
        ///
        /// A function with `max_time`, `deadline` or `attempt_timeout` returns it in place of the client's own error.
        /// `?` converts the client's error, and classifies it by the [table](self).
        pub type ClientError = $crate::ClientError<$error>;

        impl From<$error> for ClientError {
            fn from(error: $error) -> Self {
                let verdict = classify(&error);
                Self::new(error, verdict)
            }
        }
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use of_client;
