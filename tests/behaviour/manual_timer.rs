//! The timer that is moved by hand: its clock, its sleeps, and operations in its time.

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
fn it_starts_where_the_clocks_of_the_library_do_and_is_moved_by_hand_only() {
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
fn its_clones_share_one_clock() {
    let timer = ManualTimer::new();
    let other = timer.clone();
    other.advance(secs(2));
    timer.advance(secs(3));
    assert_eq!([since_start(&timer), since_start(&other)], [secs(5); 2]);
    assert_eq!(since_start(&ManualTimer::new()), Duration::ZERO);
}

#[test]
fn no_thread_takes_back_what_another_one_advanced() {
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
fn a_sleep_is_over_and_woken_at_its_end_and_not_before() {
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
fn a_sleep_that_was_never_polled_or_has_no_length_needs_no_wake() {
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
fn a_clock_that_goes_back_leaves_the_ends_of_sleeps_where_they_are() {
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
fn a_sleep_that_has_come_due_stays_due_wherever_the_clock_is_set() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let (mut polled, unpolled) = (pin!(timer.sleep(secs(10))), pin!(timer.sleep(secs(10))));
    let mut later = pin!(timer.sleep(Duration::new(10, 1)));
    let empty = pin!(timer.sleep(Duration::ZERO));
    assert!(poll(polled.as_mut(), &wakes).is_pending() && poll(later.as_mut(), &wakes).is_pending());
    timer.advance(secs(10));
    timer.set(Timestamp::START.saturating_sub(secs(100)));
    assert_eq!((poll(polled.as_mut(), &wakes), wakes.count()), (Poll::Ready(()), 1));
    assert_eq!((poll(unpolled, &wakes), poll(empty, &wakes)), (Poll::Ready(()), Poll::Ready(())));
    assert_eq!((poll(later, &wakes), wakes.count()), (Poll::Pending, 1), "its end was never reached");
    assert_eq!(poll(polled, &wakes), Poll::Ready(()), "it may be polled again");
}

/// Writes its name down when it is woken.
struct Named(u32, Arc<Mutex<Vec<u32>>>);

impl Wake for Named {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[test]
fn sleeps_are_woken_in_the_order_of_their_ends_whatever_their_beginnings() {
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
        // Polled in any order, too.
        for (name, sleep) in &mut sleeps {
            assert!(poll(sleep.as_mut(), &Arc::new(Named(*name, Arc::clone(&woken)))).is_ready());
        }
    }
}

#[test]
fn sleeps_of_one_task_that_end_together_are_all_over() {
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
fn a_sleep_that_is_dropped_is_not_woken_and_keeps_no_task_alive() {
    let (timer, wakes) = (ManualTimer::new(), Arc::new(Wakes::default()));
    let mut sleep = Box::pin(timer.sleep(secs(1)));
    assert!(poll(sleep.as_mut(), &wakes).is_pending());
    drop(sleep);
    assert_eq!(Arc::strong_count(&wakes), 1);
    timer.advance(secs(1));
    assert_eq!(wakes.count(), 0);
}

#[test]
fn a_waker_may_move_the_clock_and_sleep_again() {
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
fn a_blocked_thread_moves_the_clock_and_wakes_the_tasks_that_sleep() {
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
fn it_is_the_timer_of_an_operation_in_each_form() {
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

/// A timer that tests of a process share, as they share a strategy.
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
fn it_can_be_a_static() {
    let flaky = || Flaky::new(3, Failed::SAFE);
    assert_eq!(run(&TIMER, in_shared_time(&flaky())), Ok(4));
    assert_eq!(since_start(&TIMER), secs(7));
    let service = flaky();
    assert_eq!(run(&TIMER, retry(&*STRATEGY, || async { service.call() }).timer(&TIMER).run()), Ok(4));
    assert_eq!((blocking_in_shared_time(&flaky()), since_start(&TIMER)), (Ok(4), secs(3 * 7)));
}

#[test]
fn limits_are_limits_in_its_time() {
    let (timer, strategy) = (ManualTimer::new(), standard());
    let stuck = || std::future::pending::<Result<u32, Error>>();
    let call = retry(&strategy, stuck).timer(&timer).attempt_timeout(secs(3)).max_time(secs(10));
    let report = run(&timer, call.report());
    // Attempts from 0 to 3 and from 4 to 7 seconds, and a third one that would begin at 9 and is cut at 10.
    assert_eq!((report.attempts, report.reason, report.elapsed), (3, Some(RetryError::MaxTime), secs(10)));
    let Err(Error::TimedOut(cut)) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((cut.limit(), cut.time()), (TimeLimit::Attempt, secs(3)), "the last outcome that there was");
    assert_eq!(strategy.quota().available(), 500 - 10 - 10);
}
