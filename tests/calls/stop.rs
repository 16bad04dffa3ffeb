//! A handle that ends operations in a shutdown.

use crate::script::{Error, SAFE, time_was_up};
use crate::support::{Failed, millis, poll_once, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::observe::NoHedge;
use retry_core::strategy::LongPolling;
use retry_core::time::{ManualTimer, StdTimer};
use retry_core::{
    AdaptiveRetryStrategy, Event, EventKind, Hedge, Jitter, Observer, RetryError, RetryQuota, StandardRetryStrategy,
    Stop, TimeLimit, TimedOut, retry, retry_blocking, retryable, test,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

type Outcome = Result<u32, Error>;

/// Delays of 1, 2 and so on seconds, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Calls the handle after this time.
async fn stops(stop: &Stop, time: Duration) {
    sleep(time).await;
    stop.stop();
}

#[retryable(strategy = strategy, stop = stop)]
async fn annotated(strategy: &StandardRetryStrategy, stop: &Stop, calls: &Cell<u32>) -> Outcome {
    calls.set(calls.get() + 1);
    SAFE
}

// Rules T17, T18.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_immediately_with_the_last_outcome_and_its_cost_comes_back() {
    for form in ["closure", "attribute", "tower", "tower with an Arc"] {
        let (strategy, calls, began) = (standard(), Cell::new(0), Instant::now());
        let stop: &'static Stop = Box::leak(Box::default());
        let shared = Arc::new(Stop::new());
        let fails = || {
            calls.set(calls.get() + 1);
            ready(SAFE)
        };
        // In the middle of the second delay.
        let stopped = if form == "tower with an Arc" { &*shared } else { stop };
        let outcome = tokio::join!(stops(stopped, secs(2)), async {
            match form {
                "closure" => retry(&strategy, fails).stop(stop).run().await,
                "attribute" => annotated(&strategy, stop, &calls).await,
                "tower" => {
                    let layer = RetryLayer::with_handle(&strategy).stop(stop);
                    layer.layer(service_fn(|()| fails())).oneshot(()).await
                }
                _ => {
                    let layer = RetryLayer::with_handle(&strategy).stop(Arc::clone(&shared));
                    layer.layer(service_fn(|()| fails())).oneshot(()).await
                }
            }
        })
        .1;
        assert_eq!(outcome, SAFE, "{form}");
        assert_eq!((calls.get(), began.elapsed()), (2, secs(2)), "{form}");
        assert_eq!(strategy.quota().available(), 500 - 5, "{form}");
    }
}

/// The kinds and the reasons of events.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Observer for Told {
    fn observe(&self, event: &Event) {
        let reason = match event.kind {
            EventKind::Stopped { reason, .. } => reason.as_str(),
            EventKind::HedgeNotSent { reason, .. } => reason.as_str(),
            _ => "",
        };
        self.0.borrow_mut().push(format!("{} {reason}", event.kind.as_str()).trim_end().to_owned());
    }
}

// Rule T18.
#[tokio::test(start_paused = true)]
async fn the_reason_is_in_the_report_and_in_the_events() {
    let (strategy, stop, told) = (standard(), Stop::new(), Told::default());
    let call = retry(&strategy, || ready(SAFE)).stop(&stop).observer(&told);
    let report = tokio::join!(call.report(), stops(&stop, millis(500))).0;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::Stopped)));
    assert_eq!(report.elapsed, millis(500));
    let told = told.0.take();
    assert_eq!(told, ["attempt_started", "attempt_failed", "retry_scheduled", "stopped stopped"]);
}

// Rule T17.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_runs_is_not_cut_and_is_not_retried() {
    for (answer, reason) in [(Ok(1), None), (SAFE, Some(RetryError::Stopped))] {
        let (strategy, stop, told) = (standard(), Stop::new(), RefCell::new(Vec::new()));
        let call = retry(&strategy, || async {
            sleep(secs(1)).await;
            answer
        });
        let call = call.on_retry(|_, event| told.borrow_mut().push(event.kind.as_str())).stop(&stop);
        let report = tokio::join!(call.report(), stops(&stop, millis(500))).0;
        assert_eq!((report.outcome, report.attempts, report.reason), (answer, 1, reason));
        assert_eq!((report.elapsed, strategy.quota().available()), (secs(1), 500));
        let expected: &[_] = if reason.is_some() { &["stopped"] } else { &[] };
        assert_eq!(*told.borrow(), expected);
    }
    // What would not be retried anyway keeps its reason.
    let (strategy, stop) = (standard(), Stop::new());
    let call = retry(&strategy, || {
        stop.stop();
        ready(Err::<u32, _>(Error::Failed(Failed::FATAL)))
    });
    assert_eq!(call.stop(&stop).report().await.reason, Some(RetryError::NotRetryable));
}

