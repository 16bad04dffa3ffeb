//! A hedge that is paid for and reported runs.

use super::*;
use ::tower::{Layer, Service, ServiceExt, service_fn};
use retry_core::time::ManualTimer;
use retry_core::{Event, EventKind, Observer, Timer, retryable};
use retry_tower::RetryLayer;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

static AFTER: Hedge = Hedge::after(millis(10));

/// A service whose answers take a time, and are then ready after further polls. It observes the hedges of its calls.
#[derive(Clone, Default)]
struct Yielding {
    time: u64,
    polls: u32,
    calls: Arc<AtomicU32>,
    hedges: Arc<AtomicU32>,
}

impl Yielding {
    async fn call(&self) -> Outcome {
        self.calls.fetch_add(1, Ordering::Relaxed);
        sleep(millis(self.time)).await;
        for _ in 0..self.polls {
            tokio::task::yield_now().await;
        }
        Ok(1)
    }
}

impl Observer for Yielding {
    fn observe(&self, event: &Event) {
        self.hedges.fetch_add(u32::from(matches!(event.kind, EventKind::HedgeSent)), Ordering::Relaxed);
    }
}

#[retryable(strategy = strategy, idempotent, hedge = AFTER, observer = service)]
async fn call(strategy: &StandardRetryStrategy, service: &Yielding) -> Outcome {
    service.call().await
}

// Rules V4, V12, W9.
#[tokio::test(start_paused = true)]
async fn each_hedge_that_is_reported_runs_and_nothing_else_is_paid() {
    for form in ["closure", "attribute", "tower"] {
        for (time, polls) in (8..=12).flat_map(|time| (0..4).map(move |polls| (time, polls))) {
            let (strategy, service) = (Arc::new(standard()), Yielding { time, polls, ..Yielding::default() });
            let called = service.clone();
            let layer = RetryLayer::new(Arc::clone(&strategy)).idempotent(true).observer(service.clone());
            let mut stack = layer.hedge(&AFTER).layer(service_fn(move |()| {
                let service = called.clone();
                async move { service.call().await }
            }));
            for _ in 0..20 {
                let outcome = match form {
                    "closure" => {
                        retry(&strategy, || service.call())
                            .observer(&service)
                            .idempotent(true)
                            .hedge(&AFTER)
                            .run()
                            .await
                    }
                    "attribute" => call(&strategy, &service).await,
                    _ => stack.ready().await.unwrap().call(()).await,
                };
                assert_eq!(outcome, Ok(1));
            }
            let (calls, hedges) = (service.calls.load(Ordering::Relaxed), service.hedges.load(Ordering::Relaxed));
            let found = (calls, strategy.quota().available());
            assert_eq!(found, (20 + hedges, 500 - 4 * hedges), "{form}, {time} ms and {polls} polls");
            assert!(hedges == if time < 10 || (time, polls) == (10, 0) { 0 } else { 20 }, "{hedges}");
        }
    }
}

// Rules V3, V6.
#[tokio::test(start_paused = true)]
async fn neither_attempt_is_polled_twice_in_a_poll_in_which_the_hedge_begins() {
    let (strategy, polls) = (standard(), RefCell::<Vec<_>>::default());
    let call = retry_with_context(&strategy, |context| {
        let (polls, mut count) = (&polls, 0);
        std::future::poll_fn(move |poll: &mut Context<'_>| {
            count += 1;
            polls.borrow_mut().push(context.attempt());
            poll.waker().wake_by_ref();
            // The first attempt is ready later than the hedge, which is always polled.
            let is_ready = context.attempt() == 2 && count == 3;
            if is_ready { Poll::Ready(Outcome::Ok(context.attempt())) } else { Poll::Pending }
        })
    });
    let mut call = pin!(call.idempotent(true).hedge(&AFTER).run());
    let mut poll = || {
        let poll = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (polls.take(), poll)
    };
    assert_eq!(poll(), (vec![1], Poll::Pending));
    tokio::time::advance(millis(11)).await;
    assert_eq!(poll(), (vec![1, 2], Poll::Pending));
    assert_eq!(poll(), (vec![1, 2], Poll::Pending));
    assert_eq!(poll(), (vec![1, 2], Poll::Ready(Ok(2))));
}

/// An observer that takes a time when a hedge is sent.
struct Slow<'a>(&'a ManualTimer);

impl Observer for Slow<'_> {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::HedgeSent) {
            self.0.advance(millis(50));
        }
    }
}

// Rules T7, V6.
#[test]
fn an_outcome_that_is_ready_when_its_time_is_over_wins_although_a_hedge_begins_in_that_poll() {
    let (strategy, hedge, timer) = (standard(), after(), ManualTimer::new());
    let call = retry_with_context(&strategy, |context| {
        let (timer, time) = (&timer, if context.attempt() == 1 { 120 } else { 1000 });
        async move {
            timer.sleep(millis(time)).await;
            Outcome::Ok(context.attempt())
        }
    });
    let call = call.attempt_timeout(millis(130)).timer(&timer).observer(Slow(&timer)).idempotent(true).hedge(hedge);
    let mut call = pin!(call.run());
    let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    timer.advance(millis(100));
    let outcome = (0..2).map(|_| poll()).find(Poll::is_ready);
    assert_eq!(outcome, Some(Poll::Ready(Ok(1))));
}
