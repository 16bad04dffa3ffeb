//! Helpers for tests with the manual timer.

use super::Wakes;
use retry_core::time::{BlockingTimer, ManualSleep, ManualTimer, Timestamp};
use retry_core::{Clock, Timer, TokioTimer};
use std::cell::RefCell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A manual timer that records its sleeps.
#[derive(Default)]
pub struct Noted {
    pub timer: ManualTimer,
    asked: RefCell<Vec<(&'static str, Duration)>>,
}

impl Noted {
    /// Takes the records since the last call: `sleep`, `block` or `park`, with the duration.
    pub fn asked(&self) -> Vec<(&'static str, Duration)> {
        self.asked.take()
    }

    fn note(&self, what: &'static str, delay: Duration) {
        self.asked.borrow_mut().push((what, delay));
    }
}

impl Clock for Noted {
    fn now(&self) -> Timestamp {
        self.timer.now()
    }
}

impl Timer for Noted {
    type Sleep = ManualSleep;

    fn sleep(&self, delay: Duration) -> ManualSleep {
        self.note("sleep", delay);
        self.timer.sleep(delay)
    }
}

impl BlockingTimer for Noted {
    fn block(&self, delay: Duration) {
        self.note("block", delay);
        self.timer.block(delay);
    }

    fn park(&self, delay: Duration) {
        self.note("park", delay);
        self.timer.park(delay);
    }
}

/// Returns the time since the start of a timer.
pub fn since_start(timer: &ManualTimer) -> Duration {
    timer.now().saturating_since(Timestamp::START)
}

/// Runs a future to its end: polls it after each wake, and advances the clock by half seconds until it is woken.
pub fn run<T>(timer: &ManualTimer, future: impl Future<Output = T>) -> T {
    let (mut future, woken) = (pin!(future), Arc::new(Wakes::default()));
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        let before = woken.count();
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while woken.count() == before {
            assert!(since_start(timer) < Duration::from_secs(3600), "the future is never woken");
            timer.advance(Duration::from_millis(500));
        }
    }
}

/// Tokio's timer, but it oversleeps by a second.
pub struct Sluggish;

impl Clock for Sluggish {
    fn now(&self) -> Timestamp {
        TokioTimer.now()
    }
}

impl Timer for Sluggish {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        tokio::time::sleep(delay + Duration::from_secs(1))
    }
}