// Rule T18.
#[tokio::test(start_paused = true)]
async fn an_operation_that_has_sent_nothing_returns_that_it_was_stopped() {
    let stop = Stop::new();
    stop.stop();
    let (strategy, calls) = (standard(), Cell::new(0));
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        ready(Ok::<u32, Error>(1))
    });
    let report = call.stop(&stop).report().await;
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Stop, Duration::ZERO)));
    assert_eq!((report.attempts, report.reason, calls.get()), (0, Some(RetryError::Stopped), 0));

    let refused = retry_blocking(&strategy, || io::Result::Ok(())).when(|_| true).stop(&stop).run().unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
    let inner = refused.get_ref().and_then(|inner| inner.downcast_ref::<TimedOut>());
    assert_eq!(inner.map(TimedOut::limit), Some(TimeLimit::Stop));
    assert_eq!(refused.to_string(), "the operation was stopped before it had an outcome");
}

#[retryable(strategy = strategy, stop = stop)]
async fn stops_itself(strategy: &StandardRetryStrategy, stop: Arc<Stop>) -> Outcome {
    stop.stop();
    SAFE
}

#[retryable(strategy = strategy, stop = Arc::clone(stop))]
async fn clones(strategy: &StandardRetryStrategy, stop: &Arc<Stop>) -> Outcome {
    stop.stop();
    SAFE
}

#[retryable(strategy = strategy, stop = &stop.0, blocking)]
fn stops_by_a_pointer(strategy: &StandardRetryStrategy, stop: &(Box<Stop>,)) -> Outcome {
    stop.0.stop();
    SAFE
}

// Rule T17.
#[tokio::test(start_paused = true)]
async fn the_attribute_takes_pointers_to_a_handle_and_the_body_may_use_them() {
    let (strategy, began) = (standard(), Instant::now());
    assert_eq!(stops_itself(&strategy, Arc::default()).await, SAFE);
    assert_eq!(clones(&strategy, &Arc::default()).await, SAFE);
    assert_eq!(stops_by_a_pointer(&strategy, &Default::default()), SAFE);
    assert_eq!((began.elapsed(), strategy.quota().available()), (Duration::ZERO, 500));
}

// Rules T17, T18.
#[tokio::test(start_paused = true)]
async fn a_wait_for_a_limiter_ends_too() {
    let (strategy, stop, began) = (AdaptiveRetryStrategy::new(), Stop::new(), Instant::now());
    for _ in 0..4 {
        let _ = retry(&strategy, || ready(Err::<u32, _>(Failed::THROTTLED))).run().await;
    }
    let limited = Instant::now();
    let calls: Vec<_> = (0..50).map(|_| retry(&strategy, || ready(Ok::<u32, Error>(1))).stop(&stop).run()).collect();
    let calls = calls.into_iter().map(Box::pin).collect::<Vec<_>>();
    let mut outcomes = Vec::new();
    tokio::join!(stops(&stop, millis(100)), async {
        for call in calls {
            outcomes.push(timeout(secs(100), call).await.unwrap());
        }
    });
    let stopped = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert!(stopped > 40, "{stopped} of 50");
    assert_eq!(limited.elapsed(), millis(100));
    assert!(began.elapsed() > secs(1));
}

/// What a blocking call did: its outcome, and the calls.
fn blocking(stop: &Stop, strategy: &StandardRetryStrategy) -> (Outcome, u32) {
    let calls = Cell::new(0);
    let call = retry_blocking(strategy, || {
        calls.set(calls.get() + 1);
        SAFE
    });
    (call.timer(StdTimer).stop(stop).run(), calls.get())
}

#[retryable(strategy = strategy, stop = stop, blocking)]
fn annotated_blocking(strategy: &StandardRetryStrategy, stop: &Stop) -> Outcome {
    SAFE
}

