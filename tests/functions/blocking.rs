//! Functions that block their thread.

use crate::script::{Error, time_was_up};
use crate::support::timers::Noted;
use crate::support::{Failed, Flaky, Recorder, millis, secs};
use retry_core::time::{BlockingTimer, StdTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Clock, Jitter, RetryDirective, RetryError, RetryErrorType, RetryQuota,
    StandardRetryStrategy, TimeLimit, retryable,
};
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Returns the records of blocking waits of these numbers of seconds.
fn blocks<const N: usize>(waits: [u64; N]) -> [(&'static str, Duration); N] {
    waits.map(|wait| ("block", secs(wait)))
}

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

#[retryable(strategy = strategy, timer = time, blocking)]
fn call(strategy: &StandardRetryStrategy, time: &Noted, flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

// Rule M9.
#[test]
fn attempts_backoff_and_quota_are_those_of_the_strategy() {
    let (strategy, time) = (standard(), Noted::default());
    assert_eq!(call(&strategy, &time, &Flaky::new(2, Failed::THROTTLED)), Ok(3));
    assert_eq!(time.asked(), blocks([1, 2]));
    assert_eq!(strategy.quota().available(), 500 - 5 - 5 + 1);
    assert_eq!(call(&strategy, &time, &Flaky::new(9, Failed::SAFE)), Err(Failed::SAFE));
    assert_eq!(time.asked(), blocks([1, 2, 4, 8]));
    assert_eq!(call(&strategy, &time, &Flaky::new(9, Failed::FATAL)), Err(Failed::FATAL));
    assert!(time.asked().is_empty());
}

#[test]
fn a_strategy_may_delay_the_first_attempt_by_several_waits() {
    #[retryable(strategy = strategy, timer = time, blocking)]
    fn call(strategy: &Recorder, time: &Noted) -> Result<u32, Failed> {
        Ok(1)
    }

    let (waiting, time) = (Recorder::new().waiting([secs(3), Duration::ZERO]), Noted::default());
    assert_eq!(call(&waiting, &time), Ok(1));
    assert_eq!(time.asked(), [("park", secs(3))], "a wait of zero does not park");
    assert_eq!(waiting.calls(), ["initial", "ready", "ready", "success"]);
    let refusing = Recorder::new().refusing_initial_token(RetryError::Refused);
    assert_eq!(call(&refusing, &time), Ok(1));
    assert_eq!(refusing.calls(), ["initial"]);
}

#[test]
fn question_mark_return_and_arguments_work_as_in_any_function() {
    #[retryable(strategy = "standard", timer = time, clone(name), blocking)]
    fn shout(
        time: &Noted,
        calls: &mut Vec<u32>,
        mut tries: u32,
        name: String,
        (mut a, b): (u32, u32),
    ) -> Result<impl Display, Failed> {
        tries += 1;
        a += 1;
        calls.push(tries + a + b);
        if calls.len() == 1 {
            Err(Failed::SAFE)?;
        }
        if calls.len() == 2 {
            return Err(Failed::THROTTLED);
        }
        let owned: String = name;
        Ok(owned)
    }

    let (time, mut calls) = (Noted::default(), Vec::new());
    let name = shout(&time, &mut calls, 10, "name".to_owned(), (1, 2));
    assert_eq!(name.unwrap().to_string(), "name");
    assert_eq!(calls, [11 + 2 + 2; 3], "each attempt starts from the arguments as they were passed");
}

// Rule M6.
#[test]
fn methods_lend_all_of_self_to_each_attempt() {
    struct Client {
        retry: AdaptiveRetryStrategy,
        time: Arc<Noted>,
        sent: u32,
    }

    impl Client {
        #[retryable(strategy = self.retry, timer = self.time, idempotent, blocking)]
        fn send(&mut self) -> Result<u32, Failed> {
            self.sent += 1;
            if self.sent < 3 { Err(Failed { timeout: false, ..Failed::TIMEOUT }) } else { Ok(self.sent) }
        }
    }

    let retry = AdaptiveRetryStrategy::over(standard());
    let mut client = Client { retry, time: Arc::default(), sent: 0 };
    assert_eq!(client.send(), Ok(3));
    assert_eq!(client.time.asked(), blocks([1, 2]));
}

#[test]
fn values_may_be_retried_by_a_policy() {
    #[retryable(strategy = "standard", timer = time, blocking, policy = |done: &bool| match done {
        true => RetryDirective::succeed(),
        false => RetryDirective::retry(RetryErrorType::Other),
    })]
    fn poll(time: &Noted, polls: &Cell<u32>) -> bool {
        polls.set(polls.get() + 1);
        polls.get() == 3
    }

    let polls = Cell::new(0);
    assert!(poll(&Noted::default(), &polls));
    assert_eq!(polls.get(), 3);
}

