//! Operations that are dropped, stopped, or given up in another way while they wait.

use super::{Line, Waits, paying, waits, waits_with};
use crate::support::{ByHand, Failed, Flaky, millis, poll_once, secs};
use retry_core::strategy::{DelaySource, PatientRetryToken};
use retry_core::{
    Failure, Hedge, PatientRetryStrategy, RetryInfo, RetryStrategy, RetryToken, Success, retry, retryable,
};
use retry_tower::RetryLayer;
use std::cell::Cell;
use std::future::{Ready, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::time::{Instant, sleep};
use tower::{Layer, Service, ServiceExt, service_fn};

// Rule U17.
#[test]
fn a_dropped_operation_frees_its_place_and_the_next_one_is_sent() {
    let line = Line::new();
    let [first, mut second] = [(); 2].map(|()| line.joins());
    line.strategy.release(first);
    assert_eq!(line.waiting(), Some(1));
    line.answers(100);
    assert_eq!(line.sent([&mut second]), [true]);
    assert_eq!(line.waiting(), Some(0));
}

// Rule U17.
#[test]
fn instead_of_one_that_was_to_be_sent_the_next_success_sends_another() {
    let line = Line::new();
    let [first, mut second, mut third] = [(); 3].map(|()| line.joins());
    line.answers(100);
    line.strategy.release(first);
    assert_eq!(line.waiting(), Some(2));
    // It need not be fast.
    line.answers(201);
    assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
}

// Rules U17, W5.
#[test]
fn instead_of_one_that_is_permitted_but_not_sent_the_next_success_sends_another() {
    let gives_back: [fn(&Line, PatientRetryToken); 2] = [
        |line, token| line.strategy.release(token),
        |line, token| {
            let unsent = Failure::of(&Failed::FATAL).with_sent(false);
            line.strategy.refresh_retry_token(token, &unsent, &line.clock).unwrap_err();
        },
    ];
    for give_back in gives_back {
        let line = Line::new();
        let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins());
        line.answers(100);
        assert_eq!(line.sent([&mut first]), [true]);
        give_back(&line, first);
        assert_eq!(line.waiting(), Some(2));
        line.answers(201);
        assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
    }
}

/// Returns the failure of an attempt that was not sent, which is retried.
fn unsent() -> Failure {
    Failure::of(&Failed::SAFE).with_sent(false)
}

// Rules U17, W5.
#[test]
fn before_the_next_success_no_operation_is_sent_for_one_that_was_not() {
    let gives_back: [fn(&Line, PatientRetryToken) -> Option<PatientRetryToken>; 3] = [
        |line, token| Some(line.fails(token, &unsent())),
        |line, mut token| {
            assert_eq!(line.sent([&mut token]), [true]);
            Some(line.fails(token, &unsent()))
        },
        |line, token| {
            line.strategy.release(token);
            None
        },
    ];
    for give_back in gives_back {
        let line = Line::new();
        let [first, mut second] = [(); 2].map(|()| line.joins());
        line.answers(100);
        let mut first = give_back(&line, first);
        let mut third = line.joins_after(&unsent());
        assert_eq!(line.sent([&mut second, &mut third]), [false; 2]);
        line.answers(201);
        assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
        assert!(first.as_mut().is_none_or(|first| line.sent([first]) == [false]));
    }
}

// Rules U8, U11, U17, W5.
#[test]
fn an_operation_whose_attempts_are_not_sent_waits_before_each() {
    let line = Line::of(waits_with(10));
    let mut token = line.joins();
    line.answers(100);
    for wait in [1, 2, 4] {
        assert_eq!(line.sent([&mut token]), [true]);
        token = line.fails(token, &unsent());
        let waits = line.wait(&mut token);
        assert!(millis(500 * wait) <= waits && waits <= secs(wait), "{waits:?}");
        line.clock.advance(waits);
    }
}

// Rules U17, W5.
#[test]
fn each_success_sends_one_operation_for_those_that_were_not_sent() {
    let line = Line::new();
    let mut waiting: Vec<_> = (0..9).map(|_| line.joins()).collect();
    let mut permitted = Vec::new();
    while permitted.len() < 4 {
        line.answers(100);
        permitted.extend(waiting.extract_if(.., |token| line.sent([token]) == [true]));
    }
    for token in permitted {
        line.strategy.release(token);
    }
    for sent in [1, 1, 1, 1, 0] {
        line.answers(201);
        assert_eq!(waiting.extract_if(.., |token| line.sent([token]) == [true]).count(), sent);
    }
}

// Rules U8, U17, W5.
#[test]
fn of_a_send_that_is_given_back_while_no_operation_waits_half_a_credit_is_kept() {
    let gives_back: [fn(&Line, PatientRetryToken) -> PatientRetryToken; 2] = [
        |line, token| line.fails(token, &unsent()),
        |line, token| {
            line.strategy.release(token);
            line.joins_after(&unsent())
        },
    ];
    for give_back in gives_back {
        let line = Line::new();
        let first = line.joins();
        line.answers(100);
        let mut next = give_back(&line, first);
        line.answers(201);
        assert_eq!(line.sent([&mut next]), [false]);
        line.answers(200);
        assert_eq!(line.sent([&mut next]), [true]);
    }
}

