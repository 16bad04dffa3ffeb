//! `on_end`, a closure that gets the report of an operation when it ends.

use super::Outcome;
use crate::script::{Error, SAFE};
use crate::support::timers::Noted;
use crate::support::{Failed, Flaky, Recorder, assert_send, millis, poll_once, secs};
use async_trait::async_trait;
use retry_core::{
    Event, Jitter, Report, RetryDirective, RetryError, RetryErrorType, RetryQuota, StandardRetryStrategy, retryable,
};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// What an operation reports of itself.
type End = (u32, Option<RetryError>, Duration);

fn end<R>(report: &Report<R>) -> End {
    (report.attempts, report.reason, report.elapsed)
}

// Rule O17.
#[tokio::test(start_paused = true)]
async fn a_caller_learns_through_an_argument_why_the_operation_ended() {
    #[retryable(strategy = strategy, on_end = |report| {
        ended.push(end(report));
    })]
    async fn call(strategy: &StandardRetryStrategy, flaky: &Flaky, ended: &mut Vec<End>) -> Outcome<u32> {
        flaky.call()
    }

    let (strategy, mut ended) = (standard().max_attempts(3), Vec::new());
    assert_eq!(call(&strategy, &Flaky::new(0, Failed::SAFE), &mut ended).await, Ok(1));
    assert_eq!(call(&strategy, &Flaky::new(2, Failed::SAFE), &mut ended).await, Ok(3));
    assert_eq!(call(&strategy, &Flaky::new(9, Failed::SAFE), &mut ended).await, Err(Failed::SAFE));
    assert_eq!(call(&strategy, &Flaky::new(9, Failed::FATAL), &mut ended).await, Err(Failed::FATAL));
    let long = Failed::THROTTLED.after(secs(301));
    assert_eq!(call(&strategy, &Flaky::new(9, long), &mut ended).await, Err(long));
    strategy.set_enabled(false);
    assert_eq!(call(&strategy, &Flaky::new(9, Failed::SAFE), &mut ended).await, Err(Failed::SAFE));
    assert_eq!(
        ended,
        [
            (1, None, Duration::ZERO),
            (3, None, secs(3)),
            (3, Some(RetryError::MaxAttempts), secs(3)),
            (1, Some(RetryError::NotRetryable), Duration::ZERO),
            (1, Some(RetryError::RetryAfterTooLong), Duration::ZERO),
            (1, Some(RetryError::Disabled), Duration::ZERO),
        ]
    );
}

// Rule O17.
#[tokio::test(start_paused = true)]
async fn the_report_has_the_outcome_of_any_type_and_follows_the_last_failure() {
    #[retryable(
        strategy = "standard",
        policy = |status| match status {
            1..=2 => RetryDirective::retry(RetryErrorType::Other),
            _ => RetryDirective::succeed(),
        },
        on_end = |report| told.push(format!("{} after {}", report.outcome, report.attempts))
    )]
    async fn count(calls: &Cell<u32>, told: &mut Vec<String>) -> u32 {
        calls.set(calls.get() + 1);
        calls.get()
    }

    #[retryable(
        strategy = strategy,
        on_retry = |error, event| told.borrow_mut().push(format!("{error:?} {}", event.kind.as_str())),
        on_end = |report| told.borrow_mut().push(format!("end {:?}", report.outcome.as_ref().err())),
        observer = told
    )]
    async fn fail(strategy: &StandardRetryStrategy, told: &Told) -> Result<(), Tiny> {
        Err(Tiny)
    }

    #[derive(Debug, retry_core::RetryInfo)]
    #[retry(throttling)]
    struct Tiny;

    let mut told = Vec::new();
    assert_eq!(count(&Cell::new(0), &mut told).await, 3);
    assert_eq!(told, ["3 after 3"]);

    let told = Told::default();
    assert!(fail(&standard().max_attempts(2), &told).await.is_err());
    let told = told.0.into_inner();
    let from = told.iter().position(|text| text == "stopped").unwrap();
    assert_eq!(told[from..], ["stopped", "Tiny stopped", "end Some(Tiny)"], "{told:?}");
    assert_eq!(told.iter().filter(|text| text.starts_with("end")).count(), 1);
}

#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Told {
    fn borrow_mut(&self) -> std::cell::RefMut<'_, Vec<String>> {
        self.0.borrow_mut()
    }
}

impl retry_core::Observer for Told {
    fn observe(&self, event: &Event) {
        self.borrow_mut().push(event.kind.as_str().to_owned());
    }
}

