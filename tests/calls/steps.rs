//! What an operation asks of its strategy, its timer and its observers, and what it does not ask.

use crate::script::{Error, SAFE, time_was_up};
use crate::support::timers::{Noted, Sluggish, run, since_start};
use crate::support::{Attempt, Failed, Recorder, kept, millis, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::observe::NoHedge;
use retry_core::strategy::{ForeignToken, LongPolling};
use retry_core::time::{BlockingTimer, ManualSleep, ManualTimer, Timestamp};
use retry_core::{
    Clock, Event, EventKind, Failure, Hedge, Jitter, Observer, RetryError, RetryStrategy, RetryToken,
    StandardRetryStrategy, Stop, Success, TimeLimit, Timer, retry, retry_blocking, test, without_retries,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{pending, ready};
use std::task::Waker;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A strategy that grants what it is asked for, and records it.
#[derive(Default)]
struct Granting {
    log: RefCell<Vec<String>>,
    /// The delays of the tokens, from that of the second attempt on.
    delays: Vec<Duration>,
    /// The answers of `ready`, before it permits all attempts.
    waits: RefCell<VecDeque<Duration>>,
    /// Whether these waits can end early.
    keeps_wakers: bool,
    wakers: RefCell<Vec<Waker>>,
    /// The times at which it was asked for a permission.
    asked: RefCell<Vec<Duration>>,
    /// A clock that it advances when it sells a hedge.
    slow: Option<(ManualTimer, Duration)>,
    levels: Cell<u32>,
}

struct Token {
    attempt: u32,
    delay: Duration,
}

impl RetryToken for Token {
    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn delay(&self) -> Duration {
        self.delay
    }
}

impl Granting {
    fn waiting(waits: impl IntoIterator<Item = Duration>) -> Self {
        Self { waits: RefCell::new(waits.into_iter().collect()), ..Self::default() }
    }

    /// The waits can end early, so their lengths are bounds.
    fn with_wakers(self) -> Self {
        Self { keeps_wakers: true, ..self }
    }

    fn note(&self, what: &str, attempt: u32) {
        self.log.borrow_mut().push(format!("{what} {attempt}"));
    }
}

impl RetryStrategy for Granting {
    type Token = Token;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Token, RetryError> {
        Ok(Token { attempt: 1, delay: Duration::ZERO })
    }

    fn refresh_retry_token(&self, token: Token, _: &Failure, _: &dyn Clock) -> Result<Token, RetryError> {
        self.note("refresh", token.attempt);
        let delay = self.delays.get(token.attempt as usize - 1).copied().unwrap_or_default();
        Ok(Token { attempt: token.attempt + 1, delay })
    }

    fn record_success(&self, token: Token, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        self.note("success", token.attempt);
        Ok(())
    }

    fn ready(&self, token: &mut Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        self.note("ready", token.attempt);
        self.asked.borrow_mut().push(clock.now().saturating_since(Timestamp::START));
        let Some(wait) = self.waits.borrow_mut().pop_front() else { return Ready::Now };
        if self.keeps_wakers {
            self.wakers.borrow_mut().extend(waker.map(LazyWaker::waker));
        }
        Ready::After(wait)
    }

    fn acquire_hedge(&self, token: &Token, _: &dyn Clock) -> Result<Token, RetryError> {
        self.note("hedge", token.attempt);
        if let Some((timer, time)) = &self.slow {
            timer.advance(*time);
        }
        Ok(Token { attempt: token.attempt + 1, delay: Duration::ZERO })
    }

    fn release(&self, token: Token) {
        self.note("release", token.attempt);
    }

    fn quota_level(&self) -> Option<u32> {
        self.levels.set(self.levels.get() + 1);
        None
    }
}

/// The events of an operation, with their attempts.
#[derive(Default)]
struct Seen(RefCell<Vec<(EventKind, u32)>>);

impl Observer for Seen {
    fn observe(&self, event: &Event) {
        self.0.borrow_mut().push((event.kind, event.attempt));
    }
}

impl Seen {
    fn kinds(&self) -> Vec<&'static str> {
        self.0.borrow().iter().map(|(kind, _)| kind.as_str()).collect()
    }
}

// Rules R18, R21, T17.
#[tokio::test(start_paused = true)]
async fn a_retry_that_a_strategy_grants_although_there_is_none_is_given_back() {
    let given_back = ["initial", "ready", "refresh", "release"];
    let recorder = Recorder::new();
    let report = without_retries(retry(&recorder, || ready(SAFE)).report()).await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::Disabled)));
    assert_eq!(recorder.calls(), given_back);
    assert_eq!(recorder.last_failure().unwrap().refusal(), Some(RetryError::Disabled));

    let (recorder, stop) = (Recorder::new(), Stop::new());
    let call = retry(&recorder, || {
        stop.stop();
        ready(SAFE)
    });
    let report = call.stop(&stop).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::Stopped)));
    assert_eq!(recorder.calls(), given_back);
    assert_eq!(recorder.last_failure().unwrap().refusal(), Some(RetryError::Stopped));
}

