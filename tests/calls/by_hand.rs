//! Operations that are driven by hand: what no other form shows. That they decide as other forms do is in the models of calls and in
//! the ends of the patient strategy.

use crate::support::{Failed, Recorder, millis, secs};
use retry_core::drive::{Cut, Next, Operation, Outcome, Settled};
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::policy::Usage;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::time::ManualTimer;
use retry_core::{
    Clock, Event, Jitter, Observer, PatientRetryStrategy, RetryDirective, RetryError, RetryErrorType, RetryPolicy,
    RetryQuota, RetryStrategy, StandardRetryPolicy, StandardRetryStrategy, Stop, Success, TimeLimit, retry_blocking,
    test,
};
use retry_limits::{PacedLimiter, Weights};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn idle() -> &'static Waker {
    Waker::noop()
}

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

fn refused() -> RetryDirective {
    StandardRetryPolicy::new().evaluate(&Err::<(), _>(Failed::SAFE))
}

fn is_attempt(next: Next) -> bool {
    matches!(next, Next::Attempt { .. })
}

// Rules D1, D2, R24.
#[test]
fn a_token_comes_back_if_its_attempt_is_not_sent_before_the_operation_is_dropped() {
    let (strategy, clock) = (standard().quota_capacity(10), ManualTimer::new());
    for (is_sent, available) in [(false, 10), (true, 5)] {
        let mut operation = Operation::builder(&strategy, "get").clock(&clock).begin();
        assert!(is_attempt(operation.next(idle())));
        operation.sent();
        assert_eq!(operation.settle(refused()), Settled::Retry);
        assert_eq!(operation.next(idle()), Next::Wait(secs(1)));
        clock.advance(secs(1));
        assert!(is_attempt(operation.next(idle())));
        assert_eq!(strategy.quota().available(), 5, "it is paid");
        if is_sent {
            operation.sent();
        }
        drop(operation);
        assert_eq!(strategy.quota().available(), available, "sent: {is_sent}");
    }
}

// Rules D1, R24.
#[test]
fn an_operation_that_is_dropped_while_it_waits_or_before_it_asks_gives_its_token_back() {
    let (strategy, clock) = (standard().quota_capacity(10), ManualTimer::new());
    drop(Operation::builder(&strategy, "get").clock(&clock).begin());
    let mut operation = Operation::builder(&strategy, "get").clock(&clock).begin();
    assert!(is_attempt(operation.next(idle())));
    operation.sent();
    assert_eq!(operation.settle(refused()), Settled::Retry);
    assert_eq!(operation.next(idle()), Next::Wait(secs(1)));
    drop(operation);
    assert_eq!(strategy.quota().available(), 10);
}

// Rules W5, R24.
#[test]
fn a_failure_of_an_attempt_that_was_not_sent_pays_nothing() {
    let (strategy, clock) = (standard().quota_capacity(5), ManualTimer::new());
    let mut operation = Operation::builder(&strategy, "get").clock(&clock).begin();
    for _ in 0..3 {
        while let Next::Wait(time) = operation.next(idle()) {
            clock.advance(time);
        }
        // The connection pool has no connection.
        assert_eq!(operation.settle(refused()), Settled::Retry);
    }
    drop(operation);
    assert_eq!(strategy.quota().available(), 5);
    let recorder = Recorder::new();
    let mut operation = Operation::builder(&recorder, "get").begin();
    assert!(is_attempt(operation.next(idle())));
    assert!(matches!(operation.settle(refused()), Settled::Retry));
    assert!(!recorder.last_failure().unwrap().was_sent());
}

// Rule R24.
#[test]
fn each_method_can_be_called_at_any_time() {
    let (strategy, clock) = (standard().quota_capacity(5), ManualTimer::new());
    let mut operation = Operation::builder(&strategy, "get").clock(&clock).max_time(secs(60)).begin();
    operation.sent();
    assert_eq!(operation.settle(refused()), Settled::Retry, "there is no attempt");
    assert!(matches!(operation.cut(), Cut::Attempt(timed_out) if timed_out.time() == Duration::ZERO));
    for _ in 0..3 {
        assert_eq!(operation.next(idle()), operation.next(idle()), "the same until it is settled");
    }
    operation.sent();
    let Settled::Done(ended) = operation.settle(RetryDirective::succeed()) else { panic!() };
    assert_eq!((ended.attempts, ended.reason, ended.timed_out), (1, None, None));
    assert_eq!(operation.settle(refused()), Settled::Done(ended), "it ended already");
    assert_eq!((operation.cut(), operation.next(idle())), (Cut::Operation(ended), Next::Stop(ended)));
    operation.sent();
    drop(operation);
    assert_eq!(strategy.quota().available(), 5);
}

