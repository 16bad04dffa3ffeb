//! The events that an observer gets, and the cost without one.

use crate::script::{Error, Limits, NONE, Script, judge, max_time};
use crate::support::{ByHand, Failed, Recorder, assert_send, millis, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use proptest::prelude::*;
use retry_config::{RetryConfig, RetryMode};
use retry_core::drive::{Next, Operation};
use retry_core::strategy::DelaySource;
use retry_core::time::{BlockingTimer, ManualTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErasedStrategy, Event, EventKind, Failure, Jitter, Observer, OperationId, RetryError,
    RetryErrorType, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, Timer, policy_fn, retry,
    retry_blocking, retryable,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::timeout;

/// An observer that records all events.
#[derive(Default)]
struct Log(RefCell<Vec<Event>>);

impl Observer for Log {
    fn observe(&self, event: &Event) {
        self.0.borrow_mut().push(event.clone());
    }
}

impl Log {
    fn kinds(&self) -> Vec<&'static str> {
        self.0.borrow().iter().map(|event| event.kind.as_str()).collect()
    }
}

#[retryable(
    strategy = strategy,
    policy = policy_fn(judge),
    observer = log,
    timer = script.timer,
    max_time = limits.max_time,
    attempt_timeout = limits.attempt_timeout
)]
async fn attribute<S: RetryStrategy>(strategy: &S, limits: Limits, script: &Script, log: &Log) -> Result<u32, Error> {
    script.attempt().await
}

async fn closure<S: RetryStrategy>(strategy: &S, limits: Limits, script: &Script, log: &Log) -> Result<u32, Error> {
    let call = retry(strategy, || script.attempt())
        .policy(policy_fn(judge))
        .observer(log)
        .timer(&script.timer)
        .name("closure");
    call.max_time(limits.max_time).attempt_timeout(limits.attempt_timeout).run().await
}

/// Runs the operation in one of the forms.
async fn run(
    form: Form,
    strategy: &impl RetryStrategy,
    limits: Limits,
    script: &Script,
    log: &Log,
) -> Result<u32, Error> {
    match form {
        Form::Attribute => attribute(strategy, limits, script, log).await,
        Form::Closure => closure(strategy, limits, script, log).await,
    }
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Attribute,
    Closure,
}

const FORMS: [Form; 2] = [Form::Attribute, Form::Closure];

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

// Rules O2, O4.
#[tokio::test(start_paused = true)]
async fn events_have_the_operation_the_attempt_and_the_elapsed_time() {
    let hint = Err(Error::Failed(Failed::THROTTLED.after(secs(3))));
    let timeout = Err(Error::Failed(Failed::TIMEOUT));
    for (form, name) in [(Form::Attribute, "observing::observer::attribute"), (Form::Closure, "closure")] {
        let (strategy, log) = (standard(), Log::default());
        let script = Script::new([(secs(1), hint), (secs(1), timeout), (secs(1), Ok(7))]);
        assert_eq!(run(form, &strategy, NONE, &script, &log).await, Ok(7));
        let events = log.0.into_inner();
        assert!(events.iter().all(|event| event.operation == name), "{events:?}");
        let when: Vec<_> = events.iter().map(|event| (event.kind.as_str(), event.attempt, event.elapsed)).collect();
        assert_eq!(
            when,
            [
                ("attempt_started", 1, secs(0)),
                ("attempt_failed", 1, secs(1)),
                ("retry_scheduled", 1, secs(1)),
                ("attempt_started", 2, secs(4)),
                ("attempt_failed", 2, secs(5)),
                ("retry_scheduled", 2, secs(5)),
                ("attempt_started", 3, secs(7)),
                ("succeeded", 3, secs(8)),
            ]
        );
        let EventKind::AttemptFailed { failure, .. } = events[1].kind else { panic!("{:?}", events[1]) };
        assert_eq!(failure.error_type(), Some(RetryErrorType::Throttling));
        assert_eq!((failure.is_retryable(), failure.retry_after()), (true, Some(secs(3))));
        let EventKind::RetryScheduled { error_type, delay, delay_source, quota, .. } = events[2].kind else { panic!() };
        assert_eq!((delay, delay_source, quota), (secs(3), DelaySource::RetryAfter, Some(495)));
        assert_eq!(error_type, Some(RetryErrorType::Throttling));
        let EventKind::RetryScheduled { delay, delay_source, quota, .. } = events[5].kind else { panic!() };
        assert_eq!((delay, delay_source, quota), (secs(2), DelaySource::Backoff, Some(485)));
        assert!(matches!(events[7].kind, EventKind::Succeeded { recorded: true, quota: Some(486), .. }));
    }
}