// Rule U17.
#[test]
fn one_that_fails_after_it_was_sent_gives_nothing_back() {
    let line = Line::new();
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    line.answers(100);
    assert_eq!(line.sent([&mut first]), [true]);
    line.strategy.refresh_retry_token(first, &Failure::of(&Failed::FATAL), &line.clock).unwrap_err();
    line.answers(201);
    assert_eq!(line.sent([&mut second]), [false]);
}

// Rules U8, U17.
#[test]
fn after_a_failure_at_most_half_a_credit_is_kept() {
    let line = Line::new();
    let [first, mut second] = [(); 2].map(|()| line.joins());
    line.answers(100);
    line.strategy.release(first);
    line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::FATAL), &line.clock).unwrap_err();
    let mut third = line.joins();
    line.answers(201);
    assert_eq!(line.sent([&mut second, &mut third]), [false, false]);
    line.answers(200);
    assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
}

// Rules U8, U17.
#[test]
fn a_final_failure_takes_no_credit() {
    let line = Line::new();
    let [first, mut second] = [(); 2].map(|()| line.joins());
    line.answers(100);
    line.strategy.release(first);
    line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::FATAL), &line.clock).unwrap_err();
    line.answers(201);
    assert_eq!(line.sent([&mut second]), [true]);
}

// Rule U17.
#[test]
fn a_paid_retry_that_is_not_sent_is_given_back() {
    let line = Line::of(paying());
    let token = line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::TIMEOUT), &line.clock).unwrap();
    assert_eq!((token.delay_source(), line.strategy.quota_level()), (DelaySource::Backoff, Some(0)));
    line.strategy.release(token);
    assert_eq!(line.strategy.quota_level(), Some(1));
}

// Rule U17.
#[test]
fn one_that_goes_before_it_has_asked_is_not_counted_any_longer() {
    let line = Line::new();
    let token = line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::SAFE), &line.clock).unwrap();
    assert_eq!(line.waiting(), Some(1));
    line.strategy.release(token);
    assert_eq!(line.waiting(), Some(0));
}

// Rule U17.
#[test]
fn one_that_is_sent_without_permission_leaves_the_line() {
    let line = Line::new();
    let [first, second, mut third] = [(); 3].map(|()| line.joins());
    line.succeed(first, 100);
    assert_eq!(line.waiting(), Some(2));
    let mut second = line.fails(second, &Failure::of(&Failed::SAFE));
    assert_eq!(line.waiting(), Some(2));
    line.answers(100);
    assert_eq!(line.sent([&mut second, &mut third]), [false, true]);
}

type Operation = Pin<Box<dyn Future<Output = Result<u32, Failed>>>>;

/// Returns an operation that waits, in each form.
fn forms(strategy: &'static Waits, error: Failed) -> Vec<(&'static str, Operation)> {
    static HEDGE: Hedge = Hedge::after(millis(100));
    let fails = move || ready(Err(error));
    vec![
        ("closure", Box::pin(retry(strategy, fails).run())),
        ("limited closure", Box::pin(retry(strategy, fails).max_time(secs(60)).run())),
        ("hedged", Box::pin(retry(strategy, fails).idempotent(true).hedge(&HEDGE).run())),
        ("tower", Box::pin(RetryLayer::new(strategy).layer(service_fn(move |()| fails())).oneshot(()))),
        (
            "hedged tower",
            Box::pin(
                RetryLayer::new(strategy)
                    .idempotent(true)
                    .hedge(&HEDGE)
                    .layer(service_fn(move |()| fails()))
                    .oneshot(()),
            ),
        ),
    ]
}

// Rules U17, U18.
#[tokio::test(start_paused = true)]
async fn a_dropped_future_of_each_form_leaves_the_line() {
    let strategy: &'static _ = Box::leak(Box::new(waits()));
    for error in [Failed::SAFE, Failed::SAFE.after(secs(10))] {
        for (form, mut operation) in forms(strategy, error) {
            poll_once(operation.as_mut());
            sleep(millis(500)).await;
            poll_once(operation.as_mut());
            assert_eq!(strategy.waiting_operations(), Some(1), "{form}");
            drop(operation);
            assert_eq!(strategy.waiting_operations(), Some(0), "{form}");
        }
    }
}

/// A service that is ready once, and fails. Its clones are never ready.
struct Once(bool);

impl Clone for Once {
    fn clone(&self) -> Self {
        Self(false)
    }
}

