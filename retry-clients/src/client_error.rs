//! The error of a call.

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
use crate::http::ErrorResponse;
use retry_core::classify::Classification;
use retry_core::{RetrySafety, TimedOut};
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
///
/// # Message
///
/// The client's error is the [source](Error::source), so code that looks through a chain of sources finds it. The message does not repeat
/// it, so print the chain: by `{:#}`, of this error or of an `anyhow::Error` around it. An error response and a time limit have
/// no sources, and are the message themselves.
///
/// ```
/// use retry_clients::ClientError;
/// use retry_core::RetrySafety;
/// use retry_core::classify::Classification;
/// use std::error::Error;
/// use std::io;
///
/// let broken = io::Error::other("the connection broke");
/// let error = ClientError::new(broken, Classification::new(RetrySafety::Maybe));
/// assert_eq!(error.to_string(), "the call failed");
/// assert_eq!(format!("{error:#}"), "the call failed: the connection broke");
/// assert!(error.source().is_some_and(|source| source.is::<io::Error>()));
/// ```
#[derive(Clone, Debug)]
pub struct ClientError<E> {
    pub(crate) verdict: Classification,
    pub(crate) cause: Cause<E>,
    /// Not the safety of `verdict`, which takes the method of the request into account.
    is_outcome_unknown: bool,
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
        let is_outcome_unknown = matches!(classification.is_retry_safe(), RetrySafety::Maybe);
        Self { verdict: classification, cause: Cause::Client(error), is_outcome_unknown }
    }

    /// Creates the error of a call that was answered by an error response.
    #[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
    pub(crate) fn answered(response: ErrorResponse) -> Self {
        let is_outcome_unknown = response.is_outcome_unknown();
        Self { verdict: response.classification(), cause: Cause::Response(response), is_outcome_unknown }
    }

    /// Returns the client's own error, if the client failed.
    pub fn client_error(&self) -> Option<&E> {
        if let Cause::Client(error) = &self.cause { Some(error) } else { None }
    }

    /// Returns the client's own error by value.
    ///
    /// ```
    /// use retry_clients::ClientError;
    /// use retry_core::RetrySafety;
    /// use retry_core::classify::Classification;
    /// use std::io::{self, ErrorKind};
    ///
    /// let refused = io::Error::from(ErrorKind::ConnectionRefused);
    /// let error = ClientError::new(refused, Classification::new(RetrySafety::Yes));
    /// assert_eq!(error.into_client_error().unwrap().kind(), ErrorKind::ConnectionRefused);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns this error unchanged if it is not one of the client.
    pub fn into_client_error(self) -> Result<E, Self> {
        match self.cause {
            Cause::Client(error) => Ok(error),
            #[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
            cause @ Cause::Response(_) => Err(Self { cause, ..self }),
            cause @ Cause::TimedOut(_) => Err(Self { cause, ..self }),
        }
    }

    /// Returns the time limit that was exceeded, if one was. The client's own timeouts are
    /// [errors of the client](ClientError::client_error).
    pub fn timed_out(&self) -> Option<TimedOut> {
        if let Cause::TimedOut(error) = &self.cause { Some(*error) } else { None }
    }

    /// Returns whether the call may have been carried out, although it failed.
    ///
    /// | the call ended with | unknown |
    /// |---|---|
    /// | an error of the client that is *maybe* by the table of its module: a timeout, a connection that broke, an answer that was cut short | yes |
    /// | an error of the client that is *yes* or *no*: nothing was sent, or the answer arrived | no |
    /// | an error response | by its own `is_outcome_unknown`: yes for a 500, 502 or 504, no for a 404 or 429 |
    /// | a time limit, or a [stop](retry_core::Stop), that cut an attempt | yes |
    /// | a time limit, or a stop, before the first attempt | no |
    ///
    /// This is about the last attempt. With `idempotent = false`, no attempt before it may have been carried out, so it holds for the
    /// whole call. With `idempotent`, an earlier attempt may have been carried out, which does no harm. The method of the request makes
    /// no difference.
    ///
    /// ```
    /// # #[cfg(feature = "redis1")]
    /// # mod example {
    /// use retry_clients::redis1::ClientError;
    /// use retry_core::{PatientRetryStrategy, retryable};
    ///
    /// static CACHE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// #[retryable(strategy = CACHE, idempotent = false, blocking, max_time = "2s")]
    /// fn count(redis: &redis::Client, key: &str) -> Result<u64, ClientError> {
    ///     let mut connection = redis.get_connection()?;
    ///     Ok(redis::cmd("INCR").arg(key).query(&mut connection)?)
    /// }
    ///
    /// fn count_order(redis: &redis::Client) {
    ///     match count(redis, "orders") {
    ///         Ok(orders) => println!("{orders} orders"),
    ///         Err(error) if error.is_outcome_unknown() => println!("look for it: {error:#}"),
    ///         Err(error) => println!("not counted: {error:#}"),
    ///     }
    /// }
    /// # }
    /// ```
    pub fn is_outcome_unknown(&self) -> bool {
        self.is_outcome_unknown
    }

    /// Returns the classification.
    pub fn classification(&self) -> Classification {
        self.verdict
    }
}

impl<E> From<TimedOut> for ClientError<E> {
    fn from(error: TimedOut) -> Self {
        let is_outcome_unknown = error.was_attempt_cut();
        Self { verdict: Classification::of(&error), cause: Cause::TimedOut(error), is_outcome_unknown }
    }
}

/// With `{:#}`, followed by the messages of the sources.
impl<E: Error + 'static> fmt::Display for ClientError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            #[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
            Cause::Response(response) => response.fmt(f),
            Cause::Client(_) => f.write_str("the call failed"),
            Cause::TimedOut(error) => error.fmt(f),
        }?;
        write_sources(self, f)
    }
}

/// The source is the client's error.
impl<E: Error + 'static> Error for ClientError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Cause::Client(error) = &self.cause { Some(error) } else { None }
    }
}

/// Writes the messages of the sources behind that of the error, if the format is `{:#}`.
pub(crate) fn write_sources(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut source = if f.alternate() { error.source() } else { None };
    while let Some(error) = source {
        write!(f, ": {error}")?;
        source = error.source();
    }
    Ok(())
}

crate::forward::to_verdict!(ClientError<E: Error>,
    fn as_error(&self) -> Option<&(dyn Error + '_)> {
        Some(self)
    }
);

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
