//! The manual timer: its clock, its sleeps, and operations that use it.

use crate::script::Error;
use crate::support::timers::{run, since_start};
use crate::support::{Failed, Flaky, Wakes, assert_send, millis, secs};
use retry_core::time::{BlockingTimer, Clock, ManualSleep, ManualTimer, Timestamp};
use retry_core::{Jitter, RetryError, RetryQuota, StandardRetryStrategy, TimeLimit, Timer, retry, retryable};
use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// Delays of 1, 2, 4 and 8 seconds.
static STRATEGY: LazyLock<StandardRetryStrategy> = LazyLock::new(standard);

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Arc<impl Wake + Send + Sync + 'static>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(waker))))
}

#[test]
fn the_clock_starts_at_the_common_origin_and_changes_only_when_it_is_advanced_or_set() {
    let timer = ManualTimer::new();
    assert_eq!((timer.now(), ManualTimer::default().now()), (Timestamp::START, Timestamp::START));
    timer.advance(millis(1500));
    timer.advance(Duration::from_nanos(1));
    assert_eq!(since_start(&timer), Duration::new(1, 500_000_001));
    timer.advance(Duration::MAX);
    assert_eq!(timer.now().since_origin(), Duration::MAX, "it saturates");
    timer.set(Timestamp::START.saturating_sub(secs(9)));
    assert_eq!(Timestamp::START.saturating_since(timer.now()), secs(9));
}

#[test]
fn clones_share_one_clock() {
    let timer = ManualTimer::new();
    let other = timer.clone();
    other.advance(secs(2));
    timer.advance(secs(3));
    assert_eq!([since_start(&timer), since_start(&other)], [secs(5); 2]);
    assert_eq!(since_start(&ManualTimer::new()), Duration::ZERO);
}

#[test]
fn concurrent_advances_are_not_lost() {
    const EACH: u32 = 20_000;
    let timer = ManualTimer::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..EACH).for_each(|_| timer.advance(Duration::from_nanos(1))));
        }
    });
    assert_eq!(since_start(&timer), Duration::from_nanos(1) * (4 * EACH));
}

#[test]
fn a_sleep_is_ready_and_woken_at_its_end_and_not_before() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let mut sleep = pin!(timer.sleep(secs(60)));
    assert!(poll(sleep.as_mut(), &wakes).is_pending());
    timer.advance(Duration::new(59, 999_999_999));
    assert_eq!((poll(sleep.as_mut(), &wakes), wakes.count()), (Poll::Pending, 0));
    timer.advance(Duration::from_nanos(1));
    assert_eq!((poll(sleep, &wakes), wakes.count()), (Poll::Ready(()), 1));
    timer.advance(secs(60));
    assert_eq!(wakes.count(), 1);
}

#[test]
fn a_sleep_that_was_not_polled_or_is_empty_needs_no_wake() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let unpolled = pin!(timer.sleep(secs(1)));
    assert_eq!(poll(pin!(timer.sleep(Duration::ZERO)), &wakes), Poll::Ready(()));
    let mut longest = pin!(timer.sleep(Duration::MAX));
    assert!(poll(longest.as_mut(), &wakes).is_pending());
    timer.advance(secs(1));
    assert_eq!((poll(unpolled, &wakes), poll(longest, &wakes)), (Poll::Ready(()), Poll::Pending));
    assert_eq!(wakes.count(), 0);
}

#[test]
fn the_end_of_a_sleep_is_unchanged_when_the_clock_goes_back() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let mut sleep = pin!(timer.sleep(secs(10)));
    assert!(poll(sleep.as_mut(), &wakes).is_pending());
    timer.set(Timestamp::START.saturating_sub(secs(100)));
    timer.advance(secs(109));
    assert_eq!((poll(sleep.as_mut(), &wakes), wakes.count()), (Poll::Pending, 0));
    timer.advance(secs(1));
    assert_eq!((poll(sleep, &wakes), wakes.count()), (Poll::Ready(()), 1));
}