// Rules T1, T3, R24.
#[test]
fn an_attempt_is_cut_by_its_own_limit_or_by_that_of_the_operation() {
    let (strategy, clock) = (standard(), ManualTimer::new());
    let builder = Operation::builder(&strategy, "get").clock(&clock);
    let mut operation = builder.max_time(secs(4)).attempt_timeout(millis(1_500)).begin();
    let Next::Attempt { time_left, .. } = operation.next(idle()) else { panic!() };
    assert_eq!((time_left, operation.context().time_left()), (Some(millis(1_500)), Some(millis(1_500))));
    operation.sent();
    clock.advance(millis(1_500));
    let Cut::Attempt(timed_out) = operation.cut() else { panic!() };
    assert_eq!((timed_out.limit(), timed_out.time()), (TimeLimit::Attempt, millis(1_500)));
    assert_eq!(operation.settle(refused()), Settled::Retry);
    assert_eq!(operation.next(idle()), Next::Wait(secs(1)));
    clock.advance(secs(1));
    let Next::Attempt { time_left, .. } = operation.next(idle()) else { panic!() };
    assert_eq!(time_left, Some(millis(1_500)), "as much is left");
    operation.sent();
    clock.advance(millis(1_500));
    let Cut::Operation(ended) = operation.cut() else { panic!() };
    assert_eq!((ended.attempts, ended.reason, ended.elapsed), (2, Some(RetryError::MaxTime), secs(4)));
    assert_eq!(ended.timed_out.map(|cut| (cut.limit(), cut.time())), Some((TimeLimit::Operation, secs(4))));
    assert_eq!(strategy.quota().available(), 495, "a cut attempt was sent");
}

// Rules T17, R24.
#[test]
fn a_stop_wakes_what_waits_and_leaves_no_outcome_before_the_first_attempt() {
    static STOP: Stop = Stop::new();
    let (strategy, clock, woken) = (standard(), ManualTimer::new(), Arc::new(Woken::default()));
    let waker = Waker::from(Arc::clone(&woken));
    let begin = || Operation::builder(&strategy, "get").clock(&clock).stop(&STOP).begin();
    let mut waiting = begin();
    assert!(is_attempt(waiting.next(&waker)));
    waiting.sent();
    assert_eq!(waiting.settle(refused()), Settled::Retry);
    assert_eq!(waiting.next(&waker), Next::Wait(secs(1)));
    STOP.stop();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    let Next::Stop(ended) = waiting.next(&waker) else { panic!() };
    assert_eq!((ended.attempts, ended.reason), (1, Some(RetryError::Stopped)));
    let Next::Stop(ended) = begin().next(&waker) else { panic!() };
    assert_eq!((ended.attempts, ended.reason), (0, Some(RetryError::Stopped)));
    assert_eq!(ended.timed_out.map(|cut| cut.limit()), Some(TimeLimit::Stop));
    assert_eq!(strategy.quota().available(), 500);
}

// Rules U2, U5, R24.
#[test]
fn an_event_loop_is_woken_when_the_service_answers_again() {
    let (clock, woken) = (ManualTimer::new(), Arc::new(Woken::default()));
    let strategy = PatientRetryStrategy::over(standard().quota_capacity(0));
    let waker = Waker::from(Arc::clone(&woken));
    let begin = |name| Operation::builder(&strategy, name).clock(&clock).begin();
    let mut operation = begin("get");
    assert!(is_attempt(operation.next(&waker)));
    operation.sent();
    clock.advance(millis(10));
    assert_eq!(operation.settle(refused()), Settled::Retry);
    let Next::Wait(time) = operation.next(&waker) else { panic!() };
    assert!(time > Duration::ZERO);
    assert_eq!(strategy.waiting_operations(), Some(1));
    // Two other calls succeed fast, which is the evidence for one send.
    for _ in 0..2 {
        let mut other = begin("other");
        assert!(is_attempt(other.next(idle())));
        other.sent();
        clock.advance(millis(10));
        assert!(matches!(other.settle(RetryDirective::succeed()), Settled::Done(_)));
    }
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(is_attempt(operation.next(&waker)));
    operation.sent();
    let Settled::Done(ended) = operation.settle(RetryDirective::succeed()) else { panic!() };
    assert_eq!((ended.attempts, ended.waited), (2, millis(20)));
}