// Rule T11.
#[test]
fn max_time_bounds_waits_and_starts() {
    #[retryable(strategy = strategy, timer = time, max_time = "5s", context = context, blocking)]
    fn limited(
        strategy: &StandardRetryStrategy,
        time: &Noted,
        attempt: Duration,
        left: &RefCell<Vec<Option<Duration>>>,
    ) -> Result<u32, Error> {
        left.borrow_mut().push(context.time_left());
        time.timer.advance(attempt);
        Err(Error::Failed(Failed::SAFE))
    }

    let safe = Err(Error::Failed(Failed::SAFE));
    let (strategy, time, left) = (standard(), Noted::default(), RefCell::default());
    assert_eq!(limited(&strategy, &time, millis(500), &left), safe);
    assert_eq!(time.asked(), blocks([1, 2]), "a backoff of 4 s would end after max_time");
    assert_eq!(left.take(), [Some(secs(5)), Some(millis(3500)), Some(secs(1))]);
    assert_eq!(strategy.quota().available(), 490);

    assert_eq!(limited(&strategy, &time, secs(60), &left), safe, "a blocking attempt is not interrupted");
    assert!(time.asked().is_empty());
}

// Rule T8.
#[test]
fn max_time_is_kept_although_the_strategy_ignores_it() {
    #[retryable(strategy = strategy, timer = time, max_time = "5s", blocking)]
    fn limited(strategy: &Recorder, time: &Noted) -> Result<u32, Error> {
        Err(Error::Failed(Failed::SAFE))
    }

    let (slow, time) = (Recorder::new().waiting([secs(6)]), Noted::default());
    let outcome = limited(&slow, &time);
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Operation, secs(5))));
    assert!(time.asked().is_empty());
    assert_eq!(slow.calls(), ["initial", "ready", "release"]);

    let slow = Recorder::new().waiting([Duration::ZERO, secs(6)]);
    assert_eq!(limited(&slow, &time), Err(Error::Failed(Failed::SAFE)), "the outcome of the last attempt");
    assert_eq!(slow.calls(), ["initial", "ready", "refresh", "ready", "release"]);
}

// Rule D6.
#[test]
fn a_body_or_a_timer_that_panics_leaves_the_quota_unchanged() {
    struct Touchy;
    impl Clock for Touchy {
        fn now(&self) -> Timestamp {
            Timestamp::from_origin(Duration::ZERO)
        }
    }
    impl BlockingTimer for Touchy {
        fn block(&self, _: Duration) {
            panic!("this timer panics");
        }
    }

    #[retryable(strategy = strategy, timer = Touchy, blocking)]
    fn call(strategy: &StandardRetryStrategy, flaky: &Flaky) -> Result<u32, Failed> {
        assert_ne!(flaky.calls(), 7);
        flaky.call()
    }

    let strategy = standard();
    assert!(catch_unwind(AssertUnwindSafe(|| call(&strategy, &Flaky::new(1, Failed::SAFE)))).is_err());
    assert_eq!(strategy.quota().available(), 500, "a retry that was paid for and not sent is refunded");
}

#[test]
fn the_standard_librarys_timer_tells_time_and_sleeps() {
    let before = StdTimer.now();
    StdTimer.block(millis(1));
    assert!(StdTimer.now().saturating_since(before) >= millis(1));
}
