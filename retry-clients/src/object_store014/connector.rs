//! The connector that retries the requests of a store.

use super::answer::{Answer, Reader};
use super::{classify, request};
use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use retry_core::strategy::{Operations, RetryStrategy, Share};
use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy, Stop, TimedOut, retry};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The length up to which the content of an object is read as part of its attempt, unless set.
const BODY_LIMIT: u64 = 1024 * 1024;

/// A connector that retries the requests of a store; see the [module](super#one-line-for-a-store).
#[derive(Clone)]
pub struct RetryConnector<S, C> {
    connector: C,
    settings: Settings<S>,
}

#[derive(Clone)]
struct Settings<S> {
    strategy: S,
    name: &'static str,
    is_idempotent: Arc<dyn Fn(&HttpRequest) -> bool + Send + Sync>,
    max_time: Option<Duration>,
    body_limit: u64,
}

impl<S: RetryStrategy, C: HttpConnector> RetryConnector<S, C> {
    /// Creates a connector whose requests share this strategy and use the connections of another connector, such as
    /// `ReqwestConnector`, which is the default of `object_store`. Pass a reference to a static, an [`Arc`], a
    /// [`Scope`](retry_core::strategy::Scope) or an [`ErasedStrategy`](retry_core::strategy::ErasedStrategy).
    ///
    /// Use one strategy for all stores with a common limit, such as those for the same bucket.
    pub fn new(connector: C, strategy: S) -> Self
    where
        Operations: Share<S>,
    {
        let settings = Settings {
            strategy,
            name: "object_store",
            is_idempotent: Arc::new(request::is_idempotent),
            max_time: None,
            body_limit: BODY_LIMIT,
        };
        Self { connector, settings }
    }
}

impl<S, C> RetryConnector<S, C> {
    /// Sets a function that returns whether a request may be acted upon twice. The default is the
    /// [table](super#which-requests-are-repeated).
    ///
    /// For a store with a condition of another name:
    ///
    /// ```
    /// use object_store::client::HttpRequest;
    /// use retry_clients::object_store014::RetryConnector;
    /// use retry_core::PatientRetryStrategy;
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// # fn example(connector: impl object_store::client::HttpConnector) {
    /// let retries = RetryConnector::new(connector, &STORE).idempotent_with(|request: &HttpRequest| {
    ///     !request.headers().contains_key("x-create-only")
    /// });
    /// # }
    /// ```
    #[must_use]
    pub fn idempotent_with(mut self, is_idempotent: impl Fn(&HttpRequest) -> bool + Send + Sync + 'static) -> Self {
        self.settings.is_idempotent = Arc::new(is_idempotent);
        self
    }

    /// Sets the time limit of each request, all attempts and waits included. The default is no limit.
    ///
    /// If it is over before there was an outcome, the error of the client is a `Timeout` around a [`TimedOut`]. For a limit on
    /// each attempt, set `timeout` of `object_store`'s [`ClientOptions`].
    #[must_use]
    pub fn max_time(mut self, time: Duration) -> Self {
        self.settings.max_time = Some(time);
        self
    }

    /// Sets the number of bytes up to which the content of an object, or of a range of it, is read as part of its attempt, if
    /// its length is known. The default is 1 MiB. With 0, content is passed on as it arrives.
    ///
    /// This much memory is held for each of these requests until its content has arrived.
    #[must_use]
    pub fn read_bodies(mut self, limit: usize) -> Self {
        self.settings.body_limit = u64::try_from(limit).unwrap_or(u64::MAX);
        self
    }

    /// Sets the name of the requests in events. The default is `object_store`.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.settings.name = name;
        self
    }
}

impl<S, C: fmt::Debug> fmt::Debug for RetryConnector<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryConnector").field("connector", &self.connector).field("settings", &self.settings).finish()
    }
}

impl<S> fmt::Debug for Settings<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { strategy: _, name, is_idempotent: _, max_time, body_limit } = self;
        f.debug_struct("Settings")
            .field("name", name)
            .field("max_time", max_time)
            .field("body_limit", body_limit)
            .finish_non_exhaustive()
    }
}

impl<S, C> HttpConnector for RetryConnector<S, C>
where
    S: RetryStrategy<Token: Send> + Clone + Send + Sync + 'static,
    C: HttpConnector,
{
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = self.connector.connect(options)?;
        Ok(HttpClient::new(Client { client, settings: self.settings.clone() }))
    }
}

/// The client of a store, with retries.
struct Client<S> {
    client: HttpClient,
    settings: Settings<S>,
}

impl<S> fmt::Debug for Client<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("client", &self.client).field("settings", &self.settings).finish()
    }
}

#[async_trait]
impl<S: RetryStrategy<Token: Send> + Send + Sync + 'static> HttpService for Client<S> {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Settings { strategy, name, is_idempotent, max_time, body_limit } = &self.settings;
        let reader = Reader::new(&request, *body_limit);
        let policy = Policy(StandardRetryPolicy::new().idempotent(is_idempotent(&request)));
        let call = retry(strategy, || {
            let request = request.clone();
            async move { Ok(reader.read(self.client.execute(request).await?).await?) }
        });
        let call = call.name(*name).policy(policy);
        let outcome = match max_time {
            Some(time) => call.max_time(*time).run().await,
            // With a handle to stop it, a call keeps its last outcome whatever the strategy is, so its future is `Send`.
            None => call.stop(&NEVER).run().await,
        };
        outcome.map(|answer| answer.response).map_err(|Failed(error)| error)
    }
}

/// Stops no request.
static NEVER: Stop = Stop::new();

/// The error of an attempt: one that can be a time limit.
#[derive(Debug)]
struct Failed(HttpError);

impl From<HttpError> for Failed {
    fn from(error: HttpError) -> Self {
        Self(error)
    }
}

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(HttpError::new(HttpErrorKind::Timeout, error))
    }
}

/// The policy of one request.
#[derive(Clone, Copy, Debug)]
struct Policy(StandardRetryPolicy);

impl RetryPolicy<Result<Answer, Failed>> for Policy {
    fn evaluate(&self, outcome: &Result<Answer, Failed>) -> RetryDirective {
        let error = match outcome {
            Ok(Answer { error: None, .. }) => return RetryDirective::succeed(),
            Ok(Answer { error, .. }) => *error,
            Err(Failed(error)) => classify(error),
        };
        match error {
            Some(error) => self.0.evaluate_error(&error),
            None => RetryDirective::fail(Some(RetryErrorType::Unknown)),
        }
    }

    fn unknown_error<'o>(&self, outcome: &'o Result<Answer, Failed>) -> Option<&'o (dyn Error + 'static)> {
        outcome.as_ref().err().map(|Failed(error)| error as _)
    }
}
