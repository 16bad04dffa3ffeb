//! Slots come back, however an attempt ends: none is lost, and none is given twice.

use super::{Outcome, at_start, begin, fail, fill, in_flight, limit, limited_to, succeed};
use crate::script::{Error, SAFE};
use crate::support::{ByHand, Failed, millis, poll_once, secs};
use proptest::prelude::*;
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter};
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::time::Timestamp;
use retry_core::{Clock, Failure, RetryStrategy, StandardRetryStrategy, Success, retry, retry_blocking};
use retry_limits::{ConcurrencyRetryStrategy, ConcurrencyRetryToken, Pair};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;
use tokio::time::sleep;

async fn stuck() -> Outcome {
    std::future::pending().await
}

// Rule I6.
#[tokio::test(start_paused = true)]
async fn a_slot_comes_back_when_the_attempt_is_answered_dropped_or_cut_or_panics() {
    let strategy = limited_to(1);
    assert_eq!(retry(&strategy, async || Ok::<u32, Error>(1)).run().await, Ok(1));
    assert_eq!(in_flight(&strategy), 0);

    let mut abandoned = Box::pin(retry(&strategy, stuck).run());
    poll_once(abandoned.as_mut());
    assert_eq!(in_flight(&strategy), 1);
    drop(abandoned);
    assert_eq!(in_flight(&strategy), 0, "dropped");

    let mut panicking = Box::pin(retry(&strategy, async || -> Outcome { panic!("a panic of the test") }).run());
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(panicking.as_mut()))).is_err());
    drop(panicking);
    assert_eq!(in_flight(&strategy), 0, "panicked");

    assert!(retry(&strategy, stuck).attempt_timeout(millis(10)).max_time(secs(3)).run().await.is_err());
    assert_eq!(in_flight(&strategy), 0, "cut, and retried");
    assert!(retry(&strategy, stuck).max_time(millis(10)).run().await.is_err());
    assert_eq!(in_flight(&strategy), 0, "cut by `max_time`");

    // During its backoff, an operation has no slot.
    let attempts = Cell::new(0);
    let attempt = async || {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 { SAFE } else { stuck().await }
    };
    let mut retried = Box::pin(retry(&strategy, attempt).run());
    poll_once(retried.as_mut());
    assert_eq!((in_flight(&strategy), attempts.get()), (0, 1));
    tokio::time::advance(secs(1)).await;
    poll_once(retried.as_mut());
    assert_eq!((in_flight(&strategy), attempts.get()), (1, 2));
    drop(retried);
    assert_eq!(in_flight(&strategy), 0);

    let panics =
        catch_unwind(AssertUnwindSafe(|| retry_blocking(&strategy, || -> Outcome { panic!("of the test") }).run()));
    assert!(panics.is_err());
    assert_eq!(in_flight(&strategy), 0, "a thread panicked");
}

// Rule I6.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_dropped_at_any_poll_gives_back_what_it_has() {
    for has_retry in [false, true] {
        for polls in 0..12 {
            let strategy = limited_to(1);
            let attempts = Cell::new(0);
            let attempt = async || {
                attempts.set(attempts.get() + 1);
                tokio::task::yield_now().await;
                let is_first = attempts.get() == 1;
                if has_retry && is_first { Err(Error::Failed(Failed::THROTTLED)) } else { Ok(1) }
            };
            let mut holding = Box::pin(retry(&strategy, stuck).run());
            poll_once(holding.as_mut());
            let mut dropped = Box::pin(retry(&strategy, attempt).run());
            let mut holding = Some(holding);
            for poll in 0..polls {
                if attempts.get() < 2 && poll > 8 {
                    tokio::time::advance(secs(1)).await;
                }
                let outcome = std::future::poll_fn(|context| std::task::Poll::Ready(dropped.as_mut().poll(context)));
                if outcome.await.is_ready() {
                    break;
                }
                if poll == 3 {
                    holding = None;
                }
                tokio::time::advance(millis(10)).await;
            }
            drop(dropped);
            drop(holding);
            assert_eq!(in_flight(&strategy), 0, "{polls} polls");
            let started = tokio::time::Instant::now();
            assert_eq!(retry(&strategy, async || Ok::<u32, Error>(1)).run().await, Ok(1));
            assert!(started.elapsed() <= secs(1), "{polls} polls: somebody is ahead: {:?}", started.elapsed());
        }
    }
}

/// A clock that panics at one of its readings.
struct Panicking {
    readings: AtomicU32,
    panics_at: u32,
}

impl Clock for Panicking {
    fn now(&self) -> Timestamp {
        let reading = self.readings.fetch_add(1, Ordering::Relaxed);
        assert_ne!(reading, self.panics_at, "a panic of the test");
        Timestamp::from_origin(secs(1000))
    }
}