#[test]
fn a_sleep_that_has_ended_stays_ready_when_the_clock_goes_back() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let (mut polled, unpolled) = (pin!(timer.sleep(secs(10))), pin!(timer.sleep(secs(10))));
    let mut later = pin!(timer.sleep(Duration::new(10, 1)));
    let empty = pin!(timer.sleep(Duration::ZERO));
    assert!(poll(polled.as_mut(), &wakes).is_pending() && poll(later.as_mut(), &wakes).is_pending());
    timer.advance(secs(10));
    timer.set(Timestamp::START.saturating_sub(secs(100)));
    assert_eq!((poll(polled.as_mut(), &wakes), wakes.count()), (Poll::Ready(()), 1));
    assert_eq!((poll(unpolled, &wakes), poll(empty, &wakes)), (Poll::Ready(()), Poll::Ready(())));
    assert_eq!((poll(later, &wakes), wakes.count()), (Poll::Pending, 1), "the clock has not reached its end");
    assert_eq!(poll(polled, &wakes), Poll::Ready(()), "a sleep may be polled again");
}

/// A waker that records its name.
struct Named(u32, Arc<Mutex<Vec<u32>>>);

impl Wake for Named {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[test]
fn sleeps_are_woken_in_the_order_of_their_ends() {
    for order in [[1, 2, 3, 4], [4, 3, 2, 1], [2, 4, 1, 3], [3, 1, 4, 2]] {
        let (timer, woken) = (ManualTimer::new(), Arc::default());
        let mut sleeps = order.map(|name| (name, Box::pin(timer.sleep(secs(u64::from(name))))));
        for (name, sleep) in &mut sleeps {
            assert!(poll(sleep.as_mut(), &Arc::new(Named(*name, Arc::clone(&woken)))).is_pending());
        }
        timer.advance(secs(1));
        assert_eq!(*woken.lock().unwrap(), [1]);
        timer.advance(secs(3));
        assert_eq!(*woken.lock().unwrap(), [1, 2, 3, 4], "{order:?}");
        // They are polled in another order.
        for (name, sleep) in &mut sleeps {
            assert!(poll(sleep.as_mut(), &Arc::new(Named(*name, Arc::clone(&woken)))).is_ready());
        }
    }
}

#[test]
fn all_sleeps_of_one_task_that_end_together_are_ready() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let mut sleeps = [(); 3].map(|()| Box::pin(timer.sleep(secs(1))));
    assert!(sleeps.iter_mut().all(|sleep| poll(sleep.as_mut(), &wakes).is_pending()));
    timer.advance(secs(1));
    assert!(wakes.count() >= 1);
    assert!(sleeps.iter_mut().all(|sleep| poll(sleep.as_mut(), &wakes).is_ready()));
}

#[test]
fn sleeps_of_different_tasks_that_end_together_are_sleeps_of_their_own() {
    let (timer, [first, second]) = (ManualTimer::new(), [(); 2].map(|()| Arc::new(Wakes::default())));
    let (mut one, mut other) = (pin!(timer.sleep(secs(1))), pin!(timer.sleep(secs(1))));
    let mut dropped = Box::pin(timer.sleep(secs(1)));
    assert!(poll(dropped.as_mut(), &first).is_pending());
    assert!(poll(one.as_mut(), &first).is_pending() && poll(other.as_mut(), &second).is_pending());
    drop(dropped);
    assert!(poll(one.as_mut(), &first).is_pending() && poll(other.as_mut(), &second).is_pending());
    timer.advance(secs(1));
    assert_eq!((first.count(), second.count()), (1, 1));
    assert!(poll(one, &first).is_ready() && poll(other, &second).is_ready());
}

#[test]
fn a_sleep_that_moves_to_another_task_is_woken_there() {
    let (timer, [before, after]) = (ManualTimer::new(), [(); 2].map(|()| Arc::new(Wakes::default())));
    let mut sleep = pin!(timer.sleep(secs(1)));
    assert!(poll(sleep.as_mut(), &before).is_pending());
    assert!(poll(sleep.as_mut(), &after).is_pending());
    timer.advance(secs(1));
    assert_eq!((before.count(), after.count()), (0, 1));
}

#[test]
fn a_dropped_sleep_is_not_woken_and_does_not_keep_its_task_alive() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let mut sleep = Box::pin(timer.sleep(secs(1)));
    assert!(poll(sleep.as_mut(), &wakes).is_pending());
    drop(sleep);
    assert_eq!(Arc::strong_count(&wakes), 1);
    timer.advance(secs(1));
    assert_eq!(wakes.count(), 0);
}

