//! A stop that cuts the attempt that runs.

use crate::script::{Error, SAFE, time_was_up};
use crate::support::{millis, secs};
use retry_core::{
    Event, Hedge, Jitter, Observer, Report, RetryError, RetryQuota, StandardRetryStrategy, Stop, TimeLimit, retry,
    retryable,
};
use std::cell::{Cell, RefCell};
use std::future::{Future, pending, ready};
use std::time::Duration;
use tokio::time::{Instant, sleep};

type Outcome = Result<u32, Error>;

/// Delays of 1, 2 and so on seconds, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Calls the handle after this time.
async fn stops(stop: &Stop, time: Duration) {
    sleep(time).await;
    stop.stop();
}

/// Counts the attempts that are dropped before they end.
struct Attempt<'a>(&'a Cell<u32>);

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// An attempt that never ends, the failure of those before it, and the number of attempts that were cut.
struct Service {
    failures: Cell<u32>,
    cut: Cell<u32>,
}

impl Service {
    const fn hangs_after(failures: u32) -> Self {
        Self { failures: Cell::new(failures), cut: Cell::new(0) }
    }

    async fn call(&self) -> Outcome {
        if self.failures.get() > 0 {
            self.failures.set(self.failures.get() - 1);
            return SAFE;
        }
        let _attempt = Attempt(&self.cut);
        pending().await
    }
}

fn numbers<R>(report: &Report<R>) -> (u32, Option<RetryError>) {
    (report.attempts, report.reason)
}

#[retryable(strategy = strategy, stop = stop, cut_on_stop, on_end = |report| *end = numbers(report))]
async fn by_stop(
    strategy: &StandardRetryStrategy,
    stop: &Stop,
    service: &Service,
    end: &mut (u32, Option<RetryError>),
) -> Outcome {
    service.call().await
}

#[retryable(strategy = strategy, stop_when = when, cut_on_stop, on_end = |report| *end = numbers(report))]
async fn by_future(
    strategy: &StandardRetryStrategy,
    when: impl Future<Output = ()>,
    service: &Service,
    end: &mut (u32, Option<RetryError>),
) -> Outcome {
    service.call().await
}

static HEDGE: Hedge = Hedge::after(Duration::from_millis(100));

#[retryable(strategy = strategy, stop = stop, cut_on_stop, hedge = HEDGE, idempotent)]
async fn hedged(strategy: &StandardRetryStrategy, stop: &Stop, service: &Service) -> Outcome {
    service.call().await
}

const FORMS: [&str; 5] = ["closure", "future", "both", "attribute", "attribute with a future"];

/// The outcome of a call in one of the [`FORMS`] that is stopped after this time, and its report.
async fn call(
    form: &str,
    strategy: &StandardRetryStrategy,
    service: &Service,
    time: Duration,
) -> (Outcome, (u32, Option<RetryError>)) {
    let (stop, mut end) = (Stop::new(), (0, None));
    let report = |report: Report<Outcome>| (report.outcome, numbers(&report));
    let call = async {
        match form {
            "closure" => report(retry(strategy, || service.call()).stop(&stop).cut_on_stop().report().await),
            "future" => report(retry(strategy, || service.call()).stop_when(sleep(time)).cut_on_stop().report().await),
            // What the handle cuts, it cuts beside a future, too.
            "both" => {
                let call = retry(strategy, || service.call()).stop(&stop).cut_on_stop();
                report(call.stop_when(pending::<()>()).report().await)
            }
            "attribute" => {
                let outcome = by_stop(strategy, &stop, service, &mut end).await;
                (outcome, end)
            }
            _ => {
                let outcome = by_future(strategy, sleep(time), service, &mut end).await;
                (outcome, end)
            }
        }
    };
    tokio::select! {
        biased;
        called = call => called,
        () = async { stops(&stop, time).await; pending().await } => unreachable!(),
    }
}

// Rule T23.
#[tokio::test(start_paused = true)]
async fn the_attempt_that_runs_is_dropped_immediately() {
    for form in FORMS {
        let (strategy, service, began) = (standard(), Service::hangs_after(0), Instant::now());
        let (outcome, numbers) = call(form, &strategy, &service, millis(500)).await;
        assert_eq!(time_was_up(&outcome), Some((TimeLimit::Stop, Duration::ZERO)), "{form}");
        assert_eq!((numbers, began.elapsed()), ((1, Some(RetryError::Stopped)), millis(500)), "{form}");
        assert_eq!((service.cut.get(), strategy.quota().available()), (1, 500), "{form}");
    }
}

// Rule T23.
#[tokio::test(start_paused = true)]
async fn a_retry_that_is_cut_was_paid_for_and_the_caller_gets_the_last_outcome() {
    for form in FORMS {
        let (strategy, service, began) = (standard(), Service::hangs_after(1), Instant::now());
        let (outcome, numbers) = call(form, &strategy, &service, millis(1500)).await;
        assert_eq!((outcome, numbers), (SAFE, (2, Some(RetryError::Stopped))), "{form}");
        assert_eq!((service.cut.get(), began.elapsed()), (1, millis(1500)), "{form}");
        assert_eq!(strategy.quota().available(), 500 - 5, "{form}");
    }
}

