//! A stop by two other threads, at any point of an operation.

use super::early_wake::{Endless, Task};
use loom::thread;
use retry_core::time::{BlockingTimer, Timestamp};
use retry_core::{
    Clock, ErrorInfo, Jitter, RetryInfo, RetryQuota, RetrySafety, StandardRetryStrategy, Stop, TimeLimit, TimedOut,
    retry, retry_blocking,
};
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
struct Failed(Option<TimeLimit>);

impl ErrorInfo for Failed {}

impl RetryInfo for Failed {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }
}

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(Some(error.limit()))
    }
}

/// A timer that parks the thread until it is unparked. A lost wake is a deadlock, which loom reports.
struct Parks;

impl Clock for Parks {
    fn now(&self) -> Timestamp {
        Timestamp::START
    }
}

impl BlockingTimer for Parks {
    fn block(&self, _: Duration) {
        unreachable!("a wait that can be stopped parks the thread");
    }

    fn park(&self, _: Duration) {
        thread::park();
    }
}

/// Returns a handle, which two other threads use.
fn stopped_by_other_threads() -> (Arc<Stop>, [thread::JoinHandle<()>; 2]) {
    let stop = Arc::new(Stop::new());
    let _ = format!("{stop:?}");
    let threads = [(); 2].map(|()| {
        let other = Arc::clone(&stop);
        thread::spawn(move || other.stop())
    });
    (stop, threads)
}

/// Checks the outcome of a call that fails once, or was stopped before.
fn check(outcome: &Result<(), Failed>, attempts: u32, strategy: &StandardRetryStrategy) {
    let limit = outcome.as_ref().unwrap_err().0;
    assert_eq!(limit, (attempts == 0).then_some(TimeLimit::Stop));
    assert!(attempts <= 1);
    assert_eq!(strategy.quota().available(), 500);
}

#[test]
fn a_stop_is_not_lost_at_any_point_of_a_call() {
    loom::model(|| {
        let (stop, threads) = stopped_by_other_threads();
        let (strategy, mut attempts) = (StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)), 0);
        let call = retry(&strategy, || {
            attempts += 1;
            ready(Err(Failed(None)))
        });
        let outcome = Task::new().run(pin!(call.timer(Endless).stop(&stop).run()));
        check(&outcome, attempts, &strategy);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_stop_is_not_lost_at_any_point_of_a_call_that_blocks() {
    loom::model(|| {
        let (stop, threads) = stopped_by_other_threads();
        let (strategy, mut attempts) = (StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)), 0);
        let call = retry_blocking(&strategy, || {
            attempts += 1;
            Err(Failed(None))
        });
        let outcome = call.timer(Parks).stop(&stop).run();
        check(&outcome, attempts, &strategy);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn the_stop_of_a_parent_is_not_lost_at_any_point_of_a_call_with_a_child() {
    loom::model(|| {
        let parent = Arc::new(Stop::new());
        let child = Arc::new(Stop::child_of(Arc::clone(&parent)));
        let _ = format!("{child:?}");
        let stops = [Arc::clone(&parent), Arc::clone(&child)];
        let threads = stops.map(|stop| thread::spawn(move || stop.stop()));
        let (strategy, mut attempts) = (StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)), 0);
        let call = retry(&strategy, || {
            attempts += 1;
            ready(Err(Failed(None)))
        });
        let outcome = Task::new().run(pin!(call.timer(Endless).stop(&child).run()));
        check(&outcome, attempts, &strategy);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(child.is_stopped() && parent.is_stopped());
    });
}

#[test]
fn a_child_that_nothing_else_stops_is_stopped_with_its_parent() {
    loom::model(|| {
        let parent = Arc::new(Stop::new());
        let child = Stop::child_of(Arc::clone(&parent));
        let _ = format!("{child:?}");
        let stops = thread::spawn(move || parent.stop());
        let stopped = child.stopped();
        Task::new().run(pin!(stopped));
        assert!(child.is_stopped());
        stops.join().unwrap();
    });
}