// Rule I6.
#[test]
fn a_clock_that_panics_at_any_call_costs_no_slot() {
    for panics_at in 0..8 {
        let strategy = limited_to(2);
        let clock = Panicking { readings: AtomicU32::new(0), panics_at };
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut tokens = [(); 3].map(|()| strategy.acquire_initial_token(&clock).unwrap());
            for token in &mut tokens {
                let _ = strategy.ready(token, &clock, None);
            }
            let [first, second, mut third] = tokens;
            drop(strategy.refresh_retry_token(first, &Failure::of(&Failed::THROTTLED), &clock));
            let _ = strategy.ready(&mut third, &clock, None);
            strategy.record_success(second, &Success::default(), &clock).unwrap();
            let _ = strategy.ready(&mut third, &clock, None);
            strategy.release(third);
        }));
        assert_eq!(panicked.is_err(), panics_at < clock.readings.load(Ordering::Relaxed), "{panics_at}");
        assert_eq!(in_flight(&strategy), 0, "{panics_at}");
        // Nobody is ahead.
        assert!(!fill(&strategy, &ByHand::at(secs(2000))).is_empty(), "{panics_at}");
    }
}

/// A waker that panics when its last clone is dropped.
struct PanicsInDrop;

impl Wake for PanicsInDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        assert!(thread::panicking(), "a panic of the test");
    }
}

// Rule I6.
#[test]
fn a_waker_whose_drop_panics_costs_no_slot() {
    let (strategy, clock) = (limited_to(1), at_start());
    // After a rejection at a window of one, all sends pause.
    let rejected = fill(&strategy, &clock).remove(0);
    fail(&strategy, rejected, Failed::THROTTLED, &clock);
    let mut token = begin(&strategy, &clock);
    let waker = Waker::from(Arc::new(PanicsInDrop));
    assert!(matches!(strategy.ready(&mut token, &clock, Some(&LazyWaker::from(&waker))), Ready::After(_)));
    drop(waker);
    clock.advance(secs(10));
    assert!(catch_unwind(AssertUnwindSafe(|| strategy.ready(&mut token, &clock, None))).is_err());
    assert_eq!(in_flight(&strategy), 1);
    strategy.release(token);
    assert_eq!(in_flight(&strategy), 0);
}

// Rules I6, R13.
#[test]
fn a_foreign_token_learns_nothing_and_its_slot_goes_back_to_where_it_is_from() {
    let (ours, theirs, clock) = (limited_to(5), limited_to(5), at_start());
    let mut foreign = fill(&theirs, &clock);
    assert_eq!(ours.ready(&mut foreign[0], &clock, None), Ready::Now);
    assert!(ours.record_success(foreign.remove(0), &Success::default(), &clock).is_err());
    assert!(ours.refresh_retry_token(foreign.remove(0), &Failure::of(&Failed::THROTTLED), &clock).is_err());
    ours.release(foreign.remove(0));
    assert_eq!((in_flight(&theirs), in_flight(&ours)), (2, 0));
    assert_eq!(limit(&theirs), 5);
}

// Rule I6.
#[test]
fn a_place_has_at_most_one_slot_and_can_ask_again_after_it_was_released_or_not_used() {
    let (strategy, clock) = (limited_to(2), at_start());
    let limiter = strategy.limiter();
    let mut place = limiter.begin(&clock);
    for _ in 0..3 {
        assert_eq!(limiter.ask(&mut place, &clock, None), Ready::Now);
        assert_eq!(in_flight(&strategy), 1);
    }
    limiter.release(&mut place);
    assert_eq!(in_flight(&strategy), 0);
    assert_eq!(limiter.ask(&mut place, &clock, None), Ready::Now);
    assert_eq!(limiter.failed(&mut place, FailedSend::NotSent, &clock), None);
    assert_eq!(in_flight(&strategy), 0);
    assert_eq!(limiter.ask(&mut place, &clock, None), Ready::Now);
    assert_eq!(in_flight(&strategy), 1);
}

// Rule I6.
#[test]
fn a_token_outlives_its_strategy() {
    let (strategy, clock) = (Box::new(limited_to(1)), at_start());
    let mut token = begin(&strategy, &clock);
    assert_eq!(strategy.ready(&mut token, &clock, None), Ready::Now);
    drop(strategy);
    drop(token);
}

