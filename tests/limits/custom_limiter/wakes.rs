//! Waits that end early in any task, and wakes that are too early, too late or spurious.

use super::in_flight::{BOUND, InFlight};
use super::{Form, Operation, Outcome, at_once, never, one_slot, poll_with};
use crate::support::{Failed, Wakes, millis, poll_once};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::ForeignToken;
use retry_core::time::{ManualTimer, Timestamp};
use retry_core::{
    Clock, Event, EventKind, Failure, Observer, RetryError, RetryStrategy, RetryToken, Success, Timer, TokioTimer,
    retry, retryable,
};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_waiter_is_woken_in_the_task_that_polled_it_last() {
    for form in Form::ALL {
        let (limiter, [before, after]) = (one_slot(), [(); 2].map(|()| Arc::new(Wakes::default())));
        let (mut holding, mut moving) = (form.call(&limiter, &never), form.call(&limiter, &at_once));
        poll_once(holding.as_mut());
        assert!(poll_with(&mut moving, &before).is_pending());
        assert!(poll_with(&mut moving, &after).is_pending());
        drop(holding);
        assert_eq!((before.count(), after.count()), (0, 1), "{form:?}");
        assert_eq!(poll_with(&mut moving, &before), Poll::Ready(Ok(1)), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_is_polled_without_a_wake_keeps_waiting() {
    for form in Form::ALL {
        let (limiter, wakes) = (one_slot(), Arc::new(Wakes::default()));
        let (mut holding, mut waiting) = (form.call(&limiter, &never), form.call(&limiter, &at_once));
        poll_once(holding.as_mut());
        for _ in 0..100 {
            assert!(poll_with(&mut waiting, &wakes).is_pending());
        }
        assert_eq!(limiter.counts(), (0, 1, 2), "{form:?}: it asked once");
        drop(holding);
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll_with(&mut waiting, &wakes), Poll::Ready(Ok(1)), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiter_beside_a_ticker_continues_when_the_slot_is_free() {
    for form in Form::ALL {
        let (limiter, started) = (one_slot(), Instant::now());
        let request = || -> Operation<'_> {
            Box::pin(async {
                sleep(millis(1050)).await;
                Ok(1)
            })
        };
        let (mut holding, mut waiting) = (form.call(&limiter, &request), form.call(&limiter, &at_once));
        poll_once(holding.as_mut());
        let mut ticks = 0;
        loop {
            tokio::select! {
                biased;
                outcome = &mut waiting => break assert_eq!(outcome, Ok(1)),
                outcome = &mut holding, if started.elapsed() < millis(1050) => assert_eq!(outcome, Ok(1)),
                () = sleep(millis(100)) => ticks += 1,
            }
        }
        assert_eq!((ticks, started.elapsed()), (10, millis(1050)), "{form:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_waiter_passes_its_turn_to_the_next_one() {
    for form in Form::ALL {
        let (limiter, [early, late]) = (one_slot(), [(); 2].map(|()| Arc::new(Wakes::default())));
        let mut operations =
            [form.call(&limiter, &never), form.call(&limiter, &at_once), form.call(&limiter, &at_once)];
        poll_once(operations[0].as_mut());
        assert!(poll_with(&mut operations[1], &early).is_pending());
        assert!(poll_with(&mut operations[2], &late).is_pending());
        let [holding, leaving, mut last] = operations;
        // The waiter is woken and dropped instead of polled.
        drop(holding);
        assert_eq!((early.count(), late.count()), (1, 0));
        drop(leaving);
        assert_eq!((early.count(), late.count()), (1, 1), "{form:?}: its turn was lost");
        assert_eq!(poll_with(&mut last, &late), Poll::Ready(Ok(1)), "{form:?}");
    }
}

/// Frees the slot after `ready` returned a wait and before the wait is polled.
struct Between<'a>(RefCell<Option<Operation<'a>>>);

impl Between<'_> {
    fn free_the_slot(&self) {
        drop(self.0.take());
    }
}

impl Observer for Between<'_> {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::Limited { .. }) {
            self.free_the_slot();
        }
    }
}

impl Clock for Between<'_> {
    fn now(&self) -> Timestamp {
        TokioTimer.now()
    }
}

impl Timer for Between<'_> {
    type Sleep = <TokioTimer as Timer>::Sleep;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        self.free_the_slot();
        TokioTimer.sleep(delay)
    }
}

#[retryable(strategy = limiter, observer = between)]
async fn observed(limiter: &InFlight, between: &Between<'_>) -> Outcome {
    Ok(1)
}