#[retryable(
    strategy = strategy,
    max_time = millis(1500),
    attempt_timeout = millis(400),
    context = context,
    on_end = |report| *ended = Some((end(report), context.attempt()))
)]
async fn limited(
    strategy: &StandardRetryStrategy,
    times: &[Duration],
    ended: &mut Option<(End, u32)>,
) -> Result<u32, Error> {
    sleep(times[context.attempt() as usize - 1]).await;
    SAFE
}

// Rule O17.
#[tokio::test(start_paused = true)]
async fn the_end_of_the_time_is_reported_too() {
    let (strategy, mut ended) = (standard(), None);
    // The first attempt is cut after 400 ms, the second one by what is left after its wait of a second.
    assert!(limited(&strategy, &[secs(60), secs(60)], &mut ended).await.is_err());
    assert_eq!(ended, Some(((2, Some(RetryError::MaxTime), millis(1500)), 2)));
    // The second retry would be too late, so it is not waited for.
    let (strategy, mut ended) = (standard(), None);
    assert_eq!(limited(&strategy, &[Duration::ZERO; 9], &mut ended).await, SAFE);
    assert_eq!(ended, Some(((2, Some(RetryError::MaxTime), secs(1)), 2)));
}

// Rule O17.
#[test]
fn a_blocking_function_reports_its_end_also_where_its_time_is_over() {
    #[retryable(strategy = strategy, timer = time, blocking, on_end = |report| ended.push(end(report)))]
    fn call(strategy: &StandardRetryStrategy, time: &Noted, flaky: &Flaky, ended: &mut Vec<End>) -> Outcome<u32> {
        flaky.call()
    }

    #[retryable(
        strategy = strategy,
        timer = time,
        blocking,
        max_time = "5s",
        on_end = |report| ended.push((end(report), *report.outcome))
    )]
    fn slow(strategy: &Recorder, time: &Noted, ended: &mut Vec<(End, Result<u32, Error>)>) -> Result<u32, Error> {
        time.timer.advance(secs(3));
        SAFE
    }

    let (strategy, time, mut ended) = (standard(), Noted::default(), Vec::new());
    assert_eq!(call(&strategy, &time, &Flaky::new(1, Failed::SAFE), &mut ended), Ok(2));
    assert_eq!(call(&strategy, &time, &Flaky::new(9, Failed::FATAL), &mut ended), Err(Failed::FATAL));
    assert_eq!(ended, [(2, None, secs(1)), (1, Some(RetryError::NotRetryable), Duration::ZERO)]);

    // The second attempt never begins, because its wait would end too late.
    let (strategy, mut ended) = (Recorder::new().waiting([Duration::ZERO, secs(3)]), Vec::new());
    assert_eq!(slow(&strategy, &time, &mut ended), SAFE);
    let [((_, reason, _), outcome)] = ended[..] else { panic!("{ended:?}") };
    assert_eq!((reason, outcome), (Some(RetryError::MaxTime), SAFE));
}

/// Not `Sync`, so the future is `Send` only if nothing of it is borrowed while the operation waits.
struct Client {
    retry: StandardRetryStrategy,
    ends: Cell<u32>,
    last: Option<RetryError>,
}

impl Client {
    #[retryable(strategy = self.retry, on_end = |report| {
        self.last = report.reason;
        self.ends.set(self.ends.get() + 1);
    })]
    async fn by_mutable_reference(&mut self, flaky: &Flaky) -> Outcome<u32> {
        self.ends.get_mut();
        tokio::task::yield_now().await;
        flaky.call()
    }

    #[retryable(strategy = "standard", max_time = "1m", on_end = |report| self.remember(report.reason))]
    async fn all_of_self(&mut self, error: Error) -> Result<u32, Error> {
        tokio::task::yield_now().await;
        Err(error)
    }

    fn remember(&mut self, reason: Option<RetryError>) {
        self.last = reason;
    }
}

#[async_trait]
trait Get {
    async fn get(&self, flaky: &Flaky, attempts: &mut u32) -> Outcome<u32>;
}

struct Store(StandardRetryStrategy);

#[async_trait]
impl Get for Store {
    #[retryable(strategy = self.0, on_end = |report| *attempts += report.attempts + self.one())]
    async fn get(&self, flaky: &Flaky, attempts: &mut u32) -> Outcome<u32> {
        flaky.call()
    }
}

impl Store {
    fn one(&self) -> u32 {
        u32::from(self.0.quota().available() > 0)
    }
}