// Rule W2.
#[tokio::test(start_paused = true)]
async fn the_strategy_learns_that_a_request_that_cannot_be_cloned_is_not_retried() {
    let recorder = Recorder::new();
    let layer = RetryLayer::with_handle(&recorder).clone_with(|(): &()| None);
    assert_eq!(layer.layer(service_fn(|()| ready(SAFE))).oneshot(()).await, SAFE);
    assert_eq!(recorder.calls(), ["initial", "ready", "refresh", "release"], "it grants a retry, and there is none");
    assert_eq!(recorder.last_failure().unwrap().refusal(), Some(RetryError::NotRepeatable));
}

/// A strategy that refuses each retry, and records that it is asked for the delay of a refused one.
#[derive(Default)]
struct Refusing(Cell<u32>);

impl RetryStrategy for Refusing {
    type Token = Attempt;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Attempt, RetryError> {
        Recorder::new().acquire_initial_token(clock)
    }

    fn refresh_retry_token(&self, _: Attempt, _: &Failure, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Err(RetryError::QuotaExhausted)
    }

    fn record_success(&self, _: Attempt, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn refused_delay(&self, _: &Attempt, _: &Failure) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::ZERO
    }
}

// Rule R20.
#[tokio::test(start_paused = true)]
async fn only_a_long_poll_asks_for_the_delay_of_a_refused_retry_and_it_does_not_wait_for_none() {
    let (strategy, seen) = (Refusing::default(), Seen::default());
    assert_eq!(retry(&strategy, || ready(SAFE)).observer(&seen).run().await, SAFE);
    assert_eq!(strategy.0.get(), 0);
    let expected = ["attempt_started", "attempt_failed", "stopped"];
    assert_eq!(seen.kinds(), expected);
    let seen = Seen::default();
    assert_eq!(retry(&LongPolling::over(&strategy), || ready(SAFE)).observer(&seen).run().await, SAFE);
    assert_eq!(strategy.0.get(), 1);
    assert_eq!(seen.kinds(), expected);
}

// Rules T4, T8.
#[tokio::test(start_paused = true)]
async fn a_delay_that_the_strategy_should_have_refused_is_not_started() {
    let strategy = Granting { delays: vec![secs(1), secs(1), secs(100)], ..Granting::default() };
    let report = retry(&strategy, || ready(SAFE)).max_time(secs(10)).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 3, Some(RetryError::MaxTime)));
    assert_eq!(report.elapsed, secs(2));
    assert_eq!(strategy.log.borrow().last().unwrap(), "release 4");
}

// Rules G2, T1.
#[tokio::test(start_paused = true)]
async fn waits_that_a_test_skips_use_up_the_time_of_each_kind_of_operation() {
    let _test = test::begin();
    let stop = Stop::new();
    for form in ["plain", "stop"] {
        let strategy = Granting::waiting([secs(6), secs(6)]);
        let call = retry(&strategy, || ready(Ok::<u32, Error>(1))).max_time(secs(10));
        let report = match form {
            "plain" => call.report().await,
            _ => call.stop(&stop).report().await,
        };
        assert_eq!((report.attempts, report.reason), (0, Some(RetryError::MaxTime)), "{form}");
        assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Operation, secs(10))), "{form}");
        assert_eq!(*strategy.log.borrow(), ["ready 1", "ready 1", "release 1"], "{form}");
    }
}

