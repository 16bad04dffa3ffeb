//! Without any feature, a call works with a custom timer.

use retry_core::time::Timestamp;
use retry_core::{Clock, ErrorInfo, Jitter, RetryInfo, RetrySafety, StandardRetryStrategy, Timer, retry};
use std::cell::Cell;
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
        panic!("a sleep of this timer is ready at once");
    };
    assert_eq!((report.outcome, report.attempts, report.reason), (Ok(()), 3, None));
    assert_eq!(report.elapsed, Duration::from_secs(1 + 2));
}