// Rule O3.
#[tokio::test(start_paused = true)]
async fn the_last_event_has_the_reason_to_stop() {
    for form in FORMS {
        let stopped = |strategy: StandardRetryStrategy, limits: Limits, attempts: Vec<(Duration, Error)>| async move {
            let (script, log) =
                (Script::new(attempts.into_iter().map(|(time, error)| (time, Err(error)))), Log::default());
            assert!(run(form, &strategy, limits, &script, &log).await.is_err());
            let event = log.0.borrow().last().unwrap().clone();
            let EventKind::Stopped { reason, error_type, quota, .. } = event.kind else { panic!("{event:?}") };
            (event.attempt, reason, error_type, quota)
        };
        let failed = |failed: Failed| vec![(secs(1), Error::Failed(failed))];
        assert_eq!(
            stopped(standard(), NONE, failed(Failed::FATAL)).await,
            (1, RetryError::NotRetryable, None, Some(500))
        );
        assert_eq!(
            stopped(standard().max_attempts(2), NONE, failed(Failed::THROTTLED)).await,
            (2, RetryError::MaxAttempts, Some(RetryErrorType::Throttling), Some(495))
        );
        assert_eq!(
            stopped(standard().quota_capacity(4), NONE, failed(Failed::SAFE)).await,
            (1, RetryError::QuotaExhausted, Some(RetryErrorType::Other), Some(4))
        );
        assert_eq!(
            stopped(standard(), NONE, failed(Failed::SAFE.after(secs(301)))).await,
            (1, RetryError::RetryAfterTooLong, Some(RetryErrorType::Other), Some(500))
        );
        assert_eq!(
            stopped(standard(), max_time(millis(500)), failed(Failed::SAFE)).await,
            (1, RetryError::MaxTime, None, Some(500)),
            "max_time cut the attempt"
        );
        assert_eq!(
            stopped(standard(), max_time(millis(1500)), failed(Failed::SAFE)).await,
            (1, RetryError::MaxTime, Some(RetryErrorType::Other), Some(500)),
            "the delay would end after max_time"
        );
    }
}

// Rule R5.
#[tokio::test(start_paused = true)]
async fn events_show_a_refused_initial_token_and_a_success_that_was_not_recorded() {
    let ok = [(secs(0), Ok(1))];
    for form in FORMS {
        let (refusing, log) = (Recorder::new().refusing_initial_token(RetryError::QuotaExhausted), Log::default());
        assert_eq!(run(form, &refusing, NONE, &Script::new(ok), &log).await, Ok(1));
        assert_eq!(log.kinds(), ["refused", "attempt_started", "succeeded"]);
        assert!(matches!(
            log.0.borrow()[..],
            [
                Event { kind: EventKind::Refused { reason: RetryError::QuotaExhausted, .. }, .. },
                _,
                Event { kind: EventKind::Succeeded { recorded: false, quota: None, .. }, .. },
            ]
        ));

        let (forgetful, log) = (Recorder::new().forgetting(), Log::default());
        assert_eq!(run(form, &forgetful, NONE, &Script::new(ok), &log).await, Ok(1));
        assert!(matches!(log.0.borrow()[1].kind, EventKind::Succeeded { recorded: false, .. }));
    }
}

