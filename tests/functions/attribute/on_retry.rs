//! `on_retry`, a closure that gets each failure with the error itself.

use super::Outcome;
use crate::script::{Error, SAFE};
use crate::support::timers::Noted;
use crate::support::{Failed, Flaky, Recorder, assert_send, millis, poll_once, secs};
use async_trait::async_trait;
use retry_core::strategy::DelaySource;
use retry_core::{
    Event, EventKind, Jitter, RetryDirective, RetryError, RetryErrorType, RetryQuota, StandardRetryStrategy, Stop,
    retryable,
};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn each_failure_comes_with_its_error_and_the_delay_and_the_last_one_with_the_reason() {
    #[retryable(strategy = strategy, on_retry = |error, event| told.push((*error, event.clone())))]
    async fn fail(
        strategy: &StandardRetryStrategy,
        errors: &mut impl Iterator<Item = Failed>,
        told: &mut Vec<(Failed, Event)>,
    ) -> Outcome<()> {
        errors.next().map_or(Ok(()), Err)
    }

    let (strategy, mut told) = (standard().max_attempts(2), Vec::new());
    let mut errors = [Failed::THROTTLED.after(secs(3)), Failed::TIMEOUT].into_iter();
    assert_eq!(fail(&strategy, &mut errors, &mut told).await, Err(Failed::TIMEOUT));
    let [(first, scheduled), (second, stopped)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((*first, *second), (Failed::THROTTLED.after(secs(3)), Failed::TIMEOUT));
    assert!(scheduled.operation.ends_with("::fail"), "{}", scheduled.operation);
    assert_eq!((scheduled.attempt, scheduled.elapsed), (1, Duration::ZERO));
    assert_eq!(
        scheduled.kind,
        EventKind::RetryScheduled {
            error_type: Some(RetryErrorType::Throttling),
            delay: secs(3),
            delay_source: DelaySource::RetryAfter,
            quota: Some(495),
            quota_capacity: Some(500),
            quota_mode: None,
            send_rate: None,
        }
    );
    assert_eq!((stopped.attempt, stopped.elapsed, stopped.kind.delay()), (2, secs(3), None));
    let (reason, error_type) = (RetryError::MaxAttempts, Some(RetryErrorType::Timeout));
    assert_eq!(
        stopped.kind,
        EventKind::Stopped {
            reason,
            error_type,
            waiting: None,
            quota: Some(495),
            quota_capacity: Some(500),
            quota_mode: None,
            send_rate: None
        }
    );
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn a_success_is_no_reason_to_call_it_and_neither_is_an_ok_that_is_retried() {
    #[retryable(strategy = strategy, on_retry = made(told), policy = |outcome| match outcome {
        Ok(1) => RetryDirective::retry(RetryErrorType::Other),
        Err(error) if *error == Failed::FATAL => RetryDirective::succeed(),
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::retry(RetryErrorType::Other),
    })]
    async fn call(strategy: &StandardRetryStrategy, flaky: &Flaky, told: &Cell<u32>) -> Outcome<u32> {
        flaky.call()
    }

    fn made(told: &Cell<u32>) -> impl FnMut(&Failed, &Event) {
        told.set(told.get() + 100);
        |_, _| told.set(told.get() + 1)
    }

    let (strategy, told) = (standard(), Cell::new(0));
    assert_eq!(call(&strategy, &Flaky::new(0, Failed::SAFE), &told).await, Ok(2));
    assert_eq!(call(&strategy, &Flaky::new(1, Failed::FATAL), &told).await, Err(Failed::FATAL));
    assert_eq!(told.get(), 0, "it is not even made");
    assert_eq!(call(&strategy, &Flaky::new(2, Failed::SAFE), &told).await, Ok(3));
    assert_eq!(told.get(), 202, "it is made for each failure");
}

