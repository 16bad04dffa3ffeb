//! The order of delays and calls of `ready`, and the failures and successes that a strategy gets, in each form.

use super::{Outcome, one_slot};
use crate::script::{Error, SAFE};
use crate::support::timers::{Noted, run};
use crate::support::{ByHand, Failed, secs};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, Failure, RetryDirective, RetryError, RetryErrorType, RetryQuota, RetryStrategy, RetryToken, Success,
    policy_fn, retry, retryable,
};
use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

/// Events with their time in seconds.
type Log = RefCell<Vec<(&'static str, u64)>>;

fn note(log: &Log, what: &'static str, clock: &dyn Clock) {
    log.borrow_mut().push((what, clock.now().saturating_since(Timestamp::START).as_secs()));
}

/// A token with a delay of 3 seconds before the first attempt, and 7 before the others.
struct Patience {
    attempt: u32,
    questions: u32,
}

impl Patience {
    const fn new(attempt: u32) -> Self {
        Self { attempt, questions: 0 }
    }
}

impl RetryToken for Patience {
    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn delay(&self) -> Duration {
        secs(if self.attempt == 1 { 3 } else { 7 })
    }
}

/// A strategy with the three required methods, which records its calls.
#[derive(Default)]
struct Steady {
    log: Log,
    failures: RefCell<Vec<Failure>>,
    successes: RefCell<Vec<Success>>,
}

impl RetryStrategy for Steady {
    type Token = Patience;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Patience, RetryError> {
        note(&self.log, "initial", clock);
        Ok(Patience::new(1))
    }

    fn refresh_retry_token(
        &self,
        token: Patience,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Patience, RetryError> {
        note(&self.log, "refresh", clock);
        self.failures.borrow_mut().push(*failure);
        if failure.is_retryable() { Ok(Patience::new(token.attempt + 1)) } else { Err(RetryError::NotRetryable) }
    }

    fn record_success(&self, _: Patience, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        note(&self.log, "success", clock);
        self.successes.borrow_mut().push(*success);
        Ok(())
    }
}

/// The same with a fourth method, which adds a wait of 2 seconds before each attempt.
#[derive(Default)]
struct Limiting(Steady);

impl RetryStrategy for Limiting {
    type Token = Patience;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Patience, RetryError> {
        self.0.acquire_initial_token(clock)
    }

    fn refresh_retry_token(
        &self,
        token: Patience,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Patience, RetryError> {
        self.0.refresh_retry_token(token, failure, clock)
    }

    fn record_success(&self, token: Patience, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.0.record_success(token, success, clock)
    }

    fn ready(&self, token: &mut Patience, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        note(&self.0.log, "ready", clock);
        token.questions += 1;
        if token.questions == 1 { Ready::After(secs(2)) } else { Ready::Now }
    }
}

#[retryable(strategy = strategy, timer = timer)]
async fn attribute<S: RetryStrategy>(strategy: &S, timer: &Noted, attempt: &dyn Fn(&Noted) -> Outcome) -> Outcome {
    attempt(timer)
}

#[retryable(strategy = strategy, timer = timer, max_time = "1000s", attempt_timeout = "1000s")]
async fn limited<S: RetryStrategy>(strategy: &S, timer: &Noted, attempt: &dyn Fn(&Noted) -> Outcome) -> Outcome {
    attempt(timer)
}

#[retryable(strategy = strategy, timer = timer, blocking)]
fn blocking<S: RetryStrategy>(strategy: &S, timer: &Noted, attempt: &dyn Fn(&Noted) -> Outcome) -> Outcome {
    attempt(timer)
}

#[retryable(strategy = strategy, timer = timer, max_time = "1000s", blocking)]
fn limited_blocking<S: RetryStrategy>(strategy: &S, timer: &Noted, attempt: &dyn Fn(&Noted) -> Outcome) -> Outcome {
    attempt(timer)
}

/// The forms of an operation, and whether they block.
const FORMS: [(&str, bool); 5] =
    [("attribute", false), ("limits", false), ("closure", false), ("blocking", true), ("blocking with limits", true)];

/// Runs an operation in each form, each with its own strategy and timer.
fn in_each_form<S: RetryStrategy + Default>(
    attempt: impl Fn(&S, &Noted) -> Outcome,
    check: impl Fn((&str, bool), &S, &Noted, Outcome),
) {
    for form in FORMS {
        let (strategy, timer) = (S::default(), Noted::default());
        let attempt = |timer: &Noted| attempt(&strategy, timer);
        let outcome = match form.0 {
            "attribute" => run(&timer.timer, attribute(&strategy, &timer, &attempt)),
            "limits" => run(&timer.timer, limited(&strategy, &timer, &attempt)),
            "closure" => {
                let call = retry(&strategy, || std::future::ready(attempt(&timer)));
                run(&timer.timer, call.timer(&timer).run())
            }
            "blocking" => blocking(&strategy, &timer, &attempt),
            _ => limited_blocking(&strategy, &timer, &attempt),
        };
        check(form, &strategy, &timer, outcome);
    }
}

/// An attempt that fails the first time.
fn second_succeeds(log: &Log, timer: &Noted) -> Outcome {
    note(log, "attempt", timer);
    let attempts = log.borrow().iter().filter(|(what, _)| *what == "attempt").count();
    if attempts == 1 { SAFE } else { Ok(2) }
}

// Rule R3.
#[test]
fn the_delay_of_a_token_is_slept_once_before_the_strategy_is_asked() {
    let attempt = |strategy: &Limiting, timer: &Noted| second_succeeds(&strategy.0.log, timer);
    in_each_form(attempt, |(form, blocks), strategy, timer, outcome| {
        assert_eq!(outcome, Ok(2));
        let log = [
            ("initial", 0),
            ("ready", 3),
            ("ready", 3 + 2),
            ("attempt", 5),
            ("refresh", 5),
            ("ready", 5 + 7),
            ("ready", 12 + 2),
            ("attempt", 14),
            ("success", 14),
        ];
        assert_eq!(strategy.0.log.take(), log, "{form}");
        // Without the timeouts of attempts.
        let waits: Vec<_> = timer.asked().into_iter().filter(|(_, delay)| *delay < secs(100)).collect();
        let (delay, wait) = if blocks { ("block", "park") } else { ("sleep", "sleep") };
        let expected = [(delay, secs(3)), (wait, secs(2)), (delay, secs(7)), (wait, secs(2))];
        assert_eq!(waits, expected, "{form}");
    });
}

// Rule R17.
#[test]
fn the_delays_of_a_strategy_with_three_methods_are_slept() {
    let attempt = |strategy: &Steady, timer: &Noted| second_succeeds(&strategy.log, timer);
    in_each_form(attempt, |(form, _), strategy, timer, outcome| {
        assert_eq!((outcome, timer.now()), (Ok(2), Timestamp::START.saturating_add(secs(3 + 7))));
        let log = [("initial", 0), ("attempt", 3), ("refresh", 3), ("attempt", 10), ("success", 10)];
        assert_eq!(strategy.log.take(), log, "{form}");
    });
}

#[test]
fn extra_polls_during_a_delay_do_not_ask_the_strategy() {
    let (strategy, timer) = (Limiting::default(), Noted::default());
    let attempt = |_: &Noted| Ok(1);
    let mut operation = pin!(attribute(&strategy, &timer, &attempt));
    let context = &mut Context::from_waker(Waker::noop());
    for _ in 0..5 {
        assert!(operation.as_mut().poll(context).is_pending());
    }
    assert_eq!(*strategy.0.log.borrow(), [("initial", 0)]);
    timer.timer.advance(secs(3));
    for _ in 0..5 {
        assert!(operation.as_mut().poll(context).is_pending());
    }
    assert_eq!(strategy.0.log.take(), [("initial", 0), ("ready", 3)]);
    assert_eq!(timer.asked(), [("sleep", secs(3)), ("sleep", secs(2))]);
}

// Rules R5, R6.
#[test]
fn the_strategy_gets_each_failure_and_the_success() {
    let hint = Error::Failed(Failed::THROTTLED.after(secs(9)));
    let attempt = |strategy: &Steady, _: &Noted| {
        if strategy.failures.borrow().is_empty() { Err(hint) } else { Ok(1) }
    };
    in_each_form(attempt, |(form, _), strategy, _, outcome| {
        assert_eq!((outcome, strategy.successes.take()), (Ok(1), vec![Success::default()]), "{form}");
        let [failure] = strategy.failures.take()[..] else { panic!("{form}") };
        assert!(failure.is_retryable() && failure.refusal().is_none(), "{form}");
        assert_eq!((failure.error_type(), failure.retry_after()), (Some(RetryErrorType::Throttling), Some(secs(9))));
    });
}

// Rule R6.
#[test]
fn a_final_failure_keeps_its_class_and_its_hint() {
    let fatal = Failed { throttle: true, ..Failed::FATAL }.after(secs(9));
    let is_final = |form: &str, strategy: &Steady, class| {
        let [failure] = strategy.failures.take()[..] else { panic!("{form}") };
        assert!(!failure.is_retryable() && failure.refusal().is_none(), "{form}");
        assert_eq!((failure.error_type(), failure.retry_after()), (class, Some(secs(9))), "{form}");
        assert_eq!(strategy.log.take(), [("initial", 0), ("refresh", 3)], "{form}");
    };
    let attempt = |_: &Steady, _: &Noted| Err(Error::Failed(fatal));
    in_each_form(attempt, |(form, _), strategy, _, outcome| {
        assert_eq!(outcome, Err(Error::Failed(fatal)));
        is_final(form, strategy, Some(RetryErrorType::Throttling));
    });

    let (strategy, timer) = (Steady::default(), Noted::default());
    let fails = |_: &u32| RetryDirective::fail(None).after(Some(secs(9)));
    run(&timer.timer, retry(&strategy, async || 0).policy(policy_fn(fails)).timer(&timer).run());
    is_final("a policy", &strategy, None);

    let (strategy, timer) = (Steady::default(), Noted::default());
    let call = retry(&strategy, async || Err::<(), _>("busy")).when(|_| false).retry_after(|_| Some(secs(9)));
    run(&timer.timer, call.timer(&timer).run()).unwrap_err();
    is_final("closures", &strategy, Some(RetryErrorType::Other));
}

// Rule R14.
#[test]
fn a_failure_can_switch_retries_off_and_the_limiter_still_limits() {
    let (limiter, clock) = (one_slot(), ByHand::at(secs(1)));
    let mut token = limiter.acquire_initial_token(&clock).unwrap();
    assert_eq!(limiter.ready(&mut token, &clock, None), Ready::Now);
    let failure = Failure::of(&Failed::SAFE).with_refusal(Some(RetryError::Disabled));
    assert_eq!(limiter.refresh_retry_token(token, &failure, &clock).map(drop), Err(RetryError::Disabled));
    assert_eq!((limiter.counts(), limiter.retries.quota().available()), ((1, 0, 1), 500));
}