// Rule T17.
#[test]
fn a_thread_that_blocks_continues_immediately() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).backoff(secs(3600), secs(3600));
    let stop = Stop::new();
    let (closure, attribute) = thread::scope(|scope| {
        let closure = scope.spawn(|| blocking(&stop, &strategy));
        let attribute = scope.spawn(|| annotated_blocking(&strategy, &stop));
        // Both wait, unless the machine is slow. Then they end before the wait.
        thread::sleep(millis(50));
        closure.thread().unpark();
        thread::sleep(millis(10));
        stop.stop();
        (closure.join().unwrap(), attribute.join().unwrap())
    });
    assert_eq!((closure, attribute), ((SAFE, 1), SAFE));
    assert_eq!(strategy.quota().available(), 500);
}

// Rule T17.
#[test]
fn a_thread_whose_clock_is_not_its_own_waits_for_each_delay() {
    let (strategy, stop, timer) = (standard(), Stop::new(), ManualTimer::new());
    let calls = Cell::new(0);
    let call = retry_blocking(&strategy, || {
        calls.set(calls.get() + 1);
        SAFE
    });
    assert_eq!(call.timer(&timer).stop(&stop).run(), SAFE);
    assert_eq!(calls.get(), 5);
}

// Rules T17, T19.
#[tokio::test(start_paused = true)]
async fn a_limit_of_time_applies_beside_it() {
    let (strategy, stop, began) = (standard(), Stop::new(), Instant::now());
    let slow = || async {
        sleep(secs(10)).await;
        Ok::<u32, Error>(1)
    };
    let report = retry(&strategy, slow).stop(&stop).max_time(secs(2)).attempt_timeout(secs(1)).report().await;
    assert_eq!((report.reason, began.elapsed()), (Some(RetryError::MaxTime), secs(2)));
    let report = retry(&strategy, slow).attempt_timeout(secs(1)).max_time(secs(9)).stop(&stop);
    let report = tokio::join!(report.report(), stops(&stop, millis(1500))).0;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::Stopped)));
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Attempt, secs(1))));
    assert_eq!(began.elapsed(), millis(3500));
}

// Rules T14, T19.
#[tokio::test(start_paused = true)]
async fn other_limits_may_be_set_before_it_and_after_it() {
    let (strategy, stop) = (standard(), Stop::new());
    let slow = || async {
        sleep(secs(10)).await;
        Ok::<u32, Error>(1)
    };
    let call = || retry(&strategy, slow);
    let at = || Instant::now() + secs(2);
    let deadline = Some((TimeLimit::Deadline, secs(2)));
    assert_eq!(time_was_up(&call().stop(&stop).deadline(at()).run().await), deadline);
    assert_eq!(time_was_up(&call().deadline(at()).stop(&stop).run().await), deadline);
    assert_eq!(time_was_up(&call().stop(&stop).attempt_timeout(secs(3)).deadline(at()).run().await), deadline);
    let attempt = Some((TimeLimit::Attempt, secs(3)));
    assert_eq!(time_was_up(&call().stop(&stop).attempt_timeout(secs(3)).run().await), attempt);
    assert_eq!(time_was_up(&call().attempt_timeout(secs(3)).stop(&stop).run().await), attempt);
    assert_eq!(time_was_up(&call().attempt_timeout(secs(9)).stop(&stop).attempt_timeout(secs(3)).run().await), attempt);
}

// Rule T17.
#[tokio::test(start_paused = true)]
async fn of_two_handles_the_last_one_counts() {
    let (strategy, first, second) = (standard(), Stop::new(), Stop::new());
    first.stop();
    let call = || retry(&strategy, || ready(SAFE)).stop(&first).stop(&second);
    let report = tokio::join!(call().report(), stops(&second, millis(500))).0;
    assert_eq!((report.attempts, report.elapsed), (1, millis(500)));
    assert_eq!((call().report().await.attempts, report.reason), (0, Some(RetryError::Stopped)));
}

// Rules T17, T19.
#[test]
fn under_a_test_guard_skipped_waits_count_for_the_limits_beside_it() {
    let _test = test::begin();
    let (strategy, stop) = (standard(), Stop::new());
    // Waits of 1 and 2 seconds fit, and one of 4 seconds does not.
    let report = retry_blocking(&strategy, || SAFE).stop(&stop).max_time(secs(6)).report();
    assert_eq!((report.attempts, report.reason), (3, Some(RetryError::MaxTime)));
}