// Rule O4.
#[tokio::test(start_paused = true)]
async fn waits_for_the_limiter_are_events_and_the_backoff_is_not() {
    for form in FORMS {
        let strategy = AdaptiveRetryStrategy::over(standard().max_attempts(3));
        let (script, log) = (Script::new([(secs(0), Err(Error::Failed(Failed::THROTTLED)))]), Log::default());
        assert!(run(form, &strategy, NONE, &script, &log).await.is_err());
        let kinds = log.kinds();
        let events = log.0.into_inner();
        assert_eq!(kinds[..3], ["attempt_started", "attempt_failed", "retry_scheduled"]);
        let limited: Vec<_> = events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Limited { wait, .. } => Some((event.attempt, event.elapsed, wait)),
                _ => None,
            })
            .collect();
        // The limiter works at the minimum rate of 0.5 sends per second and had no capacity at the start.
        assert!(limited.iter().all(|(attempt, at, _)| *attempt > 1 && *at >= secs(1)), "{limited:?}");
        let waited: Duration = limited.iter().filter(|(attempt, ..)| *attempt == 2).map(|(_, _, wait)| *wait).sum();
        let second = events.iter().find(|event| event.attempt == 2 && event.kind == EventKind::AttemptStarted).unwrap();
        assert_eq!(secs(1) + waited, second.elapsed, "the backoff and the waits add up to the time before the attempt");
    }
}

// Rules O2, O6.
#[tokio::test(start_paused = true)]
async fn events_have_the_send_rate_once_the_strategy_limits_sends() {
    for form in FORMS {
        let strategy = AdaptiveRetryStrategy::over(standard());
        let calm = [Err(Error::Failed(Failed::SAFE)), Err(Error::Failed(Failed::THROTTLED)), Ok(1)];
        let (script, log) = (Script::new(calm.map(|outcome| (secs(1), outcome))), Log::default());
        assert_eq!(run(form, &strategy, NONE, &script, &log).await, Ok(1));
        let rates: Vec<_> = log
            .0
            .into_inner()
            .into_iter()
            .filter_map(|event| match event.kind {
                EventKind::RetryScheduled { send_rate, .. } | EventKind::Succeeded { send_rate, .. } => Some(send_rate),
                _ => None,
            })
            .collect();
        let [None, Some(throttled), Some(last)] = rates[..] else { panic!("{rates:?}") };
        assert!(throttled >= 0.5 && last >= 0.5, "{rates:?}");
        assert_eq!(strategy.send_rate(), Some(last));
    }
}

#[tokio::test(start_paused = true)]
async fn wrappers_of_a_strategy_do_not_change_the_events() {
    // The ids differ, because each run is another operation.
    static SAME_ID: LazyLock<OperationId> = LazyLock::new(OperationId::random);

    async fn events(strategy: impl RetryStrategy) -> Vec<Event> {
        let log = Log::default();
        let outcomes =
            [Err(Error::Failed(Failed::THROTTLED)), Err(Error::Failed(Failed::TIMEOUT.after(secs(5)))), Ok(1)];
        let script = Script::new(outcomes.map(|outcome| (secs(1), outcome)));
        assert_eq!(run(Form::Closure, &strategy, NONE, &script, &log).await, Ok(1));
        log.0.into_inner().into_iter().map(|event| Event { operation_id: *SAME_ID, ..event }).collect()
    }

    fn adaptive() -> AdaptiveRetryStrategy {
        AdaptiveRetryStrategy::over(standard())
    }

    let plain = events(adaptive()).await;
    let kinds: Vec<_> = plain.iter().map(|event| event.kind.as_str()).collect();
    assert!(kinds.contains(&"limited") && kinds.contains(&"retry_scheduled"), "{kinds:?}");
    assert_eq!(events(Box::new(adaptive())).await, plain);
    assert_eq!(events(Arc::new(adaptive())).await, plain);
    assert_eq!(events(ErasedStrategy::new(adaptive())).await, plain);
    assert_eq!(events(ScopedRetryStrategy::<u64, _>::new(adaptive).scope(&7)).await, plain);
    let config = RetryConfig::new().mode(RetryMode::Adaptive);
    assert_eq!(events(config.build_on(standard()).unwrap()).await, plain);
    let config = RetryConfig::new().mode(RetryMode::Standard);
    assert_eq!(events(config.build_on(standard()).unwrap()).await, events(standard()).await);
}

