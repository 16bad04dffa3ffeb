//! Threads that are parked by a limiter and woken by another thread.

use super::early_wake::{Failed, Gate};
use loom::thread;
use retry_core::time::{BlockingTimer, Timestamp};
use retry_core::{Clock, retryable};
use std::sync::Arc;
use std::time::Duration;

/// A timer that parks the thread until it is unparked. A lost wake is a deadlock, which loom reports.
struct Endless;

impl Clock for Endless {
    fn now(&self) -> Timestamp {
        Timestamp::START
    }
}

impl BlockingTimer for Endless {
    fn block(&self, _: Duration) {
        unreachable!("the token has no delay");
    }

    fn park(&self, _: Duration) {
        thread::park();
    }
}

#[retryable(strategy = gate, timer = Endless, blocking)]
fn call(gate: &Gate) -> Result<u32, Failed> {
    Ok(1)
}

#[test]
fn a_wake_is_not_lost_at_any_point_of_the_wait() {
    loom::model(|| {
        let gate = Gate::new(0);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || other.wake(1));
        assert!(call(&gate).is_ok());
        thread.join().unwrap();
        assert_eq!(gate.free(), 1);
    });
}

#[test]
fn a_spurious_wake_does_not_hide_the_next_one() {
    loom::model(|| {
        let gate = Gate::new(0);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || {
            other.wake(0);
            other.wake(1);
        });
        assert!(call(&gate).is_ok());
        thread.join().unwrap();
    });
}

#[test]
fn an_answer_wakes_the_thread_that_waits_for_the_slot() {
    loom::model(|| {
        let gate = Gate::new(1);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || call(&other).is_ok());
        assert!(call(&gate).is_ok());
        assert!(thread.join().unwrap());
        assert_eq!(gate.free(), 1);
    });
}