// Rule T19.
#[tokio::test(start_paused = true)]
async fn the_wait_of_a_long_poll_ends_too() {
    let (strategy, stop, began) = (LongPolling::over(standard().quota_capacity(1)), Stop::new(), Instant::now());
    let call = retry(&strategy, || ready(SAFE)).stop(&stop);
    let report = tokio::join!(call.report(), stops(&stop, millis(300))).0;
    assert_eq!((report.outcome, report.reason), (SAFE, Some(RetryError::Stopped)));
    assert_eq!(began.elapsed(), millis(300));
}

// Rule T17.
#[tokio::test(start_paused = true)]
async fn there_is_no_hedge_after_a_stop() {
    static AFTER: Hedge = Hedge::after(millis(100));
    let (strategy, stop, told) = (standard(), Stop::new(), Told::default());
    let call = retry(&strategy, || async {
        sleep(secs(1)).await;
        Ok::<u32, Error>(1)
    });
    let call = call.stop(&stop).observer(&told).idempotent(true).hedge(&AFTER);
    assert_eq!(tokio::join!(call.run(), stops(&stop, millis(50))).0, Ok(1));
    assert_eq!(told.0.take()[1], format!("hedge_not_sent {}", NoHedge::Stopped.as_str()));
    assert_eq!(strategy.quota().available(), 500);
}

// Rule T17.
#[test]
fn under_a_test_guard_a_stop_in_an_attempt_ends_the_operation() {
    let test = test::begin();
    let (strategy, stop) = (standard(), Stop::new());
    let calls = Cell::new(0);
    let outcome = retry_blocking(&strategy, || {
        calls.set(calls.get() + 1);
        if calls.get() == 2 {
            stop.stop();
        }
        SAFE
    });
    outcome.stop(&stop).run().unwrap_err();
    test.only().assert_ended(2, Some(RetryError::Stopped));
    assert_eq!(test.only().delays, [secs(1)]);
}

// Rule T20.
#[tokio::test(start_paused = true)]
async fn waits_that_are_over_do_not_pile_up() {
    let (strategy, stop) = (standard().max_attempts(2), Stop::new());
    let mut long = pin!(retry(&strategy, || ready(SAFE)).stop(&stop).run());
    assert!(futures_poll(&mut long).await.is_none());
    for _ in 0..1000 {
        drop(timeout(millis(1), retry(&strategy, || ready(SAFE)).stop(&stop).run()).await);
    }
    let debug = format!("{stop:?}");
    assert!(debug.matches("Waiter").count() <= 32, "{debug}");
    stop.stop();
    assert_eq!(long.await, SAFE);
}

// Rule T20.
#[tokio::test(start_paused = true)]
async fn a_stop_refers_to_at_most_twice_as_many_waits_as_there_are_or_16() {
    for (lasting, most) in [(0, 16), (20, 40)] {
        let (strategy, stop) = (standard(), Stop::new());
        let wait = || {
            let mut call = Box::pin(retry(&strategy, || ready(SAFE)).stop(&stop).run());
            poll_once(call.as_mut());
            call
        };
        let lasting: Vec<_> = (0..lasting).map(|_| wait()).collect();
        let waits = (0..200).map(|_| {
            drop(wait());
            format!("{stop:?}").matches("Waiter").count()
        });
        assert_eq!(waits.max(), Some(most), "{} last", lasting.len());
    }
}