// Rules O5, R15.
#[tokio::test(start_paused = true)]
async fn an_observer_without_interest_is_asked_once_and_costs_no_clock_reading() {
    struct Uninterested(Cell<Vec<&'static str>>);
    impl Observer for Uninterested {
        fn is_interested(&self, operation: &'static str) -> bool {
            let mut asked = self.0.take();
            asked.push(operation);
            self.0.set(asked);
            false
        }

        fn observe(&self, event: &Event) {
            panic!("it is not interested: {event:?}");
        }
    }

    let (uninterested, log, clock) = (Uninterested(Cell::default()), Log::default(), Sleepless(ByHand::at(secs(5))));
    let strategy = standard().backoff(Duration::ZERO, Duration::ZERO).max_attempts(2);
    let call = || retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).timer(&clock).name("call");
    assert_eq!(clock.0.readings_of(|| at_once(call().run()).unwrap_err()), 0);
    assert_eq!(clock.0.readings_of(|| at_once(call().observer(&uninterested).run()).unwrap_err()), 0);
    assert_eq!(uninterested.0.take(), ["call"]);
    assert_eq!(clock.0.readings_of(|| at_once(call().observer(&log).run()).unwrap_err()), 1 + 5);
    assert_eq!(
        log.0.borrow().len(),
        6,
        "one reading at the start, which is that of the first event, and one for each other event"
    );
    assert_eq!(log.0.borrow()[0].elapsed, Duration::ZERO);
}

// Rule O2.
#[test]
fn the_first_event_of_an_operation_has_the_time_that_its_driver_took() {
    let (timer, log, strategy) = (ManualTimer::new(), Log::default(), standard());
    let mut operation = Operation::builder(&strategy, "get").clock(&timer).observer(&log).begin();
    timer.advance(secs(2));
    assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
    assert_eq!(log.0.borrow().iter().map(|event| event.elapsed).collect::<Vec<_>>(), [secs(2)]);
}

/// Returns the output of a future that is ready immediately.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future is pending"),
    }
}