#[retryable(strategy = limiter, timer = between)]
async fn timed(limiter: &InFlight, between: &Between<'_>) -> Outcome {
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_wake_between_the_question_and_the_first_poll_is_not_lost() {
    let (limiter, started) = (one_slot(), Instant::now());
    let between = || {
        let mut holding = Form::Closure.call(&limiter, &never);
        poll_once(holding.as_mut());
        Between(RefCell::new(Some(holding)))
    };
    assert_eq!(observed(&limiter, &between()).await, Ok(1));
    assert_eq!(retry(&limiter, at_once).observer(between()).run().await, Ok(1));
    assert_eq!(timed(&limiter, &between()).await, Ok(1));
    assert_eq!(retry(&limiter, at_once).timer(between()).run().await, Ok(1));
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(limiter.counts(), (1, 0, 4 * 3));
}

/// A strategy that returns a wait of an hour a number of times, and keeps the latest waker.
pub(super) struct Keeper {
    pub(super) waits: Cell<u32>,
    wakes_at_once: bool,
    waker: RefCell<Option<Waker>>,
}

pub(super) struct First;

impl RetryToken for First {
    fn attempt(&self) -> u32 {
        1
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl Keeper {
    pub(super) fn new(waits: u32) -> Self {
        Self { waits: Cell::new(waits), wakes_at_once: false, waker: RefCell::default() }
    }

    /// Returns a strategy that wakes during the call of `ready`.
    pub(super) fn waking_at_once(waits: u32) -> Self {
        Self { wakes_at_once: true, ..Self::new(waits) }
    }

    pub(super) fn wake(&self) {
        self.waker.borrow().as_ref().unwrap().wake_by_ref();
    }
}

impl RetryStrategy for Keeper {
    type Token = First;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<First, RetryError> {
        Ok(First)
    }

    fn refresh_retry_token(&self, _: First, _: &Failure, _: &dyn Clock) -> Result<First, RetryError> {
        Err(RetryError::Refused)
    }

    fn record_success(&self, _: First, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn ready(&self, _: &mut First, _: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let Some(waits) = self.waits.get().checked_sub(1) else { return Ready::Now };
        self.waits.set(waits);
        self.waker.replace(waker.map(LazyWaker::waker));
        if self.wakes_at_once {
            self.wake();
        }
        Ready::After(BOUND)
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_that_wakes_while_it_is_asked_is_asked_again_in_the_next_poll() {
    let keeper = Keeper::waking_at_once(50);
    let (wakes, started) = (Arc::new(Wakes::default()), Instant::now());
    let mut operation: Operation<'_> = Box::pin(retry(&keeper, at_once).run());
    for left in (0..50).rev() {
        assert!(poll_with(&mut operation, &wakes).is_pending());
        assert_eq!(
            (keeper.waits.get(), wakes.count()),
            (left, 50 - left),
            "the strategy is asked once per poll, which then yields"
        );
    }
    assert_eq!(poll_with(&mut operation, &wakes), Poll::Ready(Ok(1)));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[test]
fn the_strategy_is_asked_again_after_a_wait_that_ran_to_its_end() {
    let (keeper, timer, wakes) = (Keeper::new(2), ManualTimer::new(), Arc::new(Wakes::default()));
    let mut operation: Operation<'_> = Box::pin(retry(&keeper, at_once).timer(timer.clone()).run());
    assert!(poll_with(&mut operation, &wakes).is_pending());
    timer.advance(BOUND);
    assert_eq!(wakes.count(), 1);
    assert!(poll_with(&mut operation, &wakes).is_pending());
    keeper.wake();
    assert_eq!(wakes.count(), 2);
    assert_eq!(poll_with(&mut operation, &wakes), Poll::Ready(Ok(1)));
    assert_eq!(timer.now().saturating_since(Timestamp::START), BOUND);
}

#[test]
fn a_waker_has_no_effect_after_its_wait() {
    let (keeper, timer, wakes) = (Keeper::new(1), ManualTimer::new(), Arc::new(Wakes::default()));
    let mut operation: Operation<'_> = Box::pin(retry(&keeper, never).timer(timer.clone()).run());
    assert!(poll_with(&mut operation, &wakes).is_pending());
    timer.advance(BOUND);
    assert!(poll_with(&mut operation, &wakes).is_pending());
    assert_eq!((keeper.waits.get(), wakes.count()), (0, 1), "the attempt is under way");
    keeper.wake();
    assert_eq!(wakes.count(), 1, "the attempt was woken needlessly");
    drop(operation);
    keeper.wake();
    assert_eq!(wakes.count(), 1);
}

#[test]
fn a_waker_that_the_strategy_keeps_does_not_keep_the_task_alive() {
    for polls in 1..=3 {
        let (keeper, timer, wakes) = (Keeper::new(2), ManualTimer::new(), Arc::new(Wakes::default()));
        let mut operation: Operation<'_> = Box::pin(retry(&keeper, never).timer(timer.clone()).run());
        for _ in 0..polls {
            assert!(poll_with(&mut operation, &wakes).is_pending());
            timer.advance(BOUND);
        }
        drop(operation);
        assert_eq!(Arc::strong_count(&wakes), 1, "after {polls} polls");
    }
}

#[test]
fn a_lazy_waker_has_no_default() {
    // An inherent constant takes precedence over that of a trait.
    trait NotDefault {
        const IS_DEFAULT: bool = false;
    }
    struct Probe<T>(T);
    impl<T> NotDefault for Probe<T> {}
    impl<T: Default> Probe<T> {
        const IS_DEFAULT: bool = true;
    }

    assert_eq!((Probe::<LazyWaker<'_>>::IS_DEFAULT, Probe::<u32>::IS_DEFAULT), (false, true));
}

#[retryable(strategy = keeper)]
async fn with_three_waits(keeper: &Keeper) -> Result<u32, Failed> {
    Ok(keeper.waits.get())
}

#[tokio::test(start_paused = true)]
async fn a_wait_runs_to_its_end_without_a_wake() {
    let (keeper, started) = (Keeper::new(3), Instant::now());
    assert_eq!(with_three_waits(&keeper).await, Ok(0));
    assert_eq!(started.elapsed(), BOUND * 3);
    assert_eq!(retry(&Keeper::new(1), at_once).run().await, Ok(1));
    assert_eq!(started.elapsed(), BOUND * 4);
}