async fn futures_poll<F: Future>(future: &mut std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

// Rule T22.
#[tokio::test(start_paused = true)]
async fn a_child_is_stopped_with_its_parent_and_can_be_stopped_alone() {
    static PARENT: Stop = Stop::new();
    let shared = Arc::new(Stop::new());
    let parents: [(&Stop, [Stop; 2]); 2] = [
        (&PARENT, [Stop::child_of(&PARENT), Stop::child_of(&PARENT)]),
        (&shared, [Stop::child_of(Arc::clone(&shared)), Stop::child_of(Arc::clone(&shared))]),
    ];
    for (parent, [first, second]) in &parents {
        let (strategy, began) = (standard(), Instant::now());
        let call = |stop| retry(&strategy, || ready(SAFE)).stop(stop).report();
        let calls = async { tokio::join!(call(first), call(second), call(parent)) };
        let (reports, (), ()) = tokio::join!(calls, stops(first, millis(300)), stops(parent, millis(600)));
        let reports = [reports.0, reports.1, reports.2];
        assert_eq!(reports.each_ref().map(|report| report.elapsed), [millis(300), millis(600), millis(600)]);
        assert!(reports.iter().all(|report| (report.outcome, report.reason) == (SAFE, Some(RetryError::Stopped))));
        assert_eq!((began.elapsed(), strategy.quota().available()), (millis(600), 500));
        assert!(first.is_stopped() && second.is_stopped());
    }
    // One that is made after the stop is stopped, too.
    let late = Stop::child_of(&PARENT);
    assert!(late.is_stopped());
    assert_eq!(retry(&standard(), || ready(SAFE)).stop(&late).report().await.attempts, 0);
    late.stopped().await;
}

// Rule T22.
#[tokio::test(start_paused = true)]
async fn a_child_that_is_stopped_leaves_its_parent_and_its_siblings_as_they_are() {
    let parent = Arc::new(Stop::new());
    let (child, sibling) = (Stop::child_of(Arc::clone(&parent)), Stop::child_of(Arc::clone(&parent)));
    let (strategy, other) = (standard().max_attempts(2), standard().max_attempts(2));
    let call = retry(&strategy, || ready(SAFE)).stop(&child).report();
    let unharmed = retry(&other, || ready(SAFE)).stop(&sibling).report();
    let (report, unharmed, ()) = tokio::join!(call, unharmed, stops(&child, millis(300)));
    assert_eq!((report.reason, unharmed.reason), (Some(RetryError::Stopped), Some(RetryError::MaxAttempts)));
    assert!(!parent.is_stopped() && !sibling.is_stopped());
}

// Rule T22.
#[tokio::test(start_paused = true)]
async fn descendants_are_stopped_in_any_form_of_a_call() {
    for form in ["attribute", "tower", "future"] {
        let grandparent = Arc::new(Stop::new());
        let parent = Arc::new(Stop::child_of(Arc::clone(&grandparent)));
        let child = Arc::new(Stop::child_of(Arc::clone(&parent)));
        let (strategy, calls, began) = (standard(), Cell::new(0), Instant::now());
        let ended = async {
            match form {
                "attribute" => assert_eq!(annotated(&strategy, &child, &calls).await, SAFE),
                "tower" => {
                    let layer = RetryLayer::with_handle(&strategy).stop(Arc::clone(&child));
                    assert_eq!(layer.layer(service_fn(|()| ready(SAFE))).oneshot(()).await, SAFE);
                }
                _ => child.stopped().await,
            }
        };
        tokio::join!(ended, stops(&grandparent, millis(500)));
        assert_eq!(began.elapsed(), millis(500), "{form}");
        assert_eq!(strategy.quota().available(), 500, "{form}");
    }
}

// Rule T22.
#[test]
fn a_thread_that_waits_with_a_child_continues_when_the_parent_stops() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).backoff(secs(3600), secs(3600));
    let parent = Arc::new(Stop::new());
    let child = Stop::child_of(Arc::clone(&parent));
    let ended = thread::scope(|scope| {
        let call = scope.spawn(|| blocking(&child, &strategy));
        thread::sleep(millis(50));
        parent.stop();
        call.join().unwrap()
    });
    assert_eq!(ended, (SAFE, 1));
}

// Rules T20, T22.
#[tokio::test(start_paused = true)]
async fn a_child_that_is_dropped_leaves_nothing_behind() {
    let (strategy, parent) = (standard(), Arc::new(Stop::new()));
    for _ in 0..1000 {
        let child = Stop::child_of(Arc::clone(&parent));
        let mut call = Box::pin(retry(&strategy, || ready(SAFE)).stop(&child).run());
        poll_once(call.as_mut());
        assert_eq!(Arc::strong_count(&parent), 2);
    }
    assert_eq!(Arc::strong_count(&parent), 1);
    let debug = format!("{parent:?}");
    assert!(debug.matches("Waiter").count() <= 16, "{debug}");
    for _ in 0..1000 {
        drop(Stop::child_of(Arc::clone(&parent)));
    }
    assert_eq!((Arc::strong_count(&parent), format!("{parent:?}")), (1, debug));
}
