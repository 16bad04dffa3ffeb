//! Custom limiters: waits that end early, places in the queue, and slots that are returned.

mod blocking;
mod delays;
mod in_flight;
mod limits;
mod wakes;

use crate::script::{Error, SAFE};
use crate::support::{Wakes, millis, poll_once, secs};
use ::tower::{Layer, Service, service_fn};
use in_flight::InFlight;
use retry_core::strategy::{AdaptiveRetryToken, Operations, Share, StandardRetryToken};
use retry_core::{
    ErasedStrategy, Jitter, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, retry, retryable,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep};

type Outcome = Result<u32, Error>;
type Operation<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

fn one_slot() -> InFlight {
    InFlight::new(1, standard())
}

/// The forms of an async operation.
#[derive(Clone, Copy, Debug)]
enum Form {
    Attribute,
    AttributeWithLimits,
    Closure,
    ClosureWithLimits,
    Tower,
    TowerWithLimits,
}

#[retryable(strategy = limiter)]
async fn attribute<'a>(limiter: &InFlight, attempt: &dyn Fn() -> Operation<'a>) -> Outcome {
    attempt().await
}

#[retryable(strategy = limiter, max_time = limit, attempt_timeout = limit)]
async fn attribute_with_limits<'a>(
    limiter: &InFlight,
    attempt: &dyn Fn() -> Operation<'a>,
    limit: Duration,
) -> Outcome {
    attempt().await
}

impl Form {
    const ALL: [Self; 6] = [
        Self::Attribute,
        Self::AttributeWithLimits,
        Self::Closure,
        Self::ClosureWithLimits,
        Self::Tower,
        Self::TowerWithLimits,
    ];

    /// Returns an operation in this form. Its limits, if it has any, are longer than all waits.
    fn call<'a>(self, limiter: &'a InFlight, attempt: &'a dyn Fn() -> Operation<'a>) -> Operation<'a> {
        let limit = secs(1_000_000);
        match self {
            Self::Attribute => Box::pin(attribute(limiter, attempt)),
            Self::AttributeWithLimits => Box::pin(attribute_with_limits(limiter, attempt, limit)),
            Self::Closure => Box::pin(retry(limiter, attempt).run()),
            Self::ClosureWithLimits => Box::pin(retry(limiter, attempt).max_time(limit).attempt_timeout(limit).run()),
            Self::Tower => Box::pin(RetryLayer::with_handle(limiter).layer(service_fn(move |()| attempt())).call(())),
            Self::TowerWithLimits => {
                let layer = RetryLayer::with_handle(limiter).max_time(limit).attempt_timeout(limit);
                Box::pin(layer.layer(service_fn(move |()| attempt())).call(()))
            }
        }
    }
}

fn poll_with(operation: &mut Operation<'_>, wakes: &Arc<Wakes>) -> Poll<Outcome> {
    operation.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(wakes))))
}

fn never<'a>() -> Operation<'a> {
    Box::pin(std::future::pending())
}

fn at_once<'a>() -> Operation<'a> {
    Box::pin(std::future::ready(Ok(1)))
}

#[tokio::test(start_paused = true)]
async fn waiters_continue_in_order_as_soon_as_a_request_is_answered() {
    for form in Form::ALL {
        let (limiter, started) = (InFlight::new(2, standard()), Instant::now());
        let (in_flight, order) = (Cell::new(0), RefCell::new(Vec::new()));
        let request = |name| {
            let (in_flight, order) = (&in_flight, &order);
            move || -> Operation<'_> {
                Box::pin(async move {
                    in_flight.set(in_flight.get() + 1);
                    assert!(in_flight.get() <= 2);
                    order.borrow_mut().push(name);
                    tokio::task::yield_now().await;
                    in_flight.set(in_flight.get() - 1);
                    Ok(name)
                })
            }
        };
        let requests: Vec<_> = (1..=9).map(request).collect();
        let outcomes = join_all(requests.iter().map(|request| form.call(&limiter, request))).await;
        assert_eq!(outcomes, (1..=9).map(Ok).collect::<Vec<_>>());
        assert_eq!(order.take(), (1..=9).collect::<Vec<_>>(), "{form:?}");
        assert_eq!(started.elapsed(), Duration::ZERO, "{form:?}: a wake was lost");
        let (free, waiting, questions) = limiter.counts();
        assert_eq!((free, waiting), (2, 0));
        assert!(questions <= 9 * 3, "{form:?}: {questions} questions");
    }
}

