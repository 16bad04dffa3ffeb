//! aws-smithy-runtime: its whole client with its retries, over a connector that makes the attempts of a call.
//!
//! A caller is a client: an [`Operation`] with its own partition, which has the default quota and limiter. The client
//! asks for attempts and for sleeps, which the world makes, and reads its time from the world.

use super::{RETRIES, attempts};
use crate::call::{Call, CallError, Caller, Outcome};
use crate::strategies::Strategy;
use aws_smithy_async::rt::sleep::{AsyncSleep, Sleep};
use aws_smithy_async::time::TimeSource;
use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime::client::retries::classifiers::{HttpStatusCodeClassifier, TransientErrorClassifier};
use aws_smithy_runtime::client::retries::{ClientRateLimiter, RetryPartition, TokenBucket};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::result::{ConnectorError, SdkError};
use aws_smithy_runtime_api::client::retries::classifiers::{ClassifyRetry, RetryAction};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::client::runtime_plugin::StaticRuntimePlugin;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::Layer;
use aws_smithy_types::retry::{ErrorKind, RetryConfig};
use retry_core::time::Timer;
use std::cell::Cell;
use std::fmt;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;

/// Returns the standard and the adaptive mode.
pub(super) fn strategies() -> [Strategy; 2] {
    [
        ("aws-smithy-runtime, standard", RetryConfig::standard()),
        ("aws-smithy-runtime, adaptive", RetryConfig::adaptive()),
    ]
    .map(|(name, config)| {
        let config = config.with_max_attempts(u32::from(RETRIES) + 1);
        Strategy::new(name, move |seed| Rc::new(Client::new(&config, seed)))
    })
}

struct Client {
    operation: Operation<(), (), Rejected>,
    bridge: Bridge,
    /// The state of the jitter, which comes from the random numbers of the thread.
    random: Cell<u64>,
}

impl Client {
    fn new(config: &RetryConfig, seed: u64) -> Self {
        let bridge = Bridge::default();
        // Other partitions share their state within the process. This one has the same state of its own.
        let partition = RetryPartition::custom("lab")
            .token_bucket(TokenBucket::default())
            .client_rate_limiter(ClientRateLimiter::new(0.0))
            .build();
        let mut layer = Layer::new("partition");
        layer.store_put(partition);
        let operation = Operation::builder()
            .service_name("lab")
            .operation_name("call")
            .endpoint_url("http://localhost")
            .no_auth()
            .http_client(bridge.clone())
            .sleep_impl(bridge.clone())
            .time_source(bridge.clone())
            .standard_retry(config)
            .retry_classifier(HttpStatusCodeClassifier::default())
            .retry_classifier(TransientErrorClassifier::<Rejected>::new())
            .retry_classifier(Rejections)
            .runtime_plugin(StaticRuntimePlugin::new().with_config(layer.freeze()))
            .serializer(|()| Ok(HttpRequest::new(SdkBody::empty())))
            .deserializer(|response| match response.extension() {
                Some(&error) => Err(OrchestratorError::operation(Rejected(error))),
                None => Ok(()),
            })
            .build();
        Self { operation, bridge, random: Cell::new(seed) }
    }
}

impl Caller for Client {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        Box::pin(async move {
            let (world, attempts) = (call.world.clone(), attempts(call));
            let mut invoke = pin!(self.operation.invoke(()));
            let mut running: Option<Pin<Box<dyn Future<Output = ()>>>> = None;
            let result = std::future::poll_fn(|context| {
                loop {
                    *lock(&self.bridge.elapsed) = world.elapsed();
                    fastrand::seed(self.random.get());
                    let polled = invoke.as_mut().poll(context);
                    self.random.set(fastrand::get_seed());
                    if polled.is_ready() {
                        return polled;
                    }
                    if let Some(job) = lock(&self.bridge.job).take() {
                        running = Some(match job {
                            Job::Attempt(done) => {
                                let attempt = (attempts.borrow_mut())();
                                Box::pin(async move {
                                    let _ = done.send(attempt.await);
                                })
                            }
                            Job::Sleep(delay, done) => {
                                let sleep = world.sleep(delay);
                                Box::pin(async move {
                                    sleep.await;
                                    let _ = done.send(());
                                })
                            }
                        });
                    }
                    match running.as_mut().map(|job| job.as_mut().poll(context)) {
                        Some(Poll::Ready(())) => running = None,
                        _ => return Poll::Pending,
                    }
                }
            })
            .await;
            result.map_err(|error| match error {
                SdkError::ServiceError(error) => error.into_err().0,
                SdkError::DispatchFailure(error) if error.is_timeout() => CallError::TimedOut,
                error => panic!("the client made no attempt: {error:?}"),
            })
        })
    }
}

/// The client's side of the world, which is on one thread only: the time since the Unix epoch, at which the world starts,
/// and the job of the call that is polled.
#[derive(Clone, Debug, Default)]
struct Bridge {
    elapsed: Arc<Mutex<Duration>>,
    job: Arc<Mutex<Option<Job>>>,
}

/// A job, and where its result goes.
#[derive(Debug)]
enum Job {
    Attempt(oneshot::Sender<Outcome>),
    Sleep(Duration, oneshot::Sender<()>),
}

impl Bridge {
    /// Hands a job over to the call that is polled.
    ///
    /// # Panics
    ///
    /// Panics if the call has another job, because it does one thing after the other.
    fn ask(&self, job: Job) {
        let other = lock(&self.job).replace(job);
        assert!(other.is_none(), "a call has two jobs at the same time, one of them is {other:?}");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TimeSource for Bridge {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + *lock(&self.elapsed)
    }
}

impl AsyncSleep for Bridge {
    fn sleep(&self, delay: Duration) -> Sleep {
        let (sender, done) = oneshot::channel();
        self.ask(Job::Sleep(delay, sender));
        Sleep::new(async move { drop(done.await) })
    }
}

impl HttpClient for Bridge {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Bridge {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        let (sender, done) = oneshot::channel();
        self.ask(Job::Attempt(sender));
        HttpConnectorFuture::new(async move {
            let outcome = done.await.map_err(|error| ConnectorError::user(error.into()))?;
            let status = match outcome {
                Ok(()) => 200,
                Err(CallError::Failed) => 500,
                Err(CallError::Conflict) => 409,
                Err(CallError::Throttled { .. }) => 429,
                Err(CallError::TimedOut) => return Err(ConnectorError::timeout("no response came in time".into())),
            };
            let status = u16::try_into(status).map_err(|error| ConnectorError::user(Box::new(error)))?;
            let mut response = HttpResponse::new(status, SdkBody::empty());
            if let Err(error) = outcome {
                response.add_extension(error);
            }
            Ok(response)
        })
    }
}

/// A response that is not a success.
#[derive(Debug)]
struct Rejected(CallError);

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Rejected {}

/// Classifies what the service's own errors say. Statuses and timeouts have classifiers of the crate.
#[derive(Debug)]
struct Rejections;

impl ClassifyRetry for Rejections {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        match context.response().and_then(HttpResponse::extension) {
            Some(CallError::Throttled { retry_after: Some(delay) }) => {
                RetryAction::retryable_error_with_explicit_delay(ErrorKind::ThrottlingError, *delay)
            }
            Some(CallError::Throttled { retry_after: None }) => RetryAction::throttling_error(),
            Some(CallError::Conflict) => RetryAction::server_error(),
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "rejections"
    }
}