#[tokio::test(start_paused = true)]
async fn it_borrows_self_and_arguments_and_the_future_is_send() {
    /// An error that is not `Send`.
    #[derive(Debug, retry_core::RetryInfo)]
    #[retry(throttling)]
    struct Local(#[expect(dead_code, reason = "only its type counts")] Rc<()>);

    #[retryable(strategy = "standard", on_end = |report| *told = report.outcome.is_err())]
    async fn local(told: &mut bool) -> Result<(), Local> {
        tokio::task::yield_now().await;
        Err(Local(Rc::new(())))
    }

    let retry = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
    let mut client = Client { retry, ends: Cell::new(0), last: Some(RetryError::MaxTime) };
    assert_eq!(assert_send(client.by_mutable_reference(&Flaky::new(2, Failed::SAFE))).await, Ok(3));
    assert_eq!((client.ends.get(), client.last), (1, None));
    let fatal = Error::Failed(Failed::FATAL);
    assert_eq!(assert_send(client.all_of_self(fatal)).await, Err(fatal));
    assert_eq!(client.last, Some(RetryError::NotRetryable));

    let (store, mut attempts) = (Store(standard()), 10);
    assert_eq!(assert_send(store.get(&Flaky::new(2, Failed::SAFE), &mut attempts)).await, Ok(3));
    assert_eq!(attempts, 14);

    let mut told = false;
    assert!(assert_send(local(&mut told)).await.is_err());
    assert!(told);
}

#[tokio::test(start_paused = true)]
async fn it_may_change_a_mut_argument_and_use_one_up_and_be_a_function() {
    #[retryable(strategy = strategy, on_end = |report| {
        calls += report.attempts;
        hook(calls, name);
    })]
    async fn counted(
        strategy: &StandardRetryStrategy,
        flaky: &Flaky,
        mut calls: u32,
        name: String,
        mut hook: impl FnMut(u32, String) + Send,
    ) -> Outcome<usize> {
        flaky.call().map(|_| calls as usize + name.len())
    }

    #[retryable(strategy = strategy, on_end = hook)]
    async fn hooked(
        strategy: &StandardRetryStrategy,
        flaky: &Flaky,
        hook: impl FnOnce(&Report<&Outcome<u32>>) + Send,
    ) -> Outcome<u32> {
        flaky.call()
    }

    fn check(report: &Report<&Outcome<u32>>) {
        assert_eq!((*report.outcome, report.attempts), (Ok(3), 3));
    }

    let (strategy, mut told) = (standard(), None);
    let flaky = || Flaky::new(2, Failed::SAFE);
    let hook = |calls, name| told = Some((calls, name));
    assert_eq!(assert_send(counted(&strategy, &flaky(), 5, "ab".to_owned(), hook)).await, Ok(7));
    assert_eq!(told, Some((8, "ab".to_owned())));
    assert_eq!(hooked(&strategy, &flaky(), check).await, Ok(3));
    let mut attempts = 0;
    assert_eq!(assert_send(hooked(&strategy, &flaky(), |report| attempts = report.attempts)).await, Ok(3));
    assert_eq!(attempts, 3);
}

// Rule O17.
#[tokio::test(start_paused = true)]
async fn neither_a_drop_nor_a_panic_of_the_body_calls_it() {
    #[retryable(strategy = strategy, on_end = |_| ended.set(ended.get() + 1))]
    async fn call(strategy: &StandardRetryStrategy, flaky: &Flaky, ended: &Cell<u32>) -> Outcome<u32> {
        assert!(flaky.calls() < 1, "the second attempt");
        flaky.call()
    }

    let (strategy, ended) = (standard(), Cell::new(0));
    {
        let flaky = Flaky::new(9, Failed::SAFE);
        let mut future = pin!(call(&strategy, &flaky, &ended));
        poll_once(future.as_mut());
        assert_eq!(strategy.quota().available(), 495, "it waits for its retry");
    }
    assert_eq!((ended.get(), strategy.quota().available()), (0, 500));

    let flaky = Flaky::new(9, Failed::SAFE);
    let mut future = pin!(call(&strategy, &flaky, &ended));
    poll_once(future.as_mut());
    sleep(secs(2)).await;
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()))).is_err());
    assert_eq!(ended.get(), 0);
}

// Rule D6.
#[test]
fn if_it_panics_the_quota_keeps_what_the_operation_has_settled() {
    #[retryable(strategy = strategy, timer = time, blocking, on_end = |_| panic!("told"))]
    fn call(strategy: &StandardRetryStrategy, time: &Noted, flaky: &Flaky) -> Outcome<u32> {
        flaky.call()
    }

    let (strategy, time) = (standard(), Noted::default());
    let flaky = Flaky::new(1, Failed::SAFE);
    assert!(catch_unwind(AssertUnwindSafe(|| call(&strategy, &time, &flaky))).is_err());
    // A retry costs 5, and its success gives back 1.
    assert_eq!((strategy.quota().available(), flaky.calls()), (496, 2));
}
