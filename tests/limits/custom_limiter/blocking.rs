//! Threads that wait for a limiter.

use super::in_flight::InFlight;
use super::wakes::Keeper;
use super::{Operation, Outcome, never, one_slot};
use crate::support::{poll_once, secs};
use retry_core::time::{BlockingTimer, Clock, ManualTimer, Timestamp};
use retry_core::{Event, EventKind, Observer, retry, retryable};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// The maximum time of a thread before the test fails. A lost wake would cost an hour.
const PATIENCE: Duration = secs(60);

/// An observer that reports when an operation waits for the limiter.
struct Waiting(mpsc::Sender<()>);

impl Observer for Waiting {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::Limited { .. }) {
            self.0.send(()).unwrap();
        }
    }
}

#[retryable(strategy = limiter, blocking)]
fn hold(limiter: &InFlight, begun: &mpsc::Sender<()>, until: &mpsc::Receiver<()>) -> Outcome {
    begun.send(()).unwrap();
    until.recv_timeout(PATIENCE).unwrap();
    Ok(1)
}

#[retryable(strategy = limiter, observer = held_back, blocking)]
fn wait(limiter: &InFlight, held_back: Waiting) -> Outcome {
    Ok(2)
}

#[test]
fn a_thread_is_unparked_when_the_request_of_another_thread_is_answered() {
    let limiter = Arc::new(one_slot());
    // When the slot becomes free, the waiter is parked or about to park: 200 rounds cover both cases.
    for _ in 0..200 {
        let ((begun, has_begun), (held_back, is_held_back)) = (mpsc::channel(), mpsc::channel());
        let (done, outcomes) = mpsc::channel();
        let (holder, holds) = (Arc::clone(&limiter), done.clone());
        thread::spawn(move || holds.send(hold(&holder, &begun, &is_held_back)));
        has_begun.recv_timeout(PATIENCE).unwrap();
        let waiter = Arc::clone(&limiter);
        thread::spawn(move || done.send(wait(&waiter, Waiting(held_back))));
        let outcomes = [(); 2].map(|()| outcomes.recv_timeout(PATIENCE).expect("the wake was lost"));
        assert_eq!(outcomes.into_iter().sum::<Outcome>(), Ok(1 + 2));
    }
    assert_eq!(limiter.counts(), (1, 0, 200 * 3));
}

#[test]
fn a_thread_is_woken_when_an_async_operation_frees_the_slot() {
    let limiter = Arc::new(one_slot());
    let mut holding: Operation<'_> = Box::pin(retry(&*limiter, never).timer(ManualTimer::new()).run());
    poll_once(holding.as_mut());
    let ((held_back, is_held_back), (done, outcome)) = (mpsc::channel(), mpsc::channel());
    let waiter = Arc::clone(&limiter);
    thread::spawn(move || done.send(wait(&waiter, Waiting(held_back))));
    is_held_back.recv_timeout(PATIENCE).unwrap();
    drop(holding);
    assert_eq!(outcome.recv_timeout(PATIENCE), Ok(Ok(2)), "the wake was lost");
}

/// An observer that frees the slot after `ready` returned a wait and before the thread parks.
struct Between<'a>(RefCell<Option<Operation<'a>>>);

impl Observer for Between<'_> {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::Limited { .. }) {
            drop(self.0.take());
        }
    }
}

#[retryable(strategy = limiter, timer = timer, observer = between, blocking)]
fn overtaken(limiter: &InFlight, timer: &ManualTimer, between: &Between<'_>) -> Outcome {
    Ok(1)
}

#[test]
fn a_wake_before_the_thread_blocks_is_not_lost() {
    let (limiter, timer) = (one_slot(), ManualTimer::new());
    let mut holding: Operation<'_> = Box::pin(retry(&limiter, never).timer(&timer).run());
    poll_once(holding.as_mut());
    assert_eq!(overtaken(&limiter, &timer, &Between(RefCell::new(Some(holding)))), Ok(1));
    assert_eq!(timer.now(), Timestamp::START, "the thread did not block");
    assert_eq!(limiter.counts(), (1, 0, 3));
}

#[test]
fn a_request_that_panics_returns_its_slot() {
    #[retryable(strategy = limiter, blocking)]
    fn panics(limiter: &InFlight) -> Outcome {
        assert_eq!(limiter.counts(), (0, 0, 1));
        panic!("a panic of the test")
    }

    let limiter = one_slot();
    assert!(catch_unwind(AssertUnwindSafe(|| panics(&limiter))).is_err());
    assert_eq!(limiter.counts(), (1, 0, 1));
}

/// A clock too coarse for the waits of a thread. Some waits are ended by a wake, the others run to their end.
struct Coarse<'a> {
    keeper: &'a Keeper,
    wakes: fn(park: u32) -> bool,
    parks: Cell<u32>,
    parks_per_second: u32,
}

impl<'a> Coarse<'a> {
    fn new(keeper: &'a Keeper, wakes: fn(park: u32) -> bool) -> Self {
        Self { keeper, wakes, parks: Cell::new(0), parks_per_second: u32::MAX }
    }
}

impl Clock for Coarse<'_> {
    fn now(&self) -> Timestamp {
        Timestamp::START.saturating_add(secs(u64::from(self.parks.get() / self.parks_per_second)))
    }
}

impl BlockingTimer for Coarse<'_> {
    fn block(&self, _: Duration) {
        panic!("the wait of a limiter must be a park, which can end early");
    }

    fn park(&self, _: Duration) {
        self.parks.set(self.parks.get() + 1);
        if (self.wakes)(self.parks.get()) {
            self.keeper.wake();
        }
    }
}

#[retryable(strategy = keeper, timer = timer, blocking)]
fn held_back(keeper: &Keeper, timer: &Coarse<'_>) -> Outcome {
    Ok(keeper.waits.get())
}

#[test]
fn early_wakes_never_send_an_attempt_although_a_coarse_clock_stands_still() {
    let keeper = Keeper::new(1000);
    let timer = Coarse::new(&keeper, |_| true);
    assert_eq!((held_back(&keeper, &timer), timer.parks.get()), (Ok(0), 1000), "the attempt was sent too early");
    // The wake comes before the thread would park.
    let keeper = Keeper::waking_at_once(1000);
    let timer = Coarse::new(&keeper, |_| unreachable!("it was woken"));
    assert_eq!((held_back(&keeper, &timer), timer.parks.get()), (Ok(0), 0), "the attempt was sent too early");
}

#[test]
fn completed_waits_at_one_clock_reading_are_counted_whatever_wakes_occur_between_them() {
    const ALLOWED: u32 = 100;
    for (wakes, parks) in [
        ((|_| false) as fn(u32) -> bool, ALLOWED),
        (|park| park % 2 == 0, 2 * ALLOWED - 1),
        (|park| park % 100 != 0, 100 * ALLOWED),
    ] {
        let keeper = Keeper::new(u32::MAX);
        let timer = Coarse::new(&keeper, wakes);
        assert!(held_back(&keeper, &timer).is_ok());
        assert_eq!(timer.parks.get(), parks);
    }
}

#[test]
fn waits_are_counted_anew_whenever_the_clock_has_moved() {
    for (parks_per_second, parks) in [(99, 1000), (100, 199), (101, 100)] {
        let keeper = Keeper::new(1000);
        let timer = Coarse { parks_per_second, ..Coarse::new(&keeper, |_| false) };
        assert_eq!((held_back(&keeper, &timer), timer.parks.get()), (Ok(1000 - parks), parks));
    }
}
