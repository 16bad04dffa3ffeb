//! Time limits that cut an attempt which must not be carried out twice.

use super::standard;
use crate::script::{Error, SAFE};
use crate::support::by_hand::by_hand;
use crate::support::{millis, secs};
use retry_core::drive::Operation;
use retry_core::{Hedge, StandardRetryPolicy, StandardRetryStrategy, Stop, TimeLimit, TimedOut, retry, retryable};
use retry_tower::RetryLayer;
use std::future::{Ready, pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tokio::time::sleep;
use tower::{Layer, ServiceExt, service_fn};

type Outcome = Result<u32, Error>;

/// A hedge that is never due.
static NEVER: Hedge = Hedge::after(secs(60));

/// A service that refuses the first request and does not answer the second one.
#[derive(Clone, Default)]
struct Service(Arc<AtomicU32>);

impl Service {
    async fn pay(&self) -> Outcome {
        if self.0.fetch_add(1, Ordering::Relaxed) == 0 { SAFE } else { pending().await }
    }

    fn of_tower(&self) -> impl tower::Service<(), Response = u32, Error = Error, Future: Send> + Clone + Send + use<> {
        let service = self.clone();
        service_fn(move |()| {
            let service = service.clone();
            async move { service.pay().await }
        })
    }
}

#[retryable(strategy = strategy, idempotent = false, max_time = "3s")]
async fn marked(strategy: &StandardRetryStrategy, service: &Service) -> Outcome {
    service.pay().await
}

#[retryable(strategy = strategy, policy = StandardRetryPolicy::new().idempotent(false), max_time = "3s")]
async fn by_policy(strategy: &StandardRetryStrategy, service: &Service) -> Outcome {
    service.pay().await
}

#[retryable(strategy = strategy, idempotent = false, max_time = "3s", on_end = |report| *attempts = report.attempts)]
async fn with_hook(strategy: &StandardRetryStrategy, service: &Service, attempts: &mut u32) -> Outcome {
    service.pay().await
}

#[retryable(strategy = strategy, idempotent = false, max_time = "3s", stop_when = sleep(secs(2)), cut_on_stop)]
async fn stopped(strategy: &StandardRetryStrategy, service: &Service) -> Outcome {
    service.pay().await
}

#[retryable(strategy = strategy, idempotent, max_time = "3s")]
async fn harmless(strategy: &StandardRetryStrategy, service: &Service) -> Outcome {
    service.pay().await
}

/// A cut of the attempt by this limit.
const fn cut(limit: TimeLimit) -> Outcome {
    let time = if matches!(limit, TimeLimit::Stop) { millis(0) } else { secs(3) };
    Err(Error::TimedOut(TimedOut::new(limit, time)))
}

// Rule T26.
#[tokio::test(start_paused = true)]
async fn a_cut_attempt_that_must_not_be_carried_out_twice_hides_the_outcome_before_it() {
    let (strategy, strategy_of_layer) = (standard(), Arc::new(standard()));
    let (over, new) = (cut(TimeLimit::Operation), Service::default);
    assert_eq!(marked(&strategy, &new()).await, over);
    assert_eq!(by_policy(&strategy, &new()).await, over);
    let mut attempts = 0;
    assert_eq!((with_hook(&strategy, &new(), &mut attempts).await, attempts), (over, 2));
    assert_eq!(stopped(&strategy, &new()).await, cut(TimeLimit::Stop));

    let service = new();
    assert_eq!(retry(&strategy, || service.pay()).idempotent(false).max_time(secs(3)).run().await, over);
    let service = new();
    let call = retry(&strategy, || service.pay()).idempotent(false).max_time(secs(3)).hedge(&NEVER);
    assert_eq!(call.run().await, over);
    let service = new();
    let (call, stop) = (retry(&strategy, || service.pay()).idempotent(false), Stop::new());
    let call = call.max_time(secs(60)).stop(&stop).cut_on_stop();
    let (outcome, ()) = tokio::join!(call.run(), async {
        sleep(secs(2)).await;
        stop.stop();
    });
    assert_eq!(outcome, cut(TimeLimit::Stop));

    let layer = RetryLayer::new(strategy_of_layer).idempotent(false).max_time(secs(3));
    assert_eq!(layer.clone().layer(new().of_tower()).oneshot(()).await, over);
    assert_eq!(layer.hedge(&NEVER).layer(new().of_tower()).oneshot(()).await, over);

    let (service, operation) = (new(), Operation::builder(&strategy, "pay").max_time(secs(3)));
    let policy = StandardRetryPolicy::new().idempotent(false);
    assert_eq!(by_hand(operation, policy, || service.pay()).await.outcome, over);
}

// Rules T3, T26.
#[tokio::test(start_paused = true)]
async fn otherwise_the_last_outcome_is_returned() {
    let (strategy, strategy_of_layer, new) = (standard(), Arc::new(standard()), Service::default);
    assert_eq!(harmless(&strategy, &new()).await, SAFE);
    let service = new();
    assert_eq!(retry(&strategy, || service.pay()).max_time(secs(3)).run().await, SAFE);
    let layer = RetryLayer::new(strategy_of_layer).max_time(secs(3));
    assert_eq!(layer.clone().layer(new().of_tower()).oneshot(()).await, SAFE);
    assert_eq!(layer.hedge(&NEVER).layer(new().of_tower()).oneshot(()).await, SAFE);
    let (service, operation) = (new(), Operation::builder(&strategy, "pay").max_time(secs(3)));
    assert_eq!(by_hand(operation, StandardRetryPolicy::new(), || service.pay()).await.outcome, SAFE);

    // The time is over before the second attempt, or the operation is stopped.
    let refused = || async { SAFE };
    assert_eq!(retry(&strategy, refused).idempotent(false).max_time(millis(500)).run().await, SAFE);
    let stop = Stop::new();
    let call = retry(&strategy, refused).idempotent(false).stop(&stop).run();
    let (outcome, ()) = tokio::join!(call, async { stop.stop() });
    assert_eq!(outcome, SAFE);
}

// Rule T26.
#[tokio::test(start_paused = true)]
async fn the_error_says_whether_an_attempt_was_cut() {
    let was_cut = |outcome: Outcome| match outcome {
        Err(Error::TimedOut(error)) => Some(error.was_attempt_cut()),
        _ => None,
    };
    let strategy = standard();
    let hangs = || pending::<Outcome>();
    assert_eq!(was_cut(retry(&strategy, hangs).max_time(secs(3)).run().await), Some(true));
    assert_eq!(was_cut(retry(&strategy, hangs).max_attempts(1).attempt_timeout(secs(3)).run().await), Some(true));
    let stop = Stop::new();
    stop.stop();
    assert_eq!(was_cut(retry(&strategy, hangs).stop(&stop).run().await), Some(false));
}

/// A service that refuses the first request, and is not ready again.
#[derive(Clone)]
struct Busy(bool);

impl tower::Service<()> for Busy {
    type Response = u32;
    type Error = Error;
    type Future = Ready<Outcome>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.0 { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn call(&mut self, (): ()) -> Ready<Outcome> {
        self.0 = true;
        ready(SAFE)
    }
}

// Rule T26.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_not_sent_hides_nothing() {
    let layer = RetryLayer::new(Arc::new(standard())).idempotent(false).max_time(secs(3));
    assert_eq!(layer.layer(Busy(false)).oneshot(()).await, SAFE);
}