// Rule T1.
#[test]
fn the_time_of_an_operation_includes_what_happens_before_its_first_attempt() {
    struct Slow(ManualTimer);

    impl Observer for Slow {
        fn is_interested(&self, _: &'static str) -> bool {
            self.0.advance(secs(4));
            true
        }

        fn observe(&self, _: &Event) {}
    }

    let (strategy, timer) = (Granting::default(), ManualTimer::new());
    let slow = Slow(timer.clone());
    let call = retry(&strategy, pending::<Result<u32, Error>>).timer(&timer).observer(&slow);
    let outcome = run(&timer, call.max_time(secs(10)).run());
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Operation, secs(10))));
    assert_eq!(since_start(&timer), secs(10));
}

// Rules T7, T8.
#[tokio::test(start_paused = true)]
async fn no_attempt_follows_a_wait_for_a_limiter_that_lasted_past_max_time() {
    let strategy = Granting::waiting([secs(5)]).with_wakers();
    let calls = Cell::new(0);
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        ready(Ok::<u32, Error>(1))
    });
    let report = call.timer(Sluggish).max_time(secs(3)).report().await;
    assert_eq!((report.attempts, report.reason, calls.get()), (0, Some(RetryError::MaxTime), 0));
    assert_eq!(report.elapsed, secs(4), "the wait was shortened to the time that was left");
}

// Rules T17, T19.
#[tokio::test(start_paused = true)]
async fn a_wait_for_a_limiter_begins_only_before_a_stop() {
    let (strategy, stop) = (Granting::waiting([secs(5)]).with_wakers(), Stop::new());
    let report = retry(&strategy, || ready(Ok::<u32, Error>(1))).stop(&stop).report().await;
    assert_eq!((report.outcome, report.elapsed), (Ok(1), secs(5)));
    stop.stop();
    let strategy = Granting::waiting([secs(5)]).with_wakers();
    let report = retry(&strategy, || ready(Ok::<u32, Error>(1))).stop(&stop).report().await;
    assert_eq!((report.attempts, report.reason), (0, Some(RetryError::Stopped)));
    assert_eq!(*strategy.log.borrow(), ["ready 1", "release 1"]);
}

/// An observer that stops an operation when it begins to wait for a limiter.
struct Stopping<'a>(&'a Stop);

impl Observer for Stopping<'_> {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::Limited { .. }) {
            self.0.stop();
        }
    }
}

// Rule T17.
#[tokio::test(start_paused = true)]
async fn a_stop_just_before_a_wait_ends_the_wait() {
    for strategy in [Granting::waiting([secs(3600)]), Granting::waiting([secs(3600)]).with_wakers()] {
        let stop = Stop::new();
        let call = retry(&strategy, || ready(Ok::<u32, Error>(1))).stop(&stop).observer(Stopping(&stop));
        let report = call.report().await;
        assert_eq!((report.elapsed, report.reason), (Duration::ZERO, Some(RetryError::Stopped)));
    }
}

// Rule T19.
#[tokio::test(start_paused = true)]
async fn a_deadline_applies_beside_a_stop() {
    let (strategy, stop, began) = (Granting::default(), Stop::new(), Instant::now());
    let call = retry(&strategy, || async {
        sleep(secs(60)).await;
        Ok::<u32, Error>(1)
    });
    let outcome = call.deadline(began + secs(3)).stop(&stop).run().await;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Deadline, secs(3))));
    assert_eq!(began.elapsed(), secs(3));
}

// Rules V3, V5.
#[test]
fn a_hedge_that_is_sold_when_the_time_is_up_is_not_sent() {
    let (timer, seen, calls) = (ManualTimer::new(), Seen::default(), Cell::new(0));
    let strategy = Granting { slow: Some((timer.clone(), secs(5))), ..Granting::default() };
    let hedge = kept(Hedge::after(secs(1)));
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        pending::<Result<u32, Error>>()
    });
    let outcome = run(&timer, call.timer(&timer).max_time(secs(3)).observer(&seen).idempotent(true).hedge(hedge).run());
    assert_eq!((time_was_up(&outcome), calls.get()), (Some((TimeLimit::Operation, secs(3))), 1));
    assert!(seen.0.borrow().contains(&(EventKind::HedgeNotSent { reason: NoHedge::MaxTime }, 1)));
    assert_eq!(*strategy.log.borrow(), ["ready 1", "hedge 1", "ready 2", "release 2"]);
}