#[retryable(
    strategy = strategy,
    max_time = millis(1500),
    attempt_timeout = millis(400),
    context = context,
    policy = |outcome| retry_core::RetryPolicy::evaluate(&retry_core::StandardRetryPolicy::new(), outcome),
    on_retry = |error, event| told.push((*error, event.kind, context.attempt()))
)]
async fn limited(
    strategy: &StandardRetryStrategy,
    times: &[Duration],
    told: &mut Vec<(Error, EventKind, u32)>,
) -> Result<u32, Error> {
    sleep(times[context.attempt() as usize - 1]).await;
    SAFE
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn a_cut_attempt_is_a_failure_and_so_is_the_end_of_the_time() {
    let (strategy, mut told) = (standard(), Vec::new());
    let outcome = limited(&strategy, &[secs(60), secs(60)], &mut told).await;
    let kinds: Vec<_> = told.iter().map(|(error, kind, attempt)| (*error, kind.as_str(), *attempt)).collect();
    let timed_out = told[0].0;
    assert!(matches!(timed_out, Error::TimedOut(_)));
    assert_eq!(
        (outcome, &kinds[..]),
        (Err(timed_out), &[(timed_out, "retry_scheduled", 1), (timed_out, "stopped", 2)][..])
    );
    let (reason, quota) = (RetryError::MaxTime, Some(490));
    assert_eq!(
        told[1].1,
        EventKind::Stopped {
            reason,
            error_type: None,
            waiting: None,
            quota,
            quota_capacity: Some(500),
            quota_mode: None,
            send_rate: None
        }
    );
}

// Rule O9.
#[test]
fn a_blocking_function_calls_it_too_also_where_its_time_ends() {
    #[retryable(strategy = strategy, timer = time, blocking, on_retry = |error, event| told.push((*error, event.kind.delay())))]
    fn call(
        strategy: &StandardRetryStrategy,
        time: &Noted,
        flaky: &Flaky,
        told: &mut Vec<(Failed, Option<Duration>)>,
    ) -> Outcome<u32> {
        flaky.call()
    }

    #[retryable(
        strategy = strategy,
        timer = time,
        blocking,
        max_time = "5s",
        context = context,
        on_retry = |error, event| told.push((*error, event.kind, context.attempt()))
    )]
    fn slow(strategy: &Recorder, time: &Noted, told: &mut Vec<(Error, EventKind, u32)>) -> Result<u32, Error> {
        time.timer.advance(secs(3));
        SAFE
    }

    let (strategy, time, mut told) = (standard(), Noted::default(), Vec::new());
    assert_eq!(call(&strategy, &time, &Flaky::new(1, Failed::SAFE), &mut told), Ok(2));
    assert_eq!(told, [(Failed::SAFE, Some(secs(1)))]);

    // The third attempt never begins, because its wait would end too late.
    let (strategy, mut told) = (Recorder::new().waiting([Duration::ZERO, secs(3)]), Vec::new());
    assert_eq!(slow(&strategy, &time, &mut told), SAFE);
    let kinds: Vec<_> = told.iter().map(|(error, kind, _)| (*error, kind.as_str())).collect();
    let failed = SAFE.unwrap_err();
    assert_eq!(kinds, [(failed, "retry_scheduled"), (failed, "stopped")]);
    assert!(matches!(told[1].1, EventKind::Stopped { reason: RetryError::MaxTime, error_type: None, .. }));
}

/// Not `Sync`, so the future is `Send` only if nothing of it is borrowed while the operation waits.
struct Client {
    retry: StandardRetryStrategy,
    failures: Cell<u32>,
    last: Option<Failed>,
}

fn client() -> Client {
    Client { retry: StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)), failures: Cell::new(0), last: None }
}

