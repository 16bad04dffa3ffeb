//! Without any feature, a call works with a custom timer.

use retry_core::time::Timestamp;
use retry_core::{
    Clock, ErrorInfo, Event, EventKind, Jitter, Observer, RetryInfo, RetrySafety, StandardRetryStrategy, Timer, retry,
    retry_with_context,
};
use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[derive(Debug, PartialEq)]
struct Crashed;

impl ErrorInfo for Crashed {}

impl RetryInfo for Crashed {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }
}

/// A clock that its own sleeps advance.
#[derive(Default)]
struct Virtual(Cell<Duration>);

impl Clock for Virtual {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.get())
    }
}

impl Timer for Virtual {
    type Sleep = Ready<()>;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        self.0.set(self.0.get() + delay);
        ready(())
    }
}

// Rule K5.
#[test]
fn a_call_runs_on_a_custom_timer_without_a_runtime() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));

    let time = Virtual::default();
    let mut failures = 3;
    let call = retry(&STRATEGY, || {
        failures -= 1;
        ready(if failures > 0 { Err(Crashed) } else { Ok(()) })
    });
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(report) = pin!(call.timer(&time).report()).poll(&mut context) else {
        panic!("a sleep of this timer is ready immediately");
    };
    assert_eq!((report.outcome, report.attempts, report.reason), (Ok(()), 3, None));
    assert_eq!(report.elapsed, Duration::from_secs(1 + 2));
}

// Rule O12.
#[test]
fn contexts_and_on_retry_have_one_id_although_nothing_else_gets_events() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();

    let (time, seen) = (Virtual::default(), RefCell::new(Vec::new()));
    let call = retry_with_context(&STRATEGY, |context| {
        seen.borrow_mut().push(context.operation_id());
        ready(Err::<(), _>(Crashed))
    });
    let call = call.on_retry(|_, event| seen.borrow_mut().push(event.operation_id)).timer(&time);
    assert!(pin!(call.run()).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    let seen = seen.into_inner();
    assert_eq!(seen.len(), 2 * 5, "an attempt and a failure, five times");
    assert!(seen.iter().all(|id| *id == seen[0]), "{seen:?}");
}

/// Keeps the pairs of functions whose retries multiply.
#[derive(Default)]
struct Pairs(RefCell<Vec<(&'static str, String, Option<u32>)>>);

impl Observer for Pairs {
    fn observe(&self, event: &Event) {
        if let EventKind::Nested { outer, max_attempts, .. } = event.kind {
            self.0.borrow_mut().push((outer, event.operation.to_owned(), max_attempts));
        }
    }
}

// Rule O18.
#[test]
fn a_build_with_debug_assertions_warns_of_retries_within_retries() {
    static OUTER: StandardRetryStrategy = StandardRetryStrategy::new();
    static INNER: StandardRetryStrategy = StandardRetryStrategy::new();

    let (time, pairs) = (Virtual::default(), Pairs::default());
    for outer in ["first", "second", "first"] {
        let has_failed = Cell::new(false);
        let inner = || {
            let attempt = || ready(if has_failed.replace(true) { Ok(()) } else { Err(Crashed) });
            retry(&INNER, attempt).name("inner").timer(&time).observer(&pairs).run()
        };
        let call = retry(&OUTER, inner).name(outer).timer(&time).run();
        assert_eq!(pin!(call).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())));
    }
    let told = |outer| (outer, "inner".to_owned(), Some(25));
    let expected = if cfg!(debug_assertions) { vec![told("first"), told("second")] } else { Vec::new() };
    assert_eq!(*pairs.0.borrow(), expected);
}