// Rules V3, T8.
#[tokio::test(start_paused = true)]
async fn an_operation_with_a_hedge_makes_no_attempt_if_its_time_is_over() {
    let (strategy, hedge, calls) = (Granting::waiting([secs(8)]), kept(Hedge::after(secs(1))), Cell::new(0));
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        ready(Ok::<u32, Error>(1))
    });
    let report = call.max_time(secs(5)).idempotent(true).hedge(hedge).report().await;
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Operation, secs(5))));
    assert_eq!((report.reason, calls.get()), (Some(RetryError::MaxTime), 0));
}

// Rules G2, R3.
#[test]
fn a_blocking_call_asks_again_after_each_wait_that_a_test_skips() {
    let _test = test::begin();
    let strategy = Granting::waiting([secs(3), secs(2)]);
    let call = retry_blocking(&strategy, || Ok::<u32, Error>(1)).timer(ManualTimer::new());
    assert_eq!(call.run(), Ok(1));
    assert_eq!(*strategy.log.borrow(), ["ready 1", "ready 1", "ready 1", "success 1"]);
    assert_eq!(*strategy.asked.borrow(), [secs(0), secs(3), secs(5)], "the strategy sees the skipped time");
}

/// A timer of threads whose waits end after this time at the latest.
#[derive(Default)]
struct Spurious {
    noted: Noted,
    longest: Duration,
}

impl Clock for Spurious {
    fn now(&self) -> Timestamp {
        self.noted.now()
    }
}

impl Timer for Spurious {
    type Sleep = ManualSleep;

    fn sleep(&self, delay: Duration) -> ManualSleep {
        self.noted.timer.sleep(delay)
    }
}

impl BlockingTimer for Spurious {
    fn block(&self, delay: Duration) {
        self.noted.block(delay.min(self.longest));
    }

    fn park(&self, delay: Duration) {
        self.noted.park(delay.min(self.longest));
    }
}

// Rule K4.
#[test]
fn an_attempt_that_a_clock_that_stands_still_lets_pass_is_reported() {
    let test = test::begin().real_time();
    let (strategy, timer, seen) = (Granting::waiting([secs(1); 500]), Spurious::default(), Seen::default());
    let call = retry_blocking(&strategy, || {
        assert_eq!(test.only().attempts, 1);
        Ok::<u32, Error>(1)
    });
    assert_eq!(call.timer(&timer).observer(&seen).run(), Ok(1));
    let kinds = seen.kinds();
    assert_eq!(kinds[kinds.len() - 3..], ["limited", "attempt_started", "succeeded"]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "limited").count(), 100);
}

// Rule T17.
#[test]
fn a_thread_that_can_be_stopped_waits_for_all_of_a_delay_and_no_longer() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).max_attempts(2);
    let parks = |longest: Duration| {
        let (timer, stop) = (Spurious { longest, ..Spurious::default() }, Stop::new());
        assert_eq!(retry_blocking(&strategy, || SAFE).timer(&timer).stop(&stop).run(), SAFE);
        let parks = timer.noted.asked();
        assert!(parks.iter().all(|(what, _)| *what == "park"));
        parks.into_iter().map(|(_, time)| time).collect::<Vec<_>>()
    };
    assert_eq!(parks(secs(9)), [secs(1)]);
    assert_eq!(parks(millis(400)), [millis(400), millis(400), millis(200)], "a thread can be unparked too early");
    assert_eq!(parks(Duration::ZERO), [Duration::ZERO], "a clock that stands still");
}

#[tokio::test(start_paused = true)]
async fn without_observers_no_event_is_made() {
    let (strategy, calls) = (Granting::default(), Cell::new(0));
    let call = || {
        calls.set(calls.get() + 1);
        ready(if calls.get() == 1 { Err(Failed::SAFE) } else { Ok(1) })
    };
    assert_eq!(retry(&strategy, call).run().await, Ok(1));
    assert_eq!((calls.get(), strategy.levels.get()), (2, 0));
}