// Rule D6.
#[tokio::test(start_paused = true)]
async fn a_retry_that_was_not_sent_is_refunded_when_an_observer_panics() {
    struct Touchy((u32, &'static str));
    impl Observer for Touchy {
        fn observe(&self, event: &Event) {
            assert_ne!((event.attempt, event.kind.as_str()), self.0);
        }
    }

    // The cost of an attempt that was sent is spent. The cost of one that was not sent is refunded.
    let cases = [((1, "retry_scheduled"), 500), ((2, "attempt_started"), 500), ((2, "attempt_failed"), 495)];
    for (touchy, left) in cases {
        let strategy = standard().backoff(Duration::ZERO, Duration::ZERO);
        let call = retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).observer(Touchy(touchy));
        let call = AssertUnwindSafe(call.run());
        assert!(catch_unwind(move || at_once({ call }.0)).is_err());
        assert_eq!(strategy.quota().available(), left, "{touchy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_may_be_any_pointer_to_one() {
    static COUNT: Count = Count(AtomicU32::new(0));
    struct Count(AtomicU32);
    impl Observer for Count {
        fn observe(&self, _: &Event) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Client {
        observer: Arc<dyn Observer + Send + Sync>,
        sent: u32,
    }
    impl Client {
        fn observer(&self) -> &dyn Observer {
            &*self.observer
        }

        #[retryable(strategy = "standard", observer = self.observer)]
        async fn send(&mut self) -> Result<u32, Failed> {
            self.sent += 1;
            Ok(self.sent)
        }

        #[retryable(strategy = "standard", observer = self.observer())]
        async fn look(&self) -> Result<u32, Failed> {
            Ok(self.sent)
        }
    }

    #[retryable(strategy = "standard", observer = COUNT)]
    async fn call() -> Result<(), Failed> {
        Ok(())
    }

    let mut client = Client { observer: Arc::new(&COUNT), sent: 0 };
    assert_eq!(client.send().await, Ok(1));
    assert_eq!(client.look().await, Ok(1));
    assert_eq!(call().await, Ok(()));
    let boxed: Box<dyn Observer> = Box::new(&COUNT);
    let strategy = standard();
    assert_eq!(retry(&strategy, || async { Ok::<_, Failed>(()) }).observer(boxed).run().await, Ok(()));
    assert_eq!(COUNT.0.load(Ordering::Relaxed), 2 * 4);
}

/// A timer whose clock the test sets and whose sleeps end immediately.
struct Sleepless(ByHand);

impl Clock for Sleepless {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl Timer for Sleepless {
    type Sleep = std::future::Ready<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        std::future::ready(())
    }
}

/// The grammar of events in the documentation of [`Observer`], as a state machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Begun,
    /// An attempt is due, and may wait for a limiter.
    Due,
    Started,
    Failed,
    Ended,
}

impl State {
    fn next(self, event: &str) -> Option<Self> {
        Some(match (self, event) {
            (Self::Begun, "refused") | (Self::Begun | Self::Due, "limited") | (Self::Failed, "retry_scheduled") => {
                Self::Due
            }
            (Self::Begun | Self::Due, "attempt_started") => Self::Started,
            (Self::Started, "attempt_failed") => Self::Failed,
            (Self::Started, "succeeded") | (Self::Begun | Self::Due | Self::Started | Self::Failed, "stopped") => {
                Self::Ended
            }
            _ => return None,
        })
    }
}

/// Checks events against the grammar, and their numbers against the attempts made.
fn check(events: &[Event], ended: bool, script: &Script, outcome: Option<&Result<u32, Error>>) {
    let mut state = State::Begun;
    let (mut attempts, mut elapsed, mut retries) = (0, Duration::ZERO, 0);
    for event in events {
        let kind = event.kind.as_str();
        state = state.next(kind).unwrap_or_else(|| panic!("`{kind}` after {state:?}: {events:?}"));
        assert_eq!(event.operation_id, events[0].operation_id);
        assert!(event.elapsed >= elapsed);
        elapsed = event.elapsed;
        match event.kind {
            EventKind::AttemptStarted => {
                attempts += 1;
                assert_eq!(event.attempt, attempts);
            }
            EventKind::Limited { .. } | EventKind::Refused { .. } => assert_eq!(event.attempt, attempts + 1),
            EventKind::RetryScheduled { .. } => retries += 1,
            _ => assert_eq!(event.attempt, attempts),
        }
    }
    assert_eq!(state == State::Ended, ended, "{events:?}");
    assert_eq!(
        attempts as usize,
        script.begun.borrow().len(),
        "there is one event for the start of each attempt: {events:?}"
    );
    assert!(retries == attempts || retries + 1 == attempts || attempts == 0);
    if let Some(outcome) = outcome {
        let succeeded = matches!(events.last().unwrap().kind, EventKind::Succeeded { .. });
        assert_eq!(succeeded, matches!(outcome, Ok(1..)));
    }
}

fn outcomes() -> impl Strategy<Value = Result<u32, Error>> {
    let failed = prop_oneof![
        4 => Just(Failed::SAFE),
        4 => Just(Failed::THROTTLED),
        2 => Just(Failed::TIMEOUT),
        1 => Just(Failed::FATAL),
        2 => (0..40_u64).prop_map(|after| Failed::THROTTLED.after(secs(after))),
        1 => Just(Failed::SAFE.after(Duration::MAX)),
    ];
    prop_oneof![1 => Just(Ok(1)), 1 => Just(Ok(0)), 5 => failed.prop_map(|failed| Err(Error::Failed(failed)))]
}

fn times() -> impl Strategy<Value = Duration> {
    prop_oneof![1 => Just(Duration::ZERO), 6 => (0..12_000_u64).prop_map(millis), 1 => Just(Duration::MAX / 4)]
}

fn limits() -> impl Strategy<Value = Limits> {
    (times(), times()).prop_map(|(max_time, attempt_timeout)| Limits { max_time, attempt_timeout })
}

proptest! {
    #![proptest_config(tests::program::cases(400))]

    // Rules M9, O1, T1.
    #[test]
    fn max_time_is_never_exceeded_and_events_follow_the_grammar(
        attempts in proptest::collection::vec((times(), outcomes()), 1..6),
        limits in limits(),
        max_attempts in 1..6_u32,
        factor in 0.0..=1.0,
        quota in 0..40_u32,
        throttled_before in any::<bool>(),
        adaptive in any::<bool>(),
        dropped_after in proptest::option::of(times()),
    ) {
        // Without a limit, a body that never ends would run forever.
        let limits = Limits { max_time: limits.max_time.min(secs(100_000)), ..limits };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let [attribute, closure] = FORMS.map(|form| runtime.block_on(async {
            let standard = standard().jitter(Jitter::Fixed(factor)).max_attempts(max_attempts).quota_capacity(quota);
                let (script, log) = (Script::new(attempts.clone()), Log::default());
            let time = dropped_after.unwrap_or(Duration::MAX / 4);
            let outcome = if adaptive {
                let strategy = AdaptiveRetryStrategy::over(standard);
                if throttled_before {
                    let token = strategy.acquire_initial_token(&script.timer).unwrap();
                    let throttled = Failure::of(&Failed::THROTTLED);
                    let _ = strategy.refresh_retry_token(token, &throttled, &script.timer).map(|it| strategy.release(it));
                }
                timeout(time, run(form, &strategy, limits, &script, &log)).await
            } else {
                timeout(time, run(form, &standard, limits, &script, &log)).await
            };
            let elapsed = script.started.elapsed();
            assert!(elapsed <= limits.max_time, "{elapsed:?} of {:?}", limits.max_time);
            check(&log.0.borrow(), outcome.is_ok(), &script, outcome.as_ref().ok());
            let events: Vec<_> = log.0.borrow().iter().map(|event| (event.attempt, event.elapsed, event.kind)).collect();
            (outcome.ok(), elapsed, events, script.begun.into_inner())
        }));
        assert_eq!(attribute, closure, "both forms behave in the same way");
    }
}

#[test]
fn tests_of_users_can_construct_events_reports_contexts_and_timeouts() {
    use retry_core::{AttemptContext, Failure, Report, TimeLimit, TimedOut};

    let kind = EventKind::Stopped {
        reason: RetryError::QuotaExhausted,
        error_type: None,
        waiting: None,
        quota: Some(3),
        quota_capacity: Some(500),
        quota_mode: None,
        send_rate: None,
    };
    let operation_id = OperationId::random();
    let event = Event { operation: "get", operation_id, strategy: None, attempt: 2, elapsed: secs(1), kind };
    assert_eq!((event.kind.as_str(), event.attempt), ("stopped", 2));
    let report = Report { outcome: Ok::<_, Failed>(1), attempts: 2, reason: None, waited: secs(1), elapsed: secs(3) };
    assert_eq!((report.outcome, report.attempts), (Ok(1), 2));
    let failure = Failure::of(&Failed::THROTTLED);
    let context = AttemptContext::new(2).with_previous_failure(failure).with_time_left(secs(4));
    assert_eq!((context.attempt(), context.previous_failure(), context.time_left()), (2, Some(failure), Some(secs(4))));
    assert_ne!(context.operation_id(), AttemptContext::new(2).operation_id());
    let timed_out = TimedOut::new(TimeLimit::Attempt, secs(5));
    assert_eq!((timed_out.limit(), timed_out.time()), (TimeLimit::Attempt, secs(5)));
}

/// A component that may be given an observer.
struct Observed {
    shared: Option<Arc<dyn Observer + Send + Sync>>,
}

impl Observed {
    #[retryable(strategy = "standard", observer = self.shared)]
    async fn attribute(&self) -> Result<(), Failed> {
        Err(Failed::FATAL)
    }

    #[retryable(strategy = "standard", observer = self.shared, blocking)]
    fn blocking(&self) -> Result<(), Failed> {
        Err(Failed::FATAL)
    }
}

/// Counts events.
#[derive(Default)]
struct Count(AtomicU32);

impl Observer for Count {
    fn observe(&self, _: &Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    fn take(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

// Rule O15.
#[tokio::test(start_paused = true)]
async fn an_observer_may_be_absent_in_every_form() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();
    let strategy = &STRATEGY;
    let fail = || async { Err::<(), _>(Failed::FATAL) };
    let service = service_fn(|()| std::future::ready(Err::<(), _>(Failed::FATAL)));
    let count = Arc::new(Count::default());
    for (is_there, events) in [(true, 3), (false, 0)] {
        let shared = is_there.then(|| Arc::clone(&count) as Arc<dyn Observer + Send + Sync>);
        retry(strategy, fail).observer(shared.clone()).run().await.unwrap_err();
        assert_eq!(count.take(), events, "Option<Arc<dyn Observer>>");
        retry(strategy, fail).observer(&shared).run().await.unwrap_err();
        assert_eq!(count.take(), events, "&Option<Arc<dyn Observer>>");
        retry(strategy, fail).observer(is_there.then_some(&*count)).run().await.unwrap_err();
        assert_eq!(count.take(), events, "Option<&O>");
        retry(strategy, fail).observer(is_there.then_some(&*count as &dyn Observer)).run().await.unwrap_err();
        assert_eq!(count.take(), events, "Option<&dyn Observer>");
        retry(strategy, fail).observer(is_there.then(|| Arc::clone(&count))).run().await.unwrap_err();
        assert_eq!(count.take(), events, "Option<O>");
        RetryLayer::new(strategy).observer(shared.clone()).layer(service).oneshot(()).await.unwrap_err();
        assert_eq!(count.take(), events, "tower");
        let observed = Observed { shared };
        assert_send(observed.attribute()).await.unwrap_err();
        assert_eq!(count.take(), events, "attribute");
        observed.blocking().unwrap_err();
        assert_eq!(count.take(), events, "blocking");
    }
}

// Rules O5, O15.
#[test]
fn an_absent_observer_is_not_interested_and_reads_no_clock() {
    struct Picky;
    impl Observer for Picky {
        fn is_interested(&self, operation: &'static str) -> bool {
            operation == "picked"
        }
        fn observe(&self, _: &Event) {}
    }
    assert!(!None::<Picky>.is_interested("picked"));
    assert!(Some(Picky).is_interested("picked"));
    assert!(!Some(Picky).is_interested("other"));

    let readings = |observer: Option<Count>| {
        let (strategy, timer) = (StandardRetryStrategy::new(), ManualTimer::new());
        let clock = Readings { timer: &timer, readings: Cell::new(0) };
        let call = retry_blocking(&strategy, || Ok::<_, Failed>(())).timer(&clock).observer(observer);
        call.run().unwrap();
        clock.readings.get()
    };
    assert_eq!(readings(None), 0);
    assert!(readings(Some(Count::default())) > 0);
}

/// A timer that counts the readings of its clock.
struct Readings<'a> {
    timer: &'a ManualTimer,
    readings: Cell<u32>,
}

impl Clock for Readings<'_> {
    fn now(&self) -> Timestamp {
        self.readings.set(self.readings.get() + 1);
        self.timer.now()
    }
}

impl BlockingTimer for Readings<'_> {
    fn block(&self, delay: Duration) {
        self.timer.block(delay);
    }
}