// Rules I2, I6.
#[test]
fn two_windows_in_a_pair_lose_no_slot() {
    let (first, second) = (limited_to(2), limited_to(1));
    let pair = Pair(first.limiter(), second.limiter());
    let strategy = LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), pair);
    let clock = at_start();
    let mut tokens = [(); 3].map(|()| strategy.acquire_initial_token(&clock).unwrap());
    let ready = tokens.each_mut().map(|token| strategy.ready(token, &clock, None) == Ready::Now);
    assert_eq!((ready, in_flight(&first), in_flight(&second)), ([true, false, false], 1, 1));
    let [one, mut two, mut three] = tokens;
    strategy.record_success(one, &Success::default(), &clock).unwrap();
    assert_ne!(strategy.ready(&mut three, &clock, None), Ready::Now, "the second one is ahead");
    assert_eq!(strategy.ready(&mut two, &clock, None), Ready::Now);
    assert_eq!((in_flight(&first), in_flight(&second)), (1, 1));
    drop(two);
    assert_eq!(strategy.ready(&mut three, &clock, None), Ready::Now);
    drop(three);
    assert_eq!((in_flight(&first), in_flight(&second)), (0, 0));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    Ask(usize),
    Succeed(usize),
    Fail(usize, bool),
    Release(usize),
    Drop(usize),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..80_u64).prop_map(Step::Advance),
        1 => (1..3_000_u64).prop_map(Step::Advance),
        16 => (0..9_usize).prop_map(Step::Ask),
        4 => (0..9_usize).prop_map(Step::Succeed),
        3 => (0..9_usize, any::<bool>()).prop_map(|(slot, is_rejected)| Step::Fail(slot, is_rejected)),
        1 => (0..9_usize).prop_map(Step::Release),
        1 => (0..9_usize).prop_map(Step::Drop),
    ]
}

/// An operation, whether it has a slot, and its token.
type Operations = [Option<(bool, ConcurrencyRetryToken)>; 9];

fn step(strategy: &ConcurrencyRetryStrategy, clock: &ByHand, operations: &mut Operations, step: Step) {
    let mut take = |index: usize| operations[index].take();
    match step {
        Step::Advance(time) => clock.advance(millis(time)),
        Step::Ask(index) => {
            let (was_sent, mut token) = take(index).unwrap_or_else(|| (false, begin(strategy, clock)));
            let is_sent = strategy.ready(&mut token, clock, None) == Ready::Now;
            assert!(is_sent || !was_sent, "a slot was taken away");
            assert!(in_flight(strategy) <= 3, "more than the limit");
            operations[index] = Some((is_sent, token));
        }
        Step::Succeed(index) => {
            if let Some((_, token)) = take(index) {
                succeed(strategy, token, clock);
            }
        }
        Step::Fail(index, is_rejected) => {
            if let Some((_, token)) = take(index) {
                let failed = if is_rejected { Failed::THROTTLED } else { Failed::SAFE };
                let next = strategy.refresh_retry_token(token, &Failure::of(&failed), clock);
                operations[index] = next.ok().map(|token| (false, token));
            }
        }
        Step::Release(index) => {
            if let Some((_, token)) = take(index) {
                strategy.release(token);
            }
        }
        Step::Drop(index) => drop(take(index)),
    }
}

proptest! {
    #![proptest_config(tests::program::cases(500))]

    // Rules I6, I7.
    #[test]
    fn no_slot_is_lost_or_given_twice_in_any_course_of_events(steps in prop::collection::vec(steps(), 1..150)) {
        let (strategy, clock) = (limited_to(3), at_start());
        let mut operations = Operations::default();
        for taken in steps {
            step(&strategy, &clock, &mut operations, taken);
            let slots = operations.iter().flatten().filter(|(is_sent, _)| *is_sent).count();
            let in_flight = usize::try_from(in_flight(&strategy)).unwrap();
            // One slot may be kept for a late waiter.
            prop_assert!((slots..=slots + 1).contains(&in_flight), "{slots} slots, {in_flight} in flight");
        }
        drop(operations);
        prop_assert_eq!(in_flight(&strategy), 0);
        clock.advance(secs(10));
        prop_assert_eq!(fill(&strategy, &clock).len(), usize::try_from(limit(&strategy)).unwrap());
    }
}

// Rule I6.
#[test]
fn threads_together_keep_to_the_limit_and_every_operation_is_sent() {
    const LIMIT: u32 = 3;

    let strategy = limited_to(LIMIT);
    let (now, most, sent) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for thread in 0..6_u32 {
            let (strategy, now, most, sent) = (&strategy, &now, &most, &sent);
            scope.spawn(move || {
                for operation in 0..100 {
                    let attempt = || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                        assert!((operation + thread) % 10 != 0, "a panic of the test");
                        Ok::<u32, Error>(1)
                    };
                    let outcome = catch_unwind(AssertUnwindSafe(|| retry_blocking(strategy, attempt).run()));
                    sent.fetch_add(u32::from(outcome.is_ok()), Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!((sent.into_inner(), in_flight(&strategy)), (6 * 90, 0));
    assert!((1..=LIMIT).contains(&most.into_inner()));
}

/// A slow answer, so that many wait.
async fn slow() -> Outcome {
    sleep(Duration::from_secs(10)).await;
    Ok(1)
}

// Rules I6, I7.
#[tokio::test(start_paused = true)]
async fn a_job_with_slow_answers_takes_no_longer_than_its_slots_allow() {
    let strategy = Arc::new(limited_to(4));
    let started = tokio::time::Instant::now();
    let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(retry(Arc::clone(&strategy), slow).run())).collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(1));
    }
    assert_eq!(started.elapsed(), secs(50), "no slot was idle");
}