// Rules G2, G3, R24.
#[test]
fn a_test_guard_skips_the_waits_and_records_the_operation() {
    let (strategy, guard) = (standard(), test::begin());
    let mut operation = Operation::builder(&strategy, "get").begin();
    let mut attempts = 0;
    let ended = loop {
        match operation.next(idle()) {
            Next::Attempt { .. } => attempts += 1,
            Next::Stop(ended) => break ended,
            Next::Wait(time) => {
                assert_eq!(time, Duration::ZERO, "a wait that is not skipped");
                continue;
            }
        }
        operation.sent();
        if let Settled::Done(ended) = operation.settle(refused()) {
            break ended;
        }
    };
    assert_eq!((attempts, ended.attempts), (5, 5));
    guard.only().assert_ended(5, Some(RetryError::MaxAttempts));
    assert_eq!((guard.only().name, &*guard.only().delays), ("get", &*guard.skipped()));
}

// Rules O18, R24.
#[test]
fn operations_within_an_attempt_are_nested() {
    let (outer, inner, guard) = (standard(), standard(), test::begin());
    let mut operation = Operation::builder(&outer, "outer").begin();
    loop {
        if !is_attempt(operation.next(idle())) {
            continue;
        }
        operation.sent();
        {
            let _entered = operation.enter();
            let call = retry_blocking(&inner, || Err::<(), _>(Failed::SAFE)).name("inner");
            assert!(call.run().is_err());
        }
        if let Settled::Done(_) = operation.settle(refused()) {
            break;
        }
    }
    let nested = guard.nested();
    assert_eq!(nested.len(), 1, "{nested:?}");
    assert!(format!("{nested:?}").contains("outer") && format!("{nested:?}").contains("inner"), "{nested:?}");
}

// Rules L45, R24.
#[test]
fn a_weight_and_what_was_used_reach_the_limiter() {
    let limiter = PacedLimiter::<Weights>::of_weights().max_rate(10.0);
    let strategy = LimitedRetryStrategy::with_limiter(standard(), limiter);
    let clock = ManualTimer::new();
    let send = |weight, used: Option<u32>| {
        let mut operation = Operation::builder(&strategy, "ask").clock(&clock).weight(weight).begin();
        let mut waited = Duration::ZERO;
        while let Next::Wait(time) = operation.next(idle()) {
            waited += time;
            clock.advance(time);
        }
        operation.sent();
        if let Some(used) = used {
            operation.used(Usage::new(used));
        }
        assert!(matches!(operation.settle(RetryDirective::succeed()), Settled::Done(_)));
        waited
    };
    let waited = [send(100, None), send(100, Some(1)), send(100, None)];
    assert!(waited[0] > secs(10) && waited[1] > secs(10), "{waited:?}");
    assert!(waited[2] < secs(1), "99 came back: {waited:?}");
    clock.advance(secs(1_000));
    // At any other time it changes nothing.
    let mut early = Operation::builder(&strategy, "ask").clock(&clock).weight(100).begin();
    let use_too_little = |operation: &mut Operation<_, _, _>| {
        operation.used(Usage::new(1));
        operation.evaluate(&Light, &Outcome::new(Ok(1)));
    };
    use_too_little(&mut early);
    while let Next::Wait(time) = early.next(idle()) {
        clock.advance(time);
    }
    early.sent();
    assert!(matches!(early.settle(RetryDirective::succeed()), Settled::Done(_)));
    use_too_little(&mut early);
    assert!(send(100, None) > secs(10), "nothing came back");
}

/// A policy that says of each outcome that it used nearly nothing.
struct Light;

impl RetryPolicy<Result<u32, Failed>> for Light {
    fn evaluate(&self, _: &Result<u32, Failed>) -> RetryDirective {
        RetryDirective::succeed()
    }

    fn usage(&self, _: &Result<u32, Failed>) -> Option<Usage> {
        Some(Usage::new(1))
    }
}

/// Keeps the names of events.
struct Seen<'a>(&'a RefCell<Vec<&'static str>>);

impl Observer for Seen<'_> {
    fn observe(&self, event: &Event) {
        assert_eq!(event.operation, "get");
        self.0.borrow_mut().push(event.kind.as_str());
    }
}

// Rules O1, R24.
#[test]
fn an_observer_and_the_context_see_each_attempt() {
    let (strategy, clock, seen) = (standard().max_attempts(2), ManualTimer::new(), RefCell::new(Vec::new()));
    let observer = Seen(&seen);
    let mut operation = Operation::builder(&strategy, "get").clock(&clock).observer(&observer).begin();
    assert!(is_attempt(operation.next(idle())));
    let first = operation.context();
    assert_eq!((first.attempt(), first.operation_id(), first.previous_failure()), (1, operation.id(), None));
    operation.sent();
    assert_eq!(operation.settle(refused()), Settled::Retry);
    assert_eq!(operation.next(idle()), Next::Wait(secs(1)));
    clock.advance(secs(1));
    assert!(is_attempt(operation.next(idle())));
    let second = operation.context();
    assert_eq!((second.attempt(), second.operation_id()), (2, first.operation_id()));
    assert_eq!(second.previous_failure().and_then(|failure| failure.error_type()), Some(RetryErrorType::Other));
    operation.sent();
    assert!(matches!(operation.settle(refused()), Settled::Done(_)));
    let expected =
        ["attempt_started", "attempt_failed", "retry_scheduled", "attempt_started", "attempt_failed", "stopped"];
    assert_eq!(seen.take(), expected);
}