// Rules T17, T23.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_as_without_it() {
    for form in FORMS {
        let (strategy, service, began) = (standard(), Service::hangs_after(1), Instant::now());
        let (outcome, numbers) = call(form, &strategy, &service, millis(500)).await;
        assert_eq!((outcome, numbers), (SAFE, (1, Some(RetryError::Stopped))), "{form}");
        assert_eq!((began.elapsed(), strategy.quota().available()), (millis(500), 500), "{form}");
    }
}

// Rules V1, T23.
#[tokio::test(start_paused = true)]
async fn both_attempts_of_a_hedge_are_dropped() {
    let (strategy, stop, service) = (standard(), Stop::new(), Service::hangs_after(0));
    let call = retry(&strategy, || service.call()).stop(&stop).cut_on_stop();
    let (report, ()) = tokio::join!(call.idempotent(true).hedge(&HEDGE).report(), stops(&stop, millis(500)));
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Stop, Duration::ZERO)));
    assert_eq!((report.attempts, report.reason, report.elapsed), (2, Some(RetryError::Stopped), millis(500)));
    assert_eq!(service.cut.get(), 2);
    let (stop, began) = (Stop::new(), Instant::now());
    let (outcome, ()) = tokio::join!(hedged(&strategy, &stop, &service), stops(&stop, millis(500)));
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Stop, Duration::ZERO)));
    assert_eq!((service.cut.get(), began.elapsed()), (4, millis(500)));
    let call = retry(&strategy, || service.call()).idempotent(true).hedge(&HEDGE);
    let report = call.stop_when(sleep(millis(50))).cut_on_stop().report().await;
    assert_eq!((report.attempts, report.elapsed, service.cut.get()), (1, millis(50), 5));
}

// Rule T23.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_ready_at_the_stop_is_used() {
    let (strategy, stop) = (standard(), Stop::new());
    let call = retry(&strategy, || {
        stop.stop();
        ready(Ok::<u32, Error>(1))
    });
    let report = call.stop(&stop).cut_on_stop().report().await;
    assert_eq!((report.outcome, report.reason), (Ok(1), None));
}

// Rules T19, T23.
#[tokio::test(start_paused = true)]
async fn time_limits_apply_beside_it() {
    let (strategy, stop, service) = (standard().max_attempts(1), Stop::new(), Service::hangs_after(0));
    let call = || retry(&strategy, || service.call()).stop(&stop).cut_on_stop();
    let each = call().attempt_timeout(secs(1)).report().await;
    assert_eq!(time_was_up(&each.outcome), Some((TimeLimit::Attempt, secs(1))));
    assert_eq!((each.reason, each.elapsed), (Some(RetryError::MaxAttempts), secs(1)));
    let all = call().max_time(secs(2)).attempt_timeout(secs(3)).report().await;
    assert_eq!(time_was_up(&all.outcome), Some((TimeLimit::Operation, secs(2))));
    assert_eq!((all.reason, all.elapsed), (Some(RetryError::MaxTime), secs(2)));
    // A limit of zero leaves one poll.
    let none = call().attempt_timeout(Duration::ZERO).report().await;
    assert_eq!(time_was_up(&none.outcome), Some((TimeLimit::Attempt, Duration::ZERO)));
    let when = retry(&strategy, || service.call()).attempt_timeout(secs(1)).stop_when(pending::<()>());
    let each = when.report().await;
    assert_eq!((time_was_up(&each.outcome), each.elapsed), (Some((TimeLimit::Attempt, secs(1))), secs(1)));
    let call = call().attempt_timeout(secs(1)).max_time(secs(2));
    let (stopped, ()) = tokio::join!(call.report(), stops(&stop, millis(500)));
    assert_eq!(time_was_up(&stopped.outcome), Some((TimeLimit::Stop, Duration::ZERO)));
    assert_eq!((stopped.reason, stopped.elapsed), (Some(RetryError::Stopped), millis(500)));
}

/// The kinds and the reasons of events.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Observer for Told {
    fn observe(&self, event: &Event) {
        let reason = event.kind.reason().map_or("", |reason| reason.as_str());
        self.0.borrow_mut().push(format!("{} {reason}", event.kind.as_str()).trim_end().to_owned());
    }
}

// Rules O9, T23.
#[tokio::test(start_paused = true)]
async fn the_strategy_learns_nothing_and_the_events_say_that_it_was_stopped() {
    let (strategy, stop, told) = (standard(), Stop::new(), Told::default());
    let (service, called) = (Service::hangs_after(0), RefCell::new(Vec::new()));
    let call = retry(&strategy, || service.call()).observer(&told);
    let call = call.on_retry(|error, event| called.borrow_mut().push((*error, event.kind.as_str())));
    let (outcome, ()) = tokio::join!(call.stop(&stop).cut_on_stop().run(), stops(&stop, millis(500)));
    assert_eq!(*called.borrow(), [(outcome.unwrap_err(), "stopped")]);
    assert_eq!(outcome.unwrap_err().to_string_of_limit(), "the operation was stopped before it had an outcome");
    assert_eq!(told.0.take(), ["attempt_started", "stopped stopped"]);
}

trait LimitText {
    fn to_string_of_limit(&self) -> String;
}

impl LimitText for Error {
    fn to_string_of_limit(&self) -> String {
        match self {
            Self::TimedOut(timed_out) => timed_out.to_string(),
            Self::Failed(failed) => format!("{failed:?}"),
        }
    }
}