/// Polls all operations whenever one of them is woken.
async fn join_all(operations: impl Iterator<Item = Operation<'_>>) -> Vec<Outcome> {
    let mut operations: Vec<_> = operations.map(|operation| (operation, None)).collect();
    std::future::poll_fn(|context| {
        for (operation, outcome) in &mut operations {
            if outcome.is_none()
                && let Poll::Ready(ready) = operation.as_mut().poll(context)
            {
                *outcome = Some(ready);
            }
        }
        if operations.iter().all(|(_, outcome)| outcome.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    operations.into_iter().filter_map(|(_, outcome)| outcome).collect()
}

#[tokio::test(start_paused = true)]
async fn operations_in_separate_tasks_wake_each_other() {
    let (limiter, started) = (Arc::new(one_slot()), Instant::now());
    let tasks: Vec<_> = (1..=9)
        .map(|name| {
            let request = move || async move {
                tokio::task::yield_now().await;
                Ok::<_, Error>(name)
            };
            tokio::spawn(retry(Arc::clone(&limiter), request).run())
        })
        .collect();
    for (name, task) in (1..).zip(tasks) {
        assert_eq!(task.await.unwrap(), Ok(name));
    }
    assert_eq!(started.elapsed(), Duration::ZERO, "a wake was lost");
}

#[tokio::test(start_paused = true)]
async fn a_retry_keeps_the_place_of_its_operation_in_the_queue() {
    for form in Form::ALL {
        let (limiter, order) = (one_slot(), RefCell::new(Vec::new()));
        // The first operation fails immediately and asks again after a second, while the second one is in flight and the
        // third one waits.
        let first = || -> Operation<'_> {
            order.borrow_mut().push("first");
            let is_retry = order.borrow().len() > 1;
            Box::pin(async move { if is_retry { Ok(1) } else { SAFE } })
        };
        let slow = |name| {
            let order = &order;
            move || -> Operation<'_> {
                order.borrow_mut().push(name);
                Box::pin(async {
                    sleep(secs(5)).await;
                    Ok(2)
                })
            }
        };
        let (second, third) = (slow("second"), slow("third"));
        let started = Instant::now();
        let outcomes =
            tokio::join!(form.call(&limiter, &first), form.call(&limiter, &second), form.call(&limiter, &third));
        assert_eq!(outcomes, (Ok(1), Ok(2), Ok(2)));
        assert_eq!(order.take(), ["first", "second", "first", "third"], "{form:?}");
        assert_eq!(started.elapsed(), secs(5 + 5), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_gives_its_slot_to_a_waiter() {
    for form in Form::ALL {
        let (limiter, wakes) = (one_slot(), Arc::new(Wakes::default()));
        let mut abandoned = form.call(&limiter, &never);
        let mut waiting = form.call(&limiter, &at_once);
        poll_once(abandoned.as_mut());
        assert_eq!(poll_with(&mut waiting, &wakes), Poll::Pending);
        assert_eq!((limiter.counts(), wakes.count()), ((0, 1, 2), 0));
        drop(abandoned);
        assert_eq!(wakes.count(), 1, "{form:?}");
        assert_eq!(poll_with(&mut waiting, &wakes), Poll::Ready(Ok(1)), "{form:?}");
        assert_eq!(limiter.counts(), (1, 0, 3));
        assert_eq!(limiter.retries.quota().available(), 500);
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_is_dropped_in_flight_returns_its_slot_but_not_its_cost() {
    for form in Form::ALL {
        let (limiter, attempts) = (one_slot(), Cell::new(0));
        let attempt = || {
            attempts.set(attempts.get() + 1);
            if attempts.get() == 1 { Box::pin(std::future::ready(SAFE)) } else { never() }
        };
        let mut operation = form.call(&limiter, &attempt);
        poll_once(operation.as_mut());
        assert_eq!(limiter.counts(), (1, 0, 1), "{form:?}: nothing is in flight during the backoff");
        tokio::time::advance(secs(1)).await;
        poll_once(operation.as_mut());
        assert_eq!((limiter.counts(), attempts.get()), ((0, 0, 2), 2));
        drop(operation);
        assert_eq!((limiter.counts(), limiter.retries.quota().available()), ((1, 0, 2), 495), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_panics_returns_its_slot() {
    for form in Form::ALL {
        let limiter = one_slot();
        let attempt = || -> Operation<'_> { Box::pin(async { panic!("a panic of the test") }) };
        let mut operation = form.call(&limiter, &attempt);
        assert!(catch_unwind(AssertUnwindSafe(|| poll_once(operation.as_mut()))).is_err());
        drop(operation);
        assert_eq!(limiter.counts(), (1, 0, 1), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cut_by_a_limit_returns_its_slot() {
    let stuck = || std::future::pending::<Outcome>();
    let limiter = InFlight::new(1, standard().max_attempts(1));
    assert!(retry(&limiter, stuck).attempt_timeout(millis(10)).run().await.is_err());
    assert_eq!(limiter.counts(), (1, 0, 1));
    assert!(retry(&limiter, stuck).max_time(millis(10)).run().await.is_err());
    assert_eq!(limiter.counts(), (1, 0, 2));
    assert!(attribute_with_limits(&limiter, &never, millis(10)).await.is_err());
    assert_eq!(limiter.counts(), (1, 0, 3));
}

#[tokio::test(start_paused = true)]
async fn a_limiter_works_through_typed_and_erased_handles() {
    async fn take_turns<S: RetryStrategy + Clone>(strategy: S)
    where
        Operations: Share<S>,
    {
        let started = Instant::now();
        let mut abandoned = Box::pin(retry(strategy.clone(), never).run());
        let request = || async {
            tokio::task::yield_now().await;
            Ok::<_, Error>(1)
        };
        poll_once(abandoned.as_mut());
        let abandon = async { drop(abandoned) };
        let (first, second) = (retry(strategy.clone(), request), retry(strategy, request));
        assert_eq!(tokio::join!(first.run(), second.run(), abandon), (Ok(1), Ok(1), ()));
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    static SCOPES: ScopedRetryStrategy<u8, InFlight> = ScopedRetryStrategy::new(one_slot);
    let limiter = Arc::new(one_slot());
    take_turns(&*limiter).await;
    take_turns(Arc::clone(&limiter)).await;
    take_turns(SCOPES.scope(&1)).await;
    take_turns(ErasedStrategy::new(Arc::clone(&limiter))).await;
    take_turns(ErasedStrategy::new(ErasedStrategy::new(Arc::clone(&limiter)))).await;
    assert_eq!((limiter.counts().0, SCOPES.scope(&1).counts().0), (1, 1));
}

#[test]
fn tokens_of_the_built_in_strategies_need_no_drop() {
    assert!(!needs_drop::<StandardRetryToken>() && !needs_drop::<AdaptiveRetryToken>());
    assert!(needs_drop::<in_flight::Token>());
}