/// A limiter of a user's own, which permits one send at a time and can't end a wait early.
#[derive(Debug, Default)]
struct OneAtATime(AtomicU32);

impl SendLimiter for OneAtATime {
    type Place = bool;

    fn begin(&self, _: &dyn Clock) -> bool {
        false
    }

    fn must_ask(&self, place: &bool) -> bool {
        !place
    }

    fn ask(&self, place: &mut bool, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        *place = self.0.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if *place { Ready::Now } else { Ready::After(millis(10)) }
    }

    fn succeeded(&self, _: &mut bool, _: &Success, _: &dyn Clock) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn failed(&self, _: &mut bool, _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        self.0.store(0, Ordering::Relaxed);
        None
    }
}

// Rules G2, R24.
#[test]
fn a_wait_that_a_test_guard_skips_lets_other_operations_go_on() {
    let strategy = LimitedRetryStrategy::with_limiter(standard(), OneAtATime::default());
    let _guard = test::begin();
    let begin = || Operation::builder(&strategy, "get").begin();
    let (mut one, mut other) = (begin(), begin());
    assert!(is_attempt(one.next(idle())));
    for _ in 0..3 {
        assert_eq!(other.next(idle()), Next::Wait(Duration::ZERO));
    }
    one.sent();
    assert!(matches!(one.settle(RetryDirective::succeed()), Settled::Done(_)));
    assert!(is_attempt(other.next(idle())));
}

// Rules R24, O9.
#[test]
fn an_operation_keeps_the_event_of_its_last_failure_for_a_driver_that_wants_it() {
    for keeps in [true, false] {
        let (strategy, timer) = (standard().max_attempts(2), ManualTimer::new());
        let operation = Operation::builder(&strategy, "put").clock(&timer).without_elapsed();
        let mut operation = if keeps { operation.with_failures() } else { operation }.begin();
        let mut kinds = Vec::new();
        for _ in 0..2 {
            while let Next::Wait(wait) = operation.next(idle()) {
                timer.advance(wait);
            }
            operation.sent();
            let settled = operation.settle(refused());
            let id = operation.id();
            kinds.extend(operation.take_failure().map(|event| {
                assert_eq!((event.operation, event.operation_id), ("put", id));
                (event.attempt, event.elapsed, event.kind.as_str())
            }));
            assert_eq!(operation.take_failure(), None, "once");
            if let Settled::Done(ended) = settled {
                let report = ended.report("outcome");
                let expected = ("outcome", 2, Some(RetryError::MaxAttempts));
                assert_eq!((report.outcome, report.attempts, report.reason), expected);
            }
        }
        let expected = [(1, Duration::ZERO, "retry_scheduled"), (2, secs(1), "stopped")];
        assert_eq!(kinds, expected[..if keeps { 2 } else { 0 }]);
    }
}

// Rules R24, O9.
#[test]
fn an_operation_that_ends_before_its_first_attempt_keeps_an_event_with_the_attempt_0() {
    static STOP: Stop = Stop::new();
    STOP.stop();
    let timer = ManualTimer::new();
    // The limiter permits the first attempt after ten seconds.
    let strategies = [(); 3].map(|()| Recorder::new().waiting([secs(10)]));
    let begin = |index: usize| Operation::builder(&strategies[index], "put").clock(&timer).with_failures();
    let cases = [
        (begin(0).max_time(secs(2)).begin(), RetryError::MaxTime, TimeLimit::Operation),
        (begin(1).deadline(timer.now().saturating_add(secs(2))).begin(), RetryError::MaxTime, TimeLimit::Deadline),
        (begin(2).stop(&STOP).begin(), RetryError::Stopped, TimeLimit::Stop),
    ];
    for (mut operation, reason, limit) in cases {
        let Next::Stop(ended) = operation.next(idle()) else { panic!("{reason}") };
        assert_eq!(
            (ended.attempts, ended.reason, ended.timed_out.map(|cut| cut.limit())),
            (0, Some(reason), Some(limit))
        );
        let event = operation.take_failure().unwrap();
        assert_eq!((event.attempt, event.kind.reason()), (0, Some(reason)));
    }
}