impl Client {
    #[retryable(strategy = self.retry, on_retry = |error, _| {
        self.last = Some(*error);
        self.failures.set(self.failures.get() + 1);
    })]
    async fn by_mutable_reference(&mut self, flaky: &Flaky) -> Outcome<u32> {
        self.failures.get_mut();
        tokio::task::yield_now().await;
        flaky.call()
    }

    #[retryable(strategy = self.retry, on_retry = |_, _| self.count())]
    async fn by_value(self, flaky: &Flaky) -> Outcome<u32> {
        tokio::task::yield_now().await;
        flaky.call().map(|_| self.failures.get())
    }

    #[retryable(strategy = "standard", max_time = "1m", on_retry = |error, _| self.remember(error))]
    async fn all_of_self(&mut self, error: Error) -> Result<u32, Error> {
        tokio::task::yield_now().await;
        Err(error)
    }

    fn count(&self) {
        self.failures.set(self.failures.get() + 1);
    }

    fn remember(&mut self, error: &Error) {
        if let Error::Failed(error) = error {
            self.last = Some(*error);
        }
    }
}

#[async_trait]
trait Get {
    async fn get(&self, flaky: &Flaky, seen: &mut Vec<Failed>) -> Outcome<u32>;
}

struct Store(StandardRetryStrategy);

#[async_trait]
impl Get for Store {
    #[retryable(strategy = self.0, on_retry = |error, _| seen.extend([*error; 2].iter().take(self.calls())))]
    async fn get(&self, flaky: &Flaky, seen: &mut Vec<Failed>) -> Outcome<u32> {
        flaky.call()
    }
}

impl Store {
    fn calls(&self) -> usize {
        usize::from(self.0.quota().available() > 0)
    }
}

#[tokio::test(start_paused = true)]
async fn it_borrows_self_and_arguments_and_the_future_is_send() {
    let mut client = client();
    let flaky = || Flaky::new(2, Failed::SAFE);
    assert_eq!(assert_send(client.by_mutable_reference(&flaky())).await, Ok(3));
    assert_eq!((client.failures.get(), client.last), (2, Some(Failed::SAFE)));
    let fatal = Error::Failed(Failed::FATAL);
    assert_eq!(assert_send(client.all_of_self(fatal)).await, Err(fatal));
    assert_eq!(client.last, Some(Failed::FATAL));
    assert_eq!(assert_send(client.by_value(&flaky())).await, Ok(4));

    let (store, mut seen) = (Store(standard()), Vec::new());
    assert_eq!(assert_send(store.get(&flaky(), &mut seen)).await, Ok(3));
    assert_eq!(seen, [Failed::SAFE; 2]);
}

#[tokio::test(start_paused = true)]
async fn it_may_change_a_mut_argument_and_be_one() {
    #[retryable(strategy = strategy, clone(log), on_retry = |_, _| {
        failures += 1;
        log.push(failures);
    })]
    async fn count(
        strategy: &StandardRetryStrategy,
        flaky: &Flaky,
        mut failures: u32,
        mut log: Vec<u32>,
    ) -> Outcome<Vec<u32>> {
        flaky.call().map(|_| log.clone())
    }

    #[retryable(strategy = strategy, on_retry = &mut hook)]
    async fn hooked(
        strategy: &StandardRetryStrategy,
        flaky: &Flaky,
        mut hook: impl FnMut(&Failed, &Event) + Send,
    ) -> Outcome<u32> {
        flaky.call()
    }

    #[retryable(strategy = strategy, on_retry = hook)]
    async fn pointed(strategy: &StandardRetryStrategy, flaky: &Flaky, hook: fn(&Failed, &Event)) -> Outcome<u32> {
        flaky.call()
    }

    let (strategy, mut told) = (standard(), 0);
    let flaky = || Flaky::new(2, Failed::SAFE);
    assert_eq!(assert_send(count(&strategy, &flaky(), 5, Vec::new())).await, Ok(vec![6, 7]));
    assert_eq!(assert_send(hooked(&strategy, &flaky(), |_, _| told += 1)).await, Ok(3));
    assert_eq!(told, 2);
    assert_eq!(pointed(&strategy, &flaky(), |error, _| assert_eq!(*error, Failed::SAFE)).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn it_stands_beside_a_policy_and_an_observer_in_a_generic_function() {
    #[derive(Default)]
    struct Kinds(RefCell<Vec<&'static str>>);
    impl retry_core::Observer for Kinds {
        fn observe(&self, event: &Event) {
            self.0.borrow_mut().push(event.kind.as_str());
        }
    }

    #[retryable(
        strategy = *strategy,
        observer = observer,
        policy = |_| RetryDirective::retry(RetryErrorType::Other),
        on_retry = |error, event| texts.push(format!("{error} {:?}", event.kind.delay()))
    )]
    async fn fail<E: std::fmt::Display + Clone>(
        strategy: &StandardRetryStrategy,
        observer: &Kinds,
        error: E,
        texts: &mut Vec<String>,
    ) -> Result<impl Copy + use<E>, E> {
        if false {
            return Ok(1);
        }
        Err(error.clone())
    }

    let (strategy, kinds, mut texts) = (standard().max_attempts(2), Kinds::default(), Vec::new());
    assert!(fail(&strategy, &kinds, "lost", &mut texts).await.is_err());
    assert_eq!(texts, ["lost Some(1s)", "lost None"]);
    let kinds = kinds.0.into_inner();
    assert_eq!(kinds.iter().filter(|kind| **kind == "retry_scheduled" || **kind == "stopped").count(), 2, "{kinds:?}");
}