impl Service<()> for Once {
    type Response = u32;
    type Error = Failed;
    type Future = Ready<Result<u32, Failed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        if self.0 { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn call(&mut self, (): ()) -> Self::Future {
        self.0 = false;
        ready(Err(Failed::SAFE))
    }
}

// Rules U17, W5.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_before_its_service_is_ready_leaves_its_send_to_another_operation() {
    let strategy: &'static _ = Box::leak(Box::new(waits()));
    let answers = async || {
        sleep(millis(100)).await;
        Ok::<_, Failed>(())
    };
    retry(strategy, answers).run().await.unwrap();
    let mut request = Box::pin(RetryLayer::new(strategy).layer(Once(true)).oneshot(()));
    poll_once(request.as_mut());
    let service = Flaky::new(1, Failed::SAFE);
    let mut next = pin!(retry(strategy, || ready(service.call())).run());
    poll_once(next.as_mut());
    retry(strategy, answers).run().await.unwrap();
    // It is to be sent, and its service is not ready.
    poll_once(request.as_mut());
    assert_eq!(strategy.waiting_operations(), Some(1));
    drop(request);
    retry(strategy, answers).run().await.unwrap();
    assert_eq!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(2)));
}

/// A service that takes one request, which fails, and then breaks: readiness fails.
#[derive(Clone, Default)]
struct Breaks(Rc<Cell<bool>>);

impl Service<()> for Breaks {
    type Response = u32;
    type Error = Failed;
    type Future = Ready<Result<u32, Failed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(if self.0.get() { Err(Failed::SAFE) } else { Ok(()) })
    }

    fn call(&mut self, (): ()) -> Self::Future {
        self.0.set(true);
        ready(Err(Failed::SAFE))
    }
}

// Rules U3, U17, W5.
#[tokio::test(start_paused = true)]
async fn a_request_whose_service_breaks_waits_until_its_time_is_over() {
    let strategy: &'static _ = Box::leak(Box::new(waits_with(10)));
    let answers = async || {
        sleep(millis(100)).await;
        Ok::<_, Failed>(())
    };
    retry(strategy, answers).run().await.unwrap();
    let started = Instant::now();
    let mut request = Box::pin(RetryLayer::new(strategy).layer(Breaks::default()).oneshot(()));
    poll_once(request.as_mut());
    retry(strategy, answers).run().await.unwrap();
    request.await.unwrap_err();
    assert_eq!(started.elapsed().as_secs(), 15);
}

// Rule U17.
#[test]
fn the_quota_is_unchanged_by_an_operation_that_leaves() {
    let (strategy, clock) = (PatientRetryStrategy::new(), ByHand::at(secs(1_000)));
    let begin = || strategy.acquire_initial_token(&clock).unwrap();
    strategy.record_success(begin(), &Success::default(), &clock).unwrap();
    let refused = loop {
        let token = strategy.refresh_retry_token(begin(), &Failure::of(&Failed::SAFE), &clock).unwrap();
        if token.delay_source() == DelaySource::Service {
            break token;
        }
        clock.advance(secs(10));
    };
    let quota = || strategy.standard().quota().knowledge(&clock);
    let before = quota();
    assert!(before.missing() > 0.0);
    strategy.release(refused);
    assert_eq!(quota(), before);
}

/// An error that shows whether it still exists.
#[derive(Debug, thiserror::Error, RetryInfo)]
#[error("held")]
#[retry(safe)]
struct Held(Rc<()>);

/// A failure, and then a success with the number of errors that exist during the second attempt.
struct Counting {
    error: Rc<()>,
    attempts: Cell<u32>,
}

impl Counting {
    fn attempt(&self) -> Result<usize, Held> {
        self.attempts.set(self.attempts.get() + 1);
        if self.attempts.get() == 1 { Err(Held(Rc::clone(&self.error))) } else { Ok(Rc::strong_count(&self.error) - 1) }
    }
}

#[retryable(strategy = strategy)]
async fn plain(strategy: &Waits, service: &Counting) -> Result<usize, Held> {
    service.attempt()
}

#[retryable(strategy = strategy, on_end = |_| ())]
async fn told(strategy: &Waits, service: &Counting) -> Result<usize, Held> {
    service.attempt()
}

#[retryable(strategy = strategy, hedge = "1s", idempotent)]
async fn hedged(strategy: &Waits, service: &Counting) -> Result<usize, Held> {
    service.attempt()
}

// Rule M9.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_was_kept_for_a_wait_is_dropped_before_the_next_attempt_in_each_form() {
    static HEDGE: Hedge = Hedge::after(millis(100));
    let service = || Counting { error: Rc::new(()), attempts: Cell::new(0) };
    let kept = [
        plain(&waits(), &service()).await,
        told(&waits(), &service()).await,
        hedged(&waits(), &service()).await,
        {
            let service = service();
            retry(&waits(), async || service.attempt()).run().await
        },
        {
            let service = service();
            retry(&waits(), async || service.attempt()).idempotent(true).hedge(&HEDGE).run().await
        },
    ];
    assert_eq!(kept.map(Result::unwrap), [0; 5]);
}