#[test]
fn a_waker_may_advance_the_clock_and_start_a_sleep() {
    struct Moving(ManualTimer, Mutex<Option<ManualSleep>>);
    impl Wake for Moving {
        fn wake(self: Arc<Self>) {
            self.0.advance(secs(1));
            let mut sleep = self.0.sleep(secs(1));
            assert!(poll(Pin::new(&mut sleep), &Arc::new(Wakes::default())).is_pending());
            *self.1.lock().unwrap() = Some(sleep);
        }
    }

    let timer = ManualTimer::new();
    let mut sleep = pin!(timer.sleep(secs(1)));
    assert!(poll(sleep.as_mut(), &Arc::new(Moving(timer.clone(), Mutex::default()))).is_pending());
    timer.advance(secs(1));
    assert_eq!(since_start(&timer), secs(2));
}

#[test]
fn a_blocking_wait_advances_the_clock_and_wakes_sleeping_tasks() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let mut sleep = pin!(timer.sleep(secs(3)));
    assert!(poll(sleep.as_mut(), &wakes).is_pending());
    timer.block(secs(2));
    timer.park(secs(1));
    assert_eq!((since_start(&timer), wakes.count()), (secs(3), 1));
}

#[retryable(strategy = STRATEGY, timer = timer)]
async fn attribute(timer: &ManualTimer, flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

#[retryable(strategy = STRATEGY, timer = timer.clone(), blocking)]
fn blocking(timer: &ManualTimer, flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

#[test]
fn every_form_of_operation_runs_on_a_manual_timer() {
    let flaky = || Flaky::new(3, Failed::SAFE);
    let timer = ManualTimer::new();
    assert_eq!(run(&timer, attribute(&timer, &flaky())), Ok(4));
    assert_eq!(since_start(&timer), secs(1 + 2 + 4));

    let (timer, service) = (ManualTimer::new(), flaky());
    let call = retry(&*STRATEGY, || async { service.call() }).timer(timer.clone());
    let report = run(&timer, assert_send(call.report()));
    assert_eq!((report.outcome, report.elapsed, since_start(&timer)), (Ok(4), secs(7), secs(7)));

    let timer = ManualTimer::new();
    assert_eq!((blocking(&timer, &flaky()), since_start(&timer)), (Ok(4), secs(7)));
}

/// A timer in a `static`.
static TIMER: LazyLock<ManualTimer> = LazyLock::new(ManualTimer::new);

#[retryable(strategy = STRATEGY, timer = TIMER)]
async fn in_shared_time(flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

#[retryable(strategy = STRATEGY, timer = TIMER, blocking)]
fn blocking_in_shared_time(flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

#[test]
fn a_manual_timer_can_be_a_static() {
    let flaky = || Flaky::new(3, Failed::SAFE);
    assert_eq!(run(&TIMER, in_shared_time(&flaky())), Ok(4));
    assert_eq!(since_start(&TIMER), secs(7));
    let service = flaky();
    assert_eq!(run(&TIMER, retry(&*STRATEGY, || async { service.call() }).timer(&TIMER).run()), Ok(4));
    assert_eq!((blocking_in_shared_time(&flaky()), since_start(&TIMER)), (Ok(4), secs(3 * 7)));
}

#[test]
fn time_limits_use_the_clock_of_the_timer() {
    let (timer, strategy) = (ManualTimer::new(), standard());
    let stuck = || std::future::pending::<Result<u32, Error>>();
    let call = retry(&strategy, stuck).timer(&timer).attempt_timeout(secs(3)).max_time(secs(10));
    let report = run(&timer, call.report());
    // Attempts from 0 to 3 and from 4 to 7 seconds, and a third one from 9 seconds that is cut at 10.
    assert_eq!((report.attempts, report.reason, report.elapsed), (3, Some(RetryError::MaxTime), secs(10)));
    let Err(Error::TimedOut(cut)) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(
        (cut.limit(), cut.time()),
        (TimeLimit::Attempt, secs(3)),
        "the outcome of the second attempt is returned"
    );
    assert_eq!(strategy.quota().available(), 500 - 10 - 10);
}