// Rule D6.
#[test]
fn a_retry_that_was_paid_for_is_given_back_if_it_panics() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped");
        }
    }

    fn panics(made: bool) -> impl FnMut(&Failed, &Event) {
        assert!(!made, "made");
        let loud = Loud;
        move |_, _| _ = &loud
    }

    #[retryable(strategy = strategy, on_retry = |_, _| panic!("told"))]
    async fn while_called(strategy: &StandardRetryStrategy) -> Outcome<()> {
        Err(Failed::SAFE)
    }

    #[retryable(strategy = strategy, on_retry = panics(made))]
    async fn around_the_call(strategy: &StandardRetryStrategy, made: bool) -> Outcome<()> {
        Err(Failed::SAFE)
    }

    #[retryable(strategy = strategy, blocking, on_retry = |_, _| panic!("told"))]
    fn blocking(strategy: &StandardRetryStrategy) -> Outcome<()> {
        Err(Failed::SAFE)
    }

    let strategy = standard();
    let panics = |future: std::pin::Pin<&mut dyn Future<Output = Outcome<()>>>| {
        catch_unwind(AssertUnwindSafe(|| poll_once(future))).is_err()
    };
    assert!(panics(pin!(while_called(&strategy))));
    assert_eq!(strategy.quota().available(), 500);
    for made in [true, false] {
        assert!(panics(pin!(around_the_call(&strategy, made))));
        assert_eq!(strategy.quota().available(), 500, "{made}");
    }
    assert!(catch_unwind(AssertUnwindSafe(|| blocking(&strategy))).is_err());
    assert_eq!(strategy.quota().available(), 500);
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_stopped_before_its_first_attempt_reports_the_attempt_0() {
    #[retryable(strategy = strategy, stop = stop, on_retry = |_, event| told.push((event.attempt, event.kind.as_str())))]
    async fn call(
        strategy: &StandardRetryStrategy,
        stop: &Stop,
        told: &mut Vec<(u32, &'static str)>,
    ) -> Result<(), Error> {
        unreachable!("stopped before the first attempt");
    }

    let (stop, mut told) = (Stop::new(), Vec::new());
    stop.stop();
    assert!(call(&standard(), &stop, &mut told).await.is_err());
    assert_eq!(told, [(0, "stopped")]);
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn an_operation_whose_time_is_over_before_its_first_attempt_reports_the_attempt_0() {
    #[retryable(strategy = strategy, max_time = "2s", on_retry = |_, event| told.push((event.attempt, event.kind.reason())))]
    async fn call(strategy: &Recorder, told: &mut Vec<(u32, Option<RetryError>)>) -> Result<(), Error> {
        unreachable!("the time is over before the first attempt");
    }

    let mut told = Vec::new();
    // The limiter permits the first attempt after ten seconds.
    assert!(call(&Recorder::new().waiting([secs(10)]), &mut told).await.is_err());
    assert_eq!(told, [(0, Some(RetryError::MaxTime))]);
}
